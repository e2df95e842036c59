"""The inspector in a real browser, in a few long visits: what one reads, does and undoes, keys, chat, a telephone.

Each step's siblings (other keys, without scripts, at other widths) are in `test_browser_*.py`, for `make proofs`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from demo_pages import QUERY, mei_of, violations
from serving import Server, key_for, running

from embermem import Memory, demo

if TYPE_CHECKING:
    from playwright.sync_api import Page

Tab = Callable[..., "Page"]
At = Callable[[Server, str], str]
DAY = "2026-06-14"
"""A day of the demo's conversation, in its owner's zone."""
MOST_BYTES = 200_000
"""What a first visit may load."""


def test_one_finds_the_way_by_links_keys_and_pictures(shown: Server, tab: Tab, at: At) -> None:
    from playwright.sync_api import expect

    page = tab(shown, "/facts")
    expect(page.locator("#last-owner")).to_have_count(0)
    page.goto(f"{shown.url}/operations")
    page.get_by_role("link", name="Back to mei / companion").click()
    page.wait_for_url("**/overview?user=mei&agent=companion")
    page.goto(f"{shown.url}/")
    expect(page.locator("[data-test=count]")).to_have_text("1")
    page.locator("[data-test=owner-row] a").first.click()
    page.wait_for_url("**/overview?user=mei&agent=companion")

    expect(page.locator("h1")).to_have_text("Mei")
    page.wait_for_load_state()
    for hook in ("who", "going-on", "recent"):  # the first screen answers what is asked first
        place = page.locator(f"[data-test={hook}]").bounding_box()
        assert place is not None
        assert place["y"] + place["height"] <= 860, hook
    for details in page.locator("main details:not([data-test=sources])").all()[:4]:
        details.evaluate("one => { one.open = true }")
    assert violations(page) == []

    page.keyboard.press("/")
    page.keyboard.type("rabbit")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?**")
    assert page.locator("#find").input_value() == "rabbit"
    assert "Biscuit" in page.locator("[data-test=found-facts]").inner_text()
    assert page.locator("[data-test=found-utterances] li").count() > 1

    page.goto(at(shown, f"/playground?q={QUERY}&budget=300"))
    packed = mei_of(shown.memory).recall("Where do I live, and where did I live before?", budget=300).packed
    seq = packed[0].utterance.seq
    line, hit = page.locator(f"#a-line-hit-{seq}"), page.locator(f"#a-hit-{seq}")
    line.hover()
    expect(hit).to_have_class("packed lit")
    page.locator("h1").hover()
    expect(hit).to_have_class("packed")
    hit.get_by_role("link", name="Its line in the context").focus()
    expect(line).to_have_class("lit")
    page.locator("[data-test=hit] summary").first.click()
    expect(page.locator("[data-test=hit] table").first).to_contain_text("dense")

    page.goto(at(shown, "/map"))
    drawing, named = page.locator("[data-test=map]"), page.locator(".map-name:visible")
    expect(drawing).to_be_visible()
    before = named.count()
    assert before >= 10
    for _ in range(3):
        page.locator("[data-zoom='1.6']").click()
    expect(drawing).to_have_attribute("data-level", "4")
    assert float(str(drawing.get_attribute("viewBox")).split()[2]) < 960 / 4
    assert named.count() > before
    page.locator("[data-zoom='0']").click()
    assert float(str(drawing.get_attribute("viewBox")).split()[2]) == 960

    page.goto(at(shown, "/timeline"))
    span = page.locator("[data-test=span]")
    expect(span).to_have_text("23 Feb 2026 to 20 Jun 2026")
    page.evaluate("window.mine = true")
    page.get_by_role("link", name="month", exact=True).click()
    expect(span).to_have_text("Jun 2026")
    assert "from=2026-06-01" in page.url or "from=2026-05-31" in page.url
    page.locator("[data-test=earlier]").click()
    expect(span).to_have_text("May 2026")
    page.go_back()
    expect(span).to_have_text("Jun 2026")
    assert page.evaluate("window.mine") is True


def test_what_is_done_is_told_with_its_undo_and_forgetting_asks_first(own: Server, tab: Tab, at: At) -> None:
    from playwright.sync_api import expect

    mei = mei_of(own.memory)
    page = tab(own, "/facts", expected=("404 (Not Found)",))
    page.get_by_label("Words of a fact").fill("rabbit")
    page.get_by_role("button", name="Find").click()
    expect(page.locator("[data-test=fact]")).to_have_count(len(mei.find_facts("rabbit").facts))
    expect(page.locator("[data-many]")).to_be_hidden()
    page.get_by_role("link", name="Remove the condition: words rabbit").click()
    boxes = page.locator("input[name=fact]")
    boxes.nth(0).check()
    boxes.nth(3).click(modifiers=["Shift"])
    expect(page.locator("[data-count]")).to_have_text("4 facts chosen")
    expect(page.locator("#said")).to_have_text("4 facts chosen")
    page.get_by_role("button", name="Pin", exact=True).click()
    expect(page.locator("[data-test=done]")).to_be_visible()
    expect(page.locator("#said")).to_contain_text("Change")
    assert len(mei.find_facts(state="pinned").facts) == 4
    page.locator("[data-test=undo-done]").click()
    expect(page.locator("main .badge", has_text="pinned")).to_have_count(0)
    expect(page.locator("[data-test=done]")).to_contain_text("und")
    assert mei.find_facts(state="pinned").facts == ()

    fact = mei.facts()[0]
    mei.retire(fact.id)
    page.goto(at(own, "/audit?what=corrected"))
    page.locator("[data-test=change]").first.locator("[data-test=undo]").click()
    expect(page.locator("[data-test=done]")).to_contain_text(fact.text)
    assert "what=corrected" in page.url
    assert mei.fact(fact.id).current
    again = mei.changes()[-1].no + 1
    page.locator("[data-test=undo-done]").click()
    expect(page.locator(f"#change-{again}")).to_be_visible()
    assert not mei.fact(fact.id).current

    item, dialog = mei.pages()[3].id, page.locator("#dialog")
    page.goto(at(own, f"/pages/{item}"))
    page.locator("main [data-test=forget]").click()
    expect(dialog.locator("[data-test=preview]")).to_contain_text("page")
    page.get_by_role("button", name="Keep it").click()
    expect(dialog).to_be_hidden()
    page.locator("main [data-test=forget]").click()
    dialog.locator("[data-test=forget-now]").click()
    expect(page.locator("[data-test=receipt]")).to_be_visible()
    page.goto(at(own, f"/pages/{item}"))
    expect(page.locator("[data-test=failure]")).to_be_visible()
    assert item not in {one.id for one in mei.pages()}

    def said_on_the_day() -> list[str]:
        return [one.id for one in mei.pages() if f"{one.said_at:%Y-%m-%d}" == DAY]

    whole, day = len(mei.pages()), said_on_the_day()
    page.goto(at(own, "/pages"))
    expect(page.locator("[data-test=forget-days]")).to_have_count(0)
    page.locator(f"[data-test=page] a[href*='since={DAY}']").first.click()
    expect(page.locator("[data-test=page]")).to_have_count(len(day))
    page.locator("[data-test=forget-days]").click()
    expect(dialog.locator("[data-test=preview]")).to_contain_text(str(len(day)))
    assert len(mei.pages()) == whole
    dialog.locator("[data-test=forget-now]").click()
    expect(page.locator("[data-test=receipt]")).to_be_visible()
    assert len(day) > 1
    assert said_on_the_day() == []
    assert len(mei.pages()) == whole - len(day)


def test_a_key_is_made_shown_once_and_revoked_and_one_lets_in_and_out(own: Server, tab: Tab) -> None:
    from playwright.sync_api import expect

    page = tab(own, "/operations/keys")
    page.locator("#key-name").fill("phone")
    page.locator("textarea[name=owners]").fill("alice\nbob/tutor")
    page.locator("[data-test=make-key]").click()
    text = page.locator("[data-test=new-key]").inner_text()
    assert text.startswith("ember_")
    assert text not in page.url
    page.goto(f"{own.url}/operations/keys")
    expect(page.locator("[data-test=key]")).to_have_count(1)
    assert text not in page.content()
    page.locator("[data-test=revoke]").click()
    dialog = page.locator("[data-test=dialog]")
    expect(dialog.locator("[data-close]")).to_be_focused()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert own.memory.keys.all_keys()[0].revoked_at is None
    page.locator("[data-test=revoke]").click()
    page.locator("[data-test=revoke-now]").click()
    expect(page.locator("[data-test=key]")).to_contain_text("revoked")
    assert own.memory.keys.all_keys()[0].revoked_at is not None

    _, secret = key_for(own.memory, f"{demo.USER}/{demo.AGENT}")
    with running(own.memory, require_keys=True) as url:
        page = tab(Server(url=url, memory=own.memory, require_keys=True), "/pages", expected=("401 (Unauthorized)",))
        assert page.locator("[data-test=login]").is_visible()
        page.get_by_label("Your key").fill("ember_none_nothing")
        page.keyboard.press("Enter")
        expect(page.locator("[data-test=wrong]")).to_be_visible()
        page.get_by_label("Your key").fill(secret)
        page.get_by_role("button", name="Log in").click()
        expect(page.locator("[data-test=page]").first).to_be_visible()
        assert "/pages" in page.url
        assert "ember_key" not in page.evaluate("document.cookie")
        expect(page.locator("#live[data-state=on]")).to_be_visible()
        page.locator("[data-test=logout]").click()
        expect(page.locator("[data-test=login]")).to_be_visible()
        page.goto(f"{url}/nowhere")
        assert page.locator("[data-test=login]").is_visible()


def test_a_reply_streams_with_the_memory_beside_it(demo_copy: Path, tab: Tab) -> None:
    from playwright.sync_api import expect

    from embermem.testing.model_server import ModelServer

    reply = "In Grenoble, since May."
    with (
        ModelServer(answer=reply) as model,
        Memory(
            demo_copy / "demo.db", embedder="hashed", background=False, model="scripted", model_url=model.url
        ) as memory,
        running(memory) as url,
    ):
        model.fail_next("trickle", seconds=0.15)
        page = tab(Server(url=url, memory=memory), "/chat")
        page.locator("[data-test=text]").fill("Where do I live?")
        page.locator("[data-test=text]").press("Enter")
        expect(page.locator("[data-now=asked]")).to_have_text("Where do I live?")
        expect(page.locator("[data-now=reply]")).to_contain_text("In")
        expect(page.locator("[data-test=recalled-numbers]")).to_be_visible()
        expect(page.locator("[data-test=exchange]")).to_contain_text([reply])
        expect(page.locator("#now")).to_be_hidden()
        expect(page.locator("[data-test=not-analysed]")).to_be_visible()
        expect(page.locator("[data-test=text]")).to_be_focused()
        assert page.locator("[data-test=text]").input_value() == ""
        assert "answer=" in page.url
        said = [(one.query, one.response) for one in mei_of(memory).pages(thread="main")]
        assert said == [("Where do I live?", reply)]
        page.close()


def test_a_telephone_has_a_menu_and_times_are_those_of_its_zone(shown: Server, tab: Tab, at: At) -> None:
    from playwright.sync_api import expect

    page = tab(shown, "/operations?", viewport={"width": 360, "height": 740}, timezone_id="Asia/Tokyo")
    expect(page.locator("#last-owner")).to_be_hidden()
    page.goto(at(shown, "/pages"))
    side, button = page.locator("#sections"), page.locator("[data-test=menu]")
    expect(side).to_be_hidden()
    button.focus()
    page.keyboard.press("Enter")
    expect(side).to_be_visible()
    expect(side.locator("[aria-current=page]")).to_have_text("Pages")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('#sections') !== null")
    page.keyboard.press("Escape")
    expect(side).to_be_hidden()
    expect(button).to_be_focused()
    button.click()
    side.get_by_role("link", name="Segments").click()
    page.wait_for_url("**/segments?**")
    expect(side).to_be_hidden()

    page.goto(at(shown, f"/pages/{mei_of(shown.memory).pages()[0].id}"))  # said at 19:40 in Paris, in winter
    expect(page.locator("html")).to_have_attribute("data-zone", "Asia/Tokyo")
    expect(page.locator("#main")).to_contain_text("03:40")
    expect(page.locator("[data-test=zone]")).to_contain_text("Asia/Tokyo")
    expect(page.locator("[data-test=zone]")).to_contain_text(f"Days of facts: {demo.TIMEZONE}")


def test_a_first_visit_loads_little(shown: Server, tab: Tab, at: At) -> None:
    page = tab(shown, "/favicon.ico")
    for path in ("/", "/overview"):
        page.close()
        page = page.context.new_page()
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.send("Network.setCacheDisabled", {"cacheDisabled": True})
        loaded: list[int] = []
        session.on("Network.loadingFinished", lambda one, loaded=loaded: loaded.append(int(one["encodedDataLength"])))
        page.goto(at(shown, path))
        page.wait_for_load_state()
        page.wait_for_timeout(500)
        assert len(loaded) >= 5
        assert sum(loaded) <= MOST_BYTES, path
