"""What gives forgotten words away in a text that was made of them, and summaries without them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from embermem.core.patterns import regex
from embermem.core.text import fold
from embermem.languages.quote_matcher import Probes, flat, probes_of
from embermem.languages.words import sentences, terms

_WORD = regex(r"\w+")
_STEM = 3
"""Letters of a word that its stem keeps; a few short words keep fewer, and then too much is taken out, never too
little."""


class Traces:
    """What stands in the texts that go and in none of those that stay: words, and runs of three of them. A derived text
    that holds one was taken from what goes, whatever it says of its sources. `left` is asked for what stays only where
    a text has words of what goes that none of the texts `near` has, which stay too."""

    def __init__(
        self, gone: Iterable[str] = (), left: Callable[[], Iterable[str]] = tuple, *, near: Iterable[str] = ()
    ) -> None:
        self._gone: set[object] = set()
        for text in gone:
            self._gone |= _marks(text)
        self._left = left
        self._near: Iterable[str] = near
        self._said_near: set[object] | None = None
        self._folded: list[tuple[str, str]] | None = None
        self._own: dict[object, bool] = {}
        self._known: dict[str, bool] = {}

    def in_(self, text: str) -> bool:
        """Whether the text gives something of it away."""
        if not self._gone:
            return False
        if text not in self._known:
            shared = self._gone & _marks(text)
            self._narrow([one for one in shared if one not in self._own])
            self._known[text] = any(self._own[one] for one in shared)
        return self._known[text]

    def _narrow(self, marks: Sequence[object]) -> None:
        """Which of the marks no text has that stays."""
        if marks and self._said_near is None:
            self._said_near = {mark for text in self._near for mark in _marks(text)}
        open_ = set(marks) - (self._said_near or set())
        if open_ and self._folded is None:
            self._folded = [(fold(text), text) for text in self._left()]
        for mark in marks:
            words = mark if isinstance(mark, tuple) else (mark,)
            starts = [word[:_STEM] for word in words]
            for folded, text in self._folded or ():
                if mark not in open_:
                    break
                if all(start in folded for start in starts):
                    open_ -= _marks(text)
                    open_.difference_update(_WORD.findall(folded))  # of a language in which it is no term
        self._own.update((mark, mark in open_) for mark in marks)


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


def _marks(text: str) -> set[object]:
    found = terms(text)
    return {*found, *zip(found, found[1:], found[2:], strict=False)}
