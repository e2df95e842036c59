"""Answers to the questions of systems/mem0.py."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from embermem.core.text import fold
from embermem.languages.words import asks, sentences, terms

_NEW = re.compile(r"(\d+) \d{4}-\d\d-\d\d ([^:]*): (.*)")
_SAID = re.compile(r"\d{4}-\d\d-\d\d ([^:]*: .*)")
_FACT = re.compile(r"fact(?: (\d+))?: \d{4}-\d\d-\d\d (.*)")
_MEMORY = re.compile(r"memory (\d+): \d{4}-\d\d-\d\d (.*)")
_FACT_CHARS = 160
_SUMMARY_CHARS = 600


def facts(shown: str) -> dict[str, Any]:
    """Each new message's first sentence that states something."""
    new = shown.partition("\nnew:\n")[2].splitlines()
    found = [(int(m[1]), m[2], sentence) for line in new if (m := _NEW.fullmatch(line)) for sentence in _stated(m[3])]
    return {"facts": [{"text": f"{who}: {said}"[:_FACT_CHARS], "messages": [n]} for n, who, said in found]}


def update(shown: str) -> dict[str, Any]:
    """NOOP where a memory has all words of the fact, ADD else."""
    (fact,) = _facts(shown)
    return _operation(fact[1], shown)


def updates(shown: str) -> dict[str, Any]:
    """The same for each fact."""
    return {"updates": [{"fact": number, **_operation(text, shown)} for number, text in _facts(shown)]}


def summary(shown: str) -> dict[str, Any]:
    """What was said before and since, cut."""
    first, *lines = shown.splitlines()
    said = [m[1] for line in lines if (m := _SAID.fullmatch(line))]
    earlier = first.removeprefix("summary so far: ").removeprefix("none")
    return {"summary": " ".join([earlier, *(line[:60] for line in said)])[-_SUMMARY_CHARS:].strip() or "They talk."}


def _stated(text: str) -> list[str]:
    spans = [text[start:end] for start, end in sentences(text)]
    return [one for one in spans if len(terms(one)) >= 2 and not asks(one)][:1]


def _facts(shown: str) -> list[tuple[int, str]]:
    return [(int(m[1] or 1), m[2]) for line in shown.splitlines() if (m := _FACT.fullmatch(line))]


def _operation(fact: str, shown: str) -> dict[str, Any]:
    words = set(fold(fact).split())
    for line in shown.splitlines():
        if (known := _MEMORY.fullmatch(line)) and words <= set(fold(known[2]).split()):
            return {"operation": "NOOP", "memory": int(known[1]), "text": ""}
    return {"operation": "ADD", "memory": 0, "text": ""}


ANSWERS: Mapping[str, Callable[[str], dict[str, Any]]] = {
    "Mem0Facts": facts,
    "Mem0Update": update,
    "Mem0Updates": updates,
    "Mem0Summary": summary,
}
