"""What engines that shard by owner need: the owner first in every key, and one owner in every statement."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import FromClause, Table, UniqueConstraint
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateIndex, CreateTable, DDLElement
from sqlalchemy.sql import visitors
from sqlalchemy.sql.elements import BinaryExpression, BindParameter, ClauseElement, ColumnElement
from sqlalchemy.sql.operators import eq
from sqlalchemy.sql.selectable import SelectBase

import citus
from embermem import Memory
from embermem.bootstrap import copy_store
from embermem.core.config import load
from embermem.core.errors import BudgetSpent
from embermem.core.types import CallsBy, ItemId, PageId, Scope, SegmentId
from embermem.embedders.hashed import HashedNgrams
from embermem.owner_memory.documents import originals_of_source, remove_document
from embermem.protocols import Call, FactSelection, Limits, Moment, Purpose
from embermem.store import schema
from embermem.store.sql import SqlStore
from embermem.transfer.export import export
from embermem.transfer.importing import import_owners
from lives import fill_every_table, store_of
from scripted import NOW, SMALL, Clock, Opener, Place
from statement_names import Statement, names, sent

ROOT = Path(__file__).parents[2]
STORES = str(Path(schema.__file__).parent)
OWNED = {table.name: table for table in schema.metadata.sorted_tables if "owner_id" in table.c}

COMMON = {"store", "api_key"}
"""Tables that belong to no owner: on every node, as Citus' reference tables are."""
BY_TIME = {"ix_owner_due": "finds due owners", "ix_call_at": "adds up a day's calls for a limit over all owners"}
"""Indexes that do not begin with the owner."""

WHOLE: Mapping[str, str] = {
    "store_admin.Whole._owners": "lists who has a memory here",
    "store_admin.Whole.agents": "lists the agents of all users, for a user who is forgotten with all of them",
    "census.Owners.census": "counts over all owners, for those who run the store",
    "census.Owners.find_owners": "finds owners by name and in order, for those who run the store",
    "census._entries": "tells when owners that were found were active last",
    "census._by_owner": "counts what is of owners that were found",
    "waits._for_a_place": "sums over owners what waits for the model, for `census`",
    "waits._placed": "sums over owners what waits for the model, for `census`",
    "worker_queries.Work.due": "finds owners with work to do, for a worker",
    "shares.Shares.forget_shares": "lists the spaces: a user who is forgotten takes the grants to them along",
    "store_admin.Whole.stats": "counts the whole store, for metrics and `stats`",
    "store_admin.Whole.outdated": "counts pages that another reader read, for `stats`, `doctor` and `rebuild`",
    "store_admin._backlog": "how many pages wait, and since when, for metrics and `stats`",
    "erasing.is_marked": "looks whether anything was hashed with a key that is gone, before another is made",
    "checking.Checking._owners_that_can_be_read": "lists whose rows `doctor` looks at",
    "checking._ownerless": "looks for rows of owners that are not there, for `doctor`",
    "checking._failed": "tells what waits for another try, for `doctor`",
    "store_admin.Whole.begin_reindex": "changes the embedder of the store: every owner's vectors are due",
    "waits.end_all": "ends every wait where memory is processed with another analyst than before",
    "usage_log.Ledger.calls": "reads the ledger of all owners, for `cost`",
    "usage_log._sums": "adds up a day's calls, only where a limit over all owners is set",
    "usage_log.Ledger.call_sums": "adds up the ledger of all owners, for metrics, `cost` and who runs the server",
    "usage_log._are_most": "counts the ledger, to see how it is added up soonest",
    "oversight._owners": "lists who is worked on, is due or failed, for who runs the server",
    "oversight._waiting": "lists whose pages wait for the model, for who runs the server",
    "oversight._troubled": "lists webhooks that fail, for who runs the server",
    "oversight.Oversight._expired_facts": "finds owners with a fact that has expired, for who runs the server",
    "oversight._expired": "counts what has expired and waits for a worker, for who runs the server",
    "oversight._forgotten": "lists forgettings by number and time, for who runs the server",
    "oversight.Oversight._forgotten_ids": "gathers what was forgotten, to look for it in copies",
    "oversight.Oversight._born": "lists who has a memory, to find those in copies who have none any more",
    "webhooks.Webhooks.claim_delivery": "finds webhooks whose owners are ahead of what was delivered, for a worker",
    "webhooks.Webhooks.has_webhooks": "looks whether there is anything to deliver at all",
    "webhooks.webhook_counts": "counts webhooks by their state, for metrics and `stats`",
    "copying._Side.owner_ids": "`copy` lists whom to copy",
    "copying._Copying.begin": "`copy` counts whom to copy",
    "copying._refuse_rows": "`copy` looks whether its target is empty",
}
"""The functions of store/ whose statements may look over all owners, and why."""


# ---------------------------------------------------------------------------------------------------------- the schema


def test_every_key_and_index_begins_with_the_owner() -> None:
    for table in schema.metadata.sorted_tables:
        if table.name in COMMON:
            assert "owner_id" not in table.c
            continue
        uniques = [one for one in table.constraints if isinstance(one, UniqueConstraint)]
        keys = [("the key", table.primary_key.columns), *((one.name, one.columns) for one in uniques)]
        keys += [(index.name, index.columns) for index in table.indexes if index.name not in BY_TIME]
        assert [(name, next(iter(columns)).name) for name, columns in keys] == [(name, "owner_id") for name, _ in keys]


def test_indexes_over_all_owners_are_not_unique_and_are_those_named() -> None:
    found = {
        index.name: index.unique
        for table in OWNED.values()
        for index in table.indexes
        if next(iter(index.columns)).name != "owner_id"
    }
    assert found == dict.fromkeys(BY_TIME, False)


def test_nothing_is_left_to_the_database_to_make_up() -> None:
    """No sequence, default, trigger, foreign key, or generated column: ids and times are the client's."""
    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    for table in schema.metadata.sorted_tables:
        made: list[DDLElement] = [CreateTable(table), *(CreateIndex(index) for index in table.indexes)]
        text = " ".join(str(one.compile(dialect=dialect)) for one in made).upper()
        assert not re.findall(r"\b(SERIAL|SEQUENCE|IDENTITY|GENERATED|DEFAULT|REFERENCES|TRIGGER|CHECK)\b", text)


# ------------------------------------------------------------------------------------------------------ the statements


@dataclass(frozen=True, kw_only=True, slots=True)
class Sent:
    """A statement that was sent: the store's method that was called, the owners' tables that no condition ties to an
    owner's id, and the ids that it names."""

    statement: Statement
    method: str | None
    loose: frozenset[str]
    owners: frozenset[str]
    tables: frozenset[str]

    @property
    def names_one_owner(self) -> bool:
        """Whether it stays with one owner, or touches no owner's table."""
        return not self.tables or (not self.loose and len(self.owners) == 1)


def all_looked_at(heard: Sequence[Statement]) -> list[Sent]:
    """What the statements that were sent are about. What one of a text is tied to is found out once."""
    known: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
    return [looked_at(one, known) for one in heard]


def looked_at(statement: Statement, known: dict[str, tuple[frozenset[str], frozenset[str]]]) -> Sent:
    """What a statement that was sent is about."""
    called = (name.rpartition(".")[2] for name in statement.through)
    method = next((name for name in called if hasattr(SqlStore, name) and not name.startswith("_")), None)
    if not hasattr(statement.compiled, "statement"):
        tables = frozenset(n for n in OWNED if re.search(rf"\b(FROM|INTO|UPDATE|JOIN) {n}\b", statement.text))
        return Sent(statement=statement, method=method, loose=tables, owners=frozenset(), tables=tables)
    values = {v for row in statement.values for v in row.values() if isinstance(v, str)}
    if statement.text not in known:
        known[statement.text] = tied(statement.compiled.statement)
    tables, loose = known[statement.text]
    owners = frozenset(value for value in values if re.fullmatch("[0-9a-f]{32}", value))
    return Sent(statement=statement, method=method, loose=loose, owners=owners, tables=tables)


def tied(statement: Any) -> tuple[frozenset[str], frozenset[str]]:
    """The owners' tables in a statement, and those of them that are not tied to an owner's id, by an equation of their
    own or of a table that theirs is equal to."""
    named: dict[FromClause, str] = {}
    equal: list[tuple[FromClause, FromClause]] = []
    known: set[FromClause] = set()
    for element in visitors.iterate(statement):
        origin = getattr(element, "element", element)
        if isinstance(element, FromClause) and isinstance(origin, Table) and origin.name in OWNED:
            named[element] = origin.name
        if isinstance(element, BinaryExpression) and element.operator is eq:
            sides = [owner_of(element.left), owner_of(element.right)]
            if sides[0] is not None and sides[1] is not None:
                equal.append((sides[0], sides[1]))
            elif isinstance(element.right, BindParameter) and sides[0] is not None:
                known.add(sides[0])
    for target in (getattr(statement, "table", None),):
        if isinstance(target, Table) and target.name in OWNED:
            named[target] = target.name
            if statement.is_insert and statement.select is None:
                known.add(target)  # each row names its owner: the key demands it
    for _ in equal:
        for one, other in equal:
            if {one, other} & known:
                known |= {one, other}
    return frozenset(named.values()), frozenset(name for one, name in named.items() if one not in known)


def refused_by_citus(statement: Any) -> tuple[str, ...]:
    """What Citus does not run in a statement, by its own restrictions: each by a few words."""
    found = []
    rows = [*getattr(statement, "_multi_values", ()), getattr(statement, "_values", None) or {}]
    if getattr(statement, "is_insert", False) and statement.select is None and any(_selects(row) for row in rows):
        found.append("a subquery within the values of an insert")
    target = getattr(statement, "table", None)
    is_update = getattr(statement, "is_update", False)
    if is_update and isinstance(target, Table) and "owner_id" in {_name(key) for key in statement._values or ()}:
        found.append("a new value of the owner's id")
    if getattr(statement, "_for_update_arg", None) is not None and tied(statement)[1]:
        found.append("rows held of more than one owner")
    return tuple(found)


def _name(key: Any) -> str:
    return str(getattr(key, "key", key))


def _selects(element: Any) -> bool:
    """Whether a statement stands anywhere in some values."""
    if isinstance(element, Mapping):
        return any(_selects(one) for one in element.values())
    if isinstance(element, list | tuple):
        return any(_selects(one) for one in element)
    return isinstance(element, ClauseElement) and any(isinstance(one, SelectBase) for one in visitors.iterate(element))


def owner_of(side: ColumnElement[Any]) -> FromClause | None:
    return getattr(side, "table", None) if getattr(side, "name", None) == "owner_id" else None


def live_a_long_life(opened: Opener, place: Place, clock: Clock, tmp_path: Path) -> None:
    """Everything that a store can be asked, in the order of a life."""
    memory = opened()
    fill_every_table(memory, clock)
    mine, store = memory.of("alice"), store_of(memory)
    mine.understand_anew()
    ask_what_only_systems_ask(store, memory)
    memory.rebuild()
    memory.nonce_key()
    memory.stats()
    memory.outdated()
    memory.census()
    memory.find_owners("a")
    mine.stats()
    memory.check(deep=True)
    memory.repair()
    memory.work()
    memory.calls(NOW)
    memory.call_sums(NOW, by=[*CallsBy], owner=mine.owner, most=3)
    memory.call_sums(NOW)
    memory.work_state(limit=1)
    memory.reindex()
    store.all_keys()
    store.key("k1")
    store.revoke_key("k1", NOW)
    memory.grant("team", user="bob")
    memory.space("team").add("The deploy happens every Friday.")
    memory.of("bob", shares=["team"]).recall("deploy")
    memory.grants("team")
    memory.revoke("team", user="bob")
    mine.recall("Where do I live?")
    mine.timeline()
    mine.timeline(["2026-01-01", NOW], person="alice", attribute="lives_in", words=["live"], thread="main")
    mine.learn([{"text": home, "attribute": "lives_in", "valid_from": "2020-05-03"} for home in ("Lyon", "Nantes")])
    assert mine.conflicts() == mine.conflicts(as_of=clock())
    mine.undo(mine.undo(mine.changes()[-1].no))
    hook = mine.add_webhook("https://example.com/", since="0.0")  # of no host that there is
    assert store.has_webhooks()
    for error in (None, "no answer"):
        mine.replay_webhook(hook.id)
        claimed = store.claim_delivery(clock(), 60.0)
        assert claimed is not None
        if error is None:
            mine.replay_webhook(hook.id, "0.0")
            store.delivered(claimed, clock())
        else:
            store.undelivered(claimed, error, clock(), None)
    mine.remove_webhook(hook.id)
    for _ in range(2):
        mine.pin(mine.facts()[0].id, mine.facts()[0].pinned, key="as it is")
    mine.history(mine.facts()[0].id)
    mine.change(1)
    mine.fact(mine.facts()[0].id)
    mine.utterance(mine.utterances()[0].id)
    mine.add_document(
        "# Lease\n\nThe rent is due on the third.", source="lease", metadata={"kind": "contract"}, key="l"
    )
    mine.add_document("# Lease\n\nThe rent is due on the fourth.", source="lease", metadata={"kind": "contract"})
    mine.passages(mine.documents(source="lease", under="l")[0].id)
    mine.add_document("A short note.", source="note", original={"a": 1})
    originals_of_source(mine, "note")
    remove_document(mine, "note")
    mine.add_document("# Lease", source="ends", original={"a": 1}, expires_at="2030-01-01")
    mine.add_document("# Lease", source="ends", original={"a": 1}, expires_at="2031-01-01")
    mine.originals(["d0"], thread="main", last=1)
    mine.originals(["d0"])
    with (tmp_path / "out.jsonl").open("wb") as file:
        export(store, memory.owners(), file, vectors=True, now=NOW)
    receipt = mine.forget_pages([mine.pages()[-1].id])
    mine.add("And again.", at="2026-05-03T10:00:00Z")
    mine.settle()
    assert mine.verify(receipt).found == ()
    store.remember_copy(tmp_path / "no such copy.db")
    store.remember_backup(memory.backup(tmp_path / "backed up.db", as_file=True))
    memory.copies(look=True)
    memory.leaving(limit=1)
    memory.last_backup_at()
    memory.disk_usage()
    memory.forget_user("nobody", dry_run=True)
    memory.stats(estimated=True)
    on_one_server = not store._database.has_parts
    assert memory.scrub() is on_one_server
    assert store.scrub_due() is not on_one_server
    memory.renew_forgotten_key()
    memory.of("bob").forget_owner()
    memory.of("bob").add("Hello again.", at=NOW, key="again")
    memory.of("bob").forget_owner()
    assert memory.of("bob").readmit() > 0
    with (tmp_path / "out.jsonl").open("rb") as file:
        import_owners(store, file, HashedNgrams(), clock, leave_out=True)
    copy_store(place(), place("copy.db"), load(**SMALL), NOW, lambda progress: None)


def ask_what_only_systems_ask(store: SqlStore, memory: Memory) -> None:
    mine = memory.of("alice")
    owner, now = mine.owner, memory.now()
    call = Call(
        id="c9", owner_id=owner.id, at=NOW, purpose=Purpose.CHAT, model="m", prompt_tokens=1, completion_tokens=1,
        cached_tokens=0, ms=1, outcome="ok",
    )  # fmt: skip
    with pytest.raises(BudgetSpent):
        store.begin_call(owner, call, Limits(calls=0, tokens=None, owner_calls=None, owner_tokens=None))
    store.calls(NOW, owner.id)
    lease = store.claim(owner.id, "test", now, 60)
    assert lease is not None
    store.renew(lease, now, 60)
    pages = [page.id for page in mine.pages()][:2]
    store.postpone(lease, pages, "no", now)
    store.postpone_redo(lease, pages, "", now + timedelta(seconds=1), tried=False)
    store.release(lease, due_at=now, error=None)
    segment = mine.segments()[0]
    store.unread_pages(owner.id, 1, open_too=False, now=now, quiet_s=5.0, limit=5)
    store.pending_pages(owner.id, 1, now, 5)
    store.newest_pages(owner.id, segment.id, 5)
    store.unanalysed_pages(owner.id, segment.id)
    store.pages_to_redo(owner.id, segment.id, now, 5)
    store.page_vectors(owner.id, segment.id)
    store.backlog(owner.id, 1, now=now, vectors_of="hashed", redo=True, retry_after=now, quiet_s=5.0)
    mine.pages(tier="pending")
    store.pages(owner.id, 1, segment=segment.id, after=1)
    store.pages_said_before(owner.id, now)
    store.all_pages(owner.id)
    store.speakers(owner.id)
    store.chains(owner.id, ids=[chain.id for chain in mine.chains()])
    store.facts(owner.id, FactSelection(resting_on=frozenset([1, 2, 3])))
    store.changes(owner.id, kinds=())
    store.visit(owner.id, {ItemId(segment.id): 1}, now)
    store.pages_by_id(owner.id, [PageId(pages[0])])
    store.due(now, 5)
    store.replica_lag_s()
    for as_of, valid_at in ((now, None), (None, NOW), (now, NOW)):
        mine.segments(as_of=as_of, valid_at=valid_at)
        mine.chains(as_of=as_of, valid_at=valid_at)
        mine.persona(as_of=as_of, valid_at=valid_at)
        mine.facts(as_of=as_of, valid_at=valid_at)
        mine.page(mine.pages(limit=1, as_of=now)[0].id, as_of=now)
    mine.fact(mine.facts()[0].id, as_of=now)
    mine.diff(mine.changes()[-1].recorded_at)
    mine.changes(since=NOW)
    store.segment_timeline(owner.id)
    mine.segments(scope=Scope(threads=["main"]), as_of=now)
    store.segment_texts(owner.id, {SegmentId(segment.id): segment.change_no})
    store.persona_then(owner.id, Moment(revision=1))
    fact = mine.facts()[0]
    mine.why(fact.id)
    mine.retention()
    mine.fade(dry_run=True)
    mine.expire(fact_id=fact.id, at=now + timedelta(days=1))
    mine.expire(page_id=pages[0], at=now + timedelta(days=1))
    store.facts(owner.id, FactSelection(superseded_by=frozenset([fact.id])))


def test_every_statement_is_named_can_be_explained_and_names_one_owner_but_for_those_named_here(
    opened: Opener, place: Place, clock: Clock, tmp_path: Path
) -> None:
    with sent() as heard:
        live_a_long_life(opened, place, clock, tmp_path)
    _check_owners(heard)
    assert {one.name for one in heard} <= names()
    store, engine = store_of(opened()), "postgresql" if "://" in str(place()) else "sqlite"
    heard = [one for one in heard if one.engine == engine]  # a copy of any store is a file
    asked = {
        (one.name, one.text): one
        for one in heard
        if re.match("SELECT|INSERT|UPDATE|DELETE", one.text) and one.compiled is not None
    }
    plans = {key: store.explain(one.text, one.parameters) for key, one in asked.items()}
    assert {name for name, _ in plans} >= {one.name for one in heard if one.text.startswith("SELECT")}
    assert all(plan for (_, text), plan in plans.items() if text.startswith("SELECT"))
    if engine == "sqlite":  # which takes an owner to have few utterances, and reads all of them where none says better
        read_all = {name for (name, text), plan in plans.items() if _OF_PAGES.search(text) and _ALL_SAID in plan}
        assert read_all == {"spans._talked_of"}  # which looks for what was said in segments
    if citus.URL and str(place()).startswith(citus.URL.rpartition("/")[0]):  # a statement of one owner asks one node
        of_one = {(one.statement.name, one.statement.text) for one in all_looked_at(heard) if one.names_one_owner}
        tasks = {key: _TASKS.findall(plan) for key, plan in plans.items() if key in of_one}
        assert {key: found for key, found in tasks.items() if set(found) - {"1"}} == {}


_TASKS = re.compile(r"Task Count: (\d+)")
_OF_PAGES = re.compile(r"\b(page|utterance)\.page_id = (page|utterance)\.page_id|\butterance\.page_id (=|IN)")
_ALL_SAID = "SEARCH utterance USING PRIMARY KEY (owner_id=?)"


def _check_owners(heard: Sequence[Statement]) -> None:
    looked = all_looked_at(heard)
    loose = {one.statement.name: one.statement for one in looked if not one.names_one_owner}
    assert {name: loose[name].text for name in loose.keys() - WHOLE.keys()} == {}
    assert sorted(WHOLE.keys() - loose.keys()) == []  # what names one owner by now leaves the list
    put = {one.text: one for one in heard if hasattr(one.compiled, "statement")}.values()
    refused = {one.name: found for one in put if (found := refused_by_citus(one.compiled.statement))}
    assert refused == {}
    asked = {one.method for one in looked}
    public = {name for name in dir(SqlStore) if not name.startswith("_")}
    none = {
        "alone_with",  # which locks by a statement of others
        "close",
        "disk_usage",
        "explain",
        "in_memory",
        "index_files",
        "protocols",
        "replica_lag_s",
        "scrub_due",
        "wipe",
    }
    some = {"disk_usage", "replica_lag_s", "scrub_due", "wipe"}  # ask one engine, or all but Citus
    assert sorted((public - asked) | some) == sorted(none & public)


def test_the_lint_finds_what_it_is_for() -> None:
    cases: list[tuple[str, Sequence[str]]] = [
        ("one owner", ()),
        ("none", ("page",)),
        ("one of two", ("segment",)),
        ("joined", ()),
        ("an update of all", ("owner",)),
        ("a subquery of all", ("utterance",)),
        ("a value out of all", ("page",)),
    ]
    for statement, loose in cases:
        from sqlalchemy import exists, select, update

        page, segment, owner, said = schema.page, schema.segment, schema.owner, schema.utterance
        mine = page.c.owner_id == "a" * 32
        made: dict[str, Any] = {
            "one owner": select(page).where(mine),
            "none": select(page).where(page.c.no > 3),
            "one of two": select(page).join(segment, segment.c.segment_id == page.c.segment_id).where(mine),
            "joined": select(page).join(segment, segment.c.owner_id == page.c.owner_id).where(mine),
            "an update of all": update(owner).values(due_at=0),
            "a value out of all": update(owner)
            .where(owner.c.owner_id == "a" * 32)
            .values(error=select(page.c.error).limit(1).scalar_subquery()),
            "a subquery of all": select(page).where(mine, exists().where(said.c.page_id == page.c.page_id)),
        }
        assert tied(made[statement])[1] == frozenset(loose)


def test_the_lint_finds_what_citus_refuses() -> None:
    cases: list[tuple[str, Sequence[str]]] = [
        ("an insert of values", ()),
        ("an insert of rows", ()),
        ("a value out of a setting", ("a subquery within the values of an insert",)),
        ("a value that depends on a setting", ("a subquery within the values of an insert",)),
        ("an insert of what is selected", ()),
        ("an update", ()),
        ("an update of the key", ("a new value of the owner's id",)),
        ("one owner held", ()),
        ("a setting held", ()),
        ("all owners held", ("rows held of more than one owner",)),
    ]
    for statement, refused in cases:
        from sqlalchemy import case, insert, select, update

        owner, call, receipt = schema.owner, schema.call, schema.receipt
        born = select(schema.store.c.value).where(schema.store.c.key == "born_after").scalar_subquery()
        mine = call.c.owner_id == "a" * 32
        row = {"owner_id": "a" * 32, "user": "ann"}
        made: dict[str, Any] = {
            "an insert of values": insert(owner).values(**row),
            "an insert of rows": insert(owner).values([row, row]),
            "a value out of a setting": insert(owner).values(**row, created_at=born),
            "a value that depends on a setting": postgresql.insert(owner)
            .values(**row, created_at=case((born > "1", 1), else_=2))
            .on_conflict_do_nothing(),
            "an insert of what is selected": insert(receipt).from_select(["owner_id"], select(owner.c.owner_id)),
            "an update": update(call).where(mine).values(outcome="ok"),
            "an update of the key": update(call).where(mine).values(owner_id="a" * 32, outcome="ok"),
            "one owner held": select(owner.c.seq).where(owner.c.owner_id == "a" * 32).with_for_update(),
            "a setting held": select(schema.store.c.value).where(schema.store.c.key == "limits").with_for_update(),
            "all owners held": select(owner.c.owner_id).order_by(owner.c.owner_id).with_for_update(),
        }
        assert refused_by_citus(made[statement]) == tuple(refused)
