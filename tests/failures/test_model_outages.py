"""What lasts longer than a request: a server that stays down, a spent budget, a process killed while it waits."""

from __future__ import annotations

import os
import signal
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from embermem import Memory, Tier
from embermem.core.errors import ModelError
from embermem.testing.model_server import ModelServer
from scripted import Clock
from soundness import assert_sound
from unwell import QUESTION, SAID, assert_no_failure_became_memory, opened, patience, picture, settled, talk


def test_after_its_tries_the_extractive_analyst_takes_over_and_the_model_reads_them_again_when_it_is_back(
    tmp_path: Path, server: ModelServer, well: dict[str, Any]
) -> None:
    clock, file = Clock(), tmp_path / "memory.db"
    with opened(file, server, clock, attempts=2) as memory:
        alice = memory.of("alice")
        talk(alice)
        server.fail_always("http_500")
        for _ in range(4):
            alice.settle()
            clock.go(7200.0)
        assert alice.stats().pending == 0
        assert "Nantes" in alice.recall(QUESTION).text
        assert analysts(alice) == {"extractive-v1"}
        server.recover()
        settled(alice, clock)
        alice.settle()
        assert all(name.startswith("model:") for name in analysts(alice))
        now = picture(alice)
        assert now["pages"] == well["pages"]
        assert {fact[:4] for fact in now["facts"]} >= {fact[:4] for fact in well["facts"]}
        assert now["profile"] == well["profile"]
    assert_no_failure_became_memory(file)
    assert_sound(file)


def analysts(alice: Any) -> set[str]:
    """Who reads the pages that are in segments now: the last note of each."""
    from embermem.core.changes import Noted, Placed

    last: dict[str, str] = {}
    placed: set[str] = set()
    for change in alice.changes():
        for decision in change.decisions:
            if isinstance(decision, Noted):
                last[decision.page_id] = decision.analyst
            elif isinstance(decision, Placed):
                placed.add(decision.page_id)
    return {last[page] for page in placed}


def test_a_server_that_is_down_is_left_alone_and_pages_wait_for_it(
    tmp_path: Path, server: ModelServer, well: dict[str, Any]
) -> None:
    clock, file = Clock(), tmp_path / "memory.db"
    with opened(file, server, clock, model_breaker_failures=2, model_breaker_s=600.0, attempts=3) as memory:
        alice = memory.of("alice")
        talk(alice)
        server.fail_always("http_503")
        for _ in range(6):
            memory.work()
            clock.go(60.0)
        asked = server.calls
        memory.work()
        assert server.calls == asked, "the breaker is open: nobody is asked"
        assert alice.stats().pending > 0
        assert "Nantes" in alice.recall(QUESTION).text
        server.recover()
        clock.go(7200.0)
        settled(alice, clock)
        assert picture(alice) == well
    assert_no_failure_became_memory(file)


def test_who_settles_is_not_held_up_by_a_server_that_is_down(
    tmp_path: Path, server: ModelServer, well: dict[str, Any]
) -> None:
    clock, file = Clock(), tmp_path / "memory.db"
    with opened(file, server, clock, model_breaker_failures=2, model_breaker_s=600.0) as memory:
        alice = memory.of("alice")
        talk(alice)
        server.fail_always("http_503")
        assert alice.settle() == 14
        assert server.calls == 2, "then the server is left alone, and extraction reads all pages"
        assert alice.stats().pending == 0
        assert analysts(alice) == {"extractive-v1"}
        assert None not in {page.error for page in alice.pages(Tier.MID)}
        server.recover()
        clock.go(3600.0)
        settled(alice, clock)
        assert all(name.startswith("model:") for name in analysts(alice))
        now = picture(alice)
        assert now["pages"] == well["pages"]
        assert {fact[:4] for fact in now["facts"]} >= {fact[:4] for fact in well["facts"]}
    assert_no_failure_became_memory(file)
    assert_sound(file)


def test_a_spent_budget_lets_work_wait_for_the_next_day_and_recall_go_on(
    tmp_path: Path, server: ModelServer, well: dict[str, Any]
) -> None:
    clock, file = Clock(), tmp_path / "memory.db"
    with opened(file, server, clock, calls_per_day=2) as memory:
        alice = memory.of("alice")
        talk(alice)
        for _ in range(3):
            alice.settle()
            clock.go(600.0)
        assert server.calls == 2
        assert alice.stats().pending > 0
        assert "Nantes" in alice.recall(QUESTION).text
        for _ in range(12):
            clock.go(86_400.0)
            before = server.calls
            alice.settle()
            assert server.calls - before <= 2
        assert alice.stats().pending == 0
        now = picture(alice)
        assert now["pages"] == well["pages"]
        assert now["chains"] == well["chains"]
        assert now["segments"] == well["segments"]
        assert now["facts"] == well["facts"]
    assert_no_failure_became_memory(file)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("good", [3, *(pytest.param(one, marks=pytest.mark.proof) for one in (0, 1))])
def test_a_process_killed_while_it_waits_for_the_model_leaves_the_work_to_the_next(
    tmp_path: Path, server: ModelServer, well: dict[str, Any], good: int
) -> None:
    clock, file = Clock(), tmp_path / "memory.db"
    with opened(file, server, clock) as memory:
        talk(memory.of("alice"))
    server.fail_next("hang", times=1, after=good)
    child = os.fork()
    if child == 0:
        try:
            with opened(file, server, clock, model_timeout_s=60.0) as memory:
                memory.of("alice").settle()
        finally:
            os._exit(1)
    server.wait_for_calls(good + 1)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    server.recover()
    clock.go(3600.0)
    with opened(file, server, clock) as memory:
        alice = memory.of("alice")
        settled(alice, clock)
        assert picture(alice) == well
        calls = memory.calls(clock.now - timedelta(days=1))
        assert [call.outcome for call in calls].count("started") == 1, "what the dead process asked stands as begun"
    assert_sound(file)


@pytest.mark.parametrize(
    "kind",
    [
        "http_500",
        "empty",
        *(pytest.param(one, marks=pytest.mark.proof) for one in ("disconnect", "http_401", "hang", "null", "garbage")),
    ],
)
def test_a_chat_that_fails_keeps_what_the_user_said_and_nothing_else(
    tmp_path: Path, server: ModelServer, kind: str
) -> None:
    clock, file = Clock(), tmp_path / "memory.db"
    with opened(file, server, clock, model_timeout_s=patience(kind)) as memory:
        alice = memory.of("alice")
        server.reply_with("I do not know.")
        server.fail_next(kind, times=2)
        with pytest.raises(ModelError):
            alice.chat("I live in Lyon. Is it far to Nantes?")
        (page,) = alice.pages()
        assert page.query == "I live in Lyon. Is it far to Nantes?"
        assert page.response == ""
        server.recover()
        server.reply_with("About 600 km.")
        alice.chat("So, is it?")
        assert alice.pages()[-1].response == "About 600 km."
        assert "Lyon" in alice.recall("Where do I live?").text
    assert_no_failure_became_memory(file)


def test_neither_add_nor_recall_asks_the_model(tmp_path: Path, server: ModelServer) -> None:
    with opened(tmp_path / "memory.db", server, Clock()) as memory:
        alice = memory.of("alice")
        talk(alice)
        for query, _ in SAID:
            alice.recall(query)
            alice.search(query)
        assert server.calls == 0


def test_a_key_alone_asks_nobody(tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    with Memory(tmp_path / "memory.db", embedder="hashed", background=False, short_term_pages=2) as memory:
        alice = memory.of("alice")
        talk(alice)
        alice.settle()
    assert server.calls == 0
