"""Every format that `ingest` reads, and every way in which a line can be bad."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime

import pytest

from embermem.core.errors import InputError
from embermem.transfer.conversations import Format, Source, read
from embermem.transfer.items import BadLine, Entry


def sources(text: str | bytes, form: Format = Format.AUTO, me: str | None = None) -> list[Source]:
    return read(io.BytesIO(text.encode() if isinstance(text, str) else text), form, me)


def entries(text: str | bytes, me: str | None = None) -> list[Entry]:
    (source,) = sources(text, me=me)
    found = list(source.items)
    assert all(isinstance(item, Entry) for item in found), found
    return [item for item in found if isinstance(item, Entry)]


def bad(text: str | bytes) -> BadLine:
    (source,) = sources(text)
    (found,) = [item for item in source.items if isinstance(item, BadLine)]
    return found


def pairs(found: list[Entry]) -> list[tuple[str, object]]:
    return [(entry.role, entry.content) for entry in found]


def test_json_lines_of_messages_keep_role_name_time_and_thread() -> None:
    line = {"role": "user", "content": "hi", "name": "Ana", "at": "2026-05-02T10:00:00+02:00", "thread": "s1"}
    (entry,) = entries(json.dumps(line))
    assert (entry.role, entry.content, entry.name, entry.thread) == ("user", "hi", "Ana", "s1")
    assert entry.at == datetime(2026, 5, 2, 8, tzinfo=UTC)
    assert entry.place == "line 1"


def test_times_and_threads_are_read_under_every_name_that_the_guide_lists_and_other_keys_are_named() -> None:
    for key in ("at", "time", "timestamp", "date", "datetime", "created_at", "sent_at", "ts"):
        for line in ({"role": "user", "content": "hi"}, {"query": "hi"}):
            (entry,) = entries(json.dumps({**line, key: 86400, "session_id": "s1"}))
            assert (entry.at, entry.thread, entry.unread) == (datetime(1970, 1, 2, tzinfo=UTC), "s1", ()), key
    lines = ({"role": "user", "content": "hi", "mood": "glad", "model": None}, {"query": "a", "response": "b", "n": 1})
    found = entries("\n".join(map(json.dumps, lines)))
    assert [one.unread for one in found] == [("mood",), ("n",), ()]
    whole = {"messages": [{"role": "user", "content": "a", "x": 1}, {"role": "user", "content": "b"}], "title": "T"}
    for text in (json.dumps(whole), json.dumps(whole, indent=1)):
        assert [one.unread for one in entries(text)] == [("x", "title"), ()]


def test_no_line_by_itself_decides_how_the_others_are_read() -> None:
    good = '{"role": "user", "content": "a"}\n' * 3
    for first in ("# comment", "# Note: an export", "{broken", "", "Ana: hello", "[1] x"):
        (source,) = sources(f"{first}\n{good}")
        found = list(source.items)
        assert [one.content for one in found if isinstance(one, Entry)] == ["a"] * 3, first
        assert [one.place for one in found if isinstance(one, BadLine)] == (["line 1"] if first else [])
    (source,) = sources("Ana: hello\nBo: hi\n" + '{"role": "user", "content": "a"}\n')
    assert [one.place for one in source.items if isinstance(one, BadLine)] == ["line 3"]


def test_json_lines_of_exchanges_become_two_messages() -> None:
    found = entries('{"query": "a", "response": "b", "thread": 3}\n\n{"query": null, "response": "c"}\n{"query": "d"}')
    assert pairs(found) == [("user", "a"), ("assistant", "b"), ("assistant", "c"), ("user", "d")]
    assert [entry.thread for entry in found] == ["3", "3", None, None]


def test_json_lines_may_hold_whole_lists_of_messages() -> None:
    found = entries('{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}\n' * 2)
    assert pairs(found) == [("user", "a"), ("assistant", "b")] * 2


def test_seconds_since_1970_are_a_time() -> None:
    (entry,) = entries('{"role": "user", "content": "a", "at": 86400}')
    assert entry.at == datetime(1970, 1, 2, tzinfo=UTC)


def test_a_json_list_of_messages_is_read_on_one_line_and_on_many() -> None:
    cases: list[int | None] = [None, 2]
    for indent in cases:
        messages = [
            {"role": "user", "content": [{"type": "text", "text": "look"}]},
            {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
            {"role": "developer", "content": "be brief"},
        ]
        found = entries(json.dumps(messages, indent=indent))
        assert pairs(found) == [
            ("user", [{"type": "text", "text": "look"}]),
            ("assistant", None),
            ("system", "be brief"),
        ]
        assert found[1].message()["tool_calls"] == [{"id": "1"}]


def test_lines_of_names_make_the_first_to_speak_the_user() -> None:
    found = entries("Ana: hello: you\nBo: hi\n\n  and more\nAna:\n\tnext line\n王芳：你好\n")
    assert [(e.role, e.name, e.content) for e in found] == [
        ("user", "Ana", "hello: you"),
        ("assistant", "Bo", "hi\nand more"),
        ("user", "Ana", "\nnext line"),
        ("assistant", "王芳", "你好"),
    ]
    assert (bad("Ana: hello\nBo:\nAna: hi").place, bad("Ana: hello\nBo:").what) == ("line 2", "the message is empty")
    assert [one.content for one in entries('{"query": "hi", "response": " "}')] == ["hi"]


def test_lines_of_names_know_the_names_of_roles_and_who_i_am() -> None:
    assert pairs(entries("Assistant: hi\nUser: yo\n用户：喂")) == [("assistant", "hi"), ("user", "yo"), ("user", "喂")]
    found = entries("Ana: hello\nBo: hi", me="Bo")
    assert [(e.role, e.name) for e in found] == [("assistant", "Ana"), ("user", "Bo")]


def test_a_byte_order_mark_and_carriage_returns_do_no_harm() -> None:
    assert pairs(entries(b'\xef\xbb\xbf{"role": "user", "content": "a"}\r\n')) == [("user", "a")]
    assert pairs(entries(b"\xef\xbb\xbfAna: hello\r\n")) == [("user", "hello")]


def test_an_empty_file_holds_nothing() -> None:
    assert entries("") == []
    assert entries("\n \n") == []


def test_a_bad_json_line_says_where_what_and_what_to_do() -> None:
    cases: list[tuple[str | bytes, str]] = [
        ('{"role": "user", "content": ', "not JSON"),
        ('{"role": "ghost", "content": "a"}', "role is 'ghost'"),
        ('{"role": "user"}', "content is missing"),
        ('{"role": "user", "content": 7}', "content is of type int"),
        ('{"role": "user", "content": "a", "at": "yesterday"}', "at is 'yesterday'"),
        ('{"role": "user", "content": "a", "at": 1e99}', "at is 1e+99"),
        ('{"role": "user", "content": "a", "timestamp": "yesterday"}', "timestamp is 'yesterday'"),
        ('{"role": "user", "content": "a", "at": 1, "time": 2}', "at and time differ"),
        ('{"role": "user", "content": "a", "name": ["b"]}', "name is of type list"),
        ('{"role": "user", "content": "\\ud800"}', "surrogate"),
        ('{"role": "user", "content": "\\u0000"}', "NUL"),
        ('{"role": "user", "content": [{"type": "text", "text": "\\u0000"}]}', "NUL"),
        ('{"role": "user", "content": "a", "thread": "' + "t" * 600 + '"}', "the thread has 600 characters"),
        ('{"role": "user", "content": "' + "x" * 1_000_001 + '"}', "the text has 1,000,001 characters"),
        ('{"text": "a"}', "neither a role nor a query"),
        ('{"query": null, "response": null}', "query and response are empty"),
        ("17", "a int, not an object"),
        (b'{"role": "user", "content": "\xff"}', "not UTF-8"),
    ]
    for line, what in cases:
        good = b'{"role": "user", "content": "a"}\n'
        assert entries(good + b'{"role": "user", "content": "a literal \\\\u0000"}')
        found = bad(good + (line.encode() if isinstance(line, str) else line) + b"\n" + good)
        assert found.place == "line 2"
        assert what in found.what
        assert found.advice


def test_a_line_without_a_name_is_bad() -> None:
    found = bad("Ana: hello\nno name here\nBo: hi")
    assert (found.place, "no name" in found.what, "Name: text" in found.advice) == ("line 2", True, True)


def test_each_conversation_of_a_recall_set_is_a_source_of_its_own() -> None:
    turn = {"id": "1", "speaker": "Ana", "role": "user", "at": "2026-01-01", "text": "hi"}
    one = {"id": "a", "threads": [{"id": "t", "at": "2026-01-01", "turns": [turn]}], "questions": []}
    first, second = sources(json.dumps({"name": "n", "conversations": [one, {**one, "id": "b"}]}))
    (entry,) = first.items
    assert isinstance(entry, Entry)
    assert (first.name, second.name, entry.thread, entry.name) == ("a", "b", "t", "Ana")
    assert entry.at == datetime(2026, 1, 1, tzinfo=UTC)


def test_a_document_that_cannot_be_understood_is_refused_whole() -> None:
    cases: list[str] = ['{"conversations": [{"id": "a", "threads": 3}]}', "[1, 2", '{\n"role": 1\n}']
    for text in cases:
        with pytest.raises(InputError):
            [list(source.items) for source in sources(text, Format.MESSAGES)]
