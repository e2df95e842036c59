"""GVD: a folder or either of its two files, one conversation a user, one thread a day."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from embermem.core.errors import InputError
from embermem.core.types import Role
from embermem_bench import recall
from embermem_bench.datasets import load


def bank() -> dict[str, Any]:
    """Two users; the second's name has blanks around it, and his days stand out of order."""
    return {
        "Petra": {
            "name": "Petra",
            "summary": {},
            "history": {
                "2024-05-01": [
                    {"query": "I planted a fig tree.", "response": "Where does it stand?"},
                    {"query": "By the south wall.", "response": "A warm place."},
                ],
                "2024-05-02": [{"query": "It rained all day.", "response": ""}],
            },
        },
        " Otto ": {
            "name": "Otto",
            "history": {
                "2024-05-03": [{"query": "Third.", "response": "Yes."}],
                "2024-05-01": [{"query": "First.", "response": "Yes."}],
            },
        },
    }


ASKED = [{"Petra": ["Where does my tree stand?", "What did I plant?"]}, {"Otto ": ["What came first?"]}]


def written(folder: Path, bank: object, asked: list[Any] | str, end: str = "_en") -> Path:
    lines = asked if isinstance(asked, str) else "\n".join(json.dumps(line, ensure_ascii=False) for line in asked)
    (folder / f"memory_bank{end}.json").write_text(json.dumps(bank, ensure_ascii=False), encoding="utf-8")
    (folder / f"probing_questions{end}.jsonl").write_text(lines, encoding="utf-8")
    return folder


def test_each_user_is_a_conversation_each_day_a_thread_and_questions_have_no_gold(tmp_path: Path) -> None:
    folder = written(tmp_path, bank(), ASKED)
    whole = load(folder)
    assert whole.name == "gvd_en"
    assert load(folder / "memory_bank_en.json") == load(folder / "probing_questions_en.jsonl") == whole

    petra, otto = load(written(tmp_path, bank(), ASKED)).conversations
    assert (petra.id, otto.id) == ("Petra", "Otto")
    assert [thread.id for thread in otto.threads] == ["2024-05-01", "2024-05-03"]
    first, *_, last = [turn for _, turn in petra.turns()]
    assert (first.speaker, first.role, first.text) == ("Petra", Role.USER, "I planted a fig tree.")
    assert first.at == datetime(2024, 5, 1, 12, tzinfo=UTC)
    assert [(turn.id, turn.role) for turn in petra.threads[0].turns] == [
        ("2024-05-01:1", Role.USER),
        ("2024-05-01:2", Role.ASSISTANT),
        ("2024-05-01:3", Role.USER),
        ("2024-05-01:4", Role.ASSISTANT),
    ]
    assert (last.text, last.at.day) == ("It rained all day.", 2)

    petra, otto = load(written(tmp_path, bank(), ASKED)).conversations
    assert [(q.id, q.text) for q in petra.questions] == [
        ("Petra:Q1", "Where does my tree stand?"),
        ("Petra:Q2", "What did I plant?"),
    ]
    assert {(q.category, q.answer, q.answerable, q.has_evidence) for q in (*petra.questions, *otto.questions)} == {
        ("gvd", None, True, False)
    }
    assert (petra.with_evidence, petra.skipped, otto.skipped) == ((), 2, 1)

    report = recall.run(load(written(tmp_path, bank(), ASKED)), tmp_path, embedder="hashed").as_json()
    assert (report["questions"], report["skipped"], report["utterances"]) == (0, 3, 9)


def test_the_chinese_files_are_read_too(tmp_path: Path) -> None:
    talk = {"林夏": {"history": {"2024-05-01": [{"query": "我种了一棵无花果树。", "response": "种在哪里?"}]}}}
    written(tmp_path, talk, [{"林夏": ["我的树是什么树?"]}], end="_cn")
    (only,) = load(tmp_path / "memory_bank_cn.json").conversations
    assert (only.id, only.speakers, only.questions[0].text) == ("林夏", ("林夏", "assistant"), "我的树是什么树?")


def changed(**days: object) -> dict[str, Any]:
    return {"Petra": {"history": {day.strip("_").replace("_", "-"): said for day, said in days.items()}}}


def test_what_is_wrong_is_named(tmp_path: Path) -> None:
    cases: list[tuple[object, list[Any] | str, str]] = [
        (bank(), [{"Nobody": ["Who?"]}], "probing_questions_en.jsonl: the user 'Nobody' is not in memory_bank_en.json"),
        (bank(), [*ASKED, {"Otto": []}], "probing_questions_en.jsonl, line 3: the user 'Otto' stands there twice"),
        (bank(), [{"Petra": "Who?"}], "line 1, Petra: expected a list, found a str"),
        (bank(), [{"Petra": ["a", None]}], "line 1, Petra, question 2: 'question' is missing or not a text"),
        (bank(), '{"Petra": []}\n{', "probing_questions_en.jsonl, line 2: not JSON"),
        (bank(), "[]", "line 1: expected an object, found a list"),
        (bank() | {"Otto": bank()["Petra"]}, [], "the conversation id 'Otto' stands there twice"),
        (bank() | {"Otto": 3}, [], "Otto: expected an object, found a int"),
        (changed(_2024_13_01=[]), [], "Petra, history: the day is '2024-13-01'; expected a form like 2023-04-27"),
        (changed(_2024_05_01={}), [], "Petra, 2024-05-01: expected a list, found a dict"),
        (changed(_2024_05_01=[{"query": "", "response": " "}]), [], "exchange 1: neither a query nor a response"),
        (changed(_2024_05_01=[{"query": ["a"]}]), [], "exchange 1: 'query' is missing or not a text"),
    ]
    for talk, asked, wrong in cases:
        with pytest.raises(InputError) as caught:
            load(written(tmp_path, talk, asked))
        assert wrong in str(caught.value)


def test_both_files_must_stand_in_the_folder_and_one_data_set_alone(tmp_path: Path) -> None:
    written(tmp_path, bank(), ASKED)
    (tmp_path / "probing_questions_en.jsonl").unlink()
    with pytest.raises(InputError, match=r"cannot read .*probing_questions_en\.jsonl"):
        load(tmp_path)
    (tmp_path / "memory_bank_en.json").rename(tmp_path / "other.json")
    with pytest.raises(InputError, match=r"other\.json: this is GVD's memory bank: name it memory_bank\*\.json"):
        load(tmp_path / "other.json")

    several = tmp_path / "several"
    several.mkdir()
    with pytest.raises(InputError, match=r"no memory_bank\*\.json is in this folder"):
        load(several)
    written(several, bank(), ASKED)
    written(several, bank(), ASKED, end="_cn")
    with pytest.raises(InputError, match=r"several .* \(memory_bank_cn\.json, memory_bank_en\.json\); give one file"):
        load(several)
