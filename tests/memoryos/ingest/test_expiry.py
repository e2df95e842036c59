"""Expiry: from its moment on no read shows what has expired, and a worker takes it away."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from embermem import Memory, OwnerMemory
from embermem.core.changes import Cause
from embermem.core.errors import InputError, NotFound
from forgotten import found_by, holds
from scripted import NOW, Clock, Opener, Place

HOUR = 3600.0
FILLER = ("I like green tea.", "It rained all day.", "The train was late again.", "We walked around the lake.")
WORDS = ("zyxglorp", "Quuxville")


def told(alice: OwnerMemory) -> str:
    """A page that expires in an hour, between others; its id. Nothing is understood yet."""
    alice.add(FILLER[0], "I see.")
    page = alice.add("I live in Quuxville, near the zyxglorp.", "The zyxglorp!", expires_at=timedelta(hours=1))
    for line in FILLER[1:]:
        alice.add(line, "I see.")
    return page


def everything(alice: OwnerMemory) -> str:
    """All that the plain reads tell."""
    return repr(
        (
            alice.pages(),
            alice.utterances(),
            alice.segments(),
            alice.segments(archived=True),
            alice.chains(),
            alice.persona(),
            alice.facts(),
            alice.facts(archived=True),
            alice.past_facts(),
            alice.traits(),
        )
    )


def test_what_has_expired_is_hidden_from_every_read_though_no_worker_ran(opened: Opener, clock: Clock) -> None:
    for understood in (False, True):
        clock.now = NOW
        alice = opened(f"{understood}.db").of("alice")
        page = told(alice)
        if understood:
            alice.settle()
            assert any("Quuxville" in fact.text for fact in alice.facts())
        utterance = alice.page(page).utterances[0].id
        facts = [fact.id for fact in alice.facts() if "Quuxville" in fact.text]
        queries = ("Where do I live?", "zyxglorp", "What about the train?")
        assert "zyxglorp" in found_by(alice, *queries)
        assert "zyxglorp" in everything(alice)
        clock.go(HOUR - 1)
        assert "zyxglorp" in found_by(alice, *queries)
        clock.go(1)
        for text in (found_by(alice, *queries), everything(alice)):
            assert not [word for word in WORDS if word in text]
        assert "train" in found_by(alice, *queries)
        assert "zyxglorp" not in alice.recall("zyxglorp", preset="paper", thread="main").text
        with pytest.raises(NotFound):
            alice.page(page)
        with pytest.raises(NotFound):
            alice.utterance(utterance)
        for fact_id in facts:
            with pytest.raises(NotFound):
                alice.fact(fact_id)
        assert len(alice.pages()) == len(FILLER)
        assert [p.query for p in alice.pages(limit=4)] == list(FILLER)
        assert [u.text for u in alice.utterances(limit=4)] == [FILLER[0], "I see.", FILLER[1], "I see."]


def test_a_worker_forgets_it_for_good(opened: Opener, place: Place, clock: Clock) -> None:
    for by in ("settle", "work"):
        clock.now = NOW
        memory = opened(f"{by}.db")
        alice = memory.of("alice")
        told(alice)
        memory.work()
        state = alice.state()
        assert state is not None
        assert state.due_at is not None
        assert state.due_at <= clock.now + timedelta(hours=1)
        clock.go(HOUR)
        alice.settle() if by == "settle" else memory.work()
        assert alice.changes(cause=Cause.FORGETTING)
        assert holds(place(f"{by}.db"), *WORDS) == []
        assert len(alice.pages()) == len(FILLER)
        assert all(one.same for one in memory.rebuild())


def test_many_pages_that_expire_together_are_forgotten_in_one_change_and_their_words_teach_again(
    opened: Opener, clock: Clock
) -> None:
    alice = opened().of("alice")
    for n in range(6):
        alice.add(f"It is {n} o'clock.", "I see.", expires_at=NOW + timedelta(hours=1))
    alice.settle()
    clock.go(HOUR)
    alice.settle()
    assert alice.pages() == ()
    assert len(alice.changes(cause=Cause.FORGETTING)) == 1

    alice = opened().of("alice", "2")
    told(alice)
    alice.settle()
    clock.go(HOUR)
    alice.settle()
    assert not any("Quuxville" in fact.text for fact in alice.facts())
    alice.add("I live in Quuxville, near the zyxglorp.", "The zyxglorp!")
    for line in FILLER:
        alice.add(line, "I see.")
    alice.settle()
    assert any("Quuxville" in fact.text for fact in alice.facts())


def test_a_page_keeps_the_earliest_expiry_and_what_is_said_after_it_begins_another(
    opened: Opener, clock: Clock
) -> None:
    alice = opened().of("alice")
    page = alice.add("Hello", expires_at="2027-01-01T00:00:00+02:00")
    for more in (date(2028, 1, 1), None, "2027-06-01"):
        alice.add_messages([{"role": "assistant", "content": "Hi"}], expires_at=more)
        assert alice.page(page).expires_at is not None
        assert str(alice.page(page).expires_at) == "2027-01-01 00:00:00+02:00"
    alice.add_messages([{"role": "assistant", "content": "Hi"}], expires_at=timedelta(days=3))
    assert alice.page(page).expires_at == NOW + timedelta(days=3)

    alice = opened().of("alice", "2")
    gone = alice.add("Hello", expires_at=timedelta(hours=1))
    clock.go(2 * HOUR)
    added = alice.add_messages([{"role": "assistant", "content": "I am back."}])
    assert added.page_ids != (gone,)
    assert alice.page(added.page_ids[0]).expires_at is None


def test_an_expiry_that_is_over_or_names_not_one_thing_is_refused_and_nothing_is_stored(opened: Opener) -> None:
    for over in ("2020-01-01", timedelta(0), timedelta(seconds=-1), NOW):
        alice = opened().of("alice")
        with pytest.raises(InputError, match="in the past"):
            alice.add("Hello", expires_at=over)
        with pytest.raises(InputError):
            alice.add("Hello", expires_at="tomorrow")
        with pytest.raises(InputError):
            alice.add("Hello", expires_at=timedelta.max)
        assert alice.pages() == ()

    alice = opened().of("alice")
    with pytest.raises(InputError, match="exactly one"):
        alice.expire(at=None)
    with pytest.raises(InputError, match="exactly one"):
        alice.expire(fact_id="f1-000", page_id="p", at=None)
    with pytest.raises(NotFound):
        alice.expire(fact_id="f1-000", at=timedelta(days=1))


def test_a_pages_expiry_is_set_and_taken_back_later(opened: Opener, clock: Clock) -> None:
    memory = opened()
    alice = memory.of("alice")
    page = alice.add("The zyxglorp orchestra plays.", "I see.")
    alice.recall("zyxglorp")
    alice.expire(page_id=page, at=timedelta(hours=1))
    assert alice.page(page).expires_at == NOW + timedelta(hours=1)
    clock.go(2 * HOUR)
    assert "zyxglorp" not in alice.recall("zyxglorp").text.replace("query", "")
    alice_again = alice
    other = alice.add("The purple heron.", "I see.")
    alice.expire(page_id=other, at=timedelta(hours=1))
    alice_again.expire(page_id=other, at=None)
    memory.work()
    clock.go(2 * HOUR)
    memory.work()
    assert [p.id for p in alice.pages()] == [other]
    assert all(one.same for one in memory.rebuild())
    with pytest.raises(NotFound):
        alice.expire(page_id="p-none", at=None)


def living(opened: Opener, agent: str = "default") -> tuple[Memory, OwnerMemory, str]:
    memory = opened()
    alice = memory.of("alice", agent)
    alice.add("I live in Lyon.", "Nice.")
    for line in FILLER:
        alice.add(line, "I see.")
    alice.settle()
    return memory, alice, next(fact.id for fact in alice.facts() if "Lyon" in fact.text)


def test_a_fact_holds_until_it_expires_and_then_stands_among_the_past(opened: Opener, clock: Clock) -> None:
    memory, alice, home = living(opened)
    assert any(line.value == "Lyon" for line in alice.profile())
    alice.expire(fact_id=home, at=timedelta(hours=1))
    ends = NOW + timedelta(hours=1)
    assert alice.fact(home).expires_at == ends
    clock.go(HOUR)
    assert home not in {fact.id for fact in alice.facts()}
    context = alice.recall("Where do I live?")
    assert home not in {fact.id for fact in (*context.facts, *context.persona.facts)}
    assert not any(line.value == "Lyon" for line in (*alice.profile(), *context.persona.profile))
    assert "I live in Lyon." in context.text  # it was said, and stays said
    memory.work()
    past = next(fact for fact in alice.past_facts() if fact.id == home)
    assert past.valid_to == ends
    assert not any(line.value == "Lyon" for line in alice.profile())
    assert [change.cause for change in alice.history(home)][-2:] == [Cause.EXPIRY, Cause.EXPIRY]
    assert all(one.same for one in memory.rebuild())
    assert home in {fact.id for fact in alice.facts(valid_at=ends - timedelta(minutes=1))}
    assert home not in {fact.id for fact in alice.facts(valid_at=ends + timedelta(minutes=1))}
    with pytest.raises(InputError, match="no longer current"):
        alice.expire(fact_id=home, at=None)


def test_a_facts_expiry_is_taken_back_or_its_end_undone(opened: Opener, clock: Clock) -> None:
    memory, alice, home = living(opened)
    alice.expire(fact_id=home, at=timedelta(hours=1))
    alice.expire(fact_id=home, at=None)
    clock.go(2 * HOUR)
    memory.work()
    assert home in {fact.id for fact in alice.facts()}
    before = len(alice.changes())
    alice.expire(fact_id=home, at=None)
    assert len(alice.changes()) == before

    memory, alice, home = living(opened, "other")
    alice.expire(fact_id=home, at=timedelta(hours=1))
    clock.go(HOUR)
    memory.work()
    alice.undo(alice.changes(cause=Cause.EXPIRY)[-1].no)
    memory.work()
    assert home in {fact.id for fact in alice.facts()}
    assert alice.fact(home).expires_at is None
    assert any(line.value == "Lyon" for line in alice.profile())


def test_another_process_sees_that_it_expires(opened: Opener, clock: Clock) -> None:
    one, other = opened(), opened()
    alice, again = one.of("alice"), other.of("alice")
    page = alice.add("The zyxglorp orchestra plays.", "I see.")
    assert again.search("zyxglorp")
    alice.expire(page_id=page, at=timedelta(hours=1))
    clock.go(HOUR)
    assert again.search("zyxglorp") == ()
    assert again.recall("orchestra").hits == ()


def test_an_open_page_that_expired_is_not_told_in_its_thread(opened: Opener, clock: Clock) -> None:
    for preset in ("default", "paper"):
        clock.now = NOW
        alice = opened().of("alice", preset)
        alice.add("The heron stood there.", "I see.", thread="t")
        alice.add("The zyxglorp plays.", thread="t", expires_at=timedelta(hours=1))
        assert "zyxglorp" in alice.recall("What now?", thread="t", preset=preset).text
        clock.go(HOUR)
        context = alice.recall("What now?", thread="t", preset=preset)
        assert "zyxglorp" not in context.text
        assert "heron" in context.text
