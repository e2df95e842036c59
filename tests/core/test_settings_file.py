"""Settings that a command writes: they are in the file, and nothing else in it is touched."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from embermem.core import settings_file
from embermem.core.config import load
from embermem.core.errors import ConfigError


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, where the settings file is looked for."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_without_a_file_one_is_made_that_only_its_owner_reads(folder: Path) -> None:
    written = settings_file.write({"model": 'a "quoted" name \\ 模型', "batch_pages": 3, "model_timeout_s": 90.0})
    assert written.resolve() == folder / "embermem.toml"
    assert stat.S_IMODE(written.stat().st_mode) == 0o600
    settings = load()
    assert (settings.model, settings.batch_pages, settings.model_timeout_s) == ('a "quoted" name \\ 模型', 3, 90.0)


def test_what_is_set_is_replaced_and_all_else_stays_to_the_character(folder: Path) -> None:
    file = folder / "embermem.toml"
    file.write_text('# mine\ntau = 6.0  # hot\n  batch_pages=8\n\nmodel = "old"')
    file.chmod(0o644)
    settings_file.write({"batch_pages": 2, "model_chat_tokens": 512})
    assert file.read_text() == '# mine\ntau = 6.0  # hot\nbatch_pages = 2\n\nmodel = "old"\nmodel_chat_tokens = 512\n'
    assert stat.S_IMODE(file.stat().st_mode) == 0o644
    assert [one.name for one in folder.iterdir()] == ["embermem.toml"]


def test_the_file_that_the_environment_names_is_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMBERMEM_CONFIG", str(folder / "other.toml"))
    settings_file.write({"batch_pages": 2})
    assert load().batch_pages == 2
    assert not (folder / "embermem.toml").exists()


def test_a_setting_is_written_before_the_tables_of_fields(folder: Path) -> None:
    (folder / "embermem.toml").write_text("tau = 6.0\n[fields.batch_pages_of_mine]\nbatch_pages = 1\n")
    settings_file.write({"batch_pages": 2})
    text = "tau = 6.0\nbatch_pages = 2\n[fields.batch_pages_of_mine]\nbatch_pages = 1\n"
    assert (folder / "embermem.toml").read_text() == text


def test_a_file_that_cannot_be_changed_safely_stays_as_it_is(folder: Path) -> None:
    for text in ["tau = = 6\n", 'model = """\nbatch_pages = 1\n"""\n']:
        (folder / "embermem.toml").write_text(text)
        with pytest.raises(ConfigError, match=r"embermem\.toml"):
            settings_file.write({"batch_pages": 2})
        assert (folder / "embermem.toml").read_text() == text


def test_a_folder_that_cannot_be_written_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMBERMEM_CONFIG", str(folder / "nowhere" / "other.toml"))
    with pytest.raises(ConfigError, match="cannot write the configuration file"):
        settings_file.write({"batch_pages": 2})
