"""Vectors of passages as one value: what was put in comes out, and damage is told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embermem.core.errors import StoreCorrupt
from embermem.store.codec import passages_bytes, passages_from

PARTS = st.integers(1, 9).flatmap(
    lambda size: st.lists(
        st.tuples(st.binary(min_size=size, max_size=size), st.binary(max_size=9)), min_size=1, max_size=4
    )
)


@given(parts=PARTS)
def test_passages_come_back(parts: list[tuple[bytes, bytes]]) -> None:
    vectors, tokens = [one for one, _ in parts], [one for _, one in parts]
    assert passages_from(passages_bytes(vectors, tokens)) == (vectors, tokens)


@given(parts=PARTS, cut=st.integers(1, 40))
def test_a_value_that_was_cut_off_is_damaged(parts: list[tuple[bytes, bytes]], cut: int) -> None:
    data = passages_bytes([one for one, _ in parts], [one for _, one in parts])
    with pytest.raises(StoreCorrupt, match="reindex"):
        passages_from(data[: max(0, len(data) - cut)])
