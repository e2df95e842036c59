"""Every page of the inspector, over real HTTP: it shows what is there, escapes what others wrote, and does as told."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from read_page import OWNER, Read, get, holding, post, visiting
from serving import Server, key_for, running

from embermem import Memory, OwnerMemory
from embermem.http.inspector import words
from embermem.http.inspector.assets import assets
from proofs import bounded
from scripted import SMALL, Clock, Opener, Place

T = TypeVar("T")

PAGES = """
    /overview /pages /segments /segments?archived=1 /facts /facts?state=past&q=cello&held_since=2026-01-01
    /facts?person=alice&attribute=lives_in&origin=conversation /persona /persona?everybody=1
    /persona?as_of=2026-04-20 /pages?speaker=alice&since=2026-04-02&until=2026-04-03 /segments?q=cello /map
    /timeline /timeline?from=2026-04-01&to=2026-04-30&person=alice&q=cello /playground /playground?q=cello
    /playground?q=cello&preset=paper /playground?q=cello&q2=rabbit&budget2=90 /chat
    /chat?thread=first /chat?thread=first&text=cello /audit /audit?cause=consolidation
    /audit?what=learnt&person=alice&q=cello /audit?what=bookkeeping /audit/steps?first=1&last=9 /import
    /documents /documents?q=lease /search /search?q=cello /owners /operations /operations/keys
    /operations/settings /operations/requests /operations/workers /operations/models /operations/retention
    /operations/backups
""".split()
SAID = (
    ("I live in Nantes and I play the cello.", "The cello is a fine companion."),
    ("My cello teacher is called Bastien.", "Has he taught for long?"),
    ("I have a rabbit named Biscuit.", "What does Biscuit eat?"),
    ("I am allergic to walnuts.", "Noted, no walnuts."),
    ("The rabbit ate my sheet music.", "Poor Bach."),
    ("I moved to Grenoble on Sunday.", "The mountains are near."),
    ("我在成都长大。", "成都的火锅很有名。"),
    ("Now I live in Grenoble.", "Good to know."),
)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose `memory.db` holds alice's memory, with segments, facts and a trait."""
    folder = tmp_path_factory.mktemp("prepared")
    own = {**SMALL, "clock": Clock(), "forgotten_key_file": str(folder / "memory.db.key")}
    with Memory(folder / "memory.db", **own) as memory:
        alice = memory.of("alice")
        for number, (query, response) in enumerate(SAID):
            at = f"2026-04-{number + 1:02}T10:00:00+00:00"
            alice.add(query, response, at=at, thread="first" if number < 4 else "second")
        alice.settle()
    return folder


@pytest.fixture
def memory(request: pytest.FixtureRequest, opened: Opener, tmp_path: Path) -> Memory:
    """An empty memory; where a test asks for alice's, a copy of the prepared one."""
    if "full" in request.fixturenames:
        shutil.copytree(request.getfixturevalue("prepared"), tmp_path, dirs_exist_ok=True)
    return opened()


@pytest.fixture
def full(memory: Memory) -> OwnerMemory:
    """Alice's memory, with segments, facts and a trait."""
    return memory.of("alice")


def every_page(alice: OwnerMemory) -> list[str]:
    """The addresses of all pages there are of a memory; of many alike the first and the last."""
    return [
        *PAGES,
        *(f"/pages/{page.id}" for page in some(alice.pages())),
        *(f"/segments/{segment.id}{part}" for segment in some(alice.segments()) for part in ("", "/sources")),
        *(f"/persona?{httpx2.QueryParams({'person': one.id})}" for one in alice.people()),
        *(f"/facts/{fact.id}" for fact in (*some(alice.facts()), *some(alice.past_facts()))),
        *(f"/facts/{fact.id}/sources" for fact in some(alice.facts())),
        *(f"/audit/{change.no}" for change in some(alice.changes())),
    ]


def some(every: Sequence[T]) -> Sequence[T]:
    """The first and the last; all of them with `--proofs`."""
    return bounded([*every[:1], *every[1:][-1:]], proofs=list(every))


def of_each_kind(alice: OwnerMemory) -> list[str]:
    """One address of each page, with `--proofs` all of them."""
    return bounded(
        list({re.sub(r"/\w*\d[-\w]*", "/", path.partition("?")[0]): path for path in every_page(alice)}.values()),
        proofs=every_page(alice),
    )


# ---------------------------------------------------------------------------------------------------- what is shown


def test_a_time_says_its_zone_which_is_the_owners_if_there_is_one(server: Server, browser: httpx2.Client) -> None:
    for user, zone, told in (("alice", None, "10:00 UTC"), ("bob", "Europe/Paris", "12:00 CEST")):
        mine = server.memory.of(user, timezone=zone)
        mine.add("I live in Lyon.", "Since when?", at="2026-05-02T10:00:00+00:00")
        for path in ("/pages", f"/pages/{mine.pages()[0].id}"):
            shown = get(browser, path, user=user).text
            assert f"2026-05-02 {told}" in shown
            assert re.findall(r"\d\d:\d\d(?! [A-Z+-])(?![:\d])", re.sub("<[^>]*>", " ", shown)) == []
            assert f"Times: {zone or 'UTC'}" in shown
    browser.cookies.set("ember_zone", "Mars/Olympus")  # which is none
    assert 'data-zone="Europe/Paris"' in get(browser, "/pages", user="bob").text


def test_every_page_of_an_empty_memory_is_there_and_says_how_to_begin(server: Server, browser: httpx2.Client) -> None:
    answers = {path: get(browser, path) for path in PAGES}
    kinds = {(one.status_code, one.headers["content-type"].partition(";")[0]) for one in answers.values()}
    assert kinds == {(200, "text/html")}, answers
    nothing = (
        "/overview",
        "/pages",
        "/segments",
        "/segments?archived=1",
        "/documents",
        "/map",
        "/playground",
        "/audit",
    )
    assert [path for path in nothing if not Read(answers[path].text).hooks("empty")] == []
    page = Read(answers["/overview"].text)
    command = next(attrs["data-copy"] for _, attrs in page.elements if attrs.get("data-copy"))
    assert command is not None
    assert command.startswith(f"curl {server.url}/v1/memories ")
    body = json.loads(command.partition("-d '")[2].removesuffix("'"))
    assert browser.post("/v1/memories", json=body).status_code == 201
    assert len(server.memory.of("alice").pages()) == 1


def test_every_link_keeps_the_owner_and_leads_somewhere(full: OwnerMemory, browser: httpx2.Client) -> None:
    links = {
        str(attrs["href"])
        for path in ("/overview", "/segments", "/persona", "/pages", "/map", "/audit")
        for tag, attrs in Read(get(browser, path).text).elements
        if tag == "a" and (attrs.get("href") or "").startswith("/")
    }
    assert all("user=alice" in link for link in links - {"/"})
    alike: dict[str, list[str]] = {}
    for link in sorted(links):
        alike.setdefault(re.sub(r"\d\w*(-\w+)?", "0", link), []).append(link)
    few = [link for them in alike.values() for link in them[: bounded(1, proofs=1000)]]
    assert [link for link in few if browser.get(link).status_code != 200] == []
    assert "alice" in Read(browser.get("/").text).text


def test_assets_are_kept_for_ever_under_the_hash_of_their_content_and_are_all_ours(browser: httpx2.Client) -> None:
    page = Read(get(browser, "/").text)
    addresses = {
        str(v) for _, a in page.elements for n, v in a.items() if n in ("src", "href") and "/assets/" in str(v)
    }
    assert len(addresses) >= 7
    for address in addresses:
        answer = browser.get(address)
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
    assert browser.get(re.sub(r"/assets/\w+/", "/assets/000000000000/", min(addresses))).status_code == 404
    assert browser.get("/assets/000000000000/../place.py").status_code == 404
    for name, asset in assets().items():  # none of them names another server but in comments and namespaces
        if not name.endswith((".css", ".js")):
            continue
        text = re.sub(r"/\*.*?\*/", "", asset.content.decode(), flags=re.DOTALL).replace("http://www.w3.org/", "")
        assert not re.findall(r"https?://[^\s\"'`]+", text), name


@pytest.fixture
def group(memory: Memory) -> OwnerMemory:
    """A talk of two people who speak as users, one of whom has a sister."""
    alice = memory.of("alice")
    said = [("Vera", "I live in Lyon. My sister Ana works as a nurse."), ("Kit", "I live in Oslo.")]
    said += [("Kit", f"The tulip number {number} is red.") for number in range(8)]
    alice.add_messages([{"role": "user", "name": name, "content": text} for name, text in said])
    alice.settle()
    return alice


def test_people_are_listed_merged_split_and_one_is_the_user(group: OwnerMemory, browser: httpx2.Client) -> None:
    page = Read(get(browser, "/persona").text)
    assert len(page.hooks("person")) == len(group.people()) == 3
    assert "Vera's sister" in page.text
    assert [fact.text for fact in group.facts() if fact.text not in page.text] == []
    links = [str(a["href"]) for t, a in page.elements if t == "a" and "person=Kit" in str(a.get("href"))]
    assert {link.partition("?")[0] for link in links} == {"/persona", "/facts"}
    assert len(Read(browser.get(links[1]).text).hooks("person")) == 0
    kit = Read(browser.get(links[0]).text)
    assert len(kit.hooks("fact")) == len(group.facts(person="Kit")) == 1
    assert "Oslo" in kit.text
    assert "Lyon" not in kit.text
    assert get(browser, "/persona", person="Zoe").status_code == 404
    for path, other, left in (("merge", "Kit", 2), ("split", "Vera's sister", 4)):
        page = Read(get(browser, "/persona", person="Ana").text)
        assert page.hooks(path)
        after = Read(post(browser, f"/people/{path}", one="Ana", other=other).text)
        assert len(group.people()) == left
        (undo,) = (str(a["action"]) for t, a in after.elements if t == "form" and "/undo" in str(a.get("action")))
        assert browser.post(undo).status_code == 200
        assert len(group.people()) == 3
    assert post(browser, "/people/merge", one="Ana", other="Zoe").status_code == 404
    assert post(browser, "/people/merge", one="Ana", other="Ana").status_code == 422
    page = Read(get(browser, "/persona").text)
    assert page.hooks("undecided")
    assert {a["value"] for _, a in page.elements if a.get("name") == "name" and a.get("value")} == {"Vera", "Kit"}
    after = Read(post(browser, "/people/user", name="Vera").text)
    assert not after.hooks("undecided")
    assert after.hooks("done")
    assert [line.value for line in group.profile()] == ["Lyon"]


def test_instructions_are_listed_with_their_source_added_and_ended(memory: Memory, browser: httpx2.Client) -> None:
    alice = memory.of("alice")
    alice.add("Always answer in metric units.", "I will.")
    alice.settle()
    page = Read(get(browser, "/persona").text)
    assert len(page.hooks("instruction")) == len(page.hooks("end-instruction")) == 1
    assert "wants the assistant to use metric units" in page.text
    assert page.hooks("sources")
    after = Read(post(browser, "/instructions", text="Never call me Bob.").text)
    assert len(after.hooks("instruction")) == 2
    (added,) = (one for one in alice.instructions() if not one.sources)
    assert post(browser, f"/facts/{added.id}/retire").status_code == 200
    assert [one.value for one in alice.instructions()] == ["use metric units"]
    assert post(browser, "/instructions", text=" ").status_code == 422
    then = Read(get(browser, "/persona", as_of="2020-01-01").text)
    assert not then.hooks("instruction")
    assert not then.hooks("add-instruction")


def test_what_is_not_there_is_a_page_for_browsers_and_a_problem_for_others_and_sources_are_there(
    full: OwnerMemory, browser: httpx2.Client
) -> None:
    for path in ("/pages/none", "/segments/none", "/facts/none", "/audit/999", "/import/none", "/audit/0"):
        answer = get(browser, path)
        assert answer.status_code == 404, path
        assert Read(answer.text).hooks("failure")
    page = browser.get("/nowhere", params=OWNER, headers={"Accept": "text/html,*/*"})
    assert page.status_code == 404
    read = Read(page.text)
    assert read.hooks("failure")
    assert "/overview?user=alice&agent=default" in [attrs.get("href") for tag, attrs in read.elements if tag == "a"]
    for path, accept in (("/nowhere", "*/*"), ("/v1/nowhere", "text/html"), ("/v1", "text/html")):
        answer = browser.get(path, headers={"Accept": accept})
        assert answer.status_code == 404
        assert answer.headers["content-type"] == "application/problem+json"
    assert browser.post("/nowhere", headers={"Accept": "text/html"}).headers["content-type"].startswith("application/")

    trait = full.traits()[0]
    said = full.utterance(trait.sources[0].utterance_id).text
    path = f"/traits/{trait.dimension}/sources"
    assert said in Read(get(browser, path).text).text
    assert get(browser, "/traits/pride/sources").status_code == 404
    part = browser.get(path, params=OWNER, headers={"HX-Request": "true"})
    assert said in Read(part.text).text
    assert "<html" not in part.text


def test_the_playground_shows_what_recall_gives_now_and_then_and_counts_no_visit(
    full: OwnerMemory, browser: httpx2.Client
) -> None:
    before = [segment.visits for segment in full.segments()]
    page = Read(get(browser, "/playground", q="Where do I live?", budget=200, k=4).text)
    context = full.recall("Where do I live?", budget=200)
    packed = {hit.rank for hit in context.packed}
    assert len(page.hooks("hit")) == len(packed | {1, 2, 3, 4})
    assert context.text.splitlines()[-1] in page.text
    assert f"{context.tokens}" in page.text
    assert [segment.visits for segment in full.segments()] == before
    paper = Read(get(browser, "/playground", q="cello", preset="paper").text)
    assert "preset paper ignores the budget" in paper.text
    assert full.recall("cello", preset="paper").text.splitlines()[-1] in paper.text
    query = full.pages()[-1].query
    assert Read(get(browser, "/playground", q=query).text).hooks("hit")
    then = Read(get(browser, "/playground", q=query, as_of="2020-01-01").text)
    assert not then.hooks("hit")
    assert then.hooks("before-first")
    assert Read(get(browser, "/persona", as_of="2020-01-01").text).hooks("before-first")
    assert not Read(get(browser, "/persona", valid_at="2020-01-01").text).hooks("before-first")
    assert not Read(get(browser, "/playground", q=query, valid_at="2020-01-01").text).hooks("hit")
    assert get(browser, "/playground", q=query, valid_at="soon").status_code == 422


def test_older_pages_and_the_whole_of_a_long_line_are_a_link_away_and_metadata_stand_on_a_page(
    memory: Memory, browser: httpx2.Client
) -> None:
    alice = memory.of("alice")
    alice.add_messages([{"role": "user" if n % 2 == 0 else "assistant", "content": f"line {n}"} for n in range(100)])
    first = Read(get(browser, "/pages").text)
    older = [str(a["href"]) for t, a in first.elements if t == "a" and "before=" in str(a.get("href"))]
    second = Read(browser.get(older[0]).text)
    assert "line 99" in first.text
    assert "line 0" in second.text
    assert len(first.hooks("page")) + len(second.hooks("page")) == 50
    text = "wall " * 30_000
    page_id = memory.of("bob").add(text, "Long.")
    answer = get(browser, f"/pages/{page_id}", user="bob")
    assert len(answer.text) < 40_000
    link = next(a for t, a in Read(answer.text).elements if t == "a" and "/text" in str(a.get("href")))
    whole = browser.get(str(link["href"]))
    assert whole.text == text
    assert whole.headers["content-type"].startswith("text/plain")
    assert whole.headers["x-content-type-options"] == "nosniff"
    assert len(get(browser, "/pages", user="bob").text) < 40_000

    carol = memory.of("carol")
    page_id = carol.add("I live in Lyon.", metadata={"ticket": "T-7", "n": 7, "late": True, "tags": ["a", "b"]})
    carol.settle()
    for path in (f"/pages/{page_id}", f"/facts/{carol.facts()[0].id}"):
        text = Read(get(browser, path, user="carol").text).text
        for told in ("ticket", "T-7", "true", "a, b"):
            assert told in text, path


# -------------------------------------------------------------------------------------------------- hostile texts


HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(2)>",
    '"><a href="javascript:alert(3)" onmouseover=alert(4)>click</a>',
    "{{ 7 * 7 }} {% raw %} ${7*7} </textarea></title></svg>",
    "a\u202egnp.exe\u2066 and \u200fsome more \x1b[31mred\x07",
    "' onfocus='alert(5)' autofocus='",
)


def test_nothing_comes_from_outside_no_markup_carries_style_or_script_and_what_others_wrote_is_none(
    memory: Memory, browser: httpx2.Client, place: Place, titled: Callable[..., None]
) -> None:
    alice, every = memory.of("alice"), " ".join(HOSTILE)
    for number, text in enumerate(HOSTILE * 2):
        name = text[:40].replace("\x1b", "").replace("\x07", "")
        alice.add_messages(
            [
                {"role": "user", "name": name, "content": f"My name is {text} and I like {text} {number}"},
                {"role": "assistant", "content": f"I live in {text}. {text}"},
            ],
            thread=name,
            metadata={"note": text, "notes": ["x", text]},
        )
    alice.settle()
    titled(place("memory.db"), alice.owner, every)
    assert any(every[:20] in one.title for one in alice.segments())
    undecided = [get(browser, path) for path in ("/overview", "/persona")]
    assert Read(undecided[0].text).hooks("undecided")
    alice.set_user(HOSTILE[0][:40])
    alice.set_profile(name=every)
    alice.set_agent_profile(every)
    for text in HOSTILE:
        alice.add_instruction(text)
    assert alice.instructions()
    plain = {"alert(1)", "alert(2)", "alert(3)", "alert(4)", "alert(5)"}
    pages = [get(browser, path) for path in every_page(alice)]
    found = [get(browser, "/search", q=text) for text in HOSTILE]
    for answer in (*undecided, *pages, *found):
        path, page = answer.url.raw_path, Read(answer.text)
        assert answer.status_code == 200, path
        for tag, attrs in page.elements:
            for name in ("src", "href", "action", "hx-get", "hx-post", "data-events"):
                assert (attrs.get(name) or "/").startswith(("/", "#")), (path, tag, attrs)
            assert "style" not in attrs
            assert tag != "style"
            assert not [one for one in attrs if one.startswith(("on", "hx-on"))], (path, tag, attrs)
            assert tag != "script" or attrs.get("src"), path
            assert tag != "img" or str(attrs["src"]).startswith("/assets/"), (path, attrs)
            assert tag != "script" or not plain & {str(value) for value in attrs.values()}
        assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\u202a-\u202e\u2066-\u2069]", page.text), path
    name = "<b>\"&' x"
    memory.of(name, name).add("hello")
    listed = Read(browser.get("/owners").text)
    assert name in listed.text
    link = next(href for _, attrs in listed.elements if "user=%3Cb%3E" in (href := str(attrs.get("href"))))
    page = Read(browser.get(link).text)
    assert name in page.text
    assert "b" not in [tag for tag, attrs in page.elements if not attrs]


def test_a_text_shows_its_hidden_marks_is_cut_between_words_and_marks_what_was_taken() -> None:
    assert str(words.said("a\x00b\u202ec")) == (
        '<bdi>a<span class="ctl" title="U+0000">␀</span>b<span class="ctl" title="U+202E">U+202E</span>c</bdi>'
    )
    assert str(words.line("I live in Nantes, near the river", 20)) == "<bdi>I live in Nantes…</bdi>"
    assert str(words.line("I live in Nantes", 16)) == "<bdi>I live in Nantes</bdi>"
    assert str(words.line("我在成都长大，我妈妈在那里", 12)) == "<bdi>我在成都长…</bdi>"
    assert words.plain("x" * 50, 10) == "x" * 9 + "…"
    assert str(words.spans("I <live> in Nantes", [(12, 18)])) == "<bdi>I &lt;live&gt; in <mark>Nantes</mark></bdi>"
    assert str(words.spans("abc", [(1, 2), (0, 2), (5, 9)])) == "<bdi><mark>ab</mark>c</bdi>"


@given(st.text(), st.integers(2, 60))
def test_a_line_is_never_longer_than_asked(text: str, longest: int) -> None:
    cut = words.plain(text, longest)
    assert words.columns(cut) <= longest
    assert "\n" not in cut


# -------------------------------------------------------------------------------------------------------- actions


def test_forgetting_shows_what_would_go_before_it_goes(full: OwnerMemory, browser: httpx2.Client) -> None:
    before = len(full.pages())
    assert post(browser, "/forget", kind="everything", id="x").status_code == 422
    assert post(browser, "/forget", kind="page", id="none").status_code == 404
    days = ("", "2026-04-02", "2026-04-02/", "/2026-04-02", "x/y", "2026-04-03/2026-04-02")
    assert {post(browser, "/forget", kind="days", id=one).status_code for one in days} == {422}
    assert len(full.pages()) == before
    of_a_day = {"since": "2026-04-02", "until": "2026-04-02"}
    assert "forget-days" in get(browser, "/pages", **of_a_day).text
    assert "forget-days" not in get(browser, "/pages", speaker="alice", **of_a_day).text
    page = full.pages()[2]
    preview = Read(get(browser, "/forget", kind="page", id=page.id).text)
    assert preview.hooks("preview")
    assert full.page(page.id) == page
    answer = post(browser, "/forget", kind="page", id=page.id)
    assert Read(answer.text).hooks("receipt")
    assert get(browser, f"/pages/{page.id}").status_code == 404
    assert "Biscuit" not in str([one.utterances for one in full.pages()])
    fact, segment = full.facts()[0], min(full.segments(), key=lambda one: len(one.page_ids))
    for kind, name in (("fact", fact.id), ("segment", segment.id), ("thread", "first")):
        shown = Read(get(browser, "/forget", kind=kind, id=name).text)
        assert shown.hooks("forget-now"), kind
        assert Read(post(browser, "/forget", kind=kind, id=name).text).hooks("receipt"), kind
    assert fact.id not in [one.id for one in full.facts()]
    assert segment.id not in [one.id for one in full.segments()]
    assert {page.thread for page in full.pages()} <= {"second"}


def test_a_change_says_what_it_did_to_what_in_words_and_is_undone_as_it_said(
    full: OwnerMemory, browser: httpx2.Client
) -> None:
    full.set_profile(tea="oolong")
    no = full.changes()[-1].no
    assert f"/audit/{no}/plan?" in get(browser, f"/audit/{no}").text
    page = Read(get(browser, f"/audit/{no}/plan").text)
    assert "tea taken away" in page.text
    assert post(browser, f"/audit/{no}/undo").status_code == 200
    assert "tea" not in {line.name for line in full.profile()}
    assert "was undone by" in Read(get(browser, f"/audit/{no}/plan").text).text
    assert "undone by" in Read(get(browser, f"/audit/{no}").text).text
    (ended,) = full.learn([{"text": "plans a concert", "value": "a concert", "attribute": "plans"}])
    full.expire(fact_id=ended.id, at=timedelta(days=1))
    no = full.changes()[-1].no
    for path in ("/audit", "/overview", f"/audit/{no}", f"/audit/{no - 1}", f"/audit/{no}/plan"):
        page = Read(get(browser, path).text)
        assert "plans a concert" in page.text, path
        assert not re.search(rf"\b{ended.id}\b", page.text), path

    fact = next(one for one in full.facts() if "rabbit" in one.text)
    full.pin(full.correct(fact.id, "has a hare named Biscuit").id)
    full.forget(page=full.pages()[3].id)
    home = {"attribute": "lives_in", "valid_from": "2026-04-20"}
    one, other = full.learn([{"text": f"lives in {city}", "value": city, **home} for city in ("Bern", "Basel")])
    full.settle_conflict(one.id, other.id)
    full.expire(fact_id=one.id, at=timedelta(days=9))
    kinds = {type(decision).__name__ for change in full.changes() for decision in change.decisions}
    assert {"FactPinned", "FactDenied", "Erased", "TextsBarred", "FactExpires"} <= kinds
    assert "ConflictSettled" in kinds
    for change in full.changes():
        text = Read(get(browser, f"/audit/{change.no}").text).text
        assert not [kind for kind in kinds if re.search(rf"\b{kind}\b", text) and kind not in ("Embedded", "Undone")]


# -------------------------------------------------------------------------------------------------------- the past


HOME = {"attribute": "lives_in", "valid_from": "2026-04-20"}
BERN = {"text": "lives in Bern", "value": "Bern", **HOME}
BASEL = {"text": "lives in <b>Basel</b>", "value": "Basel", **HOME}


def test_the_persona_of_another_time_is_shown_and_cannot_be_changed(memory: Memory, browser: httpx2.Client) -> None:
    alice = memory.of("alice")
    alice.set_profile(tea="oolong")
    alice.learn([BERN])
    now = Read(get(browser, "/persona").text)
    assert "lives in Bern" in now.text
    assert "1 fact" in now.text
    assert now.hooks("edit-user-profile")
    for name in ("as_of", "valid_at"):
        then = Read(get(browser, "/persona", **{name: "2020-01-01"}).text)
        assert "lives in Bern" not in then.text
        assert "1 fact" not in then.text
        assert "oolong" not in then.text
        assert not then.hooks("edit-user-profile")
    assert "lives in Bern" in Read(get(browser, "/persona", valid_at="2026-05-01").text).text
    assert get(browser, "/persona", as_of="soon").status_code == 422


def test_a_conflict_is_shown_until_both_are_let_stand(full: OwnerMemory, browser: httpx2.Client) -> None:
    one, other = full.learn([BERN, BASEL])
    page = get(browser, "/facts")
    assert len(Read(page.text).hooks("conflict")) == 1
    for path in ("/persona", "/overview"):
        (link,) = (a for t, a in Read(get(browser, path).text).elements if "state=conflict" in str(a.get("href")))
        assert len(Read(browser.get(str(link["href"])).text).hooks("fact")) == 2
    assert "<b>Basel" not in page.text
    assert Read(get(browser, f"/facts/{one.id}").text).hooks("in-conflict")
    assert post(browser, f"/facts/{one.id}/settle", other="none").status_code == 404
    assert post(browser, f"/facts/{one.id}/settle", other=other.id).status_code == 200
    assert full.conflicts() == ()
    for path in ("/facts", "/persona", "/overview"):
        page = get(browser, path)
        assert not Read(page.text).hooks("conflicts")
        assert "state=conflict" not in re.sub("<option.*?</option>", "", page.text)


def test_a_fact_tells_what_it_replaced_and_when_it_ends(full: OwnerMemory, browser: httpx2.Client) -> None:
    (old,) = full.learn([BERN])
    (new,) = full.learn([{**BASEL, "valid_from": "2026-04-25"}])
    full.expire(fact_id=new.id, at=timedelta(days=9))
    answer = get(browser, f"/facts/{new.id}")
    page = Read(answer.text)
    assert page.hooks("replaced")
    assert old.text in page.text
    assert "Expires" in page.text


# --------------------------------------------------------------------------------------------------------- import


def until_done(browser: httpx2.Client, answer: httpx2.Response) -> Read:
    """The import's page, once it has ended."""
    for _ in range(600):
        page = Read(answer.text)
        if page.hooks("import-state")[0]["data-state"] not in ("storing", "understanding"):
            return page
        answer = browser.get(str(answer.url))
    raise AssertionError("the import did not end")


def test_a_file_is_stored_once_for_its_owner_and_its_bad_lines_are_listed(
    memory: Memory, browser: httpx2.Client
) -> None:
    lines = [
        json.dumps({"role": "user", "content": "I live in Lyon."}),
        "{this is no JSON",
        json.dumps({"role": "assistant", "content": "A fine town."}),
    ]
    sent = browser.post("/import", params=OWNER, files={"file": ("talk.jsonl", "\n".join(lines).encode())})
    page = until_done(browser, sent)
    assert page.hooks("import-state")[0]["data-state"] == "done"
    assert page.hooks("bad")
    assert [one.text for one in memory.of("alice").pages()[0].utterances] == ["I live in Lyon.", "A fine town."]
    path = str(sent.url).removeprefix(str(browser.base_url)).partition("?")[0]
    assert browser.get(path, params={"user": "bob"}).status_code == 404
    file = {"file": ("talk.txt", b"Mei: I moved to Grenoble.\nEmber: How is it?\n")}
    for _ in range(2):
        until_done(browser, browser.post("/import", params=OWNER, files=file))
    assert memory.of("alice").stats().utterances == 4
    assert browser.post("/import", params=OWNER, files={"file": ("none.txt", b"")}).status_code == 422
    answer = browser.post("/import", params=OWNER, files={"file": ("a.txt", b"Mei: hi")}, data={"form": "docx"})
    assert answer.status_code == 422
    answer = browser.post("/import", params=OWNER, files={"file": ("a.json", b"[1, 2")}, data={"form": "messages"})
    assert answer.status_code == 422
    assert memory.of("alice").stats().utterances == 4


def test_an_import_shows_its_cost_before_anything_is_stored_and_is_refused_above_its_limit(opened: Opener) -> None:
    memory = opened(model="some-model", model_url="http://127.0.0.1:9/v1", calls_per_day=1)
    said = "\n".join(f"Mei: line {n} of the tale\nEmber: go on" for n in range(40))
    with running(memory) as url, visiting(url) as browser:
        page = Read(browser.post("/import", params=OWNER, files={"file": ("talk.txt", said.encode())}).text)
    assert page.hooks("import-state")[0]["data-state"] == "ready"
    assert page.hooks("start")
    assert "today's limits are too low" in page.text
    assert memory.of("alice").stats().utterances == 0
    memory = opened("small.db", http_import_bytes=2000)
    with running(memory) as url, visiting(url) as browser:
        answer = browser.post("/import", params=OWNER, files={"file": ("big.txt", b"Mei: hello\n" * 1000)})
    assert answer.status_code == 413
    assert memory.of("alice").stats().utterances == 0


def test_what_was_said_is_downloaded_and_can_be_imported(memory: Memory, browser: httpx2.Client) -> None:
    alice, bob = memory.of("alice"), memory.of("bob")
    page_id = alice.add(
        "I live in Lyon.\n<b>Grüße</b>",
        "Noted.",
        at="2026-04-01T10:00:00+02:00",
        thread="one",
        metadata={"n": 1},
        origin="pasted",
    )
    assert get(browser, f"/pages/{page_id}").text.count('data-test="origin">pasted<') == 1
    alice.add_document("# Kitchen\n\nThe nuts are in the green box.", source="kitchen.md")
    assert Read(get(browser, "/import").text).hooks("export")
    answer = get(browser, "/export")
    assert answer.headers["content-disposition"] == 'attachment; filename="memory.jsonl"'
    said = [json.loads(line) for line in answer.text.splitlines()]
    bob.add_messages(
        [{name: one.get(name) for name in ("role", "content", "at", "metadata", "origin")} for one in said],
        thread="one",
    )
    for one, other in zip(bob.utterances(), alice.utterances(), strict=False):
        assert (one.text, one.role, one.said_at, one.thread) == (other.text, other.role, other.said_at, other.thread)
        assert one.origin == other.origin
        assert dict(one.metadata) == dict(other.metadata) == {"n": 1}
    assert len(bob.utterances()) == len(said) == 2


# ------------------------------------------------------------------------------------------------------- who may


def test_no_page_of_one_owner_shows_or_changes_anothers_memory(full: OwnerMemory, browser: httpx2.Client) -> None:
    paths = of_each_kind(full)
    for path in paths:
        answer = browser.get(
            path.partition("?")[0], params={**dict(httpx2.QueryParams(path.partition("?")[2])), "user": "bob"}
        )
        kept = answer.status_code == 404 or path.partition("?")[0] in {one.partition("?")[0] for one in PAGES}
        assert kept, path
        for secret in ("Nantes", "Biscuit", "walnut", "成都"):
            assert secret not in answer.text, path
    fact = full.facts()[0]
    for action in ("retire", "pin", "correct"):
        answer = browser.post(f"/facts/{fact.id}/{action}", params={"user": "bob"}, data={"text": "x", "pinned": "1"})
        assert answer.status_code == 404
    assert full.fact(fact.id) == fact


def test_a_server_with_keys_asks_for_one_keeps_it_in_a_cookie_and_sends_nobody_elsewhere(memory: Memory) -> None:
    memory.of("alice").add("I live in Nantes.")
    memory.of("bob").add("I live in Lyon.")
    _, secret = key_for(memory, "alice/default")
    with running(memory, require_keys=True) as url, visiting(url) as browser:
        for wanted in ("//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)"):
            page = Read(browser.get("/login", params={"next": wanted}).text)
            kept = [
                attrs.get("value") for tag, attrs in page.elements if tag == "input" and attrs.get("name") == "next"
            ]
            assert kept in ([], ["/"]), wanted
        lost = browser.get("/nowhere", headers={"Accept": "text/html"}, follow_redirects=False)
        assert lost.headers["location"].startswith("/login")
        asked = browser.get("/pages", params=OWNER)
        assert Read(asked.text).hooks("login")
        wrong = browser.post("/login", data={"key": "ember_none_nothing"})
        assert wrong.status_code == 401
        assert Read(wrong.text).hooks("wrong")
        assert "ember_key" not in browser.cookies
        right = browser.post("/login", data={"key": secret, "next": "/pages?user=alice"}, follow_redirects=False)
        cookie = right.headers["set-cookie"].lower()
        assert right.headers["location"] == "/pages?user=alice"
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert "Nantes" in browser.get("/pages", params=OWNER).text
        other = browser.get("/pages", params={"user": "bob"})
        assert other.status_code == 403
        assert "Lyon" not in other.text
        assert "bob" not in browser.get("/owners", params=OWNER).text
        lost = browser.get("/nowhere", params={"user": "bob"}, headers={"Accept": "text/html"})
        assert lost.status_code == 404
        assert "bob" not in lost.text
        browser.post("/logout")
        assert Read(browser.get("/pages", params=OWNER).text).hooks("login")


def test_a_key_that_may_only_read_is_offered_no_change(full: OwnerMemory, memory: Memory) -> None:
    with holding(memory, "alice", read_only=True) as browser:
        for path in of_each_kind(full):
            forms = [
                str(a["action"])
                for t, a in Read(get(browser, path).text).elements
                if t == "form" and a.get("method") == "post"
            ]
            assert set(forms) <= {"/logout"}, path
        fact = full.facts()[0]
        assert post(browser, f"/facts/{fact.id}/retire").status_code == 403
        assert full.fact(fact.id) == fact
