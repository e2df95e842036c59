"""The memory map: segments and facts in the plane, near where they are alike."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from embermem.core.errors import EmbedderError, NotFound
from embermem.core.types import Fact, Segment
from embermem.core.vectors import plane
from embermem.http.inspector import words
from embermem.http.inspector.drawing import atlas as drawing
from embermem.http.inspector.drawing import charts
from embermem.http.inspector.drawing.atlas import Item, Name
from embermem.http.inspector.place import PageContext, PageRoute, Place
from embermem.http.inspector.words import plain
from embermem.http.serving import kept

if TYPE_CHECKING:
    from embermem.core.types import Vectors

FACTS = 300
"""Facts have no stored vectors: so many, the newest, are embedded for the map."""
AT_ONCE = 40
"""With more facts to embed, the page is shown before its map."""
KINDS = {"": "all", "segment": "segments", "fact": "facts"}
_KEPT = 32
"""Maps kept: of one owner each, for one revision of its memory."""

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Dot:
    """A segment or a fact on the map: where it stands, how large and (segments) how hot it is, in [0, 1], whom it is
    about, in which segment it was said (facts), and whether it is among those that are looked at. `name` is None where
    there is never room for it."""

    kind: str
    id: str
    text: str
    x: float
    y: float
    r: float
    heat: float
    detail: str
    person: str
    said_in: str | None
    name: Name | None
    wanted: bool

    @property
    def called(self) -> str:
        """The name that is written, cut to its room."""
        return "" if self.name is None else plain(self.text, self.name.longest)


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """From a fact to the segment in which it was said; `wanted` if one of them is looked for."""

    x1: float
    y1: float
    x2: float
    y2: float
    wanted: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Placed:
    """What of a map stays while its memory does: the place of each segment and fact, where names have room, and in
    which segment a fact was said."""

    places: Mapping[str, tuple[float, float]]
    names: Mapping[str, Name]
    said_in: Mapping[str, str]


class Maps:
    """What of the maps of some owners stays; the least recently used leave."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, int, str], Placed] = OrderedDict()

    def known(self, here: Place) -> Placed | None:
        """That of an owner as their memory is, if it was made before."""
        with self._lock:
            key = _key(here)
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def of(self, here: Place, segments: Sequence[Segment], facts: Sequence[Fact]) -> Placed:
        """The same, made where it was not. Raises EmbedderError."""
        made = self.known(here)
        if made is None:
            key, made = _key(here), _placed(here, segments, facts)
            with self._lock:
                self._kept[key] = made
                while len(self._kept) > _KEPT:
                    self._kept.popitem(last=False)
        return made


def _key(here: Place) -> tuple[str, int, str]:
    state = here.mine.state()
    return here.mine.owner.id, 0 if state is None else state.revision, here.memory.embedder_name


@router.get("/map")
def atlas(
    request: Request, here: PageContext, kind: str = "", person: str = "", q: str = "", lines: int = 0, draw: int = 0
) -> HTMLResponse:
    """The map, and the same as a table. Where it takes long to make, the page comes first, and asks for it."""
    maps = kept(request.app, "inspector_maps", Maps)
    stats = here.mine.stats()
    facts = min(FACTS, stats.facts + stats.agent_facts)
    asked = {"kind": kind, "person": person, "q": q, "lines": lines or ""}
    shared = {"title": "Map", "facts": FACTS, "kinds": KINDS, **asked}
    if stats.segments + facts < 2:
        return here.page("map.html", shape="none", **shared)
    if not draw and facts > AT_ONCE and maps.known(here) is None:
        return here.page("map.html", shape="later", drawing=here.link("/map", draw=1, **asked), **shared)
    segments, found = here.mine.segments(), here.mine.find_facts(limit=FACTS).facts
    note = ""
    try:
        placed = maps.of(here, segments, found)
    except EmbedderError as error:
        placed, note = Placed(places={}, names={}, said_in={}), f"The embedder failed: {error}"
    dots = _dots(here, placed, segments, found, (kind, person, q))
    return here.page(
        "map.html",
        shape="drawn" if dots else "none",
        note=note,
        dots=dots,
        lines_drawn=_lines(placed, dots) if lines else (),
        people=sorted({dot.person for dot in dots if dot.person}),
        width=drawing.WIDTH,
        height=drawing.HEIGHT,
        square=drawing.FACT,
        **shared,
    )


def _placed(here: Place, segments: Sequence[Segment], facts: Sequence[Fact]) -> Placed:
    """Where everything stands: segments and facts are each centred first."""
    drawn = [one for one in segments if one.embedding is not None]
    rows: list[Vectors] = []
    if drawn:
        rows.append(drawing.centred(np.stack([one.embedding for one in drawn if one.embedding is not None])))
    if facts:
        rows.append(drawing.centred(here.memory.embed([fact.text for fact in facts])))
    if not rows:
        return Placed(places={}, names={}, said_in={})
    where = plane(np.concatenate(rows))
    along, down = drawing.spread(where[:, 0], drawing.WIDTH), drawing.spread(-where[:, 1], drawing.HEIGHT)
    ids = [*(one.id for one in drawn), *(fact.id for fact in facts)]
    places = {one: (round(float(x), 1), round(float(y), 1)) for one, x, y in zip(ids, along, down, strict=True)}
    largest = sorted(drawn, key=lambda one: (-len(one.page_ids), one.id))
    most = max((len(one.page_ids) for one in drawn), default=1)
    items = [
        *(
            _item("segment", one.id, charts.label(one), places, drawing.radius(len(one.page_ids), most))
            for one in largest
        ),
        *(_item("fact", one.id, one.text, places, drawing.FACT / 2) for one in facts),
    ]
    return Placed(places=places, names=drawing.names(items), said_in=_said_in(here, drawn, facts))


def _item(kind: str, id: str, text: str, places: Mapping[str, tuple[float, float]], r: float) -> Item:
    x, y = places[id]
    return Item(kind=kind, id=id, text=text, x=x, y=y, r=r)


def _said_in(here: Place, segments: Sequence[Segment], facts: Sequence[Fact]) -> Mapping[str, str]:
    """The segment of the page in which each fact was said last."""
    segment_of = {page_id: one.id for one in segments for page_id in one.page_ids}
    found: dict[str, str] = {}
    for fact in facts:
        try:
            page_id = here.mine.utterance(fact.sources[-1].utterance_id).page_id if fact.sources else None
        except NotFound:  # forgotten, or expired, a moment ago
            continue
        if page_id in segment_of:
            found[fact.id] = segment_of[page_id]
    return found


def _dots(
    here: Place, placed: Placed, segments: Sequence[Segment], facts: Sequence[Fact], asked: tuple[str, str, str]
) -> list[Dot]:
    """Facts below, segments above them, the hottest on top."""
    heats = charts.heats(segments, here.memory.now(), here.memory.settings)
    most = heats[0].heat if heats and heats[0].heat else 1.0
    about = _about(placed, facts)
    largest = max((len(one.page_ids) for one in segments), default=1)
    made = [
        _dot(
            "fact",
            fact.id,
            fact.text,
            placed,
            asked,
            r=drawing.FACT / 2,
            detail=f"{fact.person}: {words.attribute(fact.attribute)}",
            people=[fact.person],
        )
        for fact in reversed(facts)
        if fact.id in placed.places
    ]
    return made + [
        _dot(
            "segment",
            heat.segment.id,
            charts.label(heat.segment),
            placed,
            asked,
            r=drawing.radius(len(heat.segment.page_ids), largest),
            heat=heat.heat / most,
            detail=f"{len(heat.segment.page_ids)} pages, heat {words.heat(heat.heat)}",
            people=about.get(heat.segment.id, ()),
        )
        for heat in reversed(heats)
        if heat.segment.id in placed.places
    ]


def _about(placed: Placed, facts: Sequence[Fact]) -> Mapping[str, Sequence[str]]:
    """About whom facts were said in each segment."""
    told: dict[str, list[str]] = {}
    for fact in facts:
        if fact.id in placed.said_in:
            told.setdefault(placed.said_in[fact.id], []).append(fact.person)
    return told


def _dot(
    kind: str,
    id: str,
    text: str,
    placed: Placed,
    asked: tuple[str, str, str],
    *,
    r: float,
    detail: str,
    people: Sequence[str],
    heat: float = 0.0,
) -> Dot:
    of_kind, person, q = asked
    x, y = placed.places[id]
    return Dot(
        kind=kind,
        id=id,
        text=text,
        x=x,
        y=y,
        r=r,
        heat=heat,
        detail=detail,
        person=people[0] if kind == "fact" else "",
        said_in=placed.said_in.get(id),
        name=placed.names.get(id),
        wanted=of_kind in ("", kind) and (not person or person in people) and words.folded_in(q, text),
    )


def _lines(placed: Placed, dots: Sequence[Dot]) -> list[Line]:
    """From facts to the segments in which they were said, where both are drawn."""
    at = {dot.id: dot for dot in dots}
    return [
        Line(
            x1=at[one].x,
            y1=at[one].y,
            x2=at[other].x,
            y2=at[other].y,
            wanted=at[one].wanted or at[other].wanted,
        )
        for one, other in placed.said_in.items()
        if one in at and other in at
    ]
