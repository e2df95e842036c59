"""Keywords of a page or a query: lower-cased words in the singular, names kept, function words and fillers out.

The same words come out of the same text everywhere, so that K_s ∩ K_p of Eq. 2 can meet.
"""

from __future__ import annotations

import re
from collections import Counter

from embermem import languages
from embermem.languages import Language
from embermem.languages.words import language_of_run, placed_runs


def keywords(text: str, limit: int = 8, *, max_chars: int = 20_000) -> tuple[str, ...]:
    """At most `limit` keywords, most telling first: frequent, early, names and long words before others.

    Of the text, the first `max_chars` characters are read. No duplicates; empty for a text without content words.
    """
    counts: Counter[str] = Counter()
    weight: dict[str, float] = {}
    text = text[:max_chars]
    total = 0
    otherwise = languages.spelled(text)
    for run, start in placed_runs(text):
        language = otherwise if run.isascii() else language_of_run(run, otherwise)
        for word in language.keywords_of(run):
            total += 1
            bonus = _bonus(word, run, text, start, language)
            if word not in counts:
                weight[word] = bonus + 0.3 / (1.0 + total / 20.0)
            else:
                weight[word] = max(weight[word], bonus)
            counts[word] += 1
    order = sorted(counts, key=lambda w: (-(weight[w] * (1.0 + min(counts[w], 5) * 0.5)), w))
    return tuple(order[:limit])


def _bonus(word: str, run: str, text: str, start: int, language: Language) -> float:
    """What a word is worth where it stands: long words more, and names where words are spelled."""
    if not language.spaced:
        return 1.0 + 0.1 * min(len(word), 4)
    named = run[0].isupper() and _inside_sentence(text, start)
    return 1.0 + (0.7 if named else 0.0) + 0.05 * min(len(word), 10)


_INSIDE = re.compile(r"[\w,;]\s?$")


def _inside_sentence(text: str, start: int) -> bool:
    """Whether a capital there is a name's, not the first of a sentence."""
    return start > 0 and _INSIDE.search(text, max(0, start - 2), start) is not None
