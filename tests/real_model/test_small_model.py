"""Everything against a real model of 135M parameters behind llama.cpp's server: `make model-test`.

Such a model writes nonsense. What must hold is what holds with any model: pages are placed, nothing that nobody said
is remembered, chat answers and is kept, the proxy relays with memory, and what a command did is in its exit code.
"""

from __future__ import annotations

import json
import re
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from running import command, environment
from serving import client, running

from embermem import Memory
from embermem.core import injected_blocks
from embermem.core.types import WaitsFor

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-model" / "bin" / "python"
MODEL = "smollm2-135m"
READ_S = 120
"""Seconds for the questions about one conversation, on two cores that others use too."""
BENCH_S = 300
SYSTEMS = "memoryos full_context readagent memorybank tim memgpt amem mem0 mem0g".split()

SAID = (
    ("I moved to Nantes in May.", "How do you like it there?"),
    ("I like it. My cat is called Pixel.", "Pixel is a fine name."),
    ("My sister Ines works as a nurse in Lyon.", "That is hard work."),
    ("I am allergic to walnuts.", "I will remember that."),
    ("On Sunday I ran ten kilometres by the river.", "Well done."),
    ("I learn the cello with Mrs Roux.", "Since when?"),
)
SHORT = {"short_term_pages": 2, "batch_pages": 2}
"""So that four of the six pages are read."""
PLACED = (0, 4)
"""Exit codes where all pages are placed; 4: some were read without the model, whose answers could not be used."""


@pytest.fixture(scope="session")
def url() -> Iterator[str]:
    """The model's server, in a process of its own."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [PYTHON, ROOT / "scripts" / "model_server.py", "--port", str(port)], stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    assert "answers at" in server.stdout.readline()
    yield f"http://127.0.0.1:{port}/v1"
    server.terminate()
    assert server.wait(timeout=20) == 0


@contextmanager
def opened(place: Path, url: str, **settings: Any) -> Iterator[Memory]:
    """A memory with the model."""
    given = {"embedder": "hashed", "background": False, **SHORT, **settings}
    with Memory(place, model=MODEL, model_url=url, **given) as memory:
        yield memory


def words(text: str) -> set[str]:
    """The words of a text, without the s of a third person: a fact says `learns` where someone said `I learn`."""
    return {word.removesuffix("s") for word in re.findall(r"\w+", text.casefold())}


def embermem(folder: Path, *arguments: str, url: str | None, **more: str) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own, with the model where a `url` is given."""
    model = {} if url is None else {"EMBERMEM_MODEL": MODEL, "EMBERMEM_MODEL_URL": url}
    return subprocess.run(
        command(*arguments),
        env=environment(folder / "memory.db", {**model, **more}),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=READ_S + BENCH_S,
        check=False,
    )


@pytest.mark.timeout(READ_S)
def test_pages_are_placed_and_nothing_is_remembered_that_nobody_said(tmp_path: Path, url: str) -> None:
    with opened(tmp_path / "memory.db", url) as memory:
        alice = memory.of("alice")
        for query, response in SAID:
            alice.add(query, response)
        alice.settle()
        stats, calls = alice.stats(), memory.calls(memory.now().replace(hour=0, minute=0, second=0))
        assert stats.pending == 0
        assert {one.waits_for for one in stats.waiting} <= {WaitsFor.READING}, "read without the model, and to be again"
        assert len(alice.pages("mid")) == len(SAID) - 2
        assert len(calls) >= 1
        said = words(" ".join(text for pair in SAID for text in pair))
        for fact in alice.facts():
            assert words(fact.value or "") <= said, fact
            assert fact.sources, fact
        by = {change.no: change.analyst for change in alice.changes()}
        for trait in alice.persona().traits:
            assert by[trait.change_no] == "extractive-v1", trait
        for one in alice.persona().profile:
            assert words(one.value) <= said, one


@pytest.mark.timeout(READ_S)
def test_chat_answers_and_keeps_what_was_said_while_a_stream_is_read(tmp_path: Path, url: str) -> None:
    with opened(tmp_path / "memory.db", url, model_chat_tokens=24) as memory:
        alice = memory.of("alice")
        alice.add(*SAID[1], thread="old")
        first = alice.chat("What is my cat called?", thread="new")
        stream = alice.chat("And where is she now?", thread="new", stream=True)
        pieces = list(stream)
        assert stream.reply is not None
        assert "Pixel" in first.context.text
        said = [one.text for page in alice.pages() for one in page.utterances if page.thread == "new"]
        assert said == ["What is my cat called?", first.text, "And where is she now?", stream.reply.text]
        assert "".join(pieces).strip() == stream.reply.text
        assert injected_blocks.MARK not in " ".join(said)
        asked = memory.calls(memory.now().replace(hour=0, minute=0, second=0))
        assert [call.outcome for call in asked] == ["ok", "ok"]
        # The second prompt begins as the first: the system message is read from the server's cache.
        assert asked[1].cached_tokens > 150


@pytest.mark.timeout(READ_S)
def test_the_proxy_relays_streams_with_memory_and_leaves_the_servers_cache_its_prefix(tmp_path: Path, url: str) -> None:
    system = {"role": "system", "content": " ".join(f"Rule {number}: be brief." for number in range(40))}
    with opened(tmp_path / "memory.db", url, proxy_url=url) as memory:
        memory.of("alice").add(*SAID[1], thread="old")
        history: list[dict[str, str]] = [system]
        usages = []
        with running(memory) as served, client(served) as asking:
            for question in ("What is my cat called?", "What is the name of my cat again?"):
                history.append({"role": "user", "content": question})
                said, usage, headers = streamed(asking, history)
                assert headers["x-ember-memory"] == "used"
                history.append({"role": "assistant", "content": said})
                usages.append(usage)
        kept = [one.text for page in memory.of("alice").pages()[1:] for one in page.utterances]
    assert [text.strip() for text in kept] == [one["content"].strip() for one in history[1:]]
    assert usages[1]["prompt_tokens_details"]["cached_tokens"] > 300  # the rules, which are 40 lines


def streamed(asking: httpx2.Client, history: list[dict[str, str]]) -> tuple[str, dict[str, Any], Any]:
    """A streamed answer, what it cost, and its headers."""
    body = {
        "model": MODEL,
        "user": "alice",
        "messages": history,
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 16,
    }
    pieces, usage = list[str](), dict[str, Any]()
    with asking.stream("POST", "/v1/chat/completions", json=body, timeout=READ_S) as answer:
        assert answer.status_code == 200
        for line in answer.iter_lines():
            if line.startswith("data: {"):
                event = json.loads(line.removeprefix("data: "))
                usage = event.get("usage") or usage
                pieces += [choice["delta"].get("content") or "" for choice in event["choices"]]
    return "".join(pieces), usage, answer.headers


@pytest.mark.timeout(2 * READ_S)
def test_commands_say_in_their_exit_code_what_came_of_it(tmp_path: Path, url: str) -> None:
    lines = [
        json.dumps({"role": role, "content": text})
        for pair in SAID
        for role, text in zip(("user", "assistant"), pair, strict=True)
    ]
    (tmp_path / "said.jsonl").write_text("\n".join(lines) + "\n")
    short = {f"EMBERMEM_{name.upper()}": str(value) for name, value in SHORT.items()}
    ingested = embermem(tmp_path, "ingest", "said.jsonl", "--json", url=url, **short)
    assert ingested.returncode in PLACED, ingested.stderr
    (owner,) = json.loads(ingested.stdout)["owners"]
    assert owner["placed"] == len(SAID) - 2
    assert embermem(tmp_path, "settle", url=url, **short).returncode in PLACED
    spent = json.loads(embermem(tmp_path, "cost", "--json", url=url).stdout)
    assert re.search(r'"calls": [1-9]', json.dumps(spent))
    assert embermem(tmp_path, "recall", "What is my cat called?", url=url).returncode == 0


@pytest.mark.timeout(READ_S)
def test_a_check_of_the_model_takes_half_a_minute_and_one_of_a_dead_server_fails_at_once(
    tmp_path: Path, url: str
) -> None:
    checked = embermem(tmp_path, "model", "check", "--json", "--write", url=url)
    assert checked.returncode == 0, checked.stderr
    found = json.loads(checked.stdout)
    assert found["check"]["seconds"] < 33
    assert found["check"]["context_tokens"] == 8192
    assert found["check"]["form"] == "grammar"
    assert found["check"]["speed"]["answer"] > 0
    assert f'model = "{MODEL}"' in (tmp_path / "embermem.toml").read_text()
    begun = time.monotonic()
    dead = embermem(tmp_path, "model", "check", url="http://127.0.0.1:9/v1")
    assert (dead.returncode, dead.stdout) == (1, "")
    assert "cannot be reached" in dead.stderr
    assert time.monotonic() - begun < 30


@pytest.mark.timeout(BENCH_S + 30)
def test_the_bench_of_nine_systems_ends_with_an_answer_to_each_question(tmp_path: Path, url: str) -> None:
    turns = [
        {"speaker": speaker, "dia_id": f"D1:{2 * number + which + 1}", "text": text}
        for number, pair in enumerate(SAID[:3])
        for which, (speaker, text) in enumerate(zip(("Mia", "Leo"), pair, strict=True))
    ]
    talk = {
        "sample_id": "ours",
        "conversation": {
            "speaker_a": "Mia",
            "speaker_b": "Leo",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": turns,
        },
        "qa": [{"question": "What is Mia's cat called?", "answer": "Pixel", "evidence": ["D1:3"], "category": 4}],
    }
    (tmp_path / "talk.json").write_text(json.dumps([talk]))
    named = [word for name in SYSTEMS for word in ("--system", name)]
    limits = {"EMBERMEM_MODEL_ANSWER_TOKENS": "80", "EMBERMEM_MODEL_CHAT_TOKENS": "80"}
    small = {**limits, "EMBERMEM_SHORT_TERM_PAGES": "1", "EMBERMEM_MODEL_RETRIES": "0"}
    ran = embermem(tmp_path, "bench", "run", "talk.json", *named, "--out", "run", "--json", url=url, **small)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert sorted({one for one in SYSTEMS if f'"{one}' in json.dumps(found)}) == sorted(SYSTEMS)
