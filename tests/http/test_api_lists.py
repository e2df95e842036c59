"""Lists in parts: nothing is skipped or doubled while more comes in, and a broken cursor is refused."""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from serving import Server, client, running

from embermem import Memory, OwnerMemory
from embermem.core.errors import InputError
from embermem.http.api import cursors, listing
from embermem.wire.answers import Pages, Part
from proofs import bounded
from scripted import SMALL, Clock

ALICE = {"user_id": "alice"}


@pytest.fixture(scope="module")
def store() -> Iterator[Memory]:
    """One store for many examples: each takes an owner of its own."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Memory(Path(folder) / "memory.db", **{**SMALL, "clock": Clock()}) as memory,
    ):
        yield memory


def parts(http: httpx2.Client, path: str, **params: Any) -> Iterator[list[dict[str, Any]]]:
    """All parts of a list, one after another."""
    cursor = None
    while True:
        answer = http.get(path, params={**params, **({} if cursor is None else {"cursor": cursor})})
        assert answer.status_code == 200, answer.text
        yield answer.json()["results"]
        cursor = answer.json()["next_cursor"]
        if cursor is None:
            return


@dataclass(frozen=True, kw_only=True, slots=True)
class Texts(Part):
    """A part of a list of texts."""

    results: tuple[str, ...]


def asked(limit: int, cursor: str | None) -> listing.Asked:
    return listing.Asked(limit=limit, cursor=cursor, most_bytes=2**20)


_owners = iter(range(10**9))


@settings(max_examples=bounded(10, proofs=125), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    first=st.lists(st.sampled_from("ab"), max_size=12),
    between=st.lists(st.lists(st.sampled_from("ab"), max_size=4), max_size=6),
    limit=st.integers(1, 5),
    thread=st.sampled_from([None, "a"]),
)
@example(first=["a"] * 3, between=[["a"]], limit=3, thread=None)
def test_pages_are_each_given_once_while_more_come_in(
    store: Memory, first: list[str], between: list[list[str]], limit: int, thread: str | None
) -> None:
    alice = store.of(f"alice {next(_owners)}")
    for one in first:
        alice.add("Hello", "Hello", thread=one)
    there = [page.id for page in reversed(alice.pages()) if thread in (None, page.thread)]
    seen, cursor, coming = list[str](), None, iter(between)
    while True:
        part = listing.pages(alice, asked(limit, cursor), into=Pages, tier=None, thread=thread)
        seen += [page.id for page in part.results]
        assert len(part.results) <= limit
        for one in next(coming, []):
            alice.add("Hello again", "Hello", thread=one)
        cursor = part.next_cursor
        if cursor is None:
            break
        assert len(part.results) == limit
    assert seen == there


@settings(max_examples=bounded(60, proofs=2000))
@given(
    numbers=st.sets(st.integers(1, 300)),
    between=st.lists(st.sets(st.integers(301, 400), max_size=3), max_size=8),
    limit=st.integers(1, 7),
    newest_first=st.booleans(),
)
def test_numbered_things_are_each_given_once_in_order(
    numbers: set[int], between: list[set[int]], limit: int, newest_first: bool
) -> None:
    there, seen, cursor, coming = set(numbers), list[int](), None, iter(between)
    while True:
        part = listing.keyed(
            [f"f{number}-000" for number in there],
            str,
            listing.by_numbers,
            asked(limit, cursor),
            str,
            into=Texts,
            listing="facts",
            newest_first=newest_first,
        )
        seen += [int(shown[1:-4]) for shown in part.results]
        there |= next(coming, set())
        cursor = part.next_cursor
        if cursor is None:
            break
    assert seen == sorted(set(seen), reverse=newest_first)
    assert numbers <= set(seen)
    if newest_first:
        assert set(seen) == numbers


@given(sizes=st.lists(st.integers(0, 300), max_size=20), limit=st.integers(1, 25), most_bytes=st.integers(1, 1000))
def test_a_part_ends_before_it_is_too_large_and_holds_one_thing_at_least(
    sizes: list[int], limit: int, most_bytes: int
) -> None:
    texts = [f"f{number}-{'é' * size}" for number, size in enumerate(sizes)]
    seen, cursor = list[str](), None
    while True:
        asks = listing.Asked(limit=limit, cursor=cursor, most_bytes=most_bytes)
        part = listing.keyed(texts, str, listing.by_numbers, asks, str, into=Texts, listing="facts", newest_first=False)
        seen += part.results
        bytes_given = sum(len(msgspec.json.encode(shown)) for shown in part.results)
        assert bytes_given <= most_bytes or len(part.results) == 1
        cursor = part.next_cursor
        if cursor is None:
            break
        assert part.results
        following = len(msgspec.json.encode(texts[len(seen)]))
        assert len(part.results) == limit or bytes_given + following > most_bytes
    assert seen == texts


TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


@given(name=st.text(), place=TEXT, where=st.integers(0), char=st.characters(), text=st.text())
@example(name="pages", place="²", where=0, char="²", text="²")
def test_a_cursor_gives_its_position_back_to_its_own_list_only_and_an_edited_or_made_up_one_is_refused(
    name: str, place: str, where: int, char: str, text: str
) -> None:
    made = cursors.cursor(name, place)
    assert cursors.position(name, made) == place
    where %= len(made)
    edited = made[:where] + char + made[where + 1 :]
    for of, wrong in ((name + "x", made), (name, edited), (name, text)):
        if (of, wrong) != (name, made):
            with pytest.raises(InputError, match="cursor"):
                cursors.position(of, wrong)
    with pytest.raises(InputError, match="cursor"):
        cursors.number("pages", cursors.cursor("pages", "²"))


def talk(alice: OwnerMemory, pages: int = 12) -> None:
    """Enough for facts, segments and changes."""
    for number in range(pages):
        alice.add(
            f"I bought {number + 2} apples in Lyon. My sister {'ABCDEFGHIJKL'[number]}na lives in Paris.", "Good."
        )
    alice.settle()


LISTS = ("/v1/memories", "/v1/pages", "/v1/facts", "/v1/segments", "/v1/changes", "/v1/owners")


def test_every_list_comes_whole_in_parts_of_one(server: Server, http: httpx2.Client) -> None:
    talk(server.memory.of("alice"))
    server.memory.of("bob", "tutor").add("Hello")
    for path in LISTS:
        owner = {} if path == "/v1/owners" else ALICE
        (whole,) = parts(http, path, limit=200, **owner)
        single = list(parts(http, path, limit=1, **owner))
        assert len(whole) > 0, path
        assert [one for (one,) in single] == whole, path


def test_a_list_of_long_texts_comes_in_parts_of_the_size_that_is_set(tmp_path: Path) -> None:
    with Memory(tmp_path / "long.db", **{**SMALL, "http_answer_bytes": 20_000}) as memory:
        alice = memory.of("alice")
        for number in range(9):
            alice.add(f"{number} " + "heron " * 1000, "I see.")
            alice.set_profile(name=f"{number} " + "heron " * 300, home="heron " * 300)
        with running(memory) as url, client(url) as http:
            for path in ("/v1/memories", "/v1/pages", "/v1/changes"):
                sizes, seen = list[int](), list[str]()
                for part in parts(http, path, limit=200, **ALICE):
                    seen += [str(one.get("id", one.get("change_no"))) for one in part]
                    sizes.append(len(part))
                assert len(set(seen)) == len(seen) == (len(alice.changes()) if "changes" in path else 9)
                assert len(sizes) > 1, path
            answer = http.get("/v1/pages", params={"limit": 200, **ALICE})
            assert 12_000 < len(answer.content) < 21_000


def test_a_broken_cursor_or_one_of_another_list_and_a_limit_out_of_range_are_refused(
    http: httpx2.Client, server: Server
) -> None:
    made_up = base64.urlsafe_b64encode(b"12345678" + b"1").decode()
    for path in LISTS:
        for cursor in ("x", "\u00e9", "AAAA", made_up, "=" * 9):
            answer = http.get(path, params={"cursor": cursor})
            assert (answer.status_code, "cursor" in answer.json()["detail"]) == (422, True)

    for limit in ("201", "-1", "x", "1e9", ""):
        assert http.get("/v1/pages", params={"limit": limit}).status_code == 422

    talk(server.memory.of("alice"), 3)
    mine = http.get("/v1/pages", params={"limit": 1, **ALICE}).json()["next_cursor"]
    none = http.get("/v1/pages", params={"limit": 0, "cursor": mine, **ALICE}).json()
    assert (none["results"], none["next_cursor"]) == ([], mine)
    assert http.get("/v1/pages", params={"cursor": mine, **ALICE}).status_code == 200
    assert http.get("/v1/pages", params={"cursor": mine, "user_id": "bob"}).status_code == 422
    assert http.get("/v1/pages", params={"cursor": mine, "tier": "short", **ALICE}).status_code == 422
    assert http.get("/v1/facts", params={"cursor": mine, **ALICE}).status_code == 422


def test_pages_are_listed_by_tier_and_thread(server: Server, http: httpx2.Client) -> None:
    alice = server.memory.of("alice")
    for number in range(6):
        alice.add("Hello", "Hello", thread="ab"[number % 2])
    tiers = {
        tier: http.get("/v1/pages", params={"tier": tier, **ALICE}).json()["results"] for tier in ("short", "pending")
    }
    assert {tier: len(found) for tier, found in tiers.items()} == {"short": 3, "pending": 3}
    (found,) = parts(http, "/v1/memories", run_id="a", **ALICE)
    assert [one["run_id"] for one in found] == ["a"] * 3
    assert http.get("/v1/pages", params={"tier": "long", **ALICE}).status_code == 422
    assert http.get("/v1/memories", params={"kind": "fact", "tier": "short", **ALICE}).status_code == 422


def test_a_segment_comes_with_its_newest_pages_and_its_heat(server: Server, http: httpx2.Client) -> None:
    talk(server.memory.of("alice"))
    listed = http.get("/v1/segments", params=ALICE).json()["results"]
    one = http.get(f"/v1/segments/{listed[0]['id']}", params={"limit": 1, **ALICE}).json()
    assert {**listed[0], "pages": one["pages"]} == one
    assert [page["id"] for page in one["pages"]] == one["page_ids"][-1:]
    assert one["heat"] > 0
    assert http.get("/v1/segments/s0-0", params=ALICE).status_code == 404
    assert http.get("/v1/pages/p0", params=ALICE).status_code == 404
