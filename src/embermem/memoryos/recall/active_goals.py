"""What stands: the user's goals and limits that bear on a query by its theme, also when no word of it agrees.

Who said weeks ago "I want to get slimmer" and now says "I'd love a burger tonight" is to be answered with both in mind.
Which attributes stand is said in core/attributes.py; docs/concepts/recall.md has the rules.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from embermem.core.attributes import standing as kind_of
from embermem.core.equations import fading
from embermem.core.types import Fact
from embermem.index.query_context import View
from embermem.languages.questions import asked_attributes, asks_for_advice, asks_of_the_past
from embermem.memoryos.people import People
from embermem.memoryos.recall.themes import bears_on, states_taste, themes_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["standing"]

_DAY_S = 86_400.0
_ORDER = {"limit": 0, "goal": 1, None: 2}
"""What is told first: limits, goals, tastes."""


def standing(view: View, people: People) -> tuple[Fact, ...]:
    """The goals and limits of the user that bear on the query, by its theme or because it asks for them, that hold
    when it is asked, and that its scope lets be seen.

    Limits first, then goals, then, for a query that asks for advice, tastes; of each the nearest to the query first, of
    the equally near the newest. `standing_facts` at most, and if there are goals and limits, both come in. None for a
    question about the past.
    """
    settings = view.settings
    if settings.standing_facts == 0 or asks_of_the_past(view.query.text):
        return ()
    themes = themes_of(view.query.text)
    asked = asked_attributes(view.query.text)
    if not themes and not asked:
        return ()
    now, table = view.now, view.snapshot.facts.rows
    seen = {
        place: _rows(table[place], view)
        for place in _which(view, themes, asked)
        if _may_stand(table[place], view, people)
    }
    seen = {place: rows for place, rows in seen.items() if _holds(table[place], rows, view, now)}
    if not seen:
        return ()
    near = _nearness(view, seen)
    worth = {
        place: near[place] + settings.standing_recency * _newness(table[place], rows, view, now)
        for place, rows in seen.items()
    }
    best = [
        table[place]
        for place in sorted(seen, key=lambda place: (_ORDER[kind_of(table[place].attribute)], -worth[place], place))
    ]
    return tuple(_both_kinds(best, settings.standing_facts))


def _which(view: View, themes: Collection[str], asked: Collection[str]) -> list[int]:
    """The places of goals and limits that were asked for or are of these themes; for advice, of tastes too."""
    table, advice = view.snapshot.facts, asks_for_advice(view.query.text)
    found = []
    for name, places in table.of_attribute.items():
        if kind_of(name) is not None:
            found += [place for place in places.tolist() if name in asked or bears_on(table.rows[place], themes)]
        elif advice:
            found += [place for place in places.tolist() if states_taste(table.rows[place], themes)]
    return sorted(found)


def _both_kinds(best: Sequence[Fact], count: int) -> list[Fact]:
    """The first `count`; if they are all of one kind, the last gives its place to the best of the next."""
    chosen = list(best[:count])
    kinds = {kind_of(fact.attribute) for fact in chosen}
    other = next((fact for fact in best[count:] if kind_of(fact.attribute) not in kinds), None)
    return chosen if other is None or count < 2 else [*chosen[:-1], other]


def _may_stand(fact: Fact, view: View, people: People) -> bool:
    """Whether it is the user's own and held; or was, where the query asks for what was true."""
    held = fact.current or (view.query.valid_at is not None and not fact.archived)
    return held and people.is_user(fact.subject)


def _holds(fact: Fact, rows: Sequence[int], view: View, now: datetime | None) -> bool:
    """Whether it may be seen, by one of its sources (`rows`) at least, and is so now."""
    if fact.sources and not rows:
        return False
    if now is None:
        return True
    if (fact.valid_from is not None and fact.valid_from > now) or (fact.valid_to is not None and fact.valid_to <= now):
        return False
    lapses = kind_of(fact.attribute) == "goal" and not fact.pinned
    return not lapses or _age_days(fact, rows, view, now) <= view.settings.standing_goal_days


def _nearness(view: View, seen: Mapping[int, Sequence[int]]) -> Floats:
    """How near each of these facts of the table comes to the query: by the vectors of its sources, and by words."""
    near = view.snapshot.facts.coverage(view.idf)
    pairs = [(place, row) for place, rows in seen.items() for row in rows]
    if view.query.vector is None or not pairs:
        return near
    places, rows = np.array(pairs).T
    cosines = np.full(len(near), -np.inf)
    np.maximum.at(cosines, places, view.similarities(rows))
    return near + np.where(np.isfinite(cosines), cosines, 0.0)


def _newness(fact: Fact, rows: Sequence[int], view: View, now: datetime | None) -> float:
    if now is None:
        return 0.0
    return fading(max(0.0, _age_days(fact, rows, view, now)), view.settings.standing_recency_days)


def _age_days(fact: Fact, rows: Sequence[int], view: View, now: datetime) -> float:
    """Days since the fact was last said; a caller's, since it holds or was recorded."""
    last = max((view.snapshot.utterances[row].said_at for row in rows), default=fact.valid_from or fact.recorded_at)
    return (now - last).total_seconds() / _DAY_S


def _rows(fact: Fact, view: View) -> list[int]:
    """The rows of a fact's sources that the query may see."""
    rows = (view.snapshot.row(source.seq) for source in fact.sources)
    return [row for row in rows if row is not None and view.candidates[row]]
