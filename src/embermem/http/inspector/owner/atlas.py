"""The memory map: segments and facts in the plane, near where they are alike."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from embermem.core.errors import EmbedderError
from embermem.core.types import Fact
from embermem.http.inspector import words
from embermem.http.inspector.drawing import charts
from embermem.http.inspector.place import PageContext, PageRoute, Place
from embermem.http.inspector.words import columns, plain
from embermem.http.serving import kept
from embermem.index.projection import plane

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from embermem.core.types import Vectors

FACTS = 300
"""Facts have no stored vectors: so many, the newest, are embedded for the map."""
NAMES = 24
"""The largest segments, which are named on the map where there is room."""
_KEPT = 32
"""Maps kept: of one owner each, for one revision of its memory."""
WIDTH, HEIGHT, EDGE = 960, 600, 46
FACT = 8
"""How wide a fact's square is."""
LONGEST = (44, 30, 18)
"""Columns of a name: cut shorter where there is no room for more."""
_COLUMN = 7.2
"""How wide a letter of a name is, about; a Chinese one takes two columns."""

router = APIRouter(route_class=PageRoute, include_in_schema=False)


_Box = tuple[float, float, float, float]
"""Left, right, top and bottom of a name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Name:
    """What a segment is called, and where that is written: `anchor` is which end of it stands at x, as in SVG."""

    text: str
    x: float
    y: float
    anchor: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Dot:
    """A segment or a fact on the map: where it stands, how large and (segments) how hot it is, in [0, 1].

    `name` is None where there is no room for it.
    """

    kind: str
    id: str
    text: str
    x: float
    y: float
    r: float
    heat: float
    detail: str
    name: Name | None


class Maps:
    """Where the dots of some owners stand; the least recently used leave."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, int, str], dict[str, tuple[float, float]]] = OrderedDict()

    def of(self, here: Place) -> dict[str, tuple[float, float]]:
        """The place of each segment and fact by its id. Raises EmbedderError."""
        state = here.mine.state()
        key = (here.mine.owner.id, 0 if state is None else state.revision, here.memory.embedder_name)
        with self._lock:
            known = self._kept.get(key)
            if known is not None:
                self._kept.move_to_end(key)
                return known
        made = _places(here)
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return made


@router.get("/map")
def atlas(request: Request, here: PageContext) -> HTMLResponse:
    """The map, and the same as a table."""
    note = ""
    places: dict[str, tuple[float, float]] = {}
    try:
        places = kept(request.app, "inspector_maps", Maps).of(here)
    except EmbedderError as error:
        note = f"The embedder failed: {error}"
    dots = _dots(here, places)
    return here.page(
        "map.html",
        title="Map",
        dots=dots,
        width=WIDTH,
        height=HEIGHT,
        square=FACT,
        note=note,
        facts=FACTS,
    )


def _newest_facts(here: Place) -> list[Fact]:
    return sorted(here.mine.facts(), key=lambda fact: fact.recorded_at)[-FACTS:]


def _places(here: Place) -> dict[str, tuple[float, float]]:
    """Segments and facts are each centred first: that they are of two kinds is no direction of the map."""
    segments = [one for one in here.mine.segments() if one.embedding is not None]
    facts = _newest_facts(here)
    rows: list[Vectors] = []
    if segments:
        rows.append(_centred(np.stack([one.embedding for one in segments if one.embedding is not None])))
    if facts:
        rows.append(_centred(here.memory.embed([fact.text for fact in facts])))
    if not rows:
        return {}
    where = plane(np.concatenate(rows))
    ids = [*(one.id for one in segments), *(fact.id for fact in facts)]
    return {
        one: (round(float(x), 1), round(float(y), 1))
        for one, x, y in zip(ids, _spread(where[:, 0], WIDTH), _spread(-where[:, 1], HEIGHT), strict=True)
    }


def _centred(vectors: Vectors) -> Vectors:
    centred: Vectors = vectors - vectors.mean(axis=0)
    return centred


def _spread(along: NDArray[np.float64], length: int) -> NDArray[np.float64]:
    """Places along one direction, stretched over the map but for its edge."""
    low, high = float(along.min()), float(along.max())
    if high - low < 1e-9:
        return np.full(len(along), length / 2)
    return EDGE + (length - 2 * EDGE) * (along - low) / (high - low)


def _dots(here: Place, places: dict[str, tuple[float, float]]) -> list[Dot]:
    """Facts below, segments above them, the hottest on top; the largest that leave each other room are named."""
    heats = charts.heats(here.mine.segments(), here.memory.now(), here.memory.settings)
    most = heats[0].heat if heats and heats[0].heat else 1.0
    known = _newest_facts(here)
    named = _named(
        [heat for heat in heats if heat.segment.id in places],
        [places[one.id] for one in known if one.id in places],
        places,
    )
    segments = [
        Dot(
            kind="segment",
            id=heat.segment.id,
            text=charts.label(heat.segment),
            x=places[heat.segment.id][0],
            y=places[heat.segment.id][1],
            r=_radius(heat),
            heat=heat.heat / most,
            detail=f"{len(heat.segment.page_ids)} pages, heat {words.heat(heat.heat)}",
            name=named.get(heat.segment.id),
        )
        for heat in reversed(heats)
        if heat.segment.id in places
    ]
    facts = [
        Dot(
            kind="fact",
            id=fact.id,
            text=fact.text,
            x=places[fact.id][0],
            y=places[fact.id][1],
            r=5.0,
            heat=0.0,
            detail=f"{fact.person}: {words.attribute(fact.attribute)}",
            name=None,
        )
        for fact in known
        if fact.id in places
    ]
    return [*facts, *segments]


def _named(
    heats: list[charts.Heat], facts: list[tuple[float, float]], places: dict[str, tuple[float, float]]
) -> dict[str, Name]:
    """Where names are written: around their segment, the largest first, none over a segment or another name, and over a
    fact only where there is no other room."""
    circles = [(*places[heat.segment.id], _radius(heat)) for heat in heats]
    dots = [*circles, *((x, y, FACT / 2) for x, y in facts)]
    named: dict[str, Name] = {}
    kept: list[_Box] = []
    for heat in sorted(heats, key=lambda one: (-len(one.segment.page_ids), -one.heat, one.segment.id))[:NAMES]:
        texts = dict.fromkeys(plain(charts.label(heat.segment), longest) for longest in LONGEST)
        around = [one for text in texts for one in _around(text, *places[heat.segment.id], _radius(heat))]
        tried = ((name, box, avoided) for avoided in (dots, circles) for name, box in around)
        for name, box, avoided in tried:
            if _is_free(box, avoided, kept):
                kept.append(box)
                named[heat.segment.id] = name
                break
    return named


def _around(text: str, x: float, y: float, r: float) -> Iterator[tuple[Name, _Box]]:
    """The places for a name, the best first: above its dot, below it, to its right, to its left, at its corners."""
    wide = _COLUMN * columns(text)
    near = 0.7 * r + 6  # along both axes, at the circle's corners
    for anchor, at, line, left in (
        ("middle", x, y - r - 7, x - wide / 2),
        ("middle", x, y + r + 15, x - wide / 2),
        ("start", x + r + 6, y + 4, x + r + 6),
        ("end", x - r - 6, y + 4, x - r - 6 - wide),
        ("start", x + near, y - near, x + near),
        ("start", x + near, y + near + 8, x + near),
        ("end", x - near, y - near, x - near - wide),
        ("end", x - near, y + near + 8, x - near - wide),
    ):
        yield Name(text=text, x=round(at, 1), y=round(line, 1), anchor=anchor), (left, left + wide, line - 12, line + 4)


def _is_free(box: _Box, dots: list[tuple[float, float, float]], names: list[_Box]) -> bool:
    left, right, top, bottom = box
    return (
        left > 0
        and right < WIDTH
        and top > 0
        and bottom < HEIGHT
        and not any(left < x + r and x - r < right and top < y + r and y - r < bottom for x, y, r in dots)
        and not any(left < b + 8 and a - 8 < right and top < d and c < bottom for a, b, c, d in names)
    )


def _radius(heat: charts.Heat) -> float:
    """The area of a circle grows with the segment's pages, up to what leaves room for others."""
    return min(44.0, round(5 + 3.2 * math.sqrt(len(heat.segment.page_ids)), 1))
