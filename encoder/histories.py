"""What the encoder is trained on: histories of messages, and queries with the numbers of the messages that answer them.

`data/README.md` describes the files. Talk of other sources is read from a folder that is not in this repository
(`--talk`); without it only the invented people are read.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

__all__ = ["DATA", "History", "Message", "Query", "histories", "life"]

DATA = Path(__file__).parent / "data"
TALK = "talk"
"""The writer of all histories that are not ours."""
_NAMES = re.compile(r"(user|agent): ([^;]+)")


@dataclass(frozen=True, slots=True)
class Message:
    """Who said it, and what."""

    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked, and the numbers of the messages that answer it, the best first."""

    text: str
    answers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class History:
    """One person's messages, or one talk's, and what is asked of them; `writer` wrote the messages."""

    id: str
    writer: str
    messages: tuple[Message, ...]
    queries: tuple[Query, ...]


def histories(talk: Path | None) -> list[History]:
    """All histories that something is asked of. Raises ValueError for a query whose messages are not there."""
    asked = _queries(talk)
    found: list[History] = []
    for path in sorted(DATA.glob("people/*/*.txt")):
        name = f"{path.parent.name}-{path.stem}"
        found.append(History(name, path.parent.name, life(path), tuple(asked.pop(name, ()))))
    for path in sorted(talk.glob("*.jsonl")) if talk is not None else ():
        for line in _lines(path):
            one = json.loads(line)
            messages = tuple(Message(turn["speaker"], turn["text"]) for turn in one["turns"])
            found.append(History(one["id"], TALK, messages, tuple(asked.pop(one["id"], ()))))
    for history in found:
        for query in history.queries:
            if not query.answers or not 0 <= min(query.answers) <= max(query.answers) < len(history.messages):
                raise ValueError(f"{history.id}: {query.text!r} names messages that are not there: {query.answers}")
    return [history for history in found if history.queries]


def _queries(talk: Path | None) -> dict[str, list[Query]]:
    asked: dict[str, list[Query]] = defaultdict(list)
    for path in sorted(DATA.glob("queries/*/*.jsonl")):
        for one in map(json.loads, _lines(path)):
            asked[one["id"]].append(Query(one["query"], tuple(one["messages"])))
    for path in sorted(talk.glob("pairs/*.jsonl")) if talk is not None else ():
        for one in map(json.loads, _lines(path)):
            asked[one["id"]].append(Query(one["query"], tuple(one["turns"])))
    return asked


def life(path: Path) -> tuple[Message, ...]:
    """The messages of a life, with the names of user and agent in place of `u` and `a`."""
    head, *lines = _lines(path)
    names = {kind[0]: name.strip() for kind, name in _NAMES.findall(head)}
    messages: list[Message] = []
    for line in lines:
        if line.startswith("## "):
            continue
        if line.startswith("\t"):
            last = messages.pop()
            messages.append(Message(last.speaker, f"{last.text}\n{line.strip()}"))
            continue
        speaker, _, text = line.partition(":")
        messages.append(Message(names.get(speaker.strip(), speaker.strip()), text.strip()))
    return tuple(messages)


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
