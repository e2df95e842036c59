"""The timeline's page over HTTP: every span, filter and memory has one, and each of its marks leads somewhere."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape

import httpx2
import pytest
from read_page import OWNER
from serving import Server

from embermem import Memory, OwnerMemory
from scripted import Clock, Opener

HOSTILE = '<script>alert("x")</script> & \u202e"quoted"'


def a_few_days(memory: Memory, clock: Clock) -> None:
    """Alice says something each day."""
    mine = memory.of("alice")
    for day, text in enumerate(
        ("I live in Lyon.", "My sister Ana lives in Rome.", "I play the cello.", "Now I live in Nantes.")
    ):
        mine.add(text, "I see.", at=f"2026-05-0{day + 1}T10:00:00Z", thread="home")
    mine.settle()


@pytest.fixture
def memory(request: pytest.FixtureRequest, lived_in: Callable[..., object], opened: Opener) -> Memory:
    """An empty memory; where a test asks for alice's, one of these days."""
    if "alice" in request.fixturenames:
        lived_in(a_few_days)
    return opened()


def shown(browser: httpx2.Client, **query: str) -> str:
    """The page of a span."""
    answer = browser.get("/timeline", params={**OWNER, **query})
    assert answer.status_code == 200, answer.text
    return answer.text


def span_of(text: str) -> str:
    found = re.search(r'data-test="span">([^<]*)<', text)
    assert found is not None
    return found.group(1)


def count(text: str, hook: str) -> int:
    return len(re.findall(rf'data-test="{hook}"', text))


def test_the_address_says_the_span_and_the_filters_which_stay_while_one_moves(
    browser: httpx2.Client, alice: OwnerMemory
) -> None:
    text = shown(browser)
    assert span_of(text) == "1 May 2026 to 4 May 2026"
    assert '<b class="num">8</b> messages' in text
    assert "alice lives in Nantes" in text
    assert "No longer true" in text
    spans = {
        ("2026-05-02", "2026-05-02"): "2 May 2026",
        ("2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z"): "May 2026",
        ("2026-05-02T10:00:00Z", "2026-05-02T10:00:01Z"): "2 May 2026, 09:30 to 10:30",
        ("soon", "later"): "1 May 2026 to 4 May 2026",
        ("2026-05-03", "2026-05-01"): "1 May 2026 to 4 May 2026",
        ("0001-01-01", "9999-12-31"): "1 Jan 0001 to 31 Dec 9999",
        ("2999-01-01", "2999-12-31"): "2999",
    }
    assert {both: span_of(shown(browser, **{"from": both[0], "to": both[1]})) for both in spans} == spans

    text = shown(browser, person="Ana")
    assert "Ana lives in Rome" in text
    assert "alice plays the cello" not in text
    assert all(
        "person=Ana" in one
        for one in re.findall(r'href="(/timeline[^"]*from[^"]*)" data-span data-test="(?:earlier|later)"', text)
    )
    assert "alice plays the cello" in shown(browser, q="cello")
    assert "lives in" not in shown(browser, q="cello").partition('data-test="list"')[2].partition("</section>")[0]
    assert "plays" not in shown(browser, attribute="lives in").partition('data-test="list"')[2].replace("Topic", "")
    assert "No longer true" in shown(browser, attribute="lives_in", thread="home")
    assert '<b class="num">0</b> messages' in shown(browser, thread="elsewhere")
    text = shown(browser, person="Zoltan")  # whom nobody knows
    assert count(text, "note") == 1
    assert "Zoltan" in text
    text = shown(browser, lanes="topics")
    assert 'class="tl-strip of-topics' in text
    assert 'class="tl-strip of-facts' not in text
    assert "True since" not in text


def test_every_link_leads_to_a_page_and_buttons_to_periods_and_neighbours(
    browser: httpx2.Client, alice: OwnerMemory
) -> None:
    alice.retire(alice.facts()[0].id)
    text = shown(browser, **{"from": "2026-01-01", "to": "2026-12-31"})
    paths = {unescape(one) for one in re.findall(r'href="(/(?:timeline|facts|segments|audit)[^"]*)"', text)}
    assert {path.partition("?")[0].split("/")[1] for path in paths} == {"timeline", "facts", "segments", "audit"}
    found = {path: browser.get(path).status_code for path in paths}
    assert {path: status for path, status in found.items() if status != 200} == {}
    spans = neighbours(browser, shown(browser, **{"from": "2026-05-02", "to": "2026-05-02"}))
    assert spans.items() >= {
        ("earlier", "1 May 2026"),
        ("later", "3 May 2026"),
        ("closer", "2 May 2026, 06:00 to 17:59"),
    }


def neighbours(browser: httpx2.Client, text: str) -> dict[str, str]:
    """The spans to which the buttons of a page lead."""
    found = {}
    for hook in ("earlier", "later", "wider", "closer"):
        link = re.search(rf'href="([^"]*)" data-span data-test="{hook}"', text)
        assert link is not None, hook
        answer = browser.get(unescape(link.group(1)))
        assert answer.status_code == 200
        found[hook] = span_of(answer.text)
    return found


def test_an_empty_memory_says_so_and_one_page_of_any_year_is_shown(browser: httpx2.Client, server: Server) -> None:
    text = shown(browser)
    assert count(text, "empty") == 1
    assert count(text, "timeline") == 0
    for user, at, told in (
        ("ada", "0001-01-01T00:00:00Z", "1 Jan 0001"),
        ("zoe", "9999-12-31T23:59:59Z", "31 Dec 9999"),
        ("ben", "2999-06-01T12:00:00Z", "1 Jun 2999"),
    ):
        mine = server.memory.of(user)
        mine.add("I play the cello.", "Since when?", at=at)
        mine.settle()
        text = shown(browser, user=user)
        assert span_of(text) == told
        assert '<b class="num">2</b> messages' in text
        assert len(neighbours(browser, text)) == 4


def test_all_in_one_second_and_in_far_years_at_once_is_shown_and_what_has_no_room_counted(
    browser: httpx2.Client, server: Server
) -> None:
    mine = server.memory.of("alice")
    for text in ("I play the cello.", "I have a parrot.", "I live in Lyon.", "I like figs."):
        mine.add(text, "I see.", at="2026-05-02T10:00:00Z", thread=text)
    mine.settle()
    assert '<b class="num">8</b> messages' in shown(browser)
    for at in ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"):
        mine.add("A far year.", "Indeed.", at=at, thread=at)
    mine.settle()
    assert span_of(shown(browser)) == "1 Jan 0001 to 31 Dec 9999"
    assert '<b class="num">12</b> messages' in shown(browser)
    bob = server.memory.of("bob")
    bob.add("I play the cello.", "Since when?", at="2026-05-02T10:00:00Z")
    bob.learn([{"text": f"has the parrot number {number}", "valid_from": "2026-05-02"} for number in range(95)])
    text = shown(browser, user="bob", **{"from": "2026-05-01", "to": "2026-05-31"})
    assert "and 47 more: zoom in to see them" in text.partition('data-test="list"')[2]
    assert "zoom in to see them" in text.partition('data-test="list"')[0]


def test_what_others_wrote_is_text(browser: httpx2.Client, server: Server) -> None:
    mine = server.memory.of("alice")
    for number in range(6):
        mine.add(f"The parrot of Ana sings {number}.", "Does it?", at=f"2026-05-0{number + 1}T10:00:00Z")
    mine.settle()
    mine.learn([{"text": HOSTILE, "attribute": "says", "value": HOSTILE}])
    mine.learn([{"text": HOSTILE + " too", "valid_from": "2026-05-02"}])
    for query in (
        {},
        {"q": HOSTILE},
        {"person": HOSTILE},
        {"attribute": HOSTILE},
        {"thread": HOSTILE},
        {"from": HOSTILE},
    ):
        text = shown(browser, **query)
        assert "<script>alert" not in text
        assert "\u202e" not in text.replace("&#x202e;", "")
    assert "&lt;script&gt;alert" in shown(browser)
