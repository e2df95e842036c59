"""Takes the pictures of the inspector's pages: `python scripts/pictures.py [FOLDER] [--browser PATH]`.

Fills a store in a temporary folder from the demo's conversation, serves it on loopback, and takes each page in both
themes. Needs the packages of the group `dev` and a Chromium. Pictures of more than 200 kB are an error.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from playwright.sync_api import sync_playwright

from embermem import Memory, demo
from embermem.apps.http.app import create_app

PAGES = {
    "overview": "/",
    "segments": "/segments",
    "persona": "/persona",
    "map": "/map",
    "recall": "/recall?q=Where+do+I+live%2C+and+where+did+I+live+before%3F&budget=300",
    "changes": "/changes",
}
WIDTH, HEIGHT = 1280, 860
MOST_BYTES = 200_000


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("docs/pictures"))
    parser.add_argument("--browser", help="the path of a Chromium; without, playwright's own")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, Memory(Path(place) / "demo.db", background=False) as memory:
        fill(memory)
        with served(memory) as url:
            large = [path for path in taken(url, asked.folder, asked.browser) if path.stat().st_size > MOST_BYTES]
    for path in large:
        print(f"{path} has {path.stat().st_size:,} bytes, more than {MOST_BYTES:,}", file=sys.stderr)
    return 1 if large else 0


def fill(memory: Memory) -> None:
    """The demo's conversation, understood, and asked a few times so that some of it is warm."""
    owner = memory.of(demo.USER, demo.AGENT, timezone=demo.TIMEZONE)
    for number, one in enumerate(demo.conversation(), 1):
        owner.add(one.query, one.response, at=one.at, thread=one.thread, key=f"demo {number}")
    owner.settle()
    for query in demo.QUERIES:
        owner.visit(owner.recall(query, budget=demo.BUDGET).packed)


@contextmanager
def served(memory: Memory) -> Iterator[str]:
    """The base URL of a server on a free port of loopback, until the block ends."""
    config = uvicorn.Config(create_app(memory), port=0, log_level="warning", timeout_graceful_shutdown=2)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve()), daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.01)
        if not thread.is_alive():
            raise RuntimeError("the server did not start")
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


def taken(url: str, folder: Path, browser: str | None) -> Iterator[Path]:
    """Takes every picture, and gives its path."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        for theme in ("light", "dark"):
            page = chromium.new_page(
                viewport={"width": WIDTH, "height": HEIGHT},
                color_scheme="dark" if theme == "dark" else "light",
                reduced_motion="reduce",
            )
            for name, address in PAGES.items():
                join = "&" if "?" in address else "?"
                page.goto(f"{url}{address}{join}user={demo.USER}&agent={demo.AGENT}")
                page.wait_for_selector("#live[data-state=on]")
                path = folder / f"{name}-{theme}.png"
                page.screenshot(path=path)
                print(f"{path}  {path.stat().st_size:,} bytes")
                yield path
        chromium.close()


if __name__ == "__main__":
    sys.exit(main())
