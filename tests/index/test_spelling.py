"""Words that nothing holds, put right."""

from __future__ import annotations

from embermem.index.spelling import corrected

FUNCTION_WORDS = frozenset({"what", "nicht"})
HELD = {"bakery": 3, "baker": 1, "kitten": 2, "mitten": 5, "sitten": 5}


def count(term: str) -> int:
    return HELD.get(term, 0)


def test_one_slip_is_put_right() -> None:
    assert {
        slip: got
        for slip in ["bkaery", "bakry", "bakkery", "bakely"]
        if (got := corrected(slip, count, FUNCTION_WORDS)) != "bakery"
    } == {}


def test_what_is_no_slip_of_a_held_word_stays() -> None:
    cases = ["bkary", "whats", "nich", "xyz", "bak", "b4kery", "面包店", "", "k" * 500]
    assert {term: got for term in cases if (got := corrected(term, count, FUNCTION_WORDS)) is not None} == {}


def test_the_neighbour_that_most_rows_hold_is_meant_and_of_equals_the_first() -> None:
    assert corrected("bitten", count, FUNCTION_WORDS) == "mitten"
