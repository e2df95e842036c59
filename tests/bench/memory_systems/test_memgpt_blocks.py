"""MemGPT's memory blocks: limits, who wrote them, and blocks that several agents of one user share."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embermem import Scope
from embermem.core.errors import InputError, ModelError
from embermem.testing.model_server import ModelServer
from embermem_bench.scripted import systems as scripts
from embermem_bench.systems import OwnerSystem, SystemMemory
from embermem_bench.systems.memgpt.blocks import Block, Edit, Refused, edited
from embermem_bench.systems.memgpt.kept import Line
from embermem_bench.systems.memgpt.system import MemGpt
from embermem_bench.systems.records import RecordId
from memory_systems.conftest import SystemOpener
from proofs import bounded
from scripted import NOW

AT = "2026-04-02T10:00:00+00:00"


def system_of(memory: SystemMemory) -> MemGpt:
    return cast("MemGpt", memory.system)


def block(memory: SystemMemory, owner: OwnerSystem, label: str = "family") -> Block:
    return next(block for block in system_of(memory).blocks(owner.owner) if block.label == label)


def lines_of(memory: SystemMemory, owner: OwnerSystem, label: str = "family") -> list[str]:
    return block(memory, owner, label).text.splitlines()


def notes(request: Mapping[str, Any]) -> dict[str, Any]:
    """Writes what was said last into `family`, as long as the block has none of it and there was no error."""
    *_, last = scripts.shown(request).splitlines()
    if not last.startswith("said "):
        return {"function": "send_message"}
    said = last.partition(": ")[2]
    return {"function": "core_memory_append", "label": "family", "content": said, "heartbeat": True}


# ------------------------------------------------------------------------------------------------------------- edits


def made(*texts: str, limit: int = 100) -> Block:
    lines = [
        Line(id=RecordId(f"r{n}"), text=text, at=NOW, sources=(n,), label="human") for n, text in enumerate(texts, 1)
    ]
    return Block(label="human", limit=limit, lines=tuple(lines))


def edit(content: str, old_content: str = "", **given: Any) -> Edit:
    return Edit(id=RecordId("new"), content=content, old_content=old_content, at=NOW, sources=(9,), **given)


@given(st.lists(st.text("ab ", min_size=1, max_size=9), max_size=5), st.text("ab", max_size=9), st.text("ab"))
def test_no_edit_passes_the_limit_and_a_refused_one_changes_nothing(texts: list[str], content: str, old: str) -> None:
    before = made(*texts, limit=20)
    text = before.text
    try:
        after = edited(before, edit(content or "x", old))
    except Refused:
        assert before.text == text
    else:
        assert len(after.text) <= max(20, len(text))
        assert {s for line in before.lines for s in line.sources if line in after.lines} <= {
            s for line in after.lines for s in line.sources
        }


def test_edits_replace_one_place_write_nothing_twice_and_may_shrink_a_block() -> None:
    before = made("likes tea", "drinks tea at noon")
    with pytest.raises(Refused, match="2 times"):
        edited(before, edit("coffee", "tea"))
    after = edited(before, edit("coffee", "tea at noon"))
    assert [(line.text, line.sources) for line in after.lines] == [("likes tea", (1,)), ("drinks coffee", (2, 9))]

    again = edited(made("likes tea", "owns a boat"), edit("likes tea"))
    assert [(line.text, line.sources) for line in again.lines] == [("likes tea", (1, 9)), ("owns a boat", (2,))]
    home = edited(made(), edit("lives in Lyon", key="user.lives_in"))
    moved = edited(home, edit("lives in Nantes", key="user.lives_in"))
    assert moved.text == "lives in Nantes"

    over = replace(made("a" * 50, "b" * 50), limit=60)
    assert len(edited(over, edit("c", "b" * 50)).text) == 52
    with pytest.raises(Refused, match="60 characters"):
        edited(over, edit("c"))


def test_a_caller_writes_a_block_within_its_limit(system_opened: SystemOpener) -> None:
    memory = system_opened("memgpt", "one.db", options={"block_chars": 30})
    alice = memory.of("alice")
    system_of(memory).set_block(alice.owner, "persona", "A patient tutor.\n\n Of French.\u202e")
    with pytest.raises(InputError, match="too long"):
        system_of(memory).set_block(alice.owner, "persona", "x" * 31)
    with pytest.raises(InputError, match="no memory block 'family'"):
        system_of(memory).set_block(alice.owner, "family", "x")
    assert lines_of(memory, alice, "persona") == ["A patient tutor.", "Of French."]
    again = system_opened("memgpt", "one.db", options={"block_chars": 30})
    assert lines_of(again, again.of("alice"), "persona") == ["A patient tutor.", "Of French."]
    assert "persona: Of French." in again.of("alice").recall("Who are you?").text


# ------------------------------------------------------------------------------------------------------------ sharing


def shared(memory: SystemMemory, agent: str, user: str = "alice") -> OwnerSystem:
    """An agent's memory with the block `household` attached as `family`."""
    owner = memory.of(user, agent=agent)
    system_of(memory).attach(owner.owner, "family", "household")
    return owner


def test_agents_of_one_user_share_a_block_which_no_other_user_and_no_scope_meets(
    system_opened: SystemOpener, model_server: ModelServer
) -> None:
    model_server.reply_with(notes)
    memory = system_opened("memgpt", scripted=True)
    tutor, coach, bob = shared(memory, "tutor"), shared(memory, "coach"), shared(memory, "tutor", user="bob")
    alone = memory.of("alice", agent="alone")
    tutor.add("Ana is my sister.", at=AT)
    tutor.settle()
    assert lines_of(memory, coach) == lines_of(memory, tutor) == ["Ana is my sister."]
    assert lines_of(memory, bob) == []
    assert [block.label for block in system_of(memory).blocks(alone.owner)] == ["human", "persona"]
    coach.add("I run.", at=AT)
    coach.settle()
    first = next(scripts.shown(r) for r in model_server.requests if "I run." in scripts.shown(r))
    assert "family (17 of 2000 characters, shared)\n  Ana is my sister." in first
    assert "family: I run." in tutor.recall("Who is Ana?").text
    assert "Ana" not in bob.recall("Who is Ana?").text + alone.recall("Who is Ana?").text

    model_server.reply_with(notes)
    memory = system_opened("memgpt", "two.db", scripted=True)
    tutor, coach = shared(memory, "tutor"), shared(memory, "coach")
    coach.add("I run.", at=AT)
    coach.settle()
    tutor.add("Hello.", at=AT)
    assert "I run." in tutor.recall("?").text
    assert "I run." not in tutor.recall("?", scope=Scope(before_seq=2)).text


def test_two_agents_that_write_at_once_lose_nothing(system_opened: SystemOpener, model_server: ModelServer) -> None:
    model_server.reply_with(notes)
    agents = [shared(system_opened("memgpt", "one.db", scripted=True), agent) for agent in ("tutor", "coach", "cook")]
    start = threading.Barrier(len(agents))
    failed: list[BaseException] = []

    def work(owner: OwnerSystem, mine: int) -> None:
        start.wait()
        try:
            for number in range(bounded(3, proofs=6)):
                owner.add(f"Fact {number} of agent {mine}.", at=AT)
                owner.settle()
        except BaseException as error:  # noqa: BLE001 - told by the main thread
            failed.append(error)

    threads = [threading.Thread(target=work, args=(owner, number)) for number, owner in enumerate(agents)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    memory = system_opened("memgpt", "one.db")
    lines = lines_of(memory, memory.of("alice", agent="cook"))
    assert sorted(lines) == sorted(
        f"Fact {number} of agent {mine}." for number in range(bounded(3, proofs=6)) for mine in range(3)
    )


def test_an_edit_that_another_overtook_is_made_on_what_it_wrote_or_decided_anew(
    system_opened: SystemOpener, model_server: ModelServer
) -> None:
    memory, other = (system_opened("memgpt", "one.db", scripted=True) for _ in range(2))
    tutor, coach = shared(memory, "tutor"), shared(other, "coach")
    tutor.add("Ana is my sister.", at=AT)
    coach.add("I run.", at=AT)

    def overtaken(request: Mapping[str, Any]) -> dict[str, Any]:
        if scripts.shown(request).endswith("Ana is my sister."):
            coach.settle()  # while the tutor's model is still thinking
        return notes(request)

    model_server.reply_with(overtaken)
    tutor.settle()
    assert lines_of(memory, tutor) == ["I run.", "Ana is my sister."]

    options = {"block_chars": 20}
    memory, other = (system_opened("memgpt", "full.db", scripted=True, options=options) for _ in range(2))
    tutor, coach = shared(memory, "tutor"), shared(other, "coach")
    tutor.add("Ana is my sister.", at=AT)
    coach.add("I run.", at=AT)

    def refused(request: Mapping[str, Any]) -> dict[str, Any]:
        if scripts.shown(request).endswith("Ana is my sister."):
            coach.settle()
        return notes(request)

    model_server.reply_with(refused)
    tutor.settle()
    assert lines_of(memory, tutor) == ["I run."]
    seen = scripts.shown(model_server.requests[-1])
    assert seen.splitlines()[-1].startswith("result error: family would have 24 of 20 characters")

    memory, other = (system_opened("memgpt", "twice.db", scripted=True) for _ in range(2))
    tutor = shared(memory, "tutor")
    tutor.add("Ana is my sister.", at=AT)
    again = threading.Event()

    def repeated(request: Mapping[str, Any]) -> dict[str, Any]:
        call = notes(request)
        if not again.is_set():
            again.set()
            other.of("alice", agent="tutor").settle()
            return {**call, "content": "Alice's sister is Ana."}  # this worker's model has other words for it
        return call

    model_server.reply_with(repeated)
    tutor.settle()
    assert lines_of(memory, tutor) == ["Ana is my sister."]


def test_a_page_is_worked_in_once_where_it_was_cut_off_or_the_model_failed(
    system_opened: SystemOpener, model_server: ModelServer
) -> None:
    model_server.reply_with(notes)
    memory = system_opened("memgpt", scripted=True)
    tutor = shared(memory, "tutor")
    tutor.add("Ana is my sister.", at=AT)
    system = system_of(memory)
    system.learn(tutor.owner, system.pages(tutor.owner))  # as if the process had died before the page's own write
    assert lines_of(memory, tutor) == ["Ana is my sister."]
    assert tutor.settle() == 1
    assert lines_of(memory, tutor) == ["Ana is my sister."]
    assert "these messages were worked into family before" in scripts.shown(model_server.requests[-1])
    tutor.add("Ana bakes.", at=AT)
    tutor.settle()
    assert lines_of(memory, tutor) == ["Ana is my sister.", "Ana bakes."]

    model_server.reply_with(notes)
    memory = system_opened("memgpt", "two.db", scripted=True, model_retries=0)
    tutor = shared(memory, "tutor")
    tutor.add("Ana is my sister.", at=AT)
    model_server.fail_next("http_500", after=1)
    with pytest.raises(ModelError):
        tutor.settle()
    assert lines_of(memory, tutor) == []
    tutor.settle()
    assert lines_of(memory, tutor) == ["Ana is my sister."]


def test_an_agent_that_was_forgotten_and_begins_again_may_write_again(
    system_opened: SystemOpener, model_server: ModelServer
) -> None:
    model_server.reply_with(notes)
    memory = system_opened("memgpt", scripted=True)
    tutor, coach = shared(memory, "tutor"), shared(memory, "coach")
    tutor.add("Ana is my sister.", at=AT)
    tutor.settle()
    tutor.forget_owner()
    assert lines_of(memory, coach) == ["Ana is my sister."]
    assert [block.label for block in system_of(memory).blocks(tutor.owner)] == ["human", "persona"]
    tutor = shared(memory, "tutor")
    tutor.add("Ana bakes.", at=AT)
    tutor.settle()
    assert lines_of(memory, coach) == ["Ana is my sister.", "Ana bakes."]
    memory.of("alice", agent="block:household").forget_owner()
    assert lines_of(memory, coach) == lines_of(memory, tutor) == []


def test_a_block_has_one_label_of_an_agent_that_can_be_and_hides_its_own_until_it_is_detached(
    system_opened: SystemOpener, tmp_path: Path
) -> None:
    for label, name in [("Family", "x"), ("", "x"), ("a b", "x"), ("family", " ")]:
        memory = system_opened("memgpt")
        with pytest.raises(InputError):
            system_of(memory).attach(memory.of("alice").owner, label, name)
        assert memory.owners() == ()

    memory = system_opened("memgpt", "two.db")
    tutor, system = shared(memory, "tutor"), system_of(memory)
    with pytest.raises(InputError, match="attached as 'family' already"):
        system.attach(tutor.owner, "home", "household")
    system.attach(tutor.owner, "family", "household")
    system.detach(tutor.owner, "family")
    system.attach(tutor.owner, "home", "household")
    assert [block.label for block in system.blocks(tutor.owner)] == ["human", "persona", "home"]

    memory = system_opened("memgpt", "three.db")
    alice, system = memory.of("alice"), system_of(memory)
    system.set_block(alice.owner, "human", "mine")
    system.attach(alice.owner, "human", "household")
    system.set_block(alice.owner, "human", "ours")
    assert lines_of(memory, alice, "human") == ["ours"]
    alice.add("I live in Lyon.", "Good.", at=AT)
    alice.settle()  # without a model extracted facts go there too
    assert lines_of(memory, alice, "human")[0] == "ours"
    assert "Lyon" in block(memory, alice, "human").text
    system.detach(alice.owner, "human")
    assert lines_of(memory, alice, "human") == ["mine"]
