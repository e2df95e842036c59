"""Whatever the public face gives or takes travels: pickled, copied, as JSON, through pydantic; and is printed."""

from __future__ import annotations

import asyncio
import copy
import functools
import html.parser
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from embermem import Memory
from embermem.core.changes import Change, UndoPlan
from embermem.core.config import Settings
from embermem.core.errors import InputError
from embermem.core.fields import Field
from embermem.core.record import Record
from embermem.core.types import Context, Fact, Scope, Segment, Utterance
from public_records import HOSTILE, enums, made_up, records

NOT_READ = (Change, UndoPlan)
"""Decisions are of many kinds; the log is read back by import."""


@functools.cache
def tried() -> list[type[Any]]:
    """The records that are made up here."""
    return [one for one in records() if one not in (Settings, Field)]


def test_the_kinds_that_callers_know_are_among_those_that_are_found() -> None:
    names = {one.__name__ for one in tried()}
    assert names >= {"Context", "Hit", "Fact", "Segment", "Page", "Forgotten", "ChatReply", "Call", "Finding", "ApiKey"}
    assert len(names) > 60


def test_a_record_is_pickled_copied_compared_and_hashed() -> None:
    for kind in tried():
        one = made_up(kind)
        assert isinstance(one, Record)
        for again in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one), copy.copy(one)):
            assert again == one
            assert type(again) is kind
        assert one != made_up(kind, "another") or "a text" not in repr(made_up(kind))
        assert hash(copy.deepcopy(one)) == hash(one)


def test_a_record_is_json_and_comes_back_equal() -> None:
    for kind in tried():
        one = made_up(kind)
        told = json.dumps(one.to_dict(), allow_nan=False)
        if kind in NOT_READ:
            continue
        assert kind.from_dict(json.loads(told)) == one


def test_a_record_goes_through_pydantic_both_ways() -> None:
    pydantic = pytest.importorskip("pydantic")
    for kind in tried():
        one, adapter = made_up(kind), pydantic.TypeAdapter(kind)
        if kind not in NOT_READ:
            assert adapter.validate_json(adapter.dump_json(one)) == one
            assert adapter.validate_python(adapter.dump_python(one)) == one
        assert adapter.json_schema()


def _without_arguments(route: Callable[[], Any]) -> Callable[[], Any]:
    def answer() -> Any:
        return route()

    return answer


def test_fastapi_serves_every_record_and_describes_it() -> None:
    fastapi, httpx2 = pytest.importorskip("fastapi"), pytest.importorskip("httpx2")
    app = fastapi.FastAPI()
    for kind in tried():
        route = functools.partial(made_up, kind, "a text", 0)
        app.get(f"/{kind.__module__}/{kind.__name__}", response_model=kind)(_without_arguments(route))

    async def asked() -> None:
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://test") as client:
            for kind in tried():
                answer = await client.get(f"/{kind.__module__}/{kind.__name__}")
                assert answer.status_code == 200, kind
            assert (await client.get("/openapi.json")).status_code == 200

    asyncio.run(asked())


def test_a_record_is_printed_on_one_short_line() -> None:
    for kind in tried():
        for text in ["a text", HOSTILE]:
            line = repr(made_up(kind, text))
            assert line.startswith(f"{kind.__name__}(")
            assert len(line) <= 120
            assert line.isprintable()


class _Tags(html.parser.HTMLParser):
    """What a browser would see as markup, and as text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_record_in_a_notebook_has_text_of_users_as_text_only() -> None:
    for kind in tried():
        one = made_up(kind, HOSTILE)
        seen = _Tags()
        shown = one._repr_html_()
        seen.feed(shown)
        assert seen.tags <= {"table", "caption", "tbody", "tr", "th", "td", "b", "br", "pre"}
        assert seen.attributes <= {"style", "scope", "dir"}
        assert "color" not in shown
        assert "background" not in shown
        assert not {"\x00", "\x1b", "\u202e"} & set(shown)


def test_a_context_in_a_notebook_shows_its_text_whole_and_its_hits_a_line_each() -> None:
    context = made_up(Context, "I live in Lyon.\nSince May.")
    seen = _Tags()
    seen.feed(context._repr_html_())
    assert "I live in Lyon.\nSince May." in seen.text
    assert repr(context.hits[0]) in seen.text


def test_a_word_that_is_one_of_a_few_is_a_text() -> None:
    for kind in enums():
        for one in kind:
            assert pickle.loads(pickle.dumps(one)) is one
            assert copy.deepcopy(one) is one
            assert json.loads(json.dumps(one)) == one
            assert kind(str(one)) is one


def test_settings_and_fields_of_ones_own_are_pickled_copied_and_compared() -> None:
    for one in (Settings(), Field("level", type="number", units=("kg",))):
        assert pickle.loads(pickle.dumps(one)) == copy.deepcopy(one) == one


def test_what_is_no_record_is_refused_with_its_place() -> None:
    cases: list[tuple[type[Any], Any, str]] = [
        (Fact, {}, "this is not a Fact: .*required field `id`"),
        (Utterance, [], "this is not a Utterance: Expected `object`, got `array`"),
        (Segment, "s1", "this is not a Segment: Expected `object`, got `str`"),
        (Context, {"text": 3}, r"this is not a Context: Expected `str`, got `int` - at `\$.text`"),
        (Scope, {"thread": "s1"}, "scope.thread is not known; one of: threads"),
        (Change, {"no": 1}, "a Change is not read from JSON"),
    ]
    for kind, value, told in cases:
        with pytest.raises(InputError, match=told):
            kind.from_dict(value)


def test_the_command_line_prints_the_same_json(tmp_path: Path) -> None:
    from running import run

    place = tmp_path / "memory.db"
    with Memory(place, embedder="hashed", background=False) as memory:
        alice = memory.of("alice")
        alice.add("I live in Lyon.", "Since when?", at="2026-05-02T10:00:00Z")
        alice.settle()
        fact = alice.facts()[0].id
        told = {"EMBERMEM_USER": "alice"}
        assert run(place, "recall", "Where do I live?", "--json", more=told).json == _as_read(
            alice.recall("Where do I live?")
        )
        assert run(place, "why", fact, "--json", more=told).json == _as_read(alice.why(fact))


def _as_read(record: Record) -> object:
    return json.loads(json.dumps(record.to_dict()))
