"""Figures of answers: by hand, and against NLTK and rouge-score on any words.

NLTK and rouge-score are given the Porter stemmer of 1980 here (`ORIGINAL_ALGORITHM`), which is ours; the last tests say
where the two stemmers of that name still differ, and what NLTK's default does otherwise.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import Stemmer
from hypothesis import given
from hypothesis import strategies as st
from nltk.metrics.scores import f_measure
from nltk.stem.porter import PorterStemmer
from nltk.tokenize import wordpunct_tokenize
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu
from nltk.translate.meteor_score import single_meteor_score
from rouge_score import tokenize
from rouge_score.rouge_scorer import RougeScorer

from embermem.core.errors import InputError
from embermem_bench import scoring
from embermem_bench.categories import ADVERSARIAL, CATEGORIES, MULTI_HOP, OPEN_DOMAIN, SINGLE_HOP

PORTER = PorterStemmer(mode=PorterStemmer.ORIGINAL_ALGORITHM)
ARTICLES = {"a", "an", "the", "and"}
WORDS = (
    "the a an and The AND she She's didn't runs running ran run happy happily happiness possible possibly careful "
    "carefully sky skies buy buying technology technologies technological Lyon, lyon LYON. 2023 7 May 7:30 well-known "
    'U.S. (cats) cat cats; organisation organise "quoted" snake_case ... ! ? e-mail 3.5 of of in to falling hopped '
    "agreed feed news dying is as us generalization café naïve Zoë"
).split()
english = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
ascii_english = st.lists(st.sampled_from([word for word in WORDS if word.isascii()]), max_size=12).map(" ".join)
mixed = st.lists(
    st.sampled_from([*WORDS, "里昂", "她住在", "。", "，", "２０２３", "猫", "서울", "ねこ", "！"]), max_size=10
).map("".join)
anything = st.text(max_size=40) | mixed | english

TOKEN_METRICS: tuple[Callable[[str, str], float], ...] = (
    scoring.f1_locomo,
    scoring.f1_squad,
    scoring.f1_set,
    scoring.bleu_1,
    scoring.rouge_1,
    scoring.rouge_2,
    scoring.rouge_l,
    scoring.meteor_exact_stem,
)


class Cut:
    """A tokenizer for rouge-score, which counts common words with their repeats."""

    def __init__(self, cut: Callable[[str], Sequence[str]]) -> None:
        self.tokenize = cut


class NoWordNet:
    """WordNet without a synonym."""

    def synsets(self, word: str) -> list[Any]:
        return []


def multiset_f1(answer: str, gold: str, cut: Callable[[str], Sequence[str]]) -> float:
    return float(RougeScorer(["rouge1"], tokenizer=Cut(cut)).score(gold, answer)["rouge1"].fmeasure)


def bare_words(text: str, articles: set[str]) -> list[str]:
    """Lower case, no ASCII punctuation, no articles; for texts whose words are parted by blanks."""
    words = ("".join(c for c in word if c.isalnum() or not c.isascii()) for word in text.lower().split())
    return [word for word in words if word and word not in articles]


def approx(value: float) -> Any:
    return pytest.approx(value, abs=1e-12)


# ------------------------------------------------------------------------------------------- against the references


@given(english, english)
def test_squad_f1_is_the_multiset_f1_of_bare_words(answer: str, gold: str) -> None:
    expected = multiset_f1(answer, gold, lambda text: bare_words(text, ARTICLES - {"and"}))
    assert scoring.f1_squad(answer, gold) == approx(expected)


@given(english, english)
def test_locomo_f1_is_the_multiset_f1_of_stems(answer: str, gold: str) -> None:
    expected = multiset_f1(answer, gold, lambda text: [PORTER.stem(word) for word in bare_words(text, ARTICLES)])
    assert scoring.f1_locomo(answer, gold, SINGLE_HOP) == approx(expected)


@given(english, english)
def test_memoryos_f1_is_the_f_measure_of_sets(answer: str, gold: str) -> None:
    said, wanted = (set(re.findall(r"\b\w+\b", text.lower())) for text in (answer, gold))
    assert scoring.f1_set(answer, gold) == approx(f_measure(wanted, said) or 0.0)


@given(english, english)
def test_bleu_is_nltk_s_with_and_without_its_smoothing(answer: str, gold: str) -> None:
    said, wanted = wordpunct_tokenize(answer.lower()), wordpunct_tokenize(gold.lower())
    expected = 0.0
    if wanted:
        expected = sentence_bleu([wanted], said, (1, 0, 0, 0), smoothing_function=SmoothingFunction().method1)
        assert expected == approx(sentence_bleu([wanted], said, (1,)))
    assert scoring.bleu_1(answer, gold) == approx(expected)


@given(ascii_english, ascii_english)
def test_rouge_is_rouge_score_s_on_ascii_text(answer: str, gold: str) -> None:
    cut = Cut(lambda text: tokenize.tokenize(text, PORTER))
    expected = RougeScorer(["rouge1", "rouge2", "rougeL"], tokenizer=cut).score(gold, answer)
    assert scoring.rouge_1(answer, gold) == approx(expected["rouge1"].fmeasure)
    assert scoring.rouge_2(answer, gold) == approx(expected["rouge2"].fmeasure)
    assert scoring.rouge_l(answer, gold) == approx(expected["rougeL"].fmeasure)


@given(english, english)
def test_meteor_is_nltk_s_without_synonyms(answer: str, gold: str) -> None:
    said, wanted = wordpunct_tokenize(answer.lower()), wordpunct_tokenize(gold.lower())
    expected = single_meteor_score(wanted, said, stemmer=PORTER, wordnet=NoWordNet())
    assert scoring.meteor_exact_stem(answer, gold) == approx(expected)


# --------------------------------------------------------------------------------------------------------- by hand


def test_f1_of_squad_locomo_and_memoryos_by_hand() -> None:
    # cat cat sat · cat sat down: 2 in common of 3 and 3
    assert scoring.f1_squad("The cat, the cat sat!", "a cat sat down") == approx(2 / 3)
    assert scoring.f1_squad("cats and dogs", "cat") == 0.0

    # run dog · run dog
    assert scoring.f1_locomo("Running and dogs", "the dog runs") == approx(1.0)
    # 2 in common of 4 and 2
    assert scoring.f1_locomo("painted two old dogs", "painting dog") == approx(2 / 3)

    # red kite → 1 · tent → old tent: ½ and 1 → ⅔ · rope → 0
    assert scoring.f1_locomo("an old tent, a red kite", "red kite, tent, rope", MULTI_HOP) == approx((1 + 2 / 3) / 3)
    assert scoring.f1_locomo("an old tent, a red kite", "red kite, tent, rope", SINGLE_HOP) == approx(3 / 4)
    assert scoring.f1_locomo("里昂，巴黎", "巴黎、里昂", MULTI_HOP) == approx(1.0)

    gold = "Likely yes; she loves the sea"
    assert scoring.f1_locomo("likely yes", gold, OPEN_DOMAIN) == approx(1.0)
    assert scoring.f1_locomo("likely yes", gold, SINGLE_HOP) == approx(4 / 7)

    with pytest.raises(InputError, match="category 5"):
        scoring.f1_locomo("a trap", "a trap", ADVERSARIAL)

    # {the, cat} · {the, cat, sat}
    assert scoring.f1_set("The cat, the cat", "the cat sat") == approx(4 / 5)

    assert scoring.f1_squad("A", "A") == 0.0
    assert scoring.f1_locomo("and", "and") == 0.0
    assert scoring.f1_locomo("x", ",", MULTI_HOP) == 0.0


def test_bleu_rouge_meteor_and_similarity_by_hand() -> None:
    assert scoring.bleu_1("in May", "in May 2023 .") == approx(np.exp(1 - 4 / 2))
    assert scoring.bleu_1("in in in May", "in May") == approx(2 / 4)

    said, gold = "the black cat slept", "a cat slept in the black box"
    assert scoring.rouge_1(said, gold) == approx(8 / 11)
    assert scoring.rouge_2(said, gold) == approx(2 * 2 / (3 + 6))
    assert scoring.rouge_l(said, gold) == approx(4 / 11)
    assert scoring.rouge_1("dogs", "dog") == approx(1.0)
    assert scoring.rouge_1("sos", "so") == 0.0, "words of three letters are not stemmed"
    assert scoring.rouge_2("Lyon", "Lyon") == 0.0

    assert scoring.meteor_exact_stem("Lyon", "Lyon") == approx(0.5)
    # 3 of 3 and 3 in one chunk
    assert scoring.meteor_exact_stem("she runs home", "she running home") == approx(1 - 0.5 / 27)
    # 2 of 2 and 2 in two chunks
    assert scoring.meteor_exact_stem("home runs", "runs home") == approx(0.5)
    # 1 of 2 and 4: P ½, R ¼
    assert scoring.meteor_exact_stem("old cat", "a cat was here") == approx((1 / 8) / (0.45 + 0.025) * 0.5)

    a, b = np.array([3.0, 4.0], dtype=np.float32), np.array([4.0, 3.0], dtype=np.float32)
    assert scoring.similarity(a, b) == pytest.approx(24 / 25)
    assert scoring.similarity(a, a * 0) == 0.0


# ---------------------------------------------------------------------------------------- Chinese, empty, anything


def test_chinese_wide_and_other_letters_are_words_as_they_should_be() -> None:
    assert scoring.f1_squad("她住在里昂。", "里昂") == approx(4 / 7)
    assert scoring.f1_locomo("她住在里昂。", "里昂") == approx(4 / 7)
    assert scoring.f1_set("她住在里昂。", "里昂") == approx(4 / 7)
    assert scoring.rouge_1("她住在里昂。", "里昂") == approx(4 / 7)
    assert scoring.rouge_2("她住在里昂。", "里昂") == approx(2 / 5)
    assert scoring.rouge_l("她住在里昂。", "里昂") == approx(4 / 7)
    assert scoring.bleu_1("她住在里昂。", "里昂") == approx(2 / 5)
    assert scoring.meteor_exact_stem("里昂！", "里昂") == approx(1 - 0.5 / 8)

    assert scoring.f1_squad("她２０２３年去了Ｌｙｏｎ，和Anna", "她 2023 年去了 lyon 和 anna") == approx(1.0)
    assert scoring.f1_squad("Lyon。", "lyon") == approx(1.0)

    assert tokenize.tokenize("café Zoë", None) == ["caf", "zo"]
    assert scoring.rouge_1("caf zo", "café Zoë") == 0.0
    assert scoring.rouge_1("CAFÉ Zoë", "café zoë") == approx(1.0)

    assert scoring.score("cat \ud800ing", "cat")["f1_squad"] > 0


def test_where_there_is_no_word_in_common_it_is_nothing() -> None:
    for metric in TOKEN_METRICS:
        for answer, gold in [("", ""), ("", "Lyon"), ("Lyon", ""), ("  ", "\n"), ("", "里昂"), ("...", "😀")]:
            assert metric(answer, gold) == 0.0


@given(anything, anything, st.sampled_from(["", "1", "2", "3", "4"]))
def test_any_two_texts_have_figures_between_nothing_and_all(answer: str, gold: str, category: str) -> None:
    figures = scoring.score(answer, gold, category)
    assert tuple(figures) == scoring.NAMES[:-1]
    assert all(0.0 <= value <= 1.0 + 1e-12 for value in figures.values()), figures


@given(anything)
def test_a_text_agrees_with_itself_wholly_or_has_no_words(text: str) -> None:
    for metric in (
        scoring.f1_locomo,
        scoring.f1_squad,
        scoring.f1_set,
        scoring.bleu_1,
        scoring.rouge_1,
        scoring.rouge_l,
    ):
        assert metric(text, text) in (0.0, approx(1.0))


# ----------------------------------------------------------------------------------------------------------- score


def test_a_score_has_all_names_of_reports_and_none_without_a_gold_answer() -> None:
    vector = np.array([1.0, 0.0], dtype=np.float32)
    figures = scoring.score("Lyon", "Lyon", "4", answer_vector=vector, gold_vector=vector)
    assert tuple(figures) == scoring.NAMES
    assert figures == {**dict.fromkeys(scoring.NAMES, 1.0), "rouge2": 0.0, "meteor_es": 0.5}

    assert scoring.score("Lyon", None) == {}
    assert scoring.score("the trap", "the trap", ADVERSARIAL) == {}

    assert list(CATEGORIES) == ["1", "2", "3", "4", "5"]
    assert CATEGORIES["1"].label == "1 multi-hop (single-hop in papers' order)"
    assert CATEGORIES["5"].label == "5 adversarial"
    assert {one.name for one in CATEGORIES.values()} == {one.paper_name for one in CATEGORIES.values()}
    assert [one.number for one in CATEGORIES.values() if not one.answered] == [ADVERSARIAL]


# --------------------------------------------------------------------------------------------------------- stemmer

SUFFIXES = "s ed ing eed y ies ly ation ness e ll ement ion edly ized ability fulness ical".split()
made_up = st.builds("".join, st.tuples(st.text("abcdefghijklmnopqrstuvwxyz", max_size=6), st.sampled_from(SUFFIXES)))


@given(made_up)
def test_pystemmer_s_porter_is_nltk_s_original_but_for_rare_doubled_letters(word: str) -> None:
    """Before -ed and -ing NLTK halves any doubled consonant but l, s, z; Snowball bb dd ff gg mm nn pp rr tt only."""
    if re.search(r"([chjkqvwxy])\1(?:ed|ing)", word) is None:
        assert Stemmer.Stemmer("porter").stemWord(word) == PORTER.stem(word)


def test_where_the_stemmers_differ() -> None:
    for word, ours, theirs in [("trekking", "trekk", "trek"), ("revved", "revv", "rev")]:
        assert (Stemmer.Stemmer("porter").stemWord(word), PORTER.stem(word)) == (ours, theirs)

    for one, other in [
        ("possibly", "possible"),
        ("carefully", "careful"),
        ("technology", "technological"),
        ("dying", "die"),
        ("skies", "sky"),
    ]:
        default = PorterStemmer()
        assert default.stem(one) == default.stem(other)
        assert PORTER.stem(one) != PORTER.stem(other)
        assert scoring.f1_locomo(one, other) == 0.0


# ---------------------------------------------------------------------------------------------------------- a choice


def test_a_choice_is_scored_against_the_false_answer_and_against_the_refusal() -> None:
    # "a red kite": 2 of its 3 words are in "the red kite", and none in the refusal
    found = scoring.score_choice("a red kite", "the red kite")
    assert found["f1_set_trap"] == pytest.approx(2 / 3)
    assert found["bleu1_trap"] == pytest.approx(2 / 3)
    assert found["rouge2_trap"] == pytest.approx(1 / 2)  # one of two pairs
    assert (found["f1_set_refusal"], found["bleu1_refusal"]) == (0.0, 0.0)
    assert "similarity_trap" not in found
    # "Not mentioned": 2 words of the 5 of the refusal; the brevity penalty is exp(1 - 5/2)
    refused = scoring.score_choice("Not mentioned", "the red kite")
    assert refused["f1_set_refusal"] == pytest.approx(2 * 1.0 * 0.4 / 1.4)
    assert refused["bleu1_refusal"] == pytest.approx(math.exp(-1.5))
    assert refused["f1_set_trap"] == 0.0
