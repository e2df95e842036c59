"""LoCoMo's five categories, with both names in use.

The data number them 1 to 5. The code and the evidence of the data say what a number means: `name`. Papers' tables often
carry the order in which LoCoMo's paper lists its kinds of question: `paper_name`, the column under which a figure of
that number most likely stands. So compare by number, and print both names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

MULTI_HOP: Final = "1"
TEMPORAL: Final = "2"
OPEN_DOMAIN: Final = "3"
SINGLE_HOP: Final = "4"
ADVERSARIAL: Final = "5"


@dataclass(frozen=True, kw_only=True, slots=True)
class Category:
    """`number` as in the data and in `Question.category`. `answered` is False where the right answer is none."""

    number: str
    name: str
    paper_name: str
    answered: bool = True

    @property
    def label(self) -> str:
        """For tables: number, name, and the papers' name where it is another one."""
        other = f" ({self.paper_name} in papers' order)" if self.paper_name != self.name else ""
        return f"{self.number} {self.name}{other}"


CATEGORIES: Mapping[str, Category] = MappingProxyType(
    {
        one.number: one
        for one in (
            Category(number=MULTI_HOP, name="multi-hop", paper_name="single-hop"),
            Category(number=TEMPORAL, name="temporal", paper_name="multi-hop"),
            Category(number=OPEN_DOMAIN, name="open-domain", paper_name="temporal"),
            Category(number=SINGLE_HOP, name="single-hop", paper_name="open-domain"),
            Category(number=ADVERSARIAL, name="adversarial", paper_name="adversarial", answered=False),
        )
    }
)
"""By number, in the data's order."""
