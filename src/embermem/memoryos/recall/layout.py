"""Where the lines of a context stand: who they are, what the user wants, what is known, passages of documents, what was
said, in time order under headers, and (in preset `paper`) summaries of that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from embermem.core.types import ProfileField, ThreadId, Utterance
from embermem.languages.language import Language
from embermem.prompts.rendering import KNOWN, WISHES, day, field, header

__all__ = ["in_time_order", "laid_out", "place_of", "profile_line"]

_DOCUMENTS = ""


def laid_out(
    profile: Sequence[str],
    wishes: Sequence[str],
    facts: Sequence[str],
    lines: Iterable[tuple[Utterance, str]],
    summaries: Sequence[str] = (),
    *,
    language: Language | None = None,
) -> str:
    """The text: who they are, what the user wants of the agent, what is known, then passages of documents, then what
    was said, each day under its header, then summaries. Each block has its heading and ends with an empty line."""
    said: list[str] = []
    quoted: list[str] = []
    over = None
    for utterance, line in lines:
        block = said if utterance.passage is None else quoted
        if (head := place_of(utterance)) != over:
            block.append(header(utterance, language))
            over = head
        block.append(line)
    blocks = (profile, [WISHES, *wishes] if wishes else [], [KNOWN, *facts] if facts else [], quoted, said, summaries)
    return "\n\n".join("\n".join(block) for block in blocks if block)


def place_of(utterance: Utterance) -> str:
    """What one header stands over: a day; all passages of documents."""
    return _DOCUMENTS if utterance.passage is not None else day(utterance.said_at)


def in_time_order(utterances: Mapping[int, Utterance]) -> list[int]:
    """Rows by day, within a day by the thread's first utterance, within a thread by time and seq. Before them passages
    of documents, each document's in the order of its text."""
    first: dict[tuple[str, ThreadId], tuple[datetime, int]] = {}
    passages = {row: one.passage for row, one in utterances.items() if one.passage is not None}
    for u in utterances.values():
        key = day(u.said_at), u.thread
        first[key] = min(first.get(key, (u.said_at, u.seq)), (u.said_at, u.seq))

    def place(row: int) -> tuple[str, datetime, int, datetime, int]:
        u = utterances[row]
        return (day(u.said_at), *first[day(u.said_at), u.thread], u.said_at, u.seq)

    quoted = sorted(passages, key=lambda row: (passages[row].title, passages[row].document, passages[row].start))
    return [*quoted, *sorted((row for row in utterances if row not in passages), key=place)]


def profile_line(whose: str, fields: Sequence[ProfileField]) -> str:
    """`user: name Alice; birth year 1994`."""
    return f"{whose}: {'; '.join(map(field, fields))}"
