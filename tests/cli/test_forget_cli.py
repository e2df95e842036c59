"""`embermem forget`, `correct`, `pin` and `retire`."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from running import command, environment, run

WORD = "Quuxville"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of one user who lives somewhere and likes something."""
    file = tmp_path_factory.mktemp("made") / "m.db"
    for said in (f"I live in {WORD}.", "I like figs."):
        assert run(file, "add", said, "I see.", "--thread", said[-5:-1]).code == 0
    assert run(file, "settle").code == 0
    return file


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Path:
    """A copy of it for each test."""
    shutil.copytree(made.parent, tmp_path, dirs_exist_ok=True)
    return tmp_path / made.name


def facts(store: Path) -> dict[str, dict[str, Any]]:
    """The facts held, by value."""
    return {fact["value"]: fact for fact in run(store, "show", "long", "--json").json["facts"]}


def test_without_a_terminal_it_is_refused_unless_told_yes(store: Path) -> None:
    refused = run(store, "forget", "--page", "1")
    assert (refused.code, refused.out) == (1, "")
    assert "--yes" in refused.err
    assert WORD in facts(store)
    done = run(store, "forget", "--page", "1", "--yes")
    assert done.code == 0
    assert "1 page" in done.out
    assert WORD not in facts(store)
    assert WORD.encode() not in store.read_bytes()


def test_a_dry_run_shows_what_would_go_and_changes_nothing(store: Path) -> None:
    shown = run(store, "forget", "--page", "1", "--dry-run")
    assert shown.code == 0
    assert WORD in shown.out
    assert "would be forgotten: 1 page" in shown.out
    tried = run(store, "forget", "--page", "1", "--dry-run", "--json").json
    done = run(store, "forget", "--page", "1", "--yes", "--json").json
    assert (tried["dry_run"], done["dry_run"], done["scrubbed"]) == (True, False, True)
    assert tried["sha256"] == done["sha256"]
    assert tried["pages"] == done["pages"]


def test_one_thing_is_named(store: Path) -> None:
    for wrong in ((), ("--all", "--page", "1"), ("--thread", "a", "--fact", "b")):
        assert run(store, "forget", *wrong, "--yes").code == 2
    for missing in (("--page", "99"), ("--page", "p9"), ("--fact", "f9"), ("--segment", "s9"), ("--thread", "none")):
        ended = run(store, "forget", *missing, "--yes")
        assert (ended.code, ended.out) == (1, "")


def test_all_of_one_user_goes_and_others_stay(store: Path) -> None:
    assert run(store, "--user", "bob", "add", "I like jazz.").code == 0
    assert run(store, "forget", "--all", "--yes").code == 0
    assert [owner["user"] for owner in run(store, "stats", "--json").json["owners"]] == ["bob"]


def test_a_fact_is_corrected_pinned_and_retired(store: Path) -> None:
    lives = facts(store)[WORD]["id"]
    made = run(store, "correct", lives, "lives in Laon", "--value", "Laon", "--json").json
    assert (made["value"], made["text"]) == ("Laon", "The user lives in Laon")
    assert run(store, "correct", lives, "lives in Nantes").code == 1  # it holds no longer
    assert run(store, "pin", made["id"]).out == f"{made['id']}: The user lives in Laon\n"
    assert facts(store)["Laon"]["pinned"]
    assert run(store, "pin", made["id"], "--off").code == 0
    assert not facts(store)["Laon"]["pinned"]
    assert run(store, "retire", facts(store)["figs"]["id"]).code == 0
    assert list(facts(store)) == ["Laon"]
    assert run(store, "forget", "--fact", made["id"], "--yes").code == 0
    assert facts(store) == {}


@pytest.mark.parametrize(("answer", "goes"), [(b"n\n", False), pytest.param(b"y\n", True, marks=pytest.mark.proof)])
def test_on_a_terminal_it_asks(store: Path, answer: bytes, goes: bool) -> None:
    ours, theirs = pty.openpty()
    os.write(ours, answer)
    done = subprocess.run(
        command("forget", "--page", "1"),
        stdin=theirs,
        capture_output=True,
        env=environment(store),
        timeout=120,
        check=False,
    )
    os.close(theirs)
    os.close(ours)
    assert b"Forget 1 page" in done.stderr
    assert WORD.encode() in done.stdout  # what would go was shown
    assert (done.returncode == 0) == goes
    assert (WORD not in facts(store)) == goes
