"""What a model wrote is what chains, segments and people hold, and what prompts tell; where the pages do not bear it
out, extraction's stands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from embermem import Memory, OwnerMemory
from embermem.testing.answers import answer
from embermem.testing.model_server import ModelServer

NOW = datetime(2026, 11, 2, 9, tzinfo=UTC)
HERONS = "The user watches grey herons at the lake in Lyon."
BREAD = "The user bakes rye bread with her aunt Zelda."
TITLE = "Grey herons at the lake"
WING = "saw a grey heron with a broken wing"
SAID = (
    "I watch the grey herons at the lake in Lyon each morning.",
    "The grey herons fished at the lake again, I stayed for hours.",
    "I saw a grey heron with a broken wing at the lake.",
    "A ranger took the grey heron to the clinic near the lake.",
    "The grey heron is well and flies over the lake again.",
    "The lake froze, and the grey herons went to the river.",
)


def told(summary: str, title: str) -> Any:
    """A model that tells of every page the same, and of a segment by this title."""

    def reply(request: Mapping[str, Any]) -> Mapping[str, Any]:
        made = dict(answer(request))
        if "pages" in made:
            made["pages"] = [{**one, "continues": True, "summary": summary} for one in made["pages"]]
            return made
        data = str(request["messages"][-1]["content"])
        wing = re.search(r"(u\d+) user[^:]*: I saw a grey heron", data)
        fact = {"subject": "user", "attribute": "met", "value": "a grey heron with a broken wing", "text": WING}
        facts = [{"evidence": [wing[1]], **fact, "action": "add", "fact": ""}] if wing else []
        return {**made, "facts": facts, "summary": summary, "title": title}

    return reply


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Any]:
    opened: list[Any] = []

    def read(summary: str, title: str) -> OwnerMemory:
        server = ModelServer(told(summary, title)).__enter__()
        memory = Memory(
            tmp_path / f"{len(opened)}.db",
            model="scripted",
            model_url=server.url,
            model_key="x",
            embedder="hashed",
            background=False,
            clock=lambda: NOW + timedelta(days=1),
            promote_every=1,
            tau=0.5,
            min_new=1,
        )
        opened.extend((memory, server))
        alice = memory.of("alice")
        for n, text in enumerate(SAID * 2):
            alice.add(text, "I see.", at=NOW + timedelta(minutes=n), thread="birds")
        alice.settle()
        return alice

    yield read
    for memory, server in zip(opened[::2], opened[1::2], strict=True):
        memory.close()
        server.__exit__(None, None, None)


def test_what_a_model_wrote_is_held_and_told(reader: Any) -> None:
    alice = reader(HERONS, TITLE)
    assert HERONS in {chain.summary for chain in alice.chains()}
    (segment,) = [one for one in alice.segments() if one.title == TITLE]
    assert HERONS in segment.summary
    fact = next(one for one in alice.facts() if one.attribute == "met")
    assert WING in fact.text
    assert WING in alice.recall("Which bird did the user meet with a broken wing?").text
    overview = alice.overview(400).text
    assert WING in overview
    assert TITLE in overview
    assert {one.analyst for one in alice.changes() if one.cause == "consolidation"} == {"model:scripted/3.7"}


def test_what_the_pages_do_not_bear_out_is_not_held_and_segments_tell_what_they_tell_without_it(
    reader: Any, tmp_path: Path
) -> None:
    alice = reader(BREAD, "Rye bread with aunt Zelda")
    held = [one.summary for one in (*alice.chains(), *alice.segments())] + [one.title for one in alice.segments()]
    assert held
    assert all("heron" in text or "lake" in text for text in held if text)
    assert "Zelda" not in alice.recall("Who bakes rye bread?").text + alice.overview(400).text
    placed = {one.analyst for one in alice.changes() if one.cause == "consolidation"}
    assert placed == {"model:scripted/3.7+extractive-v1"}

    settings: dict[str, Any] = {"promote_every": 1, "tau": 0.5, "min_new": 1, "clock": lambda: NOW + timedelta(days=1)}
    with Memory(tmp_path / "alone.db", embedder="hashed", background=False, **settings) as one:
        alone = one.of("alice")
        for page in alice.pages():
            alone.add(page.query, page.response, at=page.said_at, thread="birds")
        alone.settle()
        sentences = {line for segment in alone.segments() for line in segment.summary.splitlines()}
    told = {line for segment in alice.segments() for line in segment.summary.splitlines()}
    assert told
    assert told <= sentences


LIFE = (
    "I live in Oslo.",
    "I work at Acme.",
    "I moved to Lyon.",
    "I love jazz and blues.",
    "I no longer work at Acme.",
    "Good night.",
)
AS_READ = {"lives_in": ["Lyon"], "works_at": [], "likes": ["jazz and blues"]}


JAZZ = {"attribute": "likes", "value": "jazz", "text": "loves jazz"}
FAN = {"attribute": "fan of", "value": "jazz and blues", "text": "loves jazz and blues"}
LIKED, MOVED, LEFT = "likes=jazz and blues", "lives in=Lyon", "no longer works at=Acme"
JUDGED: dict[str, tuple[Mapping[str, Any], Mapping[str, list[str]]]] = {
    "nothing": ({}, {}),
    "confirmed": (dict.fromkeys((LIKED, MOVED, LEFT), "confirmed"), {}),
    "liking dropped": ({LIKED: "dropped"}, {"likes": []}),
    "move dropped": ({MOVED: "dropped"}, {"lives_in": ["Oslo"]}),
    "move dropped and the home before it": ({MOVED: "dropped", "lives in=Oslo": "dropped"}, {"lives_in": []}),
    "end dropped": ({LEFT: "dropped"}, {"works_at": ["Acme"]}),
    "value corrected": ({LIKED: JAZZ}, {"likes": ["jazz"]}),
    "attribute corrected": ({LIKED: FAN}, {"likes": [], "fan_of": ["jazz and blues"]}),
    "fails": ({LIKED: "dropped"}, {}),
}
"""By user: what a model says of claims, by how they are shown ("confirmed", "dropped", or how it puts one right); and
which facts then hold other than those that were read."""


def judged(request: Mapping[str, Any]) -> Mapping[str, Any] | str:
    made, name, said = dict(answer(request)), "", ""
    if "facts" not in made:
        return made
    made |= {"facts": [], "confirmed": [], "dropped": []}
    for line in str(request["messages"][-1]["content"]).splitlines():
        if found := re.match(r"(u\d+) user ([^:]+):", line):
            said, name = found.groups()
        claim = re.fullmatch(r"(c\d+) (.*)", line)
        verdict = JUDGED[name][0].get(claim[2]) if claim else None
        if claim and isinstance(verdict, str):
            made[verdict].append(claim[1])
        elif claim and verdict is not None:
            fact = {"evidence": [said], "subject": "user", "action": "add", "fact": "", "corrects": claim[1]}
            made["facts"].append({**fact, **verdict})
    return "I would rather not." if name == "fails" else made


def test_a_claim_that_the_model_drops_or_corrects_is_taken_back_and_what_it_ended_holds_again(tmp_path: Path) -> None:
    with (
        ModelServer(judged) as server,
        Memory(
            tmp_path / "memory.db", model="scripted", model_url=server.url, model_key="x", embedder="hashed",
            background=False, clock=lambda: NOW + timedelta(days=1), promote_every=1, tau=0.1, min_new=1,
            short_term_pages=1,
        ) as memory,
    ):  # fmt: skip
        for name, (_, otherwise) in JUDGED.items():
            owner = memory.of(name)
            for n, text in enumerate(LIFE):
                owner.add(text, "I see.", at=NOW + timedelta(minutes=n), thread="life")
            owner.settle()
            wanted = {**AS_READ, **otherwise}
            assert {key: [one.value for one in owner.facts() if one.attribute == key] for key in wanted} == wanted, name
            assert [line.value for line in owner.profile() if line.name == "home"] == wanted["lives_in"], name
        moved = memory.of("move dropped")
        promotion = next(one for one in moved.changes() if one.cause == "promotion")
        moved.undo(promotion.no)
        assert [one.value for one in moved.facts() if one.attribute == "lives_in"] == ["Lyon"]
        assert {one.level for one in memory.check(deep=True)} <= {"ok", "warning"}  # pages that failed wait
