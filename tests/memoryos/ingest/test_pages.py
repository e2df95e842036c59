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


def test_the_first_message_of_a_thread_begins_a_page() -> None:
    wrong = [role for role in list(Role) if joins(None, role)]
    assert wrong == []


def test_the_agent_s_side_joins_and_the_user_s_joins_until_it_is_answered() -> None:
    for answered in (True, False):
        for role in list(Role):
            tail = PageTail(page_id=PageId("p1"), answered=answered)
            assert joins(tail, role) is (role.agent_side or not answered)
            assert joins(tail, role, fresh=True) is role.agent_side


def test_in_a_group_each_one_s_turn_is_a_page_and_the_answer_joins_the_last(alice: OwnerMemory) -> None:
    said = [("Ann", "Hello"), ("Ann", "Who comes?"), ("Bob", "I do."), ("Cleo", "Me too."), ("Cleo", "At eight.")]
    alice.add_messages([say("user", text, name=name) for name, text in said], thread="g")
    alice.add_messages([say("assistant", "A table for four, then.")], thread="g")
    pages = [[(u.speaker, u.text) for u in page.utterances] for page in alice.pages()]
    assert pages == [said[:2], said[2:3], [*said[3:], ("assistant", "A table for four, then.")]]


def test_an_exchange_is_one_page(alice: OwnerMemory) -> None:
    page_id = alice.add("Hello", "Hi")
    (page,) = alice.pages()
    assert (page.id, page.query, page.response) == (page_id, "Hello", "Hi")
    assert [u.speaker for u in page.utterances] == ["alice", "assistant"]


def test_a_missing_side_is_missing_and_a_late_reply_joins_its_page(alice: OwnerMemory) -> None:
    first = alice.add("Are you there?")
    second = alice.add(None, "I am.")
    assert first == second
    assert shapes(alice.pages()) == [[("user", "Are you there?"), ("assistant", "I am.")]]


def test_an_exchange_given_whole_never_joins_the_open_page(alice: OwnerMemory) -> None:
    alice.add("One")
    alice.add("Two")
    alice.add("Three", "Yes")
    assert [page.query for page in alice.pages()] == ["One", "Two", "Three"]


def test_an_empty_side_counts_as_left_out_and_an_exchange_of_nothing_is_refused(alice: OwnerMemory) -> None:
    for query, response in (("", ""), (" \n", None), (None, "\t"), (None, None)):
        with pytest.raises(InputError, match="query and response are empty: there is nothing to add"):
            alice.add(query, response)
    alice.add("I row.", " ")
    alice.add("", "Where?")
    assert shapes(alice.pages()) == [[("user", "I row."), ("assistant", "Where?")]]


def test_consecutive_messages_of_one_role_are_all_kept(alice: OwnerMemory) -> None:
    texts = [say("user", "a"), say("user", "b"), say("assistant", "c"), say("assistant", "d"), say("user", "e")]
    alice.add_messages(texts)
    assert shapes(alice.pages()) == [
        [("user", "a"), ("user", "b"), ("assistant", "c"), ("assistant", "d")],
        [("user", "e")],
    ]


def test_a_reply_with_nothing_before_it_is_a_page_of_its_own(alice: OwnerMemory) -> None:
    alice.add_messages([say("assistant", "Welcome!")])
    assert shapes(alice.pages()) == [[("assistant", "Welcome!")]]


def test_tool_calls_and_their_results_stay_on_the_page(alice: OwnerMemory) -> None:
    call = {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "look", "arguments": "{}"}}]}
    alice.add_messages([say("user", "Weather?"), call, say("tool", "sunny"), say("assistant", "It is sunny.")])
    (page,) = alice.pages()
    assert page.response == "[tool call: look({})]\nsunny\nIt is sunny."


def test_two_people_talk_and_each_line_keeps_its_speaker(alice: OwnerMemory) -> None:
    said = [("user", "Caroline", "Hey Mel!"), ("assistant", "Melanie", "Hey Caroline!"), ("user", "Caroline", "News?")]
    alice.add_messages([say(role, text, name=who) for role, who, text in said])
    assert [(u.speaker, u.text) for page in alice.pages() for u in page.utterances] == [(w, t) for _, w, t in said]


def test_no_page_crosses_threads(alice: OwnerMemory) -> None:
    alice.add_messages([say("user", "a1")], thread="a")
    alice.add_messages([say("user", "b1")], thread="b")
    alice.add_messages([say("assistant", "a2")], thread="a")
    alice.add_messages([say("assistant", "b2")], thread="b")
    assert shapes(alice.pages()) == [[("user", "a1"), ("assistant", "a2")], [("user", "b1"), ("assistant", "b2")]]
    assert [{u.thread for u in page.utterances} for page in alice.pages()] == [{"a"}, {"b"}]


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


def test_last_year_s_chat_keeps_last_year_s_dates_everywhere(opened: Opener, clock: Clock) -> None:
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


def test_a_time_without_a_zone_takes_the_owner_s_and_that_is_kept(opened: Opener) -> None:
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


def test_each_message_may_carry_its_own_time(alice: OwnerMemory) -> None:
    alice.add_messages(
        [say("user", "a", at="2024-01-01T00:00:00Z"), say("assistant", "b", at=datetime(2024, 1, 2, tzinfo=UTC))],
        at="2025-05-05",
    )
    assert [u.said_at.day for u in alice.pages()[0].utterances] == [1, 2]


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00Z", "1931-02-03T04:05:06+01:00", "9999-12-31T23:59:59Z"])
def test_any_year_can_be_told_settled_and_recalled(opened: Opener, at: str) -> None:
    alice = opened(short_term_pages=1).of("alice")
    for _ in range(6):
        alice.add("I live in Lyon with my dog.", "Good.", at=at)
    alice.settle()
    assert {page.said_at for page in alice.pages()} == {datetime.fromisoformat(at)}
    assert alice.recall("Where do I live?", at=at).hits
    assert alice.recall("Where do I live?").hits


@pytest.mark.parametrize("zone", ["America/New_York", "Europe/Paris", "Asia/Tokyo", "UTC"])
def test_the_first_and_the_last_second_of_a_zone_are_kept_or_refused(opened: Opener, zone: str) -> None:
    alice = opened().of("alice", timezone=zone)
    for at in ("0001-01-01T00:00:00", "1900-01-01T12:00:00", "9999-12-31T23:59:59"):
        with contextlib.suppress(InputError):
            alice.add(at, at=at)
            assert alice.pages()[-1].query == at
    assert alice.recall("1900").hits


def test_pages_leave_by_arrival_never_by_date(opened: Opener) -> None:
    alice = opened(short_term_pages=1, batch_pages=1).of("alice")
    first = alice.add("said today", "ok", at="2026-05-02T00:00:00Z")
    alice.add("said long ago", "ok", at="1999-01-01T00:00:00Z")
    alice.settle()
    assert [page.id for page in alice.pages("mid")] == [first]


# ------------------------------------------------------------------------------------------------- the same again


def test_the_same_key_and_content_store_one_page_and_give_its_id(alice: OwnerMemory, clock: Clock) -> None:
    first = alice.add("Hello", "Hi", key="k1")
    clock.go(60)
    assert alice.add("Hello", "Hi", key="k1") == first
    assert len(alice.pages()) == 1
    alice.add("Hello", "Hi")
    assert len(alice.pages()) == 2


def test_a_key_with_other_content_is_refused_and_nothing_is_stored(alice: OwnerMemory) -> None:
    alice.add("Hello", "Hi", key="k1")
    with pytest.raises(KeyReused, match="'k1'"):
        alice.add("Hello", "Ho", key="k1")
    with pytest.raises(KeyReused):
        alice.add("Hello", "Hi", key="k1", thread="other")
    with pytest.raises(KeyReused):
        alice.add("Hello", "Hi", key="k1", at="2020-01-01")
    assert len(alice.pages()) == 1


def test_keys_of_a_list_and_of_another_owner_are_their_own(memory: Memory) -> None:
    alice, bob = memory.of("alice"), memory.of("bob")
    said = [say("user", "a"), say("assistant", "b"), say("user", "c")]
    first = alice.add_messages(said, key="k")
    assert alice.add_messages(said, key="k") == first
    assert len(first.page_ids) == 2
    assert bob.add_messages(said, key="k").page_ids != first.page_ids


def test_a_key_still_holds_after_more_was_said_and_understood(alice: OwnerMemory) -> None:
    first = alice.add("Hello", key="k1")
    alice.add(None, "Hi")
    for n in range(6):
        alice.add(f"more {n}", "ok")
    alice.settle()
    assert alice.add("Hello", key="k1") == first
    assert len(alice.pages()) == 7


def test_a_bad_key_is_refused(alice: OwnerMemory) -> None:
    for key in ("", " ", "a\x00", "k" * 600):
        with pytest.raises(InputError, match="key"):
            alice.add("Hello", key=key)
        assert alice.pages() == ()


def test_a_refused_list_stores_none_of_it(alice: OwnerMemory) -> None:
    with pytest.raises(InputError):
        alice.add_messages([say("user", "a"), say("robot", "b")])
    assert alice.pages() == ()


@given(st.integers(1, 40), st.integers(1, 12))
def test_without_segments_the_newest_pages_are_short_and_all_others_pending(pages: int, short: int) -> None:
    tiers = [tier_of(placed=False, archived=False, no=no, pages=pages, short=short) for no in range(1, pages + 1)]
    assert tiers[-short:] == [Tier.SHORT] * min(pages, short)
    assert set(tiers[:-short]) <= {Tier.PENDING}


def test_a_page_in_a_segment_is_mid_or_archive_however_new_it_is() -> None:
    assert tier_of(placed=True, archived=False, no=9, pages=9, short=7) is Tier.MID
    assert tier_of(placed=True, archived=True, no=9, pages=9, short=7) is Tier.ARCHIVE
