"""What is compared: each study is a list of systems with some of their numbers changed. Nothing is imitated: every
variant is a setting of the system itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from embermem.core.errors import ConfigError
from embermem_bench.plan import SystemSpec

__all__ = ["AMEM_KS", "COMPARISONS", "KS", "Comparison", "Variant", "comparison"]

KS: Final = (5, 10, 20, 30, 40)
"""k in the MemoryOS paper's Figure 3."""
AMEM_KS: Final = (10, 20, 30, 40, 50)
"""k in A-MEM's Figure 3."""

K_OPTIONS: Final[Mapping[str, str]] = {
    "memoryos": "top_k",
    "memorybank": "top_k",
    "tim": "top_k",
    "amem": "recall_k",
    "mem0": "recall_k",
    "mem0g": "recall_k",
    "readagent": "lookup",
    "memgpt": "page_size",
}
"""By which option each system says how many memories it recalls."""

SWEPT: Final = ("amem", "memoryos:preset=paper")
NOTHING: Final = SystemSpec(name="full_context", options={"window_tokens": "0"})
"""No memory at all: a window into which nothing fits."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Variant:
    """One system as the study runs it. `series` is what it belongs to and `x` where it stands there, if the study goes
    through numbers."""

    label: str
    spec: SystemSpec
    series: str = ""
    x: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """A study that runs variants on the same questions; the first of each series is what the others are held against.

    `source` is the paper's figure or table that it does again.
    """

    name: str
    title: str
    source: str
    drawn: Literal["bars", "lines"]
    variants: tuple[Variant, ...]
    notes: tuple[str, ...] = ()


def comparison(
    name: str, *, preset: str = "default", systems: Sequence[str] = (), ks: Sequence[int] = ()
) -> Comparison:
    """A study by its name in COMPARISONS. `preset` is that of the ablation, whose k is the first of `ks`, if any;
    `systems` and `ks` are those of the sweep.

    Raises ConfigError for an unknown study, system or preset.
    """
    if name not in COMPARISONS:
        raise ConfigError(f"no study {name!r}; there are: {', '.join(COMPARISONS)}")
    return COMPARISONS[name](preset, systems, ks)


def _ablation(preset: str, systems: Sequence[str], ks: Sequence[int]) -> Comparison:
    k = {"top_k": str(ks[0])} if ks else {}
    whole = SystemSpec(name="memoryos", options={"preset": preset, **k})
    without = [("-MTM", "mid_term"), ("-LPM", "long_term"), ("-Chain", "chain")]
    return Comparison(
        name="ablation",
        title=f"What each tier of MemoryOS is worth, preset {preset}",
        source="MemoryOS paper, Figure 2",
        drawn="bars",
        variants=(
            Variant(label="MemoryOS", spec=whole),
            *(Variant(label=label, spec=_with(whole, without=part)) for label, part in without),
            Variant(label="no memory", spec=NOTHING),
        ),
        notes=(
            "-MTM: of what was said only the newest pages, short-term memory, are recalled; the persona still is.",
            "-LPM: no profile, trait or fact is recalled, and none speaks for the utterances it rests on. A persona "
            "holds no utterance: of the figures of evidence only `told` counts what its facts rest on. What it is "
            "worth shows in answers.",
            "-Chain: no page continues another. No utterance is recalled by chains; in preset `paper` their summaries "
            "are in the context, where `told` counts what they rest on. A model reads them when it learns the persona.",
            "no memory: the context is empty.",
        ),
    )


def _amem_ablation(preset: str, systems: Sequence[str], ks: Sequence[int]) -> Comparison:
    whole = SystemSpec(name="amem")
    return Comparison(
        name="amem-ablation",
        title="What links and evolution are worth to A-MEM",
        source="A-MEM paper, Table 2",
        drawn="bars",
        variants=(
            Variant(label="A-MEM", spec=whole),
            Variant(label="w/o ME", spec=_with(whole, evolution="false")),
            Variant(label="w/o LG", spec=_with(whole, links="false")),
            Variant(label="w/o ME & LG", spec=_with(whole, evolution="false", links="false")),
        ),
        notes=(
            "ME: memory evolution. LG: link generation. The paper has no row without links alone. With a model "
            "evolution then looks at all near notes; without one it follows links, so that there is neither.",
        ),
    )


def _k_sweep(preset: str, systems: Sequence[str], ks: Sequence[int]) -> Comparison:
    found: list[Variant] = []
    for series in systems or SWEPT:
        spec = SystemSpec.parse(series)
        option = K_OPTIONS.get(spec.name)
        if option is None:
            raise ConfigError(f"{series} has no k to go through; these have: {', '.join(K_OPTIONS)}")
        found += [
            Variant(label=f"{spec.label}, k = {k}", spec=_with(spec, **{option: str(k)}), series=spec.label, x=k)
            for k in dict.fromkeys(ks or (AMEM_KS if spec.name == "amem" else KS))
        ]
    return Comparison(
        name="k-sweep",
        title="How many memories to recall",
        source="MemoryOS paper, Figure 3, and A-MEM paper, Figure 3",
        drawn="lines",
        variants=tuple(found),
        notes=(
            "k counts what a system recalls: notes of A-MEM, pages of mid-term memory of MemoryOS (preset `paper`; "
            "`default` has no k but a budget). The more is recalled, the more evidence is packed: read it beside the "
            "context's tokens.",
        ),
    )


def _presets(preset: str, systems: Sequence[str], ks: Sequence[int]) -> Comparison:
    return Comparison(
        name="presets",
        title="MemoryOS by the paper's steps, and as Ember does it by default",
        source="docs/research/recall.md",
        drawn="bars",
        variants=tuple(
            Variant(label=name, spec=SystemSpec(name="memoryos", options={"preset": name}))
            for name in ("default", "paper")
        ),
        notes=("`default` keeps to a budget; `paper` ignores it: compare packed evidence with the context's tokens.",),
    )


COMPARISONS: Mapping[str, Callable[[str, Sequence[str], Sequence[int]], Comparison]] = {
    "ablation": _ablation,
    "amem-ablation": _amem_ablation,
    "k-sweep": _k_sweep,
    "presets": _presets,
}
"""By name: made for a preset, systems and ks, of which each takes what it needs."""


def _with(spec: SystemSpec, **options: str) -> SystemSpec:
    return SystemSpec(name=spec.name, options=dict(sorted({**spec.options, **options}.items())))
