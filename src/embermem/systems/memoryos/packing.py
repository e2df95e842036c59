"""Packing: the text of a Context, within a budget of tokens that counts all of it.

    user: name Alice; birth year 1994
    - lives in Lyon (since 2026-03-01) [#41]

    2026-05-02 (Sat), s1:
    #12 Alice: I went to the wetland park.

First who the owner is, which changes least; then the conversation in time order, under a line for each day and
thread. `#12` is the utterance's seq: the same in every recall. The text of users is data: every line break in it
becomes a space, so that one utterance is one line and nothing said can look like a header or another's line.

What is packed goes by value per token: exp(score) / (tokens + floor), best first, while it fits. Reserved are
only the profile line and the open page. A long utterance is cut to the sentences that match the query best.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from embermem.index.snapshot import Snapshot
from embermem.index.view import View
from embermem.protocols import TokenCounter
from embermem.text import sentences, terms
from embermem.types import Fact, LeftOut, Persona, ProfileField, ThreadId, Utterance

__all__ = [
    "CUT",
    "Packing",
    "cut",
    "fact_line",
    "header",
    "one_line",
    "open_page",
    "pack",
    "pack_all",
    "utterance_line",
]

CUT = "[…]"
"""Stands where part of an utterance was left out."""

_WEEKDAYS = "Mon Tue Wed Thu Fri Sat Sun".split()
_LEFT_OUT = 50
"""How many of what was left out are named."""
_MISFITS = 30
"""After so many in a row that did not fit, the rest is not tried."""
_CUT_LOOKS_AT = 50_000
"""Characters of one utterance among which a cut chooses."""
_LEAST_CUT = 12
"""A cut that leaves fewer tokens is not worth its line."""
_THREAD_CHARS = 40
_CHARS_A_TOKEN = 4.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Packing:
    """The text, what is in it (`places` in the ranking, in the order of the text), and what was left out."""

    text: str
    tokens: int
    places: tuple[int, ...]
    facts: tuple[Fact, ...]
    left_out: tuple[LeftOut, ...]


def pack(
    view: View,
    rows: Sequence[int],
    scores: Sequence[float],
    facts: Sequence[tuple[Fact, float]],
    persona: Persona,
    counter: TokenCounter,
) -> Packing:
    """Fill the budget with what is worth most per token. `rows` and `scores` run in parallel, best first."""
    budget = view.settings.budget if view.query.budget is None else view.query.budget
    filling = _Filling(view, counter, max(0, budget))
    filling.reserve_profile(persona)
    filling.reserve_open_page(dict(zip(rows, scores, strict=True)))
    filling.fill(rows, scores, facts)
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
        [*_profile_lines(persona), *_trait_lines(persona)],
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


# ------------------------------------------------------------------------------------------------------- the lines


def one_line(text: str) -> str:
    """The text with every run of white space and line breaks turned into one space."""
    return " ".join(text.split())


def header(utterance: Utterance) -> str:
    """The line over what was said on one day in one thread: `2026-05-02 (Sat), s1:`, in the day's own zone."""
    thread = one_line(utterance.thread)[:_THREAD_CHARS]
    return f"{_day(utterance.said_at)} ({_WEEKDAYS[utterance.said_at.weekday()]}), {thread}:"


def utterance_line(utterance: Utterance, text: str | None = None) -> str:
    """`#12 Alice: text`; with `text` in place of its own."""
    return f"#{utterance.seq} {one_line(utterance.speaker)}: {one_line(utterance.text) if text is None else text}"


def fact_line(fact: Fact) -> str:
    """`- lives in Lyon (since May 2026) [#41]`; where the text says no time, the day it was said."""
    text = one_line(fact.text)
    dated = text.endswith((")", "）"))
    said = f" (said {_day(fact.valid_from)})" if fact.valid_from and not dated else ""
    source = f" [#{fact.sources[0].seq}]" if fact.sources else ""
    return f"- {text}{said}{source}"


def cut(text: str, limit: int, weights: Mapping[str, float], counter: TokenCounter) -> str:
    """The sentences of a line that hold most of the query's terms, in their order, within `limit` tokens.

    `[…]` marks each gap. Where no sentence fits, the beginning of the best one. Empty, if nothing fits.
    """
    text = text[:_CUT_LOOKS_AT]
    spans = sentences(text)
    worth = [sum(weights.get(term, 0.0) for term in set(terms(text[a:b]))) for a, b in spans]
    mark = counter.count(" " + CUT) + 1
    chosen: list[int] = []
    left = limit - mark
    for i in sorted(range(len(spans)), key=lambda i: (-worth[i], i)):
        cost = counter.count(text[slice(*spans[i])]) + (mark if i - 1 not in chosen else 0)
        if cost <= left:
            chosen.append(i)
            left -= cost
        elif not chosen:
            return _beginning(text[slice(*spans[i])], limit, counter)
        elif worth[i] == 0.0:
            break
    return _joined(text, spans, sorted(chosen))


def _joined(text: str, spans: Sequence[tuple[int, int]], chosen: Sequence[int]) -> str:
    parts: list[str] = []
    following = 0
    for i in chosen:
        if i != following:
            parts.append(CUT)
        parts.append(text[slice(*spans[i])])
        following = i + 1
    if following != len(spans):
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


def _profile_lines(persona: Persona) -> list[str]:
    return [
        f"{whose}: {'; '.join(_field(line) for line in lines)}"
        for whose, lines in (("user", persona.profile), ("agent", persona.agent_profile))
        if lines
    ]


def _trait_lines(persona: Persona) -> list[str]:
    traits = "; ".join(f"{one_line(t.dimension)} {one_line(t.pole)} {t.level:+.1f}" for t in persona.traits)
    return [f"traits: {traits}"] if traits else []


def _field(line: ProfileField) -> str:
    return f"{one_line(line.name).replace('_', ' ')} {one_line(line.value)}"


def _day(moment: datetime) -> str:
    return f"{moment.year:04d}-{moment.month:02d}-{moment.day:02d}"


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
        key = (_day(u.said_at), u.thread)
        first[key] = min(first.get(key, (u.said_at, u.seq)), (u.said_at, u.seq))

    def place(row: int) -> tuple[str, datetime, int, datetime, int]:
        u = utterances[row]
        day = _day(u.said_at)
        return (day, *first[day, u.thread], u.said_at, u.seq)

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
        self.used = 0
        self.profile: list[str] = []
        self.packed: list[_Packed] = []
        self.left_out: list[LeftOut] = []
        self.headers: dict[str, int] = {}
        self.said: dict[tuple[str, str, str], int] = {}
        self.told: set[str] = set()
        self.fact_cost = 0

    def reserve_profile(self, persona: Persona) -> None:
        """The profile line, field by field while it fits into half of the budget."""
        for whose, fields in (("user", persona.profile), ("agent", persona.agent_profile)):
            line = ""
            for shown in fields:
                longer = f"{line}; {_field(shown)}" if line else f"{whose}: {_field(shown)}"
                cost = self._cost(longer) - (self._cost(line) if line else 0)
                if 2 * (self.used + cost) > self.budget:
                    self._leave_out(f"profile {shown.name}", 0.0, "over the budget")
                    continue
                line, self.used = longer, self.used + cost
            if line:
                self.profile.append(line)

    def reserve_open_page(self, scores: Mapping[int, float]) -> None:
        """The page that waits for its answer, within half of what is left."""
        limit = (self.budget - self.used) // 2
        for row in reversed(open_page(self.view)):
            spent = self.used
            if row in scores:
                self._try_utterance(row, scores[row], limit)
            limit -= self.used - spent

    def fill(self, rows: Sequence[int], scores: Sequence[float], facts: Sequence[tuple[Fact, float]]) -> None:
        """Utterances and facts by value per token, while they fit."""
        lengths = self.snapshot.text_length(self.view.n)
        items: list[tuple[float, float, int | Fact]] = [
            (self._per_token(score, math.expm1(lengths[row])), score, row)
            for row, score in zip(rows, scores, strict=True)
        ]
        items += [(self._per_token(score, len(fact.text)), score, fact) for fact, score in facts]
        items.sort(key=lambda item: -item[0])
        least = max((score for _, score, _ in items), default=0.0) - self.settings.pack_floor
        misfits = 0
        for place, (_, score, item) in enumerate(items):
            if misfits > _MISFITS:
                self._leave_out_rest(items[place:])
                break
            if score < least:
                self._leave_out(self._name(item), score, "scored far below the best")
            elif isinstance(item, Fact):
                self._try_fact(item, score)
            elif self._try_utterance(item, score, self._line_limit()):
                misfits = 0
            else:
                misfits += 1

    def packing(self, rows: Sequence[int]) -> Packing:
        """The text, exactly counted: lines that were added last give way until it fits."""
        text = self._text()
        while (tokens := self.counter.count(text)) > self.budget and (self.packed or self.profile):
            if self.packed:
                gone = self.packed.pop()
                self._leave_out(gone.line[:80], 0.0, "over the budget")
            else:
                self.profile.pop()
            text = self._text()
        if tokens > self.budget:
            text, tokens = "", 0
        places = {row: place for place, row in enumerate(rows)}
        return Packing(
            text=text,
            tokens=tokens,
            places=tuple(places[row] for row in self._rows()),
            facts=tuple(item.fact for item in self.packed if item.fact is not None),
            left_out=tuple(self.left_out),
        )

    def _text(self) -> str:
        lines = {item.row: item.line for item in self.packed if item.row is not None}
        heads = ((header(self.snapshot.utterances[row]), lines[row]) for row in self._rows())
        return _render(self.profile, [item.line for item in self.packed if item.fact is not None], heads)

    def _rows(self) -> list[int]:
        return _in_time_order({i.row: self.snapshot.utterances[i.row] for i in self.packed if i.row is not None})

    def _try_utterance(self, row: int, score: float, limit: int) -> bool:
        """Pack it if it fits; whether it needed no more thought (a duplicate needs none)."""
        utterance = self.snapshot.utterances[row]
        text = one_line(utterance.text)
        said = (utterance.speaker, _day(utterance.said_at), text)
        if said in self.said:
            if self.said[said] != row:
                earlier = self.snapshot.utterances[self.said[said]]
                self._leave_out(self._name(row), score, f"the same as #{earlier.seq}")
            return True
        head = header(utterance)
        over = 0 if head in self.headers else self._cost(head)
        left = min(limit, self.budget - self.used - over)
        line = utterance_line(utterance, text)
        cost = self._cost(line)
        if cost > left:
            line = self._cut_line(utterance, text, left)
            cost = self._cost(line)
            if not line or cost > left:
                self._leave_out(self._name(row), score, "over the budget")
                return False
        self.headers[head] = 1
        self.said[said] = row
        self.used += cost + over
        self.packed.append(_Packed(line=line, cost=cost, row=row))
        self._drop_facts_in(line)
        return True

    def _try_fact(self, fact: Fact, score: float) -> None:
        line = fact_line(fact)
        cost = self._cost(line)
        told = one_line(fact.text)
        if told in self.told or any(told in item.line for item in self.packed if item.row is not None):
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

    def _drop_facts_in(self, line: str) -> None:
        """Facts that the utterance just packed says in the same words give their place back."""
        for item in [item for item in self.packed if item.fact is not None and one_line(item.fact.text) in line]:
            self.packed.remove(item)
            self.used -= item.cost
            self.fact_cost -= item.cost

    def _cut_line(self, utterance: Utterance, text: str, left: int) -> str:
        """The line with its text cut to `left` tokens; empty if too little would stay."""
        room = left - self._cost(utterance_line(utterance, ""))
        if room < _LEAST_CUT:
            return ""
        shorter = cut(text, room, self.view.idf, self.counter)
        return utterance_line(utterance, shorter) if shorter else ""

    def _line_limit(self) -> int:
        return max(self.settings.pack_line_least, int(self.settings.pack_line_share * self.budget))

    def _per_token(self, score: float, chars: float) -> float:
        """ln of value per token; tokens are estimated here, and counted when it is packed."""
        tokens = min(chars / _CHARS_A_TOKEN, self._line_limit()) + self.settings.pack_token_floor
        return score - math.log(tokens)

    def _cost(self, line: str) -> int:
        return self.counter.count(line + "\n")

    def _name(self, item: int | Fact) -> str:
        return fact_line(item) if isinstance(item, Fact) else utterance_line(self.snapshot.utterances[item])[:80]

    def _leave_out(self, what: str, score: float, reason: str) -> None:
        if len(self.left_out) < _LEFT_OUT:
            self.left_out.append(LeftOut(what=what, score=score, reason=reason))

    def _leave_out_rest(self, items: Iterable[tuple[float, float, int | Fact]]) -> None:
        for _, score, item in items:
            if len(self.left_out) >= _LEFT_OUT:
                return
            self._leave_out(self._name(item), score, "over the budget")
