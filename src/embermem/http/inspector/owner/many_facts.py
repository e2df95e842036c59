"""Several facts at once: pinned, retired, merged into one, forgotten; each in one change, but for forgetting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal
from urllib.parse import parse_qsl, urlsplit

from fastapi import APIRouter, Form, Query
from fastapi.responses import HTMLResponse, RedirectResponse

from embermem.core.errors import InputError
from embermem.core.types import Fact, Forgotten
from embermem.http.inspector import words
from embermem.http.inspector.place import Changing, PageRoute, Place

MOST = 200
"""Facts that are handled at once."""
_OURS = ("user", "agent", "done", "path", "self")
_NONE = "no fact is chosen: choose some in the list first"

router = APIRouter(route_class=PageRoute, include_in_schema=False)

Chosen = Annotated[list[str], Form(default_factory=list)]
Asked = Annotated[list[str], Query(default_factory=list)]
Then = Annotated[str, Form()]


@dataclass(kw_only=True, slots=True)
class Gone:
    """What forgetting several facts takes away: the chosen facts, and the ids and names of all that goes."""

    chosen: list[Fact]
    facts: set[str] = field(default_factory=set)
    traits: set[str] = field(default_factory=set)
    profile: set[str] = field(default_factory=set)
    rewritten: set[str] = field(default_factory=set)


def after(here: Place, then: str, change_no: int) -> RedirectResponse:
    """Back to the page of this owner from which something was done, which tells the change."""
    back = urlsplit(words.own_address(then))
    kept = {name: text for name, text in parse_qsl(back.query) if name not in _OURS}
    return here.back(back.path, **kept, done=change_no or None)


def chosen_facts(here: Place, ids: Sequence[str], least: int = 1) -> list[Fact]:
    """The facts that were chosen, each once. Raises InputError for too few and too many."""
    some = list(dict.fromkeys(ids))
    if not some:
        raise InputError(_NONE)
    if not least <= len(some) <= MOST:
        raise InputError(f"{len(some)} facts are chosen; choose {least} to {MOST}")
    return [here.mine.fact(one) for one in some]


@router.post("/facts/many")
def many(
    here: Changing,
    do: Annotated[Literal["pin", "unpin", "retire"], Form()],
    fact: Chosen,
    then: Then = "/facts",
) -> RedirectResponse:
    """Pin the chosen facts, or no longer, or retire them: one change."""
    ids = [one.id for one in chosen_facts(here, fact)]
    made = here.mine.retire_facts(ids) if do == "retire" else here.mine.pin_facts(ids, do == "pin")
    return after(here, then, made)


@router.get("/facts/merge")
def which(here: Changing, fact: Asked, then: str = "/facts") -> HTMLResponse:
    """The chosen facts, to say which words are kept."""
    return here.page("facts_merge.html", title="Merge", facts=chosen_facts(here, fact, 2), then=words.own_address(then))


@router.post("/facts/merge")
def merge(
    here: Changing,
    keep: Annotated[str, Form()],
    fact: Chosen,
    then: Then = "/facts",
) -> RedirectResponse:
    """One fact takes the place of the chosen ones."""
    whole = here.mine.merge_facts(keep, [one.id for one in chosen_facts(here, fact, 2)])
    return after(here, then, whole.change_no)


@router.get("/facts/forget")
def preview(here: Changing, fact: Asked, then: str = "/facts") -> HTMLResponse:
    """What would go with the chosen facts."""
    gone = Gone(chosen=chosen_facts(here, fact))
    for one in gone.chosen:
        told = here.mine.forget(fact=one.id, dry_run=True)
        gone.facts.update(told.facts)
        gone.traits.update(told.traits)
        gone.profile.update(told.profile)
        gone.rewritten.update(told.rewritten)
    return here.page("facts_forget.html", title="Forget", gone=gone, then=words.own_address(then))


@router.post("/facts/forget")
def forget(here: Changing, fact: Chosen, then: Then = "/facts") -> HTMLResponse:
    """Forget the chosen facts, one after the other, and show the receipts."""
    receipts: list[Forgotten] = []
    for one in chosen_facts(here, fact):
        if not any(one.id in receipt.facts for receipt in receipts):
            receipts.append(here.mine.forget(fact=one.id))
    return here.page(
        "facts_forgotten.html",
        title="Forgotten",
        receipts=receipts,
        facts=len({one for receipt in receipts for one in receipt.facts}),
        then=words.own_address(then),
    )
