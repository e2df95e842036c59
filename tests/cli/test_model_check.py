"""`embermem model check`: what it finds of servers that can much, little and nothing, and what it writes."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from running import Ended
from running import run as cli

import loopback
from embermem.core import config
from embermem.core.errors import ModelMissing, ModelTimeout, ModelUnreachable
from embermem.reports import model_check
from embermem.testing import answers
from embermem.testing.model_server import ModelServer


def answer(request: dict[str, Any]) -> str | dict[str, Any]:
    """A model that can do all that is asked of it."""
    form = request.get("response_format") or {}
    if form.get("json_schema", {}).get("name") == "Bird":
        return {"bird": "kestrel"}
    if not form:
        return "The club counts birds each Sunday and cooks soup in autumn for everybody."
    found: str | dict[str, Any] = answers.answer(request)
    return found


@pytest.fixture
def model() -> Iterator[ModelServer]:
    """Its server."""
    with ModelServer(answer) as server:
        yield server


def check(url: str, within_s: float = 20.0, **settings: Any) -> model_check.ModelCheck:
    loaded = config.load(model="scripted", model_url=url, **settings)
    return model_check.check(model_check.make_model(loaded), loaded, within_s)


def asked(tmp_path: Path, url: str, *arguments: str) -> Ended:
    more = {"EMBERMEM_MODEL": "scripted", "EMBERMEM_MODEL_URL": url, "EMBERMEM_CONFIG": str(tmp_path / "e.toml")}
    (tmp_path / "e.toml").touch()
    return cli(tmp_path / "memory.db", "model", "check", *arguments, more=more)


def test_a_good_server_understands_pages_and_a_page_has_a_price(model: ModelServer) -> None:
    found = check(model.url)
    assert (found.model, found.form, found.understands, found.thinks) == ("scripted", "grammar", True, False)
    assert found.outcomes == ("ok",)
    assert found.speed.prompt is not None
    assert found.page_tokens > 100
    assert any("could be used" in note for note in found.notes)


def test_a_server_without_a_grammar_is_told_from_one_that_has_one(model: ModelServer) -> None:
    model.fail_always("no_grammar")
    assert check(model.url).form == "prompt"


def test_a_model_whose_answers_cannot_be_used_is_said_to_be_one_for_chat(model: ModelServer) -> None:
    model.reply_with("I am a bird, and I sing all day long.")
    found = check(model.url)
    assert not found.understands
    assert set(found.outcomes) == {"unusable"}
    assert found.notes[0] == "Chat: works."
    assert "could not be used (unusable" in found.notes[1]


def test_what_no_answer_came_for_is_said_not_to_have_been_tried(
    tmp_path: Path, model: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    model.fail_next("http_500", times=1, after=2)  # the question about pages
    found = check(model.url)
    assert (found.understands, found.outcomes) == (None, ("HTTP 500",))
    assert found.notes[1].startswith("Understanding: not tried, as the model gave no answer about two pages (HTTP 500)")
    model.fail_next("http_500", times=1, after=2)
    caplog.clear()
    ended = asked(tmp_path, model.url)
    assert [record.message.partition("says: ")[2] for record in caplog.records] == ["The server had an error."]
    assert re.search(r"understands pages +not tried", ended.out), ended.out


def test_without_the_package_of_the_model_one_line_says_what_to_install_before_anything_is_tried(
    tmp_path: Path, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    ended = asked(tmp_path, model.url)
    assert (ended.code, ended.out, model.calls) == (1, "", 0)
    assert ended.err.count("\n") == 1
    assert "pip install 'embermem[openai]'" in ended.err


def test_a_model_that_thinks_is_said_to(model: ModelServer) -> None:
    model.fail_always("think")
    found = check(model.url)
    assert found.thinks
    assert any(note.startswith("Thinking") for note in found.notes)


def test_a_small_context_lowers_the_limits_of_answers(model: ModelServer) -> None:
    found = check(model.url)
    assert found.context_tokens is None
    assert "model_answer_tokens" not in found.settings
    model.fail_always("overflow", tokens=300)  # the refusal of a page tells the context
    found = check(model.url)
    assert found.context_tokens is not None
    assert found.settings["model_answer_tokens"] == found.context_tokens // 2
    assert any(note.startswith("Context: small") for note in found.notes)


def test_without_a_model_and_without_a_server_the_error_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match="EMBERMEM_MODEL"):
        model_check.make_model(config.load(model=""))
    with pytest.raises(ModelUnreachable, match="cannot be reached"):
        check("http://127.0.0.1:9/v1")
    ended = asked(tmp_path, "http://127.0.0.1:9/v1")
    assert (ended.code, ended.out) == (1, "")
    assert "127.0.0.1:9 cannot be reached" in ended.err
    assert (tmp_path / "e.toml").read_text() == ""


def test_a_server_that_says_nothing_is_given_up_in_time() -> None:
    begun = time.monotonic()
    with (
        loopback.answering(lambda request, number: loopback.NEVER) as server,
        pytest.raises(ModelTimeout, match="within the time of the check"),
    ):
        check(f"{server.url}/v1", within_s=1.5)
    assert time.monotonic() - begun < 15


def test_what_is_found_is_printed_and_written(tmp_path: Path, model: ModelServer) -> None:
    (tmp_path / "e.toml").write_text("tau = 6.0\n")
    ended = asked(tmp_path, model.url, "--write")
    assert ended.code == 0, ended.err
    for word in ("tokens a second", "grammar", "a page", "Chat: works.", "Written to"):
        assert word in ended.out
    written = config.load(config=tmp_path / "e.toml")
    assert (written.tau, written.model, written.model_url) == (6.0, "scripted", model.url)
    found = asked(tmp_path, model.url, "--json", "--seconds", "20").json
    assert found["check"]["understands"] is True
    assert found["written"] is None
    assert not (tmp_path / "memory.db").exists()


def test_options_of_the_check_are_refused_without_it(tmp_path: Path) -> None:
    assert cli(tmp_path / "memory.db", "model", "--write").code == 2
    assert cli(tmp_path / "memory.db", "model", "check", "--from", "x.whl").code == 2
    assert cli(tmp_path / "memory.db", "model", "look").code == 2
