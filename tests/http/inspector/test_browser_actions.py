"""What the inspector does as told, in a real browser: corrections, forgetting, undoing, imports, what is new, keys."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
import pytest
from demo_pages import fact_of, mei_of
from playwright.sync_api import expect
from serving import Server, running

from embermem import Memory, demo
from embermem.testing.model_server import ModelServer

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.proof
Tab = Callable[..., "Page"]
At = Callable[[Server, str], str]
LINES = (
    json.dumps({"role": "user", "content": "I have a canary named Pip."}),
    "{this is no JSON",
    json.dumps({"role": "assistant", "content": "Does Pip sing?"}),
)


@pytest.mark.parametrize("answer", ["Both may stand", "This fact is wrong", "The other is wrong"])
def test_a_conflict_is_settled_on_the_page_of_a_fact_and_that_is_undone(own: Server, tab: Tab, answer: str) -> None:
    mei = mei_of(own.memory)
    home = {"attribute": "lives_in", "valid_from": "2026-06-01", "about": "user"}
    this, other = mei.learn([{"text": f"lives in {city}", "value": city, **home} for city in ("Bern", "Basel")])
    page = tab(own, f"/facts/{this.id}")
    expect(page.locator("[data-test=in-conflict]")).to_contain_text("Basel")
    page.get_by_role("button", name=answer).click()
    expect(page.locator("[data-test=done]")).to_be_visible()
    assert mei.conflicts() == ()
    assert mei.fact(this.id).current == (answer != "This fact is wrong")
    assert mei.fact(other.id).current == (answer != "The other is wrong")
    page.locator("[data-test=undo-done]").click()
    expect(page.locator("[data-test=in-conflict]")).to_have_count(1)


# --------------------------------------------------------------------------------------------------------- import


def test_a_file_that_is_dropped_is_imported(own: Server, tab: Tab) -> None:
    page = tab(own, "/import")
    dropped = page.evaluate_handle(
        "text => { const data = new DataTransfer(); data.items.add(new File([text], 'dropped.jsonl')); return data }",
        "\n".join(LINES),
    )
    for event in ("dragenter", "dragover", "drop"):
        page.dispatch_event("#drop", event, {"dataTransfer": dropped})
    expect(page.locator("#drop")).to_contain_text("dropped.jsonl")
    page.get_by_role("button", name="Import").click()
    _is_imported(page, own.memory)


def test_with_a_model_an_import_begins_once_its_cost_was_seen(demo_copy: Path, tab: Tab, tmp_path: Path) -> None:
    file = tmp_path / "talk.jsonl"
    file.write_text("\n".join(LINES))
    with (
        ModelServer() as model,
        Memory(
            demo_copy / "demo.db", embedder="hashed", background=False, model="scripted", model_url=model.url
        ) as memory,
        running(memory) as url,
    ):
        page, before = tab(Server(url=url, memory=memory), "/import"), len(mei_of(memory).pages())
        page.locator("[data-test=file]").set_input_files(file)
        page.locator("main form[data-test=import] button").click()
        expect(page.locator("[data-test=import-state]")).to_contain_text("Model calls expected")
        assert len(mei_of(memory).pages()) == before
        page.locator("[data-test=start]").click()
        expect(page.locator("[data-test=start]")).to_have_count(0)
        expect(page.locator("[data-test=import-state]")).to_have_attribute("data-state", re.compile("done|failed"))
        assert any("canary" in one.query for one in mei_of(memory).pages())
        page.close()


# ----------------------------------------------------------------------------------------------------------- live


def test_what_comes_in_elsewhere_appears_without_a_reload(own: Server, tab: Tab) -> None:
    page = tab(own, "/pages")
    expect(page.locator("#live[data-state=on]")).to_be_visible()
    page.evaluate("document.body.dataset.kept = 'yes'")
    page.locator("#find").focus()
    page.keyboard.type("half a wo")
    _say(own, "A heron stood on the roof.")
    expect(page.locator("[data-test=page]").first).to_contain_text("A heron stood on the roof.")
    assert page.evaluate("document.body.dataset.kept") == "yes"
    expect(page.locator("#find")).to_be_focused()
    expect(page.locator("#find")).to_have_value("half a wo")


def test_nothing_moves_under_somebody_who_writes_and_what_came_is_shown_afterwards(own: Server, tab: Tab) -> None:
    page = tab(own, "/persona")
    expect(page.locator("#live[data-state=on]")).to_be_visible()
    page.locator("[data-test=edit-user-profile] summary").click()
    field = page.locator("#profile").get_by_label("Value")
    field.fill("green")
    with page.expect_event("console", lambda told: told.text == "change"):
        page.evaluate(
            "() => { const source = new EventSource(document.body.dataset.events);"
            " source.addEventListener('change', () => { source.close(); console.log('change') });"
            " source.addEventListener('state', () => console.log('state')) }"
        )
        mei_of(own.memory).set_profile(eyes="brown")
    page.wait_for_timeout(600)
    assert "brown" not in page.locator("#profile").inner_text()
    expect(field).to_be_focused()
    expect(field).to_have_value("green")
    page.locator("h1").click()
    expect(page.locator("#profile")).to_contain_text("brown")


# ------------------------------------------------------------------------------------------------- keys, no scripts


def test_without_scripts_a_fact_can_be_corrected_and_a_page_forgotten(own: Server, tab: Tab, at: At) -> None:
    mei = mei_of(own.memory)
    page = tab(own, f"/facts/{fact_of(mei, 'rabbit').id}", java_script_enabled=False)
    page.get_by_label("What is right").fill("has a hare named Biscuit")
    page.get_by_role("button", name="Correct").click()
    assert page.locator("h1").inner_text() == "Mei has a hare named Biscuit"
    said = mei.pages()[3]
    page.goto(at(own, f"/pages/{said.id}"))
    page.locator("[data-test=forget]").click()
    page.locator("[data-test=forget-now]").click()
    assert page.locator("[data-test=receipt]").is_visible()
    assert said.id not in {one.id for one in mei.pages()}


def test_a_day_is_forgotten_without_scripts(own: Server, tab: Tab) -> None:
    day = "2026-06-14"
    page = tab(own, f"/pages?since={day}&until={day}", java_script_enabled=False)
    page.locator("[data-test=forget-days]").click()
    expect(page.locator("h1")).to_contain_text(day)
    page.locator("[data-test=forget-now]").click()
    expect(page.locator("[data-test=receipt]")).to_be_visible()
    assert [one.id for one in mei_of(own.memory).pages() if f"{one.said_at:%Y-%m-%d}" == day] == []


# ---------------------------------------------------------------------------------------------------------- words


def _say(server: Server, text: str) -> None:
    body = {"messages": [{"role": "user", "content": text}], "user_id": demo.USER, "agent_id": demo.AGENT}
    assert httpx2.post(f"{server.url}/v1/memories", json=body, timeout=None).status_code == 201


def _is_imported(page: Page, memory: Memory) -> None:
    """Waits for the end of the import that the page shows, and looks whether it is there."""
    expect(page.locator("[data-test=import-state]")).to_have_attribute("data-state", "done")
    assert "canary named Pip" in mei_of(memory).pages()[-1].query
    page.get_by_role("button", name="See the memory").click()
    expect(page.locator("[data-test=who]")).to_be_visible()
