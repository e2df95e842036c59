"""Answers to the questions of systems/amem.py."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from embermem import languages
from embermem.core.text import fold
from embermem.languages.words import runs, terms

_NOTE = re.compile(
    r"(?:(?P<number>\d+) )?(?P<day>\d{4}-\d\d-\d\d) (?P<content>.*?)(?: \| context: (?P<context>.*?))?"
    r"(?: \| keywords: (?P<keywords>.*?))?(?: \| tags: (?P<tags>.*?))?(?: \| category: .*)?"
)
_KEYWORDS, _TAGS, _CONTEXT = 5, 3, 120
_LINKED = 3


def _note(shown: str) -> dict[str, Any]:
    """Keywords and tags are the longest words, the context is the beginning."""
    speaker, _, said = shown.partition(" ")[2].partition(": ")
    words = _words(said)
    context = f"{speaker} tells of {', '.join(words[:2]) or 'nothing'}: {said[:_CONTEXT]}"
    category = words[0] if words else ""
    return {"keywords": words[:_KEYWORDS], "context": context, "tags": words[:_TAGS], "category": category}


def _links(shown: str) -> dict[str, Any]:
    """The first notes that share a word with the new one."""
    new, *older = _notes(shown)
    shared = [note for note in older if set(terms(note["content"])) & set(terms(new["content"]))]
    return {"linked": [int(note["number"]) for note in shared[:_LINKED]]}


def _evolved(shown: str) -> dict[str, Any]:
    """The older note takes the new one's first keyword, and its context says so."""
    new, older, *_ = _notes(shown)
    return _change(new, older)


def _evolved_all(shown: str) -> dict[str, Any]:
    new, *older = _notes(shown)
    changes = [(int(note["number"]), _change(new, note)) for note in older]
    return {"changed": [{"number": number, **change} for number, change in changes if change.pop("changes")]}


def _change(new: re.Match[str], older: re.Match[str]) -> dict[str, Any]:
    first = (new["keywords"] or "").split(", ")[0]
    keywords = [word for word in (older["keywords"] or "").split(", ") if word]
    context = f"{older['context'] or older['content'][:_CONTEXT]}; later: {first}"
    return {
        "changes": bool(first) and first not in keywords,
        "context": context[: 2 * _CONTEXT],
        "keywords": [*keywords, first][:_KEYWORDS],
        "tags": [tag for tag in (older["tags"] or "").split(", ") if tag],
    }


def _notes(shown: str) -> list[re.Match[str]]:
    return [note for note in map(_NOTE.fullmatch, shown.splitlines()) if note]


def _words(text: str) -> list[str]:
    """The longest words that carry meaning, each once."""
    found = dict.fromkeys(fold(run) for run in runs(text[:2_000]))
    kept = [word[:12] for word in found if word not in languages.by_signs(word).stop_words]
    return sorted(kept, key=lambda word: (-len(word), word))


ANSWERS: Mapping[str, Callable[[str], dict[str, Any]]] = {
    "AMemNote": _note,
    "AMemLinks": _links,
    "AMemEvolved": _evolved,
    "AMemEvolvedAll": _evolved_all,
}
