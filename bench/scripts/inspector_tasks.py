"""Daily tasks in clicks: bench/scripts/inspector_tasks.py [--only TEXT]

Serves the demo's memory beside those of two other owners on loopback, does each task in a Chromium, beginning at `/`,
and counts clicks and keys. A choice in a list counts two clicks; a field that is emptied counts one key. The script
knows the pages of this inspector and of the one before it: with PYTHONPATH at another version, it measures that.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import uvicorn
from playwright.sync_api import Error, expect, sync_playwright

from embermem import Memory, demo
from embermem.http.app import create_app

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

NOW = datetime(2026, 6, 21, 9, tzinfo=UTC)
ALLERGY = "walnut"
NOT_POSSIBLE = "not possible"


class Hand:
    """Somebody at the browser, whose clicks and keys are counted."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.clicks = self.keys = 0

    def click(self, at: str | Locator) -> None:
        self.clicks += 1
        found = self.page.locator(at).first if isinstance(at, str) else at.first
        found.click()

    def type(self, at: str | Locator | None, text: str) -> None:
        """Into a field, which is clicked and emptied first if it is named."""
        if at is not None:
            self.click(at)
            self.keys += 1
            self.page.keyboard.press("Control+A")
        self.keys += len(text)
        self.page.keyboard.type(text)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.keys += 1
            self.page.keyboard.press(key)

    def choose(self, at: str, value: str) -> None:
        self.clicks += 2
        self.page.locator(at).first.select_option(value)

    def find(self, text: str) -> None:
        """By the search of everything."""
        self.press("/")
        self.type(None, text)
        self.press("Enter")
        self.page.wait_for_url("**/search?**")

    def section(self, name: str) -> None:
        self.click(self.page.locator("nav.side").get_by_role("link", name=name, exact=True))

    def see(self, at: str, text: str = "") -> None:
        found = self.page.locator(at).first
        expect(found).to_be_visible()
        if text:
            expect(found).to_contain_text(text)


Steps = Callable[[Hand], None]


@dataclass(frozen=True, kw_only=True)
class Task:
    """A task, as it is done in the inspector before and in this one; None where it cannot be done there, and then how
    else it is done."""

    name: str
    before: Steps | None
    now: Steps | None
    instead: str = ""


# ------------------------------------------------------------------------------------------------ how it is done


def _owner_before(hand: Hand) -> None:
    hand.click("#owner summary")
    hand.click("#owner-list a:has-text('mei')")
    hand.see("#owner summary", "mei")


def _owner(hand: Hand) -> None:
    hand.click("[data-test=owner-row] a:has-text('mei')")
    hand.see("#owner summary", "mei")


def _then(first: Steps, *following: Steps) -> Steps:
    def steps(hand: Hand) -> None:
        for one in (first, *following):
            one(hand)

    return steps


def _person_before(hand: Hand) -> None:
    hand.section("Persona")
    hand.click(hand.page.get_by_role("link", name="Lian"))
    hand.see("main", "Lian")


def _person(hand: Hand) -> None:
    hand.click(hand.page.locator("#who").get_by_role("link", name="Lian"))
    hand.page.wait_for_url("**person=**")


def _source(hand: Hand) -> None:
    hand.find(ALLERGY)
    hand.click("[data-test=found-facts] summary")
    hand.see("[data-test=found-facts] mark")


def _correct(hand: Hand) -> None:
    hand.find(ALLERGY)
    hand.click("[data-test=found-facts] a")
    hand.type(hand.page.get_by_label("What is right"), "is allergic to pecans")
    hand.click(hand.page.get_by_role("button", name="Correct"))
    hand.see("h1", "pecans")


def _forget_day(hand: Hand) -> None:
    hand.section("Pages")
    hand.click("[data-test=page] a[title='All of this day']")
    hand.click("[data-test=forget-days]")
    hand.click("#dialog [data-test=forget-now]")
    hand.see("[data-test=receipt]")


def _slow(hand: Hand) -> None:
    hand.section("Operations")
    hand.click(hand.page.locator("main .parts").get_by_role("link", name="Requests"))
    hand.see("[data-test=by-route]", "the slowest first")


def _key(hand: Hand) -> None:
    hand.section("Operations")
    hand.click(hand.page.locator("main .parts").get_by_role("link", name="Keys"))
    hand.click("#key-name")
    hand.type(None, "phone")
    hand.click("[name=owners]")
    hand.type(None, "mei")
    hand.click("[data-test=make-key]")
    hand.see("[data-test=new-key]", "ember_")


def _waits(hand: Hand) -> None:
    hand.see("[data-test=nothing-waits], [data-test=waits]")


def _learnt_before(hand: Hand) -> None:
    hand.section("Changes")
    hand.see("[data-test=change]")


def _learnt(hand: Hand) -> None:
    hand.section("Audit log")
    hand.click("nav.tabs a:has-text('learnt')")
    hand.see("[data-test=day]", "2026-06-2")


def _budgets_before(hand: Hand) -> None:
    hand.section("Recall lab")
    hand.type("#q", "Where do I live?")
    hand.see(".verdict", "tokens")
    hand.type("[name=budget]", "150")
    hand.see(".verdict", "of 150 tokens")


def _budgets(hand: Hand) -> None:
    hand.section("Playground")
    hand.type(None, "Where do I live?")
    hand.press("Enter")
    hand.see("[data-test=verdict]", "tokens")
    hand.click("[data-test=compare]")
    hand.type("[name=budget2], [name=budget_2], [name=budget_b]", "150")
    hand.press("Enter")
    hand.see("[data-test=difference]")


def _wrong(hand: Hand) -> None:
    hand.section("Playground")
    hand.type(None, "Where do I live?")
    hand.press("Enter")
    hand.click("[data-test=wrong] summary")
    hand.click("[data-test=packed] input")
    hand.click("[data-test=recall-set]")


def _conflict_before(hand: Hand) -> None:
    hand.section("Persona")
    hand.click(hand.page.get_by_role("button", name="keep both").or_(hand.page.locator("[data-test=settle]")))


def _conflict(hand: Hand) -> None:
    hand.click("[data-test=conflict-count] a")
    hand.click(hand.page.get_by_role("button", name="Both may stand"))
    hand.see("[data-test=done], [data-test=list]")


TASKS = (
    Task(name="find a person", before=_then(_owner_before, _person_before), now=_then(_owner, _person)),
    Task(name="see why it was said: the source", before=_then(_owner_before, _source), now=_then(_owner, _source)),
    Task(name="correct a fact", before=_then(_owner_before, _correct), now=_then(_owner, _correct)),
    Task(name="forget a day", before=None, now=_then(_owner, _forget_day), instead="page by page, or Python"),
    Task(name="find what is slow", before=None, now=_slow, instead="/metrics"),
    Task(name="make a key", before=None, now=_key, instead="embermem keys add"),
    Task(name="see what waits, of all owners", before=None, now=_waits, instead="owner by owner"),
    Task(name="find what was learnt", before=_then(_owner_before, _learnt_before), now=_then(_owner, _learnt)),
    Task(name="compare two budgets", before=_then(_owner_before, _budgets_before), now=_then(_owner, _budgets)),
    Task(name="make a test of a wrong recall", before=None, now=_then(_owner, _wrong), instead="by hand in a test"),
    Task(name="settle a conflict", before=_then(_owner_before, _conflict_before), now=_then(_owner, _conflict)),
)


# ------------------------------------------------------------------------------------------------------- the stage


def main() -> int:
    """Print one line a task."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    is_before = not files("embermem.http.inspector").joinpath("sections.py").is_file()
    browser = os.environ.get("EMBERMEM_TEST_BROWSER") or shutil.which("chromium")
    failed = False
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        made = _made(Path(folder) / "demo.db")
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        print(f"{'task':34} {'clicks':>6} {'keys':>6}")
        for number, task in enumerate(TASKS):
            if given.only not in task.name:
                continue
            steps = task.before if is_before else task.now
            if steps is None:
                print(f"{task.name:34} {NOT_POSSIBLE}{f' ({task.instead})' if task.instead else ''}", flush=True)
                continue
            store = Path(shutil.copy(made, Path(folder) / f"task{number}.db"))
            with _served(store) as url:
                page = chromium.new_page(viewport={"width": 1280, "height": 860})
                page.set_default_timeout(15_000)
                page.goto(f"{url}/")
                page.wait_for_load_state()
                hand = Hand(page)
                try:
                    steps(hand)
                    print(f"{task.name:34} {hand.clicks:6} {hand.keys:6}", flush=True)
                except (Error, AssertionError, NotImplementedError) as error:
                    failed = True
                    print(f"{task.name:34} FAILED at {page.url}: {str(error)[:300]}", flush=True)
                page.close()
        chromium.close()
    return int(failed)


def _made(place: Path) -> Path:
    """The demo's memory, with a conflict, and two other owners."""
    with Memory(place, embedder="hashed", background=False, clock=lambda: NOW) as memory:
        memory.of("ana", "tutor").add("I live in Lyon.", "Since when?")
        memory.of("ben").add("I have a parrot.", "What is its name?")
        mei = memory.of(demo.USER, demo.AGENT, timezone=demo.TIMEZONE)
        for number, one in enumerate(demo.conversation(), 1):
            mei.add(one.query, one.response, at=one.at, thread=one.thread, key=f"demo {number}")
        memory.work()
        moved = {"attribute": "lives_in", "subject": "Ana", "valid_from": "2026-05-03"}
        mei.learn([moved | {"text": f"moved to {city}", "value": city} for city in ("Oslo", "Bergen")])
    return place


@contextmanager
def _served(store: Path) -> Iterator[str]:
    with Memory(store, embedder="hashed", background=False, clock=lambda: NOW) as memory:
        server = uvicorn.Server(
            uvicorn.Config(create_app(memory), port=0, log_level="warning", timeout_graceful_shutdown=1)
        )
        thread = threading.Thread(target=lambda: asyncio.run(server.serve()), daemon=True)
        thread.start()
        while not server.started:
            thread.join(0.01)
        try:
            yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


if __name__ == "__main__":
    raise SystemExit(main())
