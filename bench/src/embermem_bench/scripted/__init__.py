"""Good answers to every question that the bench or a memory system puts to a model, by rule, for the scripted server.

server = ModelServer(scripted.answer)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from embermem.languages.words import terms
from embermem_bench.scripted import systems as scripts

_QUESTION = re.compile(r"^question: (.*)$", re.MULTILINE)
_CHOICE = re.compile(r"^answer \d: (.*)$", re.MULTILINE)
_WORDS = 12
"""Words of an answer."""
_LINE = re.compile(r"^(right answer|answer): (.*)$", re.MULTILINE)


def answer(request: Mapping[str, Any]) -> str | dict[str, Any]:
    """The answer to the body of a chat request in OpenAI's form. Raises ValueError for a question that is not known."""
    schema = (request.get("response_format") or {}).get("json_schema") or {}
    judged = JUDGEMENTS.get(str(schema.get("name")))
    if judged is not None:
        return judged(scripts.shown(request))
    shown = [] if schema else scripts.blocks(request)
    return _answered(*shown) if len(shown) == 2 and _QUESTION.search(shown[1]) else scripts.answer(request)


def _answered(memory: str, asked: str) -> str:
    """Of two answers the one with more of its words in the memory, the first of equals; else the memory's line with
    most words of the question, cut, and without one in common that nothing is known."""
    choices = _CHOICE.findall(asked)
    if choices:
        known = set(terms(memory))
        return str(max(choices, key=lambda choice: len(known & set(terms(choice)))))
    (question,) = _QUESTION.findall(asked)
    wanted = set(terms(question))
    line = max(memory.splitlines(), key=lambda line: len(wanted & set(terms(line))), default="")
    return " ".join(line.split()[-_WORDS:]) if wanted & set(terms(line)) else "No information available."


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


JUDGEMENTS: Mapping[str, Callable[[str], dict[str, Any]]] = {
    "Judgement": _judged,
    "CompanionJudgement": _judged_companion,
}
