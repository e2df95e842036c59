"""Packing: the text of a Context, within a budget of tokens that counts all of it.

    user: name Alice; birth year 1994
    - lives in Lyon (since 2026-03-01) [#41]

    2026-05-02 (Sat), s1:
    #12 Alice: I went to the wetland park.

First who the owner is, which changes least; then the conversation in time order, under a line for each day and
thread. `#12` is the utterance's seq: the same in every recall. prompts/rendering.py writes and cuts the lines.

What is packed goes by value per token: exp(score) / (tokens + floor), best first, while it fits, and until what is
left is unlikely to help. Then exchanges are completed: the question before an answer, the answer to a question.
Reserved are only the profile line, the user's standing instructions (instructions.py), a few goals and limits of the
user (active_goals.py), and the open page.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from embermem.core.attributes import is_instruction
from embermem.core.types import Fact, FactId, LeftOut, Persona, ThreadId, Utterance
from embermem.index.query_context import View
from embermem.index.snapshot import Snapshot
from embermem.memoryos.recall.overview import Overview
from embermem.prompts.rendering import (
    CUT,
    WISHES,
    cut,
    day,
    fact_line,
    field,
    header,
    one_line,
    profile_lines,
    trait_lines,
    utterance_line,
)
from embermem.protocols import TokenCounter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["Packing", "open_page", "pack", "pack_all"]

_LEFT_OUT = 50
"""How many of what was left out are named."""
_NAME_CHARS, _NAME_LOOKS_AT = 80, 300
"""Characters by which an utterance that was left out is named, and among which they are looked for."""
_MISFITS = 30
"""After so many in a row that did not fit, the rest is not tried."""
_LEAST_CUT = 12
"""A cut that leaves fewer tokens is not worth its line."""
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


def pack(
    view: View,
    rows: Sequence[int],
    scores: Sequence[float],
    facts: Sequence[tuple[Fact, float]],
    persona: Persona,
    counter: TokenCounter,
    standing: Sequence[Fact] = (),
    instructions: Sequence[Fact] = (),
    tell: Callable[[int], Overview] | None = None,
) -> Packing:
    """Fill the budget with what is worth most per token. `rows` and `scores` run in parallel, best first.

    `facts` are those that bear on the query, best first; `standing` goals and limits that do, which come before them;
    `instructions` are told whatever is asked, before all other facts, the newest first while there is room. `tell`
    gives the overview within so many tokens, where the query asks for one.
    """
    budget = view.settings.budget if view.query.budget is None else view.query.budget
    filling = _Filling(view, counter, max(0, budget))
    filling.reserve_profile(persona)
    filling.reserve_instructions(instructions)
    if tell is not None:
        filling.reserve_overview(tell)
    filling.reserve_standing(standing)
    filling.reserve_facts(facts)
    filling.reserve_open_page(dict(zip(rows, scores, strict=True)))
    filling.fill(rows, scores)
    filling.complete_exchanges(frozenset(rows))
    return filling.packing(rows)


def pack_all(
    snapshot: Snapshot,
    rows: Sequence[int],
    facts: Sequence[tuple[Fact, float]],
    persona: Persona,
    counter: TokenCounter,
) -> Packing:
    """Everything, as preset `paper` does: profile and traits whole, facts, and all pages. No budget."""
    utterances = {row: snapshot.utterances[row] for row in rows}
    ordered = _in_time_order(utterances)
    text = _render(
        [*profile_lines(persona), *trait_lines(persona)],
        [fact_line(fact) for fact, _ in facts],
        [(header(utterances[row]), utterance_line(utterances[row])) for row in ordered],
    )
    places = {row: place for place, row in enumerate(rows)}
    return Packing(
        text=text,
        tokens=counter.count(text),
        places=tuple(places[row] for row in ordered),
        facts=tuple(fact for fact, _ in facts),
        left_out=(),
    )


def open_page(view: View) -> tuple[int, ...]:
    """The rows of the newest page, of the query's thread if it has one here, while no agent's answer has joined it."""
    snapshot, thread = view.snapshot, view.query.thread
    number = None if thread is None else snapshot.thread_number(thread)
    seen = view.candidates
    if number is not None:
        within = seen & (snapshot.thread_of(view.n) == number)
        seen = within if within.any() else seen
    if not seen.any():
        return ()
    newest = view.n - 1 - int(seen[::-1].argmax())
    rows = tuple(row for row in snapshot.page_rows(int(snapshot.page_of(view.n)[newest])) if row < view.n)
    return () if any(snapshot.utterances[row].role.agent_side for row in rows) else rows


def _render(profile: Sequence[str], facts: Sequence[str], lines: Iterable[tuple[str, str]]) -> str:
    persona = [*profile, *facts]
    said: list[str] = []
    over = None
    for head, line in lines:
        if head != over:
            said.append(head)
            over = head
        said.append(line)
    return "\n\n".join("\n".join(block) for block in (persona, said) if block)


def _in_time_order(utterances: Mapping[int, Utterance]) -> list[int]:
    """Rows by day, within a day by the thread's first utterance, within a thread by time and seq."""
    first: dict[tuple[str, ThreadId], tuple[datetime, int]] = {}
    for u in utterances.values():
        key = (day(u.said_at), u.thread)
        first[key] = min(first.get(key, (u.said_at, u.seq)), (u.said_at, u.seq))

    def place(row: int) -> tuple[str, datetime, int, datetime, int]:
        u = utterances[row]
        said_on = day(u.said_at)
        return (said_on, *first[said_on, u.thread], u.said_at, u.seq)

    return sorted(utterances, key=place)


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
        self.asks = view.snapshot.asks(view.n)
        self.used = 0
        self.profile: list[str] = []
        self.packed: list[_Packed] = []
        self.left_out: list[LeftOut] = []
        self.headers: set[str] = set()
        self.said: dict[tuple[str, str, str], int] = {}
        self.told: set[str] = set()
        self.fact_cost = 0
        self.standing: dict[FactId, None] = {}
        self.overview: tuple[Fact, ...] = ()
        self.rows: set[int | None] = set()

    def reserve_profile(self, persona: Persona) -> None:
        """The profile line, field by field while it fits into half of the budget."""
        for whose, fields in (("user", persona.profile), ("agent", persona.agent_profile)):
            line = ""
            for shown in fields:
                longer = f"{line}; {field(shown)}" if line else f"{whose}: {field(shown)}"
                cost = self._cost(longer) - (self._cost(line) if line else 0)
                if 2 * (self.used + cost) > self.budget:
                    self._leave_out(f"profile {shown.name}", 0.0, "over the budget")
                    continue
                line, self.used = longer, self.used + cost
            if line:
                self.profile.append(line)

    def reserve_overview(self, tell: Callable[[int], Overview]) -> None:
        """The overview, within its share of what is left."""
        overview = tell(int(_OVERVIEW_SHARE * (self.budget - self.used)))
        self.overview = overview.facts
        self.profile += overview.lines
        self.used += sum(self._cost(line) for line in overview.lines)

    def reserve_instructions(self, facts: Sequence[Fact]) -> None:
        """What the user wants of the agent, within its share of the budget, of which the first may take twice as much:
        the newest that fit, in the order in which they were said."""
        share, spent = self.settings.instruction_share * self.budget, self._cost(WISHES)
        chosen: list[_Packed] = []
        for fact in facts:
            line = fact_line(fact)
            cost = self._cost(line)
            limit = share if chosen else min(2 * share, self.budget - self.used)
            if one_line(fact.text) in self.told or spent + cost > limit:
                self._leave_out(line, 0.0, "over the instructions' share of the budget")
                continue
            self.told.add(one_line(fact.text))
            chosen.append(_Packed(line=line, cost=cost, fact=fact))
            spent += cost
        if chosen:
            self.used += spent
            self.packed += reversed(chosen)

    def reserve_standing(self, facts: Sequence[Fact]) -> None:
        """The facts that stand, best first, within their share; the first may take twice that."""
        share = self.settings.standing_share * self.budget
        for fact in facts:
            limit = share if self.standing else 2 * share
            if self.fact_cost + self._cost(fact_line(fact)) <= limit and self._try_fact(fact, 0.0):
                self.standing[fact.id] = None

    def reserve_facts(self, facts: Sequence[tuple[Fact, float]]) -> None:
        """The facts that bear on the query, best first, within the facts' share."""
        told = {*self.standing, *(fact.id for fact in self.overview)}
        for fact, score in facts:
            if fact.id not in told:
                self._try_fact(fact, score)

    def reserve_open_page(self, scores: Mapping[int, float]) -> None:
        """The page that waits for its answer, within half of what is left."""
        limit = (self.budget - self.used) // 2
        for row in reversed(open_page(self.view)):
            spent = self.used
            if row in scores:
                self._try_utterance(row, scores[row], limit)
            limit -= self.used - spent

    def fill(self, rows: Sequence[int], scores: Sequence[float]) -> None:
        """Utterances by value per token, while they fit."""
        chars = np.expm1(self.snapshot.text_length(self.view.n)[list(rows)].astype(np.float64))
        values = (np.array(scores) - np.log(self._tokens(chars))).tolist()
        items = sorted(zip(values, scores, rows, strict=True), key=lambda item: -item[0])
        least = self._least_value(scores)
        misfits = 0
        for place, (value, score, row) in enumerate(items):
            if value < least and len(self.rows) >= self.settings.pack_least_lines:
                self._leave_out_rest(items[place:], "unlikely to help")
                break
            if misfits > _MISFITS:
                self._leave_out_rest(items[place:], "over the budget")
                break
            misfits = 0 if self._try_utterance(row, score, self._line_limit()) else misfits + 1

    def complete_exchanges(self, ranked: Collection[int]) -> None:
        """With tokens that are left over, the short other halves of exchanges, for what was packed first first.

        To an answer the question before it, to a question the answer after it, whole, and only what is ranked.
        """
        limit = int(self.settings.pack_exchange_share * self.used)
        packed = dict.fromkeys(item.row for item in self.packed if item.row is not None)
        for row in tuple(packed):
            for other in self._other_halves(row):
                if other in ranked and other not in packed:
                    spent = self.used
                    self._pack_whole(other, min(limit, self.settings.pack_line_least))
                    limit -= self.used - spent
                    packed[other] = None

    def packing(self, rows: Sequence[int]) -> Packing:
        """The text, exactly counted: lines that were added last give way until it fits."""
        text = self._text()
        while (tokens := self.counter.count(text)) > self.budget and (self.packed or self.profile):
            if self.packed:
                gone = self.packed.pop()
                self._leave_out(gone.line[:_NAME_CHARS], 0.0, "over the budget")
            else:
                self.profile.pop()
            text = self._text()
        if tokens > self.budget:
            text, tokens = "", 0
        places = {row: place for place, row in enumerate(rows)}
        facts = [*self.overview, *(item.fact for item in self.packed if item.fact is not None)]
        return Packing(
            text=text,
            tokens=tokens,
            places=tuple(places[row] for row in self._rows()),
            facts=tuple(facts),
            left_out=tuple(self.left_out),
            standing=tuple(fact for fact in facts if fact.id in self.standing or is_instruction(fact.attribute)),
        )

    def _text(self) -> str:
        lines = {item.row: item.line for item in self.packed if item.row is not None}
        heads = ((header(self.snapshot.utterances[row]), lines[row]) for row in self._rows())
        return _render(self.profile, self._fact_lines(), heads)

    def _fact_lines(self) -> list[str]:
        """Facts as they were packed: the user's instructions, under a line of their own, before all others."""
        facts = [(item.fact, item.line) for item in self.packed if item.fact is not None]
        wished = any(is_instruction(fact.attribute) for fact, _ in facts)
        return [*([WISHES] if wished else []), *(line for _, line in facts)]

    def _rows(self) -> list[int]:
        return _in_time_order({i.row: self.snapshot.utterances[i.row] for i in self.packed if i.row is not None})

    def _try_utterance(self, row: int, score: float, limit: int) -> bool:
        """Pack it if it fits; whether it needed no more thought (a duplicate needs none)."""
        utterance = self.snapshot.utterances[row]
        text = self._told(row)
        said = (utterance.speaker, day(utterance.said_at), text)
        if said in self.said:
            if self.said[said] != row:
                earlier = self.snapshot.utterances[self.said[said]]
                self._leave_out(row, score, f"the same as #{earlier.seq}")
            return True
        over = self._header_cost(utterance)
        left = min(limit, self.budget - self.used - over)
        line = utterance_line(utterance, text)
        cost = self._cost(line)
        if cost > left:
            line = self._cut_line(row, left)
            cost = self._cost(line)
            if not line or cost > left:
                self._leave_out(row, score, "over the budget")
                return False
        self._put(row, line, cost + over, said)
        return True

    def _pack_whole(self, row: int, limit: int) -> None:
        """Pack it if all of it fits, with its header, into `limit` tokens and the budget; else say nothing of it."""
        utterance = self.snapshot.utterances[row]
        text = self._told(row)
        said = (utterance.speaker, day(utterance.said_at), text)
        line = utterance_line(utterance, text)
        cost = self._cost(line) + self._header_cost(utterance)
        if said not in self.said and cost <= min(limit, self.budget - self.used):
            self._put(row, line, cost, said)

    def _put(self, row: int, line: str, cost: int, said: tuple[str, str, str]) -> None:
        self.headers.add(header(self.snapshot.utterances[row]))
        self.said[said] = row
        self.used += cost
        self.packed.append(_Packed(line=line, cost=cost, row=row))
        self.rows.add(row)

    def _header_cost(self, utterance: Utterance) -> int:
        head = header(utterance)
        return 0 if head in self.headers else self._cost(head)

    def _other_halves(self, row: int) -> list[int]:
        """The question in the thread that this row answers, and the answer to the question that it asks."""
        links, asks, utterances = self.view.links, self.asks, self.snapshot.utterances
        before, after = int(links.previous[row]), int(links.next[row])
        found = [before] if before < self.view.n and asks[before] else []
        found += [after] if after < self.view.n and asks[row] else []
        return [other for other in found if utterances[other].speaker != utterances[row].speaker]

    def _try_fact(self, fact: Fact, score: float) -> bool:
        """Pack it if it fits and is not told already; whether it is in."""
        line = fact_line(fact)
        cost = self._cost(line)
        told = one_line(fact.text)
        if told in self.told:
            self._leave_out(line, score, "said already")
        elif self.fact_cost + cost > self.settings.pack_fact_share * self.budget:
            self._leave_out(line, score, "over the facts' share of the budget")
        elif self.used + cost > self.budget:
            self._leave_out(line, score, "over the budget")
        else:
            self.told.add(told)
            self.used += cost
            self.fact_cost += cost
            self.packed.append(_Packed(line=line, cost=cost, fact=fact))
            return True
        return False

    def _told(self, row: int) -> str:
        """The row's text in one line, marked where the utterance's goes on before or after it."""
        return self._marked(row, one_line(self.snapshot.text(row)))

    def _marked(self, row: int, text: str) -> str:
        before, after = self.snapshot.is_part(row)
        head = f"{CUT} " if before and not text.startswith(CUT) else ""
        return head + text + (f" {CUT}" if after and not text.endswith(CUT) else "")

    def _cut_line(self, row: int, left: int) -> str:
        """The line with its text cut to `left` tokens; empty if too little would stay."""
        utterance = self.snapshot.utterances[row]
        room = left - self._cost(utterance_line(utterance, self._marked(row, "")))
        if room < _LEAST_CUT:
            return ""
        shorter = cut(self.snapshot.text(row), room, self.view.idf, self.counter)
        return utterance_line(utterance, self._marked(row, shorter)) if shorter else ""

    def _line_limit(self) -> int:
        return max(self.settings.pack_line_least, int(self.settings.pack_line_share * self.budget))

    def _least_value(self, scores: Sequence[float]) -> float:
        """ln of the value per token at which the rest is unlikely to help.

        exp(score) over the sum of all is the share of the evidence that an utterance is expected to hold: so the
        weights of the scores were fitted.
        """
        share = self.settings.pack_least_share
        if share == 0.0 or not scores:
            return -math.inf
        best = max(scores)
        total = best + math.log(sum(math.exp(score - best) for score in scores))
        return total + math.log(share / _A_THOUSAND)

    def _tokens(self, chars: Floats | int) -> Floats:
        """What a text is expected to cost, with the floor; it is counted exactly when it is packed."""
        tokens = np.minimum(np.asarray(chars) / _CHARS_A_TOKEN, self._line_limit())
        return np.asarray(tokens + self.settings.pack_token_floor)

    def _cost(self, line: str) -> int:
        return self.counter.count(line + "\n")

    def _name(self, item: int | Fact) -> str:
        if isinstance(item, Fact):
            return fact_line(item)
        utterance = self.snapshot.utterances[item]
        return utterance_line(utterance, one_line(self.snapshot.text(item)[:_NAME_LOOKS_AT]))[:_NAME_CHARS]

    def _leave_out(self, what: int | Fact | str, score: float, reason: str) -> None:
        if len(self.left_out) < _LEFT_OUT:
            name = what if isinstance(what, str) else self._name(what)
            self.left_out.append(LeftOut(what=name, score=score, reason=reason))

    def _leave_out_rest(self, items: Iterable[tuple[float, float, int]], reason: str) -> None:
        for _, score, item in items:
            if len(self.left_out) >= _LEFT_OUT:
                return
            self._leave_out(item, score, reason)
