"""Operations over real HTTP: what those see and do who run the server, and nobody else."""

from __future__ import annotations

import html
import logging
import re
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import httpx2
import pytest
from read_page import holding, visiting
from serving import client, key_for, running

from embermem import Memory, api_keys
from embermem.bootstrap import copy_store
from embermem.core.config import load
from embermem.http.recent import Recent, by_route, summed
from embermem.protocols import Call, Limits, Purpose
from lives import store_of
from scripted import NOW, SMALL, Clock, Opener, Place

PARTS = ("", "/keys", "/settings", "/requests", "/workers", "/models", "/retention", "/backups")
PAGES = tuple(f"/operations{part}" for part in PARTS)
SECRET = "heron-4711"


def words(answer: httpx2.Response) -> str:
    """The text of a page, as it is read."""
    return re.sub(r"\s+", " ", html.unescape(re.sub("<[^>]*>", " ", re.sub("</?bdi>", "", answer.text))))


# ---------------------------------------------------------------------------------------------------------- who may


def test_a_key_of_one_owner_sees_none_of_it_and_a_read_only_key_of_everything_changes_nothing(memory: Memory) -> None:
    memory.of("alice").add("Hello.")
    with holding(memory, "alice") as browser:
        for path in (*PAGES, "/operations/requests/live", "/operations/workers/live", "/operations/keys/x/revoke"):
            assert browser.get(path).status_code == 403, path
        for path in ("keys", "keys/x/revoke", "workers/wake", "workers/settle"):
            assert browser.post(f"/operations/{path}", data={"name": "x", "user": "alice"}).status_code == 403, path
        for path in ("/", "/overview?user=alice"):
            assert "/operations" not in browser.get(path).text
    assert len(memory.keys.all_keys()) == 1

    key, _ = key_for(memory, "alice")
    with holding(memory, "*", read_only=True) as browser:
        assert "/operations" in browser.get("/").text
        for path in (*PAGES, f"/operations/keys/{key.id}/revoke"):
            answer = browser.get(path)
            assert answer.status_code == 200, path
            assert set(re.findall(r'action="([^"]*)" method="post"', answer.text)) <= {"/logout"}, path
        for path in ("keys", f"keys/{key.id}/revoke", "workers/wake", "workers/settle"):
            answer = browser.post(f"/operations/{path}", data={"name": "x", "of": "everything", "user": "alice"})
            assert answer.status_code == 403, path
    assert [one.revoked_at for one in memory.keys.all_keys()] == [None] * 3


# ------------------------------------------------------------------------------------------------------------- keys


def test_a_key_is_made_shown_once_works_and_is_revoked(memory: Memory) -> None:
    memory.of("alice").add("Hello.")
    with holding(memory, "*") as browser:
        form = {"name": "phone", "of": "some", "owners": "alice\n\nbob/tutor", "spaces": "team:write"}
        made = browser.post("/operations/keys", data={**form, "read_only": "true"})
        assert made.status_code == 200
        assert made.headers["cache-control"] == "no-store"
        (text,) = set(re.findall(r"ember_[0-9a-f]{12}_[\w-]{40,}", made.text))
        (key,) = [one for one in memory.keys.all_keys() if one.name == "phone"]
        assert (key.read_only, [api_keys.shown(one) for one in key.grants]) == (
            True,
            ["alice/*", "bob/tutor", "team:write"],
        )
        later = browser.get("/operations/keys")
        assert text not in later.text
        assert key.digest not in later.text
        assert "alice/*, bob/tutor, space team:write" in words(later)
        with client(str(browser.base_url), text) as phone:
            assert phone.get("/v1/pages", params={"user_id": "alice"}).status_code == 200
            used = re.findall(r'data-test="used">([^<]*)<', browser.get("/operations/keys").text)
            assert len(used) == 2
            assert "–" not in used
            question = browser.get(f"/operations/keys/{key.id}/revoke")
            assert "phone" in question.text
            assert phone.get("/v1/pages", params={"user_id": "alice"}).status_code == 200  # a question revokes nothing
            sent = browser.post(f"/operations/keys/{key.id}/revoke", follow_redirects=False)
            assert sent.status_code == 303
            assert phone.get("/v1/pages", params={"user_id": "alice"}).status_code == 401
        assert "revoked 20" in words(browser.get("/operations/keys"))
        assert browser.get("/operations/keys/none/revoke").status_code == 404


def test_a_key_that_cannot_be_is_refused_and_the_form_keeps_what_was_written(
    browser: httpx2.Client, memory: Memory
) -> None:
    for form, told in (
        ({"name": "x", "of": "some"}, "at least one owner"),
        ({"name": " ", "of": "everything"}, "name"),
        ({"name": "x", "of": "some", "owners": "*"}, "everybody"),
        ({"name": "x", "of": "some", "spaces": "team:own"}, "read, write, grant"),
    ):
        answer = browser.post("/operations/keys", data=form)
        assert answer.status_code == 422, form
        assert told in words(answer)
        assert form.get("owners", "") in answer.text
    assert memory.keys.all_keys() == ()
    told = words(browser.get("/operations"))
    assert "Nothing: all work is done" in told
    assert [part for part in PARTS if part.strip("/").capitalize() not in told] == []
    assert "This server needs no keys" in words(browser.get("/operations/keys"))
    with holding(memory, "*") as other:
        page = words(other.get("/operations/keys"))
        assert "This server needs no keys" not in page
        assert "yours" in page


def test_the_text_of_a_new_key_stands_in_no_line_of_the_log(
    browser: httpx2.Client, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    made = browser.post("/operations/keys", data={"name": SECRET, "of": "everything"})
    found = re.search(r"ember_[0-9a-f]{12}_([\w-]{40,})", made.text)
    assert found is not None
    assert len(caplog.records) > 0
    for record in caplog.records:
        assert found[1] not in f"{record.getMessage()} {vars(record)}"
        assert SECRET not in f"{record.getMessage()} {vars(record)}"
    assert found[1] not in browser.get("/operations/requests").text


# --------------------------------------------------------------------------------------------------------- settings


def test_settings_tell_where_they_were_given_and_no_secret(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "ember.toml"
    file.write_text("top_k = 4\n")
    monkeypatch.setenv("EMBERMEM_BUDGET", "600")
    with (
        Memory(place(), config=file, proxy_key="sk-secret", **SMALL) as memory,
        running(memory) as url,
        client(url) as browser,
    ):
        page = browser.get("/operations/settings")
        told = words(page)
        assert f"top_k 4 file {file}, line 1 default: 10" in told
        assert "budget 600 environment variable EMBERMEM_BUDGET" in told
        assert "proxy_key (set) argument" in told
        assert "sk-secret" not in page.text
        found = browser.get("/operations/settings", params={"q": "EMBERMEM_BUDGET"})
        assert re.findall(r'data-test="setting" id="(\w+)"', found.text) == ["budget", "budget"]
        assert "No setting has these words" in words(browser.get("/operations/settings", params={"q": "zebra"}))


# --------------------------------------------------------------------------------------------------------- requests


def test_requests_are_listed_by_route_without_any_value_and_a_stream_by_how_long_it_was_open(memory: Memory) -> None:
    memory.of("alice").add("Hello.")
    key, text = key_for(memory, "alice")
    with holding(memory, "*") as browser:
        with client(str(browser.base_url), text) as c:
            c.get("/v1/pages", params={"user_id": "alice", "cursor": SECRET}, headers={"X-Request-Id": "mine-1"})
            c.get(f"/v1/pages/{SECRET}", params={"user_id": SECRET})
            c.post("/v1/search", json={"user_id": "alice", "query": SECRET})
        with visiting(str(browser.base_url)) as c:
            c.get(f"/{SECRET}", params={"q": SECRET}, headers={"Authorization": f"Bearer {SECRET}"})
            c.get("/health")
        page = browser.get("/operations/requests")
        told = words(page)
        assert SECRET not in page.text
        assert "alice" not in page.text
        assert "/v1/pages/{item_id} 403" in told
        assert "POST /v1/search 200" in told
        assert "mine-1" in told
        assert key.name in told
        listed = page.text.partition('data-test="requests"')[2]
        assert "/health" not in listed
        assert "GET /health 200" in words(browser.get("/operations/requests", params={"route": "GET /health"}))

    with running(memory) as url, visiting(url) as c:
        with c.stream("GET", "/v1/events", params={"user_id": "alice"}) as events:
            next(events.iter_lines())
        assert until(lambda: "open 0 s" in words(c.get("/operations/requests")))
        told = words(c.get("/operations/requests"))
        assert "GET /v1/events 200 open 0 s" in told
        assert "GET /v1/events 1 0 streams" in told
        assert "GET /v1/events 200" not in words(c.get("/operations/requests", params={"slower": "0.01"}))


def test_requests_are_chosen_by_route_status_and_time_and_the_part_that_moves_is_none(browser: httpx2.Client) -> None:
    for path in ("/v1/facts", "/v1/facts", "/v1/pages/none", "/nowhere"):
        browser.get(path)

    def listed(**chosen: str) -> list[str]:
        page = browser.get("/operations/requests", params=chosen)
        assert page.status_code == 200
        rows = page.text.partition('data-test="requests"')[2].split('data-test="request"')[1:]
        return [re.sub("<[^>]*>", "", re.split("</td>", row)[0].partition(">")[2]).strip() for row in rows]

    assert listed(route="GET /v1/facts") == ["GET /v1/facts200"] * 2
    assert set(listed(status="4")) == {"GET /v1/pages/{item_id}404", "GET (none)404"}
    assert listed(slower="100000") == []
    assert len(listed(slower="nothing")) > 4
    assert listed(status="nonsense") == []

    page = browser.get("/operations/requests", params={"status": "2"})
    found = re.search(r'data-from="([^"]*)"', page.text)
    assert found is not None
    for _ in range(3):
        part = browser.get(html.unescape(found[1]))
        assert part.status_code == 200
        assert "<html" not in part.text
        assert "/operations/requests/live" not in part.text.replace(found[0], "")
    assert "data-every" not in browser.get("/operations/requests", params={"paused": "1"}).text


def test_the_newest_requests_are_kept_and_summed_by_route_and_a_stream_is_not_among_the_times() -> None:
    at = [0.0]
    recent = Recent(kept=4, clock=lambda: at[0])
    for number, seconds in enumerate((9.0, 0.1, 0.2, 0.3)):
        at[0] = float(number)
        recent.note("GET", "/slow", 500 if number == 3 else 200, seconds, 10, None, f"r{number}")
    at[0] = 10.0
    recent.note("GET", "/quick", 200, 0.001, 10, "k1", "r4")
    assert [one.request_id for one in recent.newest()] == ["r4", "r3", "r2", "r1"]
    assert [one.request_id for one in recent.newest(since=3.0)] == ["r4", "r3"]
    assert recent.used == {"k1": 10.0}
    slow, quick = by_route(recent.newest())
    assert (slow.route, slow.requests, slow.failed, slow.p50, slow.slowest) == ("GET /slow", 3, 1, 0.2, 0.3)
    assert quick.requests == 1
    recent = Recent()
    recent.note("GET", "/v1/events", 200, 90.0, 10, None, "r0", stream=True)
    recent.note("GET", "/quick", 200, 0.001, 10, None, "r1")
    every = summed("all", recent.newest())
    assert (every.requests, every.p95, every.slowest, every.timed) == (2, 0.001, 0.001, True)
    assert [one.timed for one in by_route(recent.newest())] == [True, False]


# ---------------------------------------------------------------------------------------------------------- workers


def test_the_work_is_told_and_one_owner_can_be_settled_or_the_background_thread_woken(
    opened: Opener, place: Place, clock: Clock
) -> None:
    memory = opened(short_term_pages=1)
    store = store_of(memory)
    for name in ("alice", "bob", "carol"):
        for number in range(3):
            memory.of(name).add(f"I like figs, said {number} times.", "Noted.")
    assert store.claim(memory.of("bob").owner.id, "worker-7", clock(), 60.0) is not None
    failed = store.claim(memory.of("carol").owner.id, "worker-8", clock(), 60.0)
    assert failed is not None
    store.postpone(failed, [memory.of("carol").pages()[0].id], "the model rests", clock() + timedelta(minutes=5))
    store.release(failed, due_at=clock() + timedelta(minutes=5), error="the model rests")
    with running(memory) as url, visiting(url) as c:
        told = words(c.get("/operations/workers"))
        assert "bob by worker-7, until" in told
        assert "carol the model rests 1 time in a row; tried again in 5 minutes" in told
        assert "2 pages wait: the model rests; next try after" in told
        assert "alice due just now" in told
        assert "The last work on 1 owner failed: the model rests" in words(c.get("/operations"))
        sent = c.post("/operations/workers/settle", data={"user": "alice"})
        assert "Settling alice" in words(sent)
        live = html.unescape(re.search(r'data-from="([^"]*)"', sent.text)[1])  # type: ignore[index]
        assert until(lambda: "2 pages placed" in words(c.get(live)))
        assert "no background thread" in words(c.post("/operations/workers/wake"))
    assert memory.of("alice").stats().pending == 0
    with (
        Memory(place("other.db"), **{**SMALL, "background": True}) as memory,
        running(memory) as url,
        visiting(url) as c,
    ):
        assert "has not begun" in words(c.get("/operations/workers"))
        assert "looks for work now" in words(c.post("/operations/workers/wake"))
        assert memory.background_state().running


# ----------------------------------------------------------------------------------------------------------- models


def test_calls_are_summed_and_limits_and_failures_told_in_words(opened: Opener, clock: Clock) -> None:
    memory = opened(calls_per_day=4)
    alice = memory.of("alice")
    alice.add("Hello.")
    for number, (outcome, ago) in enumerate((("ok", 0), ("timeout", 0), ("ok", 0), ("ok", 9), ("ok", 0))):
        call = Call(
            id=f"k{number}", owner_id=alice.owner.id, at=clock() - timedelta(days=ago), purpose=Purpose.ANNOTATE,
            model="m", prompt_tokens=1000, completion_tokens=200, cached_tokens=0, ms=100, outcome="started",
        )  # fmt: skip
        store_of(memory).begin_call(alice.owner, call, Limits())
        store_of(memory).end_call(replace(call, outcome=outcome))
    with running(memory) as url, client(url) as c:
        told = words(c.get("/operations/models", params={"days": 30}))
        assert "calls 4 of 4; 0 left" in told
        assert "5 calls, 6,000 tokens" in told
        assert "read what was said 5 1 5,000 0 1,000 100 100" in told
        assert "no answer in time 1 1,200" in told
        assert "alice 5 6,000" in words(c.get("/operations/models/owners", params={"days": 30}))
        assert f"{NOW:%Y-%m-%d} 4,800 tokens 4 calls, 1 of no use" in told
        assert "4 calls, 4,800 tokens" in words(c.get("/operations/models"))
        assert "4 of 4 calls a day are used" in words(c.get("/operations"))


# ----------------------------------------------------------------------------------------------- retention, backups


def test_what_leaves_is_told_by_number_and_time(opened: Opener, clock: Clock) -> None:
    memory = opened()
    alice = memory.of("alice")
    page = alice.add(f"I live in {SECRET}.")
    alice.add("I like figs.", expires_at=clock() + timedelta(hours=1))
    gone = alice.forget_pages([page])
    clock.go(2 * 3600)
    with running(memory) as url, client(url) as c:
        answer = c.get("/operations/retention")
        told = words(answer)
        assert SECRET not in answer.text
        assert "1 page, 0 facts" in told
        assert f"2 hours ago alice {gone.change_no} 1 1 0" in told
        assert "It is there" in told
        Path(memory.leaving().key_place).unlink()
        assert "It is not there" in words(c.get("/operations/retention"))
        assert "key of forgotten values is not at" in words(c.get("/operations"))


def test_copies_and_backups_are_listed_with_what_they_still_hold_and_one_that_was_deleted_as_gone(
    opened: Opener, place: Place, tmp_path: Path, clock: Clock
) -> None:
    memory = opened()
    alice = memory.of("alice")
    page = alice.add("I live in Lyon.")
    copy_store(str(place()), str(tmp_path / "copy.db"), load(**SMALL), NOW, lambda progress: None)
    alice.forget_pages([page])
    with running(memory) as url, client(url) as c:
        told = words(c.get("/operations/backups"))
        assert str(tmp_path / "copy.db") in told
        assert "forgotten since, or" not in told
        assert "holds something that was forgotten since" in words(c.get("/operations/backups", params={"look": "1"}))
        assert f"embermem copy {place()} " in told
    memory = opened("other.db")
    page = memory.of("alice").add("I live in Lyon.")
    memory.backup(tmp_path / "backups", incremental=True)
    memory.backup(tmp_path / "gone.db")
    (tmp_path / "gone.db").unlink()
    clock.go(7200)
    memory.of("alice").forget_pages([page])
    with running(memory) as url, client(url) as c:
        told = words(c.get("/operations/backups", params={"look": "1"}))
        assert "of 2 hours ago , 1 messages, 0 changes" in told
        assert "holds something that was forgotten since" in told
        assert "is not there any more" in told
        assert f"embermem --store {place('other.db')} backup " in told


def until(done: Callable[[], bool], tries: int = 200) -> bool:
    """Whether it is so within a while."""
    for _ in range(tries):
        if done():
            return True
        time.sleep(0.05)
    return False
