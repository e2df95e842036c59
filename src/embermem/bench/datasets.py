"""Data sets as conversations and questions: LoCoMo's own format and the neutral recall-set format.

Rules: turns stand in file order; a time without a zone is UTC; a picture's caption enters the text;
malformed evidence ids are repaired by the pattern `D\\d+:\\d+`. Evidence that is not in the data is left out, and a
question without any left is skipped and counted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

from embermem.errors import InputError
from embermem.types import Role

LOCOMO_HEADLINE = frozenset({"1", "2", "3", "4"})
"""LoCoMo's categories that have an answer; 5 is adversarial."""

_EVIDENCE = re.compile(r"D\d+:\d+")
_SESSION = re.compile(r"session_(\d+)")
_OBSERVED = re.compile(r"session_\d+(?=_observation$)")
_SUMMARISED = re.compile(r"session_\d+(?=_summary$)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """One message of a data set. `text` has the picture's caption in it."""

    id: str
    speaker: str
    role: Role
    text: str
    at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Thread:
    """One session of a conversation."""

    id: str
    turns: tuple[Turn, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """A question and where its answer stands: turns, or threads of which any turn counts."""

    id: str
    text: str
    category: str
    at: datetime | None = None
    after_turn: str | None = None
    evidence: frozenset[str] = frozenset()
    evidence_threads: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True, slots=True)
class Observation:
    """What a model noted of a speaker, and the turns that it rests on, in the order of the conversation."""

    speaker: str
    text: str
    turns: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Conversation:
    """What one owner said and heard, and what is asked about it. `skipped` counts questions without usable evidence.

    `observations` and `summaries` (by thread) are a model's, if the file brings any: bench/recorded.py replays them.
    """

    id: str
    threads: tuple[Thread, ...]
    questions: tuple[Question, ...]
    skipped: int = 0
    observations: tuple[Observation, ...] = ()
    summaries: Mapping[str, str] = field(default_factory=dict)

    def turns(self) -> Iterator[tuple[Thread, Turn]]:
        """Every turn with its thread, in file order."""
        return ((thread, turn) for thread in self.threads for turn in thread.turns)


@dataclass(frozen=True, kw_only=True, slots=True)
class Dataset:
    """Conversations of one file. `headline` names the categories that the headline figures cover; None: all."""

    name: str
    conversations: tuple[Conversation, ...]
    headline: frozenset[str] | None = None


def load(path: str | Path) -> Dataset:
    """A data set from a file of either format.

    Raises InputError that names the file, the place in it and what is wrong.
    """
    path = Path(path)
    try:
        document = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8: {error.reason} at byte {error.start}") from error
    except json.JSONDecodeError as error:
        raise InputError(f"{path}, line {error.lineno}: not JSON ({error.msg})") from error
    return parse(document, path.stem, str(path))


def parse(document: object, name: str, where: str) -> Dataset:
    """A data set from parsed JSON; `name` is used if it brings none, `where` begins each error."""
    if is_neutral(document):
        return _neutral(document, name, where)
    if is_locomo(document):
        samples = [document] if isinstance(document, dict) else document
        made = tuple(_locomo(sample, f"{where}, sample {n}") for n, sample in enumerate(_list(samples, where), 1))
        return Dataset(name=name, conversations=_distinct(made, where), headline=LOCOMO_HEADLINE)
    _refuse(where, 'neither LoCoMo (a list of {"conversation", "qa"}) nor a recall set ({"conversations": [...]})')


def is_neutral(document: object) -> bool:
    """Whether the JSON looks like the neutral recall-set format."""
    return isinstance(document, dict) and "conversations" in document


def is_locomo(document: object) -> bool:
    """Whether the JSON looks like LoCoMo's own format: one sample, or a list of them."""
    first = document[0] if isinstance(document, list) and document else document
    return isinstance(first, dict) and isinstance(first.get("conversation"), dict)


# ---------------------------------------------------------------------------------------------------- neutral


def _neutral(document: object, name: str, where: str) -> Dataset:
    root = _dict(document, where)
    made = tuple(
        _neutral_conversation(_dict(item, f"{where}, conversation {n}"), f"{where}, conversation {n}")
        for n, item in enumerate(_list(root["conversations"], f"{where}, conversations"), 1)
    )
    return Dataset(name=str(root.get("name") or name), conversations=_distinct(made, where))


def _neutral_conversation(item: dict[str, Any], where: str) -> Conversation:
    where = f"{where} ({item['id']})" if "id" in item else where
    threads = tuple(
        _neutral_thread(_dict(t, f"{where}, thread {n}"), f"{where}, thread {n}")
        for n, t in enumerate(_list(item.get("threads"), f"{where}, threads"), 1)
    )
    asked = [
        _neutral_question(_dict(q, f"{where}, question {n}"), f"{where}, question {n}")
        for n, q in enumerate(_list(item.get("questions", []), f"{where}, questions"), 1)
    ]
    return _conversation(_text(item, "id", where), threads, asked, where)


def _neutral_thread(item: dict[str, Any], where: str) -> Thread:
    at = item.get("at")
    turns = tuple(
        _neutral_turn(_dict(t, f"{where}, turn {n}"), at, f"{where}, turn {n}")
        for n, t in enumerate(_list(item.get("turns"), f"{where}, turns"), 1)
    )
    return Thread(id=_text(item, "id", where), turns=turns)


def _neutral_turn(item: dict[str, Any], thread_at: object, where: str) -> Turn:
    role = item.get("role", "user")
    if role not in tuple(Role):
        _refuse(where, f"role is {role!r}; allowed: {', '.join(Role)}")
    return Turn(
        id=_text(item, "id", where),
        speaker=str(item.get("speaker") or role),
        role=Role(role),
        text=_text(item, "text", where, empty=True),
        at=_time(item.get("at", thread_at), where),
    )


def _neutral_question(item: dict[str, Any], where: str) -> Question:
    after, at = item.get("after_turn"), item.get("at")
    return Question(
        id=_text(item, "id", where),
        text=_text(item, "text", where),
        category=str(item.get("category", "")),
        at=None if at is None else _time(at, where),
        after_turn=None if after is None else str(after),
        evidence=frozenset(map(str, _list(item.get("evidence") or [], f"{where}, evidence"))),
        evidence_threads=frozenset(map(str, _list(item.get("evidence_threads") or [], f"{where}, evidence_threads"))),
    )


# ----------------------------------------------------------------------------------------------------- LoCoMo


def _locomo(sample: object, where: str) -> Conversation:
    item = _dict(sample, where)
    name = str(item.get("sample_id") or where.rpartition(" ")[2])
    where = f"{where} ({name})"
    said = _dict(item.get("conversation"), f"{where}, conversation")
    numbers = sorted(int(match[1]) for key in said if (match := _SESSION.fullmatch(key)))
    sessions = [(f"session_{n}", _list(said[f"session_{n}"], f"{where}, session_{n}")) for n in numbers]
    first = next((str(_dict(t, where).get("speaker")) for _, turns in sessions for t in turns), "")
    threads = tuple(
        _locomo_session(key, turns, said.get(f"{key}_date_time"), first, f"{where}, {key}") for key, turns in sessions
    )
    asked = [
        _locomo_question(_dict(q, f"{where}, question {n}"), f"{name}:Q{n}", f"{where}, question {n}")
        for n, q in enumerate(_list(item.get("qa", []), f"{where}, qa"), 1)
    ]
    return replace(
        _conversation(name, threads, asked, where),
        observations=tuple(_observations(item.get("observation"), threads, f"{where}, observation")),
        summaries=dict(_summaries(item.get("session_summary"), f"{where}, session_summary")),
    )


def _observations(value: object, threads: Sequence[Thread], where: str) -> Iterator[Observation]:
    """What rests on no turn of the conversation is left out."""
    place = {turn.id: n for n, turn in enumerate(turn for thread in threads for turn in thread.turns)}
    for key, by_speaker in _dict(value or {}, where).items():
        if _OBSERVED.match(key) is None:
            continue
        for speaker, noted in _dict(by_speaker, f"{where}, {key}").items():
            for n, pair in enumerate(_list(noted, f"{where}, {key}, {speaker}"), 1):
                at = f"{where}, {key}, {speaker}, {n}"
                if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], str):
                    _refuse(at, "expected a text and the turns it rests on")
                turns = sorted(place.keys() & set(_EVIDENCE.findall(str(pair[1]))), key=place.__getitem__)
                if turns:
                    yield Observation(speaker=speaker, text=pair[0], turns=tuple(turns))


def _summaries(value: object, where: str) -> Iterator[tuple[str, str]]:
    for key, text in _dict(value or {}, where).items():
        if (match := _SUMMARISED.match(key)) is not None and isinstance(text, str) and text.strip():
            yield match.group(), text


def _locomo_session(key: str, turns: Sequence[object], at: object, first: str, where: str) -> Thread:
    if not turns:
        return Thread(id=key, turns=())
    said_at = _locomo_time(at, where)
    made = (
        _locomo_turn(_dict(t, f"{where}, turn {n}"), said_at, first, f"{where}, turn {n}")
        for n, t in enumerate(turns, 1)
    )
    return Thread(id=key, turns=tuple(made))


def _locomo_turn(item: dict[str, Any], at: datetime, first: str, where: str) -> Turn:
    """The first to speak in the conversation stands on the user's side, everyone else on the agent's."""
    speaker = _text(item, "speaker", where)
    text = _text(item, "text", where, empty=True)
    if caption := item.get("blip_caption"):
        text = f"{text} [photo: {caption}]".lstrip()
    role = Role.USER if speaker == first else Role.ASSISTANT
    return Turn(id=_text(item, "dia_id", where), speaker=speaker, role=role, text=text, at=at)


def _locomo_question(item: dict[str, Any], name: str, where: str) -> Question:
    cited = _list(item.get("evidence") or [], f"{where}, evidence")
    return Question(
        id=name,
        text=_text(item, "question", where),
        category=str(item.get("category", "")),
        evidence=frozenset(found for text in cited for found in _EVIDENCE.findall(str(text))),
    )


def _locomo_time(value: object, where: str) -> datetime:
    for pattern in ("%I:%M %p on %d %B, %Y", "%I:%M %p on %d %b, %Y"):
        try:
            return datetime.strptime(str(value), pattern).replace(tzinfo=UTC)
        except ValueError:
            continue
    _refuse(where, f'the date is {value!r}; expected a form like "1:56 pm on 8 May, 2023"')


# ------------------------------------------------------------------------------------------------------ checks


def _conversation(name: str, threads: tuple[Thread, ...], asked: Sequence[Question], where: str) -> Conversation:
    turn_ids = [turn.id for thread in threads for turn in thread.turns]
    thread_ids = [thread.id for thread in threads]
    for kind, ids in (("turn", turn_ids), ("thread", thread_ids), ("question", [q.id for q in asked])):
        if len(set(ids)) != len(ids):
            twice = next(item for n, item in enumerate(ids) if item in ids[:n])
            _refuse(where, f"the {kind} id {twice!r} stands there twice")
    known_turns, known_threads = frozenset(turn_ids), frozenset(thread_ids)
    for question in asked:
        if question.after_turn is not None and question.after_turn not in known_turns:
            _refuse(
                where, f"question {question.id}: after_turn {question.after_turn!r} is no turn of this conversation"
            )
    found = (
        replace(q, evidence=q.evidence & known_turns, evidence_threads=q.evidence_threads & known_threads)
        for q in asked
    )
    usable = tuple(q for q in found if q.evidence or q.evidence_threads)
    return Conversation(id=name, threads=threads, questions=usable, skipped=len(asked) - len(usable))


def _distinct(conversations: tuple[Conversation, ...], where: str) -> tuple[Conversation, ...]:
    ids = [c.id for c in conversations]
    if not ids:
        _refuse(where, "there is no conversation in it")
    for n, item in enumerate(ids):
        if item in ids[:n]:
            _refuse(where, f"the conversation id {item!r} stands there twice")
    return conversations


def _dict(value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        _refuse(where, f"expected an object, found {type(value).__name__}")
    return dict(value)


def _list(value: object, where: str) -> list[Any]:
    if not isinstance(value, list):
        _refuse(where, f"expected a list, found {type(value).__name__}")
    return value


def _text(item: Mapping[str, Any], key: str, where: str, *, empty: bool = False) -> str:
    value = item.get(key, "" if empty else None)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not (value or empty):
        _refuse(where, f"{key!r} is missing or not a text")
    return value


def _time(value: object, where: str) -> datetime:
    try:
        at = datetime.fromisoformat(str(value))
    except ValueError:
        _refuse(where, f"the time is {value!r}; expected ISO 8601, such as 2026-05-02T10:00:00")
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)


def _refuse(where: str, what: str) -> NoReturn:
    raise InputError(f"{where}: {what}")
