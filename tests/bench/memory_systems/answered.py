"""A scripted model whose answers a test gives in turn, by the question's schema; it keeps what each was shown."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping
from typing import Any

from embermem_bench.scripted import systems as scripts


class Answered:
    """For `ModelServer.reply_with`. A question that no answer was given for is answered by rule (testing/scripts)."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self._given: defaultdict[str, deque[Mapping[str, Any]]] = defaultdict(deque)

    def give(self, name: str, *answers: Mapping[str, Any]) -> None:
        """The next answers to a question, in turn."""
        self._given[name].extend(answers)

    def clear(self) -> None:
        """Nothing was given or asked yet."""
        self._given.clear()
        self.asked.clear()

    def shown(self, name: str) -> list[str]:
        """What each question of this name was shown."""
        return [shown for asked, shown in self.asked if asked == name]

    def names(self) -> list[str]:
        """The questions that were asked, in order."""
        return [name for name, _ in self.asked]

    def __call__(self, request: Mapping[str, Any]) -> str | Mapping[str, Any]:
        name = request["response_format"]["json_schema"]["name"]
        self.asked.append((name, scripts.shown(request)))
        return self._given[name].popleft() if self._given[name] else scripts.answer(request)
