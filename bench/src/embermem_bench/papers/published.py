"""The figures that papers print, with the table that each is in: what ours are laid beside. Per cent, as printed.

LoCoMo's categories have the data's numbers (`categories.py`): papers' Single Hop is 1, Multi Hop 2, Temporal 3, Open
Domain 4. Figures that a paper gives as a drawing alone are not here, and neither are those of A-MEM's appendix B.2,
which we do not have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

MEMORYOS: Final = "MemoryOS paper"
AMEM: Final = "A-MEM paper (arXiv 2502.12110v3)"
OURS: Final = "MemoryOS"
"""The row that the MemoryOS paper calls Ours."""

SYSTEMS: Final[Mapping[str, str]] = {
    "TiM": "tim",
    "MemoryBank": "memorybank",
    "MemGPT": "memgpt",
    "A-Mem": "amem",
    "LoCoMo": "full_context",
    "ReadAgent": "readagent",
    OURS: "memoryos",
}
"""The papers' methods, and which system each is here. LoCoMo is its baseline without a memory."""

Row = Mapping[str, float]


@dataclass(frozen=True, kw_only=True, slots=True)
class Published:
    """A table of a paper: method → column → figure, for each model. `improvement` and `ranks` as they are printed.

    Columns of LoCoMo are `<category> f1` and `<category> bleu1`.
    """

    source: str
    rows: Mapping[str, Mapping[str, Row]]
    improvement: Mapping[str, Row] = field(default_factory=dict)
    ranks: Mapping[str, Mapping[str, tuple[float, float]]] = field(default_factory=dict)


def locomo_columns(categories: Sequence[str]) -> tuple[str, ...]:
    """F1 and BLEU-1 of each category, in the papers' order."""
    return tuple(f"{category} {metric}" for category in categories for metric in ("f1", "bleu1"))


FOUR: Final = ("1", "2", "3", "4")
FIVE: Final = (*FOUR, "5")
COMPANION: Final = ("accuracy", "correctness", "coherence")


def _row(columns: Sequence[str], *figures: float) -> Row:
    return dict(zip(columns, figures, strict=True))


def _four(*figures: float) -> Row:
    return _row(locomo_columns(FOUR), *figures)


def _five(*figures: float) -> Row:
    """The last figure is the token length."""
    return _row((*locomo_columns(FIVE), "tokens"), *figures)


def _companion(*figures: float) -> Row:
    return _row(COMPANION, *figures)


MEMORYOS_1: Final = Published(
    source=f"{MEMORYOS}, Table 1 (GVD)",
    rows={
        "GPT-4o-mini": {
            "TiM": _companion(84.5, 78.8, 90.8),
            "MemoryBank": _companion(78.4, 73.3, 91.2),
            "MemGPT": _companion(87.9, 83.2, 89.6),
            "A-Mem": _companion(90.4, 86.5, 91.4),
            OURS: _companion(93.3, 91.2, 92.3),
        },
        "Qwen2.5-7B": {
            "TiM": _companion(82.2, 73.2, 85.5),
            "MemoryBank": _companion(76.3, 70.3, 82.7),
            "MemGPT": _companion(85.1, 80.2, 86.9),
            "A-Mem": _companion(87.2, 79.5, 87.8),
            OURS: _companion(91.8, 82.3, 90.5),
        },
    },
    improvement={"GPT-4o-mini": _companion(3.2, 5.4, 1.0), "Qwen2.5-7B": _companion(5.3, 3.5, 3.1)},
)

CITED: Final = "A-Mem, as its paper reports"
"""The row of Table 2 that was not measured by its authors: it has no rank, and nothing is compared with it."""
MEMORYOS_2: Final = Published(
    source=f"{MEMORYOS}, Table 2 (LoCoMo)",
    rows={
        "GPT-4o-mini": {
            "TiM": _four(16.25, 13.12, 18.43, 17.35, 8.35, 7.32, 23.74, 22.05),
            "MemoryBank": _four(5.00, 4.77, 9.68, 6.99, 5.56, 5.94, 6.61, 5.16),
            "MemGPT": _four(26.65, 17.72, 25.52, 19.44, 9.15, 7.44, 41.04, 34.34),
            CITED: _four(27.02, 20.09, 45.85, 36.67, 12.14, 12.00, 44.65, 37.06),
            "A-Mem": _four(22.61, 15.25, 33.23, 29.11, 8.04, 7.81, 34.13, 27.73),
            OURS: _four(35.27, 25.22, 41.15, 30.76, 20.02, 16.52, 48.62, 42.99),
        },
        "Qwen2.5-3B": {
            "TiM": _four(4.37, 5.01, 2.54, 3.21, 6.20, 5.37, 6.35, 7.34),
            "MemoryBank": _four(3.60, 3.39, 1.72, 1.97, 6.63, 6.58, 4.11, 3.32),
            "MemGPT": _four(5.07, 4.31, 2.94, 2.95, 7.04, 7.10, 7.26, 5.52),
            CITED: _four(12.57, 9.01, 27.59, 25.07, 7.12, 7.28, 17.23, 13.12),
            "A-Mem": _four(10.31, 8.76, 16.31, 11.07, 6.94, 7.31, 12.34, 10.62),
            OURS: _four(23.26, 15.39, 21.44, 14.95, 10.18, 8.18, 26.23, 22.39),
        },
    },
    improvement={
        "GPT-4o-mini": _four(32.35, 42.33, 23.83, 5.67, 118.80, 111.52, 18.47, 25.19),
        "Qwen2.5-3B": _four(125.61, 75.68, 31.45, 35.05, 46.69, 11.90, 112.56, 110.83),
    },
    ranks={
        "GPT-4o-mini": {
            "TiM": (3.8, 4.0),
            "MemoryBank": (5.0, 5.0),
            "MemGPT": (2.2, 2.5),
            "A-Mem": (3.0, 2.5),
            OURS: (1.0, 1.0),
        },
        "Qwen2.5-3B": {
            "TiM": (4.3, 3.5),
            "MemoryBank": (4.8, 4.8),
            "MemGPT": (2.8, 3.8),
            "A-Mem": (2.3, 2.0),
            OURS: (1.0, 1.0),
        },
    },
)


def _efficiency(*figures: float) -> Row:
    return _row(("tokens", "calls", "f1"), *figures)


MEMORYOS_3: Final = Published(
    source=f"{MEMORYOS}, Table 3 (LoCoMo, GPT-4o-mini)",
    rows={
        "GPT-4o-mini": {
            "MemoryBank": _efficiency(432, 3.0, 6.84),
            "TiM": _efficiency(1_274, 2.6, 18.01),
            "MemGPT": _efficiency(16_977, 4.3, 29.13),
            "A-Mem": _efficiency(2_712, 13.0, 26.55),
            OURS: _efficiency(3_874, 4.9, 36.23),
        }
    },
)

AMEM_1: Final = Published(
    source=f"{AMEM}, Table 1 (LoCoMo)",
    rows={
        "GPT-4o-mini": {
            "LoCoMo": _five(25.02, 19.75, 18.41, 14.77, 12.04, 11.16, 40.36, 29.05, 69.23, 68.75, 16_910),
            "ReadAgent": _five(9.15, 6.48, 12.60, 8.87, 5.31, 5.12, 9.67, 7.66, 9.81, 9.02, 643),
            "MemoryBank": _five(5.00, 4.77, 9.68, 6.99, 5.56, 5.94, 6.61, 5.16, 7.36, 6.48, 432),
            "MemGPT": _five(26.65, 17.72, 25.52, 19.44, 9.15, 7.44, 41.04, 34.34, 43.29, 42.73, 16_977),
            "A-Mem": _five(27.02, 20.09, 45.85, 36.67, 12.14, 12.00, 44.65, 37.06, 50.03, 49.47, 2_520),
        },
        "Qwen2.5-3B": {
            "LoCoMo": _five(4.61, 4.29, 3.11, 2.71, 4.55, 5.97, 7.03, 5.69, 16.95, 14.81, 16_910),
            "ReadAgent": _five(2.47, 1.78, 3.01, 3.01, 5.57, 5.22, 3.25, 2.51, 15.78, 14.01, 776),
            "MemoryBank": _five(3.60, 3.39, 1.72, 1.97, 6.63, 6.58, 4.11, 3.32, 13.07, 10.30, 298),
            "MemGPT": _five(5.07, 4.31, 2.94, 2.95, 7.04, 7.10, 7.26, 5.52, 14.47, 12.39, 16_961),
            "A-Mem": _five(12.57, 9.01, 27.59, 25.07, 7.12, 7.28, 17.23, 13.12, 27.91, 25.15, 1_137),
        },
    },
)


def _ablated(*figures: float) -> Row:
    return _row(locomo_columns(FIVE), *figures)


AMEM_2: Final = Published(
    source=f"{AMEM}, Table 2 (LoCoMo, GPT-4o-mini)",
    rows={
        "GPT-4o-mini": {
            "w/o LG & ME": _ablated(9.65, 7.09, 24.55, 19.48, 7.77, 6.70, 13.28, 10.30, 15.32, 18.02),
            "w/o ME": _ablated(21.35, 15.13, 31.24, 27.31, 10.13, 10.85, 39.17, 34.70, 44.16, 45.33),
            "A-Mem": _ablated(27.02, 20.09, 45.85, 36.67, 12.14, 12.00, 44.65, 37.06, 50.03, 49.47),
        }
    },
)
