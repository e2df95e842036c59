"""The papers' experiments as runs: which systems are asked which data, how they reply, and who judges.

A part is one run of `bench run`. Parts on the same data share their recordings, so that what two of them ask a model
alike is asked once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from embermem.core.errors import ConfigError
from embermem_bench.datasets import LOCOMO_HEADLINE, Dataset, gvd
from embermem_bench.papers.published import OURS, SYSTEMS
from embermem_bench.plan import Replies, SystemSpec
from embermem_bench.studies.comparisons import Comparison, comparison

__all__ = ["DEFAULT", "PARTS", "Data", "Entry", "Part", "chosen", "data_of"]

Data = Literal["locomo", "gvd"]
PAPER_PRESET: Final = "memoryos:preset=paper"
DEFAULT: Final = "MemoryOS, preset default"
"""The row of what Ember does by itself. It is in no ranking: no paper has it."""
GVD_K: Final = 5
"""k on GVD, MemoryOS paper §4.1; 10 on LoCoMo is the systems' own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """A row of a table: the method as the paper names it, and the system."""

    method: str
    spec: SystemSpec
    k: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """One run, and the tables and figures that are made of it."""

    name: str
    made: str
    data: Data
    entries: tuple[Entry, ...]
    judges: tuple[str, ...] = ()

    @property
    def replies(self) -> Replies:
        """As each paper asks: §3.5 on GVD; on LoCoMo in few words, adversarial questions by choice."""
        return "chat" if self.data == "gvd" else "choice"

    @property
    def systems(self) -> tuple[SystemSpec, ...]:
        """Of all its rows."""
        return tuple(entry.spec for entry in self.entries)


def data_of(dataset: Dataset, name: str) -> Data:
    """What the experiments take a data set for. Raises ConfigError for one that is in no paper's tables."""
    if dataset.headline == LOCOMO_HEADLINE:
        return "locomo"
    if all(question.category == gvd.CATEGORY for talk in dataset.conversations for question in talk.questions):
        return "gvd"
    raise ConfigError(f"{name} is neither LoCoMo's nor GVD's data; other data sets: embermem bench run")


def chosen(names: Iterable[str], without: Iterable[str] = ()) -> tuple[Part, ...]:
    """The parts of these names, in their order; all without a name. The systems `without` are in none of them. Raises
    ConfigError."""
    wanted = set(names) or set(PARTS)
    if unknown := sorted(wanted - set(PARTS)):
        raise ConfigError(f"no part {unknown[0]!r}; there are: {', '.join(PARTS)}")
    left_out, known = set(without), {spec.name for part in PARTS.values() for spec in part.systems}
    if unknown := sorted(left_out - known):
        raise ConfigError(f"no system {unknown[0]!r} in these experiments; there are: {', '.join(sorted(known))}")
    return tuple(
        replace(part, entries=tuple(entry for entry in part.entries if entry.spec.name not in left_out))
        for name, part in PARTS.items()
        if name in wanted
    )


def _compared(methods: Iterable[str], **options: Mapping[str, str]) -> tuple[Entry, ...]:
    """Methods of the papers; what they call Ours is preset `paper`, and Ember's default stands below."""
    made = [
        Entry(method=one, spec=_spec(SYSTEMS[one], options.get(SYSTEMS[one], {}))) for one in methods if one != OURS
    ]
    made.append(Entry(method=OURS, spec=_spec(PAPER_PRESET, options.get("memoryos", {}))))
    return (*made, Entry(method=DEFAULT, spec=SystemSpec(name="memoryos")))


def _spec(text: str, options: Mapping[str, str]) -> SystemSpec:
    spec = SystemSpec.parse(text)
    return SystemSpec(name=spec.name, options=dict(sorted({**spec.options, **options}.items())))


def _variants(study: Comparison) -> tuple[Entry, ...]:
    return tuple(Entry(method=one.label, spec=one.spec, k=one.x) for one in study.variants)


_K = {"top_k": str(GVD_K)}
_PARTS = (
    Part(
        name="locomo",
        made="MemoryOS Tables 2 and 3; A-MEM Table 1 and appendix B.2",
        data="locomo",
        entries=_compared(("TiM", "MemoryBank", "MemGPT", "A-Mem", "LoCoMo", "ReadAgent", OURS)),
    ),
    Part(
        name="ablation",
        made="MemoryOS Figure 2, LoCoMo",
        data="locomo",
        entries=_variants(comparison("ablation", preset="paper")),
    ),
    Part(
        name="k",
        made="MemoryOS Figure 3",
        data="locomo",
        entries=_variants(comparison("k-sweep", systems=(PAPER_PRESET,))),
    ),
    Part(
        name="amem-ablation",
        made="A-MEM Table 2",
        data="locomo",
        entries=_variants(comparison("amem-ablation")),
    ),
    Part(
        name="amem-k",
        made="A-MEM Figure 3",
        data="locomo",
        entries=_variants(comparison("k-sweep", systems=("amem",))),
    ),
    Part(
        name="gvd",
        made="MemoryOS Table 1",
        data="gvd",
        entries=_compared(
            ("TiM", "MemoryBank", "MemGPT", "A-Mem", OURS),
            **{"tim": _K, "memorybank": _K, "amem": {"recall_k": str(GVD_K)}, "memoryos": _K},
        ),
        judges=("gvd",),
    ),
    Part(
        name="gvd-ablation",
        made="MemoryOS Figure 2, GVD",
        data="gvd",
        entries=_variants(comparison("ablation", preset="paper", ks=(GVD_K,))),
        judges=("gvd",),
    ),
)
PARTS: Final[Mapping[str, Part]] = {part.name: part for part in _PARTS}
"""By name, in the order in which they are run: what says most comes first."""
