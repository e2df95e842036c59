"""One box for everything: what was said, what is known, segments and the profile."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from embermem.core.attributes import is_instruction
from embermem.core.text import fold
from embermem.core.types import ProfileField, Segment
from embermem.http.inspector.drawing import charts
from embermem.http.inspector.owner.pages import TIERS
from embermem.http.inspector.owner.segments import words_of
from embermem.http.inspector.place import PageContext, PageRoute
from embermem.languages.words import content_words
from embermem.memory import OwnerMemory

HITS = 12
"""Utterances found."""
LONGEST = 500
"""Characters of the words that facts are found by; more are looked for in what was said alone."""
SHOWN = 12
"""Facts, segments and profile lines found, of each."""

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/search")
def search(here: PageContext, q: str = "") -> HTMLResponse:
    """What is found for a few words. Counts no visit."""
    mine, asked = here.mine, q.strip()
    context = mine.recall(asked) if asked else None
    known = mine.find_facts(asked[:LONGEST], state=None, limit=SHOWN) if asked else None
    facts = {} if known is None else {one.id: one for one in known.facts}
    if context is not None:  # those that bear on it, whatever their words
        facts |= {one.id: one for one in context.facts if one.id not in facts and not is_instruction(one.attribute)}
    segments = _segments(mine, asked) if asked else []
    return here.page(
        "search.html",
        title="Search",
        q=q,
        hits=context.hits[:HITS] if context else (),
        facts=list(facts.values())[:SHOWN],
        more_facts=0 if known is None else known.total - len(known.facts),
        segments=segments[:SHOWN],
        more_segments=max(0, len(segments) - SHOWN),
        profile=_lines(mine, asked) if asked else (),
        label=charts.label,
        tiers=TIERS,
    )


def _segments(mine: OwnerMemory, asked: str) -> list[Segment]:
    """Segments that speak of some of the words: those of the most first, then those of mid-term memory, the newest
    first."""
    wanted = content_words(asked) or frozenset(fold(asked).split())
    every = (one for archived in (False, True) for one in mine.segments(archived))
    counted = ((sum(word in told for word in wanted), one) for one in every if (told := words_of(one)))
    found = [(count, one) for count, one in counted if count]
    found.sort(key=lambda pair: (-pair[0], pair[1].archived, -pair[1].said_to.timestamp()))
    return [one for _, one in found]


def _lines(mine: OwnerMemory, asked: str) -> list[ProfileField]:
    """Lines of the profiles with one of the words."""
    wanted = content_words(asked)
    lines = (*mine.profile(), *mine.agent_profile())
    return [one for one in lines if wanted & content_words(f"{one.name.replace('_', ' ')} {one.value}")][:SHOWN]
