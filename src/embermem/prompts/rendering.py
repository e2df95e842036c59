"""The lines of a Context: how a person, a fact, a day and an utterance are written, and how a long text is cut.

The text of users is data: every line break in it becomes a space, so that one utterance is one line and nothing said
can look like a header or another's line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import datetime

from embermem import languages
from embermem.core.patterns import regex
from embermem.core.types import Chain, Fact, Passage, Persona, ProfileField, Segment, Source, Utterance
from embermem.languages.language import Language
from embermem.languages.words import search_terms, sentences
from embermem.protocols import TokenCounter

__all__ = [
    "CUT",
    "DOCUMENTS",
    "KNOWN",
    "OF_AGENT",
    "SHARED",
    "WISHES",
    "chain_line",
    "cut",
    "day",
    "fact_line",
    "field",
    "header",
    "older_line",
    "one_line",
    "passage_text",
    "place_line",
    "profile_lines",
    "segment_line",
    "shared_heading",
    "trait_lines",
    "utterance_line",
]

CUT = "[…]"
"""Stands where part of an utterance was left out."""

WISHES = "standing wishes of the user:"
"""The line over the user's instructions. No text of anybody's can make one: theirs begin with a number or a dash."""

KNOWN = "known:"
"""The line over what is known of the user and of others."""

DOCUMENTS = "from documents:"
"""The line over the passages of documents. No text can make one either: each passage is one line, with its number."""
SHARED = regex(r"(?:shared memory of [\w.-]+|known of the user by .+):")
"""The line over what is told from a space, or from what another agent knows of the user, which `shared_heading` makes.
No other line of a context is one."""
OF_AGENT = "agent:"
"""Stands before the name of an agent, where else a space's stands, which has no colon."""

_THREAD_CHARS = 40
_PLACE_CHARS = 160

_CUT_LOOKS_AT = 50_000
"""Characters of one utterance among which a cut chooses."""
_NEAR = 0.5
"""What a word is worth to the sentences beside its own, and to the lines that stand under it as a head."""

_LEAST_WORTH = 0.5
"""Of the best sentence's worth: one that is worth less comes only where it stands beside a chosen one."""

_NUMBERING = regex(r"\W*\d{1,3}[.)]")
_HEADING = regex(r"#{1,6}\s|(?:\W*\d{1,3}[.)]\s*|[-*+•]\s+)?\*\*[^*]+\*\*$")
_HEADING_MARKS = regex(r"[#*_`=]")
_BRACKETS = str.maketrans("[]", "()")
_BREAK = regex(r".*(?:[,;:)]\s|[，；：、）]|\s)", re.DOTALL)


def one_line(text: str) -> str:
    """The text with every run of white space and line breaks turned into one space."""
    return " ".join(text.split())


def header(utterance: Utterance, language: Language | None = None) -> str:
    """The line over what was said on one day: `2026-05-02 Sat:`, in the day's own zone and in this language (None: the
    utterance's own); over passages `from documents:`."""
    if utterance.passage is not None:
        return DOCUMENTS
    weekdays = (language or languages.by_signs(utterance.text)).weekdays
    return f"{day(utterance.said_at)} {weekdays[utterance.said_at.weekday()]}:"


def shared_heading(space: str) -> str:
    """The line over what is told from a space, or by another agent (`agent:tutor`)."""
    if space.startswith(OF_AGENT):
        return f"known of the user by {one_line(space.removeprefix(OF_AGENT))}:"
    return f"shared memory of {space}:"


def utterance_line(utterance: Utterance, text: str | None = None) -> str:
    """`#12 Alice: text`, of a passage `#12 [Handbook, Leave > Parental leave] text`; with `text` in its place."""
    said = one_line(passage_text(utterance, utterance.text)) if text is None else text
    if utterance.passage is not None:
        return f"#{utterance.seq} [{place_line(utterance.passage)}] {said}"
    return spoken_line(utterance.seq, utterance.speaker, said)


def older_line(utterance: Utterance, newer: int, text: str) -> str:
    """`#12 Alice (older, see #40): text`: a line of a matter of which the utterance with another number says something
    newer."""
    return f"#{utterance.seq} {one_line(utterance.speaker)} (older, see #{newer}): {text}"


def spoken_line(seq: int, speaker: str, said: str) -> str:
    """The same of what was said in a talk, from one line of text."""
    return f"#{seq} {one_line(speaker)}: {said}"


def passage_text(utterance: Utterance, text: str) -> str:
    """A passage's text as it is told: without headings at its beginning that its place says already."""
    if utterance.passage is None:
        return text
    told = {_bare(part) for part in (utterance.passage.title, *utterance.passage.place.split(" > "))}
    head, _, rest = text.partition("\n")
    while rest.strip() and _bare(head) in told:
        text = rest.lstrip("\n")
        head, _, rest = text.partition("\n")
    return text


def _bare(heading: str) -> str:
    return one_line(_HEADING_MARKS.sub("", heading)).casefold()


def place_line(passage: Passage) -> str:
    """`Handbook, Leave > Parental leave`: a passage's title and place, without square brackets of its own."""
    told = f"{passage.title}, {passage.place}" if passage.place else passage.title
    return one_line(told).translate(_BRACKETS)[:_PLACE_CHARS]


def fact_line(fact: Fact, language: Language | None = None) -> str:
    """`- lives in Lyon (since May 2026) [#41]`; where the text says no time, the day it was said. One that is no longer
    so says until when: `(until 3 May 2026)`, in this language (None: the fact's own)."""
    text = one_line(fact.text)
    language = language or languages.by_signs(text)
    dated = text.endswith((")", "）"))
    said = language.said_on(day(fact.valid_from)) if fact.valid_from and not dated else ""
    return f"- {text}{said}{_until(fact, language)}{_first(fact.sources)}"


def segment_line(segment: Segment) -> str:
    """`- wetland park (2026-04-11 – 2026-05-02): what was said of it [#41]`: a topic, its days and its summary."""
    first, last = day(segment.said_from), day(segment.said_to)
    days = first if first == last else f"{first} – {last}"
    title = one_line(segment.title)
    return f"- {f'{title} ({days})' if title else days}: {one_line(segment.summary)}{_first(segment.sources)}"


def chain_line(chain: Chain, began: datetime) -> str:
    """`- 2026-05-02, s1: what was talked about [#41]`: a chain's first day, its thread and its summary."""
    thread = one_line(chain.thread)[:_THREAD_CHARS]
    return f"- {day(began)}, {thread}: {one_line(chain.summary)}{_first(chain.sources)}"


def _first(sources: Sequence[Source]) -> str:
    return f" [#{sources[0].seq}]" if sources else ""


def _until(fact: Fact, language: Language) -> str:
    return "" if fact.retired_at is None else language.until(fact.valid_to or fact.retired_at)


def profile_lines(persona: Persona) -> list[str]:
    """`user: name Alice; birth year 1994`, and the same of the agent."""
    return [
        f"{whose}: {'; '.join(field(line) for line in lines)}"
        for whose, lines in (("user", persona.profile), ("agent", persona.agent_profile))
        if lines
    ]


def trait_lines(persona: Persona) -> list[str]:
    """`traits: openness high +0.5; …`, one line or none."""
    traits = "; ".join(f"{one_line(t.dimension)} {one_line(t.pole)} {t.level:+.1f}" for t in persona.traits)
    return [f"traits: {traits}"] if traits else []


def field(line: ProfileField) -> str:
    """`birth year 1994`."""
    return f"{one_line(line.name).replace('_', ' ')} {one_line(line.value)}"


def day(moment: datetime) -> str:
    """`2026-05-02`, in the moment's own zone."""
    return moment.date().isoformat()


# --------------------------------------------------------------------------------------------------------- the cut


def cut(
    text: str, limit: int, weights: Mapping[str, float], counter: TokenCounter, *, whole_sentences: bool = False
) -> str:
    """One line of the sentences that matter to a query, in their order, within `limit` tokens.

    First those that hold its terms or stand beside one that does, by weight, down to half of the best. A line of a
    list comes with the head that it stands under, and with the first sentence, if that is a head. No head comes alone.
    What room is left goes to the sentences after and before those chosen. Where no term occurs, the beginning.
    `[…]` marks each gap. Where no sentence fits, the beginning of the best one; with `whole_sentences` nothing. Empty,
    if nothing fits.
    """
    text = text[:_CUT_LOOKS_AT]
    pieces = _pieces(text)
    choice = _Choice(text, pieces, limit, counter)
    best = _by_worth(choice, weights)
    for i in best:
        if not choice.take(i, with_heads=True) and not choice.chosen:
            return "" if whole_sentences else _beginning(one_line(text[slice(*pieces[i])]), limit, counter)
    if not best:
        return _opening(choice, whole_sentences)
    for i in list(choice.chosen):
        for beside in (i + 1, i - 1):
            if beside in choice.bodies:
                choice.take(beside, with_heads=False)
    return _joined(text, pieces, sorted(choice.chosen))


def _opening(choice: _Choice, whole_sentences: bool) -> str:
    """The first sentences that fit; if not one, the beginning of the first."""
    for i, (start, end) in enumerate(choice.pieces):
        if not choice.take(i, with_heads=False):
            if i == 0:
                return (
                    ""
                    if whole_sentences
                    else _beginning(one_line(choice.text[start:end]), choice.limit, choice.counter)
                )
            break
    return _joined(choice.text, choice.pieces, sorted(choice.chosen))


class _Choice:
    """Which pieces of a text are in its cut so far."""

    def __init__(self, text: str, pieces: Sequence[tuple[int, int]], limit: int, counter: TokenCounter) -> None:
        self.text, self.pieces, self.limit, self.counter = text, pieces, limit, counter
        self.mark = counter.count(CUT)
        self.left = limit - self.mark
        self.chosen: dict[int, None] = {}
        self.over = _heads_over([_is_head(text[start:end]) for start, end in pieces])
        self.bodies = set(self.over)

    def take(self, i: int, *, with_heads: bool) -> bool:
        """Choose the piece, with its heads if they fit too; whether it is in the cut."""
        if i in self.chosen:
            return True
        above = dict.fromkeys((self.over[i], None if 0 in self.bodies else 0)) if with_heads else {}
        heads = [head for head in above if head is not None and head not in self.chosen]
        for wanted in ([*heads, i], [*heads[:1], i], [i]):
            cost = sum(self._cost(piece, wanted) for piece in wanted)
            if cost <= self.left:
                self.chosen.update(dict.fromkeys(wanted))
                self.left -= cost
                return True
        return False

    def _cost(self, i: int, wanted: Sequence[int]) -> int:
        start, end = self.pieces[i]
        marks = (i > 0 and i - 1 not in self.chosen and i - 1 not in wanted) - (i + 1 in self.chosen)
        return self.counter.count(self.text[start:end]) + self.mark * marks


def _heads_over(heads: Sequence[bool]) -> dict[int, int | None]:
    """For each piece that is no head, the nearest head before it. Where all are heads, none is one."""
    over: dict[int, int | None] = {}
    last, some = None, not all(heads)
    for i, head in enumerate(heads):
        if head and some:
            last = i
        else:
            over[i] = last
    return over


def _by_worth(choice: _Choice, weights: Mapping[str, float]) -> list[int]:
    """The bodies that hold the query's terms or stand near one, best first, down to half of the best."""
    held = [weights.keys() & set(search_terms(choice.text[slice(*piece)])) for piece in choice.pieces]
    worth: dict[int, float] = {}
    for i, head in choice.over.items():
        near = [held[j] for j in (i - 1, i + 1, head) if j is not None and (j in choice.over or j == head)]
        beside = set[str]().union(*near) - held[i]
        # fsum is exact: a set of words has no order of its own that is the same in every process.
        worth[i] = math.fsum(weights[term] for term in held[i]) + _NEAR * math.fsum(weights[term] for term in beside)
    most = max(worth.values(), default=0.0)
    return sorted((i for i in worth if 0.0 < worth[i] >= _LEAST_WORTH * most), key=lambda i: (-worth[i], i))


def _pieces(text: str) -> list[tuple[int, int]]:
    """Sentences, a list's number with what it numbers; very long ones in parts."""
    whole: list[tuple[int, int]] = []
    for start, end in sentences(text):
        if whole and _NUMBERING.fullmatch(text[slice(*whole[-1])]):
            whole[-1] = (whole[-1][0], end)
        else:
            whole.append((start, end))
    return [part for span in whole for part in _parts(text, *span)]


def _parts(text: str, start: int, end: int) -> list[tuple[int, int]]:
    parts: list[tuple[int, int]] = []
    longest = languages.by_signs(text[start:end]).longest_piece
    while end - start > longest:
        found = _BREAK.match(text, start + longest // 2, start + longest)
        middle = found.end() if found else start + longest
        parts.append((start, middle))
        start = middle
    return [*parts, (start, end)]


def _is_head(piece: str) -> bool:
    """A line that only introduces others, or holds no word at all."""
    bare = piece.rstrip("*_ ")
    return bare.endswith((":", "：")) or _HEADING.match(piece) is not None or not any(c.isalnum() for c in piece)


def _joined(text: str, pieces: Sequence[tuple[int, int]], chosen: Sequence[int]) -> str:
    parts: list[str] = []
    following = 0
    for place, i in enumerate(chosen):
        if i != following:
            parts.append(CUT)
        if place == 0 or chosen[place - 1] != i - 1:
            first = i
        if place + 1 == len(chosen) or chosen[place + 1] != i + 1:
            # Neighbours stand as they were written: between parts of one sentence there may be no space.
            parts.append(one_line(text[pieces[first][0] : pieces[i][1]]))
        following = i + 1
    if following != len(pieces):
        parts.append(CUT)
    return " ".join(parts)


def _beginning(text: str, limit: int, counter: TokenCounter) -> str:
    """As much of the text as fits with the mark; at a space, if there is one near."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if counter.count(f"{text[:middle]} {CUT}") <= limit:
            low = middle
        else:
            high = middle - 1
    if low == len(text):
        return text
    space = text.rfind(" ", max(0, low - 30), low + 1)
    kept = text[: space if space > 0 else low].rstrip()
    return f"{kept} {CUT}" if kept else ""
