"""The start page and the header's list: all owners that a request may reach, found, counted, and one click away."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from itertools import pairwise

import httpx2
import pytest
from read_page import Read, visiting
from serving import key_for, running

from embermem import Memory
from embermem.testing.model_server import ModelServer
from scripted import Clock, Opener


def sixty(memory: Memory, clock: Clock) -> None:
    """Sixty owners, the last of them told something last; and a space."""
    for number in range(60):
        clock.go(60)
        memory.of(f"user-{number:02}", "tutor" if number % 2 else "default").add("I like herons.", "Noted.")
    memory.space("team").add("The deploy is on Friday.")


@pytest.fixture
def memory(lived_in: Callable[..., object], opened: Opener) -> Memory:
    """A memory of these."""
    lived_in(sixty)
    return opened()


def listed(page: httpx2.Response) -> list[str]:
    """The users of a list, by the addresses that it leads to."""
    found = (str(one.get("href") or "") for _, one in Read(page.text).elements)
    return [str(httpx2.URL(one).params["user"]) for one in found if one.startswith("/overview?user=")]


def test_the_owners_stand_there_in_parts_in_every_order_those_of_now_first(browser: httpx2.Client) -> None:
    first = browser.get("/")
    assert listed(first) == [f"user-{number:02}" for number in range(59, 9, -1)]
    (more,) = Read(first.text).hooks("next")
    assert listed(browser.get(str(more["href"]))) == [f"user-{number:02}" for number in range(9, -1, -1)]
    assert re.search(r'data-test="count">60<', first.text)
    assert "team" not in first.text
    for order in ("name", "size", "trouble"):
        page = browser.get("/", params={"order": order})
        (more,) = Read(page.text).hooks("next")
        following = browser.get(str(more["href"]))
        assert sorted(listed(page) + listed(following)) == [f"user-{number:02}" for number in range(60)], order
        assert 'aria-current="true"' in page.text
    for wrong in ({"order": "age"}, {"after": "x"}, {"after": '["x"]'}):
        assert browser.get("/", params=wrong).status_code == 422, wrong
    text = browser.get("/", headers={"Cookie": "ember_zone=Asia/Tokyo"}).text
    assert "2026-05-02: 120" in text
    assert re.search(
        r'role="img" aria-label="Messages and passages recorded each day, 2026-04-03 to 2026-05-02: 120', text
    )
    assert '<th scope="row">2026-05-02</th><td>120</td>' in text


def test_an_owner_is_found_by_a_part_of_the_name_or_begins_and_the_header_marks_who_is_shown(
    browser: httpx2.Client,
) -> None:
    assert listed(browser.get("/", params={"q": "R-4"})) == [f"user-4{number}" for number in range(9, -1, -1)]
    assert listed(browser.get("/", params={"q": "7/TUT", "order": "name"})) == [f"user-{n}7" for n in range(6)]
    part = browser.get("/", params={"q": "user-11"}, headers={"HX-Request": "true"})
    assert listed(part) == ["user-11"]
    assert "<html" not in part.text
    for path in ("/", "/owners"):
        page = browser.get(path, params={"q": "zoe/coach"})
        assert listed(page) == ["zoe"]
        assert browser.get("/overview?user=zoe&agent=coach").status_code == 200
    header = Read(browser.get("/owners", params={"user": "user-57", "agent": "tutor"}).text)
    marked = [one for _, one in header.elements if one.get("aria-current")]
    assert [str(one["href"]) for one in marked] == ["/overview?user=user-57&agent=tutor"]
    assert len([one for _, one in header.elements if "/overview" in str(one.get("href"))]) == 20
    assert listed(browser.get("/owners", params={"q": "user-03"})) == ["user-03"]


def test_what_is_due_and_what_waits_is_told_in_words(opened: Opener, clock: Clock) -> None:
    with ModelServer() as model:
        memory = opened(model="scripted", model_url=model.url, model_retries=0, calls_per_day=3)
        model.fail_always("prose")
        for user in ("alice", "bob"):
            for number in range(9):
                memory.of(user).add(f"The heron number {number} stands in the garden.", "Lovely.")
            memory.of(user).settle()
        memory.of("carol").add("Hello.")
        with running(memory) as url, visiting(url) as browser:
            page = Read(browser.get("/").text)
            assert page.hooks("waits")
            assert page.hooks("due")
            assert re.search(r"\d+ pages wait: ", page.text)
            assert re.search(r"model calls today, \d+ failed", page.text)
            assert "Background work is switched off here" in page.text
            assert listed(browser.get("/?order=trouble"))[-1] == "carol"


def test_counts_are_of_at_most_a_minute_ago_and_of_the_owners_of_a_key(memory: Memory, clock: Clock) -> None:
    with running(memory) as url, visiting(url) as browser:
        assert_counted_anew(browser, memory, clock)
    _, some = key_for(memory, "user-07", "user-08/default", "user-09/default", read_only=True)
    _, every = key_for(memory, "*")
    with running(memory, require_keys=True) as url, visiting(url) as browser:
        browser.cookies.set("ember_key", every)
        assert '"count">61<' in browser.get("/").text
        browser.cookies.set("ember_key", some)
        page = browser.get("/")
        assert listed(page) == ["user-08", "user-07"]
        assert '"count">2<' in page.text
        assert "4 in 30 days" in page.text
        assert listed(browser.get("/?q=user-1")) == ["user-1"]  # what would begin, for a key that held it
        assert listed(browser.get("/owners")) == ["user-08", "user-07"]
        for number in (6, 9, 59):
            assert f"user-{number:02}" not in page.text


def assert_counted_anew(browser: httpx2.Client, memory: Memory, clock: Clock) -> None:
    assert '"count">60<' in browser.get("/").text
    memory.of("zoe").add("Hello.")
    assert listed(browser.get("/"))[0] == "zoe"
    clock.go(61)
    assert '"count">61<' in browser.get("/").text


def test_how_to_begin_says_a_command_that_works_to_those_who_may_write(opened: Opener) -> None:
    memory = opened("other.db")
    with running(memory, require_keys=True) as url, visiting(url) as browser:
        browser.cookies.set("ember_key", key_for(memory, "carol", read_only=True)[1])
        page = Read(browser.get("/").text)
        assert page.hooks("empty")
        assert "carol" in page.text
        assert not [one for _, one in page.elements if one.get("data-copy")]
    with running(memory) as url, visiting(url) as browser:
        page = Read(browser.get("/").text)
        assert page.hooks("empty")
        assert run(command_of(page), browser) == 201
        assert [one.user for one in memory.owners()] == ["alice"]
    memory.of("alice").add("I live in Nantes.")
    with running(memory, require_keys=True) as url:
        for owner, whom in (("carol/coach", "carol"), ("*/tutor", "alice")):
            key = key_for(memory, owner)[1]
            with visiting(url) as browser:
                browser.cookies.set("ember_key", key)
                page = Read(browser.get("/").text)
                assert "Nantes" not in page.text
                assert run(command_of(page).replace("$EMBERMEM_KEY", key), browser) == 201
                assert memory.of(whom, owner.partition("/")[2]).stats().utterances == 1


def command_of(page: Read) -> str:
    """The command that a page offers to copy."""
    return next(str(one["data-copy"]) for _, one in page.elements if one.get("data-copy"))


def run(command: str, browser: httpx2.Client) -> int:
    """Does what a command of curl says; gives the answer's status."""
    told = shlex.split(command)
    headers = dict(one.split(": ", 1) for flag, one in pairwise(told) if flag == "-H")
    browser.cookies.clear()
    return browser.post(told[1], content=told[told.index("-d") + 1].encode(), headers=headers).status_code
