"""What is never taken from a page or a model on trust: orders to the memory, values nobody said, errors as summaries.

Checks of words, not of meaning: they are a floor under a model's answer. docs/concepts/model-analyst.md says what they leave.
"""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from collections.abc import Sequence

from embermem import languages
from embermem.analysts.screening import screen
from embermem.core.patterns import regex
from embermem.core.text import fold
from embermem.languages.words import runs, terms, unspaced

_ORDER = regex(
    languages.alternatives(lambda one: one.guards.order)
    + r"|[{,\[]\s*\\?[\"'](?:summary|profile|facts|traits|pages|evidence|dimension|attribute|keywords|continues|action)\\?[\"']\s*:"
    r"|(?:^|[\s>])(?:u\d{1,4} (?:user|agent|system|tool)\b|p\d{1,4} t\d)|<<\s{0,4}[a-z]{6,40}|\b[a-z]{6,40}\s{0,4}>>|(?:^|\s)(?:f\d{1,4} (?:user|agent)|c\d{1,4}) [a-z][\w ]{1,40}="
    r"|<\|im_(?:start|end)\|>|\[/?INST\]|<<SYS>>|^\s*#{2,} *(?:instruction|system|response)",
    re.IGNORECASE | re.MULTILINE,
)
"""Orders, and what a model and Ember exchange."""
_ERROR = regex(rf"\W*(?:{languages.alternatives(lambda one: one.guards.error)})", re.IGNORECASE)
_NOTHING = regex(rf"[\W_]*(?:(?:{languages.alternatives(lambda one: one.guards.nothing)})[\W_]*)?", re.IGNORECASE)
_READ = 10_000
_SHORTEST_QUOTE = 2
"""Characters: a single letter stands everywhere."""
_LETTER = regex(r"[^\W_]")
_YEAR = regex(r"(?:19|20)\d\d")
_NUMBER = regex(r"(?<!\d)\d{1,3}(?!\d)")
_GENDER_WORDS = {
    "female": languages.either(lambda one: one.guards.female, re.NOFLAG),
    "male": languages.either(lambda one: one.guards.male, re.NOFLAG),
}


def orders(text: str) -> bool:
    """Whether an utterance gives orders to the memory or its model, or forges what they exchange.

    "Remember that I am allergic to nuts" is none: it says something of its speaker.
    """
    return _ORDER.search(_ends(text).replace("’", "'")) is not None


def no_summary(text: str) -> bool:
    """Whether a text is no summary: empty, the text of an error or a refusal, or a piece of JSON."""
    return not _LETTER.search(text) or text.lstrip()[:1] in "{[" or _ERROR.match(text) is not None


def says_nothing(text: str) -> bool:
    """Whether a value or a statement is only a word for there being none."""
    return _NOTHING.fullmatch(text) is not None


def stated(name: str, value: str, said: Sequence[tuple[str, int]]) -> bool:
    """Whether a profile field's value stands in what was said: texts, each with the year it was said in.

    Only the speaker's own words count: quotes, code and pasted text are left out. A name must stand there word for
    word; a year of birth as a number, or by an age that fits; other values by half of their words at least.
    """
    own = [(words, year) for text, year in said if (words := screen(_ends(text))) is not None]
    texts = [fold(words) for words, _ in own]
    if name == "birth_year":
        return _born(value, own)
    if name == "gender":
        pattern = _GENDER_WORDS.get(languages.gender(fold(value)) or "")
        return any(pattern.search(text) if pattern else fold(value) in text for text in texts)
    if name == "name":
        return _word_for_word(value, texts)
    wanted = set(terms(value))
    return bool(wanted) and 2 * len(wanted & _terms_of(texts)) >= len(wanted)


def may_be_kept(text: str) -> bool:
    """Whether a line that a model wrote of its own, such as a reason, says anything, and gives nobody orders."""
    return not (says_nothing(text) or no_summary(text) or orders(text))


def span_of(quotes: Sequence[str], text: str) -> tuple[int, int] | None:
    """The [start, end) of the first of these quotes that stands in a text, word for word but for case and spaces."""
    for quote in quotes:
        words = quote.strip(" .,;!?。，；！？").split()
        if len("".join(words)) < _SHORTEST_QUOTE:
            continue
        pattern = r"\s+".join(map(re.escape, words))
        if not unspaced(quote):
            pattern = rf"(?<!\w){pattern}(?!\w)"
        if found := re.search(pattern, text, re.IGNORECASE):
            return found.span()
    return None


def touches(parts: Sequence[str], texts: Sequence[str]) -> bool:
    """Whether a statement and the texts it rests on share at least one word that carries meaning."""
    return bool({term for part in parts for term in terms(part)} & _terms_of([_ends(text) for text in texts]))


def _ends(text: str) -> str:
    """A long text's beginning and end: more than a model was shown of it."""
    return text if len(text) <= 2 * _READ else f"{text[:_READ]}\n{text[-_READ:]}"


def _terms_of(texts: Sequence[str]) -> set[str]:
    return {term for text in texts for term in terms(text)}


def _word_for_word(value: str, texts: Sequence[str]) -> bool:
    words = [fold(run) for run in runs(value)]
    heard = {fold(run).removesuffix("'s") for text in texts for run in runs(text)}
    return bool(words) and all(
        any(word in text for text in texts) if unspaced(word) else word.removesuffix("'s") in heard for word in words
    )


def _born(value: str, own: Sequence[tuple[str, int]]) -> bool:
    if not _YEAR.fullmatch(value):
        return False
    ages = [year - int(found) for text, year in own for found in _NUMBER.findall(text)]
    return any(value in text for text, _ in own) or any(0 <= born - int(value) <= 1 for born in ages)
