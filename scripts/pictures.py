"""Takes the pictures of the inspector for its documentation: `make pictures`, or `python scripts/pictures.py [FOLDER]`.

Fills a store in a temporary folder from the demo's conversation, serves it on loopback, and takes a picture of each
page below, in 256 colours. The clock stands still on the day after the conversation, so that the same pictures come
out. Needs the packages of the group `dev`, a font with Chinese letters, and a Chromium: the one on the path, or
EMBERMEM_TEST_BROWSER. A picture of more than 100 kB is an error.

    python scripts/pictures.py FOLDER --every [--store FILE --user USER --agent AGENT]

takes every page to look at, light and dark, 1280 and 360 pixels wide, of the demo or of a copy of any store.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import uvicorn
from PIL import Image
from playwright.sync_api import sync_playwright

from embermem import Memory, OwnerMemory, demo
from embermem.http.app import create_app


@dataclass(frozen=True, kw_only=True)
class Picture:
    """One page in one theme: its address, how much of it is taken, what is opened before, and what that shows. In the
    address, `{largest}` is the segment of most pages."""

    name: str
    path: str
    height: int
    opened: str = ""
    awaited: str = ""
    width: int = 1280


QUERY = "Where+do+I+live%2C+and+where+did+I+live+before%3F"
PICTURES = (
    Picture(name="overview-light", path="/overview", height=860),
    Picture(name="facts-light", path="/facts", height=860),
    Picture(
        name="persona-light", path="/persona", height=1240, opened="#instructions summary", awaited="#instructions mark"
    ),
    Picture(name="timeline-light", path="/timeline", height=900),
    Picture(name="segment-light", path="/segments/{largest}", height=860),
    Picture(name="map-dark", path="/map", height=760),
    Picture(
        name="playground-light",
        path=f"/playground?q={QUERY}&budget=300",
        height=860,
        opened="[data-test=hit] summary",
        awaited="[data-test=hit] table",
    ),
    Picture(name="audit-dark", path="/audit", height=860),
    Picture(name="operations-light", path="/operations", height=720),
    Picture(name="telephone-dark", path="/overview", height=740, width=360),
)
EVERY = (
    "/",
    "/?q=an",
    "/overview",
    "/facts",
    "/facts?q=green",
    "/facts/{fact}",
    "/facts/{past}",
    "/persona",
    "/timeline",
    "/pages",
    "/pages/{page}",
    "/segments",
    "/segments/{largest}",
    "/documents",
    "/map",
    f"/playground?q={QUERY}&budget=300",
    "/chat",
    "/audit",
    "/audit/{change}",
    "/search?q=bread",
    "/import",
    "/spaces",
    "/operations",
    "/operations/keys",
    "/operations/settings",
    "/operations/requests",
    "/operations/workers",
    "/operations/models",
    "/operations/retention",
    "/operations/backups",
    "/forget?kind=page&id={page}",
    "/login",
    "/nowhere",
)
"""Addresses of all pages; in them, items of the store."""
WIDTH, NARROW = 1280, 360
TALLEST = 6000
"""Pixels of a page that are taken to look at, the most."""
NOW = datetime(2026, 6, 21, 9, tzinfo=UTC)
"""The day after the conversation's last."""
MOST_BYTES = 100_000


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("docs/pictures"))
    parser.add_argument("--every", action="store_true", help="every page, in both themes and widths, to look at")
    parser.add_argument("--only", default="", help="with --every: pages whose address begins with this")
    parser.add_argument("--store", type=Path, help="with --every: a copy of this store, not the demo's")
    parser.add_argument("--user", default=demo.USER)
    parser.add_argument("--agent", default=demo.AGENT)
    asked = parser.parse_args()
    browser = os.environ.get("EMBERMEM_TEST_BROWSER") or shutil.which("chromium")
    if not browser:
        print("no browser: apt-get install chromium, or set EMBERMEM_TEST_BROWSER=/path/to/chromium", file=sys.stderr)
        return 1
    if not _has_chinese_font():
        print("no font with Chinese letters, which the demo needs: apt-get install fonts-wqy-microhei", file=sys.stderr)
        return 1
    asked.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        if asked.store is not None:
            shutil.copy(asked.store, Path(place) / "demo.db")
        with Memory(Path(place) / "demo.db", background=False, clock=lambda: NOW) as memory:
            if asked.store is None:
                fill(memory)
            with served(memory) as url:
                if asked.every:
                    take_every(url, memory.of(asked.user, asked.agent), asked.folder, browser, asked.only)
                    return 0
                large = [one for one in taken(url, memory, asked.folder, browser) if one.stat().st_size > MOST_BYTES]
    for path in large:
        print(f"{path} has {path.stat().st_size:,} bytes, more than {MOST_BYTES:,}", file=sys.stderr)
    return 1 if large else 0


def fill(memory: Memory) -> None:
    """The demo's conversation, understood, and asked a few times so that some of it is warm."""
    owner = memory.of(demo.USER, demo.AGENT, timezone=demo.TIMEZONE)
    for number, one in enumerate(demo.conversation(), 1):
        owner.add(one.query, one.response, at=one.at, thread=one.thread, key=f"demo {number}")
    owner.settle()
    owner.set_agent_profile("a patient companion who remembers, and never hurries anybody")
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


def _has_chinese_font() -> bool:
    """Whether there is one; True where fontconfig, which would know, is not there."""
    lists = shutil.which("fc-list")
    return lists is None or bool(subprocess.run([lists, ":lang=zh"], capture_output=True, check=True).stdout)


def take_every(url: str, owner: OwnerMemory, folder: Path, browser: str, only: str) -> None:
    """Takes every page that this version has, whole, in both themes and widths, and says where one scrolls sideways."""
    facts, past, pages = owner.items("fact", limit=9), owner.past_facts(), owner.pages(limit=9)
    changes = owner.changes(limit=9, before=10**9)
    items = {
        "fact": facts[-1].id if facts else "none",
        "past": past[-1].id if past else "none",
        "page": pages[0].id if pages else "none",
        "largest": _largest(owner),
        "change": str(changes[-1].no) if changes else "1",
    }
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        for theme in ("light", "dark"):
            for width, height in ((WIDTH, 860), (NARROW, 740)):
                page = chromium.new_page(
                    viewport={"width": width, "height": height}, color_scheme=theme, reduced_motion="reduce"
                )
                for path in EVERY:
                    if not path.startswith(only):
                        continue
                    filled = path.format(**items)
                    join = "&" if "?" in filled else "?"
                    of = (
                        f"{join}user={owner.owner.user}&agent={owner.owner.agent}"
                        if filled[:2] not in ("/", "/?")
                        else ""
                    )
                    answer = page.goto(f"{url}{filled}{of}")
                    if answer is None or (answer.status == 404 and path != "/nowhere"):
                        continue
                    page.wait_for_timeout(300)
                    wide = page.evaluate("document.documentElement.scrollWidth")
                    tall = min(TALLEST, page.evaluate("document.documentElement.scrollHeight"))
                    name = re.sub(r"\W+", "-", path.split("&")[0]).strip("-") or "start"
                    page.set_viewport_size({"width": width, "height": max(height, tall)})
                    page.screenshot(path=folder / f"{name}-{width}-{theme}.png")
                    page.set_viewport_size({"width": width, "height": height})
                    print(f"{filled} {width} {theme}{f': {wide} pixels wide' if wide > width else ''}", flush=True)
                page.close()
        chromium.close()


def _largest(owner: OwnerMemory) -> str:
    """The segment of most pages."""
    return max(owner.segments(), key=lambda one: (len(one.page_ids), one.id)).id


def taken(url: str, memory: Memory, folder: Path, browser: str) -> Iterator[Path]:
    """Takes every picture, and gives its path."""
    largest = _largest(memory.of(demo.USER, demo.AGENT))
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        for picture in PICTURES:
            page = chromium.new_page(
                viewport={"width": picture.width, "height": picture.height},
                color_scheme="dark" if picture.name.endswith("dark") else "light",
                reduced_motion="reduce",
            )
            join = "&" if "?" in picture.path else "?"
            page.goto(f"{url}{picture.path.format(largest=largest)}{join}user={demo.USER}&agent={demo.AGENT}")
            if page.locator("#live").count():
                page.wait_for_selector("#live[data-state=on]")
            if picture.opened:
                page.locator(picture.opened).first.click()
                page.locator(picture.awaited).first.wait_for()
                page.mouse.move(0, 0)
            path = folder / f"{picture.name}.png"
            with Image.open(BytesIO(page.screenshot())) as shot:
                _few_colours(shot.convert("RGB")).save(path, optimize=True)
            print(f"{path}  {path.stat().st_size:,} bytes")
            yield path
            page.close()
        chromium.close()


def _few_colours(shot: Image.Image) -> Image.Image:
    """The picture in its 256 most frequent colours: those of areas stay as they are, and letters lose a few shades."""
    pixels = shot.tobytes()
    counted = Counter(zip(pixels[::3], pixels[1::3], pixels[2::3], strict=True))
    palette = Image.new("P", (1, 1))
    palette.putpalette([part for colour, _ in counted.most_common(256) for part in colour])
    return shot.quantize(palette=palette, dither=Image.Dither.NONE)


if __name__ == "__main__":
    sys.exit(main())
