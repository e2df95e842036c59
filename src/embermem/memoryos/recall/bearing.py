"""Which facts are told with a query: the few that bear on it, by what it asks for or by where its answer likely stands.

The scores of utterances were fitted so that exp(score) over the sum of all is the probability that an utterance holds
the evidence. A fact is as likely to bear on the query as its likeliest source, and is told from a threshold on; a
question for an attribute by name ("Do I have any pets?") gets what is known of it in any case. No other fact is told
that neither holds a third of the query's words nor rests on something near to it. docs/research/understanding.md has
the figures.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from embermem.core.attributes import is_instruction
from embermem.core.text import fold
from embermem.core.types import Fact
from embermem.index.dating import falls_on, met
from embermem.index.facts import FactTable
from embermem.index.query_context import View
from embermem.languages.kinship import OF_MANY
from embermem.languages.people import called, excluded, kin_in, relation_of
from embermem.languages.questions import asked_attributes, asks_of_oneself
from embermem.memoryos.namesakes import RELATIVES
from embermem.memoryos.people import People

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["bearing", "wanted"]

_NEAR = 0.6
"""A cosine between a query and an utterance from which they speak of one thing (ours)."""
_SAYS = 1 / 3
"""The share of a query's words, by weight, from which a fact speaks of the same thing (ours)."""


class _Found(NamedTuple):
    """A fact that bears: what it has to do with the days asked for, whether it was asked for by name, and whether it is
    of somebody asked about."""

    on_days: float
    by_name: bool
    of_them: bool
    fact: Fact
    likely: float


def bearing(view: View, scores: Floats, people: People) -> tuple[tuple[Fact, float], ...]:
    """The facts to tell, each with the probability that it bears on the query, at most `facts_told`: what was on the
    days asked for first, then what is asked for by name, what is known of who is asked about, and the likeliest.
    `scores` are those of the rows."""
    settings = view.settings
    if settings.facts_told == 0:
        return ()
    asked, of = asked_attributes(view.query.text), wanted(view, people)
    found = _from(view, view.snapshot.facts, scores, people, asked, of)
    if view.snapshot.ended_facts and view.asked_days:
        ended = _from(view, view.snapshot.past_facts, scores, people, asked, of)
        found += [one for one in ended if _was_so(one.fact, view)]
    found.sort(key=lambda one: (-one.on_days, not one.by_name, not one.of_them, -one.likely))
    return tuple((one.fact, one.likely) for one in found[: settings.facts_told])


def wanted(view: View, people: People) -> frozenset[str]:
    """The ids of those whom a query asks about: by name, by kin word, or oneself; who is not named asks of himself."""
    named = people.named_in(view.query.text)
    asks_self = asks_of_oneself(view.query.text) or not named
    return named | {people.user} if asks_self and people.user is not None else named


def _from(
    view: View, table: FactTable, scores: Floats, people: People, asked: AbstractSet[str], of: Collection[str]
) -> list[_Found]:
    """The facts of a table that bear."""
    if not table.rows:
        return []
    likely, rows = _evidence(view, table, scores)
    says = table.coverage({term: idf for term, idf in view.idf.items() if term not in view.names})
    places = np.flatnonzero((likely >= view.settings.facts_least) | _may_be_asked(table, asked, likely, says))
    bear = (says[places] >= _SAYS) | (_nearness(view, rows[places]) >= _NEAR)
    bear &= table.own[places] | (likely[places] >= view.settings.facts_least)
    on_days = _on_days(view, table)
    kin = kin_in(view.query.text) if asked & RELATIVES else frozenset()
    if view.asks_days_alone:
        places = np.flatnonzero((on_days > 0.0) & (rows >= 0))
        bear = np.ones(len(places), dtype=bool)
    found = []
    for place, bears in zip(places.tolist(), bear.tolist(), strict=True):
        fact = table.rows[place]
        if is_instruction(fact.attribute):  # told with every query, or to nobody
            continue
        of_them = people.of(fact) in of
        by_name = of_them and fact.attribute in asked and _is_of_kin(fact, kin)
        if by_name or (bears and (of_them or fact.attribute not in asked)):
            on = float(on_days[place])
            found.append(_Found(on, by_name, of_them, fact, float(max(likely[place], 0.0))))
    return found


def _is_of_kin(fact: Fact, kin: AbstractSet[str]) -> bool:
    """Whether a fact may be of one of the words of kin that a query holds, if it is of a relative or an acquaintance:
    who asks for the boss is not told of the colleagues."""
    own = fold(called(fact.value).kin) if fact.attribute in RELATIVES else ""
    if not kin or not own:
        return True
    return any(own == word or (relation_of(own) not in OF_MANY and not excluded(own, word)) for word in kin)


def _on_days(view: View, table: FactTable) -> Floats:
    """What each fact has to do with the days asked for, in [0, 1]: 1 if it became true or ended on them, else what its
    sources have to do with them."""
    if not view.days_asked_for:
        return np.zeros(len(table.rows))
    found = np.maximum(table.best(view.snapshot.seqs[: view.n], view.on_days)[0], 0.0)
    for place, fact in enumerate(table.rows):
        if any(at is not None and falls_on(view.days_asked_for, at) for at in (fact.valid_from, fact.valid_to)):
            found[place] = 1.0
    return found


def _evidence(view: View, table: FactTable, scores: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """For each fact the probability of its likeliest source, and that source's row: −1 where none may be seen, 0 of
    probability for a fact without sources."""
    seen = np.isfinite(scores)
    total = np.logaddexp.reduce(scores[seen]) if seen.any() else 0.0
    best, rows = table.best(view.snapshot.seqs[: view.n], scores)
    return np.where(rows < 0, np.where(table.own, 0.0, -1.0), np.exp(best - total)), rows


def _may_be_asked(table: FactTable, asked: AbstractSet[str], likely: Floats, says: Floats) -> NDArray[np.bool_]:
    """Facts that may be told though no source is likely: of an attribute asked for, or the caller's own."""
    may = table.own & (says >= _SAYS)
    for attribute in asked & table.of_attribute.keys():
        of = table.of_attribute[attribute]
        may[of] |= likely[of] >= 0.0
    return may


def _nearness(view: View, rows: NDArray[np.int64]) -> Floats:
    """The cosine of each of these rows to the query; −1 where there is none."""
    near = np.full(len(rows), -1.0)
    if view.query.vector is None:
        return near
    there = np.flatnonzero(rows >= 0)
    near[there] = view.similarities(rows[there])
    return near


def _was_so(fact: Fact, view: View) -> bool:
    """Whether a fact that has ended was true on days that the query names: "Where did she live in March?"."""
    until, now = fact.valid_to or fact.retired_at, view.now
    return until is not None and now is not None and met(view.asked_days, fact.valid_from, until, now)
