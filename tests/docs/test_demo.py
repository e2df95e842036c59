"""The demo runs offline, keeps its lines short, and shows what it promises."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from embermem import Memory
from embermem.demo import AGENT, USER, conversation, main
from proofs import bounded


def run(folder: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """`python -m embermem.demo` to its end, from another folder."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("EMBERMEM_")}
    return subprocess.run(
        [sys.executable, "-m", "embermem.demo", *arguments],
        cwd=folder,
        env={**kept, "COLUMNS": "80", "PYTHONUTF8": "1", **more},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
    )


def test_the_conversation_runs_forward_over_several_weeks() -> None:
    said = conversation()
    times = [datetime.fromisoformat(one.at) for one in said]
    assert 60 <= len(said) <= 90
    assert times == sorted(times)
    assert times[-1] - times[0] > timedelta(weeks=8)
    assert all(one.query and one.response for one in said)


def test_it_shows_the_tiers_the_answers_and_why_and_leaves_nothing_else_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in {"COLUMNS": "80", **bounded({"EMBERMEM_EMBEDDER": "hashed"}, proofs={})}.items():
        monkeypatch.setenv(name, value)
    made = [tmp_path / "temporary", tmp_path / "kept"]
    for folder in made:
        folder.mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    assert main(["--store", str(made[1] / "kept.db")]) == 0
    printed = capsys.readouterr().out
    assert sorted(tmp_path.glob("*")) == sorted(made)
    assert not list(made[0].iterdir()), "it leaves nothing behind"
    for shown in ("Short-term memory", "Mid-term memory", "Long-term memory", "Recall", "lives in Nantes", "score"):
        assert shown in printed
    for shown in ("Mei, the user", "Lian, Mei's sister\n", "Lian lives in Annecy", "Inès works as a first aider"):
        assert shown in printed
    assert printed.count("wants the assistant to use the 24-hour clock [#115]") == 1
    with Memory(made[1] / "kept.db", background=False) as memory:
        owner = memory.of(USER, AGENT)
        assert all(one.title[:30] in printed for one in owner.segments() if len(one.page_ids) > 6)
        assert owner.stats().pages == len(conversation())
        homes = {fact.value for fact in owner.facts(person="user") if fact.attribute == "lives_in"}
        assert homes in ({"Grenoble"}, {"格勒诺布尔"})  # what she said last, in whatever language
        assert "Nantes" in {fact.value for fact in owner.past_facts()}


@pytest.mark.proof
def test_without_a_store_it_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EMBERMEM_EMBEDDER", "hashed")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    assert main([]) == 0
    assert list(tmp_path.rglob("*")) == [tmp_path / "temporary"]


@pytest.mark.proof
def test_its_lines_fit_80_columns_without_colours(tmp_path: Path) -> None:
    from rich.cells import cell_len

    done = run(tmp_path, NO_COLOR="1")
    assert "\x1b" not in done.stdout
    assert max(cell_len(line) for line in done.stdout.splitlines()) <= 80
    assert not any(line.endswith(" ") for line in done.stdout.splitlines())


@pytest.mark.proof
def test_run_twice_on_one_store_it_stores_once(tmp_path: Path) -> None:
    for _ in range(2):
        assert run(tmp_path, "--store", "kept.db", EMBERMEM_EMBEDDER="hashed").returncode == 0
    with Memory(tmp_path / "kept.db", background=False) as memory:
        assert memory.of(USER, AGENT).stats().pages == len(conversation())


@pytest.mark.proof
def test_the_command_shows_it_too_and_touches_no_other_store(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "embermem", "--store", "mine.db", "demo", "--keep", "kept.db"],
        cwd=tmp_path,
        env={**os.environ, "HOME": str(tmp_path), "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "The memory is kept in kept.db" in done.stdout
    assert not (tmp_path / "mine.db").exists()
