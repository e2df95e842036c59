"""`embermem mcp` in processes of its own, over stdio."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp_talk import environment, process, read, told
from mcp_types import ElicitResult
from running import run

from embermem import Memory

NOISE = """
import atexit, os, sys, threading, time

def chatter():
    while "embermem.cli.mcp_server" not in sys.modules:
        time.sleep(0.001)
    while True:
        print("a stray print", flush=True)
        os.write(1, b"a stray write\\n")
        time.sleep(0.002)

atexit.register(print, "a stray goodbye")
threading.Thread(target=chatter, daemon=True).start()
"""


def command(store: Path, *options: str) -> list[str]:
    """The command line, with this interpreter."""
    return [sys.executable, "-m", "embermem.cli.main", "--store", str(store), *options]


@pytest.mark.proof
def test_a_client_adds_recalls_and_is_asked_before_it_forgets_and_what_was_said_is_understood_meanwhile(
    tmp_path: Path,
) -> None:
    store = tmp_path / "new" / "m.db"
    options = {"EMBERMEM_SHORT_TERM_PAGES": "2", "EMBERMEM_BATCH_PAGES": "1"}
    asked: list[str] = []

    async def declines(context: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="decline")

    async def script() -> tuple[list[str], str, dict[str, Any]]:
        started = process(store, "--user", "alice", "--agent", "tutor", more=options)
        async with Client(started, elicitation_callback=declines) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            for n in range(5):
                await told(client, "add_memory", user_input=f"My sister Ana plays the cello, day {n}.")
                await told(client, "add_memory", user_input="", agent_response="How lovely.")
            counts = await told(client, "memory_stats")
            until = time.monotonic() + 60
            while not counts["mid"] and time.monotonic() < until:
                await asyncio.sleep(0.05)
                counts = await told(client, "memory_stats")
            page = (await told(client, "search_memory", query="cello"))["results"][0]["page_id"]
            assert not (await told(client, "forget_memory", id=page, confirm=True))["done"]
            return names, await read(client, "retrieve_memory", query="What does Ana play?"), counts

    names, text, counts = asyncio.run(script())
    assert "add_memory" in names
    assert "cello" in text
    assert counts["mid"] > 0
    assert len(asked) == 1
    with Memory(store, embedder="hashed", background=False) as memory:
        assert len(memory.of("alice", "tutor").pages()) == 5


@pytest.mark.proof
def test_two_servers_on_one_file_at_the_same_time_see_what_the_other_stored(tmp_path: Path) -> None:
    store = tmp_path / "m.db"

    async def script() -> tuple[str, str, dict[str, Any]]:
        async with Client(process(store)) as first, Client(process(store), mode="legacy") as second:

            async def add(client: Client, name: str) -> None:
                for n in range(10):
                    await told(client, "add_memory", user_input=f"My {name} number {n} sleeps.", thread=name)

            await asyncio.gather(add(first, "parrot"), add(second, "tortoise"))
            return (
                await read(first, "retrieve_memory", query="tortoise"),
                await read(second, "retrieve_memory", query="parrot"),
                await told(first, "memory_stats"),
            )

    seen_by_first, seen_by_second, counts = asyncio.run(script())
    assert "tortoise" in seen_by_first
    assert "parrot" in seen_by_second
    assert counts["pages"] == 20


def test_what_is_said_is_understood_and_nothing_but_the_protocol_is_on_stdout_whatever_a_library_prints(
    tmp_path: Path,
) -> None:
    store = tmp_path / "new" / "m.db"
    (tmp_path / "noise").mkdir()
    (tmp_path / "noise" / "sitecustomize.py").write_text(NOISE)
    asked: list[dict[str, Any]] = [
        {
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "raw", "version": "1"},
            },
        },
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
        {"id": 3, "method": "tools/call", "params": {"name": "why", "arguments": {"id": "x"}}},
        {"id": 4, "method": "no/such"},
        *(
            {
                "id": n,
                "method": "tools/call",
                "params": {"name": "add_memory", "arguments": {"user_input": f"I row {n}."}},
            }
            for n in (5, 6, 7)
        ),
    ]
    settings = {"EMBERMEM_SHORT_TERM_PAGES": "2", "EMBERMEM_BATCH_PAGES": "1", "PYTHONPATH": str(tmp_path / "noise")}
    server = subprocess.Popen(
        command(store, "--user", "alice", "--agent", "tutor", "mcp"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(settings),
    )
    assert server.stdin is not None
    assert server.stdout is not None
    lines: list[bytes] = []
    for message in asked:
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        server.stdin.flush()
        if "id" in message:
            lines.append(server.stdout.readline())
    counts = {"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": {"name": "memory_stats", "arguments": {}}}
    until, mid = time.monotonic() + 60, 0
    while not mid and time.monotonic() < until:
        time.sleep(0.05)
        server.stdin.write(json.dumps(counts).encode() + b"\n")
        server.stdin.flush()
        lines.append(server.stdout.readline())
        mid = json.loads(lines[-1])["result"]["structuredContent"]["mid"]
    server.stdin.write(b"this is no JSON\n")
    rest, noise = server.communicate(timeout=60)
    answers = [json.loads(line) for line in [*lines, *rest.splitlines()]]
    assert all(answer["jsonrpc"] == "2.0" for answer in answers)
    assert [answer.get("id") for answer in answers][:8] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert "error" in answers[3]
    assert mid > 0
    assert server.returncode == 0
    assert b"a stray print" in noise
    assert b"a stray write" in noise
    assert b"a stray goodbye" in noise
    assert b"Traceback" not in noise
    with Memory(store, embedder="hashed", background=False) as memory:
        assert len(memory.of("alice", "tutor").pages()) == 3


def test_a_store_that_cannot_be_opened_is_told_in_one_line_on_stderr(tmp_path: Path) -> None:
    (tmp_path / "m.db").write_text("no database, but long enough to be taken for something else" * 50)
    done = run(tmp_path / "m.db", "mcp")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error: ")
    assert done.err.count("\n") == 1
