"""The model of MemGPT's tests: a server whose function calls a test gives in turn."""

from __future__ import annotations

from typing import Any

from embermem.testing.model_server import ModelServer
from embermem_bench.scripted import systems as scripts


def call(function: str, *, heartbeat: bool = False, **given: object) -> dict[str, Any]:
    return {"function": function, "heartbeat": heartbeat, **given}


class Model:
    """A server that gives these answers one after the other, then `at_last`; and what it was shown."""

    def __init__(self, server: ModelServer, at_last: dict[str, Any]) -> None:
        self.server = server
        self.answers: list[dict[str, Any]] = []
        self._at_last = at_last
        server.reply_with(self._answer)

    def says(self, *answers: dict[str, Any]) -> None:
        self.answers = list(answers)

    @property
    def shown(self) -> list[str]:
        return [scripts.shown(request) for request in self.server.requests]

    @property
    def queue(self) -> list[str]:
        """The lines of the queue in the last request."""
        lines = self.shown[-1].splitlines()
        return lines[lines.index("queue:") + 1 :]

    def _answer(self, request: Any) -> dict[str, Any]:
        if request["response_format"]["json_schema"]["name"] == "MemGptSummary":
            return {"summary": "They spoke of birds"}
        return self.answers.pop(0) if self.answers else self._at_last
