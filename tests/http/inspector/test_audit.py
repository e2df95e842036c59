"""The audit log over HTTP: what was learnt, corrected and forgotten, in words; bookkeeping folded; undo in reach."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import httpx2
import pytest
from read_page import OWNER, holding

from embermem import Memory, OwnerMemory
from embermem.core.changes import KINDS, Heading, api_kind
from embermem.errors import InputError
from scripted import Clock, Opener

SAID = (
    ("I live in Nantes and I play the cello.", "The cello is a fine companion."),
    ("I have a rabbit named Biscuit.", "What does Biscuit eat?"),
    ("My sister Ana lives in Lyon.", "Do you see her often?"),
    ("Now I live in Grenoble.", "Good to know."),
)


def moved(memory: Memory, clock: Clock) -> None:
    """Alice moves."""
    mine = memory.of("alice")
    for number, (query, response) in enumerate(SAID):
        mine.add(query, response, at=f"2026-04-{number + 1:02}T10:00:00+00:00")
        mine.settle()


@pytest.fixture
def memory(lived_in: Callable[..., object], opened: Opener) -> Memory:
    """A memory in which she did."""
    lived_in(moved, user_facts=400)
    return opened(user_facts=400)


def get(browser: httpx2.Client, path: str, **query: Any) -> str:
    """A page of alice's, as plain words."""
    answer = browser.get(path, params={**OWNER, **query})
    assert answer.status_code == 200, answer.text
    return answer.text


def entries(page: str) -> list[str]:
    """The entries of a page: each verb with its words."""
    found = re.findall(r'data-test="entry">(.*?)</li>', page, re.DOTALL)
    return [
        " ".join(
            re.sub(
                r"<[^>]+>", " ", re.sub(r"</?bdi>", "", re.sub(r"<details.*?</details>", "", one, flags=re.DOTALL))
            ).split()
        )
        for one in found
    ]


def changes(page: str) -> list[int]:
    """The numbers of the changes that a page tells, in its order."""
    return [int(no) for no in re.findall(r'data-test="change" id="change-(\d+)"', page)]


def fact(mine: OwnerMemory, value: str) -> str:
    return next(one.id for one in mine.facts() if one.value == value)


def test_what_was_learnt_corrected_told_and_forgotten_is_said_in_words(
    alice: OwnerMemory, browser: httpx2.Client
) -> None:
    told = entries(get(browser, "/audit"))
    assert any(re.fullmatch(r"learnt .*Grenoble.* \(replaces: .*Nantes.*\)", one) for one in told), told
    assert any(one.startswith("learnt") and "Biscuit" in one for one in told)
    alice.correct(fact(alice, "Grenoble"), "alice lives in Annecy")
    alice.retire(next(one.id for one in alice.facts() if "Biscuit" in one.text))
    told = entries(get(browser, "/audit", what="corrected"))
    assert [one.partition(" ")[0] for one in told] == ["retired", "corrected"]
    assert re.fullmatch(r"corrected .*Annecy.* \(replaces: .*Grenoble.*\)", told[1])
    alice.add_instruction("Answer in French.")
    alice.learn([{"text": "Annie sings", "subject": "Annie", "attribute": "hobby", "value": "singing"}])
    alice.merge_people("Ana", "Annie")
    alice.set_profile(occupation="luthier")
    assert [one.split()[0] for one in entries(get(browser, "/audit", what="instructions"))] == ["instruction"]
    assert any("Ana and Annie are one person" in one for one in entries(get(browser, "/audit", what="people")))
    assert any("luthier" in one for one in entries(get(browser, "/audit", what="profile")))
    assert not any("French" in one for one in entries(get(browser, "/audit", what="learnt")))
    receipt = alice.forget(page=alice.pages()[1].id).to_json()
    page = get(browser, "/audit")
    assert [one for one in entries(page) if one.startswith("forgotten")] == ["forgotten 1 page, 2 messages, 1 fact"]
    assert "Biscuit" not in page
    assert 'data-test="undo"' not in page.partition('data-test="change"')[2].partition('data-test="change"')[0]
    answer = browser.post("/audit/verify", params=OWNER, data={"receipt": receipt})
    assert "It is gone" in answer.text
    assert browser.post("/audit/verify", params=OWNER, data={"receipt": "{}"}).status_code == 422


def test_bookkeeping_is_folded_and_opens_in_place(alice: OwnerMemory, browser: httpx2.Client) -> None:
    page = get(browser, "/audit")
    count = int(re.search(r"<summary>(\d+) bookkeeping steps", page)[1])  # type: ignore[index]
    quiet = {
        one.no
        for one in alice.changes()
        if all(KINDS[type(each)].heading is Heading.BOOKKEEPING for each in one.decisions)
    }
    assert count == len(quiet) > 0
    assert quiet.isdisjoint(changes(page))
    first, last = min(quiet), max(quiet)
    steps = get(browser, "/audit/steps", first=first, last=last)
    assert {int(no) for no in re.findall(r"/audit/(\d+)\?[^\"]*\">\d+</a>", steps)} == quiet
    assert changes(get(browser, "/audit", what="bookkeeping")) == []


def test_a_person_words_days_and_a_cause_narrow_the_list_and_the_download_has_a_line_for_each(
    alice: OwnerMemory, browser: httpx2.Client, clock: Clock
) -> None:
    clock.now = datetime(2026, 6, 1, 12, tzinfo=UTC)
    alice.learn([{"text": "Ana sings in a choir", "subject": "Ana", "attribute": "hobby", "value": "a choir"}])
    assert all("Ana" in one for one in entries(get(browser, "/audit", person="Ana")))
    assert any("choir" in one for one in entries(get(browser, "/audit", person="ana")))
    assert len(entries(get(browser, "/audit", q="CHOIR"))) == 1
    assert "choir" not in " ".join(entries(get(browser, "/audit", until="2026-05-31")))
    assert len(entries(get(browser, "/audit", since="2026-06-01", until="2026-06-01"))) == 1
    assert entries(get(browser, "/audit", since="2026-06-02")) == []
    assert entries(get(browser, "/audit", cause="embedding")) == []
    assert "Nothing of this in the log" in get(browser, "/audit", q="zebra")
    for wrong in ({"what": "dreams"}, {"cause": "fate"}, {"since": "yesterday"}, {"until": "9999-13-01"}):
        answer = browser.get("/audit", params={**OWNER, **wrong})
        assert answer.status_code == 422, wrong
        assert next(iter(wrong.values())) in answer.text

    shown = entries(get(browser, "/audit", what="learnt"))
    answer = browser.get("/audit/download", params={**OWNER, "what": "learnt"})
    lines = [json.loads(one) for one in answer.text.splitlines()]
    assert answer.headers["content-disposition"] == 'attachment; filename="audit.jsonl"'
    assert [one["text"] for one in lines] == [re.sub(r"^\S+ | \(replaces.*", "", one) for one in shown]
    assert {one["what"] for one in lines} == {"learnt"}
    assert [one["text"] for one in lines if not one["utterances"]] == ["Ana sings in a choir"]  # set by hand
    for given in ({"since": "soon"}, {"until": "2026-02-30"}):  # refused before it begins
        answer = browser.get("/audit/download", params={**OWNER, **given})
        assert answer.status_code == 422
        assert "is no day" in answer.text


def test_the_log_and_a_long_change_are_told_in_parts(alice: OwnerMemory, browser: httpx2.Client) -> None:
    cello = alice.facts()[0].id
    for number in range(50):
        alice.pin(cello, number % 2 == 0)
    told, before = list[int](), 0
    for _ in range(5):
        page = get(browser, "/audit", **({"before": before} if before else {}))
        told += changes(page)
        older = re.search(r"before=(\d+)[^\"]*\" data-test=\"older\"", page)
        if older is None:
            break
        before = int(older[1])
    assert told == sorted(set(told), reverse=True)
    assert len(told) > 50
    assert before
    alice.learn([{"text": f"alice owns book {n}", "attribute": "owns", "value": f"book {n}"} for n in range(210)])
    no = alice.changes()[-1].no
    assert len(entries(get(browser, "/audit", q="owns book"))) == 6
    first = get(browser, f"/audit/{no}")
    further = re.search(
        r"first=(\d+)[^\"]*\"[^>]*data-test=\"further\"|data-test=\"further\" href=\"[^\"]*first=(\d+)", first
    )
    assert further is not None
    rest = get(browser, f"/audit/{no}", first=int(further[1] or further[2]))
    shown = [*entries(first), *entries(rest)]
    assert len([one for one in shown if "owns book" in one]) == 210
    place = re.findall(rf"/audit/{no}/sources/(\d+)", rest)
    assert not place  # what a caller taught rests on no utterance


def test_an_entry_opens_what_was_said_for_it_and_its_undo_leads_back(
    alice: OwnerMemory, browser: httpx2.Client
) -> None:
    page = get(browser, "/audit", q="Grenoble", what="learnt")
    path = re.search(r"/audit/\d+/sources/\d+", page)
    assert path is not None
    assert "Now I live in Grenoble." in re.sub(r"</?(mark|bdi)>", "", get(browser, path[0]))
    answers = [browser.get(f"/audit/{one}", params=OWNER).status_code for one in ("0", "1", "1/sources/9999")]
    assert answers == [404, 200, 404]
    alice.correct(fact(alice, "Grenoble"), "alice lives in Annecy")
    no = alice.changes()[-1].no
    back = "/audit?user=alice&agent=default&what=corrected"
    answer = browser.post(f"/audit/{no}/undo", params=OWNER, data={"then": back})
    assert answer.status_code == 200
    assert 'data-test="done"' in answer.text
    assert "what=corrected" in str(answer.url)
    assert re.search(rf"undone by <a href=\"/audit/{alice.changes()[-1].no}\?", answer.text)
    assert any(one.value == "Grenoble" for one in alice.facts())


def test_a_key_that_may_only_read_sees_the_log_without_undo(alice: OwnerMemory, memory: Memory) -> None:
    with holding(memory, "alice", read_only=True) as browser:
        page = get(browser, "/audit")
        assert entries(page)
        assert 'data-test="undo"' not in page
        assert browser.post("/audit/2/undo", params=OWNER).status_code == 403
        assert browser.get("/audit", params={"user": "bob"}).status_code == 403


# ------------------------------------------------------------------------------------------------ what stands behind


def test_changes_are_read_by_their_kinds_and_items_by_their_ids(alice: OwnerMemory) -> None:
    whole, facts = alice.changes(), alice.changes(kinds=["fact_added"])
    assert [one.no for one in facts] == [one.no for one in whole]
    assert {api_kind(type(each)) for one in facts for each in one.decisions} == {"fact_added"}
    with pytest.raises(InputError, match="fact_dreamt"):
        alice.changes(kinds=["fact_dreamt"])
    past, segment = alice.past_facts()[0], alice.segments()[0]
    found = alice.named([past.id, segment.id, "f999-000", "nonsense"])
    assert found.keys() == {past.id, segment.id}
    assert found[past.id].text == past.text  # type: ignore[union-attr]
    assert alice.named([]) == {}
