"""Where the lines of a context stand: first who they are, then passages of documents, then what was said, in time order
under headers, then (in preset `paper`) summaries of that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from embermem.core.types import ProfileField, ThreadId, Utterance
from embermem.prompts.rendering import day, field, header

__all__ = ["in_time_order", "laid_out", "place_of", "profile_line"]

_DOCUMENTS = ("", ThreadId(""))


def laid_out(
    profile: Sequence[str],
    facts: Sequence[str],
    lines: Iterable[tuple[Utterance, str]],
    summaries: Sequence[str] = (),
) -> str:
    """The text: who they are and what is known of them, then passages of documents, then what was said, each day and
    thread under its header, then summaries."""
    persona = [*profile, *facts]
    said: list[str] = []
    quoted: list[str] = []
    over = None
    for utterance, line in lines:
        block = said if utterance.passage is None else quoted
        if (head := place_of(utterance)) != over:
            block.append(header(utterance))
            over = head
        block.append(line)
    return "\n\n".join("\n".join(block) for block in (persona, quoted, said, summaries) if block)


def place_of(utterance: Utterance) -> tuple[str, ThreadId]:
    """What one header stands over: a day of a thread; all passages of documents."""
    return _DOCUMENTS if utterance.passage is not None else (day(utterance.said_at), utterance.thread)


def in_time_order(utterances: Mapping[int, Utterance]) -> list[int]:
    """Rows by day, within a day by the thread's first utterance, within a thread by time and seq. Before them passages
    of documents, each document's in the order of its text."""
    first: dict[tuple[str, ThreadId], tuple[datetime, int]] = {}
    passages = {row: one.passage for row, one in utterances.items() if one.passage is not None}
    for u in utterances.values():
        key = place_of(u)
        first[key] = min(first.get(key, (u.said_at, u.seq)), (u.said_at, u.seq))

    def place(row: int) -> tuple[str, datetime, int, datetime, int]:
        u = utterances[row]
        return (day(u.said_at), *first[place_of(u)], u.said_at, u.seq)

    quoted = sorted(passages, key=lambda row: (passages[row].title, passages[row].document, passages[row].start))
    return [*quoted, *sorted((row for row in utterances if row not in passages), key=place)]


def profile_line(whose: str, fields: Sequence[ProfileField]) -> str:
    """`user: name Alice; birth year 1994`."""
    return f"{whose}: {'; '.join(map(field, fields))}"
