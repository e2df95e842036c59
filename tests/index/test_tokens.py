from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from embermem.errors import ConfigError
from embermem.index.tokens import Approx, by_pieces, counter


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("I went home.", 4),
        ("unbelievable", 2),
        ("internationalisation", 3),
        ("in 2026", 3),
        ("我去了公园。", 6),
        ("naïve", 2),
        ("a\n\nb", 3),
        ("wait...", 2),
        ("🙂", 2),
    ],
)
def test_approx_follows_its_rule(text: str, tokens: int) -> None:
    assert counter("approx").count(text) == tokens


def test_words_are_what_stands_between_white_space() -> None:
    assert counter("words").count(" two\n words ") == 2


@given(st.text(), st.text(), st.sampled_from(["approx", "words"]))
def test_lines_cost_together_no_more_than_alone(a: str, b: str, name: str) -> None:
    by_name = counter(name)
    assert by_name.count(a + "\n" + b) <= by_name.count(a + "\n") + by_name.count(b)


def test_an_unknown_counter_is_refused_by_name() -> None:
    with pytest.raises(ConfigError, match="no-such"):
        counter("no-such")


@given(st.text(alphabet=st.characters(max_codepoint=127)))
@example("a\n \n\t\r\n  b!!??\x00\x1c\x1f\x85 1234567 abcdefghijklmno")
def test_plain_ascii_is_counted_by_the_same_rule_as_any_text(text: str) -> None:
    text = text.encode("ascii", "ignore").decode()
    assert Approx().count(text) == by_pieces(text)
