"""The runner on the real memory: every rule of the recall benchmark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest
from running import Ended
from running import run as cli
from small import locomo, recall_set
from utterances import context, said

from embermem.core.types import Context
from embermem.memory import Memory, OwnerMemory
from embermem_bench import recall
from embermem_bench.datasets import parse
from embermem_bench.load_conversation import add_conversation, look_up

KEYS = (
    "name questions rec@1 rec@5 rec@10 rec@20 any@1 any@5 any@10 any@20 all@1 all@5 all@10 all@20 mrr rec@300w "
    "rec@600w rec@1200w ingest_pages_per_s query_ms_p50 query_ms_p95 search_ms_p50 by_category by_conversation "
    "bytes_per_page skipped confidence confidence_auc"
).split()


def report(document: object, folder: Path, **more: Any) -> dict[str, Any]:
    return recall.run(parse(document, "ours", "here"), folder, embedder="hashed", **more).as_json()


def test_a_report_of_locomo_has_every_key_finds_what_is_plain_and_tells_what_another_said(tmp_path: Path) -> None:
    found = report(locomo(), tmp_path)
    assert [key for key in KEYS if found.get(key) is None] == []
    assert (found["name"], found["questions"], found["skipped"]) == ("ours", 3, 2)
    assert found["rec@20"] == found["rec@1200w"] == 1.0
    assert found["utterances"] == 5
    assert found["pages"] == 4

    assert {name: part["questions"] for name, part in found["by_category"].items()} == {"1": 1, "2": 1, "4": 1, "5": 1}
    assert {name: part["questions"] for name, part in found["by_conversation"].items()} == {"our-1": 3}

    assert found["confidence_auc"] == found["by_conversation"]["our-1"]["confidence_auc"] == 1.0
    sure = {name: part["confidence"] for name, part in found["by_category"].items()}
    assert sure["5"] < found["confidence"] < 1.0
    assert "confidence_auc" not in found["by_category"]["5"]


def test_evidence_of_threads_is_reported_by_thread_and_confidence_has_nothing_to_tell_apart(tmp_path: Path) -> None:
    found = report(recall_set(), tmp_path)
    assert found["questions"] == 2
    assert found["thread_any@5"] == found["thread_rec@10"] == 1.0
    assert found["by_category"]["later"]["rec@1"] is None
    assert found["by_category"]["now"]["rec@10"] == 1.0

    assert found["confidence_auc"] is None
    assert 0.0 < found["confidence"] < 1.0


def test_a_question_in_mid_conversation_sees_neither_its_thread_nor_what_comes_later(tmp_path: Path) -> None:
    document = recall_set()
    asked = document["conversations"][0]["questions"]
    asked[:] = [asked[0] | {"evidence_threads": [thread]} for thread in ("k2", "k3", "k1")]
    for number, question in enumerate(asked):
        question |= {"id": f"q{number}", "category": question["evidence_threads"][0]}
    found = report(document, tmp_path)["by_category"]
    assert found["k1"]["thread_rec@20"] == 1.0
    for hidden in ("k2", "k3"):
        assert found[hidden]["thread_rec@20"] == found[hidden]["thread_rec@1200w"] == 0.0


class Listening:
    """An owner's memory that notes the thread of each recall."""

    def __init__(self, owner: OwnerMemory) -> None:
        self.search = owner.search
        self.threads: list[str | None] = []
        self._recall = owner.recall

    def recall(self, query: str, **more: Any) -> Context:
        self.threads.append(more["thread"])
        return self._recall(query, **more)


def test_a_question_that_names_its_thread_is_asked_in_that_thread() -> None:
    document = recall_set()
    document["conversations"][0]["questions"][1] |= {"thread": "k3", "category": "pronoun"}
    (conversation,) = parse(document, "ours", "here").conversations
    with Memory(":memory:", embedder="hashed", token_counter="words", background=False) as memory:
        owner = memory.of("mara")
        stored = look_up(owner, conversation, add_conversation(owner, conversation))
        listening, tally = Listening(owner), recall.Tally()
        recall.ask_all(cast("OwnerMemory", listening), conversation, stored, tally, "mara", lambda *_: None)
    assert listening.threads == [None] * len(recall.BUDGETS) + ["k3"] * len(recall.BUDGETS)
    assert [asked.category for asked in tally.asked] == ["later", "pronoun"]


def test_each_conversation_has_an_owner_of_its_own_and_a_limit_asks_the_first_questions_of_any_preset(
    tmp_path: Path,
) -> None:
    document = [locomo()[0], locomo()[0] | {"sample_id": "our-2"}]
    report(document, tmp_path)
    with Memory(tmp_path / "bench.db", background=False, embedder="hashed") as memory:
        assert sorted(owner.user for owner in memory.owners()) == ["our-1", "our-2"]
        assert {u.thread for page in memory.of("our-2", "bench").pages() for u in page.utterances} == {
            "session_1",
            "session_2",
            "session_10",
        }

    fresh = tmp_path / "fresh"
    fresh.mkdir()
    limited = report(locomo(), fresh, limit=2, preset="paper")
    assert (limited["questions"], limited["preset"], limited["rec@20"]) == (2, "paper", 1.0)
    two = parse([locomo()[0], locomo()[0] | {"sample_id": "our-2"}], "ours", "here").conversations
    assert [len(c.questions) for c in recall.limited(two, 5)] == [4, 1]
    assert [c.id for c in recall.limited(two, 4)] == ["our-1"]


# ------------------------------------------------------------------------------------------- the words of a context


def test_what_stands_in_a_context_of_its_budget_counts() -> None:
    found = recall.packed_within(context("a b c […]", said(1, "Ana", "b c"), said(2, "Ana", "c d e")), 4)
    assert (sorted(found.present), sorted(found.whole), found.was_cut) == (["u1", "u2"], ["u1"], False)

    quoted = recall.packed_within(context("a b yesterday [2026-01-02]\nc […]", said(1, "Ana", "a b yesterday c d")), 9)
    assert quoted.says("b yesterday c")
    assert not quoted.says("c d")

    with pytest.raises(recall.BudgetExceeded, match="4 words were packed for a budget of 3"):
        recall.packed_within(context("a b c d", said(1, "Ana", "b c")), 3)

    for words, present, was_cut in [(6, ["u1", "u2"], False), (5, ["u1"], True), (2, [], True)]:
        long = context(
            "Ana: one two\nAna: three four", said(1, "Ana", "one  two"), said(2, "Ana", "three four"), preset="paper"
        )
        cut = recall.packed_within(long, words)
        assert (sorted(cut.present), cut.was_cut) == (present, was_cut)


def test_of_a_long_text_a_report_says_whether_the_right_piece_was_packed(tmp_path: Path) -> None:
    document = recall_set()
    talk = document["conversations"][0]
    middle = "The heron on the jetty is called Gustav."
    sentences = [f"Paragraph {n} treats the sort of rope that item {n} of the long list needs." for n in range(60)]
    talk["threads"][1]["turns"][1]["text"] = " ".join([*sentences[:30], middle, *sentences[30:]])
    asked = talk["questions"][1] | {"text": "What is the heron on the jetty called?", "evidence": ["b1:1"]}
    talk["questions"][1] = asked | {"quote": "is called Gustav"}
    found = report(document, tmp_path)
    assert found["quoted@300w"] == found["by_category"]["now"]["quoted@1200w"] == 1.0
    assert "quoted@300w" not in found["by_category"]["later"]


# ------------------------------------------------------------------------------------------------ the command


def command(*arguments: str) -> Ended:
    """`embermem bench …` in this process, with the embedder that needs no weights."""
    return cli(Path("none.db"), "bench", *arguments)


@pytest.mark.proof
def test_the_command_prints_one_object_for_one_file_and_a_list_for_several(tmp_path: Path) -> None:
    files = []
    for name, document in (("one", locomo()), ("two", recall_set())):
        files.append(str(tmp_path / f"{name}.json"))
        Path(files[-1]).write_text(json.dumps(document), encoding="utf-8")
    single = json.loads(command("recall", files[0], "--json").out)
    assert [key for key in KEYS if key not in single] == []
    several = json.loads(command("recall", *files, "--json", "--preset", "paper", "--limit", "1").out)
    assert [(r["name"], r["preset"], r["questions"]) for r in several] == [("one", "paper", 1), ("small", "paper", 1)]
    shown = command("recall", files[1])
    assert "small" in shown.out
    assert "category later" in shown.out


def test_the_command_names_a_file_that_is_no_data_set(tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text('{"conversations": [{}]}', encoding="utf-8")
    done = command("recall", str(path), "--json")
    assert (done.code, done.out) == (1, "")
    assert "bad.json, conversation 1" in done.err
    assert "Traceback" not in done.err


@pytest.mark.proof
def test_speed_measures_at_each_size_and_says_when_its_time_was_over() -> None:
    found = json.loads(command("speed", "--pages", "5,12", "--seconds", "20", "--json").out)
    assert [point["pages"] for point in found["points"]] == [5, 12]
    assert found["complete"] is True
    assert found["ratio"] > 0
    assert all(point[key] > 0 for point in found["points"] for key in ("add_ms_p50", "search_ms_p50"))
    assert command("speed", "--pages", "many").code == 2


@pytest.mark.proof
def test_embed_measures_single_texts_and_batches() -> None:
    found = json.loads(command("embed", "--seconds", "0.2", "--json").out)
    assert found["single_texts_per_s"] > 0
    assert found["batch_texts_per_s"] > 0
