"""The log of changes: what was derived, when and why, in words; and undoing it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, assert_never

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse, RedirectResponse

from embermem.core.changes import (
    CaseAdded,
    Cause,
    Change,
    Decision,
    FactAdded,
    Linked,
    Say,
    Sort,
    Undone,
    Unlinked,
    ids,
    kind_of,
)
from embermem.core.errors import InputError, NotFound
from embermem.http.inspector import reading, words
from embermem.http.inspector.drawing import charts
from embermem.http.inspector.place import Changing, PageContext, PageRoute
from embermem.memory import OwnerMemory
from embermem.reports import render, show

A_PAGE = 30
"""Changes on one page."""
DECISIONS = 400
"""Decisions shown of one change; a rebuilt memory has thousands."""

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class ChangeLine:
    """A change and what it holds, in few words."""

    change: Change
    holds: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One decision in words. `path` leads to what it is about, if there is a page for it."""

    what: str
    text: str
    path: str = ""


@router.get("/audit")
def changes(here: PageContext, before: int = 0, cause: str = "") -> HTMLResponse:
    """The log, newest first."""
    state = here.mine.state()
    newest = 0 if state is None else state.revision
    top = min(before - 1, newest) if before > 0 else newest
    chosen: Sequence[Change] = ()
    if not cause or cause in list(Cause):
        chosen = here.mine.changes(before=top + 1, limit=A_PAGE + 1, cause=cause or None)
    shown = chosen[-A_PAGE:]
    return here.page(
        "audit.html",
        title="Audit log",
        changes=change_lines(here.mine, shown)[::-1],
        causes=list(Cause),
        cause=cause,
        before=before,
        older=shown[0].no if len(chosen) > len(shown) else None,
        any=newest > 0,
    )


@router.get("/audit/{no}")
def change(here: PageContext, no: int) -> HTMLResponse:
    """One change, opened, with what undoing it would do."""
    if no < 1:
        raise NotFound(f"there is no change {no}")
    one = here.mine.change(no)
    shown = one.decisions[:DECISIONS]
    say = Say({**_names(here.mine, shown), **_pages(here.mine, shown)}, render.when)
    undo: Sequence[Step] = ()
    why_not = ""
    try:
        plan = here.mine.undo_plan(no)
        undo = [_step(decision, say) for decision in plan.decisions if not isinstance(decision, Undone)]
        if not plan.decisions:
            why_not = "; ".join(f"{say(left.item)}: {left.reason}" for left in plan.refused)
    except InputError as error:
        why_not = str(error)
    return here.page(
        "change.html",
        title=f"Change {no}",
        change=one,
        steps=[_step(decision, say) for decision in shown],
        left=max(0, len(one.decisions) - DECISIONS),
        undo=undo,
        why_not=why_not,
    )


@router.post("/audit/{no}/undo")
def undo(here: Changing, no: int, then: Annotated[str, Form()] = "") -> RedirectResponse:
    """Take back what a change taught; shows the change that did so, or tells it on the page of which `then` is the
    address."""
    undone = here.mine.undo(no)
    if not then:
        return here.back(f"/audit/{undone}")
    back = words.own_address(then)
    return RedirectResponse(f"{back}{'&' if '?' in back else '?'}done={undone}", status_code=303)


def change_lines(mine: OwnerMemory, changes: Iterable[Change]) -> list[ChangeLine]:
    """Changes with what they hold, in their order."""
    changes = list(changes)
    names = _names(mine, [decision for one in changes for decision in one.decisions])
    return [ChangeLine(change=one, holds=show.holds(one, names)) for one in changes]


def _names(mine: OwnerMemory, decisions: Sequence[Decision]) -> Mapping[str, str]:
    """What facts, segments and links are called, by their ids; facts that are no more as these decisions say."""
    names: dict[str, str] = {one.fact_id: one.text for one in decisions if isinstance(one, FactAdded)}
    names |= {one.case_id: one.query for one in decisions if isinstance(one, CaseAdded)}
    names |= {one.id: one.text for one in reading.every_fact(mine)}
    names |= {one.id: charts.label(one) for one in (*mine.segments(), *mine.segments(archived=True))}
    ends = _link_ends(mine, decisions)
    return names | {link: " → ".join(names.get(end, end) for end in both) for link, both in ends.items()}


def _link_ends(mine: OwnerMemory, decisions: Sequence[Decision]) -> Mapping[str, tuple[str, ...]]:
    """The ids at both ends of each link that these decisions set or removed."""
    ends: dict[str, tuple[str, ...]] = {}
    for one in decisions:
        if isinstance(one, Linked):
            ends[one.link_id] = (one.from_id, one.to_id)
        elif isinstance(one, Unlinked) and one.link_id not in ends:
            with suppress(NotFound):
                ends[one.link_id] = tuple(end.item_id for end in mine.why(one.link_id).behind)
    return ends


def _pages(mine: OwnerMemory, decisions: Sequence[Decision]) -> Mapping[str, str]:
    """What the pages of these decisions are called, by their ids."""
    names = {}
    for page_id in {item for one in decisions for sort, item in ids(one) if sort is Sort.PAGE}:
        try:
            names[page_id] = f"page {mine.page(page_id).no}"
        except NotFound:
            names[page_id] = "a page that was forgotten"
    return names


def _step(decision: Decision, say: Say) -> Step:
    kind = kind_of(decision)
    what, text = kind.told(decision, say)
    path = _path(kind.ids[kind.about], getattr(decision, kind.about)) if kind.about else ""
    return Step(what=what, text=text, path=path)


def _path(sort: Sort, item: object) -> str:
    """The page of what a decision is about; there is none for some."""
    match sort:
        case Sort.PAGE:
            return f"/pages/{item}"
        case Sort.SEGMENT:
            return f"/segments/{item}"
        case Sort.FACT:
            return f"/facts/{item}"
        case Sort.ITEM:
            return f"/{'facts' if str(item).startswith('f') else 'segments'}/{item}"
        case Sort.CHANGE:
            return f"/audit/{item}"
        case Sort.CASE:
            return "/playground/cases"
        case Sort.CHAIN | Sort.LINK | Sort.DIMENSION:
            return ""
        case _:
            assert_never(sort)
