"""Facts: one fact with what it rests on, and what may be done with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse, RedirectResponse

from embermem.core.errors import InputError, NotFound
from embermem.core.types import Fact, Link
from embermem.http.inspector import reading
from embermem.http.inspector.drawing import charts
from embermem.http.inspector.place import Changing, PageContext, PageRoute, Place

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/facts/{fact_id}")
def fact(here: PageContext, fact_id: str) -> HTMLResponse:
    """One fact: what it rests on, and what may be done with it."""
    one, why = here.mine.fact(fact_id), here.mine.why(fact_id)
    return here.page(
        "fact.html",
        title=one.text,
        fact=one,
        why=why,
        newer=_fact_or_none(here, one.superseded_by) if one.superseded_by else None,
        sources=reading.said_for(here.mine, one.sources),
        history=here.mine.history(fact_id),
        linked=_linked(here, why.links) if why.links else {},
    )


def _linked(here: Place, links: Sequence[Link]) -> Mapping[str, str]:
    """What the facts and segments at the ends of links are called, by their ids."""
    ends = {end for link in links for end in (link.from_id, link.to_id)}
    segments = (*here.mine.segments(), *here.mine.segments(archived=True))
    facts = reading.every_fact(here.mine)
    return {one.id: charts.label(one) for one in segments if one.id in ends} | {
        one.id: one.text for one in facts if one.id in ends
    }


@router.get("/facts/{fact_id}/sources")
def sources(here: PageContext, fact_id: str) -> HTMLResponse:
    """What was said that a fact rests on: the part of a page that opens in place."""
    return reading.sources_page(here, here.mine.fact(fact_id).sources, back="/persona")


@router.post("/facts/{fact_id}/correct")
def correct(here: Changing, fact_id: str, text: Annotated[str, Form()] = "") -> RedirectResponse:
    """The words of the owner in place of a fact's."""
    if not text.strip():
        raise InputError("give the correct text; to remove the fact, retire it")
    return here.back(f"/facts/{here.mine.correct(fact_id, text.strip()).id}")


@router.post("/facts/{fact_id}/pin")
def pin(here: Changing, fact_id: str, pinned: Annotated[str, Form()] = "1") -> RedirectResponse:
    """Keep a fact from the cap, or no longer."""
    here.mine.pin(fact_id, pinned == "1")
    return here.back(f"/facts/{fact_id}")


@router.post("/facts/{fact_id}/retire")
def retire(here: Changing, fact_id: str) -> RedirectResponse:
    """A fact no longer holds; it stays answerable by date."""
    here.mine.retire(fact_id)
    return here.back(f"/facts/{fact_id}")


@router.post("/facts/{fact_id}/settle")
def settle(here: Changing, fact_id: str, other: Annotated[str, Form()] = "") -> RedirectResponse:
    """Both facts of a conflict may stand."""
    here.mine.settle_conflict(fact_id, other)
    return here.back("/persona")


def _fact_or_none(here: Place, fact_id: str) -> Fact | None:
    try:
        return here.mine.fact(fact_id)
    except NotFound:
        return None
