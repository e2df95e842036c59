"""Packing: the text of a Context, within a budget of tokens that counts all of it.

    user: name Alice; birth year 1994
    - lives in Lyon (since 2026-03-01) [#41]

    2026-05-02 (Sat), s1:
    #12 Alice: I went to the wetland park.

First who the owner is, which changes least; then the conversation in time order, under a line for each day and
thread. `#12` is the utterance's seq: the same in every recall. prompts/rendering.py writes and cuts the lines.

What is packed goes by value per token: exp(score) / (tokens + floor), best first, while it fits, and until what is
left is unlikely to help. Then exchanges are completed: the question before an answer, the answer to a question.
Reserved are only the profile line, a few goals and limits of the user (active_goals.py), and the open page.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from embermem.core.attributes import is_instruction
from embermem.core.types import Fact, FactId, LeftOut, Persona, ProfileField, Source, ThreadId, Utterance
from embermem.index.query_context import View
from embermem.index.snapshot import Snapshot
from embermem.languages.words import content_words
from embermem.memoryos.people import profile_value
from embermem.memoryos.recall.exchanges import Exchanges, open_page
from embermem.memoryos.recall.layout import in_time_order, laid_out, place_of, profile_line
from embermem.memoryos.recall.lines import Lines
from embermem.memoryos.recall.overview import Overview
from embermem.memoryos.recall.summaries import Summaries
from embermem.prompts.rendering import (
    CUT,
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
_MISFITS = 20
"""After so many in a row that did not fit, the rest is not tried."""
_LEAST_ROOM = 8
"""Tokens below which no line is tried."""
_OTHER_HALF = 40
"""Tokens that a question or answer takes at most which is packed because of the other."""
_LIKELY = 0.002
"""The probability of holding the evidence from which an utterance of few words is packed (ours); thanks and greetings
from `facts_least`."""
_TRAITS_SHARE = 0.1
"""The share of the budget that traits may take (ours)."""
_SENTENCE = 4
"""Content words from which a fact's value says all of it: of "Lyon" it is said that somebody lives there."""
_CHARS_A_TOKEN = 4.0
_OVERVIEW_SHARE = 0.8
"""Of the budget, where an overview is asked for; what was said gets the rest."""
_A_THOUSAND = 1000.0
"""Tokens that pack_least_share is counted by."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Packing:
    """The text, what is in it (`places` in the ranking, in the order of the text), and what was left out."""

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
) -> Packing:
    """Fill the budget with what is worth most per token. `rows` and `scores` run in parallel, best first.

    `persona` has the traits to tell, `facts` are those that bear on the query, best first; `standing` goals and limits
    that do, which come before them; `instructions` are told whatever is asked, before all other facts, the newest first
    while there is room. `tell` gives the overview within so many tokens, where the query asks for one.
    Of what is left of the budget by these and the open page, what was said may take the share `sure`, in [0, 1].
    """
    budget = view.settings.budget if view.query.budget is None else view.query.budget
    filling = _Filling(view, counter, max(0, budget))
    filling.rank(rows, scores)
    filling.reserve_profile(persona)
    filling.reserve_traits(persona)
    filling.reserve_instructions(instructions)
    if tell is not None:
        filling.reserve_overview(tell)
    filling.reserve_standing(standing)
    filling.reserve_facts(facts)
    filling.reserve_open_page()
    filling.limit_to(sure)
    filling.fill()
    filling.drop_repeated_facts()
    filling.complete_exchanges()
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
    """One thing that has its line."""

    line: str
    cost: int
    row: int | None = None
    fact: Fact | None = None


class _Filling:
    """The state of one packing: what is in so far, and what it costs. Discarded when the text is made."""

    def __init__(self, view: View, counter: TokenCounter, budget: int) -> None:
        self.view, self.counter, self.budget = view, counter, budget
        self.snapshot, self.settings = view.snapshot, view.settings
        self.utterances = view.snapshot.utterances
        self.lines, self.exchanges = Lines(view, counter), Exchanges(view)
        self.limit = budget
        self.scores: dict[int, float] = {}
        self.likely = 0.0
        self.used = 0
        self.profile: list[tuple[str, list[ProfileField]]] = []
        self.traits: list[str] = []
        self.packed: list[_Packed] = []
        self.left_out: list[LeftOut] = []
        self.headers: set[tuple[str, ThreadId]] = set()
        self._heads: dict[int, tuple[tuple[str, ThreadId], int]] = self.snapshot.notes(("head", counter.name))
        self._names: dict[int, str] = self.snapshot.notes("name")
        self.told: set[str] = set()
        self.fact_cost = 0
        self.standing: dict[FactId, None] = {}
        self.overview = Overview()
        self.rows: set[int] = set()

    def reserve_profile(self, persona: Persona) -> None:
        """The profile line, field by field while it fits into half of the budget."""
        for whose, fields in (("user", persona.profile), ("agent", persona.agent_profile)):
            line: list[ProfileField] = []
            for shown in fields:
                cost = self._cost(profile_line(whose, [*line, shown]))
                cost -= self._cost(profile_line(whose, line)) if line else 0
                if 2 * (self.used + cost) > self.budget:
                    self._leave_out(f"profile {shown.name}", "over the budget")
                    continue
                line.append(shown)
                self.used += cost
            if line:
                self.profile.append((whose, line))

    def reserve_traits(self, persona: Persona) -> None:
        """The line of traits, as many of them as fit into a tenth of the budget."""
        for count in range(len(persona.traits), 0, -1):
            lines = trait_lines(replace(persona, traits=persona.traits[:count]))
            cost = sum(self._cost(line) for line in lines)
            if cost <= _TRAITS_SHARE * self.budget:
                self.traits, self.used = lines, self.used + cost
                return

    def reserve_instructions(self, facts: Sequence[Fact]) -> None:
        """What the user wants of the agent, within its share of the budget, of which the first may take twice as much:
        the newest that fit, in the order in which they were said."""
        settings, spent = self.settings, self._cost(WISHES)
        share = max(settings.instruction_share * self.budget, min(settings.instruction_least, self.budget / 2))
        chosen: list[_Packed] = []
        for fact in facts:
            line = fact_line(fact)
            cost = self._cost(line)
            limit = share if chosen else min(2 * share, self.budget - self.used)
            if one_line(fact.text) in self.told or spent + cost > limit:
                self._leave_out(line, "over the instructions' share of the budget")
                continue
            self.told.add(one_line(fact.text))
            chosen.append(_Packed(line=line, cost=cost, fact=fact))
            spent += cost
        if chosen:
            self.used += spent
            self.packed += reversed(chosen)

    def reserve_overview(self, tell: Callable[[int], Overview]) -> None:
        """The overview, within its share of what is left."""
        self.overview = tell(int(_OVERVIEW_SHARE * (self.budget - self.used)))
        self.used += sum(self._cost(line) for line in self.overview.lines)

    def reserve_standing(self, facts: Sequence[Fact]) -> None:
        """The facts that stand, best first, within their share; the first may take twice that."""
        share = self.settings.standing_share * self.budget
        for fact in facts:
            limit = share if self.standing else 2 * share
            if self.fact_cost + self._cost(fact_line(fact)) <= limit and self._try_fact(fact, 0.0):
                self.standing[fact.id] = None

    def reserve_facts(self, facts: Sequence[tuple[Fact, float]]) -> None:
        """The facts that bear on the query, best first, within the facts' share."""
        told = {*self.standing, *(fact.id for fact in self.overview.facts)}
        for fact, score in facts:
            if fact.id not in told:
                self._try_fact(fact, score)

    def reserve_open_page(self) -> None:
        """The page that waits for its answer, within half of what is left; not what says little."""
        limit = (self.budget - self.used) // 2
        for row in reversed(open_page(self.view)):
            spent = self.used
            if row in self.scores and not self._is_filler(row):
                self._try_rows((row,), row, limit)
            limit -= self.used - spent

    def rank(self, rows: Sequence[int], scores: Sequence[float]) -> None:
        """Take what may be packed, best first, with its scores."""
        self.scores = dict(zip(rows, scores, strict=True))
        best = max(scores, default=0.0)
        self.likely = best + math.log(sum(math.exp(score - best) for score in scores)) if scores else 0.0

    def limit_to(self, share: float) -> None:
        """Leave what was said only a share of what is left, but room for a line."""
        left = self.budget - self.used
        self.limit = self.used + max(int(share * left), min(self.settings.pack_line_least, left))

    def fill(self) -> None:
        """Exchanges by value per token, while they fit."""
        rows = list(self.scores)
        heap: list[tuple[float, int, tuple[int, ...]]] = [
            (-value, place, ()) for place, value in enumerate(self._values(rows).tolist())
        ]
        heapq.heapify(heap)
        least = self._least_value()
        misfits = 0
        while heap:
            negative, place, members = heapq.heappop(heap)
            row = rows[place]
            if row in self.rows:
                continue
            if -negative < least and len(self.rows) >= self.settings.pack_least_lines:
                self._leave_out_rest([row, *(rows[item[1]] for item in sorted(heap))], "unlikely to help")
                break
            if misfits > _MISFITS or self._room() < _LEAST_ROOM:
                self._leave_out_rest([row, *(rows[item[1]] for item in sorted(heap))], "over the budget")
                break
            known, members = members, self._exchange(row)
            if not members:
                self._leave_out(row, "says little")
                continue
            if members != known and len(members) > 1:
                value = self._value(members)
                if heap and -value > heap[0][0]:
                    heapq.heappush(heap, (-value, place, members))
                    continue
            misfits = 0 if self._try_rows(members, row, self._line_limit()) else misfits + 1

    def drop_repeated_facts(self) -> None:
        """Leave out the facts that packed lines say in the same words, and fill the room that this gives."""
        again = [item for item in self.packed if item.fact is not None and self._repeats_a_line(item.fact)]
        if not again:
            return
        for item in again:
            self.packed.remove(item)
            self.used -= item.cost
            self._leave_out(item.line, "said already")
        self.fill()

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

    def complete_exchanges(self) -> None:
        """With tokens that are left over, the questions before packed answers, for what was packed first first."""
        limit = int(self.settings.pack_exchange_share * self.used)
        for row in [item.row for item in self.packed if item.row is not None]:
            question = self.exchanges.question_of(row)
            if question is not None and self._is_new(question):
                spent = self.used
                line = self.lines.line(question, limit, self._room())
                most = min(limit, self.settings.pack_line_least, self._room())
                cost = self._cost(line) + self._header_cost(question) if line else 0
                if line and CUT not in line and cost <= most:
                    self._put(question, line)
                limit -= self.used - spent

    def packing(self, rows: Sequence[int]) -> Packing:
        """The text, exactly counted: lines that were added last give way until it fits."""
        text = self._text()
        while (tokens := self.counter.count(text)) > self.budget and (
            self.packed or self.overview.lines or self.profile
        ):
            if self.packed:
                gone = self.packed.pop()
                self._leave_out(gone.line[:_NAME_CHARS], "over the budget")
            elif self.overview.lines:
                self.overview = Overview()
            elif self.traits:
                self.traits = []
            else:
                self.profile.pop()
            text = self._text()
        if tokens > self.budget:
            text, tokens = "", 0
        places = {row: place for place, row in enumerate(rows)}
        facts = [fact for fact, _ in self._facts()]
        return Packing(
            text=text,
            tokens=tokens,
            places=tuple(places[row] for row in self._rows()),
            facts=tuple(facts),
            left_out=tuple(self.left_out),
            standing=tuple(fact for fact in facts if fact.id in self.standing or is_instruction(fact.attribute)),
            overview=bool(self.overview.lines),
        )

    def _text(self) -> str:
        lines = {item.row: item.line for item in self.packed if item.row is not None}
        said = ((self.utterances[row], lines[row]) for row in self._rows())
        told = self._facts()
        wishes = [line for fact, line in told if is_instruction(fact.attribute)]
        facts = [line for fact, line in told if line and not is_instruction(fact.attribute)]
        head = [*self._profile_lines(), *self.traits, *([WISHES] if wishes else []), *wishes]
        return laid_out(head, [*self.overview.lines, *facts], said)

    def _facts(self) -> list[tuple[Fact, str]]:
        """What is told, each with its line; what the overview tells has none of its own."""
        packed = [(item.fact, item.line) for item in self.packed if item.fact is not None]
        return [*((fact, "") for fact in self.overview.facts), *packed]

    def _profile_lines(self) -> list[str]:
        """The profile without the fields that a packed fact tells, with their dates and sources."""
        told = {
            (*line, source.utterance_id)
            for fact, _ in self._facts()
            if (line := profile_value(fact.attribute, fact.value, self.settings.attributes)) is not None
            for source in fact.sources
        }
        kept = [
            (
                whose,
                [one for one in fields if all((one.name, one.value, s.utterance_id) not in told for s in one.sources)],
            )
            for whose, fields in self.profile
        ]
        return [profile_line(whose, fields) for whose, fields in kept if fields]

    def _rows(self) -> list[int]:
        return in_time_order({i.row: self.utterances[i.row] for i in self.packed if i.row is not None})

    def _try_rows(self, members: Sequence[int], row: int, limit: int) -> bool:
        """Pack the rows if all fit; else the row without its question. Whether it needed no more thought."""
        if (earlier := self.lines.told_by(row)) is not None:
            self._leave_out(row, f"the same as #{self.utterances[earlier].seq}")
            return True
        if (lines := self._lines_of(members, row, limit)) is not None:
            for one, line in lines.items():
                self._put(one, line)
            return True
        if not self.exchanges.asks(row) or self.exchanges.answer_to(row) is None:
            self._leave_out(row, "over the budget")
            return False
        return self._try_shorter(members, row) or self._try_statement(row, limit)

    def _lines_of(self, members: Sequence[int], row: int, limit: int) -> dict[int, str] | None:
        """The lines of an exchange, in the order of its rows, within what is left; None if they do not fit. A question
        that comes with its answer comes whole or not at all."""
        left, heads = self._room(), set(self.headers)
        lines: dict[int, str] = {}
        for one in (row, *(other for other in members if other != row)):
            place, over = self._head(one)
            over = 0 if place in heads else over
            most = limit if one == row else min(limit, _OTHER_HALF, left - over)
            line = self.lines.line(one, most, left - over)
            if one < row and (not line or CUT in line):
                continue
            if not line:
                return None
            lines[one] = line
            heads.add(place)
            left -= self._cost(line) + over
        return dict(sorted(lines.items()))

    def _try_shorter(self, members: Sequence[int], row: int) -> bool:
        """Pack a row that asks, cut so that there is room for what answers it."""
        over = self._header_cost(row)
        others = _OTHER_HALF * sum(one > row for one in members)
        lines = self._lines_of([one for one in members if one >= row], row, self._room() - over - others)
        for one, line in (lines or {}).items():
            self._put(one, line)
        return lines is not None

    def _try_statement(self, row: int, limit: int) -> bool:
        """Pack the row without the question that it ends in, if it says something besides."""
        over = self._header_cost(row)
        line = self.lines.line(row, limit, self._room() - over, without_question=True)
        if line:
            self._put(row, line)
            return True
        self._leave_out(row, "over the budget")
        return False

    def _put(self, row: int, line: str) -> None:
        cost = self._cost(line) + self._header_cost(row)
        self.headers.add(self._head(row)[0])
        self.lines.take(row)
        self.used += cost
        self.packed.append(_Packed(line=line, cost=cost, row=row))
        self.rows.add(row)

    def _room(self) -> int:
        return self.limit - self.used

    def _header_cost(self, row: int) -> int:
        place, cost = self._head(row)
        return 0 if place in self.headers else cost

    def _head(self, row: int) -> tuple[tuple[str, ThreadId], int]:
        """What the header over a row stands over, and its tokens."""
        known = self._heads.get(row)
        if known is None:
            utterance = self.utterances[row]
            known = self._heads[row] = place_of(utterance), self._cost(header(utterance))
        return known

    def _try_fact(self, fact: Fact, score: float) -> bool:
        """Pack it if it fits and is not told already; whether it is in."""
        line = fact_line(fact)
        cost = self._cost(line)
        told = one_line(fact.text)
        if told in self.told:
            self._leave_out(line, "said already", score)
        elif self.fact_cost + cost > self.settings.pack_fact_share * self.budget:
            self._leave_out(line, "over the facts' share of the budget", score)
        elif self.used + cost > self.budget:
            self._leave_out(line, "over the budget", score)
        else:
            self.told.add(told)
            self.used += cost
            self.fact_cost += cost
            self.packed.append(_Packed(line=line, cost=cost, fact=fact))
            return True
        return False

    def _repeats_a_line(self, fact: Fact) -> bool:
        """Whether the line of a source has all content words of a fact of now; in a few words there is no statement."""
        words = content_words(fact.value)
        if (
            is_instruction(fact.attribute)
            or fact.retired_at is not None
            or fact.id in self.standing
            or len(words) < _SENTENCE
        ):
            return False
        rows = (self.snapshot.row(source.seq) for source in fact.sources)
        lines = {item.row: item.line for item in self.packed if item.row is not None}
        return any(words <= content_words(lines[row]) for row in rows if row in lines)

    def _line_limit(self) -> int:
        return max(self.settings.pack_line_least, int(self.settings.pack_line_share * self.budget))

    def _least_value(self) -> float:
        """ln of the value per token at which the rest is unlikely to help.

        exp(score) over the sum of all is the share of the evidence that an utterance is expected to hold: so the
        weights of the scores were fitted.
        """
        share = self.settings.pack_least_share
        return self.likely + math.log(share / _A_THOUSAND) if share > 0.0 and self.scores else -math.inf

    def _values(self, rows: Sequence[int]) -> Floats:
        """ln of the value per token of each row by itself."""
        chars = np.expm1(self.snapshot.text_length(self.view.n)[list(rows)].astype(np.float64))
        return np.array([self.scores[row] for row in rows]) - np.log(self._tokens(chars))

    def _value(self, members: Sequence[int]) -> float:
        """The same of several rows together."""
        chars = np.expm1(self.snapshot.text_length(self.view.n)[list(members)].astype(np.float64))
        together = np.logaddexp.reduce([self.scores[row] for row in members])
        return float(together - np.log(self._tokens(chars).sum()))

    def _tokens(self, chars: Floats) -> Floats:
        """What a text is expected to cost, with the floor; it is counted exactly when it is packed."""
        tokens = np.minimum(chars / _CHARS_A_TOKEN, self._line_limit())
        return np.asarray(tokens + self.settings.pack_token_floor)

    def _cost(self, line: str) -> int:
        return self.lines.cost(line)

    def _leave_out(self, what: int | str, reason: str, score: float = 0.0) -> None:
        if len(self.left_out) >= _LEFT_OUT:
            return
        if isinstance(what, str):
            self.left_out.append(LeftOut(what=what, score=score, reason=reason))
            return
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
        for row in rows:
            if len(self.left_out) >= _LEFT_OUT:
                return
            if row not in self.rows:
                self._leave_out(row, reason)
