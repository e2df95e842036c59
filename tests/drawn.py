"""What property tests draw: values of the types that records and decisions are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta, timezone
from enum import Enum
from types import UnionType
from typing import Any, NewType, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

zones = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
times = st.datetimes(timezones=zones)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
counts = st.integers(0, 2**53)
levels = st.floats(-1, 1)

metadata = st.dictionaries(
    st.sampled_from(("a", "b.c")), st.one_of(texts, st.booleans(), st.integers(-9, 9), st.lists(texts).map(tuple))
)


def records(kind: Any) -> st.SearchStrategy[Any]:
    """Values of a type that a decision is made of."""
    if isinstance(kind, NewType):
        return records(kind.__supertype__)
    if get_origin(kind) is tuple:
        return st.lists(records(get_args(kind)[0]), max_size=2).map(tuple)
    if get_origin(kind) is Mapping:
        return metadata
    if get_origin(kind) in (UnionType, Union):
        return st.one_of([records(one) for one in get_args(kind)])
    if isinstance(kind, type) and is_dataclass(kind):
        hints = get_type_hints(kind)
        return st.builds(kind, **{one.name: records(hints[one.name]) for one in fields(kind)})
    if issubclass(kind, Enum):
        return st.sampled_from(kind)
    plain: dict[type, st.SearchStrategy[Any]] = {str: texts, int: counts, float: levels, datetime: times}
    return plain[kind] if kind in plain else st.from_type(kind)
