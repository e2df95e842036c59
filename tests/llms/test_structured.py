"""Schemas for types, and answers from the text of replies."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from embermem.llms.structured import WrongAnswer, follows, read_answer, reply_schema, shown
from embermem.testing.wire import problem


class Mood(StrEnum):
    GOOD = "good"
    BAD = "bad"


@dataclass(frozen=True, kw_only=True)
class Item:
    """A docstring that no model need read."""

    page: Annotated[int, msgspec.Meta(ge=0, description="its number")]
    kind: Literal["a", "b"] = "a"
    note: str | None = None


@dataclass(frozen=True, kw_only=True)
class Answer:
    items: tuple[Item, ...] = ()
    best: Item | None = None
    mood: Mood = Mood.GOOD
    words: tuple[str, ...] = ()


GOOD = {"items": [{"page": 1, "kind": "b", "note": None}], "best": None, "mood": "bad", "words": ["x"]}
READ = Answer(items=(Item(page=1, kind="b"),), mood=Mood.BAD, words=("x",))
BARE = json.dumps(GOOD)

# ------------------------------------------------------------------------------------------------------------ schemas


def test_a_schema_stands_by_itself_and_is_what_strict_mode_wants() -> None:
    schema = reply_schema(Answer)
    text = shown(schema)
    assert "$ref" not in text
    named = {"name": schema.name, "strict": True, "schema": schema.schema}
    format = {"type": "json_schema", "json_schema": named}
    message = {"role": "user", "content": "?"}
    assert problem({"model": "m", "messages": [message], "response_format": format}) is None


def test_a_schema_is_short() -> None:
    text = shown(reply_schema(Answer))
    assert "docstring" not in text
    assert "title" not in text
    assert "default" not in text
    assert '"description":"its number"' in text
    assert '"type":["string","null"]' in text
    assert len(text) < 0.8 * len(json.dumps(msgspec.json.schema(Answer), separators=(",", ":")))


class Tricky(msgspec.Struct):
    properties: str
    required: str


def test_a_field_may_be_named_like_a_word_of_schemas() -> None:
    assert '"properties":{"properties":{"type":"string"},"required":{"type":"string"}}' in shown(reply_schema(Tricky))
    assert read_answer('{"properties": "a", "required": "b"}', Tricky) == Tricky(properties="a", required="b")


def test_every_property_has_a_type() -> None:
    names = reply_schema(Answer).schema["properties"]
    assert names["mood"] == {"enum": ["bad", "good"], "type": "string"}


@dataclass(frozen=True, kw_only=True)
class Loop:
    below: tuple[Loop, ...] = ()


class Open(msgspec.Struct):
    names: dict[str, int]


class Anything(msgspec.Struct):
    value: Any


class Pair(msgspec.Struct):
    both: tuple[int, str]


class AnyList(msgspec.Struct):
    values: list[Any]


def test_a_type_that_no_strict_schema_describes_is_refused() -> None:
    for answer in [Loop, Open, Anything, Pair, AnyList, int]:
        with pytest.raises(TypeError):
            reply_schema(answer)


# ------------------------------------------------------------------------------------------------------------ answers


def test_an_answer_is_found_wherever_it_stands() -> None:
    cases = [
        BARE, f"```json\n{BARE}\n```", f"```\n{BARE}\n```\nI hope this helps.",
        f"Sure {{as asked}}, see [1]:\n\n{BARE}\n\nShall I go on? :-}}", f"{BARE}\n\nThe same again:\n{BARE}",
        json.dumps({**GOOD, "remark": "more than asked"}), json.dumps(GOOD, indent=2),
        json.dumps({"type": "object", "properties": GOOD}), json.dumps({"answer": GOOD}),
        json.dumps({"remark": "as asked", "answer": GOOD}), f"[{BARE}]",
        json.dumps({key.upper(): value for key, value in GOOD.items()}),
        json.dumps({**GOOD, "items": [{"Page": 1, "KIND": "b", "note": None}]}),
    ]  # fmt: skip
    assert {text: got for text in cases if (got := read_answer(text, Answer)) != READ} == {}


@dataclass(frozen=True, kw_only=True)
class Notes:
    pages: tuple[Item, ...]


def test_where_the_answer_is_one_list_the_list_or_an_item_stands_for_it() -> None:
    cases: list[tuple[str, list[int]]] = [
        ('[{"page": 1, "kind": "b"}, {"page": 2, "kind": "a"}]', [1, 2]),
        ('{"page": 1, "kind": "b", "note": null}', [1]),
        ('{"notes": {"Pages": [{"Page": 3}]}}', [3]),
        ('{"type": "object", "properties": {"pages": [{"page": 1}]}, "required": ["pages"]}', [1]),
    ]
    assert {
        text: got for text, pages in cases if (got := [item.page for item in read_answer(text, Notes).pages]) != pages
    } == {}


def test_a_part_that_could_be_something_else_does_not_stand_for_the_list() -> None:
    cases = ['{"page": 1}', "[]", '[{"page": 1}, 2]', '[{"page": 1}, {"knd": "b"}]']
    for text in cases:
        with pytest.raises(WrongAnswer):
            read_answer(text, Notes)


def test_a_text_follows_the_schema_if_it_holds_an_object_with_its_keys() -> None:
    cases = [
        (BARE, True), (f"Sure:\n{BARE}", True), ('{"answer": {"mood": "bad"}}', True),
        ('{"type": "object", "properties": {"mood": {"type": "string"}}}', False), ('{"mood": ["bad"]}', False),
        ("I would rather not say.", False), ("{}", False), ('{"mood": "ba', False),
    ]  # fmt: skip
    assert {text: got for text, does in cases if (got := follows(text, reply_schema(Answer).schema)) is not does} == {}


def test_a_field_with_a_default_may_be_missing() -> None:
    assert read_answer('{"mood": "bad"}', Answer) == Answer(mood=Mood.BAD)


def test_a_line_break_inside_a_string_is_a_line_break() -> None:
    assert read_answer('{"words": ["one\ntwo"]}', Answer).words == ("one\ntwo",)


def test_what_could_be_misread_is_refused_in_words_for_the_model() -> None:
    cases = [
        ("I would rather not say.", "no JSON object"), ("", "no JSON object"),
        (f"[{BARE}, {json.dumps({**GOOD, 'mood': 'good'})}]", "is a list"), ("[[{}]]", "is a list"),
        ("[" * 300_000, "no JSON object"), ("{" * 300_000, "no JSON object"), ("[ " * 300_000 + "{}", "too deeply"),
        (json.dumps(reply_schema(Answer).schema), "the schema itself"), (BARE[:-2], "is incomplete"),
        (BARE[: BARE.index("kind") + 2], "is incomplete"), ("{'mood': 'bad'}", "no JSON object"),
        ('{"mood": "bad",}', "not well formed"), ('{"mood": "bad", "mood": "good"}', "twice"),
        ('{"items": [{"page": NaN}]}', "NaN"), ('{"items": [{"page": "1"}]}', "int"),
        ('{"items": [{"page": -1}]}', ">= 0"), ('{"words": null}', "null"), ('{"mood": "fine"}', "fine"),
        ("{}", "none of the keys"), ('{"one": {"mood": "bad"}, "other": {"mood": "good"}}', "none of the keys"),
        ('{"Mood": "bad", "MOOD": "good"}', "none of the keys"),
        ('{"type": "object", "properties": {"mood": {"type": "string"}}}', "the schema itself"),
        ('{"word": ["x"], "mood": "bad"}', "'word'"), ('{"items": [{"page": 1, "knd": "b"}]}', "$.items[0]"),
        ('{"best": {"page": 1, "knd": "b"}}', "$.best"), ('{"words": ["\\ud83d"]}', "half a character"),
        ('{"mood": "bad"} or rather {"mood": "good"}', "several"), ('{"words": ' + "[" * 100_000, "too deeply"),
    ]  # fmt: skip
    for text, why in cases:
        with pytest.raises(WrongAnswer) as wrong:
            read_answer(text, Answer)
        assert why in str(wrong.value)
        assert len(str(wrong.value)) < 400


TEXT = st.text(st.characters(codec="utf-8"))
ANSWERS = st.builds(
    Answer,
    items=st.lists(
        st.builds(
            Item,
            page=st.integers(0, 2**40),
            kind=st.sampled_from(["a", "b"]),
            note=st.none() | TEXT,
        ),
        max_size=4,
    ).map(tuple),
    mood=st.sampled_from(Mood),
    words=st.lists(TEXT, max_size=4).map(tuple),
)


@given(
    answer=ANSWERS,
    before=st.sampled_from(["", "Here: ", "```json\n", "{x} [2] "]),
    after=st.sampled_from(["", "\n```"]),
)
@example(answer=Answer(words=('{"mood": "bad"}', "```", "</think>")), before="```json\n", after="\n```")
def test_an_answer_written_down_is_read_back_as_it_was(answer: Answer, before: str, after: str) -> None:
    assert read_answer(before + msgspec.json.encode(answer).decode() + after, Answer) == answer


@given(answer=ANSWERS, cut=st.floats(0, 1, exclude_max=True))
def test_a_part_of_an_answer_is_never_taken_for_the_whole(answer: Answer, cut: float) -> None:
    text = msgspec.json.encode(answer).decode()
    with pytest.raises(WrongAnswer):
        read_answer(text[: int(len(text) * cut)], Answer)


@given(text=st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        read_answer(text, Answer)
    except WrongAnswer:
        return
