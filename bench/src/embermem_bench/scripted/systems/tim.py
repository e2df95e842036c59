"""Answers to the questions of systems/tim.py."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from embermem.core.text import fold
from embermem.languages.words import asks, sentences, terms

_LINE = re.compile(r"(?P<number>\d+) (?P<speaker>[^:]{1,80}): (?P<text>.*)")
_THOUGHT = re.compile(r"(?P<number>\d+) \d{4}-\d\d-\d\d(?: new)? \[(?P<head>.*?)\] (?P<text>.*)")
_SENTENCES = 2
"""Of a line, that become thoughts."""
_CHARS = 160


def _thoughts(shown: str) -> dict[str, Any]:
    """The first statements of each line, by the one who said them."""
    thoughts = []
    for line in filter(None, map(_LINE.fullmatch, shown.splitlines())):
        spans = [line["text"][start:end] for start, end in sentences(line["text"])]
        stated = [text[:_CHARS] for text in spans if not asks(text) and len(set(terms(text))) > 1]
        thoughts += [
            {
                "head": line["speaker"],
                "relation": "said",
                "tail": " ".join(terms(text)[:3]),
                "thought": f"{line['speaker']} said: {text}",
                "lines": [int(line["number"])],
            }
            for text in stated[:_SENTENCES]
        ]
    return {"thoughts": thoughts}


def _organised(shown: str) -> dict[str, Any]:
    """Thoughts of a group in the same words are merged; nothing is forgotten."""
    merges = []
    for group in re.split(r"^group \d+$", shown, flags=re.MULTILINE):
        same: dict[str, list[re.Match[str]]] = {}
        for line in filter(None, map(_THOUGHT.fullmatch, group.splitlines())):
            same.setdefault(fold(line["text"]), []).append(line)
        merges += [
            {
                "numbers": [int(line["number"]) for line in lines],
                "head": lines[0]["head"],
                "relation": "said",
                "tail": " ".join(terms(lines[0]["text"])[:3]),
                "thought": lines[0]["text"],
            }
            for lines in same.values()
            if len(lines) > 1
        ]
    return {"forget": [], "merge": merges}


ANSWERS: Mapping[str, Callable[[str], dict[str, Any]]] = {"TimThoughts": _thoughts, "TimOrganised": _organised}
