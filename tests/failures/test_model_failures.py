"""Whatever a language model or its server does wrong, in the middle of whatever step: no page is lost, no word of the
failure becomes memory, recall goes on, and once the server is well the memory is what it would have been.

docs/concepts/failures.md has a row for each of these tests.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest

from embermem.testing.model_server import ModelServer
from proofs import bounded
from scripted import Clock
from soundness import assert_sound, assert_tiers
from unwell import (
    QUESTION,
    SAID,
    STEPS,
    UNWELL,
    assert_no_failure_became_memory,
    opened,
    patience,
    picture,
    settled,
    talk,
)

FIRST, LATER, PROMOTION = STEPS
QUICK = (
    ("fence", FIRST),
    ("http_400_format", FIRST),
    ("hang", PROMOTION),
    ("wrong_shape", PROMOTION),
    ("truncated", FIRST),
    ("other_ids", FIRST),
    ("http_500", LATER),
)
"""One failure of each way through the code: answers that are mended, refused, cut off, late, or no answers at all."""


CUT = ("truncated", "endless")
"""After one such answer fewer pages are shown; all others are asked for once more."""


@pytest.mark.parametrize(("kind", "step"), bounded(QUICK, proofs=tuple(product(UNWELL, STEPS))))
def test_a_model_that_fails_once_costs_time_and_nothing_else(
    tmp_path: Path, server: ModelServer, well: dict[str, Any], kind: str, step: str
) -> None:
    clock = Clock()
    file = tmp_path / "memory.db"
    with opened(file, server, clock, model_timeout_s=patience(kind)) as memory:
        alice = memory.of("alice")
        talk(alice)
        server.fail_next(kind, times=1 if kind in CUT else 2, after=STEPS[step])
        alice.settle()
        assert len(alice.pages()) == len(SAID)
        assert "Lyon" in alice.recall(QUESTION).text or "Nantes" in alice.recall(QUESTION).text
        assert_no_failure_became_memory(file)
        server.recover()
        clock.go(3600.0)
        settled(alice, clock)
        assert picture(alice) == well
        assert_tiers(memory)
    assert_no_failure_became_memory(file)
    assert_sound(file)
