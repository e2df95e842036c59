"""The playground: the context that a model would see for a query, beside what made it. It counts no visit."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse, Response

from embermem.core.config import PRESETS, Preset
from embermem.core.errors import InputError
from embermem.core.types import Context, Hit, LeftOut, Utterance
from embermem.http.inspector.drawing import calendar, charts, context_lines
from embermem.http.inspector.drawing.context_lines import Line
from embermem.http.inspector.place import Changing, PageContext, PageRoute, Place, first_recorded
from embermem.memory import OwnerMemory
from embermem.transfer.recall_sets import Marked, recall_set

LEFT_OUT = 40
"""Of what was left out, so many are listed."""
MOST = 50
"""Hits shown at most: a Context names no more unless the setting `hits` says so."""
HITS = 10
"""Hits shown unless the reader says otherwise."""
FOUND = 15
"""Utterances found by words, of which one may be marked."""
FIELDS = ("q", "budget", "k", "preset", "thread", "at", "as_of", "valid_at")
"""What a query is asked with, by the names in the address; those of the right side end in 2."""

router = APIRouter(route_class=PageRoute, include_in_schema=False)

_Text = Annotated[str, Form()]
_Numbers = Annotated[list[int], Form(default_factory=list)]
_Texts = Annotated[list[str], Form(default_factory=list)]


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """A query and how it is asked, as the address says."""

    query: str
    budget: int
    shown: int
    preset: Preset
    thread: str
    at: str
    as_of: str
    valid_at: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Side:
    """One recall and what is shown of it. `key` begins the ids of its parts, `suffix` ends the names of its fields."""

    key: str
    suffix: str
    asked: Asked
    context: Context | None = None
    milliseconds: float = 0.0
    lines: Sequence[Line] = ()
    parts: Sequence[tuple[str, int]] = ()
    packed: Sequence[charts.HitBar] = ()
    others: Sequence[charts.HitBar] = ()
    zero: float = 0.0
    left_out: Sequence[LeftOut] = ()


@router.get("/playground")
def playground(here: PageContext) -> HTMLResponse:
    """A query and its context, or two side by side."""
    given = dict(here.request.query_params)
    settings = here.memory.settings
    comparing = "q2" in given or given.get("compare") == "1"
    left = _side(here.mine, "a", "", _asked(given, "", settings.budget, settings.preset))
    sides, difference = [left], None
    if comparing:
        beside = {**{f"{name}2": given[name] for name in FIELDS if name in given}, **given}
        right = _side(here.mine, "b", "2", _asked(beside, "2", settings.budget, settings.preset))
        sides, difference = _compared(left, right)
    return here.page(
        "playground.html",
        title="Playground",
        sides=sides,
        comparing=comparing,
        difference=difference,
        presets=tuple(PRESETS),
        groups=charts.GROUPS,
        defaults={"budget": settings.budget, "preset": settings.preset, "k": HITS},
        why=context_lines.why,
        wrong=None if comparing or left.context is None else _wrong(here, left),
        address=_address(here, given, comparing),
        most_left=LEFT_OUT,
        nothing_said=here.mine.state() is None,
        first={side.suffix: first_recorded(here, side.asked.as_of) for side in sides},
    )


@router.post("/playground/recall-set")
def download(
    here: Changing,
    missing: _Numbers,
    unwanted: _Numbers,
    unwanted_fact: _Texts,
    q: _Text = "",
    at: _Text = "",
    note: _Text = "",
) -> Response:
    """A query with what was marked, of a fact its sources, as a recall set. It changes nothing."""
    of_facts = (source.seq for one in unwanted_fact for source in here.mine.fact(one).sources)
    marked = Marked(
        query=q,
        asked_at=_moment(here, at.strip()),
        missing=tuple(missing),
        unwanted=(*unwanted, *of_facts),
        note=note,
    )
    made = json.dumps(recall_set(here.mine, marked), ensure_ascii=False, indent=1)
    headers = {"Content-Disposition": 'attachment; filename="recall-set.json"', "Cache-Control": "no-store"}
    return Response(made + "\n", media_type="application/json", headers=headers)


# ------------------------------------------------------------------------------------------------- what is asked


def _asked(given: Mapping[str, str], suffix: str, budget: int, preset: Preset) -> Asked:
    """Raises InputError for a number or a preset that is none."""

    def text(name: str) -> str:
        return given.get(f"{name}{suffix}", "").strip()

    return Asked(
        query=given.get(f"q{suffix}", ""),
        budget=max(1, _whole(text("budget"), "budget") or budget),
        shown=min(max(_whole(text("k"), "hits shown") or HITS, 1), MOST),
        preset=_preset(text("preset")) if text("preset") else preset,
        thread=text("thread"),
        at=text("at"),
        as_of=text("as_of"),
        valid_at=text("valid_at"),
    )


def _whole(text: str, where: str) -> int:
    if not text:
        return 0
    if not (text.isascii() and text.isdigit()) or len(text) > 9:
        raise InputError(f"{where} = {text!r} is not a number; give a whole number such as 600")
    return int(text)


def _preset(text: str) -> Preset:
    for one in ("default", "paper"):
        if one == text:
            return "default" if one == "default" else "paper"
    raise InputError(f"preset = {text!r} is not allowed; one of: {', '.join(PRESETS)}")


def _moment(here: Place, at: str) -> datetime:
    """A time as the form has it; now, where it has none. Raises InputError."""
    found = calendar.read(at, here.owner_zone, end=False) if at else here.memory.now()
    if found is None:
        raise InputError(f"at = {at!r} is not a time; give ISO 8601 such as 2026-05-02T10:00:00+02:00")
    return found


def _address(here: Place, given: Mapping[str, str], comparing: bool) -> str:
    """The same query with a second beside it; or alone, where two are compared."""
    kept = {name: given.get(name) for name in FIELDS}
    return here.link("/playground", **kept, compare=None if comparing else "1")


# --------------------------------------------------------------------------------------------- what is recalled


def _side(mine: OwnerMemory, key: str, suffix: str, asked: Asked) -> Side:
    if not asked.query.strip():
        return Side(key=key, suffix=suffix, asked=asked)
    began = time.perf_counter()
    context = mine.recall(
        asked.query,
        at=asked.at or None,
        budget=asked.budget,
        thread=asked.thread or None,
        preset=asked.preset,
        as_of=asked.as_of or None,
        valid_at=asked.valid_at or None,
    )
    took = (time.perf_counter() - began) * 1000
    packed = {hit.utterance.id for hit in context.packed}
    best = (hit for hit in context.hits if hit.rank <= asked.shown)
    shown = {hit.utterance.id: hit for hit in (*context.packed, *best)}
    bars, zero = charts.hit_bars(sorted(shown.values(), key=lambda hit: hit.rank))
    lines = context_lines.lines_of(context)
    return Side(
        key=key,
        suffix=suffix,
        asked=asked,
        context=context,
        milliseconds=took,
        lines=lines,
        parts=context_lines.tokens_by_part(context, lines),
        packed=[bar for bar in bars if bar.hit.utterance.id in packed],
        others=[bar for bar in bars if bar.hit.utterance.id not in packed],
        zero=zero,
        left_out=context.left_out,
    )


def _compared(left: Side, right: Side) -> tuple[list[Side], context_lines.Difference | None]:
    """Both sides with what differs marked; nothing is compared before both were asked."""
    if left.context is None or right.context is None:
        return [left, right], None
    one, other, difference = context_lines.compared(left.lines, right.lines)
    return [replace(left, lines=one), replace(right, lines=other)], difference


# -------------------------------------------------------------------------------------------- what was wrong


@dataclass(frozen=True, kw_only=True, slots=True)
class Wrong:
    """What may be marked as wrong in a context: what is in it, and what could be missing from it. `missing` and
    `unwanted` are the numbers of what is marked already."""

    words: str
    note: str
    at: str
    candidates: Sequence[Utterance]
    missing: frozenset[int]
    unwanted: frozenset[int]
    open: bool


def _wrong(here: Place, side: Side) -> Wrong:
    """Hits that were not packed, what was marked already, and what the words find."""
    params = here.request.query_params
    missing, unwanted = (
        frozenset(_whole(one, "a mark") for one in params.getlist(name)) for name in ("missing", "unwanted")
    )
    words = params.get("find", "").strip()
    packed = {bar.hit.utterance.seq for bar in side.packed}
    found: Sequence[Hit] = here.mine.search(words, FOUND) if words else ()
    offered = [one for seq in sorted(missing) for one in _said_at(here.mine, seq)]
    offered += [hit.utterance for hit in found]
    offered += [] if words else [bar.hit.utterance for bar in side.others]
    return Wrong(
        words=words,
        note=params.get("note", ""),
        at=side.asked.at or here.memory.now().isoformat(),
        candidates=list({one.seq: one for one in offered if one.seq not in packed}.values()),
        missing=missing,
        unwanted=unwanted,
        open=bool(words or missing or unwanted),
    )


def _said_at(mine: OwnerMemory, seq: int) -> list[Utterance]:
    """The utterance with a number, if there is one."""
    return [one for one in mine.utterances(max(0, seq - 1), limit=1) if one.seq == seq]
