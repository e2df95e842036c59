from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embermem.core.errors import InputError, StoreCorrupt
from embermem.core.originals import MAX_BYTES, MAX_DEPTH, json_of, texts, value_of, with_texts

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
    max_leaves=20,
)


@given(VALUES.filter(lambda value: value is not None))
def test_any_json_value_comes_back_as_it_was_its_names_in_order(value: Any) -> None:
    text = json_of(value, "original")
    assert text is not None
    assert repr(value_of(text)) == repr(value)


@given(VALUES)
def test_each_text_may_be_replaced_and_nothing_else_is(value: Any) -> None:
    found = [text for _, text in texts(value, "original")]
    assert with_texts(value, found) == value
    other = with_texts(value, ["x" + text for text in found])
    assert [text for _, text in texts(other, "original")] == ["x" + text for text in found]


def test_texts_are_named_by_their_place() -> None:
    value = {"content": [{"text": "a"}, "b"], "n": 1}
    assert list(texts(value, "original")) == [("original.content[0].text", "a"), ("original.content[1]", "b")]


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def test_what_could_not_be_given_back_is_refused_and_the_error_says_where() -> None:
    cases: list[tuple[Any, str]] = [
        ({"a": [1, math.nan]}, r"original\.a\[1\] = nan is not a value of JSON"),
        ({"a": math.inf}, r"original\.a = inf"),
        ({"a": {"b": object()}}, r"original\.a\.b is object, not a value of JSON"),
        ({"a": b"x"}, r"original\.a is bytes"),
        ({1: "x"}, "original has the name 1; names in an object of JSON are texts"),
        ({"a": "\ud800"}, r"original\.a has half of a surrogate pair at 0"),
        ({"\ud800": 1}, "a name in original has half of a surrogate pair"),
        ([2**64], r"original\[0\] is an integer of more than 64 bits"),
        (nested(MAX_DEPTH + 1), f"is nested more than {MAX_DEPTH} times"),
        ("x" * MAX_BYTES, "original has 8,388,610 bytes as JSON, more than the 8,388,608 allowed"),
    ]
    for value, said in cases:
        with pytest.raises(InputError, match=said):
            json_of(value, "original")


def test_a_value_may_be_as_deep_and_as_long_as_is_allowed() -> None:
    assert value_of(json_of(nested(MAX_DEPTH), "original") or "") == nested(MAX_DEPTH)
    assert json_of("x" * (MAX_BYTES - 2), "original")


def test_what_is_stored_and_no_json_is_said_to_be_damaged() -> None:
    with pytest.raises(StoreCorrupt, match="a stored original cannot be read"):
        value_of('{"a": ')
