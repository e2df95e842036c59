"""Cases on the command line: added, listed, dropped, and exported as a test that the bench runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from running import run


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store in which twelve days were told of, each by itself."""
    file = tmp_path / "m.db"
    things = "heron goldfish,fig trees,nurse Grenoble,old bricks,jazz records,horror films,rowing lake".split(",")
    for day, thing in enumerate(things, 1):
        assert run(file, "add", f"Today it was all about {thing}.", "I see.", "--thread", f"t{day}").code == 0
    assert run(file, "settle").code == 0
    return file


def said(store: Path, word: str) -> str:
    """The id of the utterance that holds a word."""
    found = run(store, "items", "utterance", "--json").json
    return str(next(one["id"] for one in found if word in one["text"]))


def test_a_case_is_added_listed_and_dropped(store: Path) -> None:
    heron, figs = said(store, "heron"), said(store, "fig")
    made = run(store, "cases", "add", "What of birds?", "--expected", heron, "--unwanted", figs, "--note", "a bird")
    assert made.code == 0, made.err
    case_id = made.out.partition(":")[0]
    (listed,) = run(store, "cases", "list", "--json").json
    assert (listed["id"], listed["note"]) == (case_id, "a bird")
    assert "What of birds?" in run(store, "cases", "list").out
    assert run(store, "cases", "drop", case_id).code == 0
    assert run(store, "cases", "list", "--json").json == []
    again = run(store, "cases", "drop", case_id)
    assert (again.code, again.out) == (1, "")
    assert "dropped before" in again.err


def test_what_marks_nothing_is_refused_and_without_cases_nothing_is_written(store: Path, tmp_path: Path) -> None:
    refused = run(store, "cases", "add", "What of birds?")
    assert (refused.code, refused.out) == (1, "")
    assert "at least one utterance" in refused.err
    out = tmp_path / "cases.json"
    refused = run(store, "cases", "export", "--out", str(out))
    assert (refused.code, refused.out) == (1, "")
    assert "has no cases" in refused.err
    assert not out.exists()


def test_exported_cases_are_run_by_the_bench_and_counted_as_found_or_not(store: Path, tmp_path: Path) -> None:
    heron, figs, rowing = (said(store, word) for word in ("heron", "fig", "rowing"))
    asked = (("What about the heron and the goldfish?", heron), ("What about jazz records?", rowing))
    for query, expected in asked:
        assert run(store, "cases", "add", query, "--expected", expected).code == 0
    assert run(store, "cases", "add", "What about films?", "--unwanted", figs).code == 0
    out = tmp_path / "cases.json"
    assert run(store, "cases", "export", "--out", str(out)).code == 0
    assert run(store, "cases", "export").json == json.loads(out.read_text())
    found, missed, nothing = (one["id"] for one in run(store, "cases", "list", "--json").json)
    done = run(tmp_path / "bench.db", "bench", "recall", str(out), "--json")
    assert done.code == 0, done.err
    (report,) = done.json if isinstance(done.json, list) else [done.json]
    by = report["by_category"]
    assert by[found]["all@1"] == 1.0
    assert by[missed]["all@1"] == 0.0
    assert nothing not in by
    assert (report["questions"], report["skipped"]) == (2, 1)
