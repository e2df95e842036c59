"""Words of a query that nothing stored holds, put right: a slip of one letter, or two letters that changed places.

Only a word that is held nowhere is looked at, and only its neighbours at distance 1 (Damerau and Levenshtein) are: some
hundreds of lookups in the postings, whatever their size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from string import ascii_lowercase

__all__ = ["corrected"]

_SHORTEST = 4
"""Letters of a word that is looked at: of shorter ones nearly every neighbour is another word."""
_LONGEST = 32


def corrected(
    term: str,
    rows_with: Callable[[str], int],
    function_words: Set[str],
    known: Callable[[Sequence[str]], Iterable[str]] = iter,
) -> str | None:
    """The neighbour of a term that most rows hold, of equals the first by the alphabet; None where none is held.

    A slip in a function word ("whats") carries no topic, and is left as it is.

    `rows_with` gives the number of rows that hold a term; `function_words` are those of the query's language; `known`
    leaves of many terms those that some row may hold, at once. Terms are without accents, so that their letters are
    those of ASCII; others pass.
    """
    if not _SHORTEST <= len(term) <= _LONGEST or not (term.isascii() and term.isalpha()):
        return None
    neighbours = list(dict.fromkeys(_neighbours(term)))
    if not function_words.isdisjoint(neighbours):
        return None
    held = {one: count for one in known(neighbours) if (count := rows_with(one))}
    return min(held, key=lambda one: (-held[one], one), default=None)


def _neighbours(term: str) -> Iterator[str]:
    """All words at distance 1."""
    for at in range(len(term) + 1):
        before, after = term[:at], term[at:]
        if len(after) > 1:
            yield before + after[1] + after[0] + after[2:]
        if after:
            yield before + after[1:]
        for letter in ascii_lowercase:
            yield before + letter + after
            if after:
                yield before + letter + after[1:]
