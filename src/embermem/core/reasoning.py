"""A model's reasoning, which some servers and clients leave in its reply: what stands between marks such as
`<think>…</think>`. Nobody said it."""

from __future__ import annotations

import re

from embermem.core.elements import FENCE, without

__all__ = ["MARKS", "opening", "without_reasoning", "without_thinking"]

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
_FENCES = re.compile(FENCE, re.MULTILINE)
_REASONING = re.compile(
    rf"{FENCE}|^<(?P<name>{'|'.join(mark[1:-1] for mark in MARKS if re.fullmatch('<[a-z:]+>', mark))})>"
    r"|^<(?P<details>details) type=\"(?:reasoning|tool_calls|code_interpreter)\"[^<>\n]*>",
    re.MULTILINE,
)
"""Reasoning after the reply's beginning, and what Open WebUI shows of reasoning and of tools."""


def without_reasoning(text: str) -> str:
    """A reply as it was said: also without reasoning further on, and what clients show of it. Text in blocks of code
    stays."""
    return without(without_thinking(without(text, _REASONING)), _REASONING)


def without_thinking(text: str) -> str:
    """The text without the reasoning that it begins with. Reasoning that never ends leaves nothing.

    Marks further on are the answer's own words and stay; so does a closing mark alone amid the words of a line or in a
    block of code.
    """
    answer = 0
    while (mark := opening(text, begin := _after_space(text, answer))) is not None:
        closing = text.find(MARKS[mark], begin + len(mark))
        if closing < 0:
            return ""
        answer = _after_space(text, closing + len(MARKS[mark]))
    text = text[answer:]
    unopened = _UNOPENED.match(text)
    if unopened is None or any(mark in unopened.group() for mark in MARKS) or _in_code(unopened.group()):
        return text
    return text[unopened.end() :]


def _in_code(text: str) -> bool:
    """Whether a text ends within a block of code."""
    return len(_FENCES.findall(text)) % 2 == 1


def opening(text: str, at: int = 0) -> str | None:
    """The opening mark at a place of a text."""
    return next((mark for mark in MARKS if text.startswith(mark, at)), None)


def _after_space(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at
