"""Rules of facts, whatever the language: what a rule is, which ones match, and what a statement takes back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from embermem.core.attributes import OPPOSITE
from embermem.languages.facts.finding import Finding

__all__ = ["Matched", "Rule", "Value", "implied", "matched"]

Value = tuple[str, int]
"""A value, and where it ends."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A statement about `attribute` begins as the pattern does; `read` gives its value, or None where it is none."""

    attribute: str
    pattern: re.Pattern[str]
    read: Callable[[re.Match[str]], Value | None]
    retracts: bool


class Matched(NamedTuple):
    """A rule that matched, and what it read."""

    rule: Rule
    match: re.Match[str]
    value: str
    end: int


def matched(rules: Iterable[Rule], text: str, pos: int = 0) -> Iterator[Matched]:
    """The rules that understand a statement which begins at `pos`, in their order: the first that is not refused for
    other reasons has it."""
    for rule in rules:
        match = rule.pattern.match(text, pos)
        if match is not None and (found := rule.read(match)) is not None:
            yield Matched(rule, match, *found)


def implied(finding: Finding) -> Iterator[Finding]:
    """What a statement takes back besides: the opposite of a taste, the employer of somebody without a job."""
    attribute, value = "", finding.value
    if finding.attribute in OPPOSITE and not finding.retracts:
        attribute = OPPOSITE[finding.attribute]
    elif finding.attribute == "works_as" and finding.retracts and not value:
        attribute = "works_at"
    if attribute:
        yield Finding(
            subject=finding.subject,
            attribute=attribute,
            value=value,
            start=finding.start,
            end=finding.end,
            retracts=True,
        )
