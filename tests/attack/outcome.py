"""What came of a life: what was found, and how much was done."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, field

COUNTED = (
    *("lives", "processes", "actions", "kills", "interrupts", "full disks", "damaged bytes", "clock jumps"),
    *("acknowledged messages", "forgettings", "forgotten pages", "forgotten words looked for", "bytes looked at"),
    *("comparisons of a forgetting", "reads of an owner"),
)
"""What is counted, in the order in which it is told."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """Something that does not hold: `kind` is one of few, by which failing lives are grouped."""

    kind: str
    what: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.what}"


@dataclass(kw_only=True, slots=True)
class Outcome:
    """Of one life, or of many."""

    failures: list[Failure] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def fail(self, kind: str, what: str) -> None:
        """Note what was found, once."""
        found = Failure(kind=kind, what=what)
        if found not in self.failures:
            self.failures.append(found)

    def add(self, other: Outcome) -> None:
        """Take over what another found and counted."""
        self.failures += other.failures
        self.counts += other.counts

    @property
    def kinds(self) -> set[str]:
        """The kinds of what was found."""
        return {one.kind for one in self.failures}

    def to_json(self) -> str:
        """For another process."""
        return json.dumps({"failures": [asdict(one) for one in self.failures], "counts": self.counts})

    @classmethod
    def from_json(cls, text: str) -> Outcome:
        """Of `to_json`."""
        told = json.loads(text)
        return cls(failures=[Failure(**one) for one in told["failures"]], counts=Counter(told["counts"]))
