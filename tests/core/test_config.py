"""Where a setting comes from, and how a bad one is refused."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from embermem.core import config
from embermem.core.config import Settings, load
from embermem.core.errors import ConfigError, EmberError


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_an_argument_beats_the_environment_which_beats_the_file_which_beats_the_preset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert load().tau == 5.0
    assert load("paper").min_new == 1
    (tmp_path / "embermem.toml").write_text("tau = 6.0\nmin_new = 9\n")
    assert load("paper").tau == 6.0
    assert load("paper").min_new == 9
    monkeypatch.setenv("EMBERMEM_TAU", "7")
    assert load().tau == 7.0
    assert load(tau=8).tau == 8.0


def test_a_preset_may_come_from_each_place_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "embermem.toml").write_text('preset = "paper"\n')
    assert load().preset == "paper"
    assert load().theta == 0.6
    monkeypatch.setenv("EMBERMEM_PRESET", "default")
    assert load().preset == "default"
    assert load("paper").preset == "paper"


def test_a_file_is_found_by_argument_then_by_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one.toml").write_text("tau = 1.0\n")
    (tmp_path / "two.toml").write_text("tau = 2.0\n")
    monkeypatch.setenv("EMBERMEM_CONFIG", str(tmp_path / "two.toml"))
    assert load().tau == 2.0
    assert load(config=tmp_path / "one.toml").tau == 1.0


def test_a_bad_argument_names_the_setting_what_is_allowed_and_where_it_came_from() -> None:
    cases: list[tuple[str, Any, str]] = [
        ("short_term_pages", 0, "a whole number from 1 to 1000"), ("short_term_pages", 7.5, "a whole number"),
        ("short_term_pages", "seven", "a whole number"), ("short_term_pages", True, "a whole number"),
        ("short_term_pages", float("inf"), "a whole number"), ("user_facts", float("nan"), "a whole number from 1"),
        ("theta", 2.5, "a number from -1 to 2"), ("mu", 0, "a number above 0"),
        ("mu", float("nan"), "a number above 0"), ("mu", 10**400, "a number above 0"), ("tau", "", "a number from 0"),
        ("lease_s", 1e300, "a number above 0 to 1e+09"), ("background", "perhaps", "true or false"),
        ("token_counter", "letters", "one of: approx, words"), ("facts_when", 1, "one of: read, promoted"),
        ("timezone", "Mars/Olympus", "an IANA time zone such as Europe/Paris"), ("embedder", 7, "a text"),
    ]  # fmt: skip
    for setting, value, allowed in cases:
        with pytest.raises(ConfigError) as refused:
            load(None, **{setting: value})
        assert str(refused.value).startswith(f"{setting} = ")
        assert allowed in str(refused.value)
        assert "(from argument)" in str(refused.value)


def test_a_bad_environment_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMBERMEM_MID_TERM_SEGMENTS", "-1")
    with pytest.raises(
        ConfigError, match=r"mid_term_segments.*environment variable EMBERMEM_MID_TERM_SEGMENTS.*from 1"
    ):
        load()


def test_a_file_with_a_bad_value_or_that_is_missing_or_not_toml_is_refused_by_name(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("alpha = -1\n")
    with pytest.raises(ConfigError, match=r"alpha = -1 \(from file .*mine\.toml\).*a number from 0"):
        load(config=file)
    cases = ['preset = "fast"', 'preset = ["paper"]', "preset = 1", "sped = 1", "alpha = [1]"]
    for content in cases:
        file = tmp_path / "mine.toml"
        file.write_text(content)
        with pytest.raises(ConfigError, match=r"mine\.toml"):
            load(config=file)
    with pytest.raises(ConfigError, match=r"cannot read the configuration file .*none\.toml"):
        load(config=tmp_path / "none.toml")
    (tmp_path / "broken.toml").write_text("a = = 1")
    with pytest.raises(ConfigError, match="is not valid TOML"):
        load(config=tmp_path / "broken.toml")


def test_an_unknown_setting_or_preset_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(ConfigError, match=r"unknown setting 'short_pages' \(from argument\).*short_term_pages"):
        load(short_pages=7)
    with pytest.raises(TypeError, match="preset"):  # given twice
        load("default", preset="paper")  # type: ignore[misc]
    with pytest.raises(ConfigError, match=r"preset = 'fast' \(from argument\).*default, paper"):
        load("fast")


def test_a_configuration_error_is_a_value_error_and_one_of_ours() -> None:
    assert issubclass(ConfigError, ValueError)
    assert issubclass(ConfigError, EmberError)


def test_yes_and_no_are_read_in_the_usual_spellings(monkeypatch: pytest.MonkeyPatch) -> None:
    for text, meant in [("1", True), ("TRUE", True), ("on", True), ("0", False), ("no", False), ("Off", False)]:
        monkeypatch.setenv("EMBERMEM_BACKGROUND", text)
        assert load().background is meant


def test_every_setting_has_its_true_source_beside_it() -> None:
    """The files and sections that a source names exist, and a script that fits settings says which."""
    root = Path(__file__).parents[2]
    for setting in fields(Settings):
        source = str(setting.metadata.get("source", "")).strip()
        assert source or setting.name == "preset", setting.name
        for name in re.findall(r"\b(?:bench|docs|tests)/[\w./-]*\w", source):
            assert (root / name).exists(), (setting.name, name)
        for page, section in re.findall(r"(docs/[\w/-]+\.md), ([A-Z][^;)]*)", source):
            assert re.search(rf"^#+ {section}$", (root / page).read_text(encoding="utf-8"), re.M), (
                setting.name,
                section,
            )
        for script in re.findall(r"bench/scripts/fit_\w+", source):
            says = (root / f"{script}.py").read_text(encoding="utf-8").splitlines()[0]
            assert setting.name.startswith(tuple(re.findall(r"`(\w+_)\*`", says))), (setting.name, script)


def test_the_defaults_are_themselves_allowed() -> None:
    defaults = {f.name: getattr(Settings(), f.name) for f in fields(Settings)}
    assert load(**defaults) == Settings()


def test_the_numbers_of_the_paper_are_the_paper_s() -> None:
    paper = load("paper")
    assert (paper.short_term_pages, paper.mid_term_segments, paper.theta) == (7, 200, 0.6)
    assert (paper.alpha, paper.beta, paper.gamma, paper.mu, paper.tau) == (1, 1, 1, 1e7, 5)
    assert (paper.top_m, paper.top_k, paper.top_facts) == (5, 10, 10)
    assert (paper.user_facts, paper.agent_facts, paper.min_new, paper.batch_pages) == (100, 100, 1, 1)


def test_the_key_of_an_endpoint_is_not_shown() -> None:
    with pytest.raises(ConfigError, match="embedder_key = …") as refused:
        load(None, embedder_key=987654)
    assert "987654" not in str(refused.value)
    assert "sk-secret" not in repr(load(embedder_key="sk-secret"))


def test_presets_name_known_settings_only() -> None:
    known = {f.name for f in fields(Settings)}
    assert all(set(values) <= known for values in config.PRESETS.values())
