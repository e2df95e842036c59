"""The trained reader over the encoder: runs its layers, and makes assertions of what its heads say.

Weights: `reader.safetensors`, made by `reader/write_reader.py`; its card is `reader/CARD.md`.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any

import numpy as np

from embermem.core.equations import log_odds, logistic
from embermem.embedders.e5 import E5, QUERY, Shared
from embermem.embedders.tensors import read_tensors
from embermem.index.passages import passages_of
from embermem.index.vectors import named
from embermem.languages.people import JOINTS, called, of_theirs, person_in, without_own
from embermem.languages.words import terms, unspaced
from embermem.protocols import Assertion, Needs
from embermem.reader.labels import PARTS
from embermem.reader.network import NAME, Judged, Network, Stretch, stretches
from embermem.reader.perceptron import QUERIES, REQUESTS, Perceptron, needs, stands
from embermem.reader.wishes import score

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from embermem.core.types import Utterance, Vector

    Floats = NDArray[np.float32]

__all__ = ["BEFORE", "NAME", "TrainedReader"]

# The last rows of the message before that are looked at: what it asks stands at its end.
BEFORE = 24
# Characters between a value and the words of its time or relation, and those that name the person.
NEAR, SAME_MATTER = 30, 120
# Pieces that are read at once, fewer than the longest message of the training.
AT_ONCE = 112
# What a value does not end or begin with, beside what is neither letter nor digit.
_OPENS, _CLOSES = "#@+$£€", ')%!?$£€"'
# The least probability of which odds are taken.
_NEVER = 1e-6
# The end of "don't" or "she's"; after "l'" stands a word of its own.
_SHORT_END, _NOT = re.compile(r"['’]\w{1,2}\b"), re.compile(r"(?<=n)['’]t\b")

_PEOPLE = frozenset({"has_relative", "knows"})
_LAST_WORD = re.compile(r"\w+\s*$")
_LAST = re.compile(r"\s+\w+$")
_SENTENCE_ENDS = frozenset(".!?。！？।؟\n")

_Span = tuple[int, int]


class TrainedReader:
    """reader-5, for the languages of the encoder. Weights are read at the first message, once, and stay."""

    def __init__(self, encoder: E5) -> None:
        self._encoder = encoder
        self._lock = threading.Lock()
        self._network: Network | None = None
        self._perceptrons: dict[str, Perceptron] = {}
        self._wishes: Mapping[str, NDArray[Any]] = {}

    @property
    def name(self) -> str:
        """The network and its version."""
        return NAME

    def read(self, utterance: Utterance, before: Utterance | None) -> tuple[Assertion, ...]:
        """What a message says, in the order of its words; see the protocol."""
        context = None if before is None else self._states(before, *passages_of(before)[-1])
        found: list[Assertion] = []
        for start, end in passages_of(utterance):
            shared = self._states(utterance, start, end)
            if shared is not None:
                found += self._read(utterance, start, end, shared, context)
        return tuple(found)

    def needs(self, query: str) -> Needs:
        """What a message needs of memory; one without a piece needs nothing."""
        shared = self._encoder.shared(query, QUERY)
        if shared is None:
            return Needs(advice=0.0, now=0.0, several=0.0, past=0.0, nothing=1.0, tells=0.0)
        return needs(self._perceptron(QUERIES), shared.rows.astype(np.float32))

    def wishes(self, request: Vector, embedder: str) -> Vector | None:
        """Of a request for advice what its vector is nearest to that bears on it; None for another encoder's."""
        if embedder != self._encoder.name:
            return None
        with self._lock:
            if not self._wishes:
                with as_file(files("embermem.reader") / "wishes.safetensors") as path:
                    self._wishes = {name: one.astype(np.float32) for name, one in read_tensors(path)[0].items()}
        return score(self._wishes, request)

    def _perceptron(self, name: str) -> Perceptron:
        with self._lock:
            if not self._perceptrons:
                with as_file(files("embermem.reader") / "perceptrons.safetensors") as path:
                    arrays, _ = read_tensors(path)
                    self._perceptrons = {one: Perceptron(arrays, one) for one in (QUERIES, REQUESTS)}
            return self._perceptrons[name]

    def _states(self, utterance: Utterance, start: int, end: int) -> Shared | None:
        return self._encoder.shared(named(utterance, utterance.text[start:end]))

    def _read(
        self, utterance: Utterance, start: int, end: int, shared: Shared, context: Shared | None
    ) -> list[Assertion]:
        network = self._load()
        before = (shared.rows[:0] if context is None else context.rows[-BEFORE:]).astype(np.float32)
        text = utterance.text[start:end]
        name = len(named(utterance, text)) - len(text)
        places = [(begin - name + start, last - name + start) for begin, last in shared.places]
        own = next((i for i, place in enumerate(places) if place[0] >= start), len(places))
        ahead, rows = shared.before + own, shared.rows.astype(np.float32)
        made: list[Assertion | None] = []
        for begin, last in _parts(utterance.text, places, own):
            now = np.concatenate((rows[:ahead], rows[shared.before + begin : shared.before + last], rows[-1:]))
            states, tags = network.states(now, before)
            first = len(before) + ahead

            def words(stretch: Stretch, of: int = begin - first) -> _Span:
                inside = places[stretch.first + of][0], places[stretch.last - 1 + of][1]
                return _whole(utterance.text, max(inside[0], start), inside[1])

            found = stretches(tags, first, first + last - begin)
            parts = {tag: [words(one) for one in found if one.tag == tag] for tag in PARTS}
            judged = network.judged(states, found)
            made += [_assertion(utterance.text, one, words(one.stretch), parts) for one in judged]
        told = [one for one in made if one is not None]
        return [self._standing(one, rows, shared.before, places) if _is_request(one) else one for one in told]

    def _standing(self, one: Assertion, rows: Floats, before: int, places: Sequence[_Span]) -> Assertion:
        """An instruction with the confidence that it is one for all that follows: both networks' odds, multiplied."""
        at = [before + i for i, (start, end) in enumerate(places) if start < one.end and one.start < end]
        likely = stands(self._perceptron(REQUESTS), rows, at[0], at[-1] + 1)
        return replace(one, confidence=logistic(log_odds(one.confidence, _NEVER) + log_odds(likely, _NEVER)))

    def _load(self) -> Network:
        with self._lock:
            if self._network is None:
                with as_file(files("embermem.reader") / "reader.safetensors") as path:
                    arrays, _ = read_tensors(path)
                    self._network = Network(arrays, path)
            return self._network


def _is_request(one: Assertion) -> bool:
    return one.attribute == "instruction" and one.change != "end"


def _parts(text: str, places: Sequence[_Span], first: int) -> Iterator[_Span]:
    """Stretches of pieces that are read at once: all of them, or as many sentences as fit."""
    while len(places) - first > AT_ONCE:
        ends = (i for i in range(first + AT_ONCE, first + 1, -1) if text[places[i - 1][1] - 1] in _SENTENCE_ENDS)
        last = next(ends, first + AT_ONCE)
        yield first, last
        first = last
    if first < len(places):
        yield first, len(places)


def _assertion(text: str, judged: Judged, value: _Span, parts: Mapping[str, Sequence[_Span]]) -> Assertion | None:
    """What is said of the speaker or of somebody else; None for what is said of whoever listens."""
    start, end = value = _ended(text, *value)
    named = {part: words for part in parts["who"] if (words := _person(text, *part)) is not None}
    # A word of kin that no language knows ("bf", "the youngest"), but no pronoun.
    others = [part for one in parts["who"] if one not in named and (part := _unnamed(text, *one)) is not None]
    # Of "her husband" it is told that she has one: the value is not whose it is.
    apart = [part for part in (*named, *others) if part[1] <= start or end <= part[0]]
    who = _nearest(value, apart, SAME_MATTER)
    if start >= end or (judged.person == "you" and judged.attribute != "instruction"):
        return None
    if judged.person == "third" and who is not None and of_theirs(text[slice(*who)]):
        return None
    related = [part for part in parts["rel"] if not text.startswith(JOINTS, *part)]
    # "My new doctor is Dr. Kim": the relation rather stands beside the value.
    beside = [part for part in related if part[1] <= start or end <= part[0]]
    relation = _nearest(value, beside, NEAR) or _nearest(value, related, NEAR)
    time = _nearest(value, parts["time"], NEAR)
    if judged.person == "third" and who not in named and relation is None:
        relation = _nearest(value, others, NEAR)
    # "My mum is Rose": whose mother she is, the word before says.
    is_own = judged.attribute in _PEOPLE and relation is not None and _is_own(text, *relation)
    of_other = judged.person == "third" and judged.attribute != "instruction" and not is_own
    return Assertion(
        attribute=judged.attribute,
        start=start,
        end=end,
        of_other=of_other,
        person=named.get(who, "") if of_other and who is not None else "",
        relation=text[slice(*relation)] if relation is not None else "",
        time=time,
        tense=judged.tense,
        negated=judged.negated,
        change=judged.change,
        event=judged.event,
        confidence=judged.confidence,
    )


def _is_own(text: str, start: int, end: int) -> bool:
    """Whether what stands before words of kin, or at their beginning, says that it is the speaker's."""
    before = _LAST_WORD.search(text, 0, start)
    begin = start if before is None else before.start()
    return any(without_own(text[first:end]) != text[first:end] for first in {begin, start})


def _person(text: str, start: int, end: int) -> str | None:
    """Whom words name. In scripts without spaces pieces may end within a word of kin: 表 of 表姐."""
    if not unspaced(text[end - 1]):
        return person_in(text[start:end])
    longer = [text[first:last] for last in (end + 2, end + 1) for first in range(start, end) if last <= len(text)]
    whole = next((words for words in longer if called(words).kin and not called(words).name), text[start:end])
    return person_in(whole)


def _unnamed(text: str, start: int, end: int) -> _Span | None:
    """Where words stand that may name a relative by a word that no language knows ("my bf", 我爸); None of a pronoun,
    or one with its verb ("hes"), and of a piece of a word."""
    words = text[start:end]
    kin = without_own(words)
    if kin == words and unspaced(words) and person_in(words) is None:
        return None
    may_name = kin != words or all(terms(words[: len(words) - cut]) for cut in range(3) if len(words) - cut > 1)
    return (end - len(kin), end) if kin and may_name else None


def _nearest(value: _Span, parts: Sequence[_Span], most: int) -> _Span | None:
    """The part that stands nearest to a value, at most so many characters away: of two as near the one before it."""
    apart = {part: max(part[0] - value[1], value[0] - part[1]) for part in parts}
    return min((part for part in parts if apart[part] <= most), key=lambda part: apart[part], default=None)


def _whole(text: str, start: int, end: int) -> _Span:
    """Whole words, in scripts with spaces, without the marks around them."""
    if (ending := _SHORT_END.match(text, start - 1)) is not None and ending.start() > 0:
        start -= 1 + text[start - 2].isalnum()
    while 0 < start < len(text) and _one_word(text[start - 1], text[start]):
        start -= 1
    while 0 < end < len(text) and _one_word(text[end - 1], text[end]):
        end += 1
    if (ending := _NOT.match(text, end)) is not None:
        end = ending.end()
    while start < end and not (text[start].isalnum() or text[start] in _OPENS):
        start += 1
    while end > start and not (_is_of_word(text[end - 1]) or text[end - 1] in _CLOSES):
        end -= 1
    return start, end


def _ended(text: str, start: int, end: int) -> _Span:
    """Without words at the end that only lead to others: "six in the", 孙子的."""
    while end > start + 1 and text.endswith(JOINTS, start, end) and unspaced(text[end - 1]):
        end -= 1
    while (last := _LAST.search(text, start, end)) is not None and not terms(last.group()):
        end = last.start()
    return start, end


def _one_word(left: str, right: str) -> bool:
    """Whether two characters beside one another belong to one word of a script with spaces."""
    return _is_of_word(left) and _is_of_word(right) and not unspaced(left) and not unspaced(right)


def _is_of_word(char: str) -> bool:
    return char.isalnum() or unicodedata.category(char).startswith("M")
