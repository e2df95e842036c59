"""The public face of the design works as printed, is listed, and costs little to import."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import embermem
from embermem import Memory
from embermem.core.errors import ConfigError, EmberError, InputError, NotFound
from proofs import bounded
from scripted import Opener, Place


def test_the_lines_of_the_design_work_as_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EMBERMEM_EMBEDDER", "hashed")
    from embermem import Memory

    memory = Memory("memory.db")
    alice = memory.of("alice", agent="tutor")
    page_id = alice.add("I went to the wetland park.", "How was it?", at="2026-05-02T10:00:00+02:00", thread="s1")
    alice.add_messages([{"role": "user", "content": "…"}, {"role": "assistant", "content": "…"}], thread="s1")
    alice.settle()

    context = alice.recall("What did I see in the park?", budget=1200)
    assert context.text
    assert 0 < context.tokens <= 1200
    assert 0 <= context.confidence <= 1
    for hit in context.hits:
        assert str(context.explain(hit))
    hit = context.hits[0]
    u = hit.utterance
    assert (u.id[0], u.page_id, u.speaker, u.text) == ("u", page_id, "alice", "I went to the wetland park.")
    assert u.said_at.isoformat() == "2026-05-02T10:00:00+02:00"
    assert isinstance(hit.score, float)

    assert alice.search("park", k=10)
    assert len(alice.pages(tier=None)) == 2
    assert (alice.segments(), alice.traits(), alice.profile(), alice.instructions()) == ((), (), (), ())
    assert [fact.text for fact in alice.facts()] == ["alice went to the wetland park"]
    alice.set_profile(name="Alice", birth_year=1994)
    alice.set_agent_profile("a patient tutor of French")
    assert {f.name: f.value for f in alice.profile()} == {"name": "Alice", "birth_year": "1994"}
    assert [f.value for f in alice.agent_profile()] == ["a patient tutor of French"]
    assert [t.dimension for t in alice.traits()] == ["age_group"]
    memory.close()
    assert (tmp_path / "memory.db").is_file()


def test_the_public_names_are_these() -> None:
    assert embermem.__all__ == [
        "About", "Added", "AsyncMemory", "AsyncOwnerMemory", "Chain", "Context", "EmberError", "Fact", "Field",
        "Forgotten", "Hit", "Memory", "Owner", "OwnerMemory", "Page", "Persona", "ProfileField", "Scope", "Segment",
        "Tier", "Trait", "Utterance", "__version__",
    ]  # fmt: skip
    assert all(hasattr(embermem, name) for name in embermem.__all__)


IMPORT = """
import json, sys, time
begun = time.process_time()
import embermem
took = time.process_time() - begun
named = {"numpy", "sqlalchemy", "onnxruntime", "typer", "rich", "sqlite3", "asyncio"}
heavy = sorted(named & set(sys.modules))
print(json.dumps([took, heavy]))
"""


def test_importing_is_quick_loads_nothing_heavy_and_writes_nothing(tmp_path: Path) -> None:
    took, environment = [], {**os.environ, "HOME": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    for _ in range(bounded(2, proofs=5)):
        out = subprocess.run(
            [sys.executable, "-c", IMPORT], cwd=tmp_path, env=environment, capture_output=True, check=True
        ).stdout
        seconds, heavy = json.loads(out)
        assert heavy == []
        took.append(seconds)
    assert min(took) <= 0.7  # of processor time: 0.21 to 0.24 s on two busy cores
    assert list(tmp_path.iterdir()) == []


# ------------------------------------------------------------------------------------------- what users may try


TEXTS = [
    "我昨天去了湿地公园，看见一只紫色的鹭。" * 50, "\u202eשלום עולם\u202c مرحبا بالعالم",
    "a\r\nb\rc\u2028d\u2029e\tf\x0b\x0cg",
    "\x01\x02\x1b[31mred\x1b[0m\x7f\u200b\ufeff",
    "'; DROP TABLE utterance; -- %s {0} {name} $1 :x", "𝕳𝖊𝖗𝖔𝖓 ﬁsh Ⅳ ½", " \n\t. ",
]  # fmt: skip
MORE_TEXTS = [
    "x" * 100_000, "🦩👩‍👩‍👧‍👦🇫🇷" * 200, "\u0301\u0301\u0301", "-" * 5000, "(((" * 3000, "a@" * 3000,
    "I live in " * 500, "My sister's " * 500,
]  # fmt: skip


def test_any_text_comes_back_as_it_was_and_can_be_asked(opened: Opener) -> None:
    memory = opened(short_term_pages=1)
    for number, text in enumerate(bounded(TEXTS, proofs=[*TEXTS, *MORE_TEXTS])):
        alice = memory.of(f"alice {number}")
        for _ in range(3):
            alice.add(text, text)
        alice.settle()
        assert [(page.query, page.response) for page in alice.pages()] == [(text, text)] * 3
        context = alice.recall(text, budget=100)
        assert context.tokens <= 100
        alice.search(text)
        alice.visit(context.hits)
        assert str(context.explain())


@pytest.mark.proof
def test_a_text_of_ten_megabytes_is_refused_by_default_and_kept_when_allowed(opened: Opener) -> None:
    text = "The heron stood in the water. " * 340_000
    with pytest.raises(InputError, match="more than the 1,000,000 allowed; split it"):
        opened().of("alice").add(text)
    alice = opened("large.db", max_text_chars=20_000_000, short_term_pages=1).of("alice")
    alice.add(text, "ok")
    alice.add("short", "ok")
    alice.settle()
    assert alice.pages()[0].query == text
    assert alice.recall("heron", budget=200).tokens <= 200


def test_a_user_may_have_any_name(memory: Memory) -> None:
    users = [
        "a/b",
        "../../etc/passwd",
        "O'Neill",
        '"; --',
        "汉字",
        "🦩",
        " spaced ",
        "a\nb",
        "x" * 512,
        "%s",
        "%",
        "other",
    ]
    for user in users:
        memory.of(user).add(f"Hello, {user}", "Hi")
    assert [[page.query for page in memory.of(user).pages()] for user in users] == [
        [f"Hello, {user}"] for user in users
    ]
    assert {owner.user for owner in memory.owners()} == {*users}


def test_an_empty_memory_recalls_nothing_and_stays_empty_after_a_wrong_zone(memory: Memory) -> None:
    alice = memory.of("alice")
    context = alice.recall("What did I see?")
    assert (context.hits, context.facts, context.packed) == ((), (), ())
    assert alice.search("anything") == ()
    assert alice.settle() == 0
    alice.visit(context.hits)
    assert memory.owners() == ()
    with pytest.raises(ConfigError, match="Mars"):
        memory.of("alice", timezone="Mars/Olympus")
    assert memory.owners() == ()


def test_what_cannot_be_asked_is_refused_by_name_and_what_is_not_there_is_not_found(memory: Memory) -> None:
    alice = memory.of("alice")
    alice.add("Hello", "Hi")
    for use, said in (
        (lambda: alice.recall("Hello", budget=0), "budget = 0"),
        (lambda: alice.recall("Hello", budget=-5), "budget = -5"),
        (lambda: alice.search("Hello", k=0), "k = 0"),
        (lambda: alice.search("Hello", k=-1), "k = -1"),
        (lambda: alice.recall(None), "query is NoneType"),  # type: ignore[arg-type]
        (lambda: alice.recall("a\x00"), "query has a NUL"),
        (lambda: alice.recall("Hello", at="soon"), "at = 'soon'"),
        (lambda: alice.pages("middle"), "tier = 'middle'"),
        (lambda: alice.facts("nobody"), "about = 'nobody'"),
        (lambda: alice.set_profile(), "no field"),
        (lambda: alice.set_profile(birth_year="long ago"), "birth_year"),
        (lambda: alice.set_profile(birth_year="²"), "birth_year"),
        (lambda: alice.set_profile(**{"no name": "x"}), "'no name'"),
        (lambda: alice.set_profile(name=["Al"]), "name is list"),  # type: ignore[arg-type]
    ):
        with pytest.raises(InputError, match=said):
            use()
    assert alice.changes() == ()
    calls: list[Callable[[Any], object]] = [
        lambda alice: alice.recall("x", budget="5"), lambda alice: alice.recall("x", budget=1.5),
        lambda alice: alice.search("x", k=True), lambda alice: alice.pages(limit="x"),
        lambda alice: alice.pages(before=10**30), lambda alice: alice.changes("x"),
        lambda alice: alice.changes(limit=-1), lambda alice: alice.changes(before="x"),
        lambda alice: alice.changes(cause="weather"), lambda alice: alice.change(0), lambda alice: alice.undo_plan(0),
        lambda alice: alice.pages(thread=""), lambda alice: alice.visit([5]), lambda alice: alice.visit(None),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(InputError):
            call(memory.of("alice"))
    alice = memory.of("alice")
    missing: list[Callable[[], object]] = [
        lambda: alice.page("p0"),
        lambda: alice.segment("s0"),
        lambda: alice.page("'; --"),
    ]
    for read in missing:
        with pytest.raises(NotFound):
            read()
    users: list[Any] = ["", "  ", None, 7, "x" * 513, "a\x00", "\ud800"]
    for user in users:
        with pytest.raises(InputError, match="user"):
            memory.of(user)


def test_the_log_is_read_in_parts_from_either_end_and_by_cause(memory: Memory) -> None:
    alice = memory.of("alice")
    for number in range(3):
        alice.set_profile(name=f"Alice {number}")
        alice.add("I live in Lyon.", "I see.")
        alice.settle()
    log = alice.changes()
    for before in range(len(log) + 3):
        below = [one for one in log if one.no < before]
        assert alice.changes(before=before, limit=2) == tuple(below[-2:])
        assert alice.changes(2, before=before) == tuple(below[2:])
    assert alice.changes(limit=0) == ()
    set_by_her = tuple(one for one in log if one.cause == "profile")
    assert alice.changes(cause="profile") == set_by_her
    assert alice.changes(set_by_her[0].no, cause="profile", limit=1) == set_by_her[1:2]
    assert [alice.change(one.no) for one in log] == list(log)


def test_every_error_is_one_of_ours() -> None:
    from embermem.core import errors

    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    assert all(issubclass(kind, EmberError) for kind in kinds)
    assert all(kind.__name__ in str(errors.__doc__) for kind in kinds)


def told(place: str | Path, *lines: tuple[str, str]) -> tuple[set[str], dict[str, str]]:
    """The facts and the profile after these lines, each settled before the next."""
    with Memory(place, embedder="hashed", background=False) as memory:
        alice = memory.of("alice")
        for text, at in lines:
            alice.add(text, "I see.", at=at)
            alice.settle()
        return {fact.text for fact in alice.facts()}, {field.name: field.value for field in alice.profile()}


def test_the_profile_says_what_the_facts_say_that_hold_now_in_whatever_order_chats_come_in(place: Place) -> None:
    lines = [("I live in Oslo.", "2026-01-01T00:00Z"), ("I live in Nantes.", "2020-01-01T00:00Z")]
    for name, order in (("newest first.db", lines), ("oldest first.db", lines[::-1])):
        assert told(place(name), *order) == ({"alice lives in Oslo"}, {"home": "Oslo"})
    lines = [("I live in Lyon.", "2026-01-01T00:00Z"), ("I no longer live in Lyon.", "2026-02-01T00:00Z")]
    assert told(place("taken back.db"), *lines) == (set(), {})
    lines = [("I live in Lyon.", "2026-03-01T00:00Z"), ("I moved to Paris last week.", "2026-03-02T00:00Z")]
    _, profile = told(place("moved.db"), *lines, ("I moved to Nantes in 2010.", "2026-03-03T00:00Z"))
    assert profile == {"home": "Paris"}


def test_the_agents_description_can_be_taken_away(place: Place) -> None:
    with Memory(place(), embedder="hashed", background=False) as memory:
        alice = memory.of("alice")
        alice.set_agent_profile("a patient tutor of French", voice="calm")
        alice.set_agent_profile(None)
        assert {field.name: field.value for field in alice.agent_profile()} == {"voice": "calm"}


def test_the_pages_of_a_segment_are_listed_in_parts(memory: Memory) -> None:
    alice = memory.of("alice")
    for n in range(9):
        alice.add(f"The cello sounds warm in the evening hall of the old school {n}.", "It does.")
    alice.settle()
    (segment,) = alice.segments()
    every = [page.id for page in alice.pages(segment=segment.id)]
    assert tuple(every) == segment.page_ids
    newest = alice.pages(segment=segment.id, limit=2)
    assert [page.id for page in newest] == every[-2:]
    older = alice.pages(segment=segment.id, limit=2, before=newest[0].no)
    assert [page.id for page in older] == every[-4:-2]
    assert alice.pages(segment="none") == ()
    assert memory.of("bob").pages(segment=segment.id) == ()


def test_facts_are_found_by_what_they_rest_on_in_whatever_state(memory: Memory) -> None:
    alice = memory.of("alice")
    page_id = alice.add("I have a rabbit named Biscuit and I live in Lyon.", "Noted.")
    alice.add("I play the cello.", "Nice.")
    alice.settle()
    (rabbit,) = (fact for fact in alice.facts() if "rabbit" in fact.text)
    alice.retire(rabbit.id)
    found = alice.facts_resting_on(one.seq for one in alice.page(page_id).utterances)
    assert len(found) == 2
    assert rabbit.id in {fact.id for fact in found}
    assert {fact.person for fact in found} == {"alice"}
    assert alice.facts_resting_on([]) == ()
    assert alice.facts_resting_on([10**6]) == ()
    assert memory.of("bob").facts_resting_on(range(1, 9)) == ()
    with pytest.raises(InputError, match="seqs"):
        alice.facts_resting_on(["u1"])  # type: ignore[list-item]


def test_facts_are_found_by_one_attribute_or_by_several(memory: Memory) -> None:
    alice = memory.of("alice")
    for attribute in ("likes", "owns", "plans"):
        alice.learn([{"text": f"{attribute} a kite", "value": "a kite", "attribute": attribute}])
    assert [fact.attribute for fact in alice.find_facts(attribute="owns").facts] == ["owns"]
    assert [fact.attribute for fact in alice.find_facts(attribute=["likes", "plans"]).facts] == ["plans", "likes"]
    assert alice.find_facts(attribute=[]).total == 0
    assert alice.find_facts().total == 3


def test_profiles_traits_and_instructions_are_those_of_the_whole_persona(memory: Memory) -> None:
    alice = memory.of("alice")
    alice.add("I live in Lyon. Always answer in metric units. I really love rabbits.", "Noted.")
    alice.set_profile(birth_year=1994)
    alice.set_agent_profile("a patient tutor")
    alice.settle()
    whole = alice.persona()
    assert alice.profile() == whole.profile
    assert alice.agent_profile() == whole.agent_profile
    assert {one.dimension for one in whole.traits} <= {one.dimension for one in alice.traits()}
    assert [fact.attribute for fact in alice.instructions()] == ["instruction_units"]
    assert alice.instructions(as_of="2020-01-01") == ()
