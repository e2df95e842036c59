"""What a data set brings to compare a memory with: a model's notes, the project of each thread, the events of a life.

LoCoMo's own format has notes (`observation`) and events (`event_summary`), the recall-set format has notes (`memories`)
and projects (`project` of a thread). docs/research/understanding.md describes these keys.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from embermem.transfer.datasets.reading import as_list, as_object, maybe_text, objects, read_json, text_of
from embermem_bench.datasets import Conversation, Dataset, is_locomo, is_neutral, load
from embermem_bench.datasets.gvd import bank_of

MIXED = "Enhanced"
"""The project of threads that mix several: they are in no project here."""
_HEADER_END = "】"
"""A note may begin with the name of its project in 【 】."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Note:
    """What a model noted, without the name of its speaker, and the turns that it rests on, at least one."""

    text: str
    turns: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Gold:
    """What a file brings for one conversation: notes, the project of each thread that has one, and each speaker's
    events as one text."""

    notes: tuple[Note, ...] = ()
    project_of: Mapping[str, str] = field(default_factory=dict)
    events: Mapping[str, str] = field(default_factory=dict)


def load_with_gold(path: Path) -> tuple[Dataset, dict[str, Gold]]:
    """A data set, and what its file brings for each conversation, by id. Raises InputError."""
    path = bank_of(path)
    dataset = load(path)
    return dataset, gold_of(dataset, read_json(path), str(path))


def gold_of(dataset: Dataset, document: object, where: str) -> dict[str, Gold]:
    """The same of a file's JSON, whose conversations are those of the data set in the same order. Raises InputError."""
    if is_neutral(document):
        items = objects(as_object(document, where)["conversations"], where, "conversation")
        made = [_of_neutral(c, *item) for c, item in zip(dataset.conversations, items, strict=True)]
    elif is_locomo(document):
        samples = document if isinstance(document, list) else [document]
        made = [
            _of_locomo(c, as_object(sample, where), f"{where} ({c.id})")
            for c, sample in zip(dataset.conversations, samples, strict=True)
        ]
    else:
        made = [Gold() for _ in dataset.conversations]
    return {conversation.id: gold for conversation, gold in zip(dataset.conversations, made, strict=True)}


def _of_neutral(conversation: Conversation, item: Mapping[str, Any], where: str) -> Gold:
    turns = {turn.id for _, turn in conversation.turns()}
    projects = {
        text_of(thread, "id", place): maybe_text(thread, "project", place)
        for thread, place in objects(item.get("threads"), where, "thread")
    }
    return Gold(
        notes=tuple(
            Note(text=text_of(memory, "text", place).rpartition(_HEADER_END)[2], turns=(turn,))
            for memory, place in objects(item.get("memories") or [], where, "memory", of="memories")
            if (turn := maybe_text(memory, "evidence", place)) in turns and turn is not None
        ),
        project_of={thread: project for thread, project in projects.items() if project and project != MIXED},
    )


def _of_locomo(conversation: Conversation, sample: Mapping[str, Any], where: str) -> Gold:
    events: defaultdict[str, list[str]] = defaultdict(list)
    for name, happened in _events(sample.get("event_summary"), f"{where}, event_summary"):
        events[name].append(happened)
    return Gold(
        notes=tuple(
            Note(text=noted.text.replace(noted.speaker, ""), turns=noted.turns) for noted in conversation.observations
        ),
        events={name: " ".join(happened) for name, happened in events.items()},
    )


def _events(value: object, where: str) -> Iterator[tuple[str, str]]:
    """Each speaker's events, session by session."""
    for key, by_speaker in as_object(value or {}, where).items():
        for name, rows in as_object(by_speaker, f"{where}, {key}").items():
            if name == "date":
                continue
            place = f"{where}, {key}, {name}"
            yield name, " ".join(text_of({"event": row}, "event", place, empty=True) for row in as_list(rows, place))
