"""Messages become pages, and pages keep what was said, by whom and when."""

from __future__ import annotations

import contextlib
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embermem import Memory, OwnerMemory, Page
from embermem.core.errors import InputError, KeyReused
from embermem.core.paging import PageTail, joins, tier_of
from embermem.core.types import PageId, Role, Tier
from proofs import bounded
from scripted import NOW, Clock, Opener

ROLES = ("user", "assistant", "system", "tool")


def shapes(pages: tuple[Page, ...]) -> list[list[tuple[str, str]]]:
    return [[(u.role.value, u.text) for u in page.utterances] for page in pages]


def say(role: str, content: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


# ------------------------------------------------------------------------------------------------------ which page


def test_the_first_message_begins_a_page_the_agent_s_side_joins_and_the_user_s_until_it_is_answered() -> None:
    wrong = [role for role in list(Role) if joins(None, role)]
    assert wrong == []

    for answered in (True, False):
        for role in list(Role):
            tail = PageTail(page_id=PageId("p1"), answered=answered)
            assert joins(tail, role) is (role.agent_side or not answered)
            assert joins(tail, role, fresh=True) is role.agent_side

    assert tier_of(placed=True, archived=False, no=9, pages=9, short=7) is Tier.MID
    assert tier_of(placed=True, archived=True, no=9, pages=9, short=7) is Tier.ARCHIVE


def test_an_exchange_is_one_page_and_a_missing_side_joins_it_late(alice: OwnerMemory, memory: Memory) -> None:
    page_id = alice.add("Hello", "Hi")
    (page,) = alice.pages()
    assert (page.id, page.query, page.response) == (page_id, "Hello", "Hi")
    assert [u.speaker for u in page.utterances] == ["alice", "assistant"]

    alice = memory.of("alice", "2")
    first = alice.add("Are you there?")
    second = alice.add(None, "I am.")
    assert first == second
    assert shapes(alice.pages()) == [[("user", "Are you there?"), ("assistant", "I am.")]]

    alice = memory.of("alice", "3")
    alice.add("One")
    alice.add("Two")
    alice.add("Three", "Yes")
    assert [page.query for page in alice.pages()] == ["One", "Two", "Three"]

    alice = memory.of("alice", "4")
    for query, response in (("", ""), (" \n", None), (None, "\t"), (None, None)):
        with pytest.raises(InputError, match="query and response are empty: there is nothing to add"):
            alice.add(query, response)
    alice.add("I row.", " ")
    alice.add("", "Where?")
    assert shapes(alice.pages()) == [[("user", "I row."), ("assistant", "Where?")]]

    alice = memory.of("alice", "5")
    alice.add_messages([say("assistant", "Welcome!")])
    assert shapes(alice.pages()) == [[("assistant", "Welcome!")]]

    alice = memory.of("alice", "6")
    alice.add_messages(
        [say("user", "a", at="2024-01-01T00:00:00Z"), say("assistant", "b", at=datetime(2024, 1, 2, tzinfo=UTC))],
        at="2025-05-05",
    )
    assert [u.said_at.day for u in alice.pages()[0].utterances] == [1, 2]


def test_messages_of_one_turn_are_a_page_of_its_speakers_tools_and_thread(alice: OwnerMemory, memory: Memory) -> None:
    texts = [say("user", "a"), say("user", "b"), say("assistant", "c"), say("assistant", "d"), say("user", "e")]
    alice.add_messages(texts)
    assert shapes(alice.pages()) == [
        [("user", "a"), ("user", "b"), ("assistant", "c"), ("assistant", "d")],
        [("user", "e")],
    ]

    alice = memory.of("alice", "2")
    call = {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "look", "arguments": "{}"}}]}
    alice.add_messages([say("user", "Weather?"), call, say("tool", "sunny"), say("assistant", "It is sunny.")])
    (page,) = alice.pages()
    assert page.response == "[tool call: look({})]\nsunny\nIt is sunny."

    alice = memory.of("alice", "3")
    said = [("user", "Caroline", "Hey Mel!"), ("assistant", "Melanie", "Hey Caroline!"), ("user", "Caroline", "News?")]
    alice.add_messages([say(role, text, name=who) for role, who, text in said])
    assert [(u.speaker, u.text) for page in alice.pages() for u in page.utterances] == [(w, t) for _, w, t in said]

    alice = memory.of("alice", "4")
    alice.add_messages([say("user", "a1")], thread="a")
    alice.add_messages([say("user", "b1")], thread="b")
    alice.add_messages([say("assistant", "a2")], thread="a")
    alice.add_messages([say("assistant", "b2")], thread="b")
    assert shapes(alice.pages()) == [[("user", "a1"), ("assistant", "a2")], [("user", "b1"), ("assistant", "b2")]]
    assert [{u.thread for u in page.utterances} for page in alice.pages()] == [{"a"}, {"b"}]

    alice = memory.of("group")
    turns = [("Ann", "Hello"), ("Ann", "Who comes?"), ("Bob", "I do."), ("Cleo", "Me too."), ("Cleo", "At eight.")]
    alice.add_messages([say("user", text, name=name) for name, text in turns], thread="g")
    alice.add_messages([say("assistant", "A table for four, then.")], thread="g")
    pages = [[(u.speaker, u.text) for u in page.utterances] for page in alice.pages()]
    assert pages == [turns[:2], turns[2:3], [*turns[3:], ("assistant", "A table for four, then.")]]

    alice = memory.of("alice", "6")
    with pytest.raises(InputError):
        alice.add_messages([say("user", "a"), say("robot", "b")])
    assert alice.pages() == ()


messages = st.lists(
    st.tuples(
        st.sampled_from(("a", "b")),
        st.sampled_from(ROLES),
        st.text(max_size=5).filter(lambda t: t.strip() and "\0" not in t),
    ),
    min_size=1,
    max_size=20,
)


@settings(max_examples=bounded(10, proofs=125))
@given(messages, st.data())
def test_in_one_call_or_one_at_a_time_gives_the_same_pages(
    said: list[tuple[str, str, str]], data: st.DataObject
) -> None:
    said = [(thread, role, text.encode("utf-8", "replace").decode()) for thread, role, text in said]
    with (
        tempfile.TemporaryDirectory() as folder,
        Memory(Path(folder) / "m.db", embedder="hashed", background=False, clock=Clock()) as memory,
    ):
        whole, single, parts = memory.of("whole"), memory.of("single"), memory.of("parts")
        for thread in ("a", "b"):
            texts = [say(role, text) for t, role, text in said if t == thread]
            if not texts:
                continue
            whole.add_messages(texts, thread=thread)
            cut = data.draw(st.integers(0, len(texts)))
            for piece in (texts[:cut], texts[cut:]):
                if piece:
                    parts.add_messages(piece, thread=thread)
        for thread, role, text in said:
            single.add_messages([say(role, text)], thread=thread)

        def by_thread(owner: OwnerMemory) -> dict[str, list[list[tuple[str, str]]]]:
            return {t: shapes(tuple(p for p in owner.pages() if p.thread == t)) for t in ("a", "b")}

        assert by_thread(whole) == by_thread(single) == by_thread(parts)
        kept = [u for page in single.pages() for u in page.utterances]
        assert sorted(u.seq for u in kept) == list(range(1, len(said) + 1))
        assert [(u.thread, u.role.value, u.text) for u in sorted(kept, key=lambda u: u.seq)] == said


# -------------------------------------------------------------------------------------------------------- when


def test_pages_keep_the_dates_of_what_was_said_and_leave_by_arrival(opened: Opener, clock: Clock) -> None:
    alice = opened(short_term_pages=1).of("alice")
    for day in range(1, 9):
        alice.add("I moved to Lyon.", "Nice!", at=f"2025-03-{day:02}T10:00:00+02:00")
    alice.settle()
    assert {u.said_at.year for page in alice.pages() for u in page.utterances} == {2025}
    assert all(u.recorded_at == clock.now for page in alice.pages() for u in page.utterances)
    assert {(s.said_from.year, s.said_to.year) for s in alice.segments()} == {(2025, 2025)}
    assert {fact.valid_from.year for fact in alice.facts() if fact.valid_from is not None} == {2025}
    assert all(fact.recorded_at == NOW for fact in alice.facts())
    assert alice.facts()
    context = alice.recall("Where do I live?")
    assert "2025" in context.text
    assert "2026" not in context.text
    assert {hit.utterance.said_at.isoformat()[-6:] for hit in context.hits} == {"+02:00"}

    alice = opened("2.db", short_term_pages=1, batch_pages=1).of("alice")
    first = alice.add("said today", "ok", at="2026-05-02T00:00:00Z")
    alice.add("said long ago", "ok", at="1999-01-01T00:00:00Z")
    alice.settle()
    assert [page.id for page in alice.pages("mid")] == [first]


def test_keys_of_a_list_and_of_another_owner_are_their_own_and_so_is_a_time_zone(
    opened: Opener, memory: Memory
) -> None:
    memory = opened()
    memory.of("alice", timezone="Asia/Tokyo").add("Hello", at="2025-01-05T10:00:00")
    memory.close()
    memory = opened()
    alice = memory.of("alice")
    alice.add("Again", at="2025-01-06T10:00:00")
    assert [page.said_at.astimezone(UTC).hour for page in alice.pages()] == [1, 1]
    bob = memory.of("bob")
    bob.add("Hello", at="2025-01-05T10:00:00")
    assert bob.pages()[0].said_at == datetime(2025, 1, 5, 10, tzinfo=UTC)

    alice, bob = memory.of("alice"), memory.of("bob")
    said = [say("user", "a"), say("assistant", "b"), say("user", "c")]
    first = alice.add_messages(said, key="k")
    assert alice.add_messages(said, key="k") == first
    assert len(first.page_ids) == 2
    assert bob.add_messages(said, key="k").page_ids != first.page_ids


def test_any_year_and_the_first_and_last_second_of_a_zone_can_be_told_settled_and_recalled_or_are_refused(
    opened: Opener,
) -> None:
    for at in ("0001-01-01T00:00:00Z", "1931-02-03T04:05:06+01:00", "9999-12-31T23:59:59Z"):
        alice = opened(short_term_pages=1).of("alice", at)
        for _ in range(6):
            alice.add("I live in Lyon with my dog.", "Good.", at=at)
        alice.settle()
        assert {page.said_at for page in alice.pages()} == {datetime.fromisoformat(at)}
        assert alice.recall("Where do I live?", at=at).hits
        assert alice.recall("Where do I live?").hits

    for zone in ("America/New_York", "Europe/Paris", "Asia/Tokyo", "UTC"):
        alice = opened().of("alice", zone, timezone=zone)
        for at in ("0001-01-01T00:00:00", "1900-01-01T12:00:00", "9999-12-31T23:59:59"):
            with contextlib.suppress(InputError):
                alice.add(at, at=at)
                assert alice.pages()[-1].query == at
        assert alice.recall("1900").hits


# ------------------------------------------------------------------------------------------------- the same again


def test_a_key_stores_one_page_of_its_owner_and_is_refused_with_other_content(
    alice: OwnerMemory, clock: Clock, memory: Memory
) -> None:
    first = alice.add("Hello", "Hi", key="k1")
    clock.go(60)
    assert alice.add("Hello", "Hi", key="k1") == first
    assert len(alice.pages()) == 1
    alice.add("Hello", "Hi")
    assert len(alice.pages()) == 2

    alice = memory.of("alice", "2")
    alice.add("Hello", "Hi", key="k1")
    with pytest.raises(KeyReused, match="'k1'"):
        alice.add("Hello", "Ho", key="k1")
    with pytest.raises(KeyReused):
        alice.add("Hello", "Hi", key="k1", thread="other")
    with pytest.raises(KeyReused):
        alice.add("Hello", "Hi", key="k1", at="2020-01-01")
    assert len(alice.pages()) == 1

    alice = memory.of("alice", "3")
    first = alice.add("Hello", key="k1")
    alice.add(None, "Hi")
    for n in range(6):
        alice.add(f"more {n}", "ok")
    alice.settle()
    assert alice.add("Hello", key="k1") == first
    assert len(alice.pages()) == 7

    alice = memory.of("alice", "4")
    for key in ("", " ", "a\x00", "k" * 600):
        with pytest.raises(InputError, match="key"):
            alice.add("Hello", key=key)
        assert alice.pages() == ()


@given(st.integers(1, 40), st.integers(1, 12))
def test_without_segments_the_newest_pages_are_short_and_all_others_pending(pages: int, short: int) -> None:
    tiers = [tier_of(placed=False, archived=False, no=no, pages=pages, short=short) for no in range(1, pages + 1)]
    assert tiers[-short:] == [Tier.SHORT] * min(pages, short)
    assert set(tiers[:-short]) <= {Tier.PENDING}
