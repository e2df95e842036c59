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
Written = tuple[io.StringIO, io.StringIO]
"""JSON, and text for people."""


@pytest.fixture
def written() -> Iterator[Written]:
    """What a server of this process writes to its log in both formats, as it writes it, from level DEBUG on."""
    texts, handlers = (io.StringIO(), io.StringIO()), list[logging.Handler]()
    for text, form in zip(texts, (logs.JsonLines(), logs.TextLines()), strict=True):
        handlers.append(logging.StreamHandler(text))
        handlers[-1].setFormatter(form)
    root, ours = logging.getLogger(), logging.getLogger("embermem")
    before = ours.level
    for handler in handlers:
        root.addHandler(handler)
    ours.setLevel(logging.DEBUG)
    try:
        yield texts
    finally:
        for handler in handlers:
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


def test_no_request_writes_its_words_into_the_log(opened: Opener, written: Written) -> None:
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
    for log in written:
        assert log.getvalue().count("request") > 30
        assert SECRET not in log.getvalue()


def test_a_database_s_words_are_not_logged_nor_in_the_cause_of_an_error(
    opened: Opener, tmp_path: Path, written: Written, engine: str
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
    for log in written:
        assert "StoreError" in log.getvalue()
        assert SECRET not in log.getvalue()


def test_an_error_is_told_by_its_kind_and_place_wherever_it_stands_in_a_record(written: Written) -> None:
    for name in ("embermem.some", "uvicorn.error", "asyncio", "mcp.server", "httpx2"):
        ours = name.startswith(("embermem", "uvicorn"))
        for log in written:
            log.truncate(log.seek(0))
        logger = logging.getLogger(name)
        try:
            raise InputError(f"role = {SECRET!r} is not allowed")
        except InputError as error:
            logger.warning("it failed: %s, %r, %s", error, error, "known words")
            logger.error("it failed", exc_info=error)
        if not ours:
            logger.warning(f"Failed to validate {SECRET}")
        for log in written:
            told = log.getvalue()
            assert told.count("it failed") == (2 if ours else 1), name
            assert "InputError" in told, name
            assert "test_logs.py:" in told, name
            assert SECRET not in told, name


def test_a_task_that_nobody_awaited_tells_no_words_either(written: Written) -> None:
    async def fails() -> None:
        raise InputError(SECRET)

    async def leaves() -> None:
        task = asyncio.create_task(fails())
        with suppress(InputError):
            await asyncio.wait([task])

    asyncio.run(leaves())
    assert not any(SECRET in log.getvalue() for log in written)


def test_the_log_of_a_record_without_arguments_is_its_text(memory: Memory, written: Written) -> None:
    arguments: Any = {"count": 2}
    logging.getLogger("embermem.some").info("done")
    logging.getLogger("embermem.some").info("%(count)d done", arguments)
    assert all("done" in log.getvalue() and "2 done" in log.getvalue() for log in written)
