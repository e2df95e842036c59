"""Words of a European language other than English: stems (Snowball) without accents, elisions, function words."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from embermem.core.text import bare, fold
from embermem.languages.parts import NEVER

__all__ = ["InflectedWords"]

_LONGEST = 64
"""Longer runs of letters are no words (base64, hashes): they are not stemmed, and no cache holds them."""
_LONGEST_KEYWORD = 40
_CACHED: Final = 65_536


class InflectedWords:
    """How the words of one language are compared. Immutable; threads share it."""

    def __init__(
        self,
        algorithm: str,
        stop_words: frozenset[str],
        *,
        fillers: Callable[[], frozenset[str]],
        elided: str = NEVER,
        singular: Callable[[str], str] = lambda word: word,
    ) -> None:
        """`algorithm` is the name of its Snowball stemmer, `elided` a pattern of a word that lost its vowel before the
        next ("l'"), with the apostrophe."""
        self._algorithm = algorithm
        self._stop_words = stop_words | {bare(word) for word in stop_words}
        self._fillers = fillers
        self._elided = re.compile(rf"(?:{elided})+")
        self._singular = singular
        self._local = threading.local()
        self._cached_terms = lru_cache(maxsize=_CACHED)(self._terms)
        self._cached_stem = lru_cache(maxsize=_CACHED)(self._stem)

    @property
    def function_words(self) -> frozenset[str]:
        """The function words, as they are written and without accents."""
        return self._stop_words

    def terms_of(self, run: str) -> tuple[str, ...]:
        """The stem of a folded word, and the word as the default language compares it, if that differs: so that names
        and words match also where the other text is too short to tell its language. None of a function word."""
        return self._cached_terms(run) if len(run) <= _LONGEST else self._terms(run)

    def terms_to_match(self, run: str) -> tuple[str, ...]:
        """The word as the default language compares it, without accents, whatever language the other text is in."""
        from embermem.languages.registry import default

        word = self.without_elision(run)
        return () if word in self._stop_words else default().terms_to_match(bare(word))

    def stem(self, word: str) -> str:
        """The stem of a lower-cased word, without accents; what is too long to be a word passes unchanged."""
        return word if len(word) > _LONGEST else self._cached_stem(word)

    def singular(self, word: str) -> str:
        """The singular of a lower-cased noun by rule."""
        return self._singular(word) if 3 < len(word) <= _LONGEST else word

    def keywords_of(self, run: str) -> tuple[str, ...]:
        """The word, folded and in the singular, if it may be a keyword."""
        if len(run) > _LONGEST_KEYWORD:
            return ()
        word = self.without_elision(fold(run))
        if word in self._stop_words or word in self._fillers() or "'" in word:
            return ()
        if word.isdecimal():
            return (word,) if len(word) == 4 else ()
        if len(word) < 3 and not (len(run) == 2 and run.isupper()):
            return ()
        word = self.singular(word)
        return () if word in self._stop_words or word in self._fillers() else (word,)

    def without_elision(self, run: str) -> str:
        """A word without the elided ones before it: "l'école" is "école"."""
        if "'" not in run:
            return run
        found = self._elided.match(run)
        return run[found.end() :] if found is not None and found.end() < len(run) else run

    def _terms(self, run: str) -> tuple[str, ...]:
        from embermem.languages.registry import default

        word = self.without_elision(run)
        if word in self._stop_words:
            return ()
        return tuple(dict.fromkeys((self.stem(word), *(default().terms_of(word) or ()))))

    def _stem(self, word: str) -> str:
        stemmer = getattr(self._local, "stemmer", None)
        if stemmer is None:
            import Stemmer

            stemmer = self._local.stemmer = Stemmer.Stemmer(self._algorithm)
        return bare(str(stemmer.stemWord(word)))
