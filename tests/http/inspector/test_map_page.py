"""The map's page over HTTP: what is looked at, what ties it, and a page that comes before a map that takes long."""

from __future__ import annotations

import re
from collections.abc import Callable

import httpx2
import pytest
from read_page import OWNER
from serving import Server

from embermem import Memory, OwnerMemory
from embermem.http.inspector.owner.atlas import AT_ONCE
from scripted import Clock, Opener


def five_days(memory: Memory, clock: Clock) -> None:
    """Alice says something each day."""
    mine = memory.of("alice")
    for day, text in enumerate(
        (
            "I live in Lyon.",
            "My sister Ana lives in Rome.",
            "I play the cello.",
            "I like figs.",
            "Now I live in Nantes.",
        )
    ):
        mine.add(text, "I see.", at=f"2026-05-0{day + 1}T10:00:00Z")
    mine.settle()


@pytest.fixture
def memory(request: pytest.FixtureRequest, lived_in: Callable[..., object], opened: Opener) -> Memory:
    """An empty memory; where a test asks for alice's, one of these days."""
    if "alice" in request.fixturenames:
        lived_in(five_days)
    return opened()


def shown(browser: httpx2.Client, **query: str) -> str:
    answer = browser.get("/map", params={**OWNER, **query})
    assert answer.status_code == 200, answer.text
    return answer.text


def dots(text: str, *, out: bool = False) -> list[str]:
    """What stands on the map, by its label: what is looked at, or what is not."""
    found = re.findall(r'class="dot (?:fact|segment)( out)?"[^>]*><title>([^<]*)<', text)
    return [label for is_out, label in found if bool(is_out) is out]


def test_words_a_kind_and_a_person_say_what_is_looked_at(browser: httpx2.Client, alice: OwnerMemory) -> None:
    every = dots(shown(browser))
    assert len(every) == len(alice.facts()) + len(alice.segments())
    assert all("cello" in one for one in dots(shown(browser, q="CELLO")))
    assert len(dots(shown(browser, q="CELLO"))) + len(dots(shown(browser, q="CELLO"), out=True)) == len(every)
    assert {one.partition(":")[0] for one in dots(shown(browser, kind="fact"))} == {"fact"}
    assert {one.partition(":")[0] for one in dots(shown(browser, kind="segment"))} == {"segment"}
    about = [one for one in dots(shown(browser, person="Ana")) if one.startswith("fact")]
    assert about
    assert all("Ana" in one for one in about)
    assert dots(shown(browser, person="Nobody")) == []


def test_where_facts_were_said_is_drawn_and_what_is_forgotten_no_more(
    browser: httpx2.Client, alice: OwnerMemory
) -> None:
    text = shown(browser)
    segment = {page: segment.id for segment in alice.segments() for page in segment.page_ids}
    fact = next(fact for fact in alice.facts() if alice.utterance(fact.sources[0].utterance_id).page_id in segment)
    said_in = segment[alice.utterance(fact.sources[-1].utterance_id).page_id]
    assert re.search(f'id="dot-{fact.id}" +data-in="{said_in}"', text)
    assert "<line" not in text
    assert len(re.findall("<line", shown(browser, lines="1"))) == len(re.findall("data-in=", text))
    fact = next(fact for fact in alice.facts() if "cello" in fact.text)
    assert f"dot-{fact.id}" in shown(browser)
    alice.forget(fact=fact.id)
    assert f"dot-{fact.id}" not in shown(browser)
    assert "cello" not in shown(browser)


def test_a_map_of_many_facts_comes_after_its_page_and_is_kept(browser: httpx2.Client, server: Server) -> None:
    mine = server.memory.of("alice")
    mine.add("Hello.", "Good morning.", at="2026-05-02T10:00:00Z")
    assert 'data-test="empty"' in shown(browser)  # too little for a map
    mine.add("I play the cello.", "Since when?", at="2026-05-02T10:00:00Z")
    mine.learn(
        [{"text": f"has the parrot number {number}", "subject": f"Ana{number}"} for number in range(AT_ONCE + 5)]
    )
    first = shown(browser)
    assert dots(first) == []
    later = re.search(r'data-drawing="([^"]*)"', first)
    assert later is not None
    assert len(dots(browser.get(later.group(1).replace("&amp;", "&")).text)) == AT_ONCE + 5
    assert len(dots(shown(browser))) == AT_ONCE + 5
