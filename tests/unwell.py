"""A conversation, a memory with a scripted model, and what must hold whatever that model does."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from embermem import Memory, OwnerMemory
from embermem.testing.model_server import ModelServer
from scripted import Clock

SAID = (
    ("I live in Lyon with my sister Ana.", "How nice."),
    ("The river in Lyon was high today and I took my bike along the river.", "Was the path dry?"),
    ("My bike needs a new chain for the river path.", "The shop by the river has chains."),
    ("I work as a nurse in the hospital by the river.", "A long shift today?"),
    ("We rode our bikes along the river path again.", "How far did you get?"),
    ("I'm allergic to walnuts, so the bakery by the river is out.", "Noted."),
    ("My bike was stolen at the river path yesterday.", "I am sorry."),
    ("The police found my bike by the river.", "What luck!"),
    ("I moved to Nantes, also on a river, with my bike.", "How is Nantes?"),
    ("The bike path in Nantes follows the river for miles.", "Good for long rides."),
    ("I play the cello in an orchestra on Mondays.", "Which piece?"),
    ("The orchestra rehearsed my cello solo.", "How did the cello sound?"),
    ("My cello teacher came to the orchestra concert.", "What did she say?"),
    ("The orchestra concert with the cello solo went well.", "Congratulations."),
    ("I bought new strings for my cello before the orchestra tour.", "Steel or gut?"),
    ("The orchestra leaves for its tour, my cello has its own seat.", "Bon voyage."),
)
QUESTION = "Where do I live?"
UNWELL = (
    "fence", "think", "http_400_format",
    "slow", "hang", "wrong_shape", "truncated", "empty", "null", "no_choices", "prose", "schema_echo", "http_429",
    "http_500", "http_503", "http_401", "disconnect", "garbage", "error_text", "properties", "other_ids", "no_grammar",
    "endless", "repeats", "trickle", "overflow",
)  # fmt: skip
WORDS_OF_FAILURE = (
    "Could not get response", "Bad Gateway", "Rate limit reached", "had an error", "overloaded", "Incorrect API",
    "I have read it all",
)  # fmt: skip
"""What the scripted server says when it is unwell."""
STEPS = {"the first annotation": 0, "a later annotation": 1, "a promotion": 3}
"""How many good answers come before the server falls ill."""
SETTINGS: dict[str, Any] = {
    "embedder": "hashed",
    "background": False,
    "short_term_pages": 2,
    "batch_pages": 4,
    "min_new": 3,
    "tau": 2.0,
    "theta": 0.3,
    "promote_every": 4,
    "model": "scripted",
    "model_key": "not-a-key",
    "model_timeout_s": 5.0,
    "model_retries": 0,
    "model_breaker_failures": 1000,
}


def opened(file: Path, server: ModelServer, clock: Clock, **settings: Any) -> Memory:
    return Memory(file, clock=clock, model_url=server.url, **{**SETTINGS, **settings})


def patience(kind: str | None) -> float:
    """Seconds to wait for a server that is unwell in this way: few where it falls silent, as it never speaks again."""
    return 0.3 if kind in ("slow", "hang", "trickle", "endless", "repeats") else 5.0


def talk(alice: OwnerMemory) -> None:
    for n, (query, response) in enumerate(SAID):
        alice.add(query, response, at=f"2026-05-{n + 1:02}T10:00:00+02:00", thread=f"t{n // 5}")


def picture(alice: OwnerMemory) -> dict[str, Any]:
    """What the memory holds, without the ids and times of how it came to be."""
    pages = {page.id: page.utterances[0].text for page in alice.pages()}
    return {
        "pages": [(page.query, page.response, page.tier) for page in alice.pages()],
        "chains": sorted((sorted(pages[p] for p in chain.page_ids), chain.summary) for chain in alice.chains()),
        "segments": sorted((sorted(pages[p] for p in s.page_ids), sorted(s.counted)) for s in alice.segments()),
        "facts": sorted((f.about, f.subject, f.attribute, f.value, f.text) for f in alice.facts()),
        "past": sorted((f.subject, f.attribute, f.value) for f in alice.past_facts()),
        "profile": sorted((f.name, f.value) for f in alice.profile()),
        "traits": sorted((t.dimension, round(t.level, 6)) for t in alice.traits()),
    }


def settled(alice: OwnerMemory, clock: Clock) -> None:
    """Settle, with an hour between the tries, until nothing waits."""
    for _ in range(12):
        alice.settle()
        if alice.stats().pending == 0 and alice.stats().failed == 0:
            return
        clock.go(3600.0)
    raise AssertionError(f"pages still wait: {alice.stats()}")


def texts(file: Path) -> str:
    """All that stands in the tables but what was said: the memory, the ledger, the reasons why pages wait."""
    found = []
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            if table not in ("utterance", "sqlite_sequence"):
                found += [str(value) for row in connection.execute(f'SELECT * FROM "{table}"') for value in row]
    return "\n".join(found)


def assert_no_failure_became_memory(file: Path) -> None:
    held = texts(file)
    for word in WORDS_OF_FAILURE:
        assert word not in held
