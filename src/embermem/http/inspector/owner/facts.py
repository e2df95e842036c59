"""Facts: found and filtered, conflicts to settle, one fact with what it rests on, and what is done with one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Form
from fastapi.responses import HTMLResponse, RedirectResponse

from embermem.core.attributes import attributes
from embermem.core.changes import Change, Say, kind_of
from embermem.core.errors import InputError, NotFound
from embermem.core.types import Fact, FactStatus, FoundFacts, Origin
from embermem.http.inspector import reading, words
from embermem.http.inspector.owner.many_facts import after
from embermem.http.inspector.place import Changing, PageContext, PageRoute, Place
from embermem.reports import render

ROWS = 50
"""Facts of one part of the list."""
CONFLICTS = 3
"""Conflicts shown above the list; the state `conflict` lists all facts that are in one."""
PEOPLE = 200
"""Names that the field of a person proposes: those of whom most is known."""
ANY = "any"
STATES: Mapping[str, str] = {
    FactStatus.CURRENT: "current",
    FactStatus.PAST: "past",
    FactStatus.ARCHIVED: "archive",
    FactStatus.PINNED: "pinned",
    FactStatus.CONFLICT: "in conflict",
    FactStatus.EXPIRING: "expiring",
    ANY: "any",
}
ORIGINS: Mapping[str, str] = {
    Origin.CALLER: "set by hand",
    Origin.CONVERSATION: "from a conversation",
    Origin.DOCUMENT: "from a document",
}
_DAYS = {
    "recorded_since": "recorded from",
    "recorded_until": "recorded until",
    "held_since": "true from",
    "held_until": "true until",
}

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """What the address of the list asks for; what is empty limits nothing."""

    q: str = ""
    person: str = ""
    attribute: str = ""
    state: str = ""
    origin: str = ""
    recorded_since: str = ""
    recorded_until: str = ""
    held_since: str = ""
    held_until: str = ""

    @property
    def told(self) -> Mapping[str, str]:
        """What limits the list, by its names in the address."""
        given = {name: getattr(self, name).strip() for name in self.__slots__}
        return {name: text for name, text in given.items() if text and (name, text) != ("state", FactStatus.CURRENT)}

    @property
    def chips(self) -> Sequence[tuple[str, str, Mapping[str, str]]]:
        """Each condition in words: what kind it is, what it says, and the conditions that are left without it."""
        made = []
        for name, text in self.told.items():
            kind, says = _DAYS.get(name, name), text
            match name:
                case "q":
                    kind = "words"
                case "attribute":
                    says = words.attribute(text)
                case "state":
                    says = STATES.get(text, text)
                case "origin":
                    says = ORIGINS.get(text, text)
            made.append((kind, says, {key: one for key, one in self.told.items() if key != name}))
        return made


def asked(
    q: str = "",
    person: str = "",
    attribute: str = "",
    state: str = "",
    origin: str = "",
    recorded_since: str = "",
    recorded_until: str = "",
    held_since: str = "",
    held_until: str = "",
) -> Asked:
    """The conditions in an address."""
    return Asked(
        q=q,
        person=person,
        attribute=attribute,
        state=state,
        origin=origin,
        recorded_since=recorded_since,
        recorded_until=recorded_until,
        held_since=held_since,
        held_until=held_until,
    )


@router.get("/facts")
def facts(here: PageContext, by: Annotated[Asked, Depends(asked)], before: str = "", add: str = "") -> HTMLResponse:
    """The facts that meet all conditions, newest first, and the conflicts to settle."""
    mine, problem = here.mine, ""
    try:
        found = _found(here, by, before)
    except (NotFound, InputError) as error:
        found, problem = FoundFacts(facts=(), total=0), str(error)
    people = mine.people()
    of_conflicts = by.told in ({}, {"state": FactStatus.CONFLICT})
    conflicts = mine.conflicts() if of_conflicts and not before else ()
    return here.page(
        "facts.html",
        title="Facts",
        found=found,
        problem=problem,
        by=by,
        before=before,
        add=add,
        own_names={one.name for one in people if one.id in ("user", "agent")},
        people=[one.name for one in people if not one.undecided][:PEOPLE],
        attributes=_attributes(here, by.attribute),
        states=STATES,
        origins=ORIGINS,
        days=_DAYS,
        conflicts=conflicts[:CONFLICTS],
        in_conflict=len(conflicts),
        then=here.link("/facts", **by.told, before=before),
    )


def _found(here: Place, by: Asked, before: str) -> FoundFacts:
    told = dict(by.told)
    text, state = told.pop("q", ""), told.pop("state", FactStatus.CURRENT)
    return here.mine.find_facts(
        text,
        state=None if state == ANY else state,
        **told,
        limit=ROWS,
        before=before or None,
    )


def _attributes(here: Place, chosen: str = "") -> Sequence[tuple[str, Sequence[tuple[str, str]]]]:
    """The attributes to choose from, in words, under headings: the application's fields, and those that are built
    in."""
    own = [one.name for one in here.memory.settings.attributes.own]
    built_in = [name for name in attributes() if name not in own]
    if chosen and chosen not in (*own, *built_in):
        built_in.append(chosen)
    groups = (("Fields of the application", own), ("Known to Ember", built_in))
    return [
        (title, sorted(((name, words.attribute(name)) for name in names), key=lambda pair: pair[1]))
        for title, names in groups
        if names
    ]


@router.post("/facts")
def add(
    here: Changing,
    text: Annotated[str, Form()] = "",
    person: Annotated[str, Form()] = "",
    attribute: Annotated[str, Form()] = "",
    valid_from: Annotated[str, Form()] = "",
) -> RedirectResponse:
    """A fact of the owner's own."""
    if not text.strip():
        raise InputError("give the fact in words, such as “plays the cello”")
    told = {"text": text, "subject": person, "attribute": attribute, "valid_from": valid_from}
    (fact,) = here.mine.learn([{name: one.strip() for name, one in told.items() if one.strip()}])
    return here.back("/facts", done=here.mine.history(fact.id)[-1].no)


# --------------------------------------------------------------------------------------------------- one of them


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
        more_sources=max(0, len(one.sources) - reading.SOURCES_SHOWN),
        history=[(change, _happened(change, fact_id)) for change in (here.mine.change(by.no) for by in why.changes)],
    )


def _happened(change: Change, fact_id: str) -> str:
    """What a change did to a fact, in words."""
    say = Say({}, render.when)
    own = [one for one in change.decisions if getattr(one, "fact_id", None) == fact_id]
    return ", ".join(dict.fromkeys(kind_of(one).told(one, say)[0] for one in own))


@router.get("/facts/{fact_id}/sources")
def sources(here: PageContext, fact_id: str) -> HTMLResponse:
    """What was said that a fact rests on: the part of a page that opens in place."""
    return reading.sources_page(here, here.mine.fact(fact_id).sources, back=f"/facts/{fact_id}")


@router.post("/facts/{fact_id}/correct")
def correct(here: Changing, fact_id: str, text: Annotated[str, Form()] = "") -> RedirectResponse:
    """The words of the owner in place of a fact's."""
    if not text.strip():
        raise InputError("give the correct text; to remove the fact, retire it")
    right = here.mine.correct(fact_id, text.strip())
    return here.back(f"/facts/{right.id}", done=right.change_no)


@router.post("/facts/{fact_id}/pin")
def pin(here: Changing, fact_id: str, pinned: Annotated[str, Form()] = "1") -> RedirectResponse:
    """Keep a fact from the cap, or no longer."""
    return here.back(f"/facts/{fact_id}", done=here.mine.pin_facts([fact_id], pinned == "1") or None)


@router.post("/facts/{fact_id}/retire")
def retire(here: Changing, fact_id: str, then: Annotated[str, Form()] = "") -> RedirectResponse:
    """A fact no longer holds; it stays answerable by date."""
    return after(here, then or f"/facts/{fact_id}", here.mine.retire_facts([fact_id]))


@router.post("/facts/{fact_id}/expire")
def expire(here: Changing, fact_id: str, at: Annotated[str, Form()] = "") -> RedirectResponse:
    """A fact ends by itself at a time; without one, no longer."""
    before = here.mine.fact(fact_id).expires_at
    here.mine.expire(fact_id=fact_id, at=at.strip() or None)
    changed = here.mine.fact(fact_id).expires_at != before
    return here.back(f"/facts/{fact_id}", done=here.mine.history(fact_id)[-1].no if changed else None)


@router.post("/facts/{fact_id}/settle")
def settle(
    here: Changing,
    fact_id: str,
    other: Annotated[str, Form()] = "",
    wrong: Annotated[str, Form()] = "",
    then: Annotated[str, Form()] = "/facts",
) -> RedirectResponse:
    """Both facts of a conflict may stand, or one is wrong."""
    return after(here, then, here.mine.settle_conflict(fact_id, other, wrong=wrong or None))


def _fact_or_none(here: Place, fact_id: str) -> Fact | None:
    try:
        return here.mine.fact(fact_id)
    except NotFound:
        return None
