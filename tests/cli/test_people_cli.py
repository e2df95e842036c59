"""People on the command line: everybody, what is known of one, and who is who."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from running import run

from embermem import Memory


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of a talk of two people, one of whom has a sister."""
    file = tmp_path_factory.mktemp("made") / "m.db"
    said = [("Vera", "I live in Lyon. My sister Ana works as a nurse."), ("Kit", "I live in Oslo.")]
    said += [("Kit", f"The tulip number {number} is red.") for number in range(8)]
    with Memory(file, background=False, embedder="hashed", model="") as memory:
        group = memory.of("default")
        group.add_messages([{"role": "user", "name": name, "content": text} for name, text in said])
        group.settle()
    return file


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Path:
    """A copy of it for each test."""
    shutil.copytree(made.parent, tmp_path, dirs_exist_ok=True)
    return tmp_path / made.name


def people(store: Path) -> dict[str, str]:
    """The ids of everybody, by name."""
    return {one["name"]: one["id"] for one in run(store, "show", "people", "--json").json}


def test_everybody_is_shown_and_that_the_user_is_undecided(store: Path) -> None:
    shown = run(store, "show", "people")
    assert shown.code == 0
    assert "Vera's sister" in shown.out
    assert "undecided who the user is" in shown.err
    assert people(store).keys() == {"Vera", "Kit", "Ana"}
    assert run(store, "show", "people", "--as-of", "2020-01-01", "--json").json == []


def test_an_overview_is_printed_of_everybody_or_of_one_person(store: Path) -> None:
    everybody = run(store, "overview")
    assert everybody.code == 0
    assert all(told in everybody.out for told in ("Vera lives in Lyon", "Kit lives in Oslo", "Ana works as a nurse"))
    assert "Lyon" not in run(store, "overview", "--person", "Kit", "--budget", "50").out
    assert run(store, "overview", "--until", "2020-01-01", "--json").json["text"] == ""
    assert run(store, "overview", "--person", "Zoe").code == 1
    assert run(store, "overview", "--since", "soon").code == 2


def test_one_persons_profile_and_facts_are_shown(store: Path) -> None:
    shown = run(store, "show", "long", "--person", "Vera's sister", "--json").json
    assert [line["value"] for line in shown["profile"]] == ["nurse"]
    assert [(fact["person"], fact["value"]) for fact in shown["facts"]] == [("Ana", "nurse")]
    told = run(store, "show", "long", "--person", "Kit").out
    assert "Oslo" in told
    assert "Lyon" not in told
    assert run(store, "show", "long", "--person", "Zoe").code == 1
    assert run(store, "show", "mid", "--person", "Kit").code == 2


def test_the_user_is_set_and_people_are_merged_and_split_and_undo_takes_it_back(store: Path) -> None:
    assert run(store, "people", "set-user", "Vera").code == 0
    assert people(store)["Vera"] == "user"
    assert "undecided" not in run(store, "show", "people").err
    merged = run(store, "people", "merge", "Ana", "Kit")
    assert people(store).keys() == {"Vera", "Kit"}
    assert run(store, "undo", merged.out.strip()).code == 0
    assert people(store).keys() == {"Vera", "Kit", "Ana"}
    split = run(store, "people", "split", "Ana", "Vera's sister", "--json").json
    assert {one["name"] for one in split["people"]} == {"Vera", "Kit", "Ana", "Vera's sister"}
    for wrong in (("set-user", "Zoe"), ("merge", "Ana", "Zoe"), ("split", "Ana", "Kit")):
        done = run(store, "people", *wrong)
        assert (done.code, done.out) == (1, ""), wrong
