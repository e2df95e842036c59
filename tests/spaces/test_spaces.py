"""Shared spaces: who may read and write them, how they are told beside one's own memory, and what forgetting does."""

from __future__ import annotations

import inspect
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest

from embermem import Memory, OwnerMemory
from embermem.aio import AsyncOwnerMemory
from embermem.chat import without
from embermem.core import messages
from embermem.core.errors import InputError, NotFound, NotGranted
from embermem.core.types import NO_USER, Context, Owner
from embermem.memoryos.recall.merging import divided
from embermem.owner_memory.sharing import SharedMemory
from scripted import Clock, Opener


@pytest.fixture
def team(memory: Memory) -> OwnerMemory:
    """A space in which two have spoken."""
    team = memory.space("team")
    team.add_messages(
        [
            {"role": "user", "name": "Ana", "content": "The deploy happens every Friday. I live in Lyon."},
            {"role": "user", "name": "Bob", "content": "The password of the printer hangs beside the door."},
        ]
    )
    team.settle()
    return team


@pytest.fixture
def bound(memory: Memory, team: OwnerMemory) -> OwnerMemory:
    """Alice, who may read it, and has a memory of her own."""
    memory.grant("team", user="alice")
    alice = memory.of("alice", shares=["team"])
    alice.add("I live in Paris. I deploy boats on Sundays.", "Good.")
    alice.settle()
    return alice


# ----------------------------------------------------------------------------------------------------- what it is


def test_a_space_is_an_owner_that_no_user_can_be(memory: Memory, team: OwnerMemory) -> None:
    assert team.owner == messages.space("team") == Owner(id=team.owner.id, user=NO_USER, agent="team")
    assert (team.owner.space, str(team.owner)) == ("team", "space team")
    with pytest.raises(InputError, match="not a name"):
        memory.of(NO_USER, "team")
    memory.of("team").add("I am a user of that name.")
    assert memory.spaces() == ("team",)
    assert memory.of("team").owner.id != team.owner.id
    assert memory.forget_user("team").keys() == {"default"}
    assert team.pages()


def test_a_name_of_any_writing_is_taken_but_none_that_could_be_taken_for_something_else(memory: Memory) -> None:
    cases: list[str] = ["", " ", "a b", "a/b", "a,b", "-a", ".a", "_a", "a:", "x" * 65, "a\n", "*"]
    for name in cases:
        with pytest.raises(InputError, match="is not a space's name"):
            memory.space(name)
        with pytest.raises(InputError, match="is not a space's name"):
            memory.of("alice", shares=[name])

    for name in ("手册", "équipe-2", "v1.2_final", "x" * 64):
        memory.space(name).add("One line.")
    assert memory.spaces() == tuple(sorted(("手册", "équipe-2", "v1.2_final", "x" * 64)))


def test_nobody_in_a_space_is_its_user(team: OwnerMemory) -> None:
    assert [fact.text for fact in team.facts(person="Ana")] == ["Ana lives in Lyon"]
    assert (team.profile(), team.instructions(), team.traits()) == ((), (), ())
    team.add("My name is Cara. I live in Rome. Always answer in metric units.")
    team.settle()
    assert (team.profile(), team.instructions()) == ((), ())


# ------------------------------------------------------------------------------------------------- who may read it


def test_without_a_grant_a_space_is_refused_whether_it_is_there_or_not(memory: Memory, team: OwnerMemory) -> None:
    told = []
    for name in ("team", "none"):
        with pytest.raises(NotGranted) as refused:
            memory.of("alice", shares=[name])
        told.append(str(refused.value).replace(name, "…"))
    assert told[0] == told[1]


def test_a_grant_is_of_a_user_of_one_agent_or_of_everybody(memory: Memory, team: OwnerMemory) -> None:
    memory.grant("team", user="alice", agent="tutor")
    assert memory.of("alice", "tutor", shares=["team"]).shared["team"].pages()
    for other in (("alice", "default"), ("bob", "tutor")):
        with pytest.raises(NotGranted):
            memory.of(*other, shares=["team"])
    memory.grant("team", user=None)
    assert memory.of("bob", "tutor", shares=["team"]).shared["team"].pages()
    with pytest.raises(InputError, match="without a user"):
        memory.grant("team", user=None, agent="tutor")


def test_a_grant_to_read_allows_no_write_and_none_to_write_outlives_or_forgets_the_space(
    bound: OwnerMemory, team: OwnerMemory, memory: Memory
) -> None:
    shared = bound.shared["team"]
    before = (team.state(), team.segments())
    with pytest.raises(NotGranted, match=r"may not be written to by alice/default.*write=True"):
        shared.add("I write here.")
    with pytest.raises(NotGranted):
        shared.visit(shared.search("deploy", 3))
    bound.visit(bound.recall("When is the deploy?"))
    assert (team.state(), team.segments()) == before

    memory.grant("team", user="alice", write=True)
    with pytest.raises(NotGranted, match="who runs the store"):
        bound.shared["team"].add_webhook("https://example.org/")

    memory.grant("team", user="alice", write=True)
    for name in ("forget_owner", "readmit"):
        with pytest.raises(NotGranted, match="who runs the store"):
            getattr(bound.shared["team"], name)()
        assert team.pages()


def test_who_may_write_adds_under_the_own_name_and_is_counted_as_a_visitor(memory: Memory, bound: OwnerMemory) -> None:
    memory.grant("team", user="alice", write=True)
    shared = bound.shared["team"]
    page = shared.page(shared.add("I like tea in the office.", "Noted."))
    assert [one.speaker for one in page.utterances] == ["alice", "assistant"]
    for n in range(9):
        shared.add(f"The deploy number {n} is on Friday.", "Noted.", thread=f"t{n}")
    shared.settle()
    visits = sum(one.visits for one in shared.segments())
    bound.visit(bound.recall("When is the deploy?"))
    assert sum(one.visits for one in shared.segments()) > visits
    assert bound.profile()[0].value == "Paris"


def test_watching_a_space_ends_with_the_grant(memory: Memory, bound: OwnerMemory, team: OwnerMemory) -> None:
    watching = bound.shared["team"].watch(0)
    assert next(watching).no == 1
    memory.revoke("team", user="alice")
    with pytest.raises(NotGranted):
        for _ in watching:
            pass


def test_a_grant_to_read_allows_what_only_reads_and_its_end_nothing(memory: Memory, bound: OwnerMemory) -> None:
    """As the async face declares it, whose calls that only read are dropped when nobody waits for them."""
    reads = {
        name
        for name, method in inspect.getmembers(AsyncOwnerMemory, inspect.isfunction)
        if inspect.getclosurevars(method).nonlocals.get("way") == "read"
    }
    reads = (reads | {"changes", "watch"}) - {"person_shares", "webhooks"}  # the first two wait, in forms of their own
    assert {"recall", "pages", "why"} < reads
    shared = bound.shared["team"]
    given = {"segment": None, "earlier": "2026-01-01", "change_no": 1, "no": 1}
    for name, method in inspect.getmembers(OwnerMemory, inspect.isfunction):
        if name.startswith("_"):
            continue
        needed: dict[str, Any] = {
            one.name: given.get(one.name, "x")
            for one in [*inspect.signature(method).parameters.values()][1:]
            if one.default is one.empty and one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
        }
        if name in reads:
            with suppress(InputError, NotFound, AttributeError):
                getattr(shared, name)(**needed)
        else:
            with pytest.raises(NotGranted):
                getattr(shared, name)(**needed)

    shared = bound.shared["team"]
    memory.revoke("team", user="alice")
    given = {"segment": None, "earlier": "2026-01-01", "change_no": 1, "no": 1}
    for name, method in inspect.getmembers(OwnerMemory, inspect.isfunction):
        if not name.startswith("_"):
            needed = {
                one.name: given.get(one.name, "x")
                for one in [*inspect.signature(method).parameters.values()][1:]
                if one.default is one.empty and one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
            }
            with pytest.raises(NotGranted):
                getattr(shared, name)(**needed)
    assert isinstance(shared, SharedMemory)


def test_grants_and_their_ends_can_be_read_with_their_times(memory: Memory, clock: Clock, team: OwnerMemory) -> None:
    began = clock.now
    first = memory.grant("team", user="alice")
    clock.go(60)
    assert memory.grant("team", user="alice") == first
    wider = memory.grant("team", user="alice", write=True)
    clock.go(60)
    (ended,) = memory.revoke("team", user="alice")
    assert (ended.id, ended.revoked_at) == (wider.id, clock.now)
    assert memory.grants("team") == ()
    times = [(one.write, one.granted_at, one.revoked_at) for one in memory.grants("team", past=True)]
    minute = timedelta(seconds=60)
    assert times == [(False, began, began + minute), (True, began + minute, began + 2 * minute)]
    with pytest.raises(NotFound):
        memory.revoke("team", user="alice")


def test_revoking_a_user_ends_all_of_theirs_and_not_what_everybody_has(memory: Memory, team: OwnerMemory) -> None:
    memory.grant("team", user="alice")
    memory.grant("team", user="alice", agent="tutor", write=True)
    memory.grant("team", user=None)
    assert len(memory.revoke("team", user="alice")) == 2
    assert memory.of("alice", shares=["team"]).shared["team"].pages()
    memory.revoke("team", user=None)
    with pytest.raises(NotGranted):
        memory.of("alice", shares=["team"])


@pytest.mark.engines
def test_a_revocation_ends_the_reads_of_a_handle_that_another_process_holds(opened: Opener) -> None:
    here, there = opened(), opened()
    here.space("team").add("The deploy happens every Friday.")
    here.grant("team", user="alice")
    alice = there.of("alice", shares=["team"])
    assert "Friday" in alice.recall("When is the deploy?").text
    here.revoke("team", user="alice")
    for read in (lambda: alice.recall("deploy"), lambda: alice.search("deploy"), alice.overview):
        with pytest.raises(NotGranted):
            read()
    with pytest.raises(NotGranted):
        alice.shared["team"].pages()
    assert there.of("alice").search("deploy") == ()


# -------------------------------------------------------------------------------------------------- how it is told


def test_a_context_says_which_lines_are_from_the_space_and_lists_tell_the_own_memory_alone(
    bound: OwnerMemory, team: OwnerMemory, memory: Memory
) -> None:
    context = bound.recall("When does the deploy happen?")
    own, theirs = context.text.split("\n\nshared memory of team:\n")
    assert "Paris" in own
    assert "Friday" not in own
    assert "#1 Ana: The deploy happens every Friday." in theirs
    assert "Paris" not in theirs
    assert {hit.space for hit in context.hits} == {None, "team"}
    assert [hit.rank for hit in context.hits] == list(range(1, len(context.hits) + 1))
    found = next(hit for hit in context.hits if hit.space == "team")
    assert "from the space team" in str(context.explain(found))
    assert [field.value for field in context.persona.profile] == ["Paris"]
    told = {one.id for page in team.pages() for one in page.utterances}
    assert {*context.shared["team"].rests_on} <= told
    assert not {*context.rests_on} & told
    assert {hit.space for hit in context.shared["team"].packed} == {"team"}

    left = without(context.text, {1, 2})
    assert "#1 alice" not in left
    assert "#1 Ana: The deploy happens every Friday." in left

    hits = bound.search("deploy", 2)
    assert [(hit.rank, hit.space) for hit in hits] == [(1, hits[0].space), (2, hits[1].space)]
    assert {hit.space for hit in hits} == {None, "team"}
    assert len(bound.search("deploy", 1)) == 1

    context = bound.recall("deploy", preset="paper", budget=1)
    assert "Friday" in context.text
    assert "Paris" in context.text

    assert [page.thread for page in bound.pages()] == ["main"]
    assert all("Friday" not in (one.query or "") for one in bound.pages())
    assert all("Ana" not in fact.text for fact in bound.facts())
    assert {one.name for one in bound.people()} == {"alice", "agent"}

    own, theirs = bound.overview().text.split("\n\nshared memory of team:\n")
    assert own.startswith("user: home Paris")
    assert "Lyon" not in own
    assert "Ana lives in Lyon" in theirs
    assert "Lyon" in bound.overview(person="Ana").text
    with pytest.raises(NotFound):
        bound.overview(person="Zoe")

    memory.space("alpha").add("The deploy needs two keys.")
    memory.grant("alpha", user="alice")
    texts = [memory.of("alice", shares=s).recall("the deploy").text for s in (["team", "alpha"], ["alpha", "team"])]
    assert texts[0] == texts[1]
    assert texts[0].index("shared memory of alpha:") < texts[0].index("shared memory of team:")


def test_a_handbook_of_documents_is_quoted_from_its_space(memory: Memory) -> None:
    handbook = memory.space("handbook")
    handbook.add_document("# Leave\n\nEverybody has thirty days of leave a year.", title="Handbook")
    memory.grant("handbook", user=None)
    alice = memory.of("alice", shares=["handbook"])
    alice.add("I asked about leave yesterday.")
    context = alice.recall("How many days of leave do I have?")
    told = context.text.split("shared memory of handbook:")[1]
    assert "thirty days" in told
    found = next(hit for hit in context.packed if hit.space == "handbook")
    assert found.passage is not None
    assert alice.shared["handbook"].documents()
    with pytest.raises(NotGranted):
        alice.shared["handbook"].add_document("More.", title="More")


def test_the_whole_text_stays_within_the_budget(memory: Memory, bound: OwnerMemory) -> None:
    memory.space("team").add_messages(
        [{"role": "user", "name": "Ana", "content": f"Deploy number {n} went to the harbour."} for n in range(30)]
    )
    for n in range(10):
        bound.add(f"I deploy boat {n} on Sunday.", "Good.")
    for budget in (1, 8, 20, 30, 40, 60, 100, 400):
        context = bound.recall("Where did the deploy go?", budget=budget)
        assert context.tokens <= budget
        assert bound.overview(budget).tokens <= budget
        if budget >= 100:
            assert context.shared["team"].packed
            assert any(hit.space is None for hit in context.packed)


def test_the_budget_is_divided_by_worth_and_no_part_gets_more_than_it_needs() -> None:
    cases: list[tuple[int, list[tuple[int, float]], list[int]]] = [
        (100, [(60, 1.0), (60, 1.0)], [50, 50]),
        (101, [(60, 1.0), (90, 1.0)], [51, 50]),
        (100, [(20, 1.0), (200, 1.0)], [20, 80]),
        (100, [(200, 3.0), (200, 1.0)], [75, 25]),
        (100, [(200, 0.0), (10, 1.0)], [90, 10]),
        (100, [(30, 0.0), (30, 0.0)], [30, 30]),
        (0, [(30, 1.0)], [0]),
    ]
    assert [(budget, parts, given) for budget, parts, given in cases if divided(budget, parts) != given] == []


# ---------------------------------------------------------------------------------------------------- what is forgotten


def test_what_is_forgotten_in_a_space_is_told_by_no_handle_in_any_process(opened: Opener) -> None:
    here, there = opened(), opened()
    team = here.space("team")
    page = team.add("The code of the safe is heron.")
    team.add("The deploy happens every Friday.")
    team.settle()
    here.grant("team", user="alice")
    handles = [memory.of("alice", shares=["team"]) for memory in (here, there)]
    assert all("heron" in handle.recall("What is the code of the safe?").text for handle in handles)
    team.forget(page=page)
    for handle in handles:
        told: list[Context | Any] = [handle.recall("code of the safe"), handle.overview(), handle.search("heron safe")]
        assert "heron" not in repr(told)


def test_forgetting_a_space_takes_its_grants_along(memory: Memory, bound: OwnerMemory, team: OwnerMemory) -> None:
    team.forget_owner()
    assert (memory.grants("team", past=True), memory.spaces()) == ((), ())
    with pytest.raises(NotGranted):
        bound.recall("deploy")
    memory.space("team").add("Begun anew.")
    with pytest.raises(NotGranted):
        bound.recall("deploy")


def test_forgetting_a_user_takes_the_grants_to_them_along_whether_they_spoke_or_not(
    memory: Memory, bound: OwnerMemory, team: OwnerMemory
) -> None:
    memory.grant("team", user="alice", agent="tutor")
    memory.grant("team", user="bob")
    memory.forget_user("alice")
    assert [one.user for one in memory.grants("team", past=True)] == ["bob"]
    memory.of("bob", "tutor").add("Hello.")
    memory.grant("team", user="bob", agent="tutor")
    memory.of("bob", "tutor").forget_owner()
    memory.grant("team", user="carl")
    memory.forget_user("carl")  # who never spoke
    assert [(one.user, one.agent) for one in memory.grants("team", past=True)] == [("bob", None)]


def test_the_store_is_sound_with_spaces_in_it(memory: Memory, bound: OwnerMemory) -> None:
    memory.grant("empty", user="alice")
    assert [found for found in memory.check(deep=True) if found.level != "ok"] == []
    assert all(found.same for found in memory.rebuild())
