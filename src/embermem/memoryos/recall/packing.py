"""Packing: the text of a Context, within a budget of tokens that counts all of it.

    user: name Alice; birth year 1994

    known:
    - lives in Lyon (since 2026-03-01) [#41]

    2026-05-02 Sat:
    #12 Alice: I went to the wetland park.

First who the owner is, which changes least; then what is known; then the conversation in time order, under a line for
each day. `#12` is the utterance's seq: the same in every recall. prompts/rendering.py writes and cuts the lines.

What is packed stands in one order that does not depend on the budget, and ends with what does not fit any more: so a
larger budget holds all that a smaller one holds. What was said and facts come by value per token, exp(score) / (tokens
+ floor), best first, until what is left is unlikely to help; between them, within a share of what is packed so far, the
profile, what the user wants of the agent, and what bears on the query by its theme. A question comes with its answer. A
fact leaves when a line has come in that says it.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from embermem import languages
from embermem.core.attributes import is_instruction
from embermem.core.types import Fact, FactId, LeftOut, Persona, ProfileField, Source, Utterance
from embermem.index.query_context import View
from embermem.index.snapshot import Snapshot
from embermem.languages.questions import asked_attributes
from embermem.languages.words import content_words
from embermem.memoryos.people import profile_value
from embermem.memoryos.recall.exchanges import Exchanges, open_page
from embermem.memoryos.recall.layout import in_time_order, laid_out, place_of, profile_line
from embermem.memoryos.recall.lines import Lines
from embermem.memoryos.recall.newest import asks_for_list
from embermem.memoryos.recall.overview import Overview
from embermem.memoryos.recall.summaries import Summaries
from embermem.prompts.rendering import (
    CUT,
    KNOWN,
    WISHES,
    fact_line,
    header,
    one_line,
    profile_lines,
    spoken_line,
    trait_lines,
    utterance_line,
)
from embermem.protocols import TokenCounter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["Packing", "named", "pack", "pack_all"]

_LEFT_OUT = 50
"""How many of what was left out are named."""
_NAME_CHARS, _NAME_LOOKS_AT = 80, 300
"""Characters by which an utterance that was left out is named, and among which they are looked for."""
_OTHER_HALF = 80
"""Tokens that a question or answer takes at most which is packed because of the other."""
_LIKELY = 0.002
"""The probability of holding the evidence from which an utterance of few words is packed (ours); thanks and greetings
from `facts_least`."""
_TRAITS = 40
"""Tokens that the line of traits may take (ours)."""
_HEAD_FREE = 100
"""Tokens of the head that come before all else: its share counts from there (ours)."""
_LIKELY_TOKENS = 300
"""Tokens that an utterance may take which holds all of the evidence; less by its share of it (ours)."""
_AFTER = 1e-6
"""How much less a fact is worth than the line that it rests on: it comes after it, if it adds anything (ours)."""
_PASSAGE_TOKENS = 250
"""Tokens that a passage of a document may always take (ours): most passages are shorter."""
_ASKED = 0.3
"""The probability with which a fact bears that a query asks for by its attribute's name (ours)."""
_COUNTED = 30
"""Of so many of the best utterances the tokens are counted exactly before any is packed."""
_CHARS_A_TOKEN = 4.0
_OVERVIEW_SHARE = 0.8
"""Of the budget, where an overview is asked for; what was said gets the rest."""
_OF_A_LIST = 0.25
"""What the share counts below which the rest is unlikely to help, for a query that asks for several things (ours)."""
_NEVER = 1e-6
"""The least probability of which the logarithm is taken."""
_A_THOUSAND = 1000.0
"""Tokens that pack_least_share is counted by."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Packing:
    """The text, what is in it (`places` in the ranking, in the order of the text; `facts` are those with a line of
    their own, then those that a line of their source says), and what was left out."""

    text: str
    tokens: int
    places: tuple[int, ...]
    facts: tuple[Fact, ...]
    left_out: tuple[LeftOut, ...]
    standing: tuple[Fact, ...] = ()
    """Those of the facts that have a reserved place."""
    rests_on: tuple[Source, ...] = ()
    """What summaries in the text rest on."""
    overview: bool = False
    """Whether it tells an overview that was asked for."""


def pack(
    view: View,
    rows: Sequence[int],
    scores: Sequence[float],
    facts: Sequence[tuple[Fact, float]],
    persona: Persona,
    counter: TokenCounter,
    standing: Sequence[Fact] = (),
    instructions: Sequence[Fact] = (),
    *,
    tell: Callable[[int], Overview] | None = None,
    sure: float = 1.0,
    newer: Mapping[int, int] = MappingProxyType({}),
) -> Packing:
    """Fill the budget with what is worth most per token. `rows` and `scores` run in parallel, best first.

    `persona` has the traits to tell, `facts` are those that bear on the query, best first; `standing` what bears on it
    by its theme; `instructions` are told whatever is asked, the newest first while there is room. `tell` gives the
    overview within so many tokens, where the query asks for one. `sure`, in (0, 1], is how likely it is that anything
    that was said answers the query. `newer` has the row of the newest statement of the same matter.
    """
    budget = view.settings.budget if view.query.budget is None else view.query.budget
    filling = _Filling(view, counter, max(0, budget), newer)
    filling.rank(rows, scores, facts, sure)
    filling.stand(persona, instructions, standing)
    if tell is not None:
        filling.reserve_overview(tell)
    filling.fill()
    return filling.packing(rows)


def pack_all(
    snapshot: Snapshot,
    rows: Sequence[int],
    facts: Sequence[tuple[Fact, float]],
    persona: Persona,
    summaries: Summaries,
    counter: TokenCounter,
) -> Packing:
    """Everything, as preset `paper` does: profile and traits whole, facts, all pages, and summaries. No budget."""
    utterances = {row: snapshot.utterances[row] for row in rows}
    ordered = in_time_order(utterances)
    text = laid_out(
        [*profile_lines(persona), *trait_lines(persona)],
        (),
        [fact_line(fact) for fact, _ in facts],
        [(utterances[row], utterance_line(utterances[row])) for row in ordered],
        summaries.lines,
    )
    places = {row: place for place, row in enumerate(rows)}
    return Packing(
        text=text,
        tokens=counter.count(text),
        places=tuple(places[row] for row in ordered),
        facts=tuple(fact for fact, _ in facts),
        left_out=(),
        rests_on=summaries.sources,
    )


def named(utterance: Utterance, text: str) -> str:
    """What an utterance that was left out is called: the first words of its line, of this text of it."""
    return utterance_line(utterance, one_line(text[:_NAME_LOOKS_AT]))[:_NAME_CHARS]


# ----------------------------------------------------------------------------------------------------- the budget


@dataclass(slots=True)
class _Packed:
    """One thing that has its line, or its part in one."""

    line: str
    cost: int
    row: int | None = None
    fact: Fact | None = None
    field: tuple[str, ProfileField] | None = None


def _called(item: _Packed) -> str:
    """What a part of the head that was left out is called."""
    return item.line if item.field is None else f"profile {item.field[1].name}"


class _Filling:
    """The state of one packing: what is in so far, and what it costs. Discarded when the text is made."""

    def __init__(self, view: View, counter: TokenCounter, budget: int, newer: Mapping[int, int]) -> None:
        self.view, self.counter, self.budget = view, counter, budget
        self.snapshot, self.settings = view.snapshot, view.settings
        self.utterances = view.snapshot.utterances
        self.language = languages.of(view.query.text)
        self.lines, self.exchanges = Lines(view, counter, newer), Exchanges(view)
        self.scores: dict[int, float] = {}
        self.best: frozenset[int] = frozenset()
        self.facts: list[tuple[Fact, float]] = []
        self.likely = self.sure = 0.0
        self.used = self.head = 0
        self.standing: deque[_Packed] = deque()
        self.packed: list[_Packed] = []
        self.left_out: list[LeftOut] = []
        self.left_rows: set[int] = set()
        self.headers: set[str] = set()
        self._heads: dict[int, tuple[str, int]] = self.snapshot.notes(("head", counter.name, self.language.code))
        self._names: dict[int, str] = self.snapshot.notes("name")
        self.told: set[str] = set()
        self.stands: set[FactId] = set()
        self.said: list[Fact] = []
        self.overview = Overview()
        self.rows: set[int] = set()

    def rank(
        self, rows: Sequence[int], scores: Sequence[float], facts: Sequence[tuple[Fact, float]], sure: float
    ) -> None:
        """Take what may be packed, best first, with its scores."""
        self.scores = dict(zip(rows, scores, strict=True))
        best = max(scores, default=0.0)
        self.likely = best + math.log(sum(math.exp(score - best) for score in scores)) if scores else 0.0
        self.best = frozenset(list(rows)[:_COUNTED])
        self.facts, self.sure = list(facts), sure

    def stand(self, persona: Persona, instructions: Sequence[Fact], standing: Sequence[Fact]) -> None:
        """Take what is told beside what was said, in this order: the profile, the user's instructions, what bears by
        its theme, traits."""
        for whose, fields in (("user", persona.profile), ("agent", persona.agent_profile)):
            line: list[ProfileField] = []
            for shown in fields:
                line.append(shown)
                before = self._cost(profile_line(whose, line[:-1])) if line[1:] else 0
                cost = self._cost(profile_line(whose, line)) - before
                self.standing.append(_Packed(line="", cost=cost, field=(whose, shown)))
        for heading, facts in ((WISHES, instructions), (KNOWN, standing)):
            over = self._cost(heading)
            for fact in facts:
                told = self._fact_line(fact)
                self.standing.append(_Packed(line=told, cost=self._cost(told) + over, fact=fact))
                self.stands.add(fact.id)
                over = 0
        for count in range(len(persona.traits), 0, -1):
            lines = trait_lines(replace(persona, traits=persona.traits[:count]))
            if (cost := sum(map(self._cost, lines))) <= _TRAITS:
                self.standing.append(_Packed(line="\n".join(lines), cost=cost))
                return

    def reserve_overview(self, tell: Callable[[int], Overview]) -> None:
        """The overview, within its share of the budget."""
        self.overview = tell(int(_OVERVIEW_SHARE * self.budget))
        self.used += sum(self._cost(line) for line in self.overview.lines)
        self.told |= {one_line(fact.text) for fact in self.overview.facts}

    def fill(self) -> None:
        """Pack in the one order, until something does not fit, or nothing is left that is likely to help."""
        for row in reversed(open_page(self.view)):
            if row in self.scores and not self._is_filler(row) and not self._take_rows((row,), row):
                return
        if not self._take_standing():
            return
        for members, fact in self._said():
            took = self._take_fact(fact) if fact is not None else self._take_rows(members, members[0])
            if not took or not self._take_standing():
                self._leave_out_rest(self.scores, "over the budget")
                break
        rest = (LeftOut(what=_called(item), score=0.0, reason="over the head's share") for item in self.standing)
        self.left_out = [*rest, *self.left_out][:_LEFT_OUT]

    def _take_standing(self) -> bool:
        """Pack what stands next, while it keeps within its share of what is packed; whether all of it fitted."""
        share = self.settings.pack_head_share
        while self.standing:
            item = self.standing[0]
            head, most = self.head + item.cost, max(_HEAD_FREE, share * (self.used + item.cost))
            if head > most:
                return True
            self.standing.popleft()
            if item.fact is not None and one_line(item.fact.text) in self.told:
                continue
            if item.cost > self._room():
                self._leave_out(_called(item), "over the budget")
                if self.packed:
                    return False
                continue
            if item.fact is not None:
                self.told.add(one_line(item.fact.text))
            self.head, self.used = head, self.used + item.cost
            self.packed.append(item)
        return True

    def _said(self) -> Iterator[tuple[tuple[int, ...], Fact | None]]:
        """What was said and what is known by value per token: rows that belong together, the one that they are for
        first, or a fact."""
        rows = list(self.scores)
        heap: list[tuple[float, int, tuple[int, ...]]] = [
            (-value, place, ()) for place, value in enumerate(self._values(rows).tolist())
        ]
        heap += [
            (-self._value_of_fact(fact, score), len(rows) + place, ()) for place, (fact, score) in enumerate(self.facts)
        ]
        heapq.heapify(heap)
        least = self._least_value()
        while heap:
            negative, place, members = heapq.heappop(heap)
            if -negative + math.log(max(self.sure, _NEVER)) < least:
                rest = [place, *(other for _, other, _ in sorted(heap))]
                self._leave_out_rest((rows[one] for one in rest if one < len(rows)), "unlikely to help")
                return
            if place >= len(rows):
                yield (), self.facts[place - len(rows)][0]
                continue
            row = rows[place]
            if row in self.rows:
                continue
            known, members = members, self._exchange(row)
            if not members:
                self._leave_out(row, "says little")
                continue
            if members != known and len(members) > 1:
                value = self._value(members)
                if heap and -value > heap[0][0]:
                    heapq.heappush(heap, (-value, place, members))
                    continue
            yield (row, *(one for one in members if one != row)), None

    def _exchange(self, row: int) -> tuple[int, ...]:
        """The row with what it needs and what is not in yet; nothing, if it says little."""
        found = tuple(one for one in self.exchanges.of(row) if one == row or self._is_new(one))
        answers = self.exchanges.question_of(row) in self.rows
        return () if len(found) == 1 and not answers and self._is_filler(row) else found

    def _is_new(self, row: int) -> bool:
        return row in self.scores and row not in self.rows and self.lines.told_by(row) is None

    def _is_filler(self, row: int) -> bool:
        """Whether an utterance says little, holds no word of the query, and is not likely to be what is asked for."""
        if not self.exchanges.is_short(row) or self.exchanges.says_something(row):
            return False
        least = self.settings.facts_least if self.exchanges.is_empty(row) else _LIKELY
        return math.exp(self.scores[row] - self.likely) < least

    def packing(self, rows: Sequence[int]) -> Packing:
        """The text, exactly counted: lines that were added last give way until it fits."""
        text = self._text()
        while (tokens := self.counter.count(text)) > self.budget and (self.packed or self.overview.lines):
            if self.packed:
                gone = self.packed.pop()
                self._leave_out(gone.line[:_NAME_CHARS], "over the budget")
            else:
                self.overview = Overview()
            text = self._text()
        if tokens > self.budget:
            text, tokens = "", 0
        places = {row: place for place, row in enumerate(rows)}
        facts = self._in_order((*(fact for fact, _ in self._facts()), *self.said))
        return Packing(
            text=text,
            tokens=tokens,
            places=tuple(places[row] for row in self._rows()),
            facts=facts,
            left_out=tuple(self.left_out),
            standing=tuple(fact for fact in facts if fact.id in self.stands),
            overview=bool(self.overview.lines),
        )

    def _in_order(self, told: Iterable[Fact]) -> tuple[Fact, ...]:
        """Facts, each once, those that bear on the query last, in the order in which they bear."""
        places = {fact.id: place for place, (fact, _) in enumerate(self.facts)}
        places |= dict.fromkeys((fact.id for fact in self.overview.facts), -1)
        return tuple(sorted(dict.fromkeys(told), key=lambda fact: places.get(fact.id, -1)))

    def _text(self) -> str:
        lines = {item.row: item.line for item in self.packed if item.row is not None}
        said = ((self.utterances[row], lines[row]) for row in self._rows())
        told = self._facts()
        traits = [item.line for item in self.packed if item.row is None and item.fact is None and item.field is None]
        return laid_out(
            [*self._profile_lines(), *traits],
            [line for fact, line in told if is_instruction(fact.attribute)],
            [*self.overview.lines, *(line for fact, line in told if line and not is_instruction(fact.attribute))],
            said,
            language=self.language,
        )

    def _facts(self) -> list[tuple[Fact, str]]:
        """What is told, each with its line; what the overview tells has none of its own."""
        packed = [(item.fact, item.line) for item in self.packed if item.fact is not None]
        wishes = [one for one in packed if is_instruction(one[0].attribute)]
        others = [one for one in packed if not is_instruction(one[0].attribute)]
        return [*((fact, "") for fact in self.overview.facts), *reversed(wishes), *others]

    def _profile_lines(self) -> list[str]:
        """The profile without the fields that a packed fact tells, with their dates and sources."""
        told = {
            (*line, source.utterance_id)
            for fact, _ in self._facts()
            if (line := profile_value(fact.attribute, fact.value, self.settings.attributes)) is not None
            for source in fact.sources
        }
        fields = [item.field for item in self.packed if item.field is not None]
        kept = [
            (whose, one)
            for whose, one in fields
            if all((one.name, one.value, s.utterance_id) not in told for s in one.sources)
        ]
        return [
            profile_line(whose, some)
            for whose in ("user", "agent")
            if (some := [one for of, one in kept if of == whose])
        ]

    def _rows(self) -> list[int]:
        return in_time_order({i.row: self.utterances[i.row] for i in self.packed if i.row is not None})

    def _take_rows(self, members: Sequence[int], row: int) -> bool:
        """Pack the rows, in the form that they have at any budget; where that does not fit, as much as does. Whether
        all fitted."""
        if (earlier := self.lines.told_by(row)) is not None:
            self._leave_out(row, f"the same as #{self.utterances[earlier].seq}")
            return True
        newer = self.lines.newer_row(row)
        if newer in self.scores and newer not in self.rows and not self._take_rows((newer,), newer):
            return False
        limit = self._limit_of(row)
        lines = self._lines_of(members, row, limit, math.inf)
        if lines is None or not lines:
            self._leave_out(row, "says little")
            return True
        fits = sum(self._cost(line) for line in lines.values()) + self._headers_cost(lines) <= self._room()
        if not fits:
            lines = self._lines_of(members, row, limit, self._room()) or self._shorter(members, row, limit)
        for one, line in (lines or {}).items():
            self._put(one, line)
        if not lines:
            self._leave_out(row, "over the budget")
        return fits

    def _shorter(self, members: Sequence[int], row: int, limit: int) -> dict[int, str] | None:
        """A row that asks, cut so that there is room for what answers it; else what it says beside its question."""
        if not self.exchanges.asks(row) or self.exchanges.answer_to(row) is None:
            return self._lines_of((row,), row, limit, self._room())
        left = self._room() - self._header_cost(row)
        after = [one for one in members if one >= row]
        lines = self._lines_of(after, row, int(left - _OTHER_HALF * sum(one > row for one in members)), left)
        if lines is None and (line := self.lines.line(row, limit, int(left), without_question=True)):
            lines = {row: line}
        return lines

    def _limit_of(self, row: int) -> int:
        """Tokens that the line of a row may take: more, where it is likely to hold the evidence."""
        return int(self._limits([row])[0])

    def _limits(self, rows: Sequence[int]) -> Floats:
        passages = self.snapshot.is_passage(self.view.n)[list(rows)]
        scores = np.array([self.scores.get(row, -math.inf) for row in rows])
        likely = _LIKELY_TOKENS * np.exp(np.minimum(0.0, scores - self.likely))
        return np.asarray(np.maximum(likely, np.where(passages, _PASSAGE_TOKENS, self.settings.pack_line_least)))

    def _lines_of(self, members: Sequence[int], row: int, limit: int, left: float) -> dict[int, str] | None:
        """The lines of an exchange, in the order of its rows, within what is left; None if they do not fit. A question
        that comes with its answer comes whole or not at all."""
        heads = set(self.headers)
        lines: dict[int, str] = {}
        for one in (row, *(other for other in members if other != row)):
            place, over = self._head(one)
            over = 0 if place in heads else over
            most = limit if one == row else int(min(limit, _OTHER_HALF, left - over))
            line = self.lines.line(one, most, int(min(left - over, most)) if math.isinf(left) else int(left - over))
            if one != row and (not line or CUT in line):
                continue
            if not line:
                return None
            lines[one] = line
            heads.add(place)
            left -= self._cost(line) + over
        return dict(sorted(lines.items()))

    def _put(self, row: int, line: str) -> None:
        cost = self._cost(line) + self._header_cost(row)
        self.headers.add(self._head(row)[0])
        self.lines.take(row)
        self.used += cost
        self.packed.append(_Packed(line=line, cost=cost, row=row))
        self.rows.add(row)
        for item in [one for one in self.packed if one.fact is not None and self._says(row, line, one.fact)]:
            self.packed.remove(item)
            self.used -= item.cost
            self.said += [item.fact] if item.fact is not None else []

    def _room(self) -> int:
        return self.budget - self.used

    def _headers_cost(self, lines: Iterable[int]) -> int:
        """What the headers over these rows cost that are not there yet."""
        heads = dict(map(self._head, lines))
        return sum(cost for place, cost in heads.items() if place not in self.headers)

    def _header_cost(self, row: int) -> int:
        place, cost = self._head(row)
        return 0 if place in self.headers else cost

    def _head(self, row: int) -> tuple[str, int]:
        """What the header over a row stands over, and its tokens."""
        known = self._heads.get(row)
        if known is None:
            utterance = self.utterances[row]
            known = self._heads[row] = place_of(utterance), self._cost(header(utterance, self.language))
        return known

    def _take_fact(self, fact: Fact) -> bool:
        """Pack a fact that nothing tells yet; whether it fitted."""
        line, told = self._fact_line(fact), one_line(fact.text)
        said = any(self._says(item.row, item.line, fact) for item in self.packed if item.row is not None)
        if told in self.told:
            self._leave_out(line, "said already")
            return True
        if said:
            self.told.add(told)
            self.said.append(fact)
            return True
        cost = self._cost(line) + (0 if any(item.fact is not None for item in self.packed) else self._cost(KNOWN))
        if cost > self._room():
            self._leave_out(line, "over the budget")
            return False
        self.told.add(told)
        self.used += cost
        self.packed.append(_Packed(line=line, cost=cost, fact=fact))
        return True

    def _fact_line(self, fact: Fact) -> str:
        return fact_line(fact, self.language)

    def _says(self, row: int, line: str, fact: Fact) -> bool:
        """Whether the line of a source has all content words of a fact of now beside whom it is about."""
        if is_instruction(fact.attribute) or fact.retired_at is not None:
            return False
        if all(source.seq != self.utterances[row].seq for source in fact.sources):
            return False
        about = content_words(f"{fact.subject} {fact.person}")
        return content_words(f"{fact.text} {fact.value}") - about <= content_words(line)

    def _least_value(self) -> float:
        """ln of the value per token at which the rest is unlikely to help.

        exp(score) over the sum of all is the share of the evidence that an utterance is expected to hold: so the
        weights of the scores were fitted.
        """
        share = self.settings.pack_least_share * (_OF_A_LIST if asks_for_list(self.view) else 1.0)
        return self.likely + math.log(share / _A_THOUSAND) if share > 0.0 and self.scores else -math.inf

    def _values(self, rows: Sequence[int]) -> Floats:
        """ln of the value per token of each row by itself."""
        return np.array([self.scores[row] for row in rows]) - np.log(self._tokens(rows))

    def _value(self, members: Sequence[int]) -> float:
        """The same of several rows together."""
        together = np.logaddexp.reduce([self.scores[row] for row in members])
        return float(together - np.log(self._tokens(members).sum()))

    def _value_of_fact(self, fact: Fact, score: float) -> float:
        """The same of a fact that bears with this probability."""
        asked = fact.attribute in asked_attributes(self.view.query.text)
        tokens = self._cost(self._fact_line(fact)) + self.settings.pack_token_floor
        own = self.likely + math.log(max(score, _ASKED if asked else _NEVER) / tokens)
        if asked:
            return own
        rows = [row for source in fact.sources if (row := self.snapshot.row(source.seq)) in self.scores]
        return min([own, *(self._values(rows) - _AFTER).tolist()]) if rows else own

    def _tokens(self, rows: Sequence[int]) -> Floats:
        """What the lines of rows cost, with the floor; of all but the best it is estimated by their characters."""
        chars = np.expm1(self.snapshot.text_length(self.view.n)[list(rows)].astype(np.float64))
        whole = [
            self.lines.tokens(row) if row in self.best else long / _CHARS_A_TOKEN
            for row, long in zip(rows, chars.tolist(), strict=True)
        ]
        tokens = np.minimum(whole, self._limits(rows))
        return np.asarray(tokens + self.settings.pack_token_floor)

    def _cost(self, line: str) -> int:
        return self.lines.cost(line)

    def _leave_out(self, what: int | str, reason: str, score: float = 0.0) -> None:
        if len(self.left_out) >= _LEFT_OUT:
            return
        if isinstance(what, str):
            self.left_out.append(LeftOut(what=what, score=score, reason=reason))
            return
        self.left_rows.add(what)
        self.left_out.append(LeftOut(what=self._name(what), score=self.scores[what], reason=reason))

    def _name(self, row: int) -> str:
        """What a row is called. The record of what was said in a talk is not made for its name."""
        known = self._names.get(row)
        if known is None:
            snapshot, text = self.snapshot, self.snapshot.text(row)
            if snapshot.has_documents:
                known = named(self.utterances[row], text)
            else:
                speaker = snapshot.speakers()[snapshot.speaker_of(self.view.n).item(row)]
                said = one_line(text[:_NAME_LOOKS_AT])
                known = spoken_line(snapshot.seqs.item(row), speaker, said)[:_NAME_CHARS]
            self._names[row] = known
        return known

    def _leave_out_rest(self, rows: Iterable[int], reason: str) -> None:
        """Name those of the rows that are neither packed nor left out already."""
        for row in rows:
            if len(self.left_out) >= _LEFT_OUT:
                return
            if row not in self.rows and row not in self.left_rows:
                self._leave_out(row, reason)
