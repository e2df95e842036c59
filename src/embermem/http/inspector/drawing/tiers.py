"""The picture of the tiers as they flow: where its boxes and arrows stand, side by side or one below the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from embermem.core.config import Settings
from embermem.core.types import OwnerStats
from embermem.http.inspector.drawing.charts import Heat

BARS = 28
"""Segments drawn inside the box of mid-term memory."""
SLOTS = 7
"""Pages drawn inside the box of short-term memory, at most."""
SLOT_HIGH = 24
"""How high such a page is drawn."""
_INSET = 18


@dataclass(frozen=True, kw_only=True, slots=True)
class Box:
    """One tier: what it holds, where it leads, and where it stands."""

    id: str
    path: str
    query: Mapping[str, str]
    title: str
    count: int
    unit: str
    note: str
    x: int
    y: int
    w: int
    h: int
    note_below: bool

    @property
    def text_x(self) -> int:
        """Where its words begin."""
        return self.x + _INSET

    @property
    def note_at(self) -> tuple[int, int]:
        """Where the note stands: below the count, or at the end of the title's line."""
        return (self.text_x, self.y + 82) if self.note_below else (self.x + self.w - _INSET, self.y + 27)


@dataclass(frozen=True, kw_only=True, slots=True)
class Arrow:
    """How pages go from one tier to another: a path, and its words, each with its place."""

    path: str
    quiet: bool
    words: tuple[tuple[str, int, int], ...]
    centred: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Bar:
    """One segment inside mid-term memory: as high as it has pages; `hot` in [0, 1] beside the hottest."""

    x: float
    y: float
    w: float
    h: float
    hot: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Flow:
    """The whole picture. `slots` are places in short-term memory, and whether a page is there."""

    name: str
    width: int
    height: int
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    slots: tuple[tuple[int, int, bool], ...]
    bars: tuple[Bar, ...]


_Place = tuple[int, int, int, int]
"""x, y, width and height of a box."""
_WIDE: Mapping[str, _Place] = {
    "short": (2, 2, 216, 180),
    "mid": (344, 2, 270, 180),
    "persona": (742, 2, 216, 84),
    "archive": (742, 98, 216, 84),
}
_TALL: Mapping[str, _Place] = {
    "short": (2, 2, 336, 118),
    "mid": (2, 184, 336, 138),
    "persona": (2, 386, 162, 100),
    "archive": (176, 386, 162, 100),
}


def flows(stats: OwnerStats, hottest: Sequence[Heat], settings: Settings) -> tuple[Flow, Flow]:
    """The picture for a wide page, and the one for a narrow page. `hottest` are all segments, hottest first."""
    waiting = f"{stats.pending:,} waiting" if stats.pending else "none waiting"
    promoted, evicted = f"heat > {settings.tau:g}", f"above {settings.mid_term_segments}"
    wide = (
        _arrow("M220 92 H340", ("by topic", 280, 82), (waiting, 280, 109), centred=True),
        _arrow("M616 44 H738", ("promoted", 677, 34), (promoted, 677, 61), centred=True),
        _arrow("M616 140 H738", ("leaves", 677, 130), (evicted, 677, 157), centred=True, quiet=True),
    )
    tall = (
        _arrow("M83 122 V180", ("by topic", 95, 148), (waiting, 95, 166)),
        _arrow("M83 324 V382", ("promoted", 95, 350), (promoted, 95, 368)),
        _arrow("M257 324 V382", ("leaves", 269, 350), (evicted, 269, 368), quiet=True),
    )
    return (
        _flow("wide", 960, 184, _boxes(stats, _WIDE), wide, stats, hottest, settings),
        _flow("tall", 340, 488, _boxes(stats, _TALL), tall, stats, hottest, settings),
    )


def _flow(
    name: str,
    width: int,
    height: int,
    boxes: tuple[Box, ...],
    arrows: tuple[Arrow, ...],
    stats: OwnerStats,
    hottest: Sequence[Heat],
    settings: Settings,
) -> Flow:
    short, mid = boxes[:2]
    slots = range(min(SLOTS, settings.short_term_pages))
    return Flow(
        name=name,
        width=width,
        height=height,
        boxes=boxes,
        arrows=arrows,
        slots=tuple((short.text_x + k * 24, short.y + short.h - 16 - SLOT_HIGH, k < stats.short) for k in slots),
        bars=tuple(_bars(mid, hottest[:BARS])),
    )


def _boxes(stats: OwnerStats, places: Mapping[str, _Place]) -> tuple[Box, ...]:
    known = stats.facts + stats.agent_facts
    archive, gone = {"archived": "1"}, stats.archived_segments
    return (
        _box("short", "/pages", {"tier": "short"}, "Short-term", stats.short, "page", "newest", places),
        _box("mid", "/segments", {}, "Mid-term", stats.segments, "segment", f"{stats.mid:,} pages by topic", places),
        _box("persona", "/persona", {}, "Persona", known, "fact", _counted(stats.traits, "trait"), places),
        _box("archive", "/segments", archive, "Archive", gone, "segment", _counted(stats.archive, "page"), places),
    )


def _box(
    id: str,
    path: str,
    query: Mapping[str, str],
    title: str,
    count: int,
    unit: str,
    note: str,
    places: Mapping[str, _Place],
) -> Box:
    x, y, w, h = places[id]
    return Box(
        id=id,
        path=path,
        query=query,
        title=title,
        count=count,
        unit=unit if count == 1 else f"{unit}s",
        note=note,
        x=x,
        y=y,
        w=w,
        h=h,
        note_below=w < 200,
    )


def _counted(count: int, unit: str) -> str:
    return f"{count:,} {unit}{'' if count == 1 else 's'}"


def _arrow(path: str, *words: tuple[str, int, int], centred: bool = False, quiet: bool = False) -> Arrow:
    return Arrow(path=path, quiet=quiet, words=words, centred=centred)


def _bars(box: Box, shown: Sequence[Heat]) -> list[Bar]:
    if not shown:
        return []
    room, high = box.w - 2 * _INSET, 84 if box.h > 150 else 42
    width = min(14.0, room / len(shown))
    largest = max(len(one.segment.page_ids) for one in shown) or 1
    most = shown[0].heat or 1.0
    made = []
    for k, one in enumerate(shown):
        height = 6 + (high - 6) * len(one.segment.page_ids) / largest
        made.append(
            Bar(
                x=box.text_x + k * width,
                y=box.y + box.h - 16 - height,
                w=max(1.0, width - 2),
                h=height,
                hot=one.heat / most,
            )
        )
    return made
