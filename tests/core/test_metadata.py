"""Metadata and the filters over them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from embermem.core.errors import InputError
from embermem.core.metadata import checked, checked_filter, inherited, matches

VALUES = some.one_of(some.integers(-5, 5), some.booleans(), some.sampled_from(["a", "b", "1"]), some.floats(-2, 2))
LABELS = some.dictionaries(
    some.sampled_from(["n", "m"]), some.one_of(VALUES, some.lists(some.sampled_from(["a", "b"]), max_size=3))
)


def met(wanted: Any, metadata: Any) -> bool:
    return matches(checked_filter(wanted, "filter"), checked(metadata, "metadata"))


def test_what_is_no_metadata_is_refused_with_its_place() -> None:
    cases: list[tuple[Any, str]] = [
        ([1], "metadata is list"), ({"": 1}, "metadata has the name ''"), ({"$a": 1}, "metadata has the name '$a'"),
        ({"a b": 1}, "metadata has the name 'a b'"), ({1: 1}, "metadata has the name 1"),
        ({"a": None}, "metadata.a is NoneType"), ({"a": {"b": 1}}, "metadata.a is dict"),
        ({"a": ["x", 1]}, "metadata.a[1] is int"), ({"a": float("nan")}, "metadata.a = nan"),
        ({"a": 2**60}, "metadata.a = 1152921504606846976"), ({"a": "x" * 513}, "metadata.a has 513 characters"),
        ({"a": "x\x00"}, "metadata.a has a NUL"), ({"a": "\ud800"}, "metadata.a has half of a surrogate pair"),
        ({"a": ["x"] * 33}, "metadata.a has 33 items"), ({f"n{i}": 1 for i in range(33)}, "metadata has 33 names"),
        ({f"n{i}": "x" * 500 for i in range(9)}, "metadata has 4,"),
    ]  # fmt: skip
    for value, said in cases:
        with pytest.raises(InputError) as refused:
            checked(value, "metadata")
        assert str(refused.value).startswith(said)


def test_lists_become_tuples_and_none_becomes_nothing() -> None:
    assert checked({"tags": ["a", "b"]}, "metadata") == {"tags": ("a", "b")}
    assert checked(None, "metadata") == {}


def test_what_is_no_filter_is_refused_with_its_place() -> None:
    cases: list[tuple[Any, str]] = [
        (["a"], "filter is list"), ({"$eq": 1}, "filter.$eq is not known"),
        ({"$and": {}}, "filter.$and is not a list of filters"), ({"$or": []}, "filter.$or is not a list of filters"),
        ({"$and": [{"a": 1}, 3]}, "filter.$and[1] is int"), ({"a": {"$like": 1}}, "filter.a.$like is not an operator"),
        ({"a": {}}, "filter.a is empty"), ({"a": {"$in": "x"}}, "filter.a.$in is str"),
        ({"a": {"$in": [["x"]]}}, "filter.a.$in[0] is a list"), ({"a": ["x"]}, "filter.a is a list"),
        ({"a": {"$gt": True}}, "filter.a.$gt = True"), ({"a": {"$exists": 1}}, "filter.a.$exists = 1"),
        ({"a": {"$in": list(range(65))}}, "filter has 65 conditions"),
    ]  # fmt: skip
    for wanted, said in cases:
        with pytest.raises(InputError) as refused:
            checked_filter(wanted, "filter")
        assert str(refused.value).startswith(said)
    nested: Any = {"a": 1}
    for _ in range(50):
        nested = {"$not": nested}
    with pytest.raises(InputError, match="nested more than 8 times"):
        checked_filter(nested, "filter")


def test_filters() -> None:
    cases: list[tuple[Any, Any, bool]] = [
        ({}, {}, True), ({"a": 1}, {"a": 1}, True), ({"a": 1}, {"a": 1.0}, True), ({"a": 1}, {"a": True}, False),
        ({"a": 1}, {"a": "1"}, False), ({"a": "x"}, {"a": ["y", "x"]}, True), ({"a": "x"}, {}, False),
        ({"a": {"$ne": "x"}}, {}, True), ({"a": {"$ne": "x"}}, {"a": ["x", "y"]}, False),
        ({"a": {"$in": ["x", 3]}}, {"a": 3}, True), ({"a": {"$nin": ["x"]}}, {"a": "y"}, True),
        ({"a": {"$gt": 3, "$lte": 5}}, {"a": 5}, True), ({"a": {"$gt": 3}}, {"a": "5"}, False),
        ({"a": {"$gte": "2026-01-01"}}, {"a": "2026-03-01"}, True), ({"a": {"$exists": True}}, {"a": False}, True),
        ({"a": {"$exists": False}}, {"b": 1}, True), ({"$or": [{"a": 1}, {"b": 2}]}, {"b": 2}, True),
        ({"$and": [{"a": 1}, {"b": 2}]}, {"b": 2}, False), ({"$not": {"a": 1}}, {"a": 2}, True),
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, False),
    ]  # fmt: skip
    assert [
        (wanted, metadata, expected, got)
        for wanted, metadata, expected in cases
        if (got := met(wanted, metadata)) is not expected
    ] == []


@given(LABELS, VALUES)
def test_not_and_the_opposite_operators_agree(metadata: Any, value: Any) -> None:
    assert met({"$not": {"n": value}}, metadata) is met({"n": {"$ne": value}}, metadata)
    assert met({"$not": {"n": {"$in": [value]}}}, metadata) is met({"n": {"$nin": [value]}}, metadata)
    assert met({"n": {"$exists": False}}, metadata) is ("n" not in metadata)


@given(LABELS)
def test_metadata_are_the_same_after_json(metadata: Any) -> None:
    stored = checked(metadata, "metadata")
    assert checked(json.loads(json.dumps(stored)), "metadata") == stored


def test_what_derives_from_several_has_what_they_agree_on_and_all_of_their_texts() -> None:
    cases: list[tuple[Any, Any]] = [
        ([], {}), ([{"a": 1}, {}], {"a": 1}), ([{"a": 1}, {"a": 1.0}], {"a": 1}), ([{"a": 1}, {"a": 2}], {}),
        ([{"a": 1}, {"a": True}], {}), ([{"a": 1}, {"a": 2}, {"a": 1}], {}),
        ([{"a": "x"}, {"a": "x"}, {"b": "y"}], {"a": "x", "b": "y"}),
        ([{"a": "x"}, {"a": "y"}, {"a": "x"}], {"a": ("x", "y")}), ([{"a": "x"}, {"a": ["y", "x"]}], {"a": ("x", "y")}),
        ([{"a": ["x"]}, {"a": ["x"]}], {"a": ("x",)}), ([{"a": "x"}, {"a": 1}], {}),
    ]  # fmt: skip
    for several, expected in cases:
        found = inherited([checked(one, "metadata") for one in several])
        assert found == expected
        assert [type(one) for one in found.values()] == [type(one) for one in expected.values()]
