"""Takes a model's reasoning out of its answer: what stands between marks such as `<think>…</think>` before the answer,
which some servers leave in the text."""

from __future__ import annotations

import re

__all__ = ["MARKS", "ThinkingFilter", "without_thinking"]

MARKS = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<reason>": "</reason>",
    "<reasoning>": "</reasoning>",
    "<thought>": "</thought>",
    "<seed:think>": "</seed:think>",
    "[THINK]": "[/THINK]",
    "◁think▷": "◁/think▷",
    "<|begin_of_thought|>": "<|end_of_thought|>",
    "<|channel|>analysis<|message|>": "<|channel|>final<|message|>",
}
"""The marks that models open reasoning with, and those that close it."""

_CLOSING = "|".join(map(re.escape, MARKS.values()))
# Some chat templates put the opening mark into the prompt, so that the reply has the closing one alone: at the end of a
# line, or between a word and the answer.
_UNOPENED = re.compile(
    rf"\A(?!\s*[\[{{`]).*?(?:(?:{_CLOSING})[ \t]*(?:\n\s*|\Z)|(?<=[!-~。！？…])(?:{_CLOSING})(?=[^\W_]))", re.DOTALL
)


def without_thinking(text: str) -> str:
    """The text without the reasoning that it begins with. Reasoning that never ends leaves nothing.

    Marks further on are the answer's own words and stay; so does a closing mark alone amid the words of a line.
    """
    answer = 0
    while (opening := _opening(text, begin := _after_space(text, answer))) is not None:
        closing = text.find(MARKS[opening], begin + len(opening))
        if closing < 0:
            return ""
        answer = _after_space(text, closing + len(MARKS[opening]))
    text = text[answer:]
    unopened = _UNOPENED.match(text)
    return text[unopened.end() :] if unopened and not any(mark in unopened.group() for mark in MARKS) else text


class ThinkingFilter:
    """The same for a text that comes in pieces. A closing mark alone is not seen: what was before it has gone out."""

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
            if (opening := _opening(self._held)) is not None:
                self._held, self._awaited = self._held.removeprefix(opening), MARKS[opening]
            elif any(mark.startswith(self._held) for mark in MARKS):  # too little to tell, or nothing
                return ""
            else:
                self._answering = True
                return self._held

    def rest(self) -> str:
        """What was held back and turned out to be no reasoning, when the text has ended."""
        return "" if self._answering or self._awaited else self._held


def _opening(text: str, at: int = 0) -> str | None:
    """The opening mark at a place of a text."""
    return next((mark for mark in MARKS if text.startswith(mark, at)), None)


def _after_space(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at
