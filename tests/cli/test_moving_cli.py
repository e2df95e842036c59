"""`embermem copy`, `export`, `import`, `migrate` and `schema`."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from running import run, said

from embermem import Memory
from embermem.store import migrations, schema
from embermem.store.admin import copying
from embermem.store.engines.ddl import ddl
from older import BEFORE, SAID, VERSION, older
from soundness import rows


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of two users; alice has two agents."""
    at = tmp_path_factory.mktemp("made") / "m.db"
    for user, agent, text in (
        ("alice", "default", "I live in Lyon."),
        ("alice", "tutor", "I learn French."),
        ("bob", "default", "I live in Nice."),
    ):
        assert run(at, "--user", user, "--agent", agent, "add", text, "I see.").code == 0
    assert run(at, "--user", "alice", "settle").code == 0
    return at


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Path:
    """A copy of it for each test."""
    shutil.copytree(made.parent, tmp_path, dirs_exist_ok=True)
    return tmp_path / made.name


def users_in(file: Path) -> list[tuple[str, str]]:
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [(line["user"], line["agent"]) for line in lines if line["kind"] == "owner"]


# ------------------------------------------------------------------------------------------------------------- copy


def test_a_copy_is_told_table_by_table_and_holds_what_the_store_holds(store: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    done = run(store, "copy", str(store), str(other))
    assert done.code == 0
    assert "3 users" in done.out
    assert "the same on both sides" in done.out
    assert re.search(r"utterance +6", done.out)
    assert said(other, "alice") == said(store, "alice") == ["I live in Lyon.", "I see."]
    third = run(store, "copy", str(other), str(tmp_path / "third.db"), "--json").json
    assert (third["users"], third["again"], third["went_on"]) == (3, 0, False)
    assert third["tables"]["utterance"]["rows"] == 6
    again = run(store, "copy", str(store), str(other))
    assert (again.code, "already contains a store" in again.err) == (1, True)


def test_a_copy_that_was_killed_is_opened_by_no_command_and_goes_on(store: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    assert run(other, "add", "To be emptied.").code == 0
    with closing(sqlite3.connect(other)) as file:  # as a copy that was begun, and killed before its first owner
        for (table,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            if table != migrations.VERSION_TABLE:
                file.execute(f"DELETE FROM {table}")
        mark = {"of": str(store), "run": "c0", "after": ""}
        file.execute("INSERT INTO store VALUES (?, ?)", (copying.UNFINISHED, json.dumps(mark)))
        file.commit()
    for words in (["stats"], ["add", "Hello"], ["doctor", "--json"], ["export", "-"]):
        done = run(other, *words)
        assert done.code == 1
        assert f"embermem copy {store} {other}" in done.err + done.out
    done = run(store, "copy", str(store), str(other))
    assert done.code == 0
    assert "it went on there" in done.err
    assert said(other, "bob") == ["I live in Nice.", "I see."]


def test_what_cannot_be_copied_is_one_line(store: Path, tmp_path: Path) -> None:
    for source, target, why in (
        (tmp_path / "none.db", tmp_path / "x.db", "there is no store"),
        (store, store, "into itself"),
        (store, tmp_path / "no" / "x.db", "does not exist"),
        (store, tmp_path, "is a folder"),
    ):
        done = run(store, "copy", str(source), str(target))
        assert (done.code, done.out) == (1, "")
        assert why in done.err
        assert done.err.count("\n") == 1
    assert not (tmp_path / "none.db").exists()


# --------------------------------------------------------------------------------------------------- export, import


def test_all_are_exported_unless_somebody_is_named(store: Path, tmp_path: Path) -> None:
    everyone = [("alice", "default"), ("alice", "tutor"), ("bob", "default")]
    for n, (before, after, users) in enumerate(
        [
            ([], [], everyone),
            (["--user", "alice"], [], everyone[:2]),
            ([], ["--user", "alice"], everyone[:2]),
            ([], ["--user", "alice", "--agent", "tutor"], everyone[1:2]),
            (["--agent", "default"], [], [everyone[0], everyone[2]]),
        ]
    ):
        out = tmp_path / f"{n}.jsonl"
        done = run(store, *before, "export", str(out), *after)
        assert (done.code, done.out) == (0, "")
        assert users_in(out) == users
        assert out.stat().st_mode & 0o777 == 0o600
    named = run(store, "export", "-", more={"EMBERMEM_USER": "bob"})
    assert '"alice"' not in named.out
    done = run(store, "export", str(tmp_path / "x.jsonl"), "--user", "nobody")
    assert (done.code, (tmp_path / "x.jsonl").exists()) == (1, False)


def test_what_is_exported_is_imported_from_a_file_or_from_stdin(store: Path, tmp_path: Path) -> None:
    out, other, third = tmp_path / "out.jsonl", tmp_path / "other.db", tmp_path / "third.db"
    assert run(store, "export", str(out), "--vectors").code == 0
    done = run(other, "import", str(out))
    assert (done.code, done.out) == (0, "3 users, 6 messages, 2 changes\n")
    assert "4 messages have no vector yet" in done.err  # two users were never settled
    assert said(other, "alice") == said(store, "alice")
    facts = [run(at, "--user", "alice", "show", "long", "--json").json["facts"] for at in (store, other)]
    assert facts[0] == facts[1] != []
    piped = run(third, "import", "-", "--json", stdin=run(store, "export", "-").out.encode())
    assert (piped.code, len(piped.json["owners"]), piped.json["without_vector"]) == (0, 3, 6)
    assert run(third, "worker", "--once").code == 0
    assert run(third, "--user", "alice", "stats", "--json").json["owner"]["without_vector"] == 0


def test_who_is_there_already_is_refused_or_left_out(store: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    assert run(store, "export", str(out)).code == 0
    again = run(store, "import", str(out))  # as after an interruption
    assert (again.code, again.out) == (0, "0 users, 0 messages, 0 changes\n")
    assert again.err.count("already here") == 3
    for user in ("alice", "bob"):
        run(store, "--user", user, "forget", "--all", "--yes")
    forgotten = run(store, "import", str(out))
    assert (forgotten.code, "messages of alice / default were forgotten" in forgotten.err) == (1, True)
    run(store, "--user", "alice", "add", "I am new here.", "Welcome.")
    refused = run(store, "import", str(out))
    assert (refused.code, refused.out) == (1, "")
    assert "alice / default already has a memory here" in refused.err
    left = run(store, "import", str(out), "--leave-out")
    assert (left.code, left.out) == (0, "0 users, 0 messages, 0 changes\n")
    assert (left.err.count("left out"), left.err.count("already here")) == (2, 1)


def test_a_scoped_export_holds_what_is_in_scope_and_becomes_a_sound_memory(tmp_path: Path) -> None:
    store, out, other = tmp_path / "m.db", tmp_path / "out.jsonl", tmp_path / "other.db"
    with Memory(store, embedder="hashed", background=False) as memory:
        alice = memory.of("alice")
        for n, ticket in enumerate(("T-1", "T-2", "T-1")):
            alice.add(f"I have {n} dogs. I live in House{n}.", f"Dogs{n}!", thread=ticket, metadata={"ticket": ticket})
        kept = alice.add_document("The lease ends in May.", source="a.txt", metadata={"ticket": "T-1"})
        alice.add_document("The secret garden.", source="b.txt", metadata={"ticket": "T-2"})
        alice.settle()
        memory.of("bob").add("I live in Nice.", "Nice.")
    assert run(store, "export", str(out), "--where", "ticket=T-1").code == 0
    assert {word for word in ("House1", "Dogs1", "secret", "Nice") if word in out.read_text()} == set()
    done = run(other, "import", str(out), "--json").json
    assert (len(done["owners"]), done["utterances"]) == (1, 5)
    with Memory(other, embedder="hashed", background=False) as memory:
        alice = memory.of("alice")
        alice.settle()
        assert [page.query for page in alice.pages()] == [f"I have {n} dogs. I live in House{n}." for n in (0, 2)]
        assert [one.metadata["ticket"] for one in alice.utterances()] == ["T-1"] * 5
        assert [one.source for one in alice.documents()] == ["a.txt"] == [kept.source]
        assert "House2" in alice.recall("Where does Alice live?").text
        assert {one.level for one in memory.check(deep=True)} == {"ok"}
    refused = run(store, "export", str(tmp_path / "v.jsonl"), "--vectors", "--in-thread", "T-1")
    assert (refused.code, "--vectors" in refused.err) == (1, True)
    wrong = run(store, "export", str(tmp_path / "w.jsonl"), "--scope", '{"thread": ["T-1"]}')
    assert (wrong.code, "scope.thread is not known" in wrong.err) == (1, True)


def test_a_file_that_is_there_is_not_written_over_and_one_that_is_no_export_is_refused(
    store: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text('{"role": "user", "content": "Hello"}\n')
    done = run(store, "export", str(out))
    assert (done.code, "already exists" in done.err) == (1, True)
    done = run(store, "import", str(out), "--format", "ember")
    assert (done.code, "line 1" in done.err) == (1, True)
    assert run(store, "import", str(tmp_path / "none.jsonl")).code == 1
    assert run(tmp_path / "none.db", "export", str(tmp_path / "y.jsonl")).code == 1
    assert sorted(file.name for file in tmp_path.iterdir() if file.suffix == ".jsonl") == ["out.jsonl"]


def test_an_export_is_for_its_makers_eyes_and_is_never_written_into_a_file_that_was_there(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, part, other = tmp_path / "out.jsonl", tmp_path / "out.jsonl.part", tmp_path / "other"
    for nameless in (True, False):
        if not nameless:  # as on a system without files that have no name
            monkeypatch.delattr(os, "O_TMPFILE", raising=False)
        other.touch()
        part.symlink_to(other)
        assert run(store, "export", str(out)).code == 0
        assert out.stat().st_mode & 0o777 == 0o600
        assert (other.read_text(), out.is_symlink(), part.is_symlink()) == ("", False, nameless)
        part.unlink(missing_ok=True)
        out.unlink()


# --------------------------------------------------------------------------------------------------- migrate, schema


def test_migrate_says_from_where_to_where_and_keeps_the_store_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = older(tmp_path / "memory.db", monkeypatch)
    done = run(store, "migrate", "--json").json
    assert (done["before"], done["after"]) == (BEFORE, schema.HEAD)
    assert rows(Path(done["backup"]), VERSION) == [{"version_num": BEFORE}]
    assert said(store, "alice")[:2] == [SAID[0], "I see."]
    assert run(store, "migrate").out == f"schema {schema.HEAD}: up to date\n"
    missing = run(tmp_path / "none.db", "migrate")
    assert (missing.code, (tmp_path / "none.db").exists()) == (1, False)


def test_schema_prints_the_statements_and_asks_no_store(tmp_path: Path) -> None:
    cases: list[str] = ["sqlite", "postgresql", "citus"]
    for engine in cases:
        done = run(tmp_path / "none.db", "schema", "--engine", engine)
        assert done.code == 0
        assert done.out == "".join(f"{one};\n" for one in ddl(engine))
        assert not (tmp_path / "none.db").exists()


def test_schema_of_an_unknown_engine_is_wrong_usage_and_without_pgvector_vectors_are_bytes(tmp_path: Path) -> None:
    assert run(tmp_path / "none.db", "schema", "--engine", "mysql").code == 2
    assert "halfvec" not in run(tmp_path / "none.db", "schema", "--no-pgvector").out
