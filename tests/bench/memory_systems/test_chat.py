"""Chat on every system: what the model is shown, what is stored, and what is not if the reply does not come."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from embermem import Memory
from embermem.chat import ChatStream
from embermem.core.errors import InputError, ModelError, ModelMissing, ModelReplyError
from embermem.testing.model_server import ModelServer
from embermem_bench.scripted import systems as scripts
from embermem_bench.systems import SYSTEMS, OwnerSystem, SystemMemory
from memory_systems.conftest import SystemOpener
from proofs import bounded
from scripted import Clock

REPLY = "Lyon, since spring."
OTHERS = sorted(set(SYSTEMS) - {"memgpt"})
"""Those that answer by one question to the model; MemGPT answers by its functions (test_memgpt_agent.py)."""
SOME = bounded(("amem", "mem0", "memgpt", "memoryos"), proofs=sorted(SYSTEMS))


@pytest.fixture
def model_server(model_server: ModelServer) -> ModelServer:
    """A server that replies to a user always the same, and answers each system's questions by rule."""

    def answer(request: Any) -> Any:
        made = scripts.answer(request)
        if isinstance(made, dict) and made.get("function") == "send_message":
            return {**made, "content": REPLY}
        return REPLY if isinstance(made, str) else made

    model_server.reply_with(answer)
    return model_server


def begun(system_opened: SystemOpener, name: str) -> tuple[SystemMemory, OwnerSystem]:
    """Alice, who told of a move and settled it, and is asked once and not again."""
    memory = system_opened(name, scripted=True, model_retries=0, model_breaker_failures=1000)
    alice = memory.of("alice")
    alice.add("I moved to Lyon.", "How is it there?", at="2026-04-02T10:00:00+00:00", thread="s1")
    alice.settle()
    return memory, alice


def said(memory: SystemMemory, alice: OwnerSystem) -> list[list[str]]:
    """The texts of each page."""
    return [[u.text for u in page.utterances] for page in memory.store.pages(alice.owner.id, 7)]


@pytest.mark.parametrize("name", bounded((*SOME, "readagent", "tim"), proofs=sorted(SYSTEMS)))
def test_query_and_reply_are_one_page_when_it_was_read_and_a_model_that_fails_loses_no_message(
    system_opened: SystemOpener, model_server: ModelServer, name: str
) -> None:
    memory, alice = begun(system_opened, name)
    reply = alice.chat("Where do I live now?", thread="s2", at="2026-05-02T10:00:00+00:00")
    assert reply.text == REPLY
    assert "I moved to Lyon." in " ".join(hit.utterance.text for hit in reply.context.hits)
    assert said(memory, alice) == [["I moved to Lyon.", "How is it there?"], ["Where do I live now?", REPLY]]
    (page,) = memory.store.pages_by_id(alice.owner.id, [reply.page_id], 7)
    assert {(u.role.value, u.speaker, u.thread) for u in page.utterances} == {
        ("user", "alice", "s2"),
        ("assistant", "assistant", "s2"),
    }
    alice.settle()
    assert alice.settle() == 0
    assert any(hit.utterance.seq in (3, 4) for hit in alice.recall("Lyon, since spring").hits)
    if name not in SOME:
        return
    broken_off = alice.chat("Where do I live?", thread="s3", stream=True)
    next(broken_off)
    broken_off.close()
    assert said(memory, alice)[2:] == [["Where do I live?"]]
    stream = alice.chat("And since when?", thread="s3", stream=True)
    assert isinstance(stream, ChatStream)
    assert "".join(stream) == REPLY
    assert stream.reply is not None
    assert stream.reply.text == REPLY
    assert said(memory, alice)[2:] == [["Where do I live?", "And since when?", REPLY]]
    model_server.fail_always("http_500")
    with pytest.raises(ModelError):
        alice.chat("Where do I live?", thread="s4")
    assert said(memory, alice)[3:] == [["Where do I live?"]]
    model_server.recover()
    assert alice.chat("Where?", thread="s4").text == REPLY
    assert said(memory, alice)[3:] == [["Where do I live?", "Where?", REPLY]]


def test_the_model_is_shown_the_recalled_memory_the_turns_of_the_thread_and_the_query_once(
    system_opened: SystemOpener, model_server: ModelServer
) -> None:
    for name in bounded(("mem0", "readagent"), proofs=OTHERS):
        _, alice = begun(system_opened, name)
        at = "2026-05-02T10:00:00+00:00"
        alice.chat("Good morning.", thread="s2", at=at)
        reply = alice.chat("Where do I live now?", thread="s2", at=at, system="You are a parrot.", style="loud")
        shown = model_server.requests[-1]["messages"]
        assert shown[0]["content"].startswith("You are a parrot.")
        assert "Style of your replies: loud" in shown[0]["content"]
        assert [m["content"] for m in shown[1:-1]] == ["Good morning.", REPLY]
        assert shown[-1]["content"].startswith("Now: 2026-05-02 (Sat) 10:00")
        assert shown[-1]["content"].endswith("Where do I live now?")
        assert "".join(m["content"] for m in shown).count("Where do I live now?") == 1
        assert reply.context.text
        first = reply.context.text.splitlines()[0]
        assert first in shown[-1]["content"]


def test_what_cannot_be_answered_is_refused_before_it_is_stored(system_opened: SystemOpener) -> None:
    for name in bounded(("tim", "memgpt"), proofs=sorted(SYSTEMS)):
        memory = system_opened(name)
        with pytest.raises(ModelMissing, match="EMBERMEM_MODEL"):
            memory.of("alice").chat("Where do I live?")
        assert memory.owners() == ()
        memory.close()
        alice = system_opened(name, scripted=True).of("alice")
        with pytest.raises(InputError, match="query is empty"):
            alice.chat(" \n")
        with pytest.raises(InputError, match="budget"):
            alice.chat("Where?", budget=0)
        assert alice.recall("Where?").hits == ()


def test_an_empty_reply_is_not_stored_and_one_counts_as_a_recall_of_what_it_was_made_with(
    system_opened: SystemOpener, model_server: ModelServer
) -> None:
    memory, alice = begun(system_opened, "amem")
    alice.chat("Where do I live now?", thread="s2")
    system = memory.system
    counts = [note.retrieval_count for note in system.notes(alice.owner)]  # type: ignore[attr-defined]
    assert counts == [1, 1]

    other, alice = begun(system_opened, "tim")
    model_server.reply_with(lambda _: "  ")
    with pytest.raises(ModelReplyError, match="empty"):
        alice.chat("Where do I live?", thread="s2")
    assert said(other, alice)[1:] == [["Where do I live?"]]


def test_no_line_of_memory_is_lost_and_what_stands_in_the_turns_is_not_told_again(
    system_opened: SystemOpener, model_server: ModelServer
) -> None:
    for name in ["full_context", "amem"]:
        alice = system_opened(name, scripted=True).of("alice")
        alice.add("My shopping list:", "What is on it:", at="2026-04-02T10:00:00+00:00", thread="s1")
        alice.settle()
        alice.chat("Bread and figs.", thread="s2", at="2026-05-02T10:00:00+00:00")
        alice.settle()
        alice.chat("What was on my shopping list?", thread="s2", at="2026-05-02T10:01:00+00:00")
        *turns, last = [m["content"] for m in model_server.requests[-1]["messages"][1:]]
        assert turns == ["Bread and figs.", REPLY]
        memory = last.splitlines()
        assert any(line.startswith("2026-04-02") and "alice: My shopping list:" in line for line in memory)
        if name == "full_context":
            assert not any("Bread and figs." in line for line in memory)


def test_memoryos_is_asked_the_same_by_both_faces(
    system_opened: SystemOpener, model_server: ModelServer, tmp_path: Path, clock: Clock
) -> None:
    begun(system_opened, "memoryos")[0].close()
    shutil.copy(tmp_path / "memoryos.db", tmp_path / "copy.db")
    asked: dict[str, Any] = {"query": "Where do I live now?", "thread": "s1", "system": "You are a parrot."}
    given: dict[str, Any] = {"model": "scripted", "model_url": model_server.url, "model_key": "none", "clock": clock}
    system_opened("memoryos", scripted=True).of("alice").chat(**asked)
    with Memory(tmp_path / "copy.db", embedder="hashed", background=False, **given) as other:
        other.of("alice").chat(**asked)
    first, second = (
        [re.sub(r"(?<=ember-memory )[^>]+", "…", m["content"]) for m in request["messages"]]
        for request in model_server.requests[-2:]
    )
    assert first == second
    assert "alice lives in Lyon" in first[-1]
