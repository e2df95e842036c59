"""A context line by line: what each line is of, what the parts cost, and how two contexts differ."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from embermem import languages
from embermem.core.types import Context, Hit
from embermem.http.inspector.drawing.charts import group_of
from embermem.index.tokens import counter
from embermem.languages.words import words_to_match
from embermem.prompts.rendering import fact_line

_SAID = re.compile(r"#([0-9]+) ")
_RESTS = re.compile(r"\[#([0-9]+)\]$")
PARTS: Mapping[str, str] = {
    "person": "who it is: profile and traits",
    "fact": "facts and topics",
    "said": "what was said",
    "head": "days and threads",
}
"""The parts of a context, in the order of its text."""
_WHY: Mapping[str, str] = {
    "meaning": "its meaning is near the query's",
    "words": "it or its neighbours have words of the query",
    "close": "its wording is near the query's",
    "prior": "its speaker, date or topic fit",
}
_WORDS_NAMED = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """A line of a context: the part that it belongs to, and what it leads to: the utterance with the number `seq`, the
    fact with the id `fact_id`. `change` is "only" or "moved" where another context lacks it or has it elsewhere."""

    text: str
    part: str
    seq: int | None = None
    fact_id: str | None = None
    change: str = ""

    @property
    def mark(self) -> str:
        """What links the line with its hit or fact; empty for none."""
        if self.fact_id is not None:
            return f"fact-{self.fact_id}"
        return f"hit-{self.seq}" if self.part == "said" else ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """What of two contexts differs: the lines that only the one has, and those that both have in another order."""

    left: tuple[str, ...]
    right: tuple[str, ...]
    moved: tuple[str, ...]


def lines_of(context: Context) -> list[Line]:
    """The lines of a context's text."""
    language = None if context.preset == "paper" else languages.of(context.query)
    facts = {fact_line(fact, language): fact for fact in reversed(context.facts)}
    lines: list[Line] = []
    begun = False
    for text in context.text.split("\n"):
        said, rests, fact = _SAID.match(text), _RESTS.search(text), facts.get(text)
        begun = begun or not text
        if said:
            lines.append(Line(text=text, part="said", seq=int(said[1])))
        elif fact is not None or text.startswith("- "):
            seq = int(rests[1]) if rests else None
            lines.append(Line(text=text, part="fact", seq=seq, fact_id=None if fact is None else fact.id))
        else:
            lines.append(Line(text=text, part="head" if begun or text.endswith(":") else "person"))
    return lines


def tokens_by_part(context: Context, lines: Sequence[Line]) -> list[tuple[str, int]]:
    """What each part of a context costs, by the counter that packed it; what is over is the ends of lines."""
    count = counter(context.counter).count
    by = {part: sum(count(line.text + "\n") for line in lines if line.part == part and line.text) for part in PARTS}
    return [(PARTS[part], tokens) for part, tokens in by.items() if tokens]


def compared(left: Sequence[Line], right: Sequence[Line]) -> tuple[list[Line], list[Line], Difference]:
    """Both contexts with what differs marked, and told."""
    texts = [one.text for one in left], [one.text for one in right]
    blocks = SequenceMatcher(None, *texts, autojunk=False).get_matching_blocks()
    kept = (
        {at for block in blocks for at in range(block.a, block.a + block.size)},
        {at for block in blocks for at in range(block.b, block.b + block.size)},
    )
    marked = [
        [_marked(line, at in same, line.text in others) for at, line in enumerate(lines)]
        for lines, same, others in zip((left, right), kept, (set(texts[1]), set(texts[0])), strict=True)
    ]
    told = Difference(
        left=tuple(line.text for line in marked[0] if line.change == "only"),
        right=tuple(line.text for line in marked[1] if line.change == "only"),
        moved=tuple(line.text for line in marked[0] if line.change == "moved"),
    )
    return marked[0], marked[1], told


def _marked(line: Line, same: bool, there: bool) -> Line:
    if same or not line.text:
        return line
    return replace(line, change="moved" if there else "only")


def why(hit: Hit, query: str) -> str:
    """In a few words, why a hit was found: what gave most to its score."""
    given: dict[str, float] = {}
    for name, score in hit.spoke.items():
        group = group_of(name)
        given[group] = given.get(group, 0.0) + score.normalised * score.weight
    best = sorted((name for name, value in given.items() if value > 0), key=lambda name: -given[name])[:2]
    shared = sorted(set(words_to_match(query)) & set(words_to_match(hit.utterance.text)))[:_WORDS_NAMED]
    told = [_WHY[name] + (f": {', '.join(shared)}" if name == "words" and shared else "") for name in best]
    return ", and ".join(told) or "nothing spoke for it; it is the best that is there"
