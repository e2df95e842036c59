"""What waits for the model is told alike by the library, the client, an operation and the inspector."""

from __future__ import annotations

import html
from pathlib import Path

import httpx2
from serving import NO_TLS, running

from embermem import Memory
from embermem.client import Client
from embermem.core.types import WaitsFor
from embermem.reports import waiting
from embermem.testing.model_server import ModelServer
from scripted import SMALL, Clock


def test_every_face_tells_what_waits_and_why(tmp_path: Path) -> None:
    clock = Clock()
    with ModelServer() as server:
        settings = {**SMALL, "model": "scripted", "model_url": server.url, "model_retries": 0, "calls_per_day": 3}
        server.fail_always("prose")
        with Memory(tmp_path / "memory.db", clock=clock, **settings) as memory, running(memory) as url:
            alice = Client(url).of("alice")
            for number in range(9):
                alice.add(f"The heron number {number} stands in the garden.", "Lovely.")
            alice.settle()
            told = alice.stats().waiting
            assert told == memory.of("alice").stats().waiting
            assert {one.waits_for for one in told} == {WaitsFor.PLACE, WaitsFor.READING}
            assert all(one.until > clock.now and "heron" not in one.reason for one in told)
            web = httpx2.Client(base_url=url, verify=NO_TLS, timeout=None)
            page = web.get(
                "/overview",
                params={"user": "alice", "agent": "default"},
                headers={"Accept": "text/html"},
                follow_redirects=True,
            )
            for sentence in waiting.sentences(told, clock.now):
                assert sentence in html.unescape(page.text)
            begun = web.post("/v1/settle", json={"user_id": "alice"}).json()
            alice.settle()
            result = web.get(f"/v1/operations/{begun['id']}").json()["result"]
            count = {one.waits_for: one.pages for one in told}
            assert result == {
                "placed": 0,
                "waiting": count[WaitsFor.PLACE],
                "without_model": count[WaitsFor.READING],
            }
