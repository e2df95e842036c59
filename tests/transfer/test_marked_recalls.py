"""A query whose recall was wrong, as a recall set that the bench runs."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from running import run

from embermem import OwnerMemory
from embermem.core.errors import InputError
from embermem.transfer.datasets import parse
from embermem.transfer.recall_sets import Marked, recall_set
from scripted import Opener

AT = datetime(2026, 5, 2, 9, tzinfo=UTC)


@pytest.fixture
def alice(opened: Opener) -> OwnerMemory:
    mine = opened().of("alice")
    mine.add("A heron ate two goldfish.", "Poor fish.", thread="pond", at=AT)
    mine.add("I planted three fig trees.", "Figs like walls.", thread="garden", at=AT)
    mine.add("My sister Ana is a nurse.", "Where?", thread="people", at=AT)
    mine.settle()
    return mine


def said(mine: OwnerMemory, word: str) -> int:
    """The number of the utterance that holds a word."""
    return next(one.seq for one in mine.utterances() if word in one.text)


def marked(mine: OwnerMemory, **more: Any) -> dict[str, Any]:
    given: dict[str, Any] = {"query": " Who visited the pond? ", "asked_at": AT, "missing": (1,), "unwanted": ()}
    return recall_set(mine, Marked(**{**given, "note": " a bird ", **more}))


def test_it_holds_what_was_said_and_asks_the_query_with_what_was_marked(alice: OwnerMemory) -> None:
    alice.add_document("# Keys\n\nThe red key opens the shed.", source="keys.md")
    alice.add_document("# Other\n\nNothing of it is marked.", source="other.md")
    alice.settle()
    key = next(hit.utterance for hit in alice.search("red key", 3) if hit.passage is not None)
    heron, sister = said(alice, "heron"), said(alice, "sister")
    made = marked(alice, missing=(key.seq, heron, heron), unwanted=(sister,))
    (conversation,) = parse(json.loads(json.dumps(made)), "set", "here").conversations
    (question,) = conversation.questions
    ids = {one.seq: one.id for one in alice.utterances()}
    assert (question.id, question.text, question.at) == ("marked", "Who visited the pond?", AT)
    assert question.evidence == {ids[heron], key.id}
    (asked,) = made["conversations"][0]["questions"]
    assert (asked["unwanted"], asked["note"], len(asked["evidence"])) == ([ids[sister]], "a bird", 2)
    turns = {turn.id for _, turn in conversation.turns()}
    assert turns == {one.id for one in alice.utterances() if "Nothing of it" not in one.text}
    assert {thread.id for thread in conversation.threads} >= {"pond", "garden", "people"}


def test_what_asks_nothing_or_contradicts_itself_is_refused_with_what_to_do(alice: OwnerMemory) -> None:
    heron = said(alice, "heron")
    assert heron == 1
    refused: list[tuple[dict[str, Any], str]] = [
        ({"query": "  "}, "query is empty; give"),
        ({"missing": (), "unwanted": ()}, "mark at least one utterance"),
        ({"unwanted": (heron,)}, f"#{heron} is marked as missing and as unwanted; leave it out"),
        ({"missing": (99,)}, "no utterance #99 any more; mark another"),
    ]
    for given, told in refused:
        with pytest.raises(InputError, match=told):
            marked(alice, **given)
    alice.forget(page=alice.utterances()[heron - 1].page_id)
    with pytest.raises(InputError, match=f"no utterance #{heron} any more"):
        marked(alice, missing=(heron,))


@pytest.mark.sqlite
@pytest.mark.parametrize(("query", "found"), [("What about the heron?", 1.0), ("What about jazz records?", 0.0)])
def test_the_bench_counts_it_as_found_or_not(opened: Opener, tmp_path: Path, query: str, found: float) -> None:
    mine = opened().of("alice")
    things = "heron goldfish,fig trees,nurse Grenoble,old bricks,jazz records,horror films,rowing lake".split(",")
    for day, thing in enumerate(things):
        mine.add(f"Today it was all about {thing}.", "I see.", thread=f"t{day}", at=AT)
    file = tmp_path / "recall-set.json"
    file.write_text(json.dumps(marked(mine, query=query)), encoding="utf-8")
    done = run(tmp_path / "bench.db", "bench", "recall", str(file), "--json")
    assert done.code == 0, done.err
    (report,) = done.json if isinstance(done.json, list) else [done.json]
    assert report["by_category"]["marked"]["all@1"] == found
