"""Which model the settings name."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from scripted_llms import question

from embermem.core.config import Settings
from embermem.core.errors import ConfigError, ModelMissing
from embermem.llms import OpenAIChat, RecordedModel, make_model
from embermem.testing.model_server import ModelServer


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key or address of the machine reaches a test."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def test_a_key_alone_turns_no_model_on(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.setenv(name, "k")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    assert make_model(Settings()) is None
    assert make_model(Settings(model_key="k", model_url="http://127.0.0.1:9/v1")) is None


def test_a_name_and_an_address_are_a_model() -> None:
    with ModelServer("Hi.", key="k-1") as server:
        model = make_model(Settings(model="m", model_url=server.url, model_key="k-1"))
        assert isinstance(model, OpenAIChat)
        assert model.complete(question()).text == "Hi."


def test_address_and_key_may_come_from_openais_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer("Hi.", key="k-1") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "k-1")
        model = make_model(Settings(model="m"))
        assert model is not None
        assert model.complete(question()).text == "Hi."


def test_settings_go_before_openais_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "other")
    with ModelServer("Hi.", key="k-1") as server:
        model = make_model(Settings(model="m", model_url=server.url, model_key="k-1"))
        assert model is not None
        assert model.complete(question()).text == "Hi."


def test_with_a_cache_replies_are_kept(tmp_path: Path) -> None:
    cache = str(tmp_path / "replies.jsonl")
    with ModelServer("Hi.") as server:
        for _ in range(2):
            model = make_model(Settings(model="m", model_url=server.url, model_cache=cache))
            assert isinstance(model, RecordedModel)
            assert model.complete(question()).text == "Hi."
        assert server.calls == 1


@pytest.mark.skipif(importlib.util.find_spec("anthropic") is not None, reason="its packages are installed")
def test_a_model_whose_package_is_not_there_says_what_to_install() -> None:
    with pytest.raises(ModelMissing, match=r"pip install 'embermem\[anthropic-google\]'") as missing:
        make_model(Settings(model="anthropic:claude", model_key="k"))
    assert isinstance(missing.value, ConfigError)
