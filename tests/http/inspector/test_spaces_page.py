"""Spaces in the inspector: who may see them, to whom they are granted, granting and revoking, and what they hold."""

from __future__ import annotations

import httpx2
import pytest
from read_page import Read
from serving import NO_TLS, running

from embermem import Memory, api_keys
from embermem.core.types import NO_USER
from scripted import Opener


@pytest.fixture
def memory(opened: Opener) -> Memory:
    """Two spaces: one granted to bob and to everybody, one to nobody any more."""
    memory = opened()
    memory.space("team").add("The deploy is on Friday.")
    memory.space("closed").add("The word of the safe is heron.")
    memory.grant("team", user="bob", agent="tutor", write=True)
    memory.grant("team", user=None)
    memory.grant("closed", user="carl <b>")
    memory.revoke("closed", user="carl <b>")
    return memory


def holder(memory: Memory, url: str, owners: list[str], spaces: list[str], *, read_only: bool = False) -> httpx2.Client:
    """A client with a key of some owners and spaces."""
    key, text = api_keys.make("test", owners, spaces=spaces, read_only=read_only, now=memory.now())
    memory.keys.add_key(key)
    client = httpx2.Client(base_url=url, follow_redirects=True, timeout=30, verify=NO_TLS)
    client.cookies.set("ember_key", text)
    return client


def granted(memory: Memory, space: str) -> set[tuple[str | None, str | None, bool]]:
    return {(one.user, one.agent, one.write) for one in memory.grants(space)}


def test_spaces_are_listed_in_parts_with_to_whom_they_are_granted(browser: httpx2.Client, memory: Memory) -> None:
    answer = browser.get("/spaces")
    page = Read(answer.text)
    assert len(page.hooks("space")) == 2
    assert len(page.hooks("grant-row")) == 2
    assert len(page.hooks("past-row")) == 1
    assert "carl <b>" in page.text
    assert "carl <b>" not in answer.text
    for told in ("everybody", "bob with tutor", "reads and writes", "Nobody may read it by a grant."):
        assert told in page.text
    for number in range(40):
        memory.grant(f"room-{number:02}", user=None)
    page = Read(browser.get("/spaces").text)
    assert len(page.hooks("space")) == 30
    (more,) = page.hooks("next")
    assert len(Read(browser.get(str(more["href"])).text).hooks("space")) == 12


def test_a_space_is_granted_and_revoked_by_buttons_too_and_a_grant_that_is_not_clear_refused(
    browser: httpx2.Client, memory: Memory
) -> None:
    page = Read(browser.post("/spaces/grant", data={"space": "closed", "user": "dora", "agent": "coach"}).text)
    assert page.hooks("granted")
    assert granted(memory, "closed") == {("dora", "coach", False)}
    browser.post("/spaces/grant", data={"space": "closed", "user": "erik", "write": "1"})
    browser.post("/spaces/grant", data={"space": "closed", "everybody": "1"})
    assert granted(memory, "closed") == {("dora", "coach", False), ("erik", None, True), (None, None, False)}
    page = Read(browser.post("/spaces/revoke", data={"space": "closed", "user": "erik"}).text)
    assert page.hooks("ended")
    browser.post("/spaces/revoke", data={"space": "closed", "everybody": "1"})
    assert granted(memory, "closed") == {("dora", "coach", False)}
    assert browser.post("/spaces/revoke", data={"space": "closed", "user": "nobody"}).status_code == 404
    browser.post("/spaces/grant", data={"space": "handbook", "user": "alice"})  # which begins with it
    assert "handbook" in memory.spaces()
    assert granted(memory, "handbook") == {("alice", None, False)}
    before = granted(memory, "team")
    for fields in (
        {"space": "team"},
        {"space": "team", "user": "bob", "everybody": "1"},
        {"space": "no such name", "user": "bob"},
        {"space": "", "user": "bob"},
        {"space": "team", "everybody": "1", "agent": "tutor"},
    ):
        assert browser.post("/spaces/grant", data=fields).status_code == 422, fields
    assert granted(memory, "team") == before

    memory.grant("team", user=" eve / x ")
    before = granted(memory, "team")
    for _ in range(3):
        every = forms(browser.get("/spaces").text, "/spaces/revoke")
        form, fields = next(one for one in every if one[1]["space"] == "team")
        browser.post(form, data=fields)
    assert granted(memory, "team") == set()
    for form, fields in forms(browser.get("/spaces").text, "/spaces/grant"):
        if fields.get("user") or fields.get("everybody"):
            browser.post(form, data=fields)
    assert granted(memory, "team") == before


def forms(text: str, action: str) -> list[tuple[str, dict[str, str]]]:
    """The forms of a page that lead to an address, with what is hidden in them."""
    found: list[tuple[str, dict[str, str]]] = []
    inside = False
    for tag, one in Read(text).elements:
        if tag == "form":
            inside = one.get("action") == action
            if inside:
                found.append((action, {}))
        elif tag == "input" and inside and one.get("type") == "hidden":
            found[-1][1][str(one["name"])] = str(one["value"])
    return found


def test_what_a_space_holds_is_shown_to_those_who_run_the_server(browser: httpx2.Client, memory: Memory) -> None:
    (look, _) = (str(one["href"]) for one in Read(browser.get("/spaces").text).hooks("look"))
    assert "heron" not in browser.get("/pages", params={"user": NO_USER, "agent": "team"}).text
    assert "The word of the safe is heron." in browser.get("/pages", params={"user": NO_USER, "agent": "closed"}).text
    page = browser.get(look)
    assert page.status_code == 200
    assert "data-events" not in page.text
    for path in ("/documents", "/segments", "/audit", "/search?q=heron"):
        assert browser.get(path, params={"user": NO_USER, "agent": "closed"}).status_code == 200


def test_who_may_see_and_change_grants_and_what_a_space_holds_is_said_by_the_key(memory: Memory) -> None:
    with running(memory, require_keys=True) as url:
        for owners, spaces, read_only, seen, told, may in (
            (["*"], [], False, 2, True, True),
            (["*"], [], True, 2, False, False),
            (["bob"], [], False, 0, False, False),
            (["bob"], ["team:read"], False, 1, False, False),
            (["bob"], ["team:write"], False, 1, False, False),
            ([], ["team:grant"], False, 1, True, True),
        ):
            with holder(memory, url, owners, spaces, read_only=read_only) as client:
                assert ('href="/spaces"' in client.get("/").text) is (seen > 0)
                page = Read(client.get("/spaces").text)
                assert len(page.hooks("space")) == seen, (owners, spaces)
                assert bool(page.hooks("grant-row")) is told, (owners, spaces)
                assert bool(page.hooks("revoke")) is may, (owners, spaces)
                before = granted(memory, "team")
                answer = client.post("/spaces/grant", data={"space": "team", "user": "zoe"})
                assert answer.status_code == (200 if may else 403), (owners, spaces)
                assert (granted(memory, "team") == before) is not may
                if may:
                    memory.revoke("team", user="zoe")
                assert client.post("/spaces/revoke", data={"space": "closed", "user": "x"}).status_code == (
                    404 if owners == ["*"] and not read_only else 403
                )

    with running(memory, require_keys=True) as url:
        for owners, spaces in ((["bob"], ["closed:grant"]), (["*/closed"], []), ([], ["closed:read"])):
            with holder(memory, url, owners, spaces) as client:
                for path in ("/pages", "/overview", "/documents", "/search?q=heron"):
                    answer = client.get(path, params={"user": NO_USER, "agent": "closed"})
                    assert answer.status_code == 403
                    assert "heron" not in answer.text
        with holder(memory, url, ["*"], [], read_only=True) as client:
            where = {"user": NO_USER, "agent": "closed"}
            assert "heron" in client.get("/pages", params=where).text
            assert client.post("/documents", params=where, data={"text": "x"}).status_code == 403
