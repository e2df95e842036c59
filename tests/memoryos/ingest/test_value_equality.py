"""Whether two values say the same in other words."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from embermem.memoryos.ingest import value_equality
from embermem.memoryos.ingest.value_equality import same_value

SAME = [
    ("hiking in the hills", "to hike in hills", "likes"),
    ("a nurse", "nurse", "works_as"),
    ("A nurse", "nurse.", "works_as"),
    ("I'm a nurse", "nurse", "works_as"),
    ("I'm fond of green tea", "green tea", "likes"),
    ("I really love old maps", "old maps", "likes"),
    ("tea and coffee", "coffee and tea", "likes"),
    ("tea, coffee and figs", "figs, tea, coffee", "likes"),
    ("running", "to run", "hobby"),
    ("dog", "dogs", "likes"),
    ("my sister's bakery", "the sisters bakery", "works_at"),
    ("their cat", "my cat", "has_pet"),
    ("LYON.", "lyon", "lives_in"),
    ("“green tea”", "green tea", "likes"),
    ("绿色的茶", "绿色茶", "likes"),
    ("一名护士", "护士", "works_as"),
    ("我很喜欢爬山", "爬山", "likes"),
    ("咖啡和茶", "茶和咖啡", "likes"),
    ("茶、咖啡", "咖啡、茶", "likes"),
]
OTHER = [
    ("tea", "green tea", "likes"),
    ("2 dogs", "3 dogs", "has_pet"),
    ("two dogs", "dogs", "has_pet"),
    ("a dog", "dogs", "has_pet"),
    ("3.5", "35", "budget"),
    ("-5", "5", "budget"),
    ("1,5", "5,1", "budget"),
    ("not tea", "tea", "likes"),
    ("I'm not fond of tea", "tea", "likes"),
    ("I'm not a nurse", "a nurse", "works_as"),
    ("doesn't eat meat", "eat meat", "diet"),
    ("James", "Jame", "name"),
    ("Jones", "Jone", "name"),
    ("McDonald's", "McDonald", "works_at"),
    ("World War I", "World War", "likes"),
    ("vitamin A", "vitamin", "avoids"),
    ("C++", "C", "learns"),
    ("C#", "C++", "learns"),
    ("from Lyon to Nantes", "from Nantes to Lyon", "wants_to"),
    ("milk chocolate", "chocolate milk", "likes"),
    ("internal sales", "international sales", "works_in"),
    ("universe", "university", "likes"),
    ("boring", "bored", "temperament"),
    ("before work", "after work", "likes"),
    ("tea or coffee", "tea and coffee", "likes"),
    ("I love to be alone", "alone", "likes"),
    ("I love tea", "tea", "dislikes"),
    ("the", "a", "likes"),
    ("吃肉", "不吃肉", "likes"),
    ("两只猫", "一只猫", "has_pet"),
    ("平和", "和平", "likes"),
]


def test_other_words_for_the_same_are_the_same_and_what_may_mean_something_else_is_another_value() -> None:
    for one, other, attribute in SAME:
        assert same_value(one, other, attribute)
        assert same_value(other, one, attribute)

    for one, other, attribute in OTHER:
        assert not same_value(one, other, attribute)
        assert not same_value(other, one, attribute)


def test_a_value_may_name_what_another_of_the_same_matter_leaves_unnamed() -> None:
    for one, other in (
        ("a dog named Rex", "a dog"),
        ("dog Rex", "a dog"),
        ("sister Ana", "sister"),
        ("a cat called Mia", "my cat"),
    ):
        assert value_equality.names(one, other)
        assert not value_equality.names(other, one)

    wrong = [
        (one, other)
        for one, other in (
            ("a dog named Rex", "a cat"),
            ("a dog", "a dog"),
            ("dog food", "dog"),
            ("two dogs, Rex and Bo", "two dogs"),
            ("sister Ana", "brother"),
            ("a dog named Rex", "two dogs"),
        )
        if value_equality.names(one, other)
    ]
    assert wrong == []


NOUNS = ("tea", "hills", "maps", "dog", "bakery", "running", "herons", "Lyon", "Ana", "茶", "爬山")
WORDS = (*NOUNS, "the", "a", "my", "in", "and", "green", "really", "to")
values = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
attributes = st.sampled_from(("likes", "lives_in", "works_as", ""))
numbers = st.one_of(
    st.integers(0, 10**6).map(str),
    st.sampled_from(("two", "three", "ten", "1.5", "15", "-5", "½", "2nd", "两个", "三个")),
)
names = st.sampled_from(
    ("Lyon", "Lyons", "James", "Jame", "Ana", "Anas", "Paris", "Pari", "Jones", "Jone", "Ann", "Anne")
)
negations = st.sampled_from(("not", "no", "never", "without", "don't", "doesn't", "isn't", "nor", "不", "没", "cannot"))


def among(words: str, word: str, place: int) -> str:
    """The words with one more among them."""
    split = words.split()
    return " ".join([*split[:place], word, *split[place:]])


@given(values, attributes)
def test_a_value_says_what_it_says_itself(value: str, attribute: str) -> None:
    assert same_value(value, f" {value.upper()}. ", attribute)


@given(values, values, attributes)
def test_the_order_of_two_values_does_not_matter(one: str, other: str, attribute: str) -> None:
    assert same_value(one, other, attribute) == same_value(other, one, attribute)


@given(values, numbers, numbers, st.integers(0, 5), attributes)
def test_values_that_differ_in_a_number_are_never_joined(
    value: str, one: str, other: str, place: int, attribute: str
) -> None:
    assume(one != other)
    assert not same_value(among(value, one, place), among(value, other, place), attribute)
    assert not same_value(among(value, one, place), value, attribute)


@given(values, names, names, st.integers(0, 5), attributes)
def test_values_that_differ_in_a_name_are_never_joined(
    value: str, one: str, other: str, place: int, attribute: str
) -> None:
    assume(one != other)
    assert not same_value(among(value, one, place), among(value, other, place), attribute)


@given(values, negations, st.integers(0, 5), attributes)
def test_a_negation_is_never_left_out(value: str, negation: str, place: int, attribute: str) -> None:
    assert not same_value(among(value, negation, place), value, attribute)


@given(st.text(max_size=40), st.text(max_size=40), attributes)
def test_any_texts_can_be_compared(one: str, other: str, attribute: str) -> None:
    assert same_value(one, other, attribute) == same_value(other, one, attribute)
    assert same_value(one, one, attribute)
