"""Good answers by rule to every question that a memory system asks a model, for the scripted server.

    server = ModelServer(scripts.answer)

One module per system; its ANSWERS map the name of a schema to the function that answers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from embermem.testing import answers, wire
from embermem_bench.scripted.systems import amem, mem0, mem0g, memgpt, memorybank, readagent, tim

__all__ = ["answer", "blocks", "shown"]

ANSWERS: Mapping[str, Callable[[str], dict[str, Any]]] = {
    **readagent.ANSWERS,
    **memorybank.ANSWERS,
    **tim.ANSWERS,
    **memgpt.ANSWERS,
    **amem.ANSWERS,
    **mem0.ANSWERS,
    **mem0g.ANSWERS,
}

_ENCLOSED = re.compile(r"^<<(?P<mark>[a-z]+)$\n(?P<data>.*?)\n^(?P=mark)>>$", re.MULTILINE | re.DOTALL)
_WORDS = 12
"""Words of a free reply."""


def answer(request: Mapping[str, Any]) -> str | dict[str, Any]:
    """The answer to the body of a chat request in OpenAI's form. Raises ValueError for a question that is not known."""
    form = request.get("response_format") or {}
    name = (form.get("json_schema") or {}).get("name")
    if isinstance(name, str) and name in ANSWERS:
        return ANSWERS[name](shown(request))
    if name is None and not form:
        return _reply(shown(request))
    return answers.answer(request)


def shown(request: Mapping[str, Any]) -> str:
    """What stands between the marks, or else the first thing that the user's side says; a repair round comes later."""
    if found := blocks(request):
        return found[-1]
    own = [text for m in request["messages"] if m["role"] == "user" for text in wire.texts_of(m)]
    return own[0] if own else ""


def blocks(request: Mapping[str, Any]) -> list[str]:
    """All that stands between marks, in order."""
    texts = [text for message in request["messages"] for text in wire.texts_of(message)]
    return [found["data"] for text in texts for found in _ENCLOSED.finditer(text)]


def _reply(shown: str) -> str:
    """A free reply: the first words of what was shown."""
    return " ".join(shown.split()[:_WORDS]) or "I do not know."
