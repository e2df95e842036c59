"""The audit log: what was learnt, corrected and forgotten, by day, with its source and its undo; bookkeeping folded."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from itertools import chain
from typing import Annotated

from fastapi import APIRouter, Depends, Form
from fastapi.responses import HTMLResponse, RedirectResponse, StreamingResponse

from embermem.core.changes import (
    Cause,
    Change,
    Decision,
    FactAdded,
    Heading,
    Undoing,
    Undone,
    api_kind,
    kind_of,
    undone,
)
from embermem.core.errors import InputError, NotFound
from embermem.core.text import fold
from embermem.http.inspector import reading, words
from embermem.http.inspector.entries import FEW, NEWS, Entry, Teller, Told, is_news, may_be_under
from embermem.http.inspector.place import Changing, PageContext, PageRoute, Place, there
from embermem.memory import OwnerMemory
from embermem.reports import show

A_PAGE = 25
"""Changes with something to tell on one page."""
A_READ = 120
"""Changes read at once, where few of the newest were asked for."""
FAR = 600
"""So many changes are looked through for one page; then a link goes on."""
NAMES = 200
"""So many facts and segments are looked up for one page."""
STEPS = 100
"""Bookkeeping steps that open at once."""
A_PART = 200
"""Decisions of one change shown at once; a memory that was begun anew has thousands."""

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class ChangeLine:
    """A change and what it holds, in few words."""

    change: Change
    holds: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """What of the log is asked for, as the address says it."""

    what: str = ""
    person: str = ""
    q: str = ""
    since: str = ""
    until: str = ""
    cause: str = ""

    @property
    def narrows(self) -> bool:
        """Whether single entries are chosen, so that bookkeeping is not listed between them."""
        return bool(self.person or self.q or (self.what and self.what != Heading.BOOKKEEPING))

    @property
    def any(self) -> bool:
        """Whether anything is left out."""
        return self != Asked()


def asked(what: str = "", person: str = "", q: str = "", since: str = "", until: str = "", cause: str = "") -> Asked:
    """The filters of an address. Raises InputError for a heading or a cause that there is not."""
    for name, given, known in (("what", what, Heading), ("cause", cause, Cause)):
        if given and given not in list(known):
            raise InputError(f"{name} = {given!r} is not allowed; one of: {', '.join(known)}")
    return Asked(what=what, person=person.strip(), q=q.strip(), since=since.strip(), until=until.strip(), cause=cause)


Filters = Annotated[Asked, Depends(asked)]


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """A part of the log, newest first: what it tells, the numbers of changes that only kept books, and the number below
    which it goes on (None: that was all)."""

    told: Sequence[Told] = ()
    books: Sequence[Change] = ()
    older: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Day:
    """What was done on one day of the viewer's zone; the numbers of the first and the last change of its `books`."""

    day: str
    told: list[Told] = field(default_factory=list)
    books: list[Change] = field(default_factory=list)


@router.get("/audit")
def audit(here: PageContext, only: Filters, before: int = 0) -> HTMLResponse:
    """The log, newest first."""
    part = _part(here, only, before)
    state = here.mine.state()
    return here.page(
        "audit.html",
        title="Audit log",
        days=_by_day(here, part),
        headings=list(Heading),
        causes=list(Cause),
        only=only,
        filters=_query(only),
        before=before,
        older=part.older,
        undone=undone(here.mine.changes(cause=Cause.UNDO, kinds=[api_kind(Undone)])),
        any=state is not None and state.revision > 0,
    )


@router.get("/audit/steps")
def steps(here: PageContext, first: int = 1, last: int = 1) -> HTMLResponse:
    """The bookkeeping between two changes: a part that opens in place."""
    first, last = max(first, 1), min(last, first + FAR)
    told = here.mine.changes(first - 1, before=last + 1, limit=STEPS)
    books = [one for one in told if not any(map(is_news, one.decisions))]
    older = told[0].no - 1 if len(told) == STEPS and told[0].no > first else None
    template = "audit_steps_part.html" if here.partial else "audit_steps.html"
    return here.page(
        template, title="Bookkeeping", changes=change_lines(here.mine, books)[::-1], first=first, older=older
    )


@router.get("/audit/download")
def download(here: PageContext, only: Filters) -> StreamingResponse:
    """All that the list would show, as JSON lines, newest first. What is wrong with the filters is told before the
    first of them."""
    lines = _lines(here, only)
    first = next(lines, "")
    return StreamingResponse(
        chain([first], lines),
        media_type="application/x-ndjson",
        headers={"Content-Disposition": 'attachment; filename="audit.jsonl"', "Cache-Control": "no-store"},
    )


@router.post("/audit/verify")
def verify(here: Changing, receipt: Annotated[str, Form()] = "") -> HTMLResponse:
    """Whether what a receipt of forgetting names is gone. It changes nothing."""
    return here.page("verified.html", title="Receipt", found=here.mine.verify(receipt.strip()))


@router.get("/audit/{no}")
def change(here: PageContext, no: int, first: int = 0) -> HTMLResponse:
    """One change, opened, with what undoing it would do."""
    if no < 1:
        raise NotFound(f"there is no change {no}")
    one = here.mine.change(no)
    first = min(max(first, 0), len(one.decisions))
    teller = Teller(here.mine, pages=True, whole=one, first=first, most=A_PART)
    shown = teller.shown(one)
    books = [teller.entry(one, each) for each in shown if not is_news(each)]
    by = undone(here.mine.changes(no, cause=Cause.UNDO, kinds=[api_kind(Undone)]))
    return here.page(
        "change.html",
        title=f"Change {no}",
        change=one,
        told=next(teller.told()),
        books=books,
        first=first,
        last=first + len(shown),
        size=A_PART,
        teaches=any(kind_of(each).undone is not Undoing.NOTHING for each in one.decisions),
        undone_by=by.get(no),
    )


@router.get("/audit/{no}/plan")
def plan(here: PageContext, no: int) -> HTMLResponse:
    """What undoing a change would do: a part that its page loads by itself, because all that was learnt is read."""
    one = here.mine.change(max(no, 1))
    entries, why_not = _undo_plan(here.mine, replace(one, decisions=one.decisions[:A_PART]))
    return here.page(
        "undo_part.html" if here.partial else "undo.html",
        title=f"Undo change {no}",
        change=one,
        undo=entries[:A_PART],
        undo_left=max(0, len(entries) - A_PART),
        why_not=why_not,
    )


@router.get("/audit/{no}/sources/{place}")
def sources(here: PageContext, no: int, place: int) -> HTMLResponse:
    """What was said that an entry of a change rests on: a part that opens in place."""
    one = here.mine.change(max(no, 1))
    news = [each for each in one.decisions if is_news(each)]
    if not 0 <= place < len(news):
        raise NotFound(f"change {no} has no entry {place}")
    only = replace(one, decisions=(news[place],))
    found = Teller(here.mine, [only]).entry(only, news[place]).sources
    return reading.sources_page(here, found, back=f"/audit/{no}")


@router.post("/audit/{no}/undo")
def undo(here: Changing, no: int, then: Annotated[str, Form()] = "") -> RedirectResponse:
    """Take back what a change taught; shows the change that did so, or tells it on the page of which `then` is the
    address."""
    made = here.mine.undo(no)
    if not then:
        return here.back(f"/audit/{made}")
    back = words.own_address(then)
    return RedirectResponse(f"{back}{'&' if '?' in back else '?'}done={made}", status_code=303)


def change_lines(mine: OwnerMemory, changes: Iterable[Change]) -> list[ChangeLine]:
    """Changes with what they hold, in their order."""
    changes = list(changes)
    names = Teller(mine, changes).say.names
    return [ChangeLine(change=one, holds=show.holds(one, names)) for one in changes]


# ------------------------------------------------------------------------------------------------------ what is shown


def _part(here: Place, only: Asked, before: int) -> Part:
    """The newest part of the log below a number, as far as it was looked through."""
    told: list[Told] = []
    books: list[Change] = []
    since, at = _from(here, only), _below(here, only, before)
    wanted = _Wanted(only, _names_of(here.mine, only.person) if only.person else frozenset())
    step, seen, named = A_PAGE, 0, 0
    while len(told) < A_PAGE and seen < FAR and named < NAMES:
        read = here.mine.changes(since, before=at, limit=step, cause=only.cause or None, kinds=NEWS)
        told_of = [one for one in read if any(wanted.may_be(each, one.cause) for each in one.decisions)]
        teller = Teller(here.mine, told_of, only=wanted.may_be)
        for change, one in teller.beside(reversed(read)):
            at = change.no
            entries = [entry for entry in one.entries if wanted(entry)] if one else []
            if one and entries:
                told.append(replace(one, entries=entries[:FEW], left=len(entries) - len(entries[:FEW])))
            elif not change.decisions and not only.narrows:
                books.append(change)
            if len(told) >= A_PAGE:
                break
        if len(read) < step:
            break
        seen, named, step = seen + len(read), named + len(teller.say.names), min(2 * step, A_READ)
    more = at > 1 and bool(here.mine.changes(since, before=at, limit=1, kinds=()))
    return Part(told=told, books=books, older=at if more else None)


class _Wanted:
    """Whether an entry is asked for; `names` are all that the person is called."""

    def __init__(self, only: Asked, names: frozenset[str]) -> None:
        self._what = only.what
        self._sought = only.q.casefold()
        self._names = names

    def __call__(self, entry: Entry) -> bool:
        if self._what and entry.heading != self._what:
            return False
        if self._sought not in entry.words:
            return False
        return not self._names or any(fold(one) in self._names for one in entry.subjects)

    def may_be(self, decision: Decision, cause: Cause) -> bool:
        """Whether the entry of a decision may be, by what the log says: without a look at the facts that it names."""
        if self._what and not may_be_under(self._what, decision, cause):
            return False
        if not isinstance(decision, FactAdded):
            return True
        if self._names and fold(decision.subject) not in self._names:
            return False
        return self._sought in f"{decision.subject} {decision.text} {decision.value}".casefold()


def _names_of(mine: OwnerMemory, person: str) -> frozenset[str]:
    """All that a person is called; the name itself where nobody is known by it."""
    wanted = fold(person)
    for one in mine.people():
        names = {fold(name) for name in (one.id, one.name, *one.names)}
        if wanted in names:
            return frozenset(names)
    return frozenset({wanted})


def _from(here: Place, only: Asked) -> int | datetime:
    """From when on the log is read."""
    return 0 if not only.since else _midnight(here, only.since, "since") - timedelta(microseconds=1)


def _below(here: Place, only: Asked, before: int) -> int:
    """The number below which it is read."""
    state = here.mine.state()
    top = (0 if state is None else state.revision) + 1
    if 0 < before < top:
        top = before
    if only.until:
        end = _midnight(here, only.until, "until") + timedelta(days=1)
        later = here.mine.changes(end - timedelta(microseconds=1), limit=1, kinds=())
        top = min(top, later[0].no) if later else top
    return top


def _midnight(here: Place, day: str, where: str) -> datetime:
    try:
        found = date.fromisoformat(day)
        return datetime(found.year, found.month, found.day, tzinfo=here.zone)
    except (ValueError, OverflowError) as error:
        raise InputError(f"{where} = {day!r} is no day, such as 2026-05-02") from error


def _by_day(here: Place, part: Part) -> list[Day]:
    """What is told on each day, newest first."""
    found: dict[str, Day] = {}
    for change, told in sorted(
        [*((one.change, one) for one in part.told), *((one, None) for one in part.books)],
        key=lambda pair: -pair[0].no,
    ):
        name = f"{there(change.recorded_at, here.zone):%Y-%m-%d}"
        day = found.setdefault(name, Day(day=name))
        if told is None:
            day.books.append(change)
        else:
            day.told.append(told)
    return list(found.values())


def _query(only: Asked) -> dict[str, str]:
    """The filters as an address has them."""
    names = ("what", "person", "q", "since", "until", "cause")
    return {name: given for name in names if (given := getattr(only, name))}


def _lines(here: Place, only: Asked) -> Iterator[str]:
    below = 0
    while True:
        part = _part(here, only, below)
        for one in part.told:
            for entry in one.entries:
                yield json.dumps(_line(one, entry), ensure_ascii=False) + "\n"
        if part.older is None:
            return
        below = part.older


def _line(told: Told, entry: Entry) -> dict[str, object]:
    return {
        "change": told.change.no,
        "recorded_at": told.change.recorded_at.isoformat(),
        "cause": told.change.cause.value,
        "by": told.by,
        "what": entry.heading.value,
        "did": entry.verb,
        "text": entry.text,
        "note": entry.note,
        "utterances": [one.utterance_id for one in entry.sources],
    }


def _undo_plan(mine: OwnerMemory, change: Change) -> tuple[Sequence[Entry], str]:
    """What undoing a change would do now, or why nothing can be undone."""
    try:
        plan = mine.undo_plan(change.no)
    except InputError as error:
        return (), str(error)
    decided = tuple(one for one in plan.decisions if not isinstance(one, Undone))
    undoing = replace(change, cause=Cause.UNDO, decisions=decided)
    teller = Teller(mine, [undoing, change], pages=True)
    if plan.decisions:
        return [teller.entry(undoing, one) for one in decided], ""
    return (), "; ".join(f"{teller.say(left.item)}: {left.reason}" for left in plan.refused)
