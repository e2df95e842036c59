"""GVD, the companion dialogues of MemoryBank: what each user said on each day, and probing questions without answers.

Two files that stand side by side: `memory_bank*.json` (user → history by date → exchanges) and
`probing_questions*.jsonl` (user → questions). The rest of their names is the same: `_en`, `_cn`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time
from pathlib import Path

from embermem.core.errors import InputError
from embermem.core.types import Role
from embermem.transfer.datasets.reading import (
    as_list,
    as_object,
    conversation,
    distinct,
    json_of,
    read_text,
    refuse,
    shown,
    text_of,
)
from embermem.transfer.datasets.records import Conversation, Dataset, Question, Thread, Turn

CATEGORY = "gvd"
"""The category of all its questions."""
NOON = time(12, tzinfo=UTC)
"""When a day's turns are said: the file has days only, and noon in UTC is the same day in nearly every zone."""

_BANK = re.compile(r"memory_bank(.*)\.json")
_QUESTIONS = re.compile(r"probing_questions(.*)\.jsonl")


def bank_of(path: Path) -> Path:
    """The memory bank that a folder or a file of questions stands for; any other path as it is. Raises InputError."""
    try:
        names = sorted(p.name for p in path.iterdir() if _BANK.fullmatch(p.name)) if path.is_dir() else None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    if names is None:
        match = _QUESTIONS.fullmatch(path.name)
        return path if match is None else path.with_name(f"memory_bank{match[1]}.json")
    if not names:
        refuse(str(path), "no memory_bank*.json is in this folder; give a file, or a folder of GVD")
    if len(names) > 1:
        refuse(str(path), f"several data sets are in this folder ({', '.join(names)}); give one file")
    return path / names[0]


def is_bank(document: object) -> bool:
    """Whether the JSON looks like GVD's memory bank."""
    first = next(iter(document.values()), None) if isinstance(document, dict) else None
    return isinstance(first, dict) and isinstance(first.get("history"), dict)


def dataset(document: object, path: Path) -> Dataset:
    """The memory bank at `path`, with the questions that stand beside it. Raises InputError."""
    match = _BANK.fullmatch(path.name)
    if match is None:
        refuse(str(path), "this is GVD's memory bank: name it memory_bank*.json, with probing_questions*.jsonl beside")
    beside = path.with_name(f"probing_questions{match[1]}.jsonl")
    asked = _asked(read_text(beside), str(beside))
    bank = as_object(document, str(path)).items()
    users = [(text_of({"name": name}, "name", str(path)).strip(), item) for name, item in bank]
    if unknown := asked.keys() - {name for name, _ in users}:
        refuse(str(beside), f"the user {min(unknown)!r} is not in {path.name}")
    made = tuple(_user(name, item, asked.get(name, ()), f"{path}, {name}") for name, item in users)
    return Dataset(name=f"gvd{match[1]}", conversations=distinct(made, str(path)))


def _user(name: str, value: object, asked: Sequence[str], where: str) -> Conversation:
    history = as_object(as_object(value, where).get("history"), f"{where}, history")
    days = sorted((_day(key, f"{where}, history"), key) for key in history)
    threads = tuple(
        Thread(id=key, turns=tuple(_turns(name, day, key, history[key], f"{where}, {key}"))) for day, key in days
    )
    questions = [Question(id=f"{name}:Q{n}", text=text, category=CATEGORY) for n, text in enumerate(asked, 1)]
    return conversation(name, threads, questions, where)


def _turns(name: str, day: date, key: str, value: object, where: str) -> Iterator[Turn]:
    """What one side did not say is no turn."""
    at, number = datetime.combine(day, NOON), 0
    for n, one in enumerate(as_list(value, where), 1):
        exchange = as_object(one, f"{where}, exchange {n}")
        sides = [
            (name, Role.USER, text_of(exchange, "query", f"{where}, exchange {n}", empty=True)),
            (str(Role.ASSISTANT), Role.ASSISTANT, text_of(exchange, "response", f"{where}, exchange {n}", empty=True)),
        ]
        if not any(text.strip() for *_, text in sides):
            refuse(f"{where}, exchange {n}", "neither a query nor a response is in it")
        for speaker, role, text in sides:
            if text.strip():
                number += 1
                yield Turn(id=f"{key}:{number}", speaker=speaker, role=role, text=text, at=at)


def _day(key: str, where: str) -> date:
    try:
        return date.fromisoformat(key)
    except ValueError:
        refuse(where, f"the day is {shown(key)}; expected a form like 2023-04-27")


def _asked(text: str, where: str) -> dict[str, tuple[str, ...]]:
    """Each user's questions: one object a line, user → list of questions."""
    made: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        place = f"{where}, line {number}"
        for key, questions in as_object(json_of(line, place), place).items():
            user = key.strip()
            if user in made:
                refuse(place, f"the user {user!r} stands there twice")
            made[user] = tuple(
                text_of({"question": one}, "question", f"{place}, {user}, question {n}")
                for n, one in enumerate(as_list(questions, f"{place}, {user}"), 1)
            )
    return made
