"""What the proxy adds to a call of the model. The model is scripted and answers after `--model-ms`, sooner than real
ones do: what the proxy stores meanwhile delays nobody.

Each round calls the model directly and through the proxy, in turns, whole and streamed: one load of the machine for
all. The calls are one conversation that grows, as clients send it; the memory holds `--pages` pages before it begins.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import httpx2
import uvicorn

from embermem import Memory
from embermem.http.app import create_app
from embermem.testing.model_server import ModelServer
from embermem_bench.metrics import percentile
from embermem_bench.synthetic import exchanges, queries

USER = "alice"
WARM = 3
"""Calls that are not measured: connections are made, and the index is loaded."""
PAUSE_S = 0.5
"""Between two calls, so that what is understood behind an exchange does not stand before the next: people pause too."""
TURNS = 10
"""Exchanges of one conversation; then the next begins."""


@contextmanager
def served(place: Path, settings: dict[str, Any]) -> Iterator[str]:
    """The base URL of a server in a process of its own, as `embermem serve` is one."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(place, settings, port), daemon=True)
    process.start()
    url = f"http://127.0.0.1:{port}"
    with httpx2.Client(trust_env=False) as client:
        while True:
            try:
                client.get(f"{url}/health").raise_for_status()
                break
            except httpx2.HTTPError:
                if not process.is_alive():
                    raise
                time.sleep(0.05)
    yield f"{url}/v1"
    process.terminate()
    process.join()


def serve(place: Path, settings: dict[str, Any], port: int) -> None:
    """The server's process."""
    with Memory(place, **settings) as memory:
        uvicorn.run(create_app(memory), host="127.0.0.1", port=port, log_config=None, access_log=False)


def whole(client: httpx2.Client, url: str, body: dict[str, Any]) -> float:
    """Milliseconds of a whole answer."""
    begun = time.perf_counter()
    client.post(f"{url}/chat/completions", json=body).raise_for_status()
    return (time.perf_counter() - begun) * 1000


def first(client: httpx2.Client, url: str, body: dict[str, Any]) -> float:
    """Milliseconds until the first token of a streamed answer; it is read to its end."""
    begun, took = time.perf_counter(), 0.0
    with client.stream("POST", f"{url}/chat/completions", json={**body, "stream": True}) as answer:
        for line in answer.iter_lines():
            if not took and line.startswith("data: {") and '"content": "' in line and '"content": ""' not in line:
                took = (time.perf_counter() - begun) * 1000
    return took


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--calls", type=int, default=100)
    parser.add_argument("--model-ms", type=float, default=50.0)
    parser.add_argument("--embedder", default="auto")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ModelServer(answer="The heron stands in the reeds.") as model:
        if given.model_ms:
            model.fail_always("slow", seconds=given.model_ms / 1000)
        settings: dict[str, Any] = {"embedder": given.embedder, "proxy_url": model.url}
        with Memory(Path(folder) / "memory.db", background=False, **settings) as memory:
            alice = memory.of(USER)
            for one in islice(exchanges(given.seed), given.pages):
                alice.add(one.query, one.response, thread="before")
            alice.settle()
            name = memory.embedder_name
        with served(Path(folder) / "memory.db", settings) as url:
            told: dict[str, Any] = {
                "pages": given.pages,
                "calls": given.calls,
                "model_ms": given.model_ms,
                "seed": given.seed,
                "embedder": name,
            }
            told["load"] = round(os.getloadavg()[0], 1)
            print(json.dumps(told | measured(url, model.url, given.calls, given.seed), indent=2))


def measured(proxy: str, direct: str, calls: int, seed: int) -> dict[str, Any]:
    """The four figures of each call, in turns."""
    taken: dict[str, list[float]] = {}
    ways: list[tuple[str, str, Callable[[httpx2.Client, str, dict[str, Any]], float]]] = [
        ("direct_whole", direct, whole),
        ("proxy_whole", proxy, whole),
        ("direct_first_token", direct, first),
        ("proxy_first_token", proxy, first),
    ]
    histories: dict[str, list[dict[str, str]]] = {name: [] for name, _, _ in ways}
    with httpx2.Client(trust_env=False, timeout=60.0) as client:
        for number, query in enumerate(queries(seed, calls + WARM)):
            for name, url, measure in ways:
                if number % TURNS == 0:
                    histories[name] = []
                history = [*histories[name], {"role": "user", "content": f"{query} ({name}, {number})"}]
                body = {"model": "scripted", "user": USER, "messages": history}
                time.sleep(PAUSE_S)
                took = measure(client, url, body)
                histories[name] = [*history, {"role": "assistant", "content": "The heron stands in the reeds."}]
                if number >= WARM:
                    taken.setdefault(name, []).append(took)
    ms = {name: _shares(times) for name, times in taken.items()}
    for what in ("whole", "first_token"):
        pairs = zip(taken[f"proxy_{what}"], taken[f"direct_{what}"], strict=True)
        ms[f"added_{what}"] = _shares([by_proxy - by_direct for by_proxy, by_direct in pairs])
    return {"ms": ms}


def _shares(times: list[float]) -> dict[str, float]:
    return {"p50": round(percentile(times, 0.5) or 0.0, 1), "p95": round(percentile(times, 0.95) or 0.0, 1)}


if __name__ == "__main__":
    main()
