"""What must hold of each owner's rows: for each invariant one statement, or a function, that counts the rows which
break it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Integer,
    Select,
    Subquery,
    Table,
    and_,
    bindparam,
    case,
    exists,
    func,
    literal,
    not_,
    or_,
    select,
)
from sqlalchemy.engine import Connection

from embermem.core.changes import Cause
from embermem.core.types import DocumentId, OwnerId, Role, thread_of
from embermem.store import schema, values
from embermem.store.engines.vector_type import are_halves, has_numbers, is_sum
from embermem.store.queries import originals


class Mending(Enum):
    """What puts it right."""

    NOTHING = auto()
    """Only a copy holds what is gone."""
    LATER = auto()
    """It is no damage: work that is due does it."""
    DERIVE = auto()
    """The log of changes is applied again."""
    ROLL_UP = auto()
    """Pages are told again by their utterances."""
    EMBED = auto()
    """Vectors are thrown away, and due."""
    NUMBERS = auto()
    """The owner's row is told again what it counts."""
    VALUES = auto()
    """The rows by which metadata are found are written again."""
    DUE = auto()
    """The owner is due."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Invariant:
    """`area` is what it belongs to, `what` says which rows break it, in the plural."""

    area: str
    what: str
    mending: Mending
    level: str = "error"


@dataclass(frozen=True, kw_only=True, slots=True)
class Counting(Invariant):
    """An invariant of rows; `counting` counts those of an owner that break it."""

    counting: Select[Any] | Callable[[Connection, OwnerId], int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Broken:
    """An invariant that is broken, by how many rows."""

    invariant: Invariant
    count: int


SAID, CHANGES, PAGES, DERIVED, SOURCES, VECTORS, WORK = (
    "every owner's utterances are present, except for forgotten ones",
    "the log of changes is complete",
    "pages agree with their utterances",
    "derived rows are consistent",
    "derived rows name their sources",
    "vectors are complete",
    "pending work is recorded",
)
AREAS = (SAID, CHANGES, PAGES, DERIVED, SOURCES, VECTORS, WORK)
"""What there is to be sound, as said of a store where it is."""

LEARNT = (Cause.ANNOTATION, Cause.CONSOLIDATION, Cause.PROMOTION, Cause.REDONE)
"""Changes in which an analyst taught: what they say rests on utterances."""
_OWNER = bindparam("owner", type_=schema.owner.c.owner_id.type)


def broken(c: Connection, asked: Mapping[str, Any]) -> list[Broken]:
    """What is broken of one owner. `asked` is what the statements are told: `owner`, `now`, `embedder`, `summaries`,
    `dim`, `short`, `segments`, `user_facts`, `agent_facts`, `by_person`, `utterances_forgotten`, `pages_forgotten`."""
    counted = ((one, _counted(c, one, asked)) for one in invariants(are_halves(c)))
    return [Broken(invariant=one, count=count) for one, count in counted if count]


def _counted(c: Connection, one: Counting, asked: Mapping[str, Any]) -> int:
    if isinstance(one.counting, Select):
        return int(c.scalar(one.counting, dict(asked)) or 0)
    return one.counting(c, asked["owner"])


@cache
def invariants(halves: bool) -> tuple[Counting, ...]:
    """All of them; `halves` is for a database whose vectors are of pgvector's type."""
    return (
        *_logs(),
        *_metadata(),
        *_pages(),
        *_documents(),
        *_originals(),
        *_segments(),
        *_vectors(halves),
        *_work(),
    )


# --------------------------------------------------------------------------------------------------------- the two logs


def _logs() -> Iterator[Counting]:
    said, page, change, receipt, barred = (
        schema.utterance,
        schema.page,
        schema.change,
        schema.receipt,
        schema.barred,
    )
    for area, table, number, last, lost in (
        (SAID, said, said.c.seq, "seq", _told("utterances_forgotten")),
        (SAID, page, page.c.no, "pages", _told("pages_forgotten")),
        (CHANGES, change, change.c.no, "revision", literal(0)),
    ):
        name = f"{table.name}s"
        there = _count(table, number.between(1, _owners(last))).scalar_subquery()
        yield _invariant(area, f"{name} missing that nobody forgot", select(func.abs(_owners(last) - there - lost)))
        outside = _beyond(number, last)
        if table is page:  # a passage's page is numbered by it
            outside = and_(outside, page.c.no != -page.c.first_seq)
        yield _invariant(area, f"{name} beyond the last one", _count(table, outside))
    unsaid = or_(receipt.c.first_seq < 1, receipt.c.last_seq < receipt.c.first_seq, _beyond(receipt.c.last_seq, "seq"))
    wrong = or_(and_(receipt.c.change_no.is_(None), unsaid), _beyond(receipt.c.change_no, "revision"))
    yield _invariant(SAID, "receipts of utterances that never existed", _count(receipt, wrong))
    yield _invariant(
        DERIVED,
        "marks of forgotten texts without a change",
        _count(barred, _none(change, change.c.no == barred.c.change_no)),
        Mending.DERIVE,
    )


def _metadata() -> Iterator[Counting]:
    unreadable = "utterances whose metadata cannot be read"
    yield Counting(area=SAID, what=unreadable, counting=values.unreadable, mending=Mending.NOTHING)
    differ = "utterances that are found by other metadata than theirs"
    yield Counting(area=SAID, what=differ, counting=values.disagreeing, mending=Mending.VALUES)


def _pages() -> Iterator[Counting]:
    said, page = schema.utterance, schema.page
    whole = _said_of_pages()
    began = exists().where(
        said.c.owner_id == _OWNER,
        said.c.page_id == page.c.page_id,
        said.c.seq == page.c.first_seq,
        said.c.thread == page.c.thread,
        said.c.recorded_at == page.c.recorded_at,
    )
    wrong = or_(
        page.c.first_seq != whole.c.first,
        page.c.last_seq != whole.c.last,
        not_(began),
        and_(page.c.answered, whole.c.answers == 0),
        and_(not_(page.c.answered), whole.c.answers > 0),
    )
    elsewhere = or_(whole.c.one_thread != page.c.thread, whole.c.another_thread != page.c.thread)
    both = page.outerjoin(whole, whole.c.page_id == page.c.page_id)
    alone = select(func.count()).select_from(both).where(_mine(page))
    yield _invariant(PAGES, "pages without an utterance", alone.where(whole.c.page_id.is_(None)))
    yield _invariant(
        PAGES, "utterances without their page", _count(said, _none(page, page.c.page_id == said.c.page_id))
    )
    yield _invariant(PAGES, "pages with several threads", _count_pages(whole, began, elsewhere))
    yield _invariant(PAGES, "pages that disagree with their utterances", _count_pages(whole, wrong), Mending.ROLL_UP)
    yield _invariant(
        PAGES,
        "pages analysed beyond their end",
        _count(page, or_(page.c.annotated_seq > page.c.last_seq, page.c.analysed_seq > page.c.last_seq)),
        Mending.DERIVE,
    )


def _documents() -> Iterator[Counting]:
    """Each passage has its document, and a page by itself that no work is due on; each document has a passage."""
    said, page, document = schema.utterance, schema.page, schema.document
    thread = literal(thread_of(DocumentId(""))) + document.c.document_id
    of_document = said.c.role == Role.DOCUMENT.value
    yield _invariant(
        PAGES, "passages without their document", _count(said, of_document, _none(document, thread == said.c.thread))
    )
    yield _invariant(PAGES, "documents without a passage", _count(document, _none(page, page.c.thread == thread)))
    yield _invariant(
        PAGES,
        "passages that do not say where they stand",
        _count(said, of_document != said.c.passage.is_not(None)),
    )
    by_itself = and_(page.c.no == -page.c.first_seq, page.c.first_seq == page.c.last_seq)
    whole = _said_of_pages()
    wrong = or_(
        and_(page.c.no < 1, whole.c.messages > 0),
        and_(whole.c.passages > 0, not_(by_itself)),
    )
    yield _invariant(PAGES, "passages that are not a page by themselves", _count_pages(whole, wrong))


def _said_of_pages() -> Subquery:
    """What was said on each page, in one pass: an engine without statistics would look at all of an owner's utterances
    for each page."""
    said = schema.utterance

    def count(*where: ColumnElement[bool]) -> ColumnElement[int]:
        return func.sum(case((and_(*where), 1), else_=0))

    return (
        select(
            said.c.page_id,
            func.min(said.c.seq).label("first"),
            func.max(said.c.seq).label("last"),
            func.min(said.c.thread).label("one_thread"),
            func.max(said.c.thread).label("another_thread"),
            count(said.c.role.in_(("assistant", "tool"))).label("answers"),
            count(said.c.role == Role.DOCUMENT.value).label("passages"),
            count(said.c.role != Role.DOCUMENT.value).label("messages"),
        )
        .where(_mine(said))
        .group_by(said.c.page_id)
        .subquery("said_of_page")
    )


def _count_pages(whole: Subquery, *where: ColumnElement[bool]) -> Select[Any]:
    """Of the pages on which something was said."""
    page = schema.page
    both = page.join(whole, whole.c.page_id == page.c.page_id)
    return select(func.count()).select_from(both).where(_mine(page), *where)


def _originals() -> Iterator[Counting]:
    original, said, document = schema.original, schema.utterance, schema.document
    lost = _none(said, said.c.id == original.c.item_id), _none(document, document.c.document_id == original.c.item_id)
    yield _invariant(SAID, "originals of no utterance or document", _count(original, *lost))
    unreadable = "originals that cannot be read"
    yield Counting(area=SAID, what=unreadable, counting=originals.unreadable, mending=Mending.NOTHING)


# ----------------------------------------------------------------------------------------------------- what was derived


def _segments() -> Iterator[Counting]:
    page, segment = schema.page, schema.segment
    there = page.c.segment_id == segment.c.segment_id
    members = _count(page, there).correlate(segment).scalar_subquery()
    yield _derived("segments with a wrong count of pages", _count(segment, segment.c.pages != members))
    yield _derived("pages in a missing segment", _count(page, page.c.segment_id.is_not(None), _none(segment, there)))
    ended = and_(segment.c.evicted_no.is_not(None), _none(page, there))
    yield _derived("segments without a text", _count(segment, not_(ended), segment.c.parts.is_(None)))
    yield _derived("segments that end before they begin", _count(segment, segment.c.said_from > segment.c.said_to))
    for table, columns in (
        (page, ("noted_no",)),
        (segment, ("opened_no", "evicted_no", "touched_no", "change_no")),
    ):
        beyond = or_(*(_beyond(table.c[name], "revision") for name in columns))
        yield _derived(f"rows of `{table.name}` with a change beyond the log", _count(table, beyond))


# ---------------------------------------------------------------------------------------------------- vectors, and work


def _vectors(halves: bool) -> Iterator[Counting]:
    vector, said, segment = schema.embedding, schema.utterance, schema.segment
    dim = _told("dim")
    ours, due = vector.c.embedder == bindparam("embedder"), vector.c.seq > _owners("embedded_seq")
    yield _embedded("vectors of missing utterances", _count(vector, _none(said, said.c.seq == vector.c.seq)))
    yield _embedded("vectors of a wrong length", _count(vector, ours, not_(has_numbers(vector.c.data, dim, halves))))
    yield _embedded("vectors of another embedder", _count(vector, not_(ours), not_(due)))
    made = _none(vector, vector.c.seq == said.c.seq)
    yield _embedded(
        "utterances without a vector that is not due", _count(said, made, said.c.seq <= _owners("embedded_seq"))
    )
    current = segment.c.embedder.in_([bindparam("embedder"), bindparam("summaries")])
    wrong = or_(segment.c.vector_sum.is_(None), not_(is_sum(segment.c.vector_sum, dim)))
    yield _embedded("segments whose vector is damaged", _count(segment, current, wrong))


def _work() -> Iterator[Counting]:
    owner, said, page, segment = schema.owner, schema.utterance, schema.page, schema.segment
    numbers = or_(
        owner.c.persona_no > owner.c.revision,
        owner.c.reset_no > owner.c.revision,
        owner.c.embedded_seq > owner.c.seq,
        owner.c.embedded_seq < 0,
    )
    yield _invariant(WORK, "owners with counters beyond their logs", _count(owner, numbers), Mending.NUMBERS)
    bare = exists().where(said.c.owner_id == _OWNER, said.c.seq > owner.c.embedded_seq)
    waits = exists().where(
        page.c.owner_id == _OWNER, page.c.segment_id.is_(None), page.c.no.between(1, owner.c.pages - _told("short"))
    )
    ending = [
        exists().where(page.c.owner_id == _OWNER, page.c.expires_at.is_not(None)),
        owner.c.fact_expires_at.is_not(None),
    ]
    yield _invariant(
        WORK,
        "owners with work that is never due",
        _count(owner, owner.c.due_at.is_(None), or_(bare, waits, *ending)),
        Mending.DUE,
        "warning",
    )
    over = page.c.expires_at <= _told("now", BigInteger)
    yield _waiting("pages that have expired and are not yet forgotten", _count(page, over))
    live = _count(segment, segment.c.evicted_no.is_(None)).scalar_subquery()
    yield _waiting("segments above the capacity", select(_above(live, "segments")))


def _above(count: ColumnElement[int], bound: str) -> ColumnElement[int]:
    """By how much: nothing, where it is not above."""
    return case((count > _told(bound), count - _told(bound)), else_=0)


# --------------------------------------------------------------------------------------------------------------- pieces


def _invariant(
    area: str, what: str, counting: Select[Any], mending: Mending = Mending.NOTHING, level: str = "error"
) -> Counting:
    return Counting(area=area, what=what, counting=counting, mending=mending, level=level)


def _derived(what: str, counting: Select[Any], area: str = DERIVED) -> Counting:
    return _invariant(area, what, counting, Mending.DERIVE)


def _embedded(what: str, counting: Select[Any]) -> Counting:
    return _invariant(VECTORS, what, counting, Mending.EMBED)


def _waiting(what: str, counting: Select[Any]) -> Counting:
    return _invariant(WORK, what, counting, Mending.LATER, "warning")


def _told(name: str, kind: type[Integer] = Integer) -> ColumnElement[int]:
    """A number that the statement is told."""
    return bindparam(name, type_=kind)


def _mine(table: Any) -> ColumnElement[bool]:
    mine: ColumnElement[bool] = table.c.owner_id == _OWNER
    return mine


def _count(table: Table, *where: ColumnElement[bool]) -> Select[Any]:
    return select(func.count()).select_from(table).where(_mine(table), *where)


def _none(table: Any, *where: ColumnElement[bool]) -> ColumnElement[bool]:
    """Whether the owner has no such row."""
    return ~exists().where(_mine(table), *where)


def _owners(column: str) -> ColumnElement[int]:
    """A number of the owner's row."""
    owner = schema.owner
    return select(owner.c[column]).where(owner.c.owner_id == _OWNER).correlate(None).scalar_subquery()


def _beyond(number: ColumnElement[int], last: str) -> ColumnElement[bool]:
    return or_(number < 0, number > _owners(last))
