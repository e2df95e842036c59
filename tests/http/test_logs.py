"""What stands in a server's log: kinds, places and counts, and never what somebody said."""

from __future__ import annotations

import asyncio
import io
import logging
import sqlite3
import traceback
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from serving import client, key_for, running

from embermem import Memory
from embermem.cli import logs
from embermem.core.errors import InputError, StoreError
from embermem.testing.model_server import ModelServer
from scripted import Opener

SECRET = "heron-4711"


@pytest.fixture(params=list(logs.Format))
def written(request: pytest.FixtureRequest) -> Iterator[io.StringIO]:
    """What a server of this process writes to its log, as it writes it, from level DEBUG on."""
    text = io.StringIO()
    handler = logging.StreamHandler(text)
    handler.setFormatter(logs.JsonLines() if request.param is logs.Format.JSON else logs.TextLines())
    root, ours = logging.getLogger(), logging.getLogger("embermem")
    before = ours.level
    root.addHandler(handler)
    ours.setLevel(logging.DEBUG)
    try:
        yield text
    finally:
        root.removeHandler(handler)
        ours.setLevel(before)


def test_the_words_of_a_message_that_cannot_be_kept_are_not_logged(
    opened: Opener, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "embermem")
    with ModelServer(answer="Hello.") as model:
        memory = opened(proxy_url=model.url, max_text_chars=40)
        with running(memory) as url, client(url) as c:
            for message in (
                {"role": "user", "content": "Hi.", "name": {"my": SECRET}},
                {"role": "user", "content": "Hi.", "name": SECRET * 100},
                {"role": "user", "content": SECRET * 100},
                {"role": "user", "content": {"my": SECRET}},
                {"role": "user", "content": [{"type": SECRET, "text": 1}]},
                {"role": SECRET, "content": "Hi."},
            ):
                body = {"model": "scripted", "user": "alice", "messages": [message]}
                c.post("/v1/chat/completions", json=body)
    told = [record for record in caplog.records if "not kept" in record.getMessage()]
    assert len(told) >= 2
    assert "InputError" in told[0].getMessage()
    assert SECRET not in caplog.text


def test_no_request_writes_its_words_into_the_log(opened: Opener, written: io.StringIO) -> None:
    memory = opened(proxy_url="http://127.0.0.1:9/v1")
    _, key = key_for(memory, "*")
    with running(memory, require_keys=True) as url, client(url, key) as c:
        for path in ("/v1/search", "/v1/context", "/v1/memories", "/v1/facts", "/v1/chat/completions", "/v1/settle"):
            for body in (
                {"query": SECRET, "messages": SECRET, "user_id": SECRET, "facts": [{"text": SECRET, "x": SECRET}]},
                {"query": {SECRET: SECRET}, "messages": [{"role": SECRET, "content": SECRET}], "top_k": SECRET},
                {SECRET: SECRET, "messages": [{"role": "user", "content": SECRET, "name": [SECRET]}]},
            ):
                c.post(path, json=body)
            c.post(path, content=f'{{"query": "{SECRET}'.encode(), headers={"Content-Type": "application/json"})
        for path in ("/v1/pages", "/v1/facts", "/search", "/recall", "/pages", "/nowhere", f"/v1/pages/{SECRET}"):
            c.get(path, params={"q": SECRET, "user_id": "alice", "cursor": SECRET, "limit": SECRET, "as_of": SECRET})
        c.get("/v1/stats", headers={"X-Request-Id": f"{SECRET} {SECRET}", "X-API-Key": f"ember_{SECRET}_{SECRET}"})
        c.post("/login", data={"key": f"ember_{SECRET}", "next": f"/search?q={SECRET}"})
        memory.close()
        c.post("/v1/memories", json={"messages": SECRET})
        c.get("/search", params={"q": SECRET})
    assert written.getvalue().count("request") > 30
    assert SECRET not in written.getvalue()


def test_a_database_s_words_are_not_logged_nor_in_the_cause_of_an_error(
    opened: Opener, tmp_path: Path, written: io.StringIO, engine: str
) -> None:
    memory = opened()
    memory.of("alice").add("Hello.")
    with closing(sqlite3.connect(tmp_path / "memory.db")) as file:
        file.execute("CREATE TRIGGER no BEFORE INSERT ON utterance BEGIN SELECT RAISE(ABORT, 'no'); END")
        file.commit()
    with pytest.raises(StoreError) as raised:
        memory.of("alice").add(f"My word is {SECRET}.")
    assert SECRET not in "".join(traceback.format_exception(raised.value))
    with running(memory) as url, client(url) as c:
        assert c.post("/v1/memories", json={"messages": SECRET}).status_code == 500
    assert "StoreError" in written.getvalue()
    assert SECRET not in written.getvalue()


def test_an_error_is_told_by_its_kind_and_place_wherever_it_stands_in_a_record(written: io.StringIO) -> None:
    for log in ("embermem.some", "uvicorn.error", "asyncio", "mcp.server", "httpx2"):
        logger = logging.getLogger(log)
        try:
            raise InputError(f"role = {SECRET!r} is not allowed")
        except InputError as error:
            logger.warning("it failed: %s, %r, %s", error, error, "known words")
            logger.error("it failed", exc_info=error)
        if not log.startswith(("embermem", "uvicorn")):
            logger.warning(f"Failed to validate {SECRET}")
        assert written.getvalue().count("it failed") == (2 if log.startswith(("embermem", "uvicorn")) else 1), log
        assert "InputError" in written.getvalue(), log
        assert "test_logs.py:" in written.getvalue(), log
        assert SECRET not in written.getvalue(), log


def test_a_task_that_nobody_awaited_tells_no_words_either(written: io.StringIO) -> None:
    async def fails() -> None:
        raise InputError(SECRET)

    async def leaves() -> None:
        task = asyncio.create_task(fails())
        with suppress(InputError):
            await asyncio.wait([task])

    asyncio.run(leaves())
    assert SECRET not in written.getvalue()


def test_the_log_of_a_record_without_arguments_is_its_text(memory: Memory, written: io.StringIO) -> None:
    arguments: Any = {"count": 2}
    logging.getLogger("embermem.some").info("done")
    logging.getLogger("embermem.some").info("%(count)d done", arguments)
    assert "done" in written.getvalue()
    assert "2 done" in written.getvalue()
