"""Studies of the papers, done again: what a part of a memory is worth, how many memories to recall, how they lie.

Each writes a table (NAME.md), the numbers (NAME.json), a figure (NAME.svg, NAME.png). Rules: docs/research/studies.md.
"""

from embermem_bench.studies.comparing import compare
from embermem_bench.studies.comparisons import COMPARISONS, Comparison, Variant, comparison
from embermem_bench.studies.memory_map import MAP, draw_map
from embermem_bench.studies.writing import Written

__all__ = ["COMPARISONS", "MAP", "Comparison", "Variant", "Written", "compare", "comparison", "draw_map"]
