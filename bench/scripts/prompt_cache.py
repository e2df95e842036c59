"""Prompt tokens that a model's server reads from its cache, over one conversation with memory.

    bench/scripts/prompt_cache.sh http://127.0.0.1:8090/v1 [--pages 60] [--turns 10] [--ways direct,proxy,chat]
    bench/scripts/prompt_cache.sh scripted

The same questions are asked in three ways: `direct`, by a client that sends its whole conversation each time; `proxy`,
by the same client through the proxy; `chat`, by `OwnerMemory.chat`. The memory holds `--pages` pages of other
conversations. Tokens and those from the cache are the server's count: it must send `usage` with
`prompt_tokens_details.cached_tokens` (llama.cpp, vLLM, OpenAI). Turn 1 is left out of the sums, as nothing can be
cached there. Times are those of this machine, under whatever load it is.

`scripted` asks no model, and takes seconds: a scripted server answers, tokens are pieces of words, and from the cache
are those with which a prompt begins like the one before.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import islice, pairwise, takewhile
from pathlib import Path
from typing import Any

import httpx2
from proxy import served

from embermem import Memory
from embermem.testing.model_server import ModelServer
from embermem_bench.synthetic import exchanges, queries

USER = "alice"
ANSWER_TOKENS = 32
SYSTEM = (
    "You are the assistant of a small nature club. You answer its members in two or three plain sentences. You know "
    "the paths around the lake, the opening hours of the hut (from nine to five, not on Mondays), and which birds are "
    "seen in which month. You give no medical advice. If a question is not about the club, you say so and answer "
    "briefly all the same. You call people by the name that they give you."
)
WAYS = ("direct", "proxy", "chat")
SCRIPTED = "scripted"
"""In place of a server's address: no model is asked."""
_PIECE = re.compile(r"\d|[^\W\d]{1,6}|[^\w\s]|\n|_")


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """One question: tokens of its prompt, those read from the cache, and milliseconds to the first token."""

    prompt: int
    cached: int
    first_ms: float


def streamed(client: httpx2.Client, url: str, model: str, history: list[dict[str, str]]) -> tuple[str, Turn]:
    """The answer of a server to a conversation, and what it cost."""
    body: dict[str, Any] = {
        "model": model,
        "user": USER,
        "messages": history,
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": ANSWER_TOKENS,
        "temperature": 0,
    }
    begun, first_ms, pieces, usage = time.perf_counter(), 0.0, list[str](), dict[str, Any]()
    with client.stream("POST", f"{url}/chat/completions", json=body) as answer:
        answer.raise_for_status()
        for line in answer.iter_lines():
            if not line.startswith("data: {"):
                continue
            event = json.loads(line.removeprefix("data: "))
            usage = event.get("usage") or usage
            for choice in event.get("choices", ()):
                if piece := choice.get("delta", {}).get("content"):
                    first_ms = first_ms or (time.perf_counter() - begun) * 1000
                    pieces.append(piece)
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
    return "".join(pieces), Turn(prompt=usage["prompt_tokens"], cached=cached, first_ms=first_ms)


def by_client(url: str, model: str, asked: list[str]) -> Iterator[Turn]:
    """Turns of a client that keeps its conversation and sends all of it."""
    history = [{"role": "system", "content": SYSTEM}]
    # llama.cpp closes a connection after a stream without saying so.
    with httpx2.Client(trust_env=False, timeout=600.0, headers={"connection": "close"}) as client:
        for question in asked:
            history.append({"role": "user", "content": question})
            answer, turn = streamed(client, url, model, history)
            history.append({"role": "assistant", "content": answer})
            yield turn


def by_chat(place: Path, settings: dict[str, Any], asked: list[str]) -> Iterator[Turn]:
    """Turns of `OwnerMemory.chat`, whose tokens stand in the usage log."""
    with Memory(place, background=False, **settings) as memory:
        alice = memory.of(USER)
        for question in asked:
            since, begun = datetime.now(UTC), time.perf_counter()
            stream, first_ms = alice.chat(question, system=SYSTEM, thread="asked", stream=True), 0.0
            for _ in stream:
                first_ms = first_ms or (time.perf_counter() - begun) * 1000
            call = memory.calls(since)[-1]
            yield Turn(prompt=call.prompt_tokens, cached=call.cached_tokens, first_ms=first_ms)


def replies(seed: int) -> Callable[[dict[str, Any]], str]:
    """What a scripted server answers: about as many words as are asked of a real one."""
    made = exchanges(seed)
    return lambda request: next(made).response


def counted(requests: list[dict[str, Any]]) -> list[Turn]:
    """Turns of the requests that a scripted server got."""
    prompts = [
        _PIECE.findall("".join(f"<|{said['role']}|>\n{said['content']}\n" for said in request["messages"]))
        for request in requests
    ]
    alike = [
        sum(1 for _ in takewhile(lambda two: two[0] == two[1], zip(*two, strict=False))) for two in pairwise(prompts)
    ]
    return [Turn(prompt=len(one), cached=n, first_ms=0.0) for one, n in zip(prompts, [0, *alike], strict=True)]


def told(turns: list[Turn]) -> dict[str, Any]:
    """The sums of the second turn and those after it, and all turns."""
    later = turns[1:]
    prompt, cached = sum(turn.prompt for turn in later), sum(turn.cached for turn in later)
    return {
        "prompt_tokens": prompt,
        "cached_tokens": cached,
        "cached_share": round(cached / max(1, prompt), 3),
        "read_a_turn": round((prompt - cached) / max(1, len(later)), 1),
        "first_token_ms_mean": round(sum(turn.first_ms for turn in later) / max(1, len(later)), 1),
        "turns": [{**asdict(turn), "first_ms": round(turn.first_ms)} for turn in turns],
    }


def asked_by(way: str, model_url: str, given: argparse.Namespace) -> list[Turn]:
    """All questions, asked in one way."""
    asked, shared = queries(given.seed, given.turns), {"embedder": given.embedder}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "memory.db"
        with Memory(place, background=False, **shared) as memory:
            alice = memory.of(USER)
            for one in islice(exchanges(given.seed), given.pages):
                alice.add(one.query, one.response, thread="before")
            alice.settle()
        if way == "direct":
            return list(by_client(model_url, given.model, asked))
        if way == "proxy":
            with served(place, {**shared, "proxy_url": model_url}) as url:
                return list(by_client(url, given.model, asked))
        settings = {
            **shared,
            "model": given.model,
            "model_url": model_url,
            "model_chat_tokens": ANSWER_TOKENS,
            "model_timeout_s": 600.0,
        }
        return list(by_chat(place, settings, asked))


def main() -> None:
    """Measure, and print one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("url", help=f"the model's server, such as http://127.0.0.1:8090/v1, or {SCRIPTED}")
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--pages", type=int, default=60)
    parser.add_argument("--turns", type=int, default=10)
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--embedder", default="auto")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    ways = given.ways.split(",")
    if not {*ways} <= {*WAYS}:
        parser.error(f"--ways takes some of {', '.join(WAYS)}")
    found: dict[str, Any] = {"model": given.model, "pages": given.pages, "seed": given.seed}
    for way in ways:
        if given.url == SCRIPTED:
            with ModelServer(replies(given.seed + 1)) as server:
                asked_by(way, server.url, given)
                turns = counted(server.requests)
        else:
            turns = asked_by(way, given.url, given)
        found[way] = {"load": round(os.getloadavg()[0], 1), **told(turns)}
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
