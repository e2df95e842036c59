"""What `open_system` takes: each option and setting has an effect in the system, or is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from embermem import Field, Memory
from embermem.core.errors import ConfigError
from embermem_bench.systems import open_system


def test_memoryos_opened_by_its_name_takes_each_setting_as_memory_does(monkeypatch: pytest.MonkeyPatch) -> None:
    pet = Field("pet", description="a pet's name")
    for given, asked in (
        ({}, {"preset": "default", "min_new": 5}),
        ({"preset": "paper"}, {"preset": "paper", "min_new": 1}),
        ({"options": {"preset": "paper", "top_m": 3}, "theta": 0.5}, {"min_new": 1, "top_m": 3, "theta": 0.5}),
        ({"fields": [pet]}, {"fields": (pet,)}),
    ):
        with open_system("memoryos", ":memory:", embedder="hashed", **given) as memory:
            assert {name: getattr(memory.settings, name) for name in asked} == asked
    monkeypatch.setenv("EMBERMEM_PRESET", "paper")
    with open_system("memoryos", ":memory:", embedder="hashed") as memory:
        assert memory.settings.min_new == 1


def test_memoryos_opened_by_its_name_refuses_what_it_does_not_know_or_would_not_do() -> None:
    refused: tuple[tuple[dict[str, Any], str], ...] = (
        ({"preset": "nonsense"}, "preset = 'nonsense'"),
        ({"options": {"preset": "nonsense"}}, "preset = 'nonsense'"),
        ({"options": {"preset": "paper"}, "preset": "default"}, "given both .*: preset"),
        ({"options": {"colour": 3}}, "unknown setting 'colour'"),
        ({"background": True}, "background = True has no effect"),
        ({"never": ["what my sister tells me"]}, "only a language model understands"),
    )
    for given, told in refused:
        with pytest.raises(ConfigError, match=told):
            open_system("memoryos", ":memory:", embedder="hashed", **given)


def test_another_system_refuses_a_setting_that_it_does_not_read() -> None:
    refused: tuple[tuple[dict[str, Any], str], ...] = (
        ({"preset": "paper", "theta": 0.5}, "no effect in the memory system 'amem': preset, theta"),
        ({"colour": 3}, "unknown setting 'colour'"),
        ({"background": True}, "background = True has no effect"),
        ({"never": ["health"]}, "'health' is not held by 'amem'"),
        ({"fields": []}, "no effect in the memory system 'amem': fields"),
    )
    for given, told in refused:
        with pytest.raises(ConfigError, match=told):
            open_system("amem", ":memory:", embedder="hashed", **given)


def test_texts_are_redacted_and_the_records_lie_beside_the_store_that_they_belong_to(tmp_path: Path) -> None:
    file, records = tmp_path / "amem.db", tmp_path / "amem.db.records"
    with open_system("amem", file, embedder="hashed", redact="secrets") as memory:
        memory.of("alice").add("My password is hunter2x", "I see.")
        memory.of("alice").settle()
        assert "hunter2x" not in memory.of("alice").recall("password").text
    assert records.stat().st_mode & 0o777 == 0o600
    assert b"hunter2x" not in b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    with Memory(file, embedder="hashed", background=False) as plain:
        assert [len(page.utterances) for page in plain.of("alice").pages()] == [2], "it is a store of Ember"
    file.rename(tmp_path / "other.db")
    with pytest.raises(ConfigError, match=r"amem\.db\.records has the records of another store.*remove the file"):
        open_system("amem", file, embedder="hashed")
    with open_system("amem", tmp_path / "other.db", embedder="hashed") as memory:
        assert memory.of("alice").settle() == 1, "what was lost is learnt again"
    with Memory(tmp_path / "memory.db", embedder="hashed", background=False) as plain:
        plain.of("alice").add("I live in Lyon.", "I see.")
    for name, place in (("tim", "other.db"), ("memoryos", "other.db"), ("tim", "memory.db")):
        with pytest.raises(ConfigError, match=f"was made by the memory system .*, not '{name}'"):
            open_system(name, tmp_path / place, embedder="hashed")


def test_what_cannot_be_opened_leaves_no_file_and_claims_no_store(tmp_path: Path) -> None:
    refused: tuple[tuple[str, Any, dict[str, Any], str], ...] = (
        ("amemm", tmp_path / "one.db", {}, "no memory system 'amemm'"),
        ("amem", tmp_path / "one.db", {"colour": 3}, "unknown option 'colour'"),
        ("amem", "postgresql://nowhere.invalid/one", {}, "give a path"),
    )
    for name, place, options, told in refused:
        with pytest.raises(ConfigError, match=told):
            open_system(name, place, embedder="hashed", options=options)
    assert list(tmp_path.iterdir()) == []
