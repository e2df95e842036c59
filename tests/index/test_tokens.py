from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from embermem.core.errors import ConfigError
from embermem.index.tokens import Approx, by_pieces, counter


def test_approx_follows_its_rule() -> None:
    cases = [
        ("", 0), ("I went home.", 4), ("unbelievable", 2), ("internationalisation", 3), ("in 2026", 3),
        ("我去了公园。", 6), ("naïve", 2), ("a\n\nb", 3), ("wait...", 2), ("🙂", 2),
    ]  # fmt: skip
    assert {text: got for text, tokens in cases if (got := counter("approx").count(text)) != tokens} == {}


def test_words_are_what_stands_between_white_space() -> None:
    assert counter("words").count(" two\n words ") == 2


@given(st.text(), st.text(), st.sampled_from(["approx", "words"]))
def test_lines_cost_together_no_more_than_alone(a: str, b: str, name: str) -> None:
    by_name = counter(name)
    assert by_name.count(a + "\n" + b) <= by_name.count(a + "\n") + by_name.count(b)


def test_an_unknown_counter_is_refused_by_name() -> None:
    with pytest.raises(ConfigError, match="no-such"):
        counter("no-such")


PARTS = st.sampled_from(
    ["lake", "naïve", "我去", "…", "\u3000", "\n", " ", "\t", "--", "!?", "12345", "\x00", "\x1c", "\x85"]
)


@given(st.lists(PARTS | st.text(max_size=5)).map("".join))
@example("a\n \n\t\r\n  b!!??\x00\x1c\x1f 1234567 abcdefghijklmno")
@example("\u3000\n…\n我 \nnaïve…lake")
def test_the_quick_way_counts_as_the_rule_does(text: str) -> None:
    assert Approx().count(text) == by_pieces(text)
