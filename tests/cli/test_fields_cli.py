"""Fields of one's own on the command line."""

from __future__ import annotations

from pathlib import Path

from running import run

GOOD = '[level]\ntype = "choice"\nchoices = ["A1", "B1"]\ndescription = "of the learner"\n\n[club]\nmany = true\n'


def test_a_file_of_fields_is_checked(tmp_path: Path) -> None:
    store, file = tmp_path / "m.db", tmp_path / "fields.toml"
    file.write_text(GOOD)
    told = run(store, "fields", str(file))
    assert told.code == 0
    assert told.out.splitlines() == [
        "level: choice, one value, set by model; one of: A1, B1: of the learner",
        "club: text, many values, set by model; a text of at most 100 characters",
    ]
    assert [one["name"] for one in run(store, "fields", str(file), "--json").json["fields"]] == ["level", "club"]
    assert not store.exists()


def test_a_file_that_cannot_be_used_is_refused_with_its_line(tmp_path: Path) -> None:
    store, file = tmp_path / "m.db", tmp_path / "fields.toml"
    file.write_text('[club]\nmany = true\n[level]\ntype = "colour"\n')
    told = run(store, "fields", str(file))
    assert told.code == 1
    assert "fields.toml, line 3: field 'level': type = 'colour' is not allowed" in " ".join(told.err.split())


def test_fields_that_the_store_remembers_are_listed_and_used(tmp_path: Path) -> None:
    store = tmp_path / "m.db"
    assert run(store, "fields").out.strip() == "no fields"
    (tmp_path / "fields.toml").write_text(GOOD)
    set_by = {"EMBERMEM_FIELDS": str(tmp_path / "fields.toml")}
    assert run(store, "add", "My level is B1.", more=set_by).code == 0
    assert run(store, "settle").code == 0
    assert run(store, "fields").out.startswith("level: choice")
    assert "B1" in run(store, "show", "long").out
