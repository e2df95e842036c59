"""What understanding costs: the script asks the model in each way, and says what is wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WAYS = ("settled once, at the end", "settled after every page", "worked on when due")


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [ROOT / "bench" / "scripts" / "model_cost.sh", *arguments],
        env=os.environ | {"PYTHON": sys.executable, "EMBERMEM_EMBEDDER": "hashed"},
        capture_output=True,
        text=True,
        timeout=240,
    )


def talk(folder: Path, pages: int) -> Path:
    said = [
        {"speaker": speaker, "dia_id": f"D1:{2 * n + side + 1}", "text": text}
        for n in range(pages)
        for side, (speaker, text) in enumerate((("Ann", f"I saw {n} herons."), ("Bo", "How lovely!")))
    ]
    talks = [{"sample_id": "t1", "conversation": {"session_1": said, "session_1_date_time": "1:56 pm on 8 May, 2023"}}]
    path = folder / "talk.json"
    path.write_text(json.dumps(talks), encoding="utf-8")
    return path


def calls_of(printed: str) -> dict[str, float]:
    """Calls a page in each way."""
    rows = {way: line for way in WAYS for line in printed.splitlines() if line.startswith(f"Ember, {way} ")}
    return {way: float(row.removeprefix(f"Ember, {way}").split()[0]) for way, row in rows.items()}


@pytest.mark.proof
def test_each_way_is_measured_and_one_settle_asks_least(tmp_path: Path) -> None:
    done = run(talk(tmp_path, 12), "--pages", "10")
    assert done.returncode == 0, done.stderr
    assert "t1, 10 pages" in done.stdout
    calls = calls_of(done.stdout)
    assert tuple(calls) == WAYS
    assert 0 < calls[WAYS[0]] == min(calls.values())
    assert calls[WAYS[1]] >= 0.3


@pytest.mark.proof
def test_a_talk_too_short_to_ask_anything_is_told(tmp_path: Path) -> None:
    done = run(talk(tmp_path, 2))
    assert done.returncode == 1
    assert "the model was not asked" in done.stderr


@pytest.mark.proof
def test_a_file_that_is_none_of_the_known_formats_is_told(tmp_path: Path) -> None:
    path = tmp_path / "odd.json"
    path.write_text("{}", encoding="utf-8")
    done = run(path)
    assert (done.returncode, "odd.json" in done.stderr) == (2, True)
