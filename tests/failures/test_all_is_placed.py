"""Whatever is wrong with every answer of a model, one settle places all pages, asks a bounded number of times, and says
what was read without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from embermem.core.types import WaitsFor
from embermem.testing.faults import KINDS
from embermem.testing.model_server import ModelServer
from scripted import Clock
from soundness import assert_sound
from unwell import QUESTION, assert_no_failure_became_memory, opened, patience, talk

HARMLESS = {"fence", "think", "http_400_format"}
"""What is read all the same."""
WAITED_FOR = {"http_429"}
QUICK = {"wrong_shape", "disconnect"}


@pytest.mark.parametrize(
    "kind",
    [
        kind if kind in QUICK else pytest.param(kind, marks=pytest.mark.proof)
        for kind in sorted(KINDS)
        if kind not in WAITED_FOR
    ],
)
def test_a_model_with_any_habit_holds_no_page_up(tmp_path: Path, server: ModelServer, kind: str) -> None:
    file = tmp_path / "memory.db"
    with opened(file, server, Clock(), model_breaker_failures=5, model_timeout_s=patience(kind)) as memory:
        alice = memory.of("alice")
        talk(alice)
        server.fail_always(kind)
        assert alice.settle() == 14
        asked, stats = server.calls, alice.stats()
        print(f"{kind}: {asked} calls, {server.prompt_tokens + server.completion_tokens} tokens, {stats.waiting}")
        assert (stats.pending, stats.mid) == (0, 14)
        assert asked <= 48
        assert all(wait.reason and wait.waits_for is not WaitsFor.PLACE for wait in stats.waiting)
        if kind not in HARMLESS and stats.waiting:
            assert "Nantes" in alice.recall(QUESTION).text
        alice.settle()
        assert alice.stats().pending == 0
    assert_no_failure_became_memory(file)
    assert_sound(file)
