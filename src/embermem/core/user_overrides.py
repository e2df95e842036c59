"""What callers ruled about facts: which stand, which values are not to be learnt again. Read from the log alone.

A ruling is about what was said before it: what is said later is believed again.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import assert_never

from embermem.core.changes import (
    Cause,
    Change,
    ConflictSettled,
    Decision,
    FactAdded,
    FactAffirmed,
    FactBarred,
    FactDenied,
    FactRetired,
    Ruling,
    TextsBarred,
    undone,
)
from embermem.core.text import fold
from embermem.core.types import Fact, FactId, FactProposal

RULING = (Cause.CORRECTION, Cause.FORGETTING, Cause.UNDO, Cause.ANEW, Cause.IMPORT)
"""The causes of changes that hold rulings, or take them back."""
_MARK_HEX = 32
Says = tuple[str, str, str, str]
"""What a fact says, as it is compared with others: about, subject, attribute and value."""
_Saying = Fact | FactAdded | FactDenied | FactProposal


@dataclass(frozen=True, kw_only=True, slots=True)
class Rulings:
    """What was ruled, each up to a seq. `key` is that of the marks in `barred`."""

    affirmed: Mapping[FactId, int] = field(default_factory=dict)
    denied: Mapping[Says, int] = field(default_factory=dict)
    barred: Mapping[str, int] = field(default_factory=dict)
    settled: frozenset[frozenset[FactId]] = frozenset()
    """Pairs of facts that may both stay, though only one of them can be true."""
    key: bytes = b""

    def keeps(self, fact_id: FactId, seq: int) -> bool:
        """Whether a fact stands against what was said at `seq`."""
        return seq <= self.affirmed.get(fact_id, 0)

    def forbids(self, fact: FactProposal, seq: int) -> bool:
        """Whether a value is not to be learnt from what was said at `seq`."""
        said = says(fact)
        if seq <= self.denied.get(said, 0):
            return True
        return bool(self.barred) and seq <= self.barred.get(mark_of(self.key, said), 0)

    def denied_of(self, fact: FactProposal) -> Iterator[tuple[str, int]]:
        """The values of a fact's attribute that are ruled out, and up to which seq."""
        of = speaks_of(fact)
        return ((said[-1], upto) for said, upto in self.denied.items() if said[:-1] == of)


def rulings_of(changes: Iterable[Change], key: Callable[[], bytes]) -> Rulings:
    """The rulings that stand after these changes, which are all of an owner's with a cause of `RULING`, in order.

    `key` is asked for only where a forgotten value is barred.
    """
    changes = tuple(changes)
    lifted = undone(changes)
    affirmed: dict[FactId, int] = {}
    denied: dict[Says, int] = {}
    barred: dict[str, int] = {}
    settled: set[frozenset[FactId]] = set()
    for change in changes:
        for d in change.decisions if change.no not in lifted else ():
            if not isinstance(d, Ruling):
                continue
            match d:
                case FactAffirmed():
                    affirmed[d.fact_id] = max(d.upto_seq, affirmed.get(d.fact_id, 0))
                case FactDenied():
                    denied[says(d)] = max(d.upto_seq, denied.get(says(d), 0))
                case FactBarred():
                    barred[d.mark] = max(d.upto_seq, barred.get(d.mark, 0))
                case ConflictSettled():
                    settled.add(frozenset((d.fact_id, d.other_id)))
                case TextsBarred():
                    pass  # the store keeps these marks in a table (changes.barred_by)
                case _:
                    assert_never(d)
    return Rulings(
        affirmed=affirmed,
        denied=denied,
        barred=barred,
        settled=frozenset(settled),
        key=key() if barred else b"",
    )


def kept_settled(
    decisions: Sequence[Decision], settled: Callable[[], Collection[frozenset[FactId]]]
) -> list[ConflictSettled]:
    """What callers let stay beside each of the facts that these decisions replace may stay beside the new one."""
    replaced: dict[FactId, set[FactId]] = {one.fact_id: set() for one in decisions if isinstance(one, FactAdded)}
    for one in decisions:
        if isinstance(one, FactRetired) and one.superseded_by in replaced:
            replaced[one.superseded_by].add(one.fact_id)
    pairs = settled() if any(replaced.values()) else ()
    return [
        ConflictSettled(fact_id=other, other_id=new)
        for new, olds in replaced.items()
        for other in sorted(frozenset().union(*pairs) - olds)
        if olds and all(frozenset((old, other)) in pairs for old in olds)
    ]


def speaks_of(fact: _Saying) -> tuple[str, str, str]:
    """What a fact gives a value of: about, subject, attribute."""
    return fact.about.value, fold(fact.subject), fact.attribute


def says(fact: _Saying) -> Says:
    """What a fact says."""
    return *speaks_of(fact), plain(fact.value)


def mark_of(key: bytes, said: Says) -> str:
    """The keyed hash (HMAC-SHA-256) of what a fact says. Who has not the key cannot try values on it."""
    parts = b"".join(len(raw).to_bytes(8, "big") + raw for raw in map(str.encode, said))
    return hmac.digest(key, parts, hashlib.sha256).hex()[:_MARK_HEX]


def mark_of_key(key: bytes) -> str:
    """What tells a key from another, and says nothing of it."""
    return hashlib.blake2b(key, digest_size=16, person=b"embermem.key").hexdigest()


@lru_cache(maxsize=4096)
def plain(value: str) -> str:
    """A value as it is compared with others: folded, without the marks around it."""
    return " ".join(fold(value).split()).strip(" .,;!?。，；！？")
