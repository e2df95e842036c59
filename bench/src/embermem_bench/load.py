"""`embermem bench load`: many clients add and recall at once on one real server, which may be killed meanwhile.

Everything stays on loopback. The run is bounded in time; the server is a process of ours, ended at the end.
"""

from __future__ import annotations

import asyncio
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from embermem.core.errors import ConfigError
from embermem_bench import ProgressFn
from embermem_bench.metrics import percentile
from embermem_bench.synthetic import queries

if TYPE_CHECKING:
    from embermem.core.types import Page

USERS = 20
"""Owners among whom the clients are spread: some share one."""
START_S = 60.0
"""A server that does not answer after so long has failed."""
AGAIN_S = 0.05
"""Pause before an add without an answer is sent again, under the same key."""
SAMPLE_S = 0.5
"""Pause between two looks at the server's memory."""
PAGES = 200
"""Pages asked for at once when all is counted in the end."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LoadReport:
    """What the clients saw, in milliseconds, and what the store held in the end.

    `refused` counts answers that were no success, by status; `broken` counts requests that a killed server left
    without an answer: adds among them were sent again under the same key. `lost` are acknowledged texts that are not
    stored, `doubled` texts that are stored twice. `rss_mb` are the server's resident megabytes at the quarters of the
    run, `kills` how often it was killed.
    """

    embedder: str
    clients: int
    seconds: float
    adds: int
    recalls: int
    add_ms_p50: float
    add_ms_p95: float
    recall_ms_p50: float
    recall_ms_p95: float
    refused: Mapping[str, int]
    broken: int
    lost: int
    doubled: int
    kills: int
    rss_mb: tuple[float, ...]


@dataclass(slots=True)
class _Seen:
    """What the clients wrote down."""

    added: dict[str, str] = field(default_factory=dict)  # text → user
    add_ms: list[float] = field(default_factory=list)
    recall_ms: list[float] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    broken: int = 0
    rss: list[int] = field(default_factory=list)
    kills: int = 0


def run(
    folder: Path,
    *,
    clients: int = 50,
    seconds: float = 60.0,
    kills: int = 0,
    seed: int = 0,
    environment: Mapping[str, str] | None = None,
    told: ProgressFn = lambda what, done, total: None,
) -> LoadReport:
    """Start a server over a new store in `folder`, let `clients` add and recall for `seconds`, and count what is there.

    With `kills` the server is ended by SIGKILL so often, at even distances, and started again. `environment` is added
    to the server's, such as EMBERMEM_EMBEDDER.
    """
    store, seen = folder / "load.db", _Seen()
    server = _Server(store, environment or {})
    server.start()
    try:
        asyncio.run(_all(server, seen, clients, seconds, kills, seed, told))
    finally:
        server.stop()
    lost, doubled, embedder = _counted(store, seen.added, environment or {})
    return LoadReport(
        embedder=embedder,
        clients=clients,
        seconds=seconds,
        adds=len(seen.add_ms),
        recalls=len(seen.recall_ms),
        add_ms_p50=_of(seen.add_ms, 0.5),
        add_ms_p95=_of(seen.add_ms, 0.95),
        recall_ms_p50=_of(seen.recall_ms, 0.5),
        recall_ms_p95=_of(seen.recall_ms, 0.95),
        refused=dict(seen.refused),
        broken=seen.broken,
        lost=lost,
        doubled=doubled,
        kills=seen.kills,
        rss_mb=_quarters(seen.rss),
    )


async def _all(
    server: _Server, seen: _Seen, clients: int, seconds: float, kills: int, seed: int, told: ProgressFn
) -> None:
    try:
        import httpx2 as httpx
    except ImportError as error:
        raise ConfigError("bench load needs the server's packages: pip install 'embermem[server]'") from error
    until = time.monotonic() + seconds
    async with httpx.AsyncClient(
        base_url=server.url, timeout=30.0, limits=httpx.Limits(max_connections=clients)
    ) as http:
        talking = [_client(http, httpx.TransportError, seen, n, seed, until) for n in range(clients)]
        await asyncio.gather(*talking, _watch(server, seen, seconds, kills, until, told))


async def _client(http: Any, broken: type[Exception], seen: _Seen, number: int, seed: int, until: float) -> None:
    """One client: it adds an exchange, then recalls, without a pause, until the time is over."""
    draw, asked = random.Random(f"{seed} {number}"), queries(seed + number, 50)
    user, n = f"user {number % USERS}", 0
    while time.monotonic() < until:
        n += 1
        text = f"{number}.{n} {draw.choice(asked)}"
        body = {
            "messages": [{"role": "user", "content": text}, {"role": "assistant", "content": "I see."}],
            "user_id": user,
            "run_id": f"client {number}",
        }
        headers = {"Idempotency-Key": f"{seed}-{number}-{n}"}
        took = await _sent(http, broken, seen, "/v1/memories", body, headers, until)
        if took is not None:
            seen.added[text] = user
            seen.add_ms.append(took)
        question = {"query": draw.choice(asked), "user_id": user, "budget": 300}
        took = await _sent(http, broken, seen, "/v1/context", question, {}, until)
        if took is not None:
            seen.recall_ms.append(took)


async def _sent(
    http: Any,
    broken: type[Exception],
    seen: _Seen,
    path: str,
    body: Mapping[str, Any],
    headers: Mapping[str, str],
    until: float,
) -> float | None:
    """The milliseconds that a request took; None if it never got its answer. What breaks is sent again."""
    while True:
        began = time.perf_counter()
        try:
            answer = await http.post(path, json=body, headers=headers)
        except broken:
            seen.broken += 1
            if time.monotonic() >= until:
                return None
            await asyncio.sleep(AGAIN_S)
            continue
        if answer.is_success:
            return (time.perf_counter() - began) * 1e3
        seen.refused[str(answer.status_code)] += 1
        return None


async def _watch(server: _Server, seen: _Seen, seconds: float, kills: int, until: float, told: ProgressFn) -> None:
    """Writes down the server's memory, and kills it when its time has come."""
    began = until - seconds
    moments = [began + seconds * (n + 1) / (kills + 1) for n in range(kills)]
    while (now := time.monotonic()) < until:
        if moments and now >= moments[0]:
            moments.pop(0)
            await asyncio.to_thread(server.kill)
            seen.kills += 1
            await asyncio.to_thread(server.start)
        seen.rss.append(server.rss())
        told("talking", int(now - began), int(seconds))
        await asyncio.sleep(SAMPLE_S)


class _Server:
    """`embermem serve` in a process of its own, on one port of loopback."""

    def __init__(self, store: Path, environment: Mapping[str, str]) -> None:
        self._store, self._environment = store, environment
        self._port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self.url = f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Starts it, and waits until it takes connections."""
        command = [sys.executable, "-m", "embermem.cli.main", "--store", str(self._store), "serve"]
        self._process = subprocess.Popen(
            [*command, "--port", str(self._port), "--log-level", "warning"],
            env={**os.environ, "EMBERMEM_HTTP_RATE_PER_MINUTE": "0", **self._environment},
            stdin=subprocess.DEVNULL,
        )
        until = time.monotonic() + START_S
        while not _answers(self._port):
            if self._process.poll() is not None or time.monotonic() > until:
                self.stop()
                raise ConfigError("the server did not start; what it said stands above")
            time.sleep(0.05)

    def kill(self) -> None:
        """SIGKILL: no instruction of it runs any more."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def stop(self) -> None:
        """SIGTERM, and SIGKILL if it takes no notice."""
        if self._process is None or self._process.poll() is not None:
            return
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self.kill()

    def rss(self) -> int:
        """Its resident bytes; 0 where the system does not tell."""
        try:
            status = Path(f"/proc/{self._process.pid if self._process else 0}/status").read_text()
        except OSError:
            return 0
        found = re.search(r"VmRSS:\s+(\d+) kB", status)
        return int(found[1]) * 1024 if found else 0


def free_port() -> int:
    """A port of loopback that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _counted(store: Path, added: Mapping[str, str], environment: Mapping[str, str]) -> tuple[int, int, str]:
    """How many acknowledged texts are lost and how many texts stand twice, and the store's embedder."""
    from embermem.memory import Memory

    embedder = environment.get("EMBERMEM_EMBEDDER")
    found: Counter[tuple[str, str]] = Counter()
    with Memory(store, background=False, embedder=embedder) as memory:
        for owner in memory.owners():
            handle = memory.of(owner.user, agent=owner.agent)
            before: int | None = None
            while pages := handle.pages(limit=PAGES, before=before):
                found.update((owner.user, text) for text in _said(pages))
                before = pages[0].no
        name = memory.embedder_name
    lost = sum(found[user, text] == 0 for text, user in added.items())
    return lost, sum(count > 1 for count in found.values()), name


def _said(pages: tuple[Page, ...]) -> list[str]:
    return [u.text for page in pages for u in page.utterances if not u.role.agent_side]


def _of(values: list[float], share: float) -> float:
    return round(percentile(values, share) or 0.0, 2)


def _quarters(samples: list[int]) -> tuple[float, ...]:
    if not samples:
        return ()
    return tuple(round(samples[min(len(samples) - 1, len(samples) * n // 4)] / 2**20, 1) for n in range(5))
