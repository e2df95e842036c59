"""Shared spaces by command."""

from __future__ import annotations

from pathlib import Path

from running import run


def test_a_space_is_filled_granted_read_and_revoked(tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    run(store, "--space", "team", "add", "The deploy happens every Friday.")
    run(store, "--user", "alice", "add", "I deploy boats on Sunday.")
    refused = run(store, "--user", "alice", "recall", "--share", "team", "When is the deploy?")
    assert (refused.code, refused.out) == (1, "")
    assert "may not be read by alice/default" in refused.err
    granted = run(store, "space", "grant", "team", "alice", "--json").json
    assert [(one["user"], one["agent"], one["write"]) for one in granted] == [("alice", None, False)]
    told = run(store, "--user", "alice", "recall", "--share", "team", "When is the deploy?").out
    assert "shared memory of team:" in told
    assert "Friday" in told
    assert "Friday" not in run(store, "--user", "alice", "recall", "When is the deploy?").out
    assert run(store, "--user", "alice", "overview", "--share", "team").code == 0
    assert run(store, "space", "list", "--json").json == [{"space": "team", "messages": 1, "grants": 1}]
    assert "alice" in run(store, "space", "revoke", "team", "alice").out
    assert run(store, "space", "grants", "team", "--json").json == []
    assert run(store, "space", "grants", "team", "--past", "--json").json[0]["revoked_at"]
    assert run(store, "--user", "alice", "recall", "--share", "team", "deploy").code == 1
    assert run(store, "space", "revoke", "team", "alice").code == 1


def test_a_grant_names_a_user_or_everybody(tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    assert run(store, "space", "grant", "team").code == 2
    assert run(store, "space", "grant", "team", "alice", "--everybody").code == 2
    assert run(store, "space", "grant", "team", "--everybody", "--json").json[0]["user"] is None
    assert (
        run(store, "space", "grant", "team", "bob", "--with", "tutor", "--write", "--json").json[0]["agent"] == "tutor"
    )


def test_a_key_s_spaces_are_listed(tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    run(store, "keys", "add", "bot", "--owner", "alice", "--space", "team:write")
    assert run(store, "keys", "list", "--json").json[0]["spaces"] == ["team:write"]
    assert run(store, "keys", "add", "none").code == 1


def test_a_space_is_exported_and_imported_without_its_grants(tmp_path: Path) -> None:
    store, other, file = tmp_path / "memory.db", tmp_path / "other.db", tmp_path / "out.jsonl"
    run(store, "--space", "team", "add", "The deploy happens every Friday.")
    run(store, "--user", "alice", "add", "I deploy boats.")
    run(store, "space", "grant", "team", "alice")
    run(store, "--space", "team", "export", str(file))
    assert run(other, "import", str(file)).code == 0
    assert run(other, "space", "list", "--json").json == [{"space": "team", "messages": 1, "grants": 0}]
