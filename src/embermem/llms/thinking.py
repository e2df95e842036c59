"""Takes a model's reasoning out of an answer that comes in pieces (embermem.core.reasoning)."""

from __future__ import annotations

from embermem.core.reasoning import MARKS, opening

__all__ = ["ThinkingFilter"]


class ThinkingFilter:
    """`without_thinking` for a text in pieces. A closing mark alone is not seen: what was before it has gone out."""

    def __init__(self) -> None:
        self._held = ""
        self._awaited = ""
        """The closing mark of the reasoning that has begun."""
        self._answering = False

    def feed(self, piece: str) -> str:
        """What of the text so far can be given on."""
        if self._answering:
            return piece
        self._held += piece
        while True:
            if self._awaited:
                _, closed, rest = self._held.partition(self._awaited)
                if not closed:
                    self._held = self._held[1 - len(self._awaited) :]  # it may hold the mark's beginning
                    return ""
                self._held, self._awaited = rest, ""
            self._held = self._held.lstrip()
            if (mark := opening(self._held)) is not None:
                self._held, self._awaited = self._held.removeprefix(mark), MARKS[mark]
            elif any(one.startswith(self._held) for one in MARKS):  # too little to tell, or nothing
                return ""
            else:
                self._answering = True
                return self._held

    def rest(self) -> str:
        """What was held back and turned out to be no reasoning, when the text has ended."""
        return "" if self._answering or self._awaited else self._held
