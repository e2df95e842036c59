"""All that was said on a day is forgotten at once, after a preview."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import httpx2
import pytest
from playwright.sync_api import expect
from serving import Server

from embermem import OwnerMemory, demo

if TYPE_CHECKING:
    from playwright.sync_api import Page

DAY = "2026-06-14"
"""A day of the demo's conversation, in its owner's zone."""


def _mei(server: Server) -> OwnerMemory:
    return server.memory.of(demo.USER, demo.AGENT)


def _said_on(mei: OwnerMemory, day: str) -> list[str]:
    return [page.id for page in mei.pages() if f"{page.said_at:%Y-%m-%d}" == day]


def test_a_day_is_forgotten_after_a_preview(own: Server, tab: Callable[..., Page]) -> None:
    mei = _mei(own)
    before, day = len(mei.pages()), _said_on(mei, DAY)
    page = tab(own, "/pages")
    expect(page.locator("[data-test=forget-days]")).to_have_count(0)
    page.locator(f"[data-test=page] a[href*='since={DAY}']").first.click()
    expect(page.locator("[data-test=page]")).to_have_count(len(day))
    page.locator("[data-test=forget-days]").click()
    expect(page.locator("#dialog [data-test=preview]")).to_contain_text(str(len(day)))
    assert len(mei.pages()) == before
    page.locator("#dialog [data-test=forget-now]").click()
    expect(page.locator("[data-test=receipt]")).to_be_visible()
    assert len(day) > 1
    assert _said_on(mei, DAY) == []
    assert len(mei.pages()) == before - len(day)


@pytest.mark.proof
def test_a_day_is_forgotten_without_scripts(own: Server, tab: Callable[..., Page]) -> None:
    page = tab(own, f"/pages?since={DAY}&until={DAY}", java_script_enabled=False)
    page.locator("[data-test=forget-days]").click()
    expect(page.locator("h1")).to_contain_text(DAY)
    page.locator("[data-test=forget-now]").click()
    expect(page.locator("[data-test=receipt]")).to_be_visible()
    assert _said_on(_mei(own), DAY) == []


@pytest.mark.parametrize("days", ["", "2026-02-26", "2026-02-26/", "/2026-02-26", "x/y", "2026-02-27/2026-02-26"])
def test_days_that_are_none_are_refused_and_nothing_goes(own: Server, days: str) -> None:
    before = len(_mei(own).pages())
    owner = {"user": demo.USER, "agent": demo.AGENT}
    answer = httpx2.post(f"{own.url}/forget", params=owner, data={"kind": "days", "id": days}, timeout=None)
    assert answer.status_code == 422
    assert len(_mei(own).pages()) == before


def test_a_part_of_what_was_said_is_not_offered_as_a_day(own: Server) -> None:
    of_bastien = {"user": demo.USER, "agent": demo.AGENT, "since": DAY, "until": DAY, "speaker": "user"}
    assert "forget-days" not in httpx2.get(f"{own.url}/pages", params=of_bastien, timeout=None).text
