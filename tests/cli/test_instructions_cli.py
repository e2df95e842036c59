"""Standing instructions on the command line."""

from __future__ import annotations

from pathlib import Path

from running import run


def values(store: Path) -> list[str]:
    """What the user wants of the agent."""
    return [one["value"] for one in run(store, "instructions", "--json").json]


def test_instructions_are_listed_added_and_ended(tmp_path: Path) -> None:
    store = tmp_path / "m.db"
    assert run(store, "instructions").code == 1  # there is no store
    assert run(store, "add", "Always answer in metric units.").code == 0
    assert run(store, "settle").code == 0
    assert values(store) == ["use metric units"]
    assert "metric units" in run(store, "instructions").out
    added = run(store, "instructions", "--add", "Never call me Bob.", "--until", "2099-01-01")
    assert "never to call them Bob" in added.out
    assert values(store) == ["use metric units", "never call them Bob"]
    assert run(store, "instructions", "--as-of", "2020-01-01", "--json").json == []
    assert run(store, "retire", added.out.partition(":")[0].strip()).code == 0
    assert values(store) == ["use metric units"]


def test_options_that_do_not_go_together_are_refused(tmp_path: Path) -> None:
    store = tmp_path / "m.db"
    assert run(store, "instructions", "--until", "2099-01-01").code == 2
    assert run(store, "instructions", "--add", "Be brief.", "--as-of", "2020-01-01").code == 2
    assert run(store, "instructions", "--add", " ").code == 1
