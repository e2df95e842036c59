"""`embermem bench contexts`: what contexts hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from running import run as cli
from small import recall_set

from embermem.core.errors import InputError
from embermem_bench import contexts

REPLACED = {
    "id": "a",
    "lang": "en",
    "query": "Where do I work?",
    "old": "the bank",
    "new": "the garden centre",
    "messages": [
        {"at": "2026-01-02", "text": "I work at the bank."},
        {"at": "2026-03-02", "text": "I work at the garden centre now."},
    ],
}
NOTES = {
    "notes": [{"id": "n1", "title": "Lease", "text": "# Rent\n\nThe rent is due on the third of each month."}],
    "questions": [{"id": "q1", "text": "When is the rent due?", "note": "n1", "quote": "on the third of each month"}],
}


def measured(*arguments: str) -> Any:
    ended = cli(Path("none.db"), "bench", "contexts", "--json", *arguments)
    assert ended.code == 0, ended
    return json.loads(ended.out)


def written(path: Path, *items: object) -> str:
    path.write_text("\n".join(json.dumps(item) for item in items), encoding="utf-8")
    return str(path)


def test_conversations_are_measured_at_each_budget_beside_plain_lines(tmp_path: Path) -> None:
    found = measured(written(tmp_path / "small.json", recall_set()))
    assert list(found["budgets"]) == [str(budget) for budget in contexts.BUDGETS]
    largest = found["budgets"]["2000"]
    assert largest["questions"] > 0
    assert 0.0 < largest["plain"] <= 1.0
    assert largest["lost"] == 0.0
    assert found["budgets"]["150"]["tokens"] <= 150


def test_item_sets_and_notes_are_counted(tmp_path: Path) -> None:
    replaced = written(tmp_path / "replaced.jsonl", REPLACED)
    both = {key: REPLACED[key] for key in ("id", "lang", "query", "messages")} | {"values": ["bank", "garden"]}
    silence = written(tmp_path / "silence.jsonl", {"id": "n", "lang": "en", "text": "Thanks!", "near": False})
    life = written(tmp_path / "life.json", recall_set())
    found = measured(
        replaced, written(tmp_path / "both.jsonl", both), silence, written(tmp_path / "n.json", NOTES), "--lives", life
    )
    assert [one["name"] for one in found] == ["replaced", "both", "silence", "n"]
    assert (found[0]["items"], found[0]["new_told"]) == (1, 1)
    assert found[1]["both_told"] == 1
    assert found[2]["injected"] == 0
    assert (found[3]["questions"], found[3]["answered"]) == (1, 1)


def test_an_item_of_unknown_fields_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 2: the fields are id, lang, what"):
        contexts.load_items(Path(written(tmp_path / "x.jsonl", REPLACED, {"id": "b", "lang": "en", "what": "?"})))
