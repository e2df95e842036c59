"""Options, and what commands do with what they are given, that several of them share."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from embermem.cli.session import Session
from embermem.core.errors import InputError
from embermem.core.messages import LookBack
from embermem.core.types import Scope

if TYPE_CHECKING:
    from embermem.memory import OwnerMemory

_Made = TypeVar("_Made")

AsOfOption = Annotated[
    str | None, typer.Option("--as-of", metavar="TIME", help="Read what was known at this time (ISO 8601, or a day).")
]
ValidAtOption = Annotated[
    str | None, typer.Option("--valid-at", metavar="TIME", help="Read what was true at this time.")
]
ShareOption = Annotated[
    list[str] | None, typer.Option("--share", metavar="SPACE", help="Also read this shared space; repeatable.")
]
PersonFromOption = Annotated[
    str | None, typer.Option("--person-from", metavar="AGENT", help="Also tell what this agent knows of the user.")
]
MetadataOption = Annotated[
    list[str] | None,
    typer.Option(
        "--metadata",
        metavar="KEY=VALUE",
        help="Your own label; JSON or text; repeat it for several.",
        show_default=False,
    ),
]
ScopeOption = Annotated[
    str | None, typer.Option("--scope", metavar="JSON", help='What may be seen, such as \'{"threads": ["main"]}\'.')
]
InThreadOption = Annotated[
    list[str] | None,
    typer.Option("--in-thread", metavar="NAME", help="Only of this thread; repeatable.", show_default=False),
]
WhereOption = Annotated[
    list[str] | None,
    typer.Option("--where", metavar="KEY=VALUE", help="Only with this label; repeatable.", show_default=False),
]
SpeakerOption = Annotated[
    list[str] | None,
    typer.Option("--speaker", metavar="NAME", help="Only what this speaker said; repeatable.", show_default=False),
]
SinceOption = Annotated[
    str | None, typer.Option("--since", metavar="TIME", help="Only what was said on this day or time, or later.")
]
UntilOption = Annotated[
    str | None, typer.Option("--until", metavar="TIME", help="Only what was said on this day or time, or before.")
]
KeyOption = Annotated[
    str | None, typer.Option("--key", help="Idempotency key: repeated with it, the command changes nothing more.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print only JSON on stdout.")]


def session_of(ctx: typer.Context) -> Session:
    """The global options, as stored by the callback of the application."""
    session = ctx.find_object(Session)
    if session is None:
        raise RuntimeError("no session: the application's callback has not run")
    return session


def given(ctx: typer.Context, option: str) -> str | None:
    """A global option, if somebody gave it: `embermem --user alice export` is not to write everybody out."""
    above = ctx.find_root()
    source = above.get_parameter_source(option)
    if source is None or source.name == "DEFAULT":
        return None
    value: str = above.params[option]
    return value


@contextmanager
def owner_read(
    ctx: typer.Context, shares: Sequence[str] | None = None, person_from: str | None = None
) -> Iterator[OwnerMemory]:
    """The memory that the global options name, in an existing store, bound with spaces and another agent. Raises
    NotFound if there is no store, or nothing of this owner in it."""
    session = session_of(ctx)
    with session.for_reading() as memory:
        yield session.known_owner(memory, shares or (), person_from)


@contextmanager
def owner_written(ctx: typer.Context) -> Iterator[OwnerMemory]:
    """The memory that the global options name, in a store that is created if it does not exist."""
    session = session_of(ctx)
    with session.for_writing() as memory:
        yield session.owner(memory)


def text_of(given: str) -> str:
    """The text of an argument; `-` stands for stdin. Raises InputError if it is not UTF-8."""
    try:
        if given == "-":
            return sys.stdin.buffer.read().decode("utf-8").rstrip("\r\n")
        given.encode("utf-8")  # bytes of the command line that are no text come as lone surrogates
    except UnicodeError as error:
        raise InputError(f"{'stdin' if given == '-' else 'the text'} is not UTF-8") from error
    return given


def time_of(text: str | None) -> datetime | None:
    """A time given on the command line. Raises BadParameter if it is invalid."""
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise typer.BadParameter(
            f"{text!r} is not a time; write ISO 8601, such as 2026-05-02T10:00:00+02:00"
        ) from error


def labels_of(given: list[str] | None) -> dict[str, Any]:
    """Labels given as KEY=VALUE. A value that is JSON is that: 7, true, ["a", "b"], "7"; any other is a text."""
    labels: dict[str, Any] = {}
    for one in given or ():
        name, sign, value = one.partition("=")
        if not sign or not name:
            raise typer.BadParameter(f"{one!r} is not KEY=VALUE, such as ticket=T-7")
        try:
            labels[name] = json.loads(value, parse_constant=str)
        except ValueError:
            labels[name] = value
    return labels


def scope_of(
    scope: str | None,
    *,
    threads: list[str] | None = None,
    where: list[str] | None = None,
    speakers: list[str] | None = None,
    since: str | None = None,
    until: str | None = None,
) -> Scope | None:
    """What the options say may be seen; None for none of them. Raises InputError, and BadParameter for what is no JSON
    or is given twice."""
    try:
        given = {} if scope is None else json.loads(scope)
    except ValueError as error:
        raise typer.BadParameter(f"--scope is not JSON ({error})") from error
    short = {
        "threads": threads or None,
        "metadata": labels_of(where) or None,
        "speakers": speakers or None,
        "since": since,
        "until": until,
    }
    for name, one in short.items():
        if one is not None:
            if isinstance(given, dict) and name in given:
                raise typer.BadParameter(f"--scope already has {name}; give it once")
            given = {**given, name: one} if isinstance(given, dict) else given
    return None if given == {} else Scope.from_dict(given)


def then_of(as_of: str | None, valid_at: str | None) -> LookBack:
    """The time that a command reads as of, as arguments of the memory's reads; empty for now."""
    then = LookBack()
    if (known := time_of(as_of)) is not None:
        then["as_of"] = known
    if (true := time_of(valid_at)) is not None:
        then["valid_at"] = true
    return then


def with_bar(what: str, unit: str, work: Callable[[Callable[[int, int], None]], _Made]) -> _Made:
    """Run some work with a progress bar on stderr; the work gets the callback for its progress."""
    from embermem.reports import render

    with render.progress(unit) as bar:
        task = bar.add_task(what, total=None)
        return work(lambda done, total: bar.update(task, completed=done, total=total))


def say(text: str) -> None:
    """Print a line on stderr."""
    from embermem.reports import render

    render.note(text)
