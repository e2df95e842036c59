"""What callers ruled about facts: which stand, which values are not to be learnt again. Read from the log alone.

A ruling is about what was said before it: what is said later is believed again.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from embermem.changes import Cause, Change, FactAffirmed, FactBarred, FactDenied, Undone
from embermem.text import fold
from embermem.types import About, FactId

__all__ = ["RULING", "Rulings", "mark_of", "plain", "rulings_of"]

RULING = (Cause.CORRECTION, Cause.FORGETTING, Cause.UNDO, Cause.ANEW)
"""The causes of changes that hold rulings, or take them back."""
_MARK_HEX = 32
_Said = tuple[str, str, str, str]
"""about, subject, attribute and value, as they are compared."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rulings:
    """What was ruled, each up to a seq. `key` is that of the marks in `barred`."""

    affirmed: Mapping[FactId, int] = field(default_factory=dict)
    denied: Mapping[_Said, int] = field(default_factory=dict)
    barred: Mapping[str, int] = field(default_factory=dict)
    key: bytes = b""

    def keeps(self, fact_id: FactId, seq: int) -> bool:
        """Whether a fact stands against what was said at `seq`."""
        return seq <= self.affirmed.get(fact_id, 0)

    def forbids(self, about: About, subject: str, attribute: str, value: str, seq: int) -> bool:
        """Whether a value is not to be learnt from what was said at `seq`."""
        if seq <= self.denied.get(_said(about, subject, attribute, value), 0):
            return True
        return bool(self.barred) and seq <= self.barred.get(mark_of(self.key, about, subject, attribute, value), 0)


def rulings_of(changes: Iterable[Change], key: Callable[[], bytes]) -> Rulings:
    """The rulings that stand after these changes, which are all of an owner's with a cause of `RULING`, in order.

    `key` is asked for only where a forgotten value is barred.
    """
    changes = tuple(changes)
    undone: dict[int, int] = {}
    for change in changes:
        for no in (d.no for d in change.decisions if isinstance(d, Undone)):
            undone[no] = change.no
            for earlier in [one for one, by in undone.items() if by == no]:
                del undone[earlier]  # what was undone by a change that is undone now, stands again
    affirmed: dict[FactId, int] = {}
    denied: dict[_Said, int] = {}
    barred: dict[str, int] = {}
    for change in changes:
        for d in change.decisions if change.no not in undone else ():
            match d:
                case FactAffirmed():
                    affirmed[d.fact_id] = max(d.upto_seq, affirmed.get(d.fact_id, 0))
                case FactDenied():
                    said = _said(d.about, d.subject, d.attribute, d.value)
                    denied[said] = max(d.upto_seq, denied.get(said, 0))
                case FactBarred():
                    barred[d.mark] = max(d.upto_seq, barred.get(d.mark, 0))
                case _:
                    pass
    return Rulings(affirmed=affirmed, denied=denied, barred=barred, key=key() if barred else b"")


def mark_of(key: bytes, about: About, subject: str, attribute: str, value: str) -> str:
    """The keyed hash (HMAC-SHA-256) of what a fact says. Who has not the key cannot try values on it."""
    parts = b"".join(
        len(raw).to_bytes(8, "big") + raw for raw in map(str.encode, _said(about, subject, attribute, value))
    )
    return hmac.digest(key, parts, hashlib.sha256).hex()[:_MARK_HEX]


def plain(value: str) -> str:
    """A value as it is compared with others: folded, without the marks around it."""
    return " ".join(fold(value).split()).strip(" .,;!?。，；！？")


def _said(about: About, subject: str, attribute: str, value: str) -> _Said:
    return about.value, fold(subject), attribute, plain(value)
