"""What is read of an owner's persona: facts, their conflicts, traits and profiles, now and at any moment.

Every derived row says by which change it was written and by which it ended, so what stood at a revision is a condition
(`reads.stood`). With `valid_at`, traits and lines are chosen among all their versions; facts say themselves when they
were true.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, assert_never

from sqlalchemy import ColumnElement, Select, and_, case, exists, func, null, or_, select
from sqlalchemy.engine import Connection, Row

from embermem.core.attributes import INSTRUCTION, INSTRUCTION_PREFIX
from embermem.core.metadata import inherited
from embermem.core.traits import dimensions_by_name
from embermem.core.types import (
    About,
    Conflict,
    Fact,
    FactId,
    Origin,
    OwnerId,
    Persona,
    PersonRelation,
    ProfileField,
    Source,
    Trait,
)
from embermem.protocols import HELD, NOW, FactSelection, FactState, Moment, Span
from embermem.store import schema
from embermem.store.codec import metadata_from, micros, record
from embermem.store.queries import reads
from embermem.store.transactions import Transactions


class Personas(Transactions):
    """Readers of facts, conflicts, traits and profiles."""

    def facts(self, owner_id: OwnerId, selection: FactSelection = HELD, moment: Moment = NOW) -> tuple[Fact, ...]:
        with self._read() as c:
            return facts(c, owner_id, selection, moment)

    def persona(self, owner_id: OwnerId, moment: Moment = NOW, selection: FactSelection = HELD) -> Persona:
        with self._read() as c:
            return persona(c, owner_id, moment, selection)

    def conflicts(self, owner_id: OwnerId, moment: Moment = NOW) -> tuple[Conflict, ...]:
        """The open conflicts, in the order in which they were found; one of a fact that is no longer held stays in its
        table, and is read no more."""
        with self._read() as c:
            rows = _open_conflicts(c, owner_id, moment.revision)
            both = replace(HELD, ids=frozenset(FactId(one) for row in rows for one in (row.fact_id, row.other_id)))
            held = {fact.id: fact for fact in facts(c, owner_id, both, replace(moment, valid_at=None))} if rows else {}
        return tuple(
            record(Conflict, row, older=held[FactId(row.fact_id)], newer=held[FactId(row.other_id)]) for row in rows
        )


# --------------------------------------------------------------------------------------------------------------- facts


def facts(c: Connection, owner_id: OwnerId, selection: FactSelection, moment: Moment = NOW) -> tuple[Fact, ...]:
    """The facts of a selection, as they were at a moment."""
    query, of = select_facts(owner_id, moment.revision)
    query = query.where(*chosen(selection, of, moment))
    if selection.ids is None and selection.resting_on is None:
        return facts_from(c, owner_id, c.execute(query).all(), moment.revision)
    rows = [
        row
        for ids in reads.chunks(_named(c, owner_id, selection))
        for row in c.execute(query.where(reads.one_of(schema.fact.c.fact_id, ids)))
    ]
    rows.sort(key=lambda row: (row.confirmed_no, row.change_no, row.fact_id))
    return facts_from(c, owner_id, rows, moment.revision)


def chosen(selection: FactSelection, of: Mapping[str, Any], moment: Moment = NOW) -> list[ColumnElement[bool]]:
    """The conditions of a selection on the table `fact`, but for those that name ids. `of` has the columns that
    change."""
    fact, made = schema.fact.c, list[ColumnElement[bool]]()
    if selection.states is not None:
        made.append(or_(*(_in_state(state, of, moment) for state in sorted(selection.states))))
    if selection.about is not None:
        made.append(fact.about == selection.about.value)
    if selection.attributes is not None:
        made.append(fact.attribute.in_(sorted(selection.attributes)))
    if selection.subjects is not None:
        made.append(fact.subject.in_(sorted(selection.subjects)))
    if selection.expired_by is not None:
        made += [of["expires_at"].is_not(None), of["expires_at"] <= micros(selection.expired_by)]
    if selection.superseded_by is not None:
        made.append(of["superseded_by"].in_(sorted(selection.superseded_by)))
    if selection.pinned is not None:
        made.append(of["pinned"].is_(selection.pinned))
    if selection.expiring is not None:
        made.append(of["expires_at"].is_not(None) if selection.expiring else of["expires_at"].is_(None))
    if selection.instructing:
        of_matters = func.substr(fact.attribute, 1, len(INSTRUCTION_PREFIX)) == INSTRUCTION_PREFIX
        made.append(or_(fact.attribute == INSTRUCTION, of_matters))
    if selection.origin is not None:
        made.append(_rests_on(selection.origin))
    if selection.recorded is not None:
        made += _within(fact.recorded_at, selection.recorded)
    if selection.true is not None:
        first, last = selection.true
        until = func.coalesce(of["valid_to"], of["retired_at"], of["expires_at"])
        made.append(or_(fact.valid_from.is_(None), until.is_(None), until > fact.valid_from))  # else it never was
        made += [] if first is None else [or_(until.is_(None), until > micros(first))]
        made += [] if last is None else [or_(fact.valid_from.is_(None), fact.valid_from < micros(last))]
    return made


def _within(column: Any, span: Span) -> list[ColumnElement[bool]]:
    first, last = span
    return [*([] if first is None else [column >= micros(first)]), *([] if last is None else [column < micros(last)])]


def _rests_on(origin: Origin) -> ColumnElement[bool]:
    """Whether a fact rests on something of a kind, or on nothing that was said."""
    source, said = schema.source, schema.utterance
    any_of = select(source.c.seq).where(
        source.c.owner_id == schema.fact.c.owner_id, source.c.item == "fact", source.c.item_id == schema.fact.c.fact_id
    )
    if origin is Origin.CALLER:
        return ~any_of.exists()
    told = any_of.join(said, reads.same(said, source, "seq"))
    told = told.where(said.c.passage.is_(None) if origin is Origin.CONVERSATION else said.c.passage.is_not(None))
    return told.exists()


def _named(c: Connection, owner_id: OwnerId, selection: FactSelection) -> list[str]:
    """The ids that a selection names, itself or by what they rest on."""
    if selection.resting_on is None:
        return sorted(selection.ids or ())
    source = schema.source.c
    query = select(source.item_id).where(source.owner_id == owner_id, source.item == "fact")
    found = {
        fact_id
        for seqs in reads.chunks(sorted(selection.resting_on))
        for fact_id in c.scalars(query.where(source.seq.in_(seqs)))
    }
    return sorted(found if selection.ids is None else found & selection.ids)


def select_facts(owner_id: OwnerId, revision: int | None = None) -> tuple[Select[Any], Mapping[str, Any]]:
    """Facts as they were, in order of their last confirmation (then of entry), in which the cap takes them, and whether
    the owner ever had a conflict; and the columns that change, by their names."""
    fact = schema.fact
    marked = exists().where(schema.conflict.c.owner_id == owner_id).label("marked")
    if revision is None:
        of = {name: fact.c[name] for name in schema.STATE}
        query = select(fact, marked).where(fact.c.owner_id == owner_id)
    else:
        of = {name: schema.fact_state.c[theirs] for name, theirs in schema.STATE.items()}
        query = select_states(owner_id).add_columns(marked).where(reads.stood(schema.fact_state, revision))
    return query.order_by(of["confirmed_no"], fact.c.change_no, fact.c.fact_id), of


def select_states(owner_id: OwnerId) -> Select[Any]:
    """Facts as rows of the table `fact`, one for each state that a change left them in."""
    fact, state = schema.fact, schema.fact_state
    fixed = [column for column in fact.c if column.name not in schema.STATE]
    return (
        select(*fixed, *(state.c[theirs].label(name) for name, theirs in schema.STATE.items()))
        .select_from(state)
        .join(fact, reads.same(fact, state, "fact_id"))
        .where(state.c.owner_id == owner_id)
    )


def _in_state(state: FactState, of: Mapping[str, Any], moment: Moment) -> ColumnElement[bool]:
    """Whether a fact was in a state. With `valid_at` one that ended since was held still, if it was true."""
    match state:
        case FactState.ENDED:
            return of["retired_no"].is_not(None)  # type: ignore[no-any-return]
        case FactState.HELD:
            placed = of["archived_no"].is_(None)
        case FactState.ARCHIVED:
            placed = of["archived_no"].is_not(None)
        case _:
            assert_never(state)
    if moment.valid_at is None:
        return and_(of["retired_no"].is_(None), placed)
    at, since = micros(moment.valid_at), schema.fact.c.valid_from
    until = func.coalesce(of["valid_to"], of["retired_at"], of["expires_at"])
    return and_(placed, or_(since.is_(None), since <= at), or_(until.is_(None), until > at))


def facts_from(c: Connection, owner_id: OwnerId, rows: Sequence[Row[Any]], upto: int | None = None) -> tuple[Fact, ...]:
    """Facts with their sources and conflicts, from rows of `select_facts`; as they were at change `upto`."""
    sources = _fact_sources(c, owner_id, [row.fact_id for row in rows], upto)
    against: dict[str, list[FactId]] = {}
    if rows and rows[0].marked:
        for pair in _open_conflicts(c, owner_id, upto):
            against.setdefault(pair.fact_id, []).append(FactId(pair.other_id))
            against.setdefault(pair.other_id, []).append(FactId(pair.fact_id))
    return tuple(fact_from(row, sources.get(row.fact_id, {}), against.get(row.fact_id, ())) for row in rows)


def fact_from(row: Row[Any], sources: Mapping[Source, str | None], conflicts: Sequence[FactId] = ()) -> Fact:
    """A fact with its sources, each with the metadata of its utterance as they are stored, and with those that it is in
    conflict with."""
    told = {text: metadata_from(text) for text in sources.values() if text is not None}
    own = {} if row.metadata is None else metadata_from(row.metadata)
    return record(
        Fact,
        row,
        id=row.fact_id,
        sources=tuple(sources),
        archived=row.archived_no is not None,
        conflicts=tuple(conflicts),
        metadata={**inherited(told.values()), **own},
        own_metadata=own,
    )


def _fact_sources(
    c: Connection, owner_id: OwnerId, fact_ids: Sequence[str], upto: int | None
) -> Mapping[str, Mapping[Source, str | None]]:
    """By fact, the utterances that all its confirmations rest on, each with its metadata; those of changes up to a
    number."""
    found: dict[str, dict[Source, str | None]] = {}
    for ids in reads.chunks(fact_ids):
        query = reads.select_sources(owner_id, "fact", ids)
        for row in c.execute(query if upto is None else query.where(schema.source.c.change_no <= upto)):
            found.setdefault(row.item_id, {})[reads.source_from(row)] = row.metadata
    return found


def _open_conflicts(c: Connection, owner_id: OwnerId, upto: int | None) -> Sequence[Row[Any]]:
    """The conflicts that stand and both of whose facts are held, in the order in which they were found; as they were
    at change `upto`."""
    table = schema.conflict
    query = select(table).where(table.c.owner_id == owner_id, reads.stood(table, upto))
    for end in (table.c.fact_id, table.c.other_id):
        query = query.where(reads.fact_held(owner_id, end, upto))
    return c.execute(query.order_by(table.c.change_no, table.c.fact_id, table.c.other_id)).all()


# ------------------------------------------------------------------------------------------------- profiles and traits


def persona(c: Connection, owner_id: OwnerId, moment: Moment = NOW, selection: FactSelection = HELD) -> Persona:
    """Profiles, traits and the facts of a selection, as they were at a moment."""
    profile, trait = schema.profile.c, schema.trait.c
    lines = _versions(c, owner_id, schema.profile, (profile.name, profile.whose), moment)
    fields = _fields_from(c, owner_id, [row for row in lines if row.value is not None])
    known = facts(c, owner_id, selection, moment)
    return Persona(
        profile=tuple(f for f in fields if f.whose is About.USER),
        agent_profile=tuple(f for f in fields if f.whose is About.AGENT),
        traits=_traits_from(c, owner_id, _versions(c, owner_id, schema.trait, (trait.dimension,), moment)),
        facts=tuple(f for f in known if f.about is About.USER),
        agent_facts=tuple(f for f in known if f.about is About.AGENT),
        relations=_relations(c, owner_id, moment.revision),
    )


def _relations(c: Connection, owner_id: OwnerId, revision: int | None) -> tuple[PersonRelation, ...]:
    """What is known of names, in the order in which it was learnt."""
    table = schema.person
    query = select(table).where(table.c.owner_id == owner_id, reads.stood(table, revision), table.c.holds.is_not(None))
    rows = c.execute(query.order_by(table.c.change_no, table.c.relation, table.c.one, table.c.other)).all()
    told = reads.sources_of(c, owner_id, "person", {_name(row): row.change_no for row in rows})
    return tuple(relation_from(row, told.get(_name(row), ())) for row in rows)


def relation_from(row: Row[Any], sources: tuple[Source, ...]) -> PersonRelation:
    """What is known of a name."""
    return record(PersonRelation, row, sources=sources)


def _name(row: Row[Any]) -> str:
    return ".".join((row.relation, row.one, row.other))


def _versions(c: Connection, owner_id: OwnerId, table: Any, keys: Sequence[Any], moment: Moment) -> list[Row[Any]]:
    """The version that stood of each trait or profile line; with `valid_at` the one that says what was true then."""
    retired_at: Any = table.c.retired_at
    if moment.revision is not None:
        retired_at = case((table.c.retired_no <= moment.revision, retired_at), else_=null())
    kept = [column for column in table.c if column.name != "retired_at"]
    query: Select[Any] = select(*kept, retired_at.label("retired_at")).where(table.c.owner_id == owner_id)
    query = query.order_by(*keys, table.c.change_no)
    if moment.valid_at is None:
        return list(c.execute(query.where(reads.stood(table, moment.revision))).all())
    rows = c.execute(query.where(reads.known_by(table, moment.revision)))
    names = [key.name for key in keys]
    found = (
        _true_of(versions, micros(moment.valid_at), moment.revision)
        for _, versions in groupby(rows, lambda row: tuple(getattr(row, name) for name in names))
    )
    return [row for row in found if row is not None]


def _true_of(versions: Iterable[Row[Any]], at: int, revision: int | None) -> Row[Any] | None:
    """Of all versions of one thing, in order, the last that reaches back to a time. One that was cleared, with no other
    in its place, was never true, nor what came before it."""
    standing: list[Row[Any]] = []
    ended: int | None = None
    for row in versions:
        if ended is not None and ended != row.change_no:
            standing = []
        standing.append(row)
        ended = row.retired_no
    if ended is not None and (revision is None or ended <= revision):
        return None
    return next((row for row in reversed(standing) if row.valid_from is None or row.valid_from <= at), None)


def _fields_from(c: Connection, owner_id: OwnerId, rows: Sequence[Row[Any]]) -> list[ProfileField]:
    told = reads.sources_of(c, owner_id, "profile", {f"{row.whose}.{row.name}": row.change_no for row in rows})
    return [field_from(row, told.get(f"{row.whose}.{row.name}", ())) for row in rows]


def field_from(row: Row[Any], sources: tuple[Source, ...]) -> ProfileField:
    """A line of a profile. One that was cleared says nothing."""
    return record(ProfileField, row, value=row.value or "", sources=sources)


def _traits_from(c: Connection, owner_id: OwnerId, rows: Sequence[Row[Any]]) -> tuple[Trait, ...]:
    told = reads.sources_of(c, owner_id, "trait", {row.dimension: row.change_no for row in rows})
    return tuple(trait_from(row, told.get(row.dimension, ())) for row in rows)


def trait_from(row: Row[Any], sources: tuple[Source, ...]) -> Trait:
    """A trait."""
    dimension = dimensions_by_name()[row.dimension]
    return record(Trait, row, category=dimension.category, pole=dimension.pole(row.level), sources=sources)
