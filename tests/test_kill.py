"""Acknowledged means kept: the adding process is killed with SIGKILL at random moments, again and again."""

from __future__ import annotations

import os
import random
import select
import signal
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from embermem import Memory
from proofs import bounded
from scripted import Place
from soundness import assert_sound, assert_tiers

SETTINGS: dict[str, Any] = {
    "embedder": "hashed",
    "background": True,
    "poll_s": 0.01,
    "pause_s": 0.0,
    "quiet_s": 0.0,
    "lease_s": 0.02,
    "short_term_pages": 3,
    "mid_term_segments": 4,
    "batch_pages": 2,
    "batch_wait_s": 0.0,
    "min_new": 2,
    "tau": 1.0,
}
LINES = (
    "I live in Lyon with my sister Ana.",
    "We walked along the river and saw a heron.",
    "I moved to Nantes in May and I love it.",
    "My dog Rex ate the birthday cake.",
    "Call me Sam. I work as a nurse.",
    "The train to Bordeaux was late again.",
)

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def add_until_killed(place: str | Path, run: int, acknowledge: int) -> None:
    """The child: opens the store, adds, and writes one line for each page once `add` has returned."""
    try:
        memory = Memory(place, **SETTINGS)
        for n in range(10_000):
            owner = memory.of(f"user {n % 2}")
            text = f"{run}.{n} {LINES[n % len(LINES)]}"
            page_id = owner.add(text, "I see." if n % 3 else None, thread=f"t{n % 2}")
            os.write(acknowledge, f"{owner.owner.user}\t{page_id}\t{text}\n".encode())
    finally:
        os._exit(1)


def killed(place: str | Path, run: int, moment: random.Random) -> list[tuple[str, str, str]]:
    """Run the child and kill it: while it opens, at its first pages, or when it has understood some. What it
    acknowledged. How many pages it has then does not depend on how busy the machine is."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        add_until_killed(place, run, writing)
    os.close(writing)
    when, told = moment.random(), b""
    wanted = 0 if when < 0.15 else 1 if when < 0.6 else moment.randint(10, 60)
    while told.count(b"\n") < wanted and select.select([reading], [], [], 30)[0]:
        told += os.read(reading, 1 << 16)
    time.sleep(moment.uniform(0, 0.06))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while piece := os.read(reading, 1 << 16):
        told += piece
    os.close(reading)
    lines = told.decode().split("\n")[:-1]  # a line cut short was not acknowledged
    return [(user, page_id, text) for user, page_id, text in (line.split("\t") for line in lines)]


def assert_kept(place: str | Path, acknowledged: list[tuple[str, str, str]]) -> None:
    """The store opens, and holds every acknowledged page once, with its text, for its owner."""
    with Memory(place, **{**SETTINGS, "background": False}) as memory:
        for user in ("user 0", "user 1"):
            pages = {page.id: page for page in memory.of(user).pages()}
            texts = Counter(u.text for page in pages.values() for u in page.utterances if u.role == "user")
            assert not [text for text, count in texts.items() if count > 1]
            for _, page_id, text in (one for one in acknowledged if one[0] == user):
                assert text in [u.text for u in pages[page_id].utterances]  # type: ignore[index]
        assert_tiers(memory)
    assert_sound(place)


def assert_understood_to_the_end(place: str | Path, acknowledged: list[tuple[str, str, str]]) -> int:
    """What the killed ones left is understood by the next; pages that they had placed themselves."""
    placed = 0
    with Memory(place, **{**SETTINGS, "background": False}) as memory:
        for owner in memory.owners():
            mine = memory.of(owner.user)
            placed += mine.stats().mid + mine.stats().archive
            mine.settle()
            stats = mine.stats()
            assert (stats.pending, stats.without_vector, stats.failed) == (0, 0, 0)
            assert stats.segments <= SETTINGS["mid_term_segments"]
            told = [(fact.subject, fact.attribute, fact.value) for fact in mine.facts()]
            assert len(told) == len(set(told))
            assert mine.recall("Where does Sam live?").hits
    assert_kept(place, acknowledged)
    return placed


@pytest.mark.proof  # in short: test_attack.py, whose lives are killed too
@pytest.mark.engines
@pytest.mark.parametrize("seed", range(1, 1 + bounded(1, proofs=4)))
def test_a_killed_process_loses_no_acknowledged_page_and_doubles_none(place: Place, engine: str, seed: int) -> None:
    moment = random.Random(seed)
    with Memory(
        place("warm.db"), **{**SETTINGS, "background": False}
    ) as warm:  # everything is imported before the first fork
        warm.of("alice").add("Hello", "Hi")
        warm.of("alice").settle()
        warm.of("alice").recall("Hello")
    kills = placed = kept = 0
    stores, blows = bounded(1, proofs=5) if engine == "sqlite" else bounded(1, proofs=4), bounded(6, proofs=12)
    for store in range(stores):  # each begins empty, and is filled under the blows
        filled = place(f"{store}.db")
        acknowledged: list[tuple[str, str, str]] = []
        for blow in range(blows):
            acknowledged += killed(filled, blow, moment)
            kills += 1
            if blow % 3 == 0:
                assert_kept(filled, acknowledged)
        assert acknowledged
        kept += len(acknowledged)
        placed += assert_understood_to_the_end(filled, acknowledged)
    print(f"{kills} kills, {kept} pages acknowledged and kept, {placed} of them placed by the killed")
    assert kills == stores * blows
    assert placed > 0  # consolidation was at work when they were killed
