"""Answers to the questions of systems/mem0g.py."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from embermem import languages
from embermem.core.text import fold
from embermem.languages.words import runs, terms

_NEW = re.compile(r"(\d+) \d{4}-\d\d-\d\d ([^:]*): (.*)")
_THING = re.compile(r"(\d+) (.*) \((\w+)\)")
_WORDS = 2
"""Things that are named of each message, beside who says it."""


def entities(shown: str) -> dict[str, Any]:
    """Who speaks, and the longest words that are said."""
    named: dict[str, str] = {}
    for _, who, said in _messages(shown.partition("\nnew:\n")[2]):
        words = [word for word in runs(said) if terms(word) and len(word) <= 40]
        longest = sorted(dict.fromkeys(words), key=lambda word: -len(word))[:_WORDS]
        if longest and who:
            named.setdefault(who, "person")
            named |= {word: "concept" for word in longest if word not in named}
    return {"entities": [{"name": name, "type": type_} for name, type_ in list(named.items())[:20]]}


def triples(shown: str) -> dict[str, Any]:
    """Each speaker speaks of what stands in the message."""
    listed, _, said = shown.partition("\nmessages:\n")
    things = [(int(m[1]), m[2]) for line in listed.splitlines() if (m := _THING.fullmatch(line))]
    number_of = {name: number for number, name in things}
    found = [
        {"source": number_of[who], "relation": _relation(text), "target": thing, "messages": [number]}
        for number, who, text in _messages(said)
        for thing, name in things
        if who in number_of and name != who and fold(name) in fold(text)
    ]
    return {"triples": found[:20]}


def obsolete(shown: str) -> dict[str, Any]:
    """All holds."""
    return {"obsolete": []}


def _messages(lines: str) -> list[tuple[int, str, str]]:
    return [(int(m[1]), m[2], m[3]) for line in lines.splitlines() if (m := _NEW.fullmatch(line))]


def _relation(text: str) -> str:
    return languages.of(text).speaks_of


ANSWERS: Mapping[str, Callable[[str], dict[str, Any]]] = {
    "Mem0gEntities": entities,
    "Mem0gTriples": triples,
    "Mem0gObsolete": obsolete,
}
