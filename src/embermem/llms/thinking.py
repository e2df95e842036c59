"""Takes a model's reasoning out of its answer: `<think>…</think>` before it, which some servers leave in the text."""

from __future__ import annotations

import re

__all__ = ["ThinkingFilter", "without_thinking"]

_OPEN, _CLOSE = "<think>", "</think>"
_CLOSED = re.compile(r"\s*<think>.*?</think>\s*", re.DOTALL)
# Some chat templates put the opening mark into the prompt, so that the reply has the closing one alone.
_UNOPENED = re.compile(r"\A(?!\s*[\[{`]).*?</think>[ \t]*(?:\n\s*|\Z)", re.DOTALL)


def without_thinking(text: str) -> str:
    """The text without the reasoning that it begins with. Reasoning that never ends leaves nothing.

    Marks further on are the answer's own words and stay; so does a closing mark alone in the middle of a line.
    """
    while closed := _CLOSED.match(text):
        text = text[closed.end() :]
    if text.lstrip().startswith(_OPEN):
        return ""
    unopened = _UNOPENED.match(text)
    return text[unopened.end() :] if unopened and _OPEN not in unopened.group() else text


class ThinkingFilter:
    """The same for a text that comes in pieces. A closing mark alone is not seen: what was before it has gone out."""

    def __init__(self) -> None:
        self._held = ""
        self._thinking = False
        self._answering = False

    def feed(self, piece: str) -> str:
        """What of the text so far can be given on."""
        if self._answering:
            return piece
        self._held += piece
        while True:
            if self._thinking:
                _, closed, rest = self._held.partition(_CLOSE)
                if not closed:
                    self._held = self._held[1 - len(_CLOSE) :]  # it may hold the mark's beginning
                    return ""
                self._held, self._thinking = rest, False
            self._held = self._held.lstrip()
            if self._held.startswith(_OPEN):
                self._held, self._thinking = self._held.removeprefix(_OPEN), True
            elif _OPEN.startswith(self._held):  # too little to tell, or nothing
                return ""
            else:
                self._answering = True
                return self._held

    def rest(self) -> str:
        """What was held back and turned out to be no reasoning, when the text has ended."""
        return "" if self._answering or self._thinking else self._held
