"""The log of changes: what was derived, when and why, in words; and undoing it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse, RedirectResponse

from embermem.apps import show
from embermem.apps.http.inspector import charts, reading
from embermem.apps.http.inspector.place import Changing, Here, PageRoute
from embermem.changes import (
    Analysed,
    BegunAnew,
    Cause,
    ChainSummarised,
    Change,
    ConflictSettled,
    Decision,
    Embedded,
    Erased,
    Evicted,
    FactAdded,
    FactAffirmed,
    FactArchived,
    FactBarred,
    FactDenied,
    FactExpires,
    FactPinned,
    FactRestored,
    FactRetired,
    FactsConflict,
    FactStrengthened,
    Linked,
    Noted,
    Placed,
    ProfileSet,
    SegmentEvolved,
    SegmentWritten,
    TextsBarred,
    TraitCleared,
    TraitSet,
    Undone,
    Unlinked,
)
from embermem.errors import InputError, NotFound
from embermem.memory import OwnerMemory
from embermem.types import FactId, ItemId

A_PAGE = 30
"""Changes on one page."""
DECISIONS = 400
"""Decisions shown of one change; a rebuilt memory has thousands."""

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """A change and what it holds, in few words."""

    change: Change
    holds: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One decision in words. `path` leads to what it is about, if there is a page for it."""

    what: str
    text: str
    path: str = ""


@router.get("/changes")
def changes(here: Here, before: int = 0, cause: str = "") -> HTMLResponse:
    """The log, newest first."""
    state = here.mine.state()
    newest = 0 if state is None else state.revision
    top = min(before - 1, newest) if before > 0 else newest
    chosen: Sequence[Change] = ()
    if not cause or cause in list(Cause):
        chosen = here.mine.changes(before=top + 1, limit=A_PAGE + 1, cause=cause or None)
    shown = chosen[-A_PAGE:]
    return here.page(
        "changes.html",
        title="Changes",
        changes=told(here.mine, shown)[::-1],
        causes=list(Cause),
        cause=cause,
        before=before,
        older=shown[0].no if len(chosen) > len(shown) else None,
        any=newest > 0,
    )


@router.get("/changes/{no}")
def change(here: Here, no: int) -> HTMLResponse:
    """One change, opened, with what undoing it would do."""
    if no < 1:
        raise NotFound(f"there is no change {no}")
    one = here.mine.change(no)
    shown = one.decisions[:DECISIONS]
    texts = _names(here.mine, shown)
    undo: Sequence[Step] = ()
    why_not = ""
    try:
        plan = here.mine.undo_plan(no)
        undo = [_step(decision, texts) for decision in plan.decisions if not isinstance(decision, Undone)]
        if not plan.decisions:
            why_not = "; ".join(f"{left.item}: {left.reason}" for left in plan.refused)
    except InputError as error:
        why_not = str(error)
    return here.page(
        "change.html",
        title=f"Change {no}",
        change=one,
        steps=[_step(decision, texts) for decision in shown],
        left=max(0, len(one.decisions) - DECISIONS),
        undo=undo,
        why_not=why_not,
    )


@router.post("/changes/{no}/undo")
def undo(here: Changing, no: int, sure: Annotated[str, Form()] = "") -> RedirectResponse:
    """Take back what a change taught; shows the change that did so."""
    return here.back(f"/changes/{here.mine.undo(no)}")


def told(mine: OwnerMemory, changes: Iterable[Change]) -> list[Told]:
    """Changes with what they hold, in their order."""
    texts = _texts(mine)
    return [Told(change=one, holds=show.holds(one, texts)) for one in changes]


def _texts(mine: OwnerMemory) -> Mapping[FactId, str]:
    return {fact.id: fact.text for fact in reading.every_fact(mine)}


def _names(mine: OwnerMemory, decisions: Sequence[Decision]) -> Mapping[str, str]:
    """What the facts, segments and pages of these decisions are called, by their ids."""
    names: dict[str, str] = {str(fact_id): text for fact_id, text in _texts(mine).items()}
    names |= {one.id: charts.label(one) for one in (*mine.segments(), *mine.segments(archived=True))}
    for page_id in {one.page_id for one in decisions if isinstance(one, Noted | Placed | Analysed)}:
        try:
            names[page_id] = f"page {mine.page(page_id).no}"
        except NotFound:
            names[page_id] = "a page that was forgotten"
    return names


def _step(decision: Decision, texts: Mapping[str, str]) -> Step:
    match decision:
        case Embedded():
            return Step(what="embedded", text=f"utterances #{decision.first_seq} to #{decision.last_seq}")
        case Noted():
            joined = "goes on with its chain" if decision.continues else "begins a chain"
            text = f"{_text(decision.page_id, texts)} {joined}; {', '.join(decision.keywords)}"
            return Step(what="page read", text=text, path=f"/pages/{decision.page_id}")
        case ChainSummarised():
            return Step(what="chain summarised", text=decision.summary)
        case Placed():
            how = "opened" if decision.f_score is None else f"joined (F = {decision.f_score:.2f})"
            text = f"{_text(decision.page_id, texts)} {how} {_text(decision.segment_id, texts)}"
            return Step(what="page placed", text=text, path=f"/segments/{decision.segment_id}")
        case SegmentWritten():
            words = ", ".join(one.word for one in decision.keywords[:8])
            return Step(what="segment written", text=words, path=f"/segments/{decision.segment_id}")
        case Analysed():
            return Step(
                what="page analysed",
                text=f"{_text(decision.page_id, texts)} up to #{decision.upto_seq}",
                path=f"/pages/{decision.page_id}",
            )
        case Evicted():
            return Step(
                what="segment archived", text=_text(decision.segment_id, texts), path=f"/segments/{decision.segment_id}"
            )
        case FactAdded():
            return Step(what="learnt", text=decision.text, path=_fact(decision.fact_id))
        case FactStrengthened():
            return Step(what="said again", text=_text(decision.fact_id, texts), path=_fact(decision.fact_id))
        case FactRetired():
            by = f" (now: {_text(decision.superseded_by, texts)})" if decision.superseded_by else ""
            return Step(what="no longer held", text=_text(decision.fact_id, texts) + by, path=_fact(decision.fact_id))
        case FactArchived():
            return Step(what="to the archive", text=_text(decision.fact_id, texts), path=_fact(decision.fact_id))
        case FactRestored():
            return Step(what="holds again", text=_text(decision.fact_id, texts), path=_fact(decision.fact_id))
        case TraitSet():
            level = f"{decision.level:+.2f}, confidence {decision.confidence:.2f}"
            return Step(what="trait", text=f"{decision.dimension.replace('_', ' ')} {level}")
        case TraitCleared():
            return Step(what="trait unknown", text=decision.dimension.replace("_", " "))
        case ProfileSet():
            value = "taken away" if decision.value is None else f"= {decision.value}"
            return Step(what=f"{decision.whose} profile", text=f"{decision.name.replace('_', ' ')} {value}")
        case Undone():
            return Step(what="undoes", text=f"change {decision.no}", path=f"/changes/{decision.no}")
        case FactsConflict() | ConflictSettled():
            what = "in conflict" if isinstance(decision, FactsConflict) else "both stand"
            text = f"{_text(decision.fact_id, texts)} / {_text(decision.other_id, texts)}"
            return Step(what=what, text=text, path=_fact(decision.fact_id))
        case Linked():
            ends = f"{_text(decision.from_id, texts)} → {_text(decision.to_id, texts)}"
            return Step(what="linked", text=f"{ends}: {decision.reason}", path=_item(decision.from_id))
        case Unlinked():
            return Step(what="no longer linked", text=decision.link_id)
        case SegmentEvolved():
            text = f"{_text(decision.segment_id, texts)}: {decision.reason}"
            return Step(what="segment evolved", text=text, path=_item(decision.segment_id))
        case _:
            return _by_the_caller(decision, texts)


def _by_the_caller(decision: Decision, texts: Mapping[str, str]) -> Step:
    """What a caller decided, in words."""
    match decision:
        case FactPinned():
            what = "pinned" if decision.pinned else "no longer pinned"
            return Step(what=what, text=_text(decision.fact_id, texts), path=_fact(decision.fact_id))
        case FactAffirmed():
            text = f"{_text(decision.fact_id, texts)}: nothing said up to #{decision.upto_seq} ends it"
            return Step(what="affirmed", text=text, path=_fact(decision.fact_id))
        case FactDenied():
            text = f"{decision.attribute.replace('_', ' ')} {decision.value}: not learnt again from what was said"
            return Step(what="denied", text=text, path=_fact(decision.fact_id))
        case FactBarred():
            return Step(what="barred", text="a value that was forgotten is not learnt again from what was said before")
        case FactExpires():
            until = "no end" if decision.at is None else f"until {decision.at.isoformat(timespec='minutes')}"
            text = f"{_text(decision.fact_id, texts)}: {until}"
            return Step(what="expires", text=text, path=_fact(decision.fact_id))
        case TextsBarred():
            return Step(what="barred", text="texts that were forgotten are not stored or learnt from again")
        case Erased():
            counted = {"pages": len(decision.pages), "utterances": decision.utterances, "facts": len(decision.facts)}
            return Step(what="forgotten", text=", ".join(f"{count} {what}" for what, count in counted.items()))
        case BegunAnew():
            return Step(what="begun anew", text="all that was derived before is put away and read again")
        case _:
            return Step(what=decision.tag, text="")


def _text(id: str, texts: Mapping[str, str]) -> str:
    return texts.get(id, id)


def _fact(fact_id: FactId) -> str:
    return f"/facts/{fact_id}"


def _item(item_id: ItemId) -> str:
    """The page of a fact or segment."""
    return f"/{'facts' if item_id.startswith('f') else 'segments'}/{item_id}"
