"""Ids in 16 bytes each, and their numbers."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from embermem.core.ids import new_id
from embermem.core.packed_ids import IdTable, packed_ids, unpacked_id

MADE = [new_id(kind) for kind in "uup"]
IDS = st.one_of(st.sampled_from(["s12-003", "c12-003", "", "p", "é" * 7, "é" * 8, "x" * 15, *MADE]), st.text())


@given(st.lists(IDS, unique=True), st.lists(IDS, unique=True))
def test_a_table_gives_the_numbers_of_ids_and_the_ids_of_numbers_whatever_their_form(
    first: list[str], then: list[str]
) -> None:
    packed = packed_ids(first)
    assert (packed_ids(first * 9)[-len(first) :] == packed).all(), "many are packed as few are"
    odd = {place: one for place, one in enumerate(first) if not packed[place].any()}
    assert [odd.get(place) or unpacked_id(one.tobytes()) for place, one in enumerate(packed)] == first
    assert all(len(one.encode("utf-8", "surrogatepass")) > 15 or not one for one in odd.values())
    twice = np.concatenate([packed, packed])
    merged, numbers = IdTable.of(twice, odd | {len(first) + place: one for place, one in odd.items()})
    assert merged.some(numbers) == first * 2
    table = IdTable(packed, odd).with_new(then)
    every = [*dict.fromkeys(first + then)]
    assert (len(table), table.some(np.arange(len(table)))) == (len(every), every)
    assert table.numbers([*every, "none of them"]).tolist() == [*range(len(every)), -1]
    assert [table[number] for number in range(len(every))] == every
