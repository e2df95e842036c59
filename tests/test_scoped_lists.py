"""What a scope lets lists show, and what is forgotten by it: what the scope says of each utterance, and what rests on
those alone."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from embermem import OwnerMemory, Scope
from embermem.core.errors import InputError
from embermem.core.types import Page, Tier
from embermem.store.sql import SqlStore
from forgotten import holds
from proofs import bounded
from scripted import Clock, Opener, Place

DAYS = ("2026-03-01", "2026-03-02", "2026-03-03", "2026-03-04")
TOPICS = ("I live in {}.", "My sister {} is a nurse.", "I like {}.", "I saw a heron in {} and it rained all day.")
NAMES = ("Lyon", "Ana", "figs", "Oslo", "Bern", "Mia")


def talk(mine: OwnerMemory) -> None:
    """Twenty exchanges over some threads, days and labels, understood."""
    chance = random.Random(5)
    for number in range(20):
        text = TOPICS[number % 4].format(NAMES[number % 6])
        labels = {"desk": chance.choice("abc"), "n": number, "tags": chance.sample(["x", "y"], chance.randint(0, 2))}
        own = {} if number % 5 == 0 else labels
        said = [
            {"role": "user", "content": text, "metadata": own},
            {"role": "assistant", "content": f"I see, {number}.", "metadata": {} if number % 7 == 0 else own},
        ]
        mine.add_messages(said, thread=f"t{number % 3}", at=f"{DAYS[number % 4]}T10:{number:02}:00+00:00", fresh=True)
    mine.settle()


names = some.sampled_from(["desk", "n", "tags", "none"])
values = some.sampled_from(["a", "b", "x", 3, 11, True])
metadata = some.dictionaries(
    names,
    some.one_of(
        values,
        some.fixed_dictionaries({"$gte": some.integers(0, 20)}),
        some.fixed_dictionaries({"$in": some.lists(values, max_size=3)}),
        some.fixed_dictionaries({"$ne": values}),
        some.fixed_dictionaries({"$exists": some.booleans()}),
    ),
    min_size=1,
    max_size=2,
)
scopes = some.fixed_dictionaries(
    {},
    optional={
        "threads": some.lists(some.sampled_from(["t0", "t1", "t2", "t9"]), min_size=1, max_size=2),
        "not_threads": some.lists(some.sampled_from(["t0", "t1"]), max_size=2),
        "metadata": some.one_of(metadata, some.fixed_dictionaries({"$not": metadata})),
        "speakers": some.lists(some.sampled_from(["alice", "assistant", "bob"]), min_size=1, max_size=2),
        "tiers": some.lists(some.sampled_from(list(Tier)), min_size=1, max_size=2),
        "since": some.sampled_from(DAYS[:3]),
        "until": some.just(DAYS[-2]),
        "before_seq": some.integers(0, 40),
    },
)


def rests(items: Sequence[Any], seqs: set[int], *, unsourced: bool) -> list[Any]:
    return [one for one in items if (all(s.seq in seqs for s in one.sources) if one.sources else unsourced)]


def ids(items: Sequence[Any]) -> list[str]:
    return [one.id for one in items]


def test_lists_show_what_the_scope_admits_and_what_rests_on_it_alone(opened: Opener) -> None:
    memory = opened()
    alice, bob = memory.of("alice"), memory.of("bob")
    talk(alice)
    talk(bob)
    alice.learn([{"text": "sings", "metadata": {"desk": "a"}}])
    pages, facts, past = alice.pages(), alice.facts(), alice.past_facts()
    made: list[tuple[Any, Any]] = [(alice.segments, alice.segments()), (alice.chains, alice.chains())]

    @settings(max_examples=bounded(6, proofs=300), deadline=None, database=None)
    @given(scopes)
    def shown(given_scope: dict[str, Any]) -> None:
        scope = Scope(**given_scope)
        every = sorted(((one, page) for page in pages for one in page.utterances), key=lambda pair: pair[0].seq)
        wanted = [one for one, page in every if scope.admits(one, page.tier)]
        seqs = {one.seq for one in wanted}
        assert list(alice.utterances(scope=scope)) == wanted
        found = alice.pages(scope=scope)
        assert sorted(one.seq for page in found for one in page.utterances) == sorted(seqs)
        assert in_parts(alice, scope) == list(found)
        whole = {page.id for page in pages if all(one.seq in seqs for one in page.utterances)}
        assert ids(alice.facts(scope=scope)) == ids(rests(facts, seqs, unsourced=not scope.needs_sources))
        for read, all_of in made:
            inside = [one for one in rests(all_of, seqs, unsourced=True) if whole.issuperset(one.page_ids)]
            assert ids(read(scope=scope)) == ids(inside)
        assert {*ids(alice.past_facts(scope=scope))} <= {*ids(rests(past, seqs, unsourced=False))}

    shown()


def in_parts(mine: OwnerMemory, scope: Scope) -> list[Page]:
    """The pages of a scope, three at a time from the newest."""
    found: list[Page] = []
    while part := mine.pages(limit=3, before=found[0].no if found else None, scope=scope):
        found = [*part, *found]
    return found


@pytest.fixture
def alice(opened: Opener) -> OwnerMemory:
    mine = opened().of("alice")
    mine.add("I live in Lyon.", "Good.", thread="a", metadata={"desk": "a"}, at="2026-03-01T10:00:00Z")
    mine.add("Now I live in Oslo.", "Good.", thread="b", metadata={"desk": "b"}, at="2026-03-03T10:00:00Z")
    mine.add("I like figs.", "Good.", thread="b", metadata={"desk": "b"})
    mine.settle()
    return mine


def test_a_fact_that_ended_by_what_is_out_of_scope_is_not_shown(alice: OwnerMemory) -> None:
    (ended,) = alice.past_facts()
    assert (ended.value, ended.superseded_by) == ("Lyon", alice.facts()[0].id)
    assert alice.past_facts(scope=Scope(threads=["a"])) == ()
    assert [one.value for one in alice.past_facts(scope=Scope(threads=["a", "b"]))] == ["Lyon"]
    assert alice.facts(valid_at="2026-03-02", scope=Scope(threads=["a"])) == ()
    assert [one.value for one in alice.facts(valid_at="2026-03-02", scope=Scope(threads=["a", "b"]))] == ["Lyon"]


def test_kinds_say_what_is_shown_and_not_what_it_may_rest_on(alice: OwnerMemory) -> None:
    facts = Scope(kinds=["fact"], threads=["b"])
    assert [one.value for one in alice.facts(scope=facts)] == ["Oslo", "figs"]
    assert [*alice.pages(scope=facts), *alice.utterances(scope=facts), *alice.segments(scope=facts)] == []
    said = Scope(kinds=["message"], threads=["b"])
    assert (len(alice.pages(scope=said)), alice.facts(scope=said)) == (2, ())
    assert alice.pages(scope=Scope(kinds=["document"])) == ()


def test_people_are_what_they_said_and_what_facts_about_them_rest_on(opened: Opener) -> None:
    mine = opened().of("alice")
    for name, text in (("Caroline", "My sister Ana is a nurse."), ("Mel", "I like figs."), ("Mel", "Hello there.")):
        mine.add_messages([{"role": "user", "name": name, "content": text}], thread=text)
    mine.settle()
    said = {name: [one.text for one in mine.utterances(scope=Scope(people=[name]))] for name in ("Mel", "Ana", "Bo")}
    assert said == {"Mel": ["I like figs.", "Hello there."], "Ana": ["My sister Ana is a nurse."], "Bo": []}
    assert [one.value for one in mine.facts(scope=Scope(people=["Mel"]))] == ["figs"]


def test_a_scope_may_name_very_many_people(opened: Opener) -> None:
    mine, names = opened().of("group"), [f"Person{number}" for number in range(1_100)]
    mine.add_messages([{"role": "user", "name": name, "content": "I like tea."} for name in names])
    scope = Scope(people=names)
    pages = mine.pages(scope=scope)
    assert sum(len(page.utterances) for page in pages) == len(mine.utterances(scope=scope)) == len(names)


def test_a_past_moment_and_a_scope_go_together(opened: Opener, clock: Clock) -> None:
    mine = opened().of("alice")
    mine.add("I live in Lyon.", metadata={"desk": "a"}, thread="a")
    mine.settle()
    then = clock()
    clock.go(86_400)
    mine.add("I like figs.", metadata={"desk": "a"}, thread="b")
    mine.settle()
    scope = Scope(metadata={"desk": "a"}, tiers=["short"])
    assert len(mine.pages(scope=scope, as_of=then)) == 1
    assert [one.value for one in mine.facts(scope=scope, as_of=then)] == ["Lyon"]


# ---------------------------------------------------------------------------------------------------------- forgetting


def test_forgetting_by_a_scope_removes_its_pages_and_no_byte_is_left(opened: Opener, place: Place) -> None:
    mine = opened().of("alice")
    mine.add("I live in Quuxville.", "Good.", metadata={"case": "zyxglorp"})
    mine.add("I like figs.", "Good.", metadata={"case": "T-2"}, thread="b")
    mine.settle()
    scope = Scope(metadata={"case": "zyxglorp"})
    dry = mine.forget(scope=scope, dry_run=True)
    assert (dry.dry_run, len(dry.pages), len(mine.pages())) == (True, 1, 2)
    gone = mine.forget(scope=scope)
    assert (gone.pages, gone.facts) == (dry.pages, dry.facts)
    assert mine.verify(gone).ok
    assert [page.query for page in mine.pages()] == ["I like figs."]
    assert holds(place(), "zyxglorp", "Quuxville") == []
    assert mine.forget(scope=scope).pages == ()


def test_documents_are_listed_and_forgotten_by_their_metadata(alice: OwnerMemory, place: Place) -> None:
    alice.add_document("# Rent\n\nThe rent of Quuxville is 700.", title="Lease", metadata={"kind": "zyxglorp"})
    scope = Scope(metadata={"kind": "zyxglorp"}, kinds=["document"])
    assert ["700" in one.text for one in alice.utterances(scope=scope)] == [True]
    assert alice.utterances(scope=Scope(metadata={"kind": "zyxglorp"}, kinds=["message"])) == ()
    assert len(alice.forget(scope=scope).pages) == 1
    assert alice.documents() == ()
    assert holds(place(), "zyxglorp", "Quuxville") == []


def test_a_scope_of_parts_of_pages_or_of_all_forgets_nothing(alice: OwnerMemory) -> None:
    cases: list[tuple[Scope, str]] = [
        (Scope(), "scope leaves nothing out"),
        (Scope(speakers=["alice"]), "only a part of 3 pages is in scope"),
        (Scope(kinds=["fact"]), "scope.kinds names no messages"),
    ]
    for scope, said in cases:
        with pytest.raises(InputError, match=said):
            alice.forget(scope=scope)
        with pytest.raises(InputError, match="exactly one"):
            alice.forget(scope=Scope(threads=["a"]), thread="a")
        assert len(alice.pages()) == 3


def test_what_joins_a_page_while_it_is_forgotten_by_a_scope_is_not_lost(
    opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice, other = opened().of("alice"), opened().of("alice")
    alice.add_messages([{"role": "user", "name": "Ana", "content": "I like figs."}])
    within, looked = SqlStore.pages_within, list[object]()

    def overtaken(self: SqlStore, *given: Any, **named: Any) -> Any:
        """The pages of a scope, one of which another answers once they are known."""
        found = within(self, *given, **named)
        if not looked:
            other.add_messages([{"role": "assistant", "name": "Bob", "content": "Bob keeps this."}])
        looked.append(found)
        return found

    monkeypatch.setattr(SqlStore, "pages_within", overtaken)
    with pytest.raises(InputError, match="only a part of 1 pages is in scope"):
        alice.forget(scope=Scope(speakers=["Ana"]))
    assert [one.text for one in alice.utterances()] == ["I like figs.", "Bob keeps this."]
