"""Recordings of requests and replies."""

from __future__ import annotations

import json
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from scripted_llms import ScriptedModel, question
from test_asking import City

from embermem.core.errors import ConfigError, ModelMissing, ModelTimeout
from embermem.llms import RecordedModel
from embermem.llms.structured import reply_schema


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "replies.jsonl"


def test_the_same_request_is_asked_once_even_by_another_process_and_only_its_owner_may_read_the_file(
    file: Path,
) -> None:
    model = ScriptedModel("one", "two")
    request = question(schema=reply_schema(City), temperature=0.2)
    assert RecordedModel(model, file).complete(request).text == "one"
    assert RecordedModel(model, file).complete(request).text == "one"
    assert len(model.requests) == 1
    RecordedModel(ScriptedModel("one"), file).complete(question())
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_any_other_request_is_another(file: Path) -> None:
    cases = [
        question("else"), question(max_tokens=7), question(temperature=0.0), question(schema=reply_schema(City)),
    ]  # fmt: skip
    model = RecordedModel(ScriptedModel("one", *(str(number) for number in range(len(cases)))), file)
    assert model.complete(question()).text == "one"
    for number, other in enumerate(cases):
        assert model.complete(other).text == str(number)


def test_a_replay_asks_nobody_and_of_another_model_finds_nothing(file: Path) -> None:
    RecordedModel(ScriptedModel("one"), file).complete(question())
    replay = RecordedModel(None, file)
    assert replay.name == "scripted"
    assert replay.complete(question()).text == "one"
    with pytest.raises(ModelMissing):
        replay.complete(question("else"))
    with pytest.raises(ModelMissing):
        list(replay.stream(question("else")))
    RecordedModel(ScriptedModel("one"), file).complete(question())
    with pytest.raises(ModelMissing):
        RecordedModel(None, file, name="other").complete(question())


def test_a_failure_is_not_kept(file: Path) -> None:
    model = RecordedModel(ScriptedModel(ModelTimeout("late"), "one"), file)
    with pytest.raises(ModelTimeout):
        model.complete(question())
    assert model.complete(question()).text == "one"


def test_a_stream_is_kept_when_it_was_read_to_its_end(file: Path) -> None:
    model = RecordedModel(ScriptedModel("Hello.", "Hello."), file)
    next(iter(model.stream(question())))
    list(model.stream(question()))
    assert RecordedModel(None, file).complete(question()).text == "Hello."
    assert len(file.read_text().split()) > 0


def test_threads_and_writers_add_whole_lines(file: Path) -> None:
    models = [RecordedModel(ScriptedModel(*["x" * 5000] * 20), file) for _ in range(2)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: models[n % 2].complete(question(f"number {n}")), range(40)))
    lines = [json.loads(line) for line in file.read_text().splitlines() if line]
    assert len({line["key"] for line in lines}) == 40


def test_a_line_that_broke_off_is_passed_over(file: Path) -> None:
    RecordedModel(ScriptedModel("one"), file).complete(question())
    with file.open("a") as broken:
        broken.write('{"key":"12')
    model = RecordedModel(ScriptedModel("two"), file)
    assert model.complete(question()).text == "one"
    assert model.complete(question("else")).text == "two"
    assert RecordedModel(None, file).complete(question("else")).text == "two"


def test_a_file_of_something_else_is_refused_and_left_as_it_is(file: Path) -> None:
    file.write_text("My diary.\n")
    with pytest.raises(ConfigError, match="line 1"):
        RecordedModel(ScriptedModel(), file)
    assert file.read_text() == "My diary.\n"


def test_a_file_that_cannot_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        RecordedModel(ScriptedModel(), tmp_path / "no folder" / "replies.jsonl")
    with pytest.raises(ConfigError):
        RecordedModel(None, tmp_path / "none.jsonl")
