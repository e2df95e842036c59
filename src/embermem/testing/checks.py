"""Assertions about what a memory remembers, for tests of programs that use it.

A text is looked for as it is read: without regard to case and line breaks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from embermem.core.errors import InputError
from embermem.core.types import Context, Fact

__all__ = ["assert_knows", "assert_not_recalled", "assert_recalls"]


class _Recalls(Protocol):
    """The handle of an owner: `OwnerMemory`, `OwnerClient`."""

    @property
    def recall(self) -> Callable[..., Context]: ...


class _Knows(Protocol):
    @property
    def facts(self) -> Callable[..., tuple[Fact, ...]]: ...


def assert_recalls(memory: _Recalls, query: str, *texts: str, **more: Any) -> Context:
    """Assert that a recall tells every one of the texts; returns its context. `more` are arguments of `recall`, such as
    `budget`."""
    __tracebackhide__ = True
    context = memory.recall(query, **more)
    missing = [text for text in _given(texts) if _read(text) not in _read(context.text)]
    if missing:
        raise AssertionError(f"{query!r} does not recall {_listed(missing)}; it recalls:\n{_told(context)}")
    return context


def assert_not_recalled(memory: _Recalls, query: str, *texts: str, **more: Any) -> Context:
    """Assert that a recall tells none of the texts; returns its context."""
    __tracebackhide__ = True
    context = memory.recall(query, **more)
    found = [text for text in _given(texts) if _read(text) in _read(context.text)]
    if found:
        raise AssertionError(f"{query!r} recalls {_listed(found)}:\n{_told(context)}")
    return context


def assert_knows(memory: _Knows, text: str, **more: Any) -> Fact:
    """Assert that a current fact says the text; returns the first that does. `more` are arguments of `facts`, such as
    `person`. What was added is understood by `settle`."""
    __tracebackhide__ = True
    (text,) = _given((text,))
    facts = memory.facts(**more)
    for fact in facts:
        if _read(text) in _read(fact.text):
            return fact
    known = "\n".join(fact.text for fact in facts) or "nothing; was `settle` called?"
    raise AssertionError(f"no fact says {text!r}; known is:\n{known}")


def _given(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Raises InputError where nothing would be asserted."""
    if not texts or not all(isinstance(text, str) and text.strip() for text in texts):
        raise InputError("give the texts that are looked for, such as 'Lyon'")
    return texts


def _read(text: str) -> str:
    return " ".join(text.casefold().split())


def _listed(texts: list[str]) -> str:
    return ", ".join(map(repr, texts))


def _told(context: Context) -> str:
    return context.text or "nothing"
