"""The past on the command line: earlier moments, why, diff, conflicts, facts brought, ends, receipts, undo."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from running import Ended, run, write

THEN = "2026-05-05"
HOME = {"attribute": "lives_in", "valid_from": "2026-05-01"}
LYON = {"text": "lives in Lyon", "value": "Lyon", **HOME}
NANTES = {"text": "lives in Nantes", "value": "Nantes", **HOME}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of one user who said where she lives, and later that she moved."""
    file = tmp_path_factory.mktemp("made") / "m.db"
    for day, said in (("2026-05-01", "I live in Lyon."), ("2026-05-11", "I moved to Nantes.")):
        assert run(file, "add", said, "I see.", "--thread", day, "--at", day).code == 0
        assert run(file, "settle").code == 0
    return file


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Path:
    """A copy of it for each test."""
    shutil.copytree(made.parent, tmp_path, dirs_exist_ok=True)
    return tmp_path / made.name


def facts(store: Path, *options: str) -> list[str]:
    """What is known, by `show`."""
    return [fact["value"] for fact in run(store, "show", "long", "--json", *options).json["facts"]]


def learnt(store: Path, *brought: dict[str, Any]) -> list[dict[str, Any]]:
    """Facts that were brought in a file, as they were taken in."""
    found: list[dict[str, Any]] = run(store, "learn", str(write(store.parent / "facts.jsonl", *brought)), "--json").json
    return found


def refused(ended: Ended, says: str = "", code: int = 1) -> bool:
    """Whether a command ended with an error in words, and nothing on stdout."""
    return ended.code == code and ended.out == "" and says in ended.err and "Traceback" not in ended.err


# ------------------------------------------------------------------------------------------------ an earlier moment


def test_show_and_recall_look_back(store: Path) -> None:
    assert facts(store) == ["Nantes"]
    assert facts(store, "--valid-at", THEN) == ["Lyon"]
    assert facts(store, "--as-of", "2020-01-01") == []
    told = run(store, "recall", "Where do I live?", "--valid-at", THEN)
    assert "Lyon" in told.out
    assert "Nantes" not in told.out
    assert "Nantes" in run(store, "recall", "Where do I live?").out
    for what in ((), ("short",), ("pending",), ("mid",), ("long",), ("archive",), ("page", "1")):
        shown = run(store, "show", *what, "--valid-at", THEN)
        assert shown.code == 0, shown.err
        assert "Nantes" not in shown.out
    assert run(store, "show", "page", "2", "--valid-at", THEN).code == 1


def test_what_is_no_time_is_wrong_usage(store: Path) -> None:
    for arguments in (
        ("show", "--as-of", "soon"),
        ("show", "--valid-at", ""),
        ("recall", "home", "--as-of", "2026-13-01"),
        ("diff", "soon"),
        ("diff", THEN, "later"),
        ("conflicts", "--as-of", "x"),
        ("expire", "soon", "--page", "1"),
        ("forget", "--before", "soon", "--yes"),
        ("add", "Hello", "--expires-at", "soon"),
        ("show", "changes", "--as-of", THEN),
    ):
        assert refused(run(store, *arguments), code=2), arguments
    assert refused(run(store, "diff", "2026-05-05", "2026-05-01"), "after")


def test_diff_says_what_came_to_be_known(store: Path) -> None:
    shown = run(store, "diff", "2020-01-01")
    assert shown.code == 0, shown.err
    assert "lives in Nantes" in shown.out
    whole = run(store, "diff", "2020-01-01", "--json").json
    assert len(whole["pages_added"]) == 2
    nothing = run(store, "diff", "2020-01-01", "2020-02-01", "--json").json
    assert nothing["pages_added"] == nothing["facts_added"] == []


# ----------------------------------------------------------------------------------------------------------- why


def test_why_shows_the_chain_from_a_line_to_the_words(store: Path) -> None:
    (fact,) = run(store, "show", "long", "--json").json["facts"]
    for item in (fact["id"], "user.home"):
        shown = run(store, "why", item)
        assert shown.code == 0, shown.err
        assert "I moved to Nantes" in shown.out
        assert "I live in Lyon" in shown.out
        assert run(store, "why", item, "--json").json["item_id"] == item
    for none in ("f99-000", "user.nothing", "", "../x", "汉字"):
        assert refused(run(store, "why", none)), none


# ----------------------------------------------------------------------------------------------------- conflicts


def test_conflicts_are_listed_until_both_are_let_stand(tmp_path: Path) -> None:
    store = tmp_path / "new.db"
    one, two = (fact["id"] for fact in learnt(store, LYON, NANTES))
    shown = run(store, "conflicts")
    assert one in shown.out
    assert two in shown.out
    assert len(run(store, "conflicts", "--json").json) == 1
    assert run(store, "conflicts", "--as-of", "2020-01-01", "--json").json == []
    assert run(store, "conflicts", "--both", two, one, "--json").json == []
    assert refused(run(store, "conflicts", "--both", two, one), "not in conflict")
    assert refused(run(store, "conflicts", "--both", "f98-000", "f99-000"))
    assert refused(run(store, "conflicts", "--both", one), code=2)
    assert facts(store) == ["Lyon", "Nantes"]


# --------------------------------------------------------------------------------------------------------- learn


def test_facts_are_learnt_from_a_file_or_stdin_all_or_none(tmp_path: Path) -> None:
    store = tmp_path / "deep" / "new.db"
    done = run(store, "learn", "-", stdin='{"text": "likes tea"}\n\n{"text": "喜欢绿茶"}\r\n'.encode())
    assert done.code == 0, done.err
    assert [line.partition(": ")[2] for line in done.out.splitlines()] == ["The user likes tea", "用户喜欢绿茶"]
    for wrong, says in (
        (b"", "empty"),
        (b"{", "line 1"),
        (b'{"text": "sails"}\n[1]\n', "facts[1]"),
        (b'{"text": "sails"}\n{"says": "x"}\n', "says"),
        (b'{"text": "sails", "expires_at": "2020-01-01"}', "expires_at"),
        (b"\xff", "UTF-8"),
    ):
        assert refused(run(store, "learn", "-", stdin=wrong), says), wrong
    assert refused(run(store, "learn", str(tmp_path / "none.jsonl")), "none.jsonl")
    assert refused(run(store, "learn", str(tmp_path)), str(tmp_path))
    assert facts(store) == ["likes tea", "喜欢绿茶"]


# ------------------------------------------------------------------------------------------------- fade and expire


def test_what_would_fade_is_listed_and_nothing_new_fades(store: Path) -> None:
    tried = run(store, "fade", "--dry-run")
    assert tried.code == 0
    assert "would leave: 0 facts, 0 segments" in tried.out
    assert "lives in Nantes" in tried.out
    done = run(store, "fade", "--json").json
    assert (done["faded"]["dry_run"], done["faded"]["facts"]) == (False, [])
    assert all({"R", "S", "t", "reason"} <= set(one) for one in done["retention"])


def test_a_page_and_a_fact_get_an_end_and_lose_it(store: Path) -> None:
    assert run(store, "expire", "2099-01-01", "--page", "1").code == 0
    assert "2099" in run(store, "show", "page", "1").out
    assert run(store, "expire", "never", "--page", "1").code == 0
    assert "2099" not in run(store, "show", "page", "1").out
    (fact,) = run(store, "show", "long", "--json").json["facts"]
    assert run(store, "expire", "2099-01-01", "--fact", fact["id"]).code == 0
    assert run(store, "show", "long", "--json").json["facts"][0]["expires_at"].startswith("2099")
    assert refused(run(store, "expire", "2020-01-01", "--page", "1"), "in the past")
    for missing in (("--page", "99"), ("--page", "p9"), ("--fact", "f99-000")):
        assert refused(run(store, "expire", "2099-01-01", *missing)), missing
    assert refused(run(store, "expire", "2099-01-01"), code=2)
    assert refused(run(store, "expire", "2099-01-01", "--page", "1", "--fact", "f1"), code=2)


def test_a_page_is_added_with_its_end(store: Path) -> None:
    made = run(store, "add", "The code is 8812.", "--expires-at", "2099-01-01", "--json").json
    assert run(store, "show", "page", made["page_id"], "--json").json["expires_at"].startswith("2099")
    assert refused(run(store, "add", "The code is 8812.", "--expires-at", "2020-01-01"), "in the past")


# ------------------------------------------------------------------------------------------- forget and verify


def test_what_is_old_or_matches_is_forgotten(store: Path) -> None:
    assert len(run(store, "forget", "--before", THEN, "--dry-run", "--json").json["pages"]) == 1
    assert len(run(store, "forget", "--matching", "nantes", "--dry-run", "--json").json["pages"]) == 1
    assert "nothing" in run(store, "forget", "--matching", "heron", "--dry-run").out
    for wrong in (("--before", THEN, "--matching", "x"), ("--page", "1", "--limit", "3"), ("--all", "--all-agents")):
        assert refused(run(store, "forget", *wrong, "--yes"), code=2), wrong
    assert refused(run(store, "forget", "--before", THEN), "--yes")
    done = run(store, "forget", "--before", THEN, "--yes")
    assert done.code == 0
    assert "1 page" in done.out
    assert facts(store, "--valid-at", THEN) == []


def test_a_user_is_forgotten_with_all_agents(store: Path) -> None:
    assert run(store, "--agent", "tutor", "add", "I like jazz.").code == 0
    assert run(store, "--user", "bob", "add", "I like figs.").code == 0
    tried = run(store, "forget", "--all-agents", "--dry-run")
    assert "tutor" in tried.out
    assert "would be forgotten: 2 memories" in tried.out
    assert refused(run(store, "forget", "--all-agents"), "--yes")
    assert refused(run(store, "--user", "nobody", "forget", "--all-agents", "--yes"), "nobody")
    receipts = run(store, "forget", "--all-agents", "--yes", "--json").json
    assert set(receipts) == {"default", "tutor"}
    assert [owner["user"] for owner in run(store, "stats", "--json").json["owners"]] == ["bob"]


def test_a_receipt_is_verified(store: Path, tmp_path: Path) -> None:
    receipt = run(store, "forget", "--matching", "lyon", "--yes", "--json").out
    file = tmp_path / "receipt.json"
    file.write_text(receipt, encoding="utf-8")
    checked = run(store, "verify", str(file))
    assert checked.code == 0, checked.out
    assert "nothing of it is left" in checked.out
    assert checked.err == ""
    misspelt = run(store, "--user", "defualt", "verify", str(file))
    assert (misspelt.code, "nothing of it is left" in misspelt.out) == (0, True)
    assert "there is no memory of defualt/default; near names: --user default --agent default" in misspelt.err
    assert run(store, "verify", "-", "--json", stdin=receipt.encode()).json["ok"]
    kept = run(store, "show", "page", "2", "--json").json["id"]
    file.write_text(receipt.replace('"pages": [', f'"pages": ["{kept}", ', 1), encoding="utf-8")
    found = run(store, "verify", str(file))
    assert found.code == 1
    assert f"still there: {kept}" in found.out
    dry = run(store, "forget", "--page", "2", "--dry-run", "--json").out
    for wrong in (b"", b"{}", b"[]", b"\xff", dry.encode()):
        assert refused(run(store, "verify", "-", stdin=wrong)), wrong
    assert refused(run(store, "verify", str(tmp_path / "none.json")), "none.json")


# ---------------------------------------------------------------------------------------------------------- undo


def test_undo_says_first_what_it_would_take_back_and_what_stays(tmp_path: Path) -> None:
    store = tmp_path / "new.db"
    (lyon,) = learnt(store, LYON)
    no = str(lyon["change_no"])
    tried = run(store, "undo", no, "--dry-run")
    assert tried.code == 0
    assert "− The user lives in Lyon" in tried.out
    assert facts(store) == ["Lyon"]
    learnt(store, {**NANTES, "valid_from": "2026-05-02"})
    stays = run(store, "undo", no, "--dry-run")
    assert lyon["id"] in stays.err
    assert run(store, "undo", no, "--dry-run", "--json").json["refused"][0]["item"] == lyon["id"]
    last = run(store, "undo", "2", "--json").json
    assert (last["undoes"], last["refused"]) == (2, [])
    assert facts(store) == ["Lyon"]
    assert run(store, "undo", str(last["change"])).code == 0
    assert facts(store) == ["Nantes"]
    assert refused(run(store, "undo", "99", "--dry-run"))


# -------------------------------------------------------------------------------------------------- no store at all


def test_without_a_store_nothing_is_made(tmp_path: Path) -> None:
    store = tmp_path / "none.db"
    for arguments in (
        ("why", "f1-000"),
        ("diff", THEN),
        ("conflicts",),
        ("fade",),
        ("expire", "never", "--page", "1"),
        ("undo", "1", "--dry-run"),
        ("forget", "--all-agents", "--yes"),
    ):
        assert refused(run(store, *arguments), "no store"), arguments
    assert not store.exists()


def test_items_are_listed_updated_once_and_their_edits_shown(store: Path) -> None:
    figs, plums = learnt(store, {"text": "likes figs"}, {"text": "likes plums"})
    listed = run(store, "items", "fact", "--limit", "2", "--json").json
    assert [one["id"] for one in listed] == [plums["id"], figs["id"]]
    assert figs["id"] in run(store, "items", "fact", "--after", plums["id"], "--limit", "1").out
    for kind in ("page", "utterance", "fact", "segment", "chain", "document"):
        assert run(store, "items", kind, "--oldest").code == 0
    update = ("update", figs["id"], "likes pears", "--pin", "--metadata", "n=1", "--key", "k", "--json")
    made = run(store, *update).json
    assert (made["text"][-11:], made["pinned"], made["metadata"]) == ("likes pears", True, {"n": 1})
    assert run(store, *update).json["id"] == made["id"]
    assert "pinned" in run(store, "edits", made["id"]).out
    assert "likes pears" in run(store, "get", made["id"]).out
    assert run(store, "retire", made["id"], "--key", "r").code == 0
    assert run(store, "retire", made["id"], "--key", "r").code == 0
    assert refused(run(store, "items", "pages"), "kind")
    assert refused(run(store, "update", plums["id"]), "nothing to update")
