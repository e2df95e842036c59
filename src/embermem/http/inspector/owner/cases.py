"""Cases: queries whose recall was wrong. They are noted in the playground, listed here, asked again, and exported."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Annotated

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from embermem.core.errors import InputError
from embermem.core.types import RecallCase
from embermem.http.inspector.owner.playground import said_at
from embermem.http.inspector.place import Changing, PageContext, PageRoute, Place
from embermem.transfer.cases import recall_set

ASKED = 20
"""Cases that are asked again at once, the newest."""

router = APIRouter(route_class=PageRoute, include_in_schema=False)

_Text = Annotated[str, Form()]
_Numbers = Annotated[list[int], Form(default_factory=list)]
_Texts = Annotated[list[str], Form(default_factory=list)]


@router.get("/playground/cases")
def cases(here: PageContext, ask: str = "") -> HTMLResponse:
    """All cases, the newest first; with `ask` also whether they pass now."""
    found = here.mine.cases()[::-1]
    passed = {one.id: _passes(here, one) for one in found[:ASKED]} if ask else {}
    return here.page("cases.html", title="Cases", cases=found, passed=passed, asked=bool(ask), most=ASKED)


@router.get("/playground/cases/export")
def export(here: PageContext) -> Response:
    """The cases as a recall set, which `embermem bench recall` reads."""
    made = json.dumps(recall_set(here.mine), ensure_ascii=False, indent=1)
    headers = {"Content-Disposition": 'attachment; filename="cases.json"', "Cache-Control": "no-store"}
    return Response(made + "\n", media_type="application/json", headers=headers)


@router.post("/playground/cases")
def keep(
    here: Changing,
    missing: _Numbers,
    unwanted: _Numbers,
    unwanted_fact: _Texts,
    q: _Text = "",
    budget: Annotated[int | None, Form()] = None,
    preset: _Text = "",
    thread: _Text = "",
    at: _Text = "",
    as_of: _Text = "",
    valid_at: _Text = "",
    note: _Text = "",
) -> RedirectResponse:
    """Keep a query with what was marked, and open it again."""
    named = next((one for one in ("default", "paper") if one == preset), None)
    intruding = [*_ids(here, unwanted), *(s.utterance_id for one in unwanted_fact for s in here.mine.fact(one).sources)]
    made = here.mine.add_case(
        q,
        expected=_ids(here, missing),
        unwanted=intruding,
        note=note,
        at=at.strip() or None,
        budget=budget,
        preset=named,
        thread=thread.strip() or None,
        as_of=as_of.strip() or None,
        valid_at=valid_at.strip() or None,
    )
    return here.back("/playground", case=made.id, done=made.change_no)


@router.post("/playground/cases/{case_id}/drop")
def drop(here: Changing, case_id: str) -> RedirectResponse:
    """A case is asked no more."""
    here.mine.drop_case(case_id)
    return here.back("/playground/cases", done=here.mine.history(case_id)[-1].no)


def _passes(here: Place, case: RecallCase) -> bool:
    return case.passes(here.mine.recall(**case.arguments))


def _ids(here: Place, seqs: Iterable[int]) -> list[str]:
    """The ids of the utterances with these numbers. Raises InputError for one that is not there any more."""
    found: list[str] = []
    for seq in seqs:
        said = said_at(here.mine, seq)
        if not said:
            raise InputError(f"there is no utterance #{seq} any more; mark another one")
        found.append(said[0].id)
    return found
