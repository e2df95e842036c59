"""The recorded analyst: a model's notes of a data set, replayed."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from small import locomo, recall_set
from test_bench_recall import command

from embermem.core.errors import InputError
from embermem.core.types import About
from embermem.memory import Memory
from embermem_bench import recall
from embermem_bench.datasets import Conversation, parse
from embermem_bench.recorded import reading_with

GREENHOUSE = "Kit repaired the glass house before the frost."


def noted(**more: Any) -> list[dict[str, Any]]:
    """Our conversation with what a model could have noted of it."""
    document = copy.deepcopy(locomo())
    document[0] |= {
        "observation": {
            "session_1_observation": {
                "Kit": [[GREENHOUSE, "D1:1"], ["Kit talks to Vera.", "D1:1, D1:2"]],
                "Vera": [["Vera learns a brass instrument.", ["D1:2"]], ["Vera is far away.", "D77:1"]],
            },
            "note": {"Kit": [["This is of no session.", "D1:1"]]},
        },
        "session_summary": {"session_1_summary": "Kit and Vera spoke of glass and brass.", "session_2_summary": " "},
    } | more
    return document


def conversation() -> Conversation:
    return parse(noted(), "ours", "here").conversations[0]


def settled(folder: Path, **settings: Any) -> Memory:
    """Our conversation as the recall bench stores it, with all of its pages read by the recorded analyst."""
    memory = Memory(folder / "m.db", embedder="hashed", background=False, short_term_pages=1, **settings)
    owner = memory.of("our-1", agent="bench", timezone="UTC")
    for thread in conversation().threads:
        if thread.turns:
            owner.add_messages(
                [{"role": str(t.role), "content": t.text, "name": t.speaker, "at": t.at} for t in thread.turns],
                thread=thread.id,
            )
    with reading_with(folder / "m.db", memory.settings, [conversation()]) as reader:
        reader.settle(owner.owner)
    return memory


def test_observations_and_summaries_are_read_from_locomo_and_other_forms_are_refused(tmp_path: Path) -> None:
    read = conversation()
    assert [(o.speaker, o.text, o.turns) for o in read.observations] == [
        ("Kit", GREENHOUSE, ("D1:1",)),
        ("Kit", "Kit talks to Vera.", ("D1:1", "D1:2")),
        ("Vera", "Vera learns a brass instrument.", ("D1:2",)),
    ]
    assert dict(read.summaries) == {"session_1": "Kit and Vera spoke of glass and brass."}

    for pair in ["text", ["text"], [1, "D1:1"]]:
        document = noted(observation={"session_1_observation": {"Kit": [pair]}})
        with pytest.raises(InputError, match="session_1_observation, Kit, 1: expected a text and the turns"):
            parse(document, "ours", "here")

    with pytest.raises(InputError, match="neither observations nor summaries"):
        recall.run(parse(recall_set(), "ours", "here"), tmp_path, embedder="hashed", analyst=recall.RECORDED)


def test_observations_become_facts_that_rest_on_their_turns_and_summaries_their_chains(tmp_path: Path) -> None:
    with settled(tmp_path) as memory:
        owner = memory.of("our-1", agent="bench")
        facts = {fact.text: fact for fact in owner.facts()}
        said = {u.seq: u.text for page in owner.pages() for u in page.utterances}
        assert facts[GREENHOUSE].about is About.USER
        assert [said[s.seq] for s in facts[GREENHOUSE].sources] == ["I finally mended the greenhouse roof."]
        assert [s.seq for s in facts["Kit talks to Vera."].sources] == [1, 2]
        assert facts["Vera learns a brass instrument."].about is About.AGENT
        assert facts["Vera learns a brass instrument."].subject == "Vera"
        summaries = {str(chain.thread): chain.summary for chain in memory.of("our-1", agent="bench").chains()}
        assert summaries["session_1"] == "Kit and Vera spoke of glass and brass."
        assert "tomatoes froze" in summaries["session_2"]
        owner = memory.of("someone else")
        for n in range(3):
            owner.add("My name is Petra.", f"Hello {n}", at="2026-05-02T10:00:00Z")
        with reading_with(tmp_path / "m.db", memory.settings, [conversation()]) as reader:
            reader.settle(owner.owner)
        assert GREENHOUSE not in {fact.text for fact in owner.facts()}
        assert "Petra" in {fact.value for fact in owner.facts()}


def test_promotion_teaches_the_same_facts(tmp_path: Path) -> None:
    with settled(tmp_path, preset="paper", tau=0.5) as memory:
        assert GREENHOUSE in {fact.text for fact in memory.of("our-1", agent="bench").facts()}


def test_a_report_names_its_analyst_and_counts_facts(tmp_path: Path) -> None:
    data = parse(noted(), "ours", "here")
    more: dict[str, Any] = {"embedder": "hashed", "short_term_pages": 1}
    found = {}
    for analyst in (recall.EXTRACTIVE, recall.RECORDED):
        folder = tmp_path / analyst
        folder.mkdir()
        found[analyst] = recall.run(data, folder, analyst=analyst, **more).as_json()
    assert [one["analyst"] for one in found.values()] == ["extractive", "recorded"]
    assert found["recorded"]["facts"] == found["extractive"]["facts"] + 3
    assert found["recorded"]["told@600w"] >= found["recorded"]["rec@600w"]


@pytest.mark.proof
def test_the_command_shows_both_analysts_side_by_side(tmp_path: Path) -> None:
    path = tmp_path / "noted.json"
    path.write_text(json.dumps(noted()), encoding="utf-8")
    shown = command("recall", str(path), "--analyst", "both").out
    assert shown.count("extractive") == shown.count("recorded") >= 6
    reports = json.loads(command("recall", str(path), "--analyst", "both", "--json").out)
    assert [one["analyst"] for one in reports] == ["extractive", "recorded"]
