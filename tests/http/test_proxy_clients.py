"""Clients that programs use, whole: the JavaScript ones under Node, and OpenAI's agents, which talk by responses."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from proxying import Spoken, spoken, threads
from serving import NO_TLS

from embermem.testing.wire import Call
from scripted import Opener

NODE = Path(__file__).parent / "node"
SAYS = "Bartholomew, as ever."
PIECES = ["Bartho", "lomew,", " as ev", "er."]


@pytest.fixture
def proxy(opened: Opener) -> Iterator[Spoken]:
    """A proxy on a memory of one line, before a model that calls a tool if it has one."""
    with spoken(opened) as one:
        one.alice.add("My heron is called Bartholomew.", thread="long ago")
        one.model.script.says = SAYS
        one.model.script.calls = Call(name="weather", arguments='{"city": "Lyon"}')
        yield one


@pytest.mark.proof
def test_an_agent_of_openais_sdk_talks_with_memory_and_its_tools_are_kept_once(proxy: Spoken) -> None:
    from agents import Agent, OpenAIResponsesModel, RunConfig, Runner, function_tool
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient

    @function_tool
    def weather(city: str) -> str:
        """The weather of a city."""
        return f"3 °C in {city}"

    http = DefaultAsyncHttpxClient(trust_env=False, verify=NO_TLS)
    headers = {"X-Ember-User": "alice"}
    client = AsyncOpenAI(base_url=f"{proxy.url}/v1", api_key="none", http_client=http, default_headers=headers)
    agent = Agent(name="a", model=OpenAIResponsesModel(model="m", openai_client=client), tools=[weather])
    quiet = RunConfig(tracing_disabled=True)
    first = Runner.run_sync(agent, "Is it cold in Lyon for my heron?", run_config=quiet)
    assert first.final_output == SAYS
    assert all("heron is called Bartholomew" in one.raw.decode() for one in proxy.model.script.requests)
    asked: Any = [*first.to_input_list(), {"role": "user", "content": "Sure?"}]
    second = Runner.run_sync(agent, asked, run_config=quiet)
    assert second.final_output == SAYS
    assert list(threads(proxy.alice).values())[1:] == [
        [
            "Is it cold in Lyon for my heron?",
            '[tool call: weather({"city": "Lyon"})]',
            "3 °C in Lyon",
            SAYS,
            "Sure?",
            SAYS,
        ]
    ]


@pytest.mark.proof
@pytest.mark.skipif(shutil.which("npm") is None, reason="the JavaScript clients need Node and npm")
def test_the_javascript_clients_talk_with_memory(proxy: Spoken, tmp_path: Path) -> None:
    for name in ("package.json", "package-lock.json", "clients.mjs"):
        shutil.copy(NODE / name, tmp_path)
    subprocess.run(["npm", "ci", "--no-audit", "--no-fund"], cwd=tmp_path, check=True, capture_output=True, timeout=300)
    done = subprocess.run(
        ["node", "clients.mjs"],
        cwd=tmp_path,
        env={**os.environ, "EMBER_URL": proxy.url},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    called = ["weather", '{"city": "Lyon"}', SAYS]
    assert [tuple(json.loads(line).values()) for line in done.stdout.splitlines()] == [
        ("openai chat", SAYS),
        ("openai chat, streamed", ["Barth", "olome", "w, as", " ever", "."]),
        ("openai chat, tools", called),
        ("openai responses", SAYS),
        ("openai responses, after a response", [SAYS, True]),
        ("openai responses, streamed", PIECES),
        ("openai responses, tools", called),
        ("openai embeddings, completions, models", [[0.5, 1.0], SAYS, ["scripted"]]),
        ("openai, a wrong header", ["UnprocessableEntityError", 422, True]),
        ("anthropic messages", [SAYS]),
        ("anthropic messages, streamed", [PIECES, "end_turn", ["thinking", "text"]]),
        ("anthropic messages, tools", ["weather", {"city": "Lyon"}, SAYS]),
        ("anthropic count_tokens", 12),
        ("ollama chat", SAYS),
        ("ollama chat, streamed", PIECES),
        ("ollama chat, tools", ["weather", {"city": "Lyon"}, SAYS]),
        ("ollama tags, embed", [["scripted"], [[0.5, 1.0]]]),
    ]
    kept = threads(proxy.alice)
    answered = [texts for texts in kept.values() if texts[0].startswith("Is it cold")]
    assert [texts[1:] for texts in answered] == [['[tool call: weather({"city": "Lyon"})]', "3 °C", SAYS]] * 4
    assert ["What is my heron called?", SAYS, "Yes.", SAYS, "Yes.", SAYS] in kept.values()
