"""One box for everything: what was said, what is known, segments and the profile."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from embermem.http.inspector import reading
from embermem.http.inspector.drawing import charts
from embermem.http.inspector.place import PageContext, PageRoute
from embermem.languages.words import terms

_T = TypeVar("_T")

HITS = 12
"""Utterances found."""
SHOWN = 20
"""Facts, segments and profile lines found, of each."""

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/search")
def search(here: PageContext, q: str = "") -> HTMLResponse:
    """What is found for a few words. Counts no visit."""
    mine, asked = here.mine, q.strip()
    wanted = set(terms(asked))
    segments = [*mine.segments(), *mine.segments(archived=True)] if wanted else []
    persona = mine.persona()
    return here.page(
        "search.html",
        title="Search",
        q=q,
        hits=mine.search(asked, HITS) if asked else (),
        facts=_best(
            ((fact, f"{fact.person} {fact.text} {fact.value}") for fact in reading.every_fact(mine)),
            wanted,
        ),
        segments=_best(((one, f"{one.title} {' '.join(one.keywords)} {one.summary}") for one in segments), wanted),
        profile=_best(
            ((one, f"{one.name.replace('_', ' ')} {one.value}") for one in (*persona.profile, *persona.agent_profile)),
            wanted,
        ),
        label=charts.label,
    )


def _best(things: Iterable[tuple[_T, str]], wanted: set[str]) -> list[_T]:
    """Those that hold some of the words, most of them first."""
    found = [(len(wanted & set(terms(words))), thing) for thing, words in things] if wanted else []
    return [thing for count, thing in sorted(found, key=lambda pair: -pair[0]) if count][:SHOWN]
