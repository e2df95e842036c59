"""Spans of OpenTelemetry around what is done with a memory, and a count of it.

Nothing is imported here: where nobody in this process imported OpenTelemetry, nobody can have set a tracer up, and
there is nothing to tell. Names follow its conventions for generative AI. No text stands in a span, unless the setting
`trace_text` says so.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

CREATE, SEARCH, UPDATE, DELETE = "create_memory", "search_memory", "update_memory", "delete_memory"

_API = "opentelemetry.trace"
_TRACER = "embermem"

_Given = ParamSpec("_Given")
_Made = TypeVar("_Made")


class Done:
    """How often each thing was done, in this process, since it was made; `names` are counted from 0 on. Safe for many
    threads."""

    def __init__(self, *names: str) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter(dict.fromkeys(names, 0))

    def add(self, name: str) -> None:
        """Once more."""
        with self._lock:
            self._counts[name] += 1

    def counts(self) -> Mapping[str, int]:
        """As it stands now, by the names given to `spanned`."""
        with self._lock:
            return dict(self._counts)


@dataclass(frozen=True, kw_only=True, slots=True)
class Watch:
    """What spans are told about: the memory's name in them (the owner's id, a hash), whether they carry the text of
    queries, and where calls are counted."""

    store_id: str
    trace_text: bool
    done: Done


class Watched(Protocol):
    """What has methods that are watched."""

    _watch: Watch


_Watched = TypeVar("_Watched", bound=Watched)
_Method = Callable[Concatenate[_Watched, _Given], _Made]


def spanned(
    operation: str, name: str
) -> Callable[[_Method[_Watched, _Given, _Made]], _Method[_Watched, _Given, _Made]]:
    """A method whose calls are counted under a name when they end well, and told as spans where there is a tracer."""

    def around(method: _Method[_Watched, _Given, _Made]) -> _Method[_Watched, _Given, _Made]:
        @wraps(method)
        def called(self: _Watched, /, *given: _Given.args, **named: _Given.kwargs) -> _Made:
            api = sys.modules.get(_API)
            if api is None:
                made = method(self, *given, **named)
            else:
                with _Span(api, self._watch, operation, given, named) as span:
                    made = method(self, *given, **named)
                    span.tell(made)
            self._watch.done.add(name)
            return made

        return called

    return around


class _Span:
    """One span. An error is told by its kind; its text may be somebody's words."""

    def __init__(
        self, api: Any, watch: Watch, operation: str, given: tuple[object, ...], named: Mapping[str, object]
    ) -> None:
        self._api = api
        attributes: dict[str, str] = {"gen_ai.operation.name": operation, "gen_ai.memory.store.id": watch.store_id}
        if operation == SEARCH and watch.trace_text:
            attributes["gen_ai.memory.query.text"] = str(named.get("query", given[0] if given else ""))
        self._scope = api.get_tracer(_TRACER).start_as_current_span(
            operation,
            kind=api.SpanKind.INTERNAL,
            attributes=attributes,
            record_exception=False,
            set_status_on_exception=False,
        )
        self._span: Any = None

    def __enter__(self) -> _Span:
        self._span = self._scope.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        if kind is not None:
            self._span.set_attribute("error.type", kind.__name__)
            self._span.set_status(self._api.StatusCode.ERROR)
        self._scope.__exit__(kind, error, trace)

    def tell(self, made: object) -> None:
        """Record the result: the ids or the number of records."""
        if not self._span.is_recording():
            return
        record = made if isinstance(made, str) else getattr(made, "id", None)  # a page's id; a fact
        if isinstance(record, str):
            self._span.set_attribute("gen_ai.memory.record.id", record)
        count = _count_of(made)
        if count is not None:
            self._span.set_attribute("gen_ai.memory.record.count", count)


def _count_of(made: object) -> int | None:
    """How many records: hits, utterances packed, added or forgotten; with those, facts. None: it is one record."""
    if isinstance(made, tuple):
        return len(made)
    if getattr(made, "dry_run", False):
        return 0
    names = ("packed", "utterance_ids", "utterances", "facts")
    counted = [len(getattr(made, name)) for name in names if hasattr(made, name)]
    return sum(counted) if counted else None
