"""What waits for the model, in sentences: how many pages, why, and until when."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import assert_never

from embermem.core.types import Waiting, WaitsFor
from embermem.reports import render

__all__ = ["SOME_WAIT", "WITHOUT_MODEL", "exit_code", "sentences"]

SOME_WAIT, WITHOUT_MODEL = 3, 4
"""Exit codes of commands that process pages: some wait to be placed; all are placed, some without the model."""


def sentences(waiting: Iterable[Waiting], now: datetime) -> list[str]:
    """One sentence for each reason."""
    return [_sentence(one, now) for one in waiting]


def exit_code(waiting: Iterable[Waiting]) -> int:
    """What a command that processed pages tells of what waits; 0: nothing does."""
    kinds = {one.waits_for for one in waiting}
    if WaitsFor.PLACE in kinds:
        return SOME_WAIT
    return WITHOUT_MODEL if kinds else 0


def _sentence(one: Waiting, now: datetime) -> str:
    count = "1 page" if one.pages == 1 else f"{one.pages} pages"
    some = one.pages != 1
    why = f": {one.reason}" if one.reason else ""
    at = f"after {render.when(one.until)}" if one.until > now else "when memory is processed next"
    match one.waits_for:
        case WaitsFor.PLACE:
            return f"{count} wait{'' if some else 's'}{why}; next try {at}"
        case WaitsFor.ANALYSIS:
            return f"{count} wait{'' if some else 's'} to be analysed for the profile{why}; next try {at}"
        case WaitsFor.READING:
            were = "were" if some else "was"
            return f"{count} {were} read without the model and will be read again {at}{why}"
        case _:
            assert_never(one.waits_for)
