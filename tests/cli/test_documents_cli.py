"""Documents on the command line."""

from __future__ import annotations

from pathlib import Path

from running import run


def test_files_are_added_listed_shown_and_forgotten(tmp_path: Path) -> None:
    store, file = tmp_path / "m.db", tmp_path / "lease.md"
    file.write_text("# Lease\n\nThe flat is in Lyon.\n\n## Rent\n\nThe rent is due on the third.\n")
    (tmp_path / "note.txt").write_text("The key is under the mat.")
    added = run(store, "document", "add", str(file), str(tmp_path / "note.txt"), "--json").json
    assert [(one["title"], one["added"]) for one in added] == [("Lease", 2), ("note", 1)]
    assert [one["kept"] for one in run(store, "document", "add", str(file), "--json").json] == [2]
    assert [one["passages"] for one in run(store, "document", "list", "--json").json] == [2, 1]
    assert "Rent" in run(store, "document", "show", added[0]["id"]).out
    assert "[Lease, Rent]" in run(store, "recall", "When is the rent due?").out
    assert "2 passages would be removed" in run(store, "document", "forget", added[0]["id"], "--dry-run").out
    assert run(store, "document", "forget", added[0]["id"]).code == 0
    assert len(run(store, "document", "list", "--json").json) == 1
    assert run(store, "document", "show", "d1").code == 1
    assert run(store, "document", "add", str(tmp_path / "none.md")).code == 1
    assert run(store, "document", "add", str(file), str(file), "--title", "Two").code == 2
