"""Answers to the questions of systems/memorybank.py."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from embermem.languages.words import sentences

_SPOKEN = re.compile(r"(?P<side>user|agent) (?P<speaker>[^:\n]{0,40}): (?P<text>.+)")
_SO_FAR = re.compile(r"So far: (?P<text>.+)")
_DAY = re.compile(r"(?P<date>\d{4}-\d\d-\d\d): (?P<text>.+)")
_SAYINGS, _DAYS = 8, 6
"""Sayings of a day's note, and days of a global one: some 60 to 100 words."""
_CHARS = 120


def _events(shown: str) -> dict[str, Any]:
    return {"text": _note(shown, [f"{found['speaker']}: {_first(found['text'])}" for found in _spoken(shown)])}


def _insight(shown: str) -> dict[str, Any]:
    said = [_first(found["text"]) for found in _spoken(shown) if found["side"] == "user"]
    return {"text": _note(shown, said[: _SAYINGS // 2])}


def _global(shown: str) -> dict[str, Any]:
    days = [found for line in shown.splitlines() if (found := _DAY.fullmatch(line))]
    return {"text": _note(shown, [f"{found['date']} {_first(found['text'])}" for found in days][-_DAYS:])}


def _spoken(shown: str) -> list[re.Match[str]]:
    return [found for line in shown.splitlines() if (found := _SPOKEN.fullmatch(line))]


def _note(shown: str, said: list[str]) -> str:
    """What is noted so far, shortened, and sayings evenly over what was shown."""
    so_far = _SO_FAR.match(shown)
    step = max(1, len(said) // _SAYINGS)
    return " ".join([*([so_far["text"][: 3 * _CHARS]] if so_far else []), *said[::step]])


def _first(text: str) -> str:
    """The first sentence."""
    spans = sentences(text)
    return text[slice(*spans[0])][:_CHARS] if spans else ""


ANSWERS: Mapping[str, Callable[[str], dict[str, Any]]] = {
    "DayEvents": _events,
    "DayInsight": _insight,
    "AllEvents": _global,
    "UserPortrait": _global,
}
