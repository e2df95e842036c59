"""What gives forgotten words away in a text that was made of them, and summaries without them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from embermem.core.patterns import regex
from embermem.core.text import bare, fold, plain
from embermem.languages.language import Language
from embermem.languages.quote_matcher import Probes, flat, probes_of
from embermem.languages.registry import spelled
from embermem.languages.words import sentences, terms

_ELIDED = regex(r"\b\w+'(?=\w{3})")
_STEM = 3
"""Letters of a word that its stem keeps; a few short words keep fewer, and then too much is taken out, never too
little."""


class Traces:
    """What stands in the texts that go and in none of those that stay: words, and runs of three of them. A derived text
    that holds one was taken from what goes, whatever it says of its sources. All are compared as words of their own
    language and of that of the derived text: a text of two languages has other stems. `left` is asked for what stays
    only where a text has words of what goes that none of the texts `near` has, which stay too."""

    def __init__(
        self, gone: Iterable[str] = (), left: Callable[[], Iterable[str]] = tuple, *, near: Iterable[str] = ()
    ) -> None:
        self._gone = tuple(gone)
        self._left = left
        self._near = tuple(near)
        self._folded: list[tuple[str, str]] | None = None
        self._marks: dict[tuple[Language, bool], set[object]] = {}
        """By language: the marks of the texts that go, or (True) of those near."""
        self._own: dict[tuple[Language, object], bool] = {}
        self._known: dict[str, bool] = {}

    def in_(self, text: str) -> bool:
        """Whether the text gives something of it away."""
        if not self._gone:
            return False
        if text not in self._known:
            language = spelled(fold(text))
            shared = self._marks_of(language) & _marks(text, language)
            self._narrow([one for one in shared if (language, one) not in self._own], language)
            self._known[text] = any(self._own[language, one] for one in shared)
        return self._known[text]

    def _marks_of(self, language: Language, *, near: bool = False) -> set[object]:
        if (language, near) not in self._marks:
            texts = self._near if near else self._gone
            self._marks[language, near] = {mark for text in texts for mark in _marks(text, language)}
        return self._marks[language, near]

    def _narrow(self, marks: Sequence[object], language: Language) -> None:
        """Which of the marks no text has that stays."""
        open_ = set(marks) - self._marks_of(language, near=True) if marks else set()
        if open_ and self._folded is None:
            # Terms are without accents, or with them, in some languages with other letters (sœur, soeur).
            self._folded = [(f"{fold(text)}\n{bare(text)}\n{plain(text)}", text) for text in self._left()]
        for mark in marks:
            words = mark if isinstance(mark, tuple) else (mark,)
            starts = [word[:_STEM] for word in words]
            for folded, text in self._folded or ():
                if mark not in open_:
                    break
                if all(start in folded for start in starts):
                    open_ -= _marks(text, language)
        self._own.update(((language, mark), mark in open_) for mark in marks)


class Pieces:
    """Summaries without the sentences that were said in what goes. `left` are texts that stay: a sentence that stands
    there too is theirs. `exact`: every other sentence was said in something else that stays."""

    def __init__(self, gone: Iterable[str] = (), left: Iterable[str] = (), *, exact: bool = True) -> None:
        self._probes = Probes(probes_of(gone))
        self._left = "\n".join(flat(text) for text in left)
        self._exact = exact
        self._known: dict[str, str] = {}

    def kept(self, summary: str) -> str:
        """What of a summary stays."""
        if summary not in self._known:
            found = [summary[start:end] for start, end in sentences(summary)]
            kept = [piece for piece in found if self._stays(piece)]
            self._known[summary] = summary if len(kept) == len(found) else " ".join(kept)
        return self._known[summary]

    def _stays(self, piece: str) -> bool:
        said = flat(piece)
        if self._exact and not self._probes.in_(said):
            return True
        _, colon, rest = said.partition(": ") if ": " in said else said.partition("：")
        return any(one and one.rstrip(".。…") in self._left for one in (said, rest if colon else ""))


def _marks(text: str, language: Language) -> set[object]:
    said = fold(text)
    cut = _ELIDED.sub("", said) if "'" in said else said
    found = [terms(one, of) for one in {said, cut} for of in {language, spelled(said)}]
    return {mark for words in found for mark in (*words, *zip(words, words[1:], words[2:], strict=False))}
