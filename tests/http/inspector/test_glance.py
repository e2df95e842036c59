"""An owner at a glance, the persona, and lists in parts, over HTTP: what they show, in which order, where it leads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta

import httpx2
from read_page import OWNER, Read

from embermem import Memory, OwnerMemory
from scripted import NOW, Clock


def shown(browser: httpx2.Client, path: str, **query: str) -> str:
    """The markup of a page of alice's."""
    answer = browser.get(path, params={**OWNER, **query})
    assert answer.status_code == 200, answer.text
    return answer.text


def lines(page: str, hook: str) -> list[tuple[str, list[str]]]:
    """The text of each line with a `data-test`, and the addresses that it leads to."""
    found = []
    for line in re.findall(rf'<li[^>]*data-test="{hook}"[^>]*>(.*?)</li>', page, re.S):
        read = Read(line)
        hrefs = [str(attrs["href"]).partition("?")[0] for tag, attrs in read.elements if tag == "a"]
        found.append((" ".join(read.text.split()), hrefs))
    return found


# ------------------------------------------------------------------------------------------------------ who


def test_the_overview_says_who_the_user_is_as_far_as_it_is_known(memory: Memory, browser: httpx2.Client) -> None:
    newest = memory.of("newest")
    for at in ("park", "lake", "zoo", "market", "museum", "harbour"):
        newest.learn([{"text": f"went to the {at}"}])
    assert newest.profile() == ()
    page = shown(browser, "/overview", user="newest")
    read = Read(page[page.index('id="who"') : page.index('id="going-on"')]).text
    assert "The user went to the harbour" in read
    assert "went to the park" not in read

    team = memory.space("team")
    team.add("The deploy is on Friday.", "Noted.")
    team.settle()
    page = browser.get("/overview", params={"user": " ", "agent": "team"}).text
    assert "<h1><bdi>team</bdi></h1>" in page
    assert "Undecided who the user is" not in page
    assert "Nothing is known of the user" not in page

    flat = memory.of("flat")
    flat.add_messages([{"role": "user", "name": name, "content": "I live in Lyon."} for name in ("Vera", "Kit")])
    flat.settle()
    assert Read(shown(browser, "/overview", user="flat")).hooks("undecided")
    flat.set_user("Vera")
    assert not Read(shown(browser, "/overview", user="flat")).hooks("undecided")


def test_people_and_agents_around_lead_to_them_and_a_line_of_a_profile_to_its_words(
    memory: Memory, alice: OwnerMemory, browser: httpx2.Client
) -> None:
    alice.add("My name is Alice and I live in Lyon. My sister Ana works as a nurse.", "Noted.")
    alice.add("Always answer in metric units.", "I will.")
    alice.set_profile(tea="oolong")
    alice.settle()
    page = shown(browser, "/overview")
    ((text, leads),) = lines(page, "around")
    assert "Ana" in text
    assert "Alice's sister" in text
    assert "1 fact" in text
    assert leads == ["/persona"]
    assert "<h1><bdi>Alice</bdi></h1>" in page
    assert "metric units" in Read(page).text
    for path in ("/overview", "/persona"):
        assert "/profile/user/home/sources?" in shown(browser, path)
        assert "/profile/user/tea/sources?" not in shown(browser, path)
    assert "Lyon" in "".join(re.findall("<mark>(.*?)</mark>", shown(browser, "/profile/user/home/sources")))
    for path in ("/profile/user/shoes/sources", "/profile/agent/home/sources", "/profile/nobody/home/sources"):
        assert browser.get(path, params=OWNER).status_code == 404

    maria = memory.of("maria")
    maria.add_messages(
        [
            {"role": "user", "name": "Maria", "content": "I live in Lyon."},
            {"role": "assistant", "name": "John", "content": "I live in Bergen."},
        ]
    )
    maria.settle()
    ((text, _),) = lines(shown(browser, "/overview", user="maria"), "around")
    assert text == "John the agent1 fact"


# -------------------------------------------------------------------------------------------------- going on


def test_plans_stand_by_their_dates_the_next_first_the_overdue_marked_the_undated_last(
    memory: Memory, alice: OwnerMemory, browser: httpx2.Client, clock: Clock
) -> None:
    owner = memory.of("york", timezone="America/New_York")
    day = (NOW + timedelta(days=30)).date()  # which stays that day wherever the owner is
    owner.add(f"I plan to visit Oslo on {day.day} {day:%B %Y}.", "Nice!", at=NOW)
    owner.settle()
    assert f"{day}" in lines(shown(browser, "/overview", user="york"), "plan")[0][0]
    bob = memory.of("bob")
    concert, _, _ = bob.learn(
        [
            {"text": "plans a concert", "value": "a concert", "attribute": "plans"},
            {"text": "saw a heron", "attribute": "did", "expires_at": NOW + timedelta(days=1)},
            {"text": "likes rain", "value": "rain", "attribute": "likes"},
        ]
    )

    def plan(text: str, days: int | None, attribute: str = "plans") -> Mapping[str, object]:
        ends = {} if days is None else {"expires_at": NOW + timedelta(days=days)}
        return {"text": text, "value": text, "attribute": attribute, **ends}

    alice.learn(
        [
            plan("wants to see the aurora", None, "wants_to"),
            plan("plans a concert in a month", 30),
            plan("plans a picnic next week", 7),
            plan("planned a dive", 1),
            plan("booked a room", 12, "did"),
        ]
    )
    clock.go(3 * 86_400.0)
    alice.settle()
    found = [text for text, _ in lines(shown(browser, "/overview"), "plan")]
    order = ["picnic", "booked", "concert", "dive", "aurora"]
    assert [next(word for word in order if word in text) for text in found] == order
    assert ["overdue" in text for text in found] == [False, False, False, True, False]
    assert f"{NOW + timedelta(days=7):%Y-%m-%d}" in found[0]
    (picnic,) = (fact for fact in alice.facts() if "picnic" in fact.text)
    assert next(leads for _, leads in lines(shown(browser, "/overview"), "plan")) == [f"/facts/{picnic.id}"]
    ((text, _),) = lines(shown(browser, "/overview", user="bob"), "plan")
    assert "concert" in text
    bob.retire(concert.id)
    assert lines(shown(browser, "/overview", user="bob"), "plan") == []
    clock.go(60 * 86_400.0)
    alice.settle()
    assert [text for text, _ in lines(shown(browser, "/overview"), "plan") if "dive" in text] == []


# ---------------------------------------------------------------------------------------------------- lately


def test_what_was_learnt_corrected_and_forgotten_is_told_newest_first_without_bookkeeping(
    memory: Memory, alice: OwnerMemory, browser: httpx2.Client
) -> None:
    bob = memory.of("bob")  # whose warm topic says when it was last talked of
    for n in range(9):
        bob.add(f"The cello sounds warm in the evening hall of the old school {n}.", at=NOW - timedelta(days=3))
    bob.settle()
    (segment,) = bob.segments()
    ((text, leads),) = lines(shown(browser, "/overview", user="bob"), "topic")
    assert segment.title in text
    assert "3 days ago" in text
    assert leads == [f"/segments/{segment.id}"]

    alice.add("I have a rabbit named Biscuit.", "What does Biscuit eat?")
    page_id = alice.add("I am allergic to walnuts.", "Noted.")
    for n in range(8):
        alice.add(f"The weather of day {n} was fair.", "It was.")
    alice.settle()
    rabbit = next(fact for fact in alice.facts() if "rabbit" in fact.text)
    hare = alice.correct(rabbit.id, "has a hare named Biscuit")
    alice.forget(page=page_id)
    told = lines(shown(browser, "/overview"), "news")
    assert told[0][0].startswith("forgotten")
    assert "walnuts" not in " ".join(text for text, _ in told)
    corrected = next((text, leads) for text, leads in told if text.startswith("corrected"))
    assert "hare" in corrected[0]
    assert "rabbit" in corrected[0]
    assert corrected[1] == [f"/audit/{hare.change_no}", f"/facts/{hare.id}"]
    for bookkeeping in ("placed", "embedded", "summarised", "segments written"):
        assert bookkeeping not in " ".join(text for text, _ in told)


# --------------------------------------------------------------------------------------------------- persona


def test_what_is_done_on_the_persona_has_its_undo_beside(alice: OwnerMemory, browser: httpx2.Client) -> None:
    def post(path: str, **fields: str) -> str:
        answer = browser.post(path, params=OWNER, data=fields)
        assert answer.status_code == 200
        assert answer.url.path == "/persona"
        (undo,) = re.findall(r'action="(/audit/\d+/undo[^"]*)"', answer.text)
        return str(undo).replace("&amp;", "&")

    alice.set_profile(tea="oolong")
    for fields, kept in (({"value": "sencha"}, "sencha"), ({"value": ""}, None)):
        undo = post("/profile", name="tea", **fields)
        assert {line.name: line.value for line in alice.profile()}.get("tea") == kept
        alice.set_profile(shoes=f"size {kept}")  # another change comes between
        assert browser.post(undo).status_code == 200
        assert {line.name: line.value for line in alice.profile()}["tea"] == "oolong"
    undo = post("/profile", name="role", value="a tutor", whose="agent")
    assert browser.post(undo).status_code == 200
    assert alice.agent_profile() == ()
    undo = post("/instructions", text="Always answer in metric units.")
    (fact,) = alice.instructions()
    assert browser.post(undo).status_code == 200
    assert alice.instructions() == ()
    alice.add_instruction("Never call me Bob.")
    (fact,) = alice.instructions()
    undo = post(f"/facts/{fact.id}/retire", then="/persona?user=alice&agent=default")
    assert browser.post(undo).status_code == 200
    assert [one.id for one in alice.instructions()] == [fact.id]


def test_beside_each_person_stand_their_newest_facts_with_a_link_to_all(
    alice: OwnerMemory, browser: httpx2.Client
) -> None:
    for n in range(5):
        alice.learn([{"text": f"Ana collects stamp {n}", "value": f"{n}", "attribute": "collects", "subject": "Ana"}])
    (ana,) = (part for part in shown(browser, "/persona").split('data-test="person"') if "stamp" in part)
    assert re.findall(r"stamp (\d)", ana) == ["4", "3", "2"]
    assert 'href="/facts?user=alice&amp;agent=default&amp;person=Ana">5 facts<' in ana
    one = shown(browser, "/persona", person="Ana")
    assert len(Read(one).hooks("person")) == 1
    assert sorted(set(re.findall(r"stamp (\d)", one))) == list("01234")


# ------------------------------------------------------------------------------------------- lists in parts


def test_pages_are_narrowed_by_days_by_who_spoke_and_by_thread(alice: OwnerMemory, browser: httpx2.Client) -> None:
    for day in range(1, 6):
        alice.add(f"Question {day}.", f"Answer {day}.", at=f"2026-04-0{day}T10:00:00+00:00")
    page = shown(browser, "/pages", since="2026-04-02", until="2026-04-03")
    assert sorted(set(re.findall(r"Question (\d)", page))) == ["2", "3"]
    page = shown(browser, "/pages", speaker="alice")
    assert "Question 5" in page
    assert "Answer 5" not in page
    assert Read(shown(browser, "/pages", speaker="nobody")).hooks("empty")
    assert browser.get("/pages", params={**OWNER, "since": "some day"}).status_code == 422
    assert browser.get("/pages", params={**OWNER, "since": "2026-04-03", "until": "2026-04-02"}).status_code == 422
    for n in range(60):
        alice.add(f"line {n}.", thread="ab"[n % 2])
        alice.add(f"other {n}.", thread="c")
    page = shown(browser, "/pages", thread="a")
    assert re.findall(r"(?:line|other) (\d+)\.", page) == [str(n) for n in range(58, -1, -2)]
    assert "before=" not in page
    assert Read(shown(browser, "/pages", thread="none")).hooks("empty")


def test_segments_are_found_by_words_and_facts_in_whatever_state(
    memory: Memory, alice: OwnerMemory, browser: httpx2.Client
) -> None:
    for n in range(6):
        alice.add(f"The cello sounds warm in the evening hall of the old school {n}.", thread="cello")
        alice.add(f"My tomato plants need sun, water and good soil on the balcony {n}.", thread="garden")
    alice.settle()
    alice.settle()
    assert len(alice.segments()) == 2
    assert len(Read(shown(browser, "/segments")).hooks("segment")) == 2
    page = shown(browser, "/segments", q="CELLO eve")
    assert len(Read(page).hooks("segment")) == 1
    assert "1 of them with CELLO eve" in Read(page).text
    assert Read(shown(browser, "/segments", q="zeppelin")).hooks("none-found")
    assert Read(shown(browser, "/search", q="cello evening")).hooks("found-segments")

    page_id = alice.add("I have a rabbit named Biscuit and I live in Lyon.", "Noted.")
    alice.add("I play the cello.", "Nice.")
    alice.set_profile(tea="oolong from Fujian")
    alice.settle()
    alice.retire(next(fact.id for fact in alice.facts() if "rabbit" in fact.text))
    of_a_page = Read(shown(browser, f"/pages/{page_id}"))
    assert len(of_a_page.hooks("fact")) == 2
    assert "rabbit" in of_a_page.text
    assert "past" in of_a_page.text
    assert "plays the cello" not in of_a_page.text
    found = Read(shown(browser, "/search", q="rabbit"))
    assert len(found.hooks("fact")) == 1
    assert "past" in found.text
    assert "oolong" in Read(shown(browser, "/search", q="fujian")).text
    assert "Nothing is known" in Read(shown(browser, "/search", q="zeppelin")).text

    mei = memory.of("mei")  # who writes without spaces
    mei.add("我在成都长大。", "成都的火锅很有名。")
    mei.settle()
    mei.learn([{"text": "在成都长大", "attribute": "grew_up_in", "value": "成都"}])
    found = Read(shown(browser, "/search", q="成都", user="mei"))
    assert found.hooks("found-facts")
    assert found.hooks("found-utterances")


def test_the_pages_of_a_segment_come_in_parts_with_the_facts_that_rest_on_them(
    alice: OwnerMemory, browser: httpx2.Client
) -> None:
    alice.add("I am allergic to cello rosin.", "Noted.", thread="cello")
    for n in range(66):
        alice.add(f"The cello sounds warm in the evening hall of the old school {n}.", thread="cello")
    alice.settle()
    segment = max(alice.segments(), key=lambda one: len(one.page_ids))
    assert len(segment.page_ids) > 60
    first = shown(browser, f"/segments/{segment.id}")
    (older,) = re.findall(rf'href="(/segments/{segment.id}\?[^"]*before=[^"]*)"', first)
    second = browser.get(older.replace("&amp;", "&")).text
    numbers = [re.findall(r'class="no" href="/pages/[^"]*">page (\d+)<', part) for part in (first, second)]
    every = [alice.page(one).no for one in segment.page_ids]
    assert [int(no) for no in (*numbers[1], *numbers[0])] == every
    assert len(numbers[0]) == 60
