"""A real browser over the real server, and a memory that holds the demo's conversation."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from serving import Server, running

from bench_of import Bench
from embermem import Memory, demo
from embermem.core.types import Owner, PersonaChange
from embermem.protocols import ProfileRequest
from scripted import Clock, ScriptedAnalyst

if TYPE_CHECKING:
    import httpx2
    from playwright.sync_api import Browser, Page

BROWSER = os.environ.get("EMBERMEM_TEST_BROWSER") or shutil.which("chromium")
MISSING = "no browser: apt-get install chromium, or set EMBERMEM_TEST_BROWSER=/path/to/chromium"
ARGUMENTS = ["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
PATIENCE_MS = 20_000
"""How long a test waits for what must come: this machine may be busy."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """What `make proofs` alone does in a browser is not imported without it."""
    return (collection_path.match("test_browser_*.py") and not config.getoption("--proofs")) or None


@pytest.fixture
def browser(server: Server) -> Iterator[httpx2.Client]:
    """A client of `server` that is sent after each form's redirect."""
    from read_page import visiting

    with visiting(server.url) as client:
        yield client


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One Chromium. It ends with the module: while it runs, no other test of this process could start a loop."""
    if not BROWSER:
        pytest.skip(MISSING)
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=BROWSER, args=ARGUMENTS)
        yield made
        made.close()


AFTER = datetime(2026, 6, 21, 12, tzinfo=UTC)
"""When the demo's memory is looked at: what a page shows depends on how long ago things were, and what has expired."""


@pytest.fixture(scope="session")
def demo_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose `demo.db` holds the demo's conversation, understood, and asked a few times."""
    folder = tmp_path_factory.mktemp("demo")
    with opened(folder) as memory:
        owner = memory.of(demo.USER, demo.AGENT, timezone=demo.TIMEZONE)
        for number, one in enumerate(demo.conversation(), 1):
            owner.add(one.query, one.response, at=one.at, thread=one.thread, key=f"demo {number}")
        owner.settle()
        for query in demo.QUERIES:
            owner.visit(owner.recall(query, budget=demo.BUDGET).packed)
    return folder


@pytest.fixture(scope="module")
def shown(demo_folder: Path) -> Iterator[Server]:
    """A server over that memory, for tests that only look."""
    with opened(demo_folder) as memory, running(memory) as url:
        yield Server(url=url, memory=memory)


@pytest.fixture
def demo_copy(demo_folder: Path, tmp_path: Path) -> Path:
    """A copy of that folder, for a test that changes something."""
    return shutil.copytree(demo_folder, tmp_path / "copy")


@pytest.fixture
def own(demo_copy: Path) -> Iterator[Server]:
    """A server over the memory in the copy."""
    with opened(demo_copy) as memory, running(memory) as url:
        yield Server(url=url, memory=memory)


@contextmanager
def opened(folder: Path) -> Iterator[Memory]:
    """The memory in a folder."""
    with Memory(folder / "demo.db", embedder="hashed", background=False, clock=lambda: AFTER) as memory:
        yield memory


class _Naming(ScriptedAnalyst):
    """Gives every segment that it reads the same title and summary, whatever these hold."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text

    def profile(self, request: ProfileRequest) -> PersonaChange:
        return replace(super().profile(request), segment_title=self.text, segment_summary=self.text)


@pytest.fixture
def titled() -> Callable[..., None]:
    """Lets an analyst read an owner's segments that gives them one title and summary, as a model may:
    `titled(place, owner, text)`."""

    def settle(place: str | Path, owner: Owner, text: str) -> None:
        bench = Bench(place, Clock(), _Naming(text), None, tau=0.0, min_new=1)
        with closing(bench.store):
            bench.system.settle(owner)

    return settle


@pytest.fixture
def tab(chromium: Browser) -> Iterator[Callable[..., Page]]:
    """Opens a tab on a server: `tab(server, path, expected=(…), …)`; other words go to the browser's context.

    At the test's end each tab must have asked no other server, and have said nothing in its console but what was
    expected: an answer that the test provokes is told there too.
    """
    told: list[str] = []
    contexts = []

    def open_one(server: Server, path: str = "/", expected: tuple[str, ...] = (), **options: Any) -> Page:
        context = chromium.new_context(
            **{"reduced_motion": "reduce", "viewport": {"width": 1280, "height": 860}, **options}
        )
        contexts.append(context)
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        ours = urlsplit(server.url).netloc

        def said(text: str) -> None:
            if not any(one in text for one in expected):
                told.append(text)

        page.on("console", lambda one: said(f"console: {one.text}") if one.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: said(f"error: {error}"))
        page.on("request", lambda asked: None if _is_of(asked.url, ours) else said(f"another server: {asked.url}"))
        page.goto(address(server, path))
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert told == []


@pytest.fixture
def at() -> Callable[[Server, str], str]:
    """The address of a page of the demo's owner."""
    return address


def address(server: Server, path: str) -> str:
    """A page of the demo's owner, as `at` gives it."""
    return f"{server.url}{path}{'&' if '?' in path else '?'}user={demo.USER}&agent={demo.AGENT}"


def _is_of(url: str, host: str) -> bool:
    found = urlsplit(url)
    return found.netloc == host or found.scheme in ("data", "blob")
