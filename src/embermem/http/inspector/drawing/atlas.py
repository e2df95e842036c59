"""The picture of the memory map: where dots stand, and from which zoom on there is room for the name of each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from embermem.http.inspector.words import columns, plain

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from embermem.core.types import Vectors

    Floats = NDArray[np.float64]

WIDTH, HEIGHT, EDGE = 960, 600, 46
FACT = 8
"""How wide a fact's square is."""
ZOOMS = (0.34, 0.6, 1.0, 2.0, 4.0, 8.0)
"""Pixels for one unit of the map, from which on names are shown: 0.34 is the whole map on a telephone."""
_WHOLE = ZOOMS.index(1.0)
_LONGEST = {"segment": (44, 30, 18), "fact": (40, 24)}
"""Columns of a name: cut shorter where there is no room for more."""
_FIRST_OF_FACTS = _WHOLE + 1
"""Facts are named when one has zoomed in."""
_COLUMN = 7.2
"""How wide a letter of a name is, about; a Chinese one takes two columns."""
_LARGEST, _DRAWN_IN = 24.0, 0.75

_Box = tuple[float, float, float, float]
"""Left, right, top and bottom of a name, in pixels."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """What a dot stands for: where, how large, and what it is called. Larger ones come first."""

    kind: str
    id: str
    text: str
    x: float
    y: float
    r: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Name:
    """Where a name is written, beside its dot, as long as `longest` columns: `anchor` is which end of it stands there,
    as in SVG; `zoom` the first of `ZOOMS` at which there is room for it. Dots, and how far names stand from them, grow
    with the square root of the zoom, letters not at all."""

    longest: int
    dx: float
    dy: float
    anchor: str
    zoom: int


def radius(pages: int, most: int) -> float:
    """The area of a circle grows with the segment's pages, and no faster where the largest would leave others no
    room."""
    return round(5 + min(3.2 * math.sqrt(pages), _LARGEST * math.sqrt(pages / max(1, most))), 1)


def centred(vectors: Vectors) -> Vectors:
    """Vectors about their middle, as far from it as those of another kind: the kind is then no direction of the map."""
    about = vectors - vectors.mean(axis=0)
    far = float(np.sqrt(np.mean(np.sum(about * about, axis=1))))
    made: Vectors = about / np.float32(far or 1.0)
    return made


def spread(along: Floats, length: int) -> Floats:
    """Places along one direction, stretched over the map but for its edge; those far from the middle come nearer, so
    that one of them does not press the others together."""
    drawn_in = np.sign(along) * np.abs(along) ** _DRAWN_IN
    low, high = float(drawn_in.min()), float(drawn_in.max())
    if high - low < 1e-9:
        return np.full(len(along), length / 2)
    return EDGE + (length - 2 * EDGE) * (drawn_in - low) / (high - low)


def names(items: Sequence[Item]) -> Mapping[str, Name]:
    """From which zoom on each can be named, the first items first: no name stands over a circle or another name then,
    nor at any closer zoom. Those that never have room are left out."""
    circles = np.array([(one.x, one.y, one.r) for one in items if one.kind == "segment"]).reshape(-1, 3)
    found: dict[str, Name] = {}
    by_id = {one.id: one for one in items}
    for zoom, scale in enumerate(ZOOMS):
        taken = [_box(by_id[one], name, scale) for one, name in found.items()]
        grown = np.sqrt(scale)
        dots = np.stack([circles[:, 0] * scale, circles[:, 1] * scale, circles[:, 2] * grown], axis=1)
        for item in items:
            if item.id in found or (item.kind == "fact" and zoom < _FIRST_OF_FACTS):
                continue
            name = next(
                (one for one in _tries(item, zoom) if _is_free(_box(item, one, scale), dots, taken, scale)), None
            )
            if name is not None:
                found[item.id] = name
                taken.append(_box(item, name, scale))
    return found


def _tries(item: Item, zoom: int) -> Iterator[Name]:
    """The places for a name, the best first: above its dot, below it, to its right, to its left."""
    lengths = dict.fromkeys(min(longest, columns(plain(item.text, longest))) for longest in _LONGEST[item.kind])
    for longest in lengths:
        for dx, dy, anchor in (
            (0.0, -item.r - 7, "middle"),
            (0.0, item.r + 15, "middle"),
            (item.r + 6, 4.0, "start"),
            (-item.r - 6, 4.0, "end"),
        ):
            yield Name(longest=longest, dx=round(dx, 1), dy=round(dy, 1), anchor=anchor, zoom=zoom)


def _box(item: Item, name: Name, scale: float) -> _Box:
    """What a name covers, in pixels of a zoom."""
    wide = _COLUMN * columns(plain(item.text, name.longest))
    grown = math.sqrt(scale)
    x, y = item.x * scale + name.dx * grown, item.y * scale + name.dy * grown
    left = x - {"start": 0.0, "middle": wide / 2, "end": wide}[name.anchor]
    return left, left + wide, y - 12, y + 4


def _is_free(box: _Box, dots: Floats, names: Iterable[_Box], scale: float) -> bool:
    left, right, top, bottom = box
    if left < 0 or right > WIDTH * scale or top < 0 or bottom > HEIGHT * scale:
        return False
    if any(left < b + 8 and a - 8 < right and top < d and c < bottom for a, b, c, d in names):
        return False
    x, y, r = dots[:, 0], dots[:, 1], dots[:, 2]
    return not bool(np.any((left < x + r) & (x - r < right) & (top < y + r) & (y - r < bottom)))
