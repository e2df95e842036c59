"""When an answer has ended, though the model goes on: the object asked for is complete, or it repeats itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from embermem.llms import estimate
from embermem.llms.structured import follows

__all__ = ["Ending", "repeats"]

# A text repeats itself if so many characters at its end are one part of at most a quarter of them, over and over.
_TAIL_CHARS = 1200
_LOOK_EVERY = 200
# What may stand before an answer that is JSON and nothing else, and after it.
_BEFORE = re.compile(r"\s*(?:```\w*\s*)?")
_AFTER = " \t\r\n`"
_AFTER_CHARS = 40
# Our estimate of tokens may be half the server's count.
_OVER = 2


class Ending:
    """Watches one structured answer as it comes."""

    def __init__(self, schema: Mapping[str, Any], max_tokens: int) -> None:
        self._schema = schema
        self._most = _OVER * max_tokens
        self.text = ""
        self.cut = False
        """Whether it was ended for its length; the server does not keep to the limit it was given."""
        self._looked = 0
        self._at: int | None = None
        self._depth = 0
        self._quoted = self._escaped = False
        self._end: int | None = None

    def feed(self, piece: str) -> bool:
        """Take the next piece; whether the answer has ended with it."""
        self.text += piece
        if self._complete():
            return True
        if len(self.text) - self._looked < _LOOK_EVERY:
            return False
        self._looked = len(self.text)
        self.cut = estimate.text_tokens(self.text) > self._most
        return self.cut or repeats(self.text)

    def _complete(self) -> bool:
        """Whether the text is an object of the form asked for, and something follows it that is no part of it. What a
        server says at the end, its count of tokens, comes before that."""
        if self._end is None:
            self._scan()
        if self._end is None:
            return False
        after = self.text[self._end :]
        return bool(after.strip(_AFTER)) or len(after) > _AFTER_CHARS

    def _scan(self) -> None:
        """Go on to the end of the object that the text begins with."""
        if self._at is None:
            before = _BEFORE.match(self.text)
            begins = before.end() if before else 0
            if self.text[begins : begins + 1] != "{":
                return
            self._at = begins
        for at in range(self._at, len(self.text)):
            char = self.text[at]
            if self._quoted:
                if self._escaped:
                    self._escaped = False
                elif char == "\\":
                    self._escaped = True
                elif char == '"':
                    self._quoted = False
            elif char == '"':
                self._quoted = True
            elif char in "{[":
                self._depth += 1
            elif char in "}]":
                self._depth -= 1
                if self._depth == 0:
                    self._at = at + 1
                    if follows(self.text[: at + 1], self._schema):
                        self._end = at + 1
                        return
        self._at = len(self.text)


def repeats(text: str) -> bool:
    """Whether the text ends in one part over and over. A list whose items differ, by a number too, does not."""
    tail = text[-_TAIL_CHARS:]
    if len(tail) < _TAIL_CHARS:
        return False
    borders = [0] * len(tail)  # of each beginning of the tail: the longest part that it both begins and ends with
    length = 0
    for at in range(1, len(tail)):
        while length and tail[at] != tail[length]:
            length = borders[length - 1]
        length += tail[at] == tail[length]
        borders[at] = length
    return len(tail) - borders[-1] <= _TAIL_CHARS // 4
