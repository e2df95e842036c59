"""The lines of utterances in a context: relative times with their date, nothing that is told already, long ones cut."""

from __future__ import annotations

from collections.abc import Mapping

from embermem.core.types import Utterance
from embermem.index.query_context import View
from embermem.languages.words import sentences
from embermem.memoryos.recall.exchanges import is_worth_a_line, statement_of
from embermem.prompts.dated_text import dated_text
from embermem.prompts.rendering import CUT, cut, day, older_line, one_line, passage_text, utterance_line
from embermem.protocols import TokenCounter

__all__ = ["Lines"]

_LEAST_CUT = 12
"""A cut that leaves fewer tokens is not worth its line."""
_LEAST_REPEATED = 20
"""Characters from which a sentence that is told again is left out; shorter ones are turns of phrase."""
_NOTED_CHARS = 2000
"""Characters of a text up to which its line and its sentences are noted for the next query."""

_Sentence = tuple[str, str, str]
"""Who said it, the day, and the sentence in one form."""


class Lines:
    """Writes the lines of one context. What was written and taken (`take`) is not written again."""

    def __init__(self, view: View, counter: TokenCounter, newer: Mapping[int, int]) -> None:
        """`newer` has the row of the newest statement of the same matter."""
        self._view, self._counter = view, counter
        self._newer, self._replaced = newer, view.snapshot.replaced
        self._dated = view.snapshot.dates.dated(view.n)
        self._told: dict[_Sentence, int] = {}
        self._keys: dict[int, tuple[_Sentence, ...]] = view.snapshot.notes("sentences", texts=True)
        self._whole: dict[int, tuple[str, int]] = view.snapshot.notes(("whole line", counter.name), texts=True)
        self._costs: dict[str, int] = {}

    def cost(self, line: str) -> int:
        """The tokens of a line, with its end."""
        known = self._costs.get(line)
        if known is None:
            known = self._costs[line] = self._counter.count(line + "\n")
        return known

    def line(self, row: int, limit: int, left: int, *, without_question: bool = False) -> str:
        """The line of a row within `limit` tokens, and within what is left; empty, if too little of it would be shown.

        What is left cuts no sentence. `without_question` leaves out the questions that it ends in, and gives nothing
        if the rest says little.
        """
        limit, is_last = min(limit, left), left < limit
        if limit < _LEAST_CUT:
            return ""
        repeats = any(self._repeats(key) for key in self._sentences(row))
        is_whole = not repeats and not without_question
        if is_whole:
            line, cost = self._whole_line(row)
            if cost <= limit:
                return line
        utterance = self._view.snapshot.utterances[row]
        text = passage_text(utterance, self._view.snapshot.text(row))
        if without_question:
            statement = statement_of(text)
            if not is_worth_a_line(statement, self._view.names):
                return ""
            text = f"{statement} {CUT}"
        if repeats:
            text = self._new(utterance, text)
        if not text or text.strip() == CUT:
            return ""
        if not is_whole:
            line = self._line(row, utterance, self._shown(row, one_line(text)))
            if self.cost(line) <= limit:
                return line
        return self._cut(row, utterance, text, limit, is_last)

    def tokens(self, row: int) -> int:
        """The tokens of the line of all that a row says."""
        return self._whole_line(row)[1]

    def _whole_line(self, row: int) -> tuple[str, int]:
        """The line of all that a row says, empty where it says nothing, and its tokens."""
        is_old = self._newer_than(row) is not None
        known = None if is_old else self._whole.get(row)
        if known is None:
            utterance = self._view.snapshot.utterances[row]
            text = passage_text(utterance, self._view.snapshot.text(row))
            says = bool(text) and text.strip() != CUT
            line = self._line(row, utterance, self._shown(row, one_line(text))) if says else ""
            known = line, self.cost(line) if says else 0
            if len(line) <= _NOTED_CHARS and not is_old:
                self._whole[row] = known
        self._costs[known[0]] = known[1]
        return known

    def _line(self, row: int, utterance: Utterance, text: str) -> str:
        """`#2 Alice (older, see #5): text`, where something newer is said of the same matter."""
        newer = self._newer_than(row)
        return utterance_line(utterance, text) if newer is None else older_line(utterance, newer, text)

    def _newer_than(self, row: int) -> int | None:
        """The seq of what is newer than a row and of the same matter."""
        newer = self.newer_row(row)
        return None if newer is None else self._view.snapshot.seqs.item(newer)

    def newer_row(self, row: int) -> int | None:
        """The row of what is newer than another and of the same matter, as far as the query may see it."""
        seqs = self._view.snapshot.seqs
        if (seq := self._replaced.get(seqs.item(row))) is not None:  # what the state says comes before likeness
            newer = self._view.snapshot.row(seq)
        elif (newer := self._newer.get(row)) is not None and seqs.item(newer) in self._replaced:
            newer = None
        return newer if newer is not None and newer < self._view.n and self._view.candidates[newer] else None

    def take(self, row: int) -> None:
        """Note that the row is told."""
        for key in self._sentences(row):
            self._told.setdefault(key, row)

    def told_by(self, row: int) -> int | None:
        """The row that was taken and tells all sentences of this one, if one does."""
        keys = self._sentences(row)
        return self._told[keys[0]] if keys and all(key in self._told for key in keys) else None

    def _sentences(self, row: int) -> tuple[_Sentence, ...]:
        known = self._keys.get(row)
        if known is None:
            utterance = self._view.snapshot.utterances[row]
            text = self._view.snapshot.text(row)
            speaker, said_on = utterance.speaker, day(utterance.said_at)
            known = tuple((speaker, said_on, _form(text[start:end])) for start, end in sentences(text))
            if len(text) <= _NOTED_CHARS:
                self._keys[row] = known
        return known

    def _new(self, utterance: Utterance, text: str) -> str:
        """The text without sentences that are told already, each gap marked."""
        spans = sentences(text)
        new = [not self._repeats(_key(utterance, text[start:end])) for start, end in spans]
        if all(new):
            return text
        parts: list[str] = []
        for (start, end), is_new in zip(spans, new, strict=True):
            if is_new:
                parts.append(text[start:end])
            elif not parts or parts[-1] != CUT:
                parts.append(CUT)
        return "\n".join(parts) if any(new) else ""

    def _repeats(self, sentence: _Sentence) -> bool:
        return len(sentence[2]) >= _LEAST_REPEATED and sentence in self._told

    def _shown(self, row: int, text: str) -> str:
        """The text with dates beside its times, marked where the utterance's goes on before or after it."""
        snapshot = self._view.snapshot
        if self._dated[row] and snapshot.utterances[row].passage is None:
            text = dated_text(text, snapshot.utterances[row].said_at)
        before, after = snapshot.is_part(row)
        head = f"{CUT} " if before and not text.startswith(CUT) else ""
        return head + text + (f" {CUT}" if after and not text.endswith(CUT) else "")

    def _cut(self, row: int, utterance: Utterance, text: str, limit: int, whole_sentences: bool) -> str:
        """The line with its text cut; dates beside its times count too, so what they take is cut off once more."""
        room = limit - self.cost(self._line(row, utterance, ""))
        while room >= _LEAST_CUT:
            shorter = cut(text, room, self._view.idf, self._counter, whole_sentences=whole_sentences)
            line = self._line(row, utterance, self._shown(row, shorter)) if shorter else ""
            over = self.cost(line) - limit if line else 0
            if over <= 0:
                return line if is_worth_a_line(shorter, self._view.names) else ""
            room -= over
        return ""


def _key(utterance: Utterance, sentence: str) -> _Sentence:
    return utterance.speaker, day(utterance.said_at), _form(sentence)


def _form(sentence: str) -> str:
    return one_line(sentence).casefold()
