"""How many pages a model is shown in one question: fewer after an answer that could not be used, or of which nothing
was believed; slowly more again."""

from __future__ import annotations

import threading

_NO_LIMIT = 2**31
_ANSWERS = 4
"""Good answers in a row at one size before more pages are shown."""
_MOST_ANSWERS = 64
"""The same, where more pages failed several times."""
_HOPELESS = 4
"""Single pages in a row whose answers could not be used, or believed: then the model is asked about one page a claim,
or a segment, as a trial."""


class Pace:
    """What one kind of question to one model has taught about the number of pages. Shared by all claims of a process;
    safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._limit = _NO_LIMIT
        self._good = 0
        self._needed = _ANSWERS
        self._grown = False
        self._alone = 0

    def size(self, most: int) -> int:
        """How many of at most `most` pages to show next."""
        return min(self._limit, most)

    @property
    def hopeless(self) -> bool:
        """Whether the answers of several single pages in a row could not be used, or believed."""
        return self._alone >= _HOPELESS

    def answered(self, pages: int) -> None:
        """A question of so many pages got a usable answer."""
        with self._lock:
            self._alone = 0
            if pages < self._limit:
                return
            self._good += 1
            if self._good >= self._needed:
                self._limit, self._good, self._grown = 2 * self._limit, 0, True

    def failed(self, pages: int) -> None:
        """A question of so many pages got no answer that can be used or believed: half as many are shown next."""
        with self._lock:
            self._good = 0
            if pages == 1:
                self._alone += 1
            if self._grown:
                self._needed, self._grown = min(2 * self._needed, _MOST_ANSWERS), False
            self._limit = min(self._limit, max(1, pages // 2))
