"""A long request in the first person goes on with something: of what it may mean, the latest counts more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from embermem.index.query_context import View
from embermem.languages.questions import asks_of_oneself, asks_of_the_past
from embermem.languages.words import content_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["is_long_request", "thread_recency"]

_REQUEST = 8
"""Content words of a query from which it is a request rather than a question."""


def is_long_request(view: View) -> bool:
    """Whether the age of a thread counts for a query: not for a question, nor for what asks about days or the past, of
    which age says nothing; nor where `recall_lately` is 0 or nothing was said."""
    text = view.query.text
    return (
        view.settings.recall_lately > 0.0
        and view.n > 0
        and not view.asks_days_alone
        and len(content_words(text)) >= _REQUEST
        and asks_of_oneself(text)
        and not asks_of_the_past(text)
    )


def thread_recency(view: View) -> Floats:
    """−ln(1 + threads begun since) for each row, shape (n,), of a snapshot with rows."""
    threads = view.snapshot.thread_of(view.n).astype(np.float64)
    return np.asarray(-np.log1p(threads.max() - threads))
