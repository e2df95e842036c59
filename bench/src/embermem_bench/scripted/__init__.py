"""Good answers to every question that the bench or a memory system puts to a model, by rule, for the scripted server.

server = ModelServer(scripted.answer)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from embermem.languages.words import terms
from embermem.testing import scripts

_LINE = re.compile(r"^(right answer|answer): (.*)$", re.MULTILINE)


def answer(request: Mapping[str, Any]) -> str | dict[str, Any]:
    """The answer to the body of a chat request in OpenAI's form. Raises ValueError for a question that is not known."""
    schema = (request.get("response_format") or {}).get("json_schema") or {}
    judged = JUDGEMENTS.get(str(schema.get("name")))
    return scripts.answer(request) if judged is None else judged(scripts.shown(request))


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
