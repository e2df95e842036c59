"""The scripted model without a server: the same answers in the same process, for runs without a network or a key."""

from __future__ import annotations

import json
from collections.abc import Iterator

from embermem.index.tokens import counter
from embermem.protocols import ModelReply, ModelRequest
from embermem.testing import wire
from embermem_bench import scripted

_COUNTER = "approx"


class ScriptedModel:
    """A LanguageModel whose answers are `scripted.answer`; tokens are counted as the scripted server counts them."""

    def __init__(self, name: str = "scripted") -> None:
        self._name = name

    @property
    def name(self) -> str:
        """The name it was given."""
        return self._name

    def complete(self, request: ModelRequest) -> ModelReply:
        """The answer by rule. Raises ValueError for a question that is not known."""
        body: wire.Request = {
            "model": self._name,
            "messages": [{"role": one.role.value, "content": one.text} for one in request.messages],
        }
        if request.schema is not None:
            named = {"name": request.schema.name, "strict": True, "schema": dict(request.schema.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        said = scripted.answer(body)
        text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
        return ModelReply(
            text=text, prompt_tokens=wire.prompt_tokens(body), completion_tokens=counter(_COUNTER).count(text)
        )

    def stream(self, request: ModelRequest) -> Iterator[str | ModelReply]:
        """The same, in one piece."""
        reply = self.complete(request)
        yield reply.text
        yield reply
