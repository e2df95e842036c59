"""Metadata of rows: which of them meet a filter."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as some

from embermem.core.metadata import checked, checked_filter, matches
from embermem.index.labels import Labels

VALUES = some.one_of(some.integers(-2, 2), some.booleans(), some.sampled_from(["a", "b", "1"]), some.floats(-2, 2))
LABELS = some.dictionaries(
    some.sampled_from(["n", "m"]), some.one_of(VALUES, some.lists(some.sampled_from(["a", "b"]), max_size=3))
)
ORDERED = some.one_of(some.integers(-2, 2), some.sampled_from(["a", "b", "1"]), some.floats(-2, 2))
OPERATORS = some.one_of(
    VALUES,
    some.fixed_dictionaries({}, optional={"$eq": VALUES, "$ne": VALUES, "$exists": some.booleans()}).filter(bool),
    some.fixed_dictionaries({}, optional={"$gt": ORDERED, "$gte": ORDERED, "$lt": ORDERED, "$lte": ORDERED}).filter(
        bool
    ),
    some.fixed_dictionaries({}, optional={one: some.lists(VALUES, max_size=3) for one in ("$in", "$nin")}).filter(bool),
)
FILTERS = some.recursive(
    some.dictionaries(some.sampled_from(["n", "m", "other"]), OPERATORS, max_size=2),
    lambda inner: some.one_of(
        some.fixed_dictionaries({"$and": some.lists(inner, min_size=1, max_size=2)}),
        some.fixed_dictionaries({"$or": some.lists(inner, min_size=1, max_size=2)}),
        some.fixed_dictionaries({"$not": inner}),
    ),
    max_leaves=4,
)


@given(some.lists(LABELS, max_size=8), FILTERS, some.integers(0, 8))
def test_the_rows_that_meet_a_filter_are_those_whose_metadata_do(rows: list[Any], wanted: Any, cut: int) -> None:
    clean = [checked(one, "metadata") for one in rows]
    made = Labels()
    made.add_all(enumerate(clean[:cut]))
    made.add_all(enumerate(clean[cut:], len(clean[:cut])))
    asked = checked_filter(wanted, "filter")
    for n in (len(clean), len(clean[:cut])):
        assert made.meeting(asked, n).tolist() == [matches(asked, one) for one in clean[:n]]


def test_values_count_as_bytes_held() -> None:
    made = Labels()
    assert made.nbytes == 0
    made.add_all([(0, {"ticket": "T-1"})])
    one = made.nbytes
    made.add_all([(1, {"ticket": "T-2"})])
    assert made.nbytes > one > 0
