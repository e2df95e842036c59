"""The log of a server, on stderr: lines of text or of JSON. No line holds text of a page, a query or a key.

So an error is told by its kind and its place, never by its words, which may quote what somebody said. The text of
other packages' records, which may be made of anything, is shown only as it stands in their code.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from embermem.core.errors import kind

_LOGGERS = ("embermem", "uvicorn.error")
_FIELDS = ("request_id", "method", "route", "status", "ms")
"""What a line of a request carries beside its event."""


class Format(StrEnum):
    """How lines are written."""

    TEXT = "text"
    JSON = "json"


class Level(StrEnum):
    """The least that is written."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


def configure(form: Format, level: Level) -> None:
    """Write this process's log to stderr from now on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if form is Format.JSON else TextLines())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    for ours in _LOGGERS:  # others tell more than we would: addresses with their queries, whole bodies
        logging.getLogger(ours).setLevel(level.upper())
    # It tells each request a second time, with its whole address.
    logging.getLogger("uvicorn.access").disabled = True


class JsonLines(logging.Formatter):
    """One JSON object a line: time, level, event, logger, and what is known of the request."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, in ASCII."""
        made: dict[str, Any] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "event": event(record),
            "logger": record.name,
            **_of_request(record),
        }
        if record.exc_info is not None and record.exc_info[1] is not None:
            made["error"] = type(record.exc_info[1]).__name__
            made["trace"] = trace(record.exc_info[1])
        return json.dumps(made)


class TextLines(logging.Formatter):
    """The same for people."""

    def format(self, record: logging.LogRecord) -> str:
        """The line; further ones where there is an error."""
        fields = " ".join(f"{name}={value}" for name, value in _of_request(record).items())
        line = f"{_time(record)} {record.levelname:<7} {_plain(event(record))} {fields}".rstrip()
        if record.exc_info is None or record.exc_info[1] is None:
            return line
        return "\n".join([line, *(f"    {step}" for step in trace(record.exc_info[1]))])


def event(record: logging.LogRecord) -> str:
    """What a record tells: an error among its arguments by its kind and place."""
    if not record.name.startswith(_LOGGERS):
        return f"{record.msg}" if record.args else f"a message of {record.name}, {_source(record)}"
    args = record.args
    if isinstance(args, tuple) and any(isinstance(one, BaseException) for one in args):
        args = tuple(kind(one) if isinstance(one, BaseException) else one for one in args)
        return str(record.msg) % args
    return record.getMessage()


def trace(error: BaseException) -> list[str]:
    """Where an error came from, the cause first: kinds and places, without the errors' texts, which may be anybody's
    words."""
    steps: list[str] = []
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is not None:
        steps += trace(cause)
    frames = traceback.extract_tb(error.__traceback__)
    steps += [f"{frame.filename}:{frame.lineno} in {frame.name}" for frame in frames]
    return [*steps, type(error).__name__]


def _source(record: logging.LogRecord) -> str:
    return f"{record.filename}:{record.lineno}"


def _plain(message: str) -> str:
    """The message on one line: it may hold a user's name, which may hold what ends a line or steers a terminal."""
    return "".join(
        one if one.isprintable() else one.encode("unicode_escape", "surrogatepass").decode() for one in message
    )


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")


def _of_request(record: logging.LogRecord) -> dict[str, Any]:
    return {name: vars(record)[name] for name in _FIELDS if vars(record).get(name) is not None}
