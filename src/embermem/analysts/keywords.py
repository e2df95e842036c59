"""Keywords of a page or a query: lower-cased words in the singular, names kept, function words and fillers out.

The same words come out of the same text everywhere, so that K_s ∩ K_p of Eq. 2 can meet.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from embermem import languages
from embermem.core.text import fold
from embermem.languages import Language
from embermem.languages.vocabularies import script_of
from embermem.languages.words import language_of_run, placed_runs, vocabularies

_DRAWN_OUT = re.compile(r"([^\W\d_])\1\1|^(?:[hj]+[aeiou]+){2,}h*$", re.IGNORECASE)


def keywords(text: str, limit: int = 8, *, max_chars: int = 20_000) -> tuple[str, ...]:
    """At most `limit` keywords, most telling first: frequent, early, names and long words before others.

    Of the text, the first `max_chars` characters are read. No duplicates; empty for a text without content words.
    """
    counts: Counter[str] = Counter()
    weight: dict[str, float] = {}
    text = text[:max_chars]
    for total, (word, run, start, language) in enumerate(placed_keywords(text), 1):
        bonus = _bonus(word, run, text, start, language)
        if word not in counts:
            weight[word] = bonus + 0.3 / (1.0 + total / 20.0)
        else:
            weight[word] = max(weight[word], bonus)
        counts[word] += 1
    order = sorted(counts, key=lambda w: (-(weight[w] * (1.0 + min(counts[w], 5) * 0.5)), w))
    return tuple(order[:limit])


def placed_keywords(text: str) -> Iterator[tuple[str, str, int, Language]]:
    """Each keyword of a text, with its run, where that starts, and its language. A word that shows a feeling by a
    repeated letter ("yesss") is none, nor is a function word of a language of which only these are known."""
    otherwise, known = languages.spelled(text), vocabularies(text)
    for run, start in placed_runs(text):
        language = otherwise if run.isascii() else language_of_run(run, otherwise)
        own = known.get(script_of(run[0])) if language is languages.default() else None
        if _DRAWN_OUT.search(run) or (own is not None and not own.terms_of(fold(run))):
            continue
        for word in language.keywords_of(run):
            yield word, run, start, language


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
