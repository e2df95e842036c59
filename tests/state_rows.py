"""What the log of a store says of personas and topics, as rows that can be compared: folded here from the decisions as
they stand in the file, so that what a store reads is held against it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from enum import Enum
from typing import Any

from embermem.core.changes import (
    BegunAnew,
    Cause,
    ChainSummarised,
    Change,
    Noted,
    Placed,
    SegmentEnded,
    SegmentGrew,
    SegmentTexts,
    SegmentWritten,
    Visited,
    sources,
)
from embermem.core.state import FactHistory, FactState, PersonaState, TopicState, Version
from embermem.core.state.persona import PERSONA
from embermem.core.types import OwnerId, Source
from embermem.store import checkpoints
from embermem.store.codec import decisions_from, json_text, micros, moment
from embermem.store.queries.changes import changes

Row = dict[str, Any]
KEYS = {
    "fact": ("fact_id",),
    "fact_state": ("fact_id", "change_no"),
    "trait": ("dimension", "change_no"),
    "profile": ("whose", "name", "change_no"),
    "person": ("relation", "one", "other", "change_no"),
    "note": ("page_id", "change_no"),
    "membership": ("page_id", "change_no"),
    "chain": ("chain_id", "change_no"),
    "segment_text": ("segment_id", "change_no"),
}
"""By the names of what `state_rows` gives, what tells its rows of one owner apart."""
TOPICS = ("note", "membership", "chain", "segment_text")


def log_of(look: Callable[..., list[Row]], owner_id: str) -> list[Change]:
    """An owner's changes, as they stand in a store."""
    rows = look(
        "SELECT no, cause, analyst, recorded_at, decisions FROM change WHERE owner_id = ? ORDER BY no", owner_id
    )
    return [
        Change(
            no=row["no"],
            cause=Cause(row["cause"]),
            analyst=row["analyst"],
            recorded_at=moment(row["recorded_at"]),
            decisions=decisions_from(row["decisions"]),
        )
        for row in rows
    ]


def state_rows(look: Callable[..., list[Row]], *, without: str | None = None) -> dict[str, list[Row]]:
    """By name, the versions of what is known of all owners but one, and of topics; and what these rest on
    (`source`)."""
    found: dict[str, list[Row]] = {name: [] for name in (*KEYS, "source")}
    for owner in look("SELECT owner_id FROM owner ORDER BY owner_id"):
        if owner["owner_id"] != without:
            log = log_of(look, owner["owner_id"])
            told = {**_of_owner(PersonaState(log)), **topic_rows(log)}
            told["source"] += _of_summaries(log)
            for name, rows in told.items():
                found[name] += [{"owner_id": owner["owner_id"], **row} for row in rows]
    return found


def _of_summaries(log: list[Change]) -> list[Row]:
    """What the summaries of chains, and what is new of the texts of segments, rest on."""
    found: dict[tuple[str, str], set[tuple[int, Source]]] = {}
    for change in log:
        for d in change.decisions:
            if isinstance(d, BegunAnew):
                found.clear()
            elif isinstance(d, ChainSummarised | SegmentWritten | SegmentGrew):
                key = ("chain", d.chain_id) if isinstance(d, ChainSummarised) else ("segment", d.segment_id)
                found.setdefault(key, set()).update((change.no, one) for one in sources(d))
    return [row for (item, item_id), told_by in found.items() for row in _sources(item, item_id, told_by)]


def topic_rows(log: list[Change]) -> dict[str, list[Row]]:
    """The versions of notes, of places of pages, and of what is told of chains and segments, each whole."""
    found: dict[str, dict[str, list[Row]]] = {name: {} for name in TOPICS}
    texts = SegmentTexts()
    for change in log:
        ended: list[str] = []
        for d in change.decisions:
            texts.take(d)
            if isinstance(d, BegunAnew):
                found, ended = {name: {} for name in TOPICS}, []
            elif isinstance(d, Noted):
                _version(found["note"], change.no, d.page_id, _told_of(d))
            elif isinstance(d, Placed):
                _version(found["membership"], change.no, d.page_id, _told_of(d))
            elif isinstance(d, ChainSummarised):
                _version(found["chain"], change.no, d.chain_id, _told_of(d))
            elif isinstance(d, SegmentWritten | SegmentGrew):
                text = texts.get(d.segment_id)
                assert text is not None
                _version(found["segment_text"], change.no, d.segment_id, _told_of(text))
            elif isinstance(d, SegmentEnded):
                ended.append(d.segment_id)
        for segment_id in ended:
            if (rows := found["segment_text"].get(segment_id)) and rows[-1]["retired_no"] is None:
                rows[-1]["retired_no"] = change.no
    return {name: [row for rows in of.values() for row in rows] for name, of in found.items()}


def visits(log: Iterable[Change], waiting: Iterable[Row] = ()) -> dict[str, tuple[int, int]]:
    """How often each segment and fact was visited, and when last, in microseconds; `waiting` are rows of visits."""
    found: dict[str, tuple[int, int]] = {}
    heirs: list[tuple[str, str]] = []

    def count(item: str, more: int, at: int) -> None:
        found[item] = found.get(item, (0, 0))[0] + more, max(found.get(item, (0, 0))[1], at)

    for change in log:
        if any(isinstance(d, BegunAnew) for d in change.decisions):
            found, heirs = {}, []
        for one in (one for d in change.decisions if isinstance(d, Visited) for one in d.items):
            count(one.item_id, one.visits, micros(one.at))
        heirs += [(d.segment_id, d.into) for d in change.decisions if isinstance(d, SegmentEnded) and d.into]
    for row in waiting:
        count(row["item_id"], row["visits"], row["visited_at"])
    for segment, into in heirs:
        if segment in found:
            count(into, *found.pop(segment))
    return found


def _told_of(d: object) -> Row:
    told: Row = json.loads(json_text(d))
    return {name: json_text(one) if isinstance(one, list) else one for name, one in told.items()}


def _version(of: dict[str, list[Row]], no: int, key: str, told: Row) -> None:
    rows = of.setdefault(key, [])
    if rows and rows[-1]["change_no"] == no:
        rows.pop()
    elif rows and rows[-1]["retired_no"] is None:
        rows[-1]["retired_no"] = no
    rows.append({**told, "change_no": no, "retired_no": None})


def _versions(fact: FactHistory) -> list[Version[FactState | None]]:
    """The versions of a fact's state, oldest first."""
    numbers = [*dict.fromkeys((fact.no, *(no for no, _ in fact.moves)))]
    return [Version(no, end, fact.state_at(no)) for no, end in zip(numbers, [*numbers[1:], None], strict=True)]


def _of_owner(state: PersonaState) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {name: [] for name in (*KEYS, "source")}
    for fact in state.facts:
        told, last = _plain(asdict(fact.added)), asdict(fact.now)
        fact_id = told["fact_id"]
        found["fact"].append({**told, **_plain(last), "change_no": fact.no, "retired_no": last["ended_no"]})
        for one in _versions(fact):
            numbers = {"fact_id": fact_id, "change_no": one.began, "retired_no": one.ended}
            assert one.value is not None
            found["fact_state"].append({**_plain(asdict(one.value)), **numbers})
        rests_on = {(fact.no, one) for one in fact.added.sources}
        rests_on |= {(no, one) for no, move in fact.moves for one in sources(move)}
        found["source"] += _sources("fact", fact_id, rests_on)
    for item in PERSONA:
        versions = state.items[item]
        for key in sorted(versions):
            for version in versions.of(key):
                numbers = {"change_no": version.began, "retired_no": version.ended}
                found[item.value].append({**_plain(asdict(version.value)), **numbers})
                told_by = {(version.began, one) for one in sources(version.value)}
                found["source"] += _sources(item.value, ".".join(key), told_by)
    return found


def _sources(item: str, item_id: str, told_by: set[tuple[int, Source]]) -> list[Row]:
    ordered = sorted(told_by, key=lambda one: (one[0], one[1].seq, one[1].start or 0, one[1].end or 0))
    return [
        {"item": item, "item_id": item_id, "change_no": no, "seq": one.seq, "start": one.start, "end": one.end}
        for no, one in ordered
    ]


def _plain(values: Row) -> Row:
    values = {name: value.value if isinstance(value, Enum) else value for name, value in values.items()}
    return {name: value for name, value in values.items() if name != "sources"}


def everything(state: PersonaState) -> list[object]:
    """All that a state tells of all its moments."""
    facts = {one.added.fact_id: (one.no, one.added, one.moves, _versions(one)) for one in state.facts}
    items = [{key: [*versions.of(key)] for key in versions} for versions in (state.items[item] for item in PERSONA)]
    return [state.no, state.begun, state.recorded, facts, items]


def all_topics(topics: TopicState) -> list[object]:
    """All that topics tell of all their moments."""
    spans = [
        sorted(
            (topics.name(key), topics.name(value) if name in ("places", "notes", "heirs") else value, began, ended)
            for key, value, began, ended in zip(
                one.keys.tolist(), one.values.tolist(), one.began.tolist(), one.ended.tolist(), strict=True
            )
        )
        for name, one in topics._spans()
    ]
    return [topics.no, topics.begun, dict(topics.recorded), spans]


def falsify(store: Any, owner_id: str, told: Callable[[Any], Any]) -> None:
    """Leave a checkpoint of an owner that says something else than the log: each decision as `told` makes it."""
    with store._write() as c:
        some = [checkpoints.persona_only(one) for one in changes(c, OwnerId(owner_id))]
        false = [replace(one, decisions=tuple(map(told, one.decisions))) for one in some if one.decisions]
        topics = TopicState().extended(changes(c, OwnerId(owner_id)))
        assert not some or checkpoints.write(c, OwnerId(owner_id), 0, false, some[-1].no, topics)
