"""What the pages of the inspector cost: bench/scripts/inspector_pages.py STORE [--requests 30] [--only TEXT] [--visit]

Serves the store on loopback in a process of its own, asks for each page in turn, and prints one table: the time of an
answer from request to last byte, the processor time that the server's threads spent on it, and the bytes of the page,
as sent to a browser (gzip) and decoded. With `--visit`, what a Chromium loads for the first page is added up instead.
Pages that this version of the inspector does not have are left out; `{fact}` and the like in an address are items of
the store. Copy a store that is in use: the server may write to it.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit

import httpx2

from embermem import Memory, OwnerMemory
from embermem_bench.metrics import percentile

PAGES = (
    "/",
    "/?q=an",
    "/?order=trouble",
    "/owners",
    "/owners?q=an",
    "/spaces",
    "/overview",
    "/facts",
    "/facts?q=figs",
    "/facts?q=figs&person={person}",
    "/facts?state=past",
    "/facts?state=conflict",
    "/facts?attribute=lives_in",
    "/facts/{fact}",
    "/facts/{past}",
    "/facts/{fact}/sources",
    "/persona",
    "/persona?person={person}",
    "/timeline",
    "/timeline?from=2025-03-01&to=2025-03-31",
    "/pages",
    "/pages?tier=archive",
    "/pages?before={middle}",
    "/pages?since=2025-03-03&until=2025-03-03",
    "/pages/{page}",
    "/segments",
    "/segments?order=newest",
    "/segments/{segment}",
    "/documents",
    "/map",
    "/playground",
    "/playground?q={query}&budget=600",
    "/playground?q={query}&budget=600&q2={query}&budget2=1200",
    "/playground?q={query}&budget=600&find=figs",
    "/search?q={query}",
    "/chat",
    "/chat?text={query}",
    "/audit",
    "/audit?what=learnt",
    "/audit?q=figs",
    "/audit?before={change}",
    "/audit/{change}",
    "/import",
    "/operations",
    "/operations/keys",
    "/operations/settings",
    "/operations/requests",
    "/operations/workers",
    "/operations/models",
    "/operations/retention",
    "/operations/backups",
)
"""What answers with another status than 200 is left out."""
WARM_UP = 3
PATIENCE_S = 240.0
SLOW_S = 10.0
"""A page whose first answer takes longer is asked for a few times only."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One page. Times in milliseconds, bytes of one answer."""

    path: str
    wall: list[float]
    processor: list[float]
    sent: int
    decoded: int


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path)
    parser.add_argument("--user")
    parser.add_argument("--agent", default="default")
    parser.add_argument("--requests", type=int, default=30)
    parser.add_argument("--only", help="pages whose address begins with this", default="")
    parser.add_argument("--visit", action="store_true")
    given = parser.parse_args()
    user, agent, items = known(given.store, given.user, given.agent)
    with served(given.store) as (url, pid):
        if given.visit:
            visit(f"{url}/")
            visit(f"{url}/overview?user={quote(user)}&agent={quote(agent)}")
            return 0
        print(f"{'page':44} {'p50 ms':>8} {'p95 ms':>8} {'cpu p50':>8} {'cpu p95':>8} {'sent':>9} {'decoded':>9}")
        for path in PAGES:
            if not path.startswith(given.only):
                continue
            try:
                found = measured(url, pid, address(path, user, agent, items), given.requests)
            except httpx2.TimeoutException:
                print(f"{path:44} no answer in {PATIENCE_S:.0f} s", flush=True)
                continue
            if found is not None:
                print(row(path, found), flush=True)
    return 0


def known(store: Path, user: str | None, agent: str) -> tuple[str, str, Mapping[str, str]]:
    """The owner, and an item of each kind for the addresses."""
    with Memory(store, background=False) as memory:
        if user is None:
            first = max(memory.owners(), key=lambda one: memory.of(one.user, one.agent).stats().pages)
            user, agent = first.user, first.agent
        return user, agent, items_of(memory.of(user, agent))


def items_of(owner: OwnerMemory) -> Mapping[str, str]:
    facts, past = owner.items("fact", limit=60), owner.past_facts()
    pages = owner.pages(limit=40)
    segments = owner.items("segment", limit=5)
    change = owner.changes(limit=400, before=10**9)
    others = (one.name for one in owner.people() if one.facts and one.id not in ("user", "agent"))
    return {
        "fact": facts[-1].id if facts else "",
        "past": past[-1].id if past else "",
        "person": quote(next(others, "")),
        "page": pages[0].id if pages else "",
        "middle": str(pages[0].no) if pages else "",
        "segment": segments[0].id if segments else "",
        "change": str(change[len(change) // 2].no) if change else "1",
        "query": quote("Who moved to Porto, and what did they say about the greenhouse?"),
    }


def address(path: str, user: str, agent: str, items: Mapping[str, str]) -> str:
    filled = path.format(**items)
    if urlsplit(path).path in ("/owners", "/spaces") or path.startswith("/operations") or filled in ("/", "/?q=an"):
        return filled
    return f"{filled}{'&' if '?' in filled else '?'}user={quote(user)}&agent={quote(agent)}"


@contextmanager
def served(store: Path) -> Iterator[tuple[str, int]]:
    """The address of a server over the store, and its process, until the block ends."""
    command = [sys.executable, "-W", "ignore", "-m", "embermem", "--store", str(store), "serve", "--port", "0"]
    with subprocess.Popen(
        command, env=os.environ | {"EMBERMEM_HTTP_RATE_PER_MINUTE": "0"}, stderr=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stderr is not None
            for line in server.stderr:
                if found := re.search(r"http://[\d.]+:\d+", line):
                    break
            else:
                raise RuntimeError("the server did not start")
            threading.Thread(target=server.stderr.read, daemon=True).start()  # or its log would fill the pipe
            yield found.group(), server.pid
        finally:
            server.terminate()


def measured(url: str, pid: int, path: str, requests: int) -> Measured | None:
    """A page; None where this version has none."""
    wall, processor = [], []
    with httpx2.Client(base_url=url, timeout=PATIENCE_S, headers={"Accept-Encoding": "gzip"}) as client:
        for n in range(WARM_UP + requests):
            before, began = spent(pid), time.perf_counter()
            with client.stream("GET", path) as answer:
                decoded = len(answer.read())
                sent = answer.num_bytes_downloaded
            took, worked = time.perf_counter() - began, spent(pid) - before
            if answer.status_code != 200:
                return None
            if n >= WARM_UP:
                wall.append(1000 * took)
                processor.append(1000 * worked)
            if n == 0 and took > SLOW_S:
                requests = min(requests, 5)
    return Measured(path=path, wall=wall, processor=processor, sent=sent, decoded=decoded)


def spent(pid: int) -> float:
    """Seconds of processor time of all threads of a process so far."""
    total = 0
    for thread in Path(f"/proc/{pid}/task").iterdir():
        try:
            total += int((thread / "schedstat").read_text().split()[0])
        except FileNotFoundError:  # it ended meanwhile
            continue
    return total / 1e9


def row(path: str, one: Measured) -> str:
    times = (
        statistics.median(one.wall),
        percentile(one.wall, 0.95) or 0.0,
        statistics.median(one.processor),
        percentile(one.processor, 0.95) or 0.0,
    )
    return f"{path:44} " + " ".join(f"{ms:8.1f}" for ms in times) + f" {one.sent:9,} {one.decoded:9,}"


def visit(url: str) -> None:
    """What a new Chromium loads for a page, by kind."""
    from playwright.sync_api import sync_playwright

    browser = os.environ.get("EMBERMEM_TEST_BROWSER") or shutil.which("chromium")
    loaded: list[tuple[str, int, int]] = []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = chromium.new_page()
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        names: dict[str, str] = {}
        decoded: dict[str, int] = {}
        session.on("Network.responseReceived", lambda one: names.update({one["requestId"]: one["response"]["url"]}))
        session.on(
            "Network.dataReceived",
            lambda one: decoded.update({one["requestId"]: decoded.get(one["requestId"], 0) + one["dataLength"]}),
        )
        session.on(
            "Network.loadingFinished",
            lambda one: loaded.append(
                (names.get(one["requestId"], "?"), int(one["encodedDataLength"]), decoded.get(one["requestId"], 0))
            ),
        )
        page.goto(url, wait_until="load")
        page.wait_for_timeout(1500)
        chromium.close()
    print(f"first visit of {urlsplit(url).path}: {sum(one[1] for one in loaded):,} bytes transferred, ", end="")
    print(f"{sum(one[2] for one in loaded):,} decoded, {len(loaded)} answers")
    for name, sent, size in sorted(loaded, key=lambda one: -one[1]):
        print(f"  {urlsplit(name).path:60} {sent:9,} {size:9,}")


if __name__ == "__main__":
    raise SystemExit(main())
