"""`embermem worker --listen`: health and metrics of a real worker over real HTTP."""

from __future__ import annotations

import json
import re
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

import pytest
from prometheus_client.parser import text_string_to_metric_families

from embermem import Memory, api_keys
from embermem.core.config import Settings
from embermem.core.errors import StoreUnreachable
from embermem.http.metrics import Metrics
from embermem.http.worker import Probe, WorkerHealth
from embermem.protocols import Stats
from embermem.pulse import Pulse, stall_s
from forked import Child, ember
from scripted import SMALL, Opener, Place

DUE_NOW = {"EMBERMEM_BATCH_WAIT_S": "0", "EMBERMEM_SHORT_TERM_PAGES": "1", "EMBERMEM_POLL_S": "0.1"}
LISTENS = re.compile(r"health and metrics at (http://\S+)/health")


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a worker answered."""

    status: int
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)

    @property
    def figures(self) -> Mapping[tuple[str, frozenset[tuple[str, str]]], float]:
        """Every sample by its name and labels."""
        return {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in text_string_to_metric_families(self.text)
            for sample in family.samples
        }


def get(url: str, **headers: str) -> Answer:
    """One request, with no proxy between."""
    try:
        with build_opener(ProxyHandler({})).open(Request(url, headers=headers), timeout=20) as got:
            return Answer(status=got.status, text=got.read().decode())
    except HTTPError as error:
        return Answer(status=error.code, text=error.read().decode())


def until(come: Callable[[], object], seconds: float = 20.0) -> None:
    """Waits for something; it is no test of how long it takes."""
    end = time.monotonic() + seconds
    while not come():
        assert time.monotonic() < end
        time.sleep(0.02)


@contextmanager
def worker(place: Any, *arguments: str, **settings: str) -> Iterator[tuple[Child, str]]:
    """A worker process that listens on a port of its own, and its address."""
    more = {**DUE_NOW, **{f"EMBERMEM_{name.upper()}": value for name, value in settings.items()}}
    child = ember(place, "worker", *(arguments or ("--listen", "127.0.0.1:0")), more=more)
    try:
        until(lambda: LISTENS.search(child.errors()) or child.poll() is not None)
        found = LISTENS.search(child.errors())
        assert found is not None, child.errors()
        yield child, found[1]
    finally:
        child.kill()
        child.communicate()


def said(memory: Memory, user: str, pages: int) -> None:
    for n in range(pages):
        memory.of(user).add(f"I saw {n} herons at the lake.", "How nice.")


@pytest.mark.engines
def test_a_worker_tells_that_it_lives_and_what_it_has_done(place: Place) -> None:
    with Memory(place(), **SMALL) as memory:
        said(memory, "alice-4711", 4)
        with worker(place()) as (child, url):
            placed = "ember_pages_placed_total", frozenset[tuple[str, str]]()
            until(lambda: get(f"{url}/metrics").figures[placed] == 3)
            until(lambda: memory.stats().due == 0 and get(f"{url}/health").json["leases"] == 0)
            until(lambda: get(f"{url}/metrics").figures["ember_due_owners", frozenset()] == 0)  # it stands for a moment
            health, metrics = get(f"{url}/health").json, get(f"{url}/metrics")
            child.send_signal(signal.SIGTERM)
            child.communicate()
    assert child.returncode == 0
    assert (health["status"], health["live"], health["ready"], health["problems"]) == ("ok", True, True, [])
    assert health["rounds"] >= 1
    assert health["leases"] == 0
    assert health["last_error"] is None
    found = metrics.figures
    assert found["ember_pages_placed_total", frozenset()] == 3
    assert found["ember_utterances_embedded_total", frozenset()] == 8
    assert found["ember_store_up", frozenset()] == 1
    assert found["ember_due_owners", frozenset()] == 0
    assert found["ember_worker_rounds_total", frozenset()] >= 1
    assert found["ember_worker_silent_seconds", frozenset()] < 20
    assert found["ember_claims_lost_total", frozenset({("when", "work")})] == 0
    assert "4711" not in metrics.text
    assert "heron" not in metrics.text


def test_two_workers_of_one_machine_listen_on_ports_of_their_own(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db", **SMALL) as memory:
        said(memory, "alice", 1)
    with worker(tmp_path / "memory.db") as (_, first), worker(tmp_path / "memory.db") as (_, second):
        assert first != second
        until(lambda: {get(f"{url}/health").status for url in (first, second)} == {200})


def test_an_address_that_other_machines_reach_must_be_allowed_and_its_metrics_need_a_key(tmp_path: Path) -> None:
    place = tmp_path / "memory.db"
    with Memory(place, **SMALL) as memory:
        said(memory, "alice", 1)
        refused = ember(place, "worker", "--listen", "0.0.0.0:0")
        _, errors = refused.communicate()
        assert refused.returncode
        assert "--allow-remote" in errors
        without = ember(place, "worker", "--listen", "0.0.0.0:0", "--allow-remote")
        _, errors = without.communicate()
        assert without.returncode
        assert "keys add" in errors
        key, text = api_keys.make("prometheus", ["alice"], read_only=True, now=memory.now())
        memory.keys.add_key(key)
    with worker(place, "--listen", "0.0.0.0:0", "--allow-remote") as (_, url):
        url = url.replace("0.0.0.0", "127.0.0.1")
        until(lambda: get(f"{url}/health").status == 200)
        assert get(f"{url}/health", Host="worker-3.example.org").status == 200
        assert get(f"{url}/metrics").status == 401
        assert get(f"{url}/metrics", Authorization=f"Bearer {text}").status == 200


def test_an_address_that_is_none_is_refused_with_one_that_is(tmp_path: Path) -> None:
    for given in ("", ":9464", "127.0.0.1", "127.0.0.1:port", "127.0.0.1:70000", "::1:9464"):
        with Memory(tmp_path / "memory.db", **SMALL):
            pass
        child = ember(tmp_path / "memory.db", "worker", "--listen", given)
        _, errors = child.communicate()
        assert child.returncode, given
        assert "127.0.0.1:9464" in errors, given


def test_a_foreign_page_that_rebinds_its_name_and_one_who_never_ends_a_request_get_nothing(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db", **SMALL) as memory:
        said(memory, "alice", 1)
    with worker(tmp_path / "memory.db", http_request_s="0.3") as (_, url):
        assert get(f"{url}/metrics", Host="evil.example.org").status == 403
        host, port = url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=20) as slow:
            slow.sendall(b"GET /metrics HTTP/1.1\r\nHost: ")
            assert b" 408 " in slow.recv(1000)
        assert get(f"{url}/anything").status == 404


class Unreachable:
    """A store behind a network that is gone: it answers nothing, or raises."""

    def __init__(self) -> None:
        self.failure: Exception | None = None
        self.hangs = threading.Event()
        self.asked = 0

    def key(self, id: str) -> None:
        self.asked += 1
        if self.failure is not None:
            raise self.failure
        self.hangs.wait(30)


def test_health_is_bad_where_a_thread_hangs_the_store_is_away_or_the_end_was_asked_for(opened: Opener) -> None:
    now = 0.0
    memory, pulse, stop = opened(worker_stall_s=10, poll_s=1), Pulse(lambda: now), threading.Event()
    health = WorkerHealth(memory, pulse, stop)
    assert health.state()["problems"] == ["no thread has begun yet"]
    beats = [pulse.thread() for _ in range(2)]
    assert health.state()["status"] == "ok"
    now = 11.5
    beats[0].round_ended()
    state = health.state()
    assert (state["live"], state["silent_s"], state["rounds"]) == (False, 11.5, 1)
    beats[1].failed("StoreUnreachable")
    state = health.state()
    assert (state["live"], state["last_error"]) == (True, {"kind": "StoreUnreachable", "seconds_ago": 0.0})
    stop.set()
    assert (health.state()["live"], health.state()["ready"]) == (True, False)
    stop.clear()
    memory.close()
    until(lambda: health.state()["problems"] == ["the store cannot be reached: StoreClosed"])


def test_a_store_that_never_answers_is_asked_by_one_thread_which_may_be_silent_as_long_as_a_model_takes(
    opened: Opener,
) -> None:
    store = Unreachable()
    probe = Probe(lambda: store.key(""), wait_s=0.05)
    assert [probe.failure() for _ in range(3)] == ["no answer"] * 3
    assert store.asked == 1
    store.hangs.set()
    until(lambda: probe.failure() == "")
    store.failure = StoreUnreachable("the database at db.example.org is away")
    until(lambda: probe.failure() == "StoreUnreachable")

    settings = Settings(worker_stall_s=300, poll_s=5, model_timeout_s=60, model_retries=2)
    assert stall_s(settings, modelled=False) == 305
    assert stall_s(settings, modelled=True) == 305 + 3 * 300


class Counted(Memory):
    """Counts how often the store is counted, which takes a while."""

    counted = 0

    def stats(self, *, estimated: bool = False) -> Stats:
        self.counted += 1
        time.sleep(0.1)
        return super().stats(estimated=estimated)


def test_figures_of_the_store_are_read_once_for_many_scrapes_that_come_together(tmp_path: Path) -> None:
    with Counted(tmp_path / "memory.db", **SMALL) as memory:
        assert isinstance(memory, Counted)
        said(memory, "alice", 2)
        metrics = Metrics(memory)
        assert [metrics.text().count(b"\nember_utterances 4.0\n") for _ in range(3)] == [1, 1, 1]
        assert memory.counted == 1
