"""`ingest`, `settle` and `stats` say what waits for the model, and why."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from running import run

from embermem.testing import answers
from embermem.testing.model_server import ModelServer


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(answers.answer) as one:
        yield one


@pytest.fixture
def file(tmp_path: Path) -> Path:
    lines = "".join(f"Ana: I saw heron number {n}.\nEmber: How nice.\n" for n in range(20))
    (tmp_path / "talk.txt").write_text(lines, encoding="utf-8")
    return tmp_path / "talk.txt"


def model(server: ModelServer, **more: str) -> dict[str, str]:
    named = {"EMBERMEM_MODEL": "scripted", "EMBERMEM_MODEL_URL": server.url, "EMBERMEM_MODEL_RETRIES": "0"}
    return named | {f"EMBERMEM_{name.upper()}": value for name, value in more.items()}


def test_a_model_that_answers_leaves_nothing_waiting(tmp_path: Path, file: Path, server: ModelServer) -> None:
    done = run(tmp_path / "m.db", "ingest", str(file), "--json", more=model(server))
    assert (done.code, done.json["owners"][0]["waiting"]) == (0, [])
    assert run(tmp_path / "m.db", "settle", "--json", more=model(server)).json == {"placed": 0, "waiting": []}


def test_pages_read_without_the_model_are_told_with_the_reason_and_exit_code_4(
    tmp_path: Path, file: Path, server: ModelServer
) -> None:
    server.fail_always("http_500")
    store = tmp_path / "m.db"
    done = run(store, "ingest", str(file), more=model(server, model_breaker_failures="2"))
    assert (done.code, "13 pages settled" in done.out) == (4, True)
    assert "13 pages were read without the model and will be read again after" in done.err
    assert f"127.0.0.1:{server.port}" in done.err
    stats = run(store, "stats", more=model(server))
    assert (stats.code, "13 pages were read without the model" in stats.out) == (0, True)
    (wait,) = run(store, "stats", "--json", more=model(server)).json["owner"]["waiting"]
    assert (wait["waits_for"], wait["pages"]) == ("reading", 13)
    settled = run(store, "settle", "--json", more=model(server))
    assert (settled.code, settled.json["waiting"]) == (4, [wait])


def test_pages_that_wait_are_told_with_the_reason_and_exit_code_3(
    tmp_path: Path, file: Path, server: ModelServer
) -> None:
    done = run(tmp_path / "m.db", "ingest", str(file), "--json", more=model(server, calls_per_day="1"))
    (wait,) = done.json["owners"][0]["waiting"]
    assert (done.code, wait["waits_for"], wait["pages"]) == (3, "place", 5)
    assert "calls" in wait["reason"]
    assert "5 pages wait: " in done.err
    assert "heron" not in done.err


def test_storing_alone_tells_of_nothing_that_waits(tmp_path: Path, file: Path, server: ModelServer) -> None:
    server.fail_always("http_500")
    done = run(tmp_path / "m.db", "ingest", str(file), "--no-settle", "--json", more=model(server))
    assert (done.code, done.json["owners"][0]["waiting"], server.calls) == (0, [], 0)


def not_borne_out(request: dict[str, Any]) -> dict[str, Any]:
    """An answer of the form that the request asks for, of which the conversation says nothing."""
    bread = {"summary": "Rye bread is baked on Fridays.", "keywords": ["rye bread"]}
    found: dict[str, Any] = answers.answer(request)
    if "pages" in found:
        return {"pages": [page | bread for page in found["pages"]]}
    fact = {"evidence": ["u1"], "subject": "user", "attribute": "bakes", "value": "rye", "text": "bakes rye"}
    told = {"title": "", "summary": bread["summary"], "traits": []} if "summary" in found else {}
    return {"facts": [fact]} | told


def test_cost_says_what_was_spent_on_answers_that_could_not_be_used(
    tmp_path: Path, file: Path, server: ModelServer
) -> None:
    server.fail_always("prose")
    run(tmp_path / "m.db", "ingest", str(file), more=model(server))
    total = run(tmp_path / "m.db", "cost", "--json", more=model(server)).json["total"][0]
    assert total["outcomes"] == {"unusable": server.calls}
    assert total["unused_tokens"] == total["prompt_tokens"] + total["completion_tokens"] > 0
    with ModelServer(not_borne_out) as wrong:  # of the form asked for, and about something else
        run(tmp_path / "n.db", "ingest", str(file), more=model(wrong))
        total = run(tmp_path / "n.db", "cost", "--json", more=model(wrong)).json["total"][0]
        assert total["outcomes"] == {"unusable": wrong.calls}
