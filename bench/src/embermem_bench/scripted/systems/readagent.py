"""Answers to the questions of systems/readagent.py."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from embermem.languages.words import sentences, terms

_POINT = re.compile(r"\[(\d+)\]")
_SPOKEN = re.compile(r"(?P<speaker>[^:\n]{1,40}): (?P<text>.+)")
_QUESTION = re.compile(r"Question[^:\n]*: (?P<text>.*)")
_GIST = re.compile(r"(?P<number>\d+)\. \([\d-]+\) (?P<text>.*)")
_SENTENCES = 6
"""Of a gist: each speaker's first words, some 60 words in all."""


def _pause(shown: str) -> dict[str, Any]:
    """The break point in the middle."""
    points = [int(found[1]) for line in shown.splitlines() if (found := _POINT.fullmatch(line))]
    return {"point": points[len(points) // 2]}


def _gist(shown: str) -> dict[str, Any]:
    """First sentences of what was said, evenly over the episode."""
    spoken = [found for line in shown.splitlines() if (found := _SPOKEN.fullmatch(line))]
    said = [(found["speaker"], _first(found["text"])) for found in spoken]
    step = max(1, len(said) // _SENTENCES)
    return {"gist": " ".join(f"{speaker}: {text}" for speaker, text in said[::step]) or "Nothing was said."}


def _first(text: str) -> str:
    """The first sentence."""
    spans = sentences(text)
    return text[slice(*spans[0])][:120] if spans else ""


def _look_up(shown: str) -> dict[str, Any]:
    return {"episodes": _nearest(shown)[:3]}


def _next(shown: str) -> dict[str, Any]:
    """The episode that shares most words with the question; then no more."""
    read = any(line.startswith("   ") for line in shown.splitlines())
    return {"episode": 0 if read else (*_nearest(shown), 0)[0]}


def _nearest(shown: str) -> list[int]:
    """The numbers of the gists that share words with the question, those that share most first."""
    lines = shown.splitlines()
    question = _QUESTION.fullmatch(lines[0])
    asked = set(terms(question["text"])) if question else set()
    shared = {
        int(found["number"]): len(asked.intersection(terms(found["text"])))
        for line in lines[1:]
        if (found := _GIST.fullmatch(line))
    }
    return sorted((number for number, count in shared.items() if count), key=lambda number: (-shared[number], number))


ANSWERS: Mapping[str, Callable[[str], dict[str, Any]]] = {
    "Pause": _pause,
    "Gist": _gist,
    "LookUp": _look_up,
    "NextEpisode": _next,
}
