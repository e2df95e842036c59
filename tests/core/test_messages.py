"""What callers hand in becomes messages, or an error that names the place."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from embermem import OwnerMemory
from embermem.core import ids, injected_blocks
from embermem.core.errors import InputError
from embermem.core.messages import At, Inbox
from embermem.core.types import Message, Owner, Role
from scripted import NOW

PARIS = ZoneInfo("Europe/Paris")


def inbox(user: str = "alice", agent: str = "default", max_chars: int = 1000) -> Inbox:
    owner = Owner(id=ids.owner_id(user, agent), user=user, agent=agent)
    return Inbox(owner=owner, zone=PARIS, now=NOW, max_chars=max_chars)


def read(*messages: dict[str, Any], at: At = None) -> list[Message]:
    return inbox().openai(messages, at, "main")[0]


def text(content: Any, **more: Any) -> str:
    return read({"role": "user", "content": content, **more})[0].text


def test_each_role_of_openai_is_known_and_has_a_speaker() -> None:
    cases: list[tuple[str, Role, str]] = [
        ("user", Role.USER, "alice"), ("assistant", Role.ASSISTANT, "assistant"), ("system", Role.SYSTEM, "system"),
        ("developer", Role.SYSTEM, "system"), ("tool", Role.TOOL, "tool"), ("function", Role.TOOL, "tool"),
    ]  # fmt: skip
    for role, kept, speaker in cases:
        (message,) = read({"role": role, "content": "Hello"})
        assert (message.role, message.speaker, message.text) == (kept, speaker, "Hello")


def test_a_name_is_the_speaker_and_an_agent_speaks_in_its_own() -> None:
    assert read({"role": "user", "name": "Melanie", "content": "Hi"})[0].speaker == "Melanie"
    assert inbox(agent="tutor").openai([{"role": "assistant", "content": "Hi"}], None, "main")[0][0].speaker == "tutor"


def test_a_list_content_keeps_its_texts_and_names_what_is_no_text() -> None:
    content = [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": "https://example.org/heron.jpg"}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "input_audio", "input_audio": {"data": "AAAA", "transcript": "a heron"}},
        {"type": "file", "file": {"filename": "birds.pdf"}}, {"type": "refusal", "refusal": "I cannot."},
        {"type": "poll", "options": ["heron", "crane"]}, "plain",
    ]  # fmt: skip
    assert text(content).split("\n") == [
        "What is this?", "[image: https://example.org/heron.jpg]", "[image]", "[audio: a heron]", "[file: birds.pdf]",
        "I cannot.", '[poll: {"type": "poll", "options": ["heron", "crane"]}]', "plain",
    ]  # fmt: skip


def test_tool_calls_are_kept_as_text() -> None:
    (message,) = read(
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "1", "type": "function", "function": {"name": "sum", "arguments": '{"a": 1}'}}],
            "function_call": {"name": "old", "arguments": {"b": "é"}},
        }
    )
    assert message.text == '[tool call: sum({"a": 1})]\n[tool call: old({"b": "é"})]'


def test_a_message_that_says_nothing_is_refused_with_its_place_and_a_tools_empty_result_is_kept() -> None:
    said = {"role": "user", "content": "I row."}
    thought = [{"type": "thinking", "thinking": "hm"}, {"type": "redacted_thinking", "data": "x"}]
    for empty in ("", " \n", None, [], [{"type": "text", "text": " "}], thought):
        for role in ("user", "assistant", "system"):
            with pytest.raises(InputError, match=r"messages\[1\] is empty: give it a content, or leave it out"):
                read(said, {"role": role, "content": empty})
        assert read(said, {"role": "tool", "content": empty})[1].text == "[no output]"
    calls = [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    for more in ({"tool_calls": calls}, {"original": {"kind": "sticker"}}, {"content": [{"type": "image_url"}]}):
        assert read({"role": "assistant", "content": "", **more})
    assert read({"role": "assistant", "content": [*thought, {"type": "text", "text": "Yes."}]})[0].text == "Yes."


def test_bad_messages_are_refused_with_the_place_named() -> None:
    cases: list[tuple[Any, str]] = [
        ("Hello", "messages must be a list of mappings"), ({"role": "user"}, "messages must be a list of mappings"),
        (None, "messages must be a list of mappings"), ([], "messages is empty"),
        (["Hello"], r"messages\[0\] is str, not a mapping"),
        (
            [{"role": "user", "content": "a"}, {"content": "b"}],
            r"messages\[1\]\.role = None is not allowed; one of: user",
        ),
        ([{"role": "robot", "content": "a"}], r"messages\[0\]\.role = 'robot'"),
        ([{"role": ["user"], "content": "a"}], r"messages\[0\]\.role"),
        ([{"role": "user", "content": 7}], r"messages\[0\]\.content is int"),
        ([{"role": "user", "content": b"a"}], r"messages\[0\]\.content is bytes"),
        ([{"role": "user", "content": [7]}], r"messages\[0\]\.content holds a part of type int"),
        ([{"role": "user", "content": "a", "name": 7}], r"messages\[0\]\.name = 7 is not a name"),
        ([{"role": "user", "content": "a", "name": " "}], r"messages\[0\]\.name"),
        ([{"role": "user", "content": "a", "timestamp": 1.0}], r"messages\[0\]\.timestamp is not read; .* as `at`"),
        (
            [{"role": "user", "content": "a"}, {"role": "user", "content": "b", "Name": "Ana"}],
            r"messages\[1\]\.Name is unknown \(did you mean name\?\); known: role, content, name, at, metadata",
        ),
        ([{"role": "user", "content": "a", "importance": 3}], r"messages\[0\]\.importance is unknown; known: role"),
        ([{"role": "user", "content": "a", 7: "b"}], r"messages\[0\]\.7 is unknown; known: role"),
        ([{"role": "user", "content": "a", "at": "yesterday"}], r"messages\[0\]\.at = 'yesterday' is not a time"),
        ([{"role": "user", "content": "a\x00b"}], r"messages\[0\]\.content has a NUL character at 1"),
        ([{"role": "user", "content": "a\ud800"}], r"messages\[0\]\.content has half of a surrogate pair at 1"),
        (
            [{"role": "user", "content": "a" * 1001}],
            r"messages\[0\]\.content has 1,001 characters, more than the 1,000",
        ),
    ]  # fmt: skip
    for messages, said in cases:
        with pytest.raises(InputError, match=said):
            inbox().openai(messages, None, "main")


def test_what_other_forms_of_messages_carry_beside_the_words_is_left_out() -> None:
    answer: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "model": "m",
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 3},
    }
    answer |= {"annotations": [], "reasoning_content": "hm", "cache_control": {"type": "ephemeral"}, "nothing": None}
    assert read({"role": "assistant", "content": "Yes.", **answer}) == read({"role": "assistant", "content": "Yes."})


def test_a_bad_exchange_is_refused_with_the_side_named() -> None:
    cases: list[tuple[Any, Any, str]] = [
        (None, None, "query and response are empty"), (7, None, "query is int, not text"),
        ("a", b"b", "response is bytes, not text"), ("a\x00", None, "query has a NUL"),
        ("a" * 1001, None, "query has 1,001"),
    ]  # fmt: skip
    for query, response, said in cases:
        with pytest.raises(InputError, match=said):
            inbox().exchange(query, response, None, "main")


def test_a_bad_thread_is_refused() -> None:
    threads: list[Any] = ["", "  ", None, 7, "a\x00", "x" * 600]
    for thread in threads:
        with pytest.raises(InputError, match="thread"):
            inbox().exchange("Hello", None, None, thread)


def test_a_time_has_its_zone_or_takes_the_owner_s() -> None:
    cases: list[tuple[At, datetime]] = [
        (None, NOW), ("2025-01-05T10:00:00+02:00", datetime(2025, 1, 5, 8, tzinfo=UTC)),
        ("2025-01-05T10:00:00Z", datetime(2025, 1, 5, 10, tzinfo=UTC)),
        ("2025-01-05T10:00:00", datetime(2025, 1, 5, 9, tzinfo=UTC)),  # Paris in winter
        ("2025-07-05 10:00", datetime(2025, 7, 5, 8, tzinfo=UTC)),  # and in summer
        ("2025-07-05", datetime(2025, 7, 4, 22, tzinfo=UTC)), (date(2025, 7, 5), datetime(2025, 7, 4, 22, tzinfo=UTC)),
        (datetime(2025, 7, 5, 10), datetime(2025, 7, 5, 8, tzinfo=UTC)),
        (datetime(2025, 7, 5, 10, tzinfo=timezone(timedelta(hours=-5))), datetime(2025, 7, 5, 15, tzinfo=UTC)),
        ("1931-02-03T04:05:06+00:00", datetime(1931, 2, 3, 4, 5, 6, tzinfo=UTC)),
        ("9999-12-31T23:59:59+00:00", datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)),
    ]  # fmt: skip
    for at, meant in cases:
        moment = inbox().moment(at, "at")
        assert moment == meant
        assert moment.utcoffset() is not None


def test_what_is_no_time_or_cannot_be_stored_is_refused() -> None:
    cases: list[Any] = ["soon", "", 1714644000, "2025-13-01", "0001-01-01T00:00:00+05:00", "9999-12-31T23:00:00-05:00"]
    for at in cases:
        with pytest.raises(InputError, match="at = "):
            inbox().moment(at, "at")


def test_the_digest_is_of_what_was_given_not_of_when_it_came() -> None:
    def digest(query: str, at: At, now: datetime) -> str:
        owner = Owner(id=ids.owner_id("alice", "default"), user="alice", agent="default")
        return Inbox(owner=owner, zone=PARIS, now=now, max_chars=100).exchange(query, "b", at, "main")[1]

    later = NOW + timedelta(hours=1)
    assert digest("a", None, NOW) == digest("a", None, later)
    assert digest("a", "2025-01-01", NOW) == digest("a", "2025-01-01", later)
    assert digest("a", "2025-01-01", NOW) != digest("a", "2025-01-02", NOW)
    assert digest("a", None, NOW) != digest("aa", None, NOW)


def test_an_owner_s_id_is_of_both_names_and_of_where_one_ends() -> None:
    pairs = [("a", "b:c"), ("a:b", "c"), ("ab", "c"), ("a", "bc"), ("a", "b"), ("b", "a"), ("a/b", "c"), ("a", "b/c")]
    assert len({ids.owner_id(user, agent) for user, agent in pairs}) == len(pairs)


def test_ids_made_later_sort_later_and_none_comes_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    made = [ids.new_id("p") for _ in range(2000)]
    before = time.time_ns() - 3_600_000_000_000
    monkeypatch.setattr(time, "time_ns", lambda: before)  # the clock is set back
    made += [ids.new_id("p") for _ in range(10)]
    assert len(set(made)) == 2010
    assert made == sorted(made)
    assert all(len(one) == 25 and one.startswith("p") for one in made)


def test_a_models_reasoning_is_not_part_of_what_it_said(alice: OwnerMemory) -> None:
    code = "Write:\n```\n</think>\n```\nand go on."
    for reply, kept in (
        ("<think>hm</think>Plain", "Plain"),
        ("hm.\n</think>\n\nPlain", "Plain"),
        ("Plain\n<think>hm</think>\nand simple", "Plain\nand simple"),
        ('<details type="reasoning" done="true">\n<summary>Thought</summary>\nhm\n</details>\nPlain', "Plain"),
        ("```\n<think>hm</think>\n```", "```\n<think>hm</think>\n```"),
        (code, code),
        ("The mark `<think>` opens it.", "The mark `<think>` opens it."),
    ):
        messages, *_ = inbox().exchange("Hi", reply, None, "main")
        assert [one.text for one in messages] == ["Hi", kept]
        for content in (reply, [{"type": "text", "text": reply}]):
            assert read({"role": "assistant", "content": content})[0].text == kept
        assert read({"role": "user", "content": reply})[0].text == reply
    with pytest.raises(InputError, match=r"messages\[0\] has nothing but a model's reasoning, which is not kept"):
        read({"role": "assistant", "content": "<think>hm"})
    calls = [{"function": {"name": "f", "arguments": "{}"}}]
    assert read({"role": "assistant", "content": "<think>hm", "tool_calls": calls})[0].text == "[tool call: f({})]"
    alice.add("Hi", "<think>hm</think>")
    assert [one.text for one in alice.utterances()] == ["Hi"]
    with pytest.raises(InputError, match="are empty"):
        alice.add(None, "<think>hm</think>")


def test_refusals_spoken_words_and_custom_tools_are_kept(alice: OwnerMemory) -> None:
    alice.add_messages(
        [
            {"role": "user", "content": "Sing it."},
            {"role": "assistant", "content": None, "refusal": "I would rather not."},
            {"role": "assistant", "content": None, "audio": {"id": "a", "transcript": "La la la."}},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": "1", "type": "custom", "custom": {"name": "grep", "input": "heron"}}],
            },
        ]
    )
    (page,) = alice.pages()
    assert [u.text for u in page.utterances] == [
        "Sing it.", "I would rather not.", "La la la.", "[tool call: grep(heron)]",
    ]  # fmt: skip


def test_what_ember_put_into_a_prompt_is_taken_out_of_metadata_too() -> None:
    key = bytes(32)
    block = injected_blocks.wrap("You live in Lyon.", key)
    owner = Owner(id=ids.owner_id("alice", "default"), user="alice", agent="default")
    box = Inbox(owner=owner, zone=PARIS, now=NOW, max_chars=1000, nonce_key=lambda: key)
    labels = {"note": f"a{block}b", "tags": [block, "c"], "n": 1}
    message = {"role": "user", "content": "Hello", "metadata": labels}
    (read,), _, _ = box.openai([message], None, "main")
    assert read.metadata == {"note": "ab", "tags": ("", "c"), "n": 1}
