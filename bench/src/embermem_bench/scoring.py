"""How near an answer comes to the gold answer, in words. Pure functions of two texts, each in [0, 1].

On text without Chinese, Japanese or Korean each is its reference's definition, but for what its docstring says. Those
definitions cut text at blanks or keep ASCII letters only, so that a Chinese sentence would be one word or none. Here
every such character is a word of its own, and their punctuation separates words; the rest of such a text is brought
into compatibility form (NFKC).

Stems are Porter's of 1980 (PyStemmer). NLTK's default, which LoCoMo and rouge-score use, is a later variant: it also
brings together `possibly` and `possible`, `careful` and `carefully`, `technology` and `technological`.

Where answer or gold has no words, every figure is 0.
"""

from __future__ import annotations

import math
import re
import string
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import Stemmer

from embermem.core.equations import cosine
from embermem.core.errors import InputError
from embermem.languages.words import unspaced
from embermem_bench.categories import ADVERSARIAL, MULTI_HOP, OPEN_DOMAIN

if TYPE_CHECKING:
    from embermem.core.types import Vector

NAMES = ("f1_locomo", "f1_squad", "f1_set", "bleu1", "rouge1", "rouge2", "rougeL", "meteor_es", "similarity")
"""The names in reports, in their order."""

LURED = ("f1_set", "bleu1", "rouge2", "rougeL", "meteor_es", "similarity")
"""The figures of an answer that are also taken against the wrong one that a question lures to: `f1_set_trap`, …"""
REFUSAL = "Not mentioned in the conversation"
"""The right answer to a question without one, as LoCoMo and A-MEM offer it for choice."""

METEOR_ALPHA = 0.9
"""Weight of recall against precision. The three are NLTK's defaults, after Lavie and Agarwal (2007)."""
METEOR_BETA = 3.0
"""How steeply the penalty grows with fragmentation."""
METEOR_GAMMA = 0.5
"""The largest penalty."""

ROUGE_SHORTEST_STEMMED = 4
"""rouge-score stems words of more than three letters."""

_PUNCTUATION = dict.fromkeys(map(ord, string.punctuation))
_SQUAD_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_LOCOMO_ARTICLES = re.compile(r"\b(?:a|an|the|and)\b")
_WORD = re.compile(r"\w+")
_WORD_OR_MARKS = re.compile(r"\w+|[^\w\s]+")
_LETTERS = re.compile(r"[^\W_]+")
_COMMA = re.compile("[,，、]")
_SEMICOLON = re.compile("[;；]")
_CJK_MARK = re.compile("[\u3000-\u303f\uff00-\uffef]")


def score(
    answer: str,
    gold: str | None,
    category: str = "",
    *,
    answer_vector: Vector | None = None,
    gold_vector: Vector | None = None,
) -> Mapping[str, float]:
    """Every figure of one answer, by the `NAMES` of reports.

    `category` is LoCoMo's number (`categories.py`); questions of other data sets have none. `similarity` is included if
    both vectors are given. A question without a gold answer has no figures, and neither has LoCoMo's category 5, whose
    answer in the data is a trap. Such questions are for `abstention.abstains`.
    """
    if gold is None or category == ADVERSARIAL:
        return {}
    figures = {
        "f1_locomo": f1_locomo(answer, gold, category),
        "f1_squad": f1_squad(answer, gold),
        "f1_set": f1_set(answer, gold),
        "bleu1": bleu_1(answer, gold),
        "rouge1": rouge_1(answer, gold),
        "rouge2": rouge_2(answer, gold),
        "rougeL": rouge_l(answer, gold),
        "meteor_es": meteor_exact_stem(answer, gold),
    }
    if answer_vector is not None and gold_vector is not None:
        figures["similarity"] = similarity(answer_vector, gold_vector)
    return figures


def score_choice(
    answer: str, trap: str, *, answer_vector: Vector | None = None, trap_vector: Vector | None = None
) -> Mapping[str, float]:
    """The figures of an answer to a question that has none, put as a choice between `trap` and `REFUSAL`.

    `…_trap` are against the wrong answer of the data, as A-MEM's published evaluation has them: falling for it scores
    high. `…_refusal` are against `REFUSAL`, which is right.
    """
    of_trap = score(answer, trap, answer_vector=answer_vector, gold_vector=trap_vector)
    return {f"{name}_trap": of_trap[name] for name in LURED if name in of_trap} | {
        "f1_set_refusal": f1_set(answer, REFUSAL),
        "bleu1_refusal": bleu_1(answer, REFUSAL),
    }


# -------------------------------------------------------------------------------------------------------------- F1


def f1_locomo(answer: str, gold: str, category: str = "") -> float:
    """LoCoMo's own F1 (Maharana et al., 2024; snap-research/locomo, task_eval/evaluation.py).

    Lower case; ASCII punctuation and a, an, the, and taken out; Porter stems; common words with their repeats.
    Category 1: both texts are cut at commas, and each piece of the gold answer counts by its best piece of the answer.
    Category 3: the gold answer ends at its first semicolon. Category 5 has no F1: InputError.
    """
    if category == ADVERSARIAL:
        raise InputError("LoCoMo's category 5 has no F1; use abstention.abstains_locomo")
    if category == OPEN_DOMAIN:
        gold = _SEMICOLON.split(gold)[0]
    if category != MULTI_HOP:
        return _f1(_locomo_words(answer), _locomo_words(gold))
    said = [_locomo_words(piece) for piece in _COMMA.split(answer)]
    wanted = [_locomo_words(piece) for piece in _COMMA.split(gold)]
    return sum(max(_f1(piece, words) for piece in said) for words in wanted) / len(wanted)


def f1_squad(answer: str, gold: str) -> float:
    """SQuAD's F1 (Rajpurkar et al., 2016; evaluate-v1.1.py).

    Lower case; ASCII punctuation and a, an, the taken out; no stems; common words with their repeats.
    """
    return _f1(_squad_words(answer), _squad_words(gold))


def f1_set(answer: str, gold: str) -> float:
    """The F1 of MemoryOS's published evaluation (BAI-LAB/MemoryOS, eval/evalution_loco.py).

    Lower case, words by `\\b\\w+\\b`, as sets: repeats do not count; articles do.
    """
    return _f1(sorted(set(_plain_words(answer))), sorted(set(_plain_words(gold))))


def _f1(said: Sequence[str], wanted: Sequence[str]) -> float:
    common = (Counter(said) & Counter(wanted)).total()
    return _harmonic(common / len(said), common / len(wanted)) if common else 0.0


def _harmonic(precision: float, recall: float) -> float:
    total = precision + recall
    return 2.0 * precision * recall / total if total else 0.0


# --------------------------------------------------------------------------------------------- BLEU, ROUGE, METEOR


def bleu_1(answer: str, gold: str) -> float:
    """BLEU of single words (Papineni et al., 2002) of one sentence: weights (1, 0, 0, 0).

    Clipped precision × brevity penalty exp(1 − gold/answer) where the answer is the shorter. No smoothing: with this
    weight the usual ones change nothing. Lower case; words and runs of punctuation count (NLTK's `wordpunct_tokenize`).
    """
    said, wanted = _words_and_marks(answer), _words_and_marks(gold)
    if not said or not wanted:
        return 0.0
    common = (Counter(said) & Counter(wanted)).total()
    brevity = min(1.0, math.exp(1.0 - len(wanted) / len(said)))
    return brevity * common / len(said)


def rouge_1(answer: str, gold: str) -> float:
    """ROUGE-1 (Lin, 2004), F measure, as rouge-score has it with `use_stemmer=True`; but for the stemmer, and that
    letters outside ASCII are letters."""
    return _f1(_rouge_words(answer), _rouge_words(gold))


def rouge_2(answer: str, gold: str) -> float:
    """ROUGE-2: the same of pairs of neighbours. A text of one word has none: 0, even if both are equal."""
    return _f1(*([f"{a} {b}" for a, b in pairwise(_rouge_words(text))] for text in (answer, gold)))


def rouge_l(answer: str, gold: str) -> float:
    """ROUGE-L: the same of the longest common subsequence of words, over the whole text."""
    said, wanted = _rouge_words(answer), _rouge_words(gold)
    if not said or not wanted:
        return 0.0
    common = _longest_common(said, wanted)
    return _harmonic(common / len(said), common / len(wanted))


def meteor_exact_stem(answer: str, gold: str) -> float:
    """METEOR (Banerjee and Lavie, 2005) with equal words and equal Porter stems only: no WordNet, no synonyms.

    Parameters and alignment are NLTK's: first equal words, then equal stems of what is left; from the last word of the
    answer to its first, each takes the last free one of the gold answer. Fmean × (1 − γ·(chunks/matches)^β). One word
    that is right is a chunk of its own and gets 0.5. Words as in `bleu_1`.
    """
    said, wanted = _words_and_marks(answer), _words_and_marks(gold)
    matches = sorted(_aligned(said, wanted))
    if not matches:
        return 0.0
    precision, recall = len(matches) / len(said), len(matches) / len(wanted)
    mean = precision * recall / (METEOR_ALPHA * precision + (1.0 - METEOR_ALPHA) * recall)
    chunks = 1 + sum(after != (before[0] + 1, before[1] + 1) for before, after in pairwise(matches))
    penalty = METEOR_GAMMA * math.pow(chunks / len(matches), METEOR_BETA)
    return mean * (1.0 - penalty)


def similarity(a_vector: Vector, b_vector: Vector) -> float:
    """The cosine of the embeddings of answer and gold answer, in [−1, 1]. Compare within one embedder only."""
    return cosine(a_vector, b_vector)


def _longest_common(said: Sequence[str], wanted: Sequence[str]) -> int:
    """The length of the longest common subsequence."""
    row = [0] * (len(wanted) + 1)
    for word in said:
        before = row
        row = [0]
        for n, other in enumerate(wanted):
            row.append(before[n] + 1 if word == other else max(before[n + 1], row[n]))
    return row[-1]


def _aligned(said: Sequence[str], wanted: Sequence[str]) -> Iterator[tuple[int, int]]:
    """(place in the answer, place in the gold answer) of each word that found its like."""
    left, right = set(range(len(said))), set(range(len(wanted)))
    for a, b in ((said, wanted), (_stems(said), _stems(wanted))):
        free: dict[str, list[int]] = {}
        for place in sorted(right):
            free.setdefault(b[place], []).append(place)
        for place in sorted(left, reverse=True):
            if places := free.get(a[place]):
                left.remove(place)
                right.remove(places[-1])
                yield place, places.pop()


# ----------------------------------------------------------------------------------------------------------- words


def _locomo_words(text: str) -> list[str]:
    return _stems(_LOCOMO_ARTICLES.sub(" ", _bare(text)).split())


def _squad_words(text: str) -> list[str]:
    return _SQUAD_ARTICLES.sub(" ", _bare(text)).split()


def _plain_words(text: str) -> list[str]:
    return _WORD.findall(_apart(text).lower())


def _words_and_marks(text: str) -> list[str]:
    return _WORD_OR_MARKS.findall(_apart(text).lower())


def _rouge_words(text: str) -> list[str]:
    words = _LETTERS.findall(_apart(text).lower())
    return [
        stem if len(word) >= ROUGE_SHORTEST_STEMMED else word for word, stem in zip(words, _stems(words), strict=True)
    ]


def _stems(words: Sequence[str]) -> list[str]:
    stemmer = Stemmer.Stemmer("porter")  # one a call: it is cheap, and may not be shared by threads
    return [stemmer.stemWord(word) for word in words]


def _bare(text: str) -> str:
    """Lower case, without ASCII punctuation."""
    return _apart(text).lower().translate(_PUNCTUATION)


def _apart(text: str) -> str:
    """The text, with each CJK character a word of its own. Without any in it, it is unchanged.

    What is no character (half of a surrogate pair, from broken JSON) becomes a question mark.
    """
    text = text.encode("utf-8", "replace").decode("utf-8")
    if not unspaced(text) and _CJK_MARK.search(text) is None:
        return text
    spaced = "".join(" " if _is_wide_mark(c) else c for c in text.replace("’", "'"))
    return "".join(f" {c} " if unspaced(c) else c for c in unicodedata.normalize("NFKC", spaced))


def _is_wide_mark(character: str) -> bool:
    return not character.isascii() and unicodedata.category(character).startswith("P")
