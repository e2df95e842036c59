"""LoCoMo's own format: two people, dated sessions, questions in five categories.

Every turn is kept, in its session and with its session's date. A picture's caption enters the text. Malformed evidence
ids are repaired by the pattern `D\\d+:\\d+`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from embermem.core.types import Role
from embermem.transfer.datasets.reading import (
    as_list,
    as_object,
    conversation,
    distinct,
    maybe_text,
    objects,
    refuse,
    shown,
    text_of,
)
from embermem.transfer.datasets.records import Conversation, Dataset, Observation, Question, Thread, Turn

LOCOMO_HEADLINE = frozenset({"1", "2", "3", "4"})
"""LoCoMo's categories that have an answer; 5 is adversarial."""

_ADVERSARIAL = "5"
_EVIDENCE = re.compile(r"D\d+:\d+")
_SESSION = re.compile(r"session_0*([0-9]+)")
_OBSERVED = re.compile(r"session_\d+(?=_observation$)")
_SUMMARISED = re.compile(r"session_\d+(?=_summary$)")


def is_locomo(document: object) -> bool:
    """Whether the JSON looks like LoCoMo's own format: one sample, or a list of them."""
    first = document[0] if isinstance(document, list) and document else document
    return isinstance(first, dict) and isinstance(first.get("conversation"), dict)


def dataset(document: object, name: str, where: str) -> Dataset:
    """The whole file. Raises InputError."""
    samples = [document] if isinstance(document, dict) else as_list(document, where)
    made = tuple(_sample(sample, f"{where}, sample", n) for n, sample in enumerate(samples, 1))
    return Dataset(name=name, conversations=distinct(made, where), headline=LOCOMO_HEADLINE)


def _sample(sample: object, where: str, number: int) -> Conversation:
    item = as_object(sample, f"{where} {number}")
    name = maybe_text(item, "sample_id", f"{where} {number}") or str(number)
    where = f"{where} {number} ({name})"
    said = as_object(item.get("conversation"), f"{where}, conversation")
    threads = _threads(said, where)
    questions = objects(item.get("qa", []), where, "question", of="qa")
    asked = [_question(q, f"{name}:Q{n}", place) for n, (q, place) in enumerate(questions, 1)]
    return replace(
        conversation(name, threads, asked, where),
        observations=tuple(_observations(item.get("observation"), threads, f"{where}, observation")),
        summaries=dict(_summaries(item.get("session_summary"), f"{where}, session_summary")),
    )


# --------------------------------------------------------------------------------------------------- sessions


def _threads(said: Mapping[str, Any], where: str) -> tuple[Thread, ...]:
    """The sessions in the order of their numbers. The first to speak in the conversation stands on the user's side,
    everyone else on the agent's."""
    keys = sorted((len(match[1]), match[1], key) for key in said if (match := _SESSION.fullmatch(key)))
    sessions = {
        key: [as_object(t, f"{where}, {key}, turn {n}") for n, t in enumerate(as_list(said[key], f"{where}, {key}"), 1)]
        for *_, key in keys
    }
    first = next((turn.get("speaker") for turns in sessions.values() for turn in turns), None)
    dates = _dates(said, [key for key, turns in sessions.items() if turns], where)
    return tuple(
        Thread(
            id=key,
            turns=tuple(_turn(t, dates[key], first, f"{where}, {key}, turn {n}") for n, t in enumerate(turns, 1)),
        )
        for key, turns in sessions.items()
    )


def _dates(said: Mapping[str, Any], keys: Sequence[str], where: str) -> dict[str, datetime]:
    """Each session's date. One without takes that of the dated session before it, or else of the one after it."""
    given = {key: _date(said[f"{key}_date_time"], f"{where}, {key}") for key in keys if said.get(f"{key}_date_time")}
    if not keys:
        return {}
    if not given:
        refuse(where, "no session has a date")
    at, made = next(iter(given.values())), {}
    for key in keys:
        made[key] = at = given.get(key, at)
    return made


def _date(value: object, where: str) -> datetime:
    for pattern in ("%I:%M %p on %d %B, %Y", "%I:%M %p on %d %b, %Y"):
        try:
            return datetime.strptime(value if isinstance(value, str) else "", pattern).replace(tzinfo=UTC)
        except ValueError:
            continue
    refuse(where, f'the date is {shown(value)}; expected a form like "1:56 pm on 8 May, 2023"')


def _turn(item: Mapping[str, Any], at: datetime, first: object, where: str) -> Turn:
    speaker = text_of(item, "speaker", where)
    text = text_of(item, "text", where, empty=True)
    if caption := maybe_text(item, "blip_caption", where):
        text = f"{text} [photo: {caption}]".lstrip()
    role = Role.USER if item["speaker"] == first else Role.ASSISTANT
    return Turn(id=text_of(item, "dia_id", where), speaker=speaker, role=role, text=text, at=at)


# -------------------------------------------------------------------------------------------------- questions


def _question(item: Mapping[str, Any], name: str, where: str) -> Question:
    """Category 5 asks for what was not said: the answer that its file brings is a trap, and no answer is right."""
    cited = as_list(item.get("evidence") or [], f"{where}, evidence")
    category = text_of(item, "category", where, empty=True)
    answer, trap = maybe_text(item, "answer", where), maybe_text(item, "adversarial_answer", where)
    answerable = category != _ADVERSARIAL and not (answer is None and trap is not None)
    return Question(
        id=name,
        text=text_of(item, "question", where),
        category=category,
        evidence=frozenset(found for text in cited if isinstance(text, str) for found in _EVIDENCE.findall(text)),
        answer=answer if answerable else None,
        trap=trap,
        answerable=answerable,
    )


# ---------------------------------------------------------------------------------------------- a model's notes


def _observations(value: object, threads: Sequence[Thread], where: str) -> Iterator[Observation]:
    """What rests on no turn of the conversation is left out."""
    place = {turn.id: n for n, turn in enumerate(turn for thread in threads for turn in thread.turns)}
    for key, by_speaker in as_object(value or {}, where).items():
        if _OBSERVED.match(key) is None:
            continue
        for speaker, noted in as_object(by_speaker, f"{where}, {key}").items():
            for n, pair in enumerate(as_list(noted, f"{where}, {key}, {speaker}"), 1):
                at = f"{where}, {key}, {speaker}, {n}"
                if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], str):
                    refuse(at, "expected a text and the turns it rests on")
                text = text_of({"text": pair[0]}, "text", at, empty=True)
                turns = sorted(place.keys() & set(_cited(pair[1])), key=place.__getitem__)
                if turns:
                    yield Observation(speaker=speaker, text=text, turns=tuple(turns))


def _cited(value: object) -> Iterator[str]:
    """The turns that a text names, or a list of texts."""
    for text in value if isinstance(value, list) else [value]:
        if isinstance(text, str):
            yield from _EVIDENCE.findall(text)


def _summaries(value: object, where: str) -> Iterator[tuple[str, str]]:
    for key, text in as_object(value or {}, where).items():
        if (match := _SUMMARISED.match(key)) is not None and isinstance(text, str) and text.strip():
            yield match.group(), text
