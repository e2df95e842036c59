"""`embermem rebuild`, `embermem undo` and `embermem show changes`."""

from __future__ import annotations

import shutil
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from running import command, environment, heeds_ctrl_c, run, said, write

from embermem import Memory
from embermem.core.changes import Cause, Change, Decision
from embermem.reports import show
from embermem.testing import answers
from embermem.testing.model_server import ModelServer
from soundness import assert_sound
from state_rows import falsify

NOW = datetime(2026, 5, 2, 12, tzinfo=UTC)
TALK = (
    ("I live in Lyon.", "home"),
    ("I saw a heron by the lake.", "walks"),
    ("The train was late again.", "trains"),
    ("I like figs.", "food"),
)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A model that answers each of our questions."""
    with ModelServer(answers.answer) as one:
        yield one


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which a talk of alice was understood by extraction; bob's has one page."""
    lines = [
        {"query": f"{text} That was on day {day}.", "response": "I see.", "thread": f"{thread} {day // 2}"}
        for day in range(1, 5)
        for text, thread in TALK
    ]
    at = tmp_path_factory.mktemp("made") / "m.db"
    assert run(at, "--user", "alice", "ingest", str(write(at.with_name("talk.jsonl"), *lines))).code == 0
    assert run(at, "--user", "bob", "add", "I live in Nice.").code == 0
    return at


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Path:
    """A copy of it for each test."""
    shutil.copytree(made.parent, tmp_path, dirs_exist_ok=True)
    return tmp_path / made.name


def model(server: ModelServer, **more: str) -> dict[str, str]:
    """The settings with which a model may be named."""
    named = {"EMBERMEM_MODEL_URL": server.url, "EMBERMEM_MODEL_RETRIES": "0"}
    return named | {f"EMBERMEM_{name.upper()}": value for name, value in more.items()}


def shown(store: Path) -> list[Any]:
    """All that the store shows of alice, but for heat, which falls as time goes by."""
    tiers: Any = [run(store, "--user", "alice", "show", what, "--json").json for what in ("mid", "long", "changes")]
    return [[{**segment, "heat": None} for segment in tiers[0]], *tiers[1:], said(store, "alice")]


def damage(store: Path, **values: object) -> None:
    """Damage the facts that are held, behind the store's back."""
    with Memory(store, background=False) as memory:
        for owner in memory.owners():
            falsify(
                memory._store,
                owner.id,
                lambda one: replace(one, **values) if getattr(one, "attribute", "") == "lives_in" else one,
            )


# ------------------------------------------------------------------------------------------------ the same again


def test_a_rebuild_says_of_each_user_that_nothing_differs_and_changes_nothing(store: Path) -> None:
    before = shown(store)
    done = run(store, "rebuild")
    assert (done.code, done.out) == (0, "alice / default: the same\nbob / default: the same\n")
    told = run(store, "--user", "bob", "rebuild", "--owner-only", "--json").json
    assert (told["same"], [one["owner"]["user"] for one in told["owners"]]) == (True, ["bob"])
    assert shown(store) == before


def test_what_was_damaged_is_named_and_mended_and_the_exit_code_says_so(store: Path) -> None:
    before = shown(store)
    damage(store, value="Rome", text="lives in Rome")
    assert shown(store) != before
    done = run(store, "rebuild")
    assert done.code == 1
    assert "alice / default: differed from the log" in done.out
    assert "gone" in done.out
    for text in ("lives in Rome", "lives in Lyon", "bob / default: the same"):
        assert text in done.out
    assert shown(store) == before
    assert run(store, "rebuild").code == 0


def test_a_difference_in_nothing_that_is_listed_is_still_told(store: Path) -> None:
    damage(store, valid_from=datetime(2000, 1, 1, tzinfo=UTC))
    done = run(store, "rebuild", "--json")
    assert (done.code, done.json["same"], done.json["owners"][0]["facts_gone"]) == (1, False, [])
    damage(store, valid_from=datetime(2000, 1, 1, tzinfo=UTC))
    assert "past facts, ids or times do" in run(store, "rebuild").out


# ----------------------------------------------------------------------------------------------------------- anew


def test_a_dry_run_shows_what_the_real_one_does_and_changes_nothing(store: Path, server: ModelServer) -> None:
    before, env = shown(store), model(server)
    one = ("--user", "alice", "rebuild", "--model", "scripted")
    tried = run(store, *one, "--dry-run", "--json", more=env)
    assert (tried.code, shown(store)) == (0, before)
    asked = run(store, "cost", "--json").json["total"][0]["calls"]
    assert asked == server.calls > 0  # the ledger is the real one's

    done = run(store, *one, "--anew", "--json", more=env)
    assert done.code == 0
    assert (tried.json["dry_run"], done.json["dry_run"], done.json["model"]) == (True, False, "scripted")
    for found in (tried.json["owners"][0], done.json["owners"][0]):
        assert found["summaries_gone"]
        assert (found["waiting"], found["errors"]) == (0, [])
    assert tried.json["owners"][0]["summaries_new"] == done.json["owners"][0]["summaries_new"]
    assert {one["analyst"].partition("/")[0] for one in shown(store)[2] if one["cause"] == "consolidation"} >= {
        "model:scripted"
    }
    assert said(store, "alice")
    assert_sound(store)


def test_read_anew_by_extraction_after_a_model_it_is_what_it_was(store: Path, server: ModelServer) -> None:
    def facts() -> list[str]:
        return [fact["text"] for fact in run(store, "--user", "alice", "show", "long", "--json").json["facts"]]

    env, before = model(server, model="scripted"), facts()
    assert run(store, "--user", "alice", "rebuild", "--anew", more=env).code == 0
    asked = server.calls
    done = run(store, "--user", "alice", "rebuild", "--anew", "--model", "", more=env)
    assert (done.code, server.calls) == (0, asked)
    assert "by extraction" in done.err
    assert facts() == before


def test_the_listing_shows_before_and_after(store: Path, server: ModelServer) -> None:
    never = {"EMBERMEM_NEVER": "lives_in\nhome"}
    assert run(store, "--user", "alice", "rebuild", "--anew", more=never).code == 0
    done = run(store, "--user", "alice", "rebuild", "--dry-run", "--model", "scripted", more=model(server))
    assert done.code == 0
    for text in (
        "would be read anew by model scripted",
        "segments",
        "→",
        "new   alice lives in Lyon",
        "home",
        "gone",
        "new",
    ):
        assert text in done.out
    assert "calls are made, and count" in done.err


@pytest.mark.parametrize("how", ["--anew", pytest.param("--dry-run", marks=pytest.mark.proof)])
def test_with_the_budget_spent_it_says_how_many_pages_wait_and_why(store: Path, server: ModelServer, how: str) -> None:
    env = model(server, model="scripted", calls_per_day="1")
    found = run(store, "--user", "alice", "rebuild", how, "--json", more=env).json["owners"][0]
    assert server.calls == 1
    assert found["waiting"] > 0
    (why,) = found["errors"]
    assert "calls" in why
    again = run(store, "--user", "alice", "rebuild", "--dry-run", more=env)
    assert why in " ".join(again.out.split())
    assert "Lyon" in run(store, "--user", "alice", "recall", "Where do I live?").out


@pytest.mark.proof
def test_stopped_in_the_middle_what_is_not_yet_read_waits_and_settle_goes_on(store: Path, server: ModelServer) -> None:
    env = model(server, model="scripted", lease_s="2")
    server.fail_next("hang")
    line = command("--user", "alice", "rebuild", "--anew")
    with subprocess.Popen(
        line, env=environment(store, env), stderr=subprocess.PIPE, text=True, preexec_fn=heeds_ctrl_c
    ) as process:
        server.wait_for_calls(1, 60)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, "embermem settle" in err, "Traceback" in err) == (130, True, False)
    waiting = run(store, "--user", "alice", "stats", "--json").json["owner"]["pending"]
    assert waiting > 0
    assert run(store, "--user", "alice", "settle", "--json", more=env).json == {"placed": waiting, "waiting": []}
    assert_sound(store)


def test_wrong_usage_and_who_is_not_there_are_told_and_nothing_is_written(store: Path) -> None:
    assert run(store, "rebuild", "--model", "scripted").code == 2
    for arguments in (["--owner-only"], ["--anew"], ["--dry-run"]):
        done = run(store, "--user", "nobody", "rebuild", *arguments)
        assert (done.code, done.out) == (1, "")
        assert "no memory of nobody/default" in done.err
    assert len(run(store, "stats", "--json").json["owners"]) == 2
    for arguments in (["rebuild"], ["rebuild", "--anew"], ["undo", "1"], ["show", "changes"]):
        assert run(store.parent / "none" / "m.db", *arguments).code == 1
    assert not (store.parent / "none").exists()


# ----------------------------------------------------------------------------------------------------------- undo


def added(store: Path, text: str) -> str:
    """The number of the change that taught this of alice, as `show changes` tells it."""
    log = run(store, "--user", "alice", "show", "changes", "--json").json
    return str(next(one["no"] for one in log if f"+ {text}" in one["holds"]))


def test_undo_takes_back_what_a_change_taught_and_undoing_that_restores_it(store: Path) -> None:
    def known() -> list[str]:
        return [fact["text"] for fact in run(store, "--user", "alice", "show", "long", "--json").json["facts"]]

    before, no = known(), added(store, "alice lives in Lyon")
    done = run(store, "--user", "alice", "undo", no)
    assert done.code == 0
    assert "alice lives in Lyon" not in known()
    assert f"embermem undo {done.out.strip()}" in done.err
    again = run(store, "--user", "alice", "undo", done.out.strip(), "--json").json
    assert again == {"change": int(done.out) + 1, "undoes": int(done.out), "refused": []}
    assert known() == before
    log = run(store, "--user", "alice", "show", "changes", "--json").json
    assert [one["cause"] for one in log[-2:]] == ["undo", "undo"]
    assert f"undoes change {no}; − alice lives in Lyon" in log[-2]["holds"]
    assert "+ alice lives in Lyon" in log[-1]["holds"]
    assert run(store, "rebuild").code == 0


def test_what_cannot_be_undone_is_one_line(store: Path) -> None:
    cases: list[tuple[str, int, str]] = [("999", 1, "no change 999"), ("1", 1, "taught"), ("0", 2, "")]
    for number, code, why in cases:
        done = run(store, "--user", "alice", "undo", number)
        assert (done.code, done.out) == (code, "")
        assert why in done.err


# ------------------------------------------------------------------------------------------------ the log, listed


def test_the_log_is_listed_with_the_newest_last_and_every_change_says_what_it_holds(store: Path) -> None:
    run(store, "--user", "alice", "undo", added(store, "alice lives in Lyon"))
    log = run(store, "--user", "alice", "show", "changes", "--json").json
    assert [one["no"] for one in log] == list(range(1, len(log) + 1))
    assert all(one["holds"] for one in log)
    assert {"embedding", "annotation", "consolidation", "undo"} <= {one["cause"] for one in log}
    assert all(decision["kind"] for one in log for decision in one["decisions"])
    assert run(store, "--user", "alice", "show", "changes", "--limit", "0", "--json").json == []
    newest = run(store, "--user", "alice", "show", "changes", "--limit", "1")
    assert "undoes change" in newest.out
    assert "embedding" not in newest.out


@given(st.lists(st.one_of(*map(st.from_type, get_args(Decision))), max_size=4))
def test_every_decision_has_a_word_and_without_any_there_is_none(decided: list[Decision]) -> None:
    change = Change(no=1, cause=Cause.ANNOTATION, analyst="", recorded_at=NOW, decisions=tuple(decided))
    assert bool(show.holds(change, {})) == bool(decided)
