"""States that stores hold of one log: each is the fold of it, whoever wrote it, and whatever became of checkpoints."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from embermem import Memory, OwnerMemory
from embermem.core.errors import InputError, NotFound
from embermem.core.state import PersonaState, TopicState
from embermem.store import checkpoints
from embermem.store.engines.packed_text import PLAIN
from forgotten import holds
from lives import store_of
from proofs import bounded
from readings import assert_topics_of
from scripted import SMALL, Clock, Opener, Place
from soundness import looking, meddle, rows
from state_rows import all_topics, everything, log_of

LINES = (
    "I live in Lyon.",
    "I live in Laon. I like figs.",
    "I like figs. My sister Ana is a nurse.",
    "My sister Ana lives in Lyon.",
    "I work as a baker. Always answer in metric units.",
    "It rained all day.",
)


@pytest.fixture(scope="module", autouse=True)
def _edges_come_soon() -> Iterator[None]:
    """Checkpoints are written after few changes, into small parts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoints, "EVERY", 3)
        patch.setattr(checkpoints, "_PART", 8)
        yield


def newest(found: tuple[object, ...], n: int) -> str:
    """The id of one of some items."""
    if not found:
        raise NotFound("none")
    return str(found[n % len(found)].id)  # type: ignore[attr-defined]


def undo(mine: OwnerMemory, n: int) -> None:
    mine.undo(mine.changes()[-1 - n].no if n < len(mine.changes()) else 1)


def gone(mine: OwnerMemory, n: int) -> None:
    """Forgotten whole, and back under the name."""
    if n == 1:
        mine.forget_owner()
        mine.readmit()


def anew(mine: OwnerMemory, n: int) -> None:
    if n == 1:
        mine.understand_anew()


DONE: dict[str, Callable[[OwnerMemory, int], object]] = {
    "add": lambda mine, n: mine.add(LINES[n % len(LINES)], "I see.", thread=f"t{n % 2}"),
    "settle": lambda mine, n: mine.settle(),
    "learn": lambda mine, n: mine.learn([{"text": f"Likes {n}", "attribute": "likes", "value": f"fruit {n}"}]),
    "profile": lambda mine, n: mine.set_profile(name=f"Zoë {n}", birth_year=None if n % 2 else 1990 + n),
    "correct": lambda mine, n: mine.correct(newest(mine.facts(), n), f"likes dates {n}", value=f"dates {n}"),
    "retire": lambda mine, n: mine.retire(newest(mine.facts(), n)),
    "pin": lambda mine, n: mine.pin(newest(mine.facts(), n), pinned=n % 2 == 0),
    "undo": undo,
    "forget a fact": lambda mine, n: mine.forget(fact=newest(mine.facts(), n)),
    "forget a past fact": lambda mine, n: mine.forget(fact=newest(mine.past_facts(), n)),
    "forget a page": lambda mine, n: mine.forget(page=newest(mine.pages(), n)),
    "anew": anew,
    "forget all": gone,
}


def assert_folded(memory: Memory, file: str | Path) -> None:
    """What is held, and what is loaded anew, is what the log folds to."""
    store = store_of(memory)
    with looking(file) as look:
        owners = [row["owner_id"] for row in look("SELECT owner_id FROM owner")]
        logs = {one: log_of(look, one) for one in owners}
    for owner_id, log in logs.items():
        folded = everything(PersonaState(log)), all_topics(TopicState().extended(log))
        assert_topics_of(TopicState().extended(log), log)
        for _ in range(2):
            with store._read() as c:
                known = store._known(c, owner_id, topics=True)
                assert (everything(known.held.state), all_topics(known.topics)) == folded
            store._let_go(owner_id)


@settings(
    max_examples=bounded(8, proofs=250), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(
        st.tuples(st.sampled_from([*DONE, "add", "settle", "learn"]), st.integers(0, 5), st.integers(0, 2)),
        min_size=4,
        max_size=24,
    )
)
def test_what_a_store_holds_and_loads_is_the_fold_of_the_log(done: list[tuple[str, int, int]]) -> None:
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "memory.db"
        with Memory(file, clock=clock, **SMALL) as one, Memory(file, clock=clock, **SMALL) as other:
            for what, n, who in done:
                clock.go(60)
                mine = (one, other)[who % 2].of("alice")
                with suppress(NotFound, InputError):
                    DONE[what](mine, n)
                if who == 2:  # else the one holds what the other has moved on from
                    assert_folded(other, file)
            for memory in (one, other):
                assert_folded(memory, file)
            wrong = [finding for finding in one.check(deep=True) if finding.level == "error"]
            assert not wrong


@pytest.mark.parametrize("every", [3, 10**6])
def test_what_stood_before_memory_was_begun_anew_is_in_no_checkpoint_that_is_believed(
    every: int, opened: Opener, place: Place, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the checkpoint was brought up to date since or is of before that."""
    mine = (one := opened(short_term_pages=1)).of("alice")
    for n in range(9):
        clock.go(60)
        mine.add(f"I saw heron {n} by the lake.", "I see.", thread=f"t{n % 2}")
        mine.settle()
    monkeypatch.setattr(checkpoints, "EVERY", every)
    mine.understand_anew()
    for _ in range(2):
        assert_folded(one, place())
        assert [finding for finding in one.check(deep=True) if finding.level == "error"] == []
        mine.forget(page=mine.pages()[1].id)


def test_who_read_topics_before_the_first_change_reads_those_of_a_checkpoint(opened: Opener, place: Place) -> None:
    one, other = opened(short_term_pages=1), opened(short_term_pages=1)
    mine, held = one.of("alice"), other.of("alice")
    for n in range(9):
        mine.add(f"I saw heron {n} by the lake.", "I see.", thread=f"t{n % 2}")
    assert held.chains() == ()
    mine.settle()
    assert held.chains() == mine.chains() != ()
    assert_folded(other, place())


def test_what_is_not_committed_yet_is_held_for_nobody_else(opened: Opener, place: Place) -> None:
    mine = (one := opened(short_term_pages=1)).of("alice")
    mine.add("I saw a heron by the lake.", "I see.")
    mine.add("I bought a cello.", "How nice.")
    mine.settle()
    store, owner_id = store_of(one), mine.owner.id
    before = store.segment_timeline(owner_id).revision
    with store.alone_with(owner_id):
        for n in range(5):
            mine.add(f"I saw crane {n} by the lake.", "I see.", thread=f"t{n}")
        mine.settle()
        with ThreadPoolExecutor(1) as other:
            assert other.submit(lambda: len(mine.pages())).result() == 2
            assert other.submit(lambda: store.segment_timeline(owner_id)).result().revision == before
    assert len(mine.pages()) == 7
    assert_folded(one, place())


def told(mine: OwnerMemory, clock: Clock) -> str:
    """All that reads say of now, and as of the first change and the last."""
    moments = {change.recorded_at for change in mine.changes()[:: len(mine.changes()) - 1]}
    found: list[object] = [mine.changes(), mine.stats(), mine.timeline()]
    for at in (None, *sorted(moments)):
        then: dict[str, Any] = {"as_of": at}
        found += [mine.facts(**then), mine.past_facts(**then), mine.facts(archived=True, **then)]
        found += [mine.persona(**then), mine.people(**then), mine.profile(**then), mine.conflicts(**then)]
        context = mine.recall("Where do I live, and what do I like?", budget=4000, **then)
        found += [context.text, context.facts, context.persona, mine.segments(**then), mine.pages(**then)]
    found += [mine.overview(budget=4000).text, mine.find_facts(), mine.persona(valid_at=clock()), mine.instructions()]
    return repr(found)


@pytest.mark.engines
def test_what_one_process_forgot_another_that_held_it_never_returns(opened: Opener, place: Place, clock: Clock) -> None:
    one, other = opened(), opened()
    alice, held = one.of("alice"), other.of("alice")
    page = alice.add("My sister Ana lives in Quuxville. I like zyxglorp.", "I see.", thread="a")
    alice.add("I live in Lyon. I like figs.", "I see.", thread="b")
    clock.go(60)
    alice.settle()
    clock.go(60)
    (fact,) = alice.learn([{"text": "Alice works in Wrenfield", "attribute": "occupation", "value": "Wrenfield"}])
    clock.go(60)
    alice.correct(fact.id, "Alice works in Wrenfield Hall", value="Wrenfield Hall")
    clock.go(60)
    words = ("Quuxville", "zyxglorp", "Wrenfield", "Lyon")
    assert [word for word in words if word not in told(held, clock)] == []
    ended = [fact.id for fact in alice.facts() if "Wrenfield" in fact.text]
    for id_ in (*ended, fact.id):
        with suppress(NotFound):
            alice.forget(fact=id_)
    assert [word for word in words if word in told(held, clock)] == ["Quuxville", "zyxglorp", "Lyon"]
    held.forget(page=page)  # the other way round, by the one that learnt of it from the log
    for mine in (alice, held, opened().of("alice")):
        assert [word for word in words if word in told(mine, clock)] == ["Lyon"]
    one.scrub()
    assert holds(place(), *words[:3]) == []


DAMAGE = (
    f"UPDATE checkpoint_part SET changes = replace({PLAIN}(changes), 'Quuxville', 'Elsewhere')",
    "UPDATE checkpoint_part SET changes = CAST(x'ff5b5d' AS TEXT)",
    f"UPDATE checkpoint_part SET topics = replace({PLAIN}(topics), 'recorded', 'spans')",
    "DELETE FROM checkpoint_part",
    "UPDATE checkpoint SET no = no + 1",
    "UPDATE checkpoint SET digests = '{}'",
    "UPDATE checkpoint SET digests = CAST(x'ff5b5d' AS TEXT)",
    "DELETE FROM checkpoint",
)


def test_a_damaged_checkpoint_is_not_signed_anew_and_keeps_nothing_that_is_forgotten(
    tmp_path: Path, clock: Clock
) -> None:
    for n, damage in enumerate(DAMAGE):
        file = tmp_path / f"{n}.db"
        with Memory(file, clock=clock, **SMALL) as memory:
            alice, bob = memory.of("alice"), memory.of("bob")
            for mine in (alice, bob):
                mine.learn([{"text": "Lives in Quuxville", "attribute": "location", "value": "Quuxville"}])
                for day in range(4):
                    mine.set_profile(day=day)
            meddle(file, damage)
            for day in range(4):  # it would be brought up to date
                alice.set_profile(day=day)
            bob.forget(fact=bob.facts()[0].id)
            assert_folded(memory, file)
            kept = rows(file, "SELECT * FROM checkpoint_part WHERE owner_id = ?", bob.owner.id)
            assert "Quuxville" not in repr(kept), damage
            assert all(found.same for found in memory.rebuild())
            assert len(rows(file, "SELECT no FROM checkpoint")) == 2, "a rebuild makes it again"
            assert_folded(memory, file)
