"""Answers to the questions of the bench: to answer from a context, and to judge an answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from embermem.languages.words import terms

_LINE = re.compile(r"^(right answer|answer): (.*)$", re.MULTILINE)
_WORDS = 12
"""Words of a free reply."""


def reply(shown: str) -> str:
    """A free reply: the first words of what was shown."""
    return " ".join(shown.split()[:_WORDS]) or "I do not know."


def _judged(shown: str) -> dict[str, Any]:
    """Correct, if the answer has every word of the right one that says something."""
    said = dict(_LINE.findall(shown))
    missing = set(terms(said.get("right answer", ""))) - set(terms(said.get("answer", "")))
    reason = f"It lacks: {', '.join(sorted(missing))}." if missing else "It says all of it."
    return {"reason": reason, "verdict": "wrong" if missing else "correct"}


def _judged_companion(shown: str) -> dict[str, Any]:
    """Good marks for an answer that is there."""
    given = dict(_LINE.findall(shown)).get("answer", "")
    marks = {"accuracy": "yes", "correctness": "part", "coherence": "full"}
    none = {"accuracy": "no", "correctness": "none", "coherence": "none"}
    return {"reason": "It is short.", **(marks if given else none)}


ANSWERS: Mapping[str, Callable[[str], dict[str, Any]]] = {
    "Judgement": _judged,
    "CompanionJudgement": _judged_companion,
}
