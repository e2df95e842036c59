"""The map's picture: everything stands within it, and what is named has room for its name at that zoom and closer."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from embermem.core.vectors import plane
from embermem.http.inspector.drawing.atlas import (
    EDGE,
    HEIGHT,
    WIDTH,
    ZOOMS,
    Item,
    Name,
    centred,
    names,
    radius,
    spread,
)
from embermem.http.inspector.words import columns, plain

PLACES = st.tuples(st.floats(EDGE, WIDTH - EDGE), st.floats(EDGE, HEIGHT - EDGE))
ITEMS = st.lists(
    st.tuples(st.sampled_from(["segment", "fact"]), st.text(min_size=1, max_size=60), PLACES, st.integers(1, 400)),
    max_size=25,
).map(
    lambda them: [
        Item(kind=kind, id=f"{kind}{at}", text=text, x=x, y=y, r=radius(pages, 400) if kind == "segment" else 4.0)
        for at, (kind, text, (x, y), pages) in enumerate(them)
    ]
)


def box(item: Item, name: Name, scale: float) -> tuple[float, float, float, float]:
    """What a name covers, in pixels."""
    wide, grown = 7.2 * columns(plain(item.text, name.longest)), math.sqrt(scale)
    x, y = item.x * scale + name.dx * grown, item.y * scale + name.dy * grown
    left = {"start": x, "middle": x - wide / 2, "end": x - wide}[name.anchor]
    return left, left + wide, y - 12, y + 4


@settings(max_examples=60)
@given(ITEMS)
def test_names_leave_each_other_and_circles_room_from_their_zoom_on_and_facts_have_theirs_when_zoomed_in(
    items: list[Item],
) -> None:
    found, by_id = names(items), {one.id: one for one in items}
    assert found == names(items)
    for zoom, scale in enumerate(ZOOMS):
        boxes = {one: box(by_id[one], name, scale) for one, name in found.items() if name.zoom <= zoom}
        for (_, one), (_, other) in combinations(boxes.items(), 2):
            apart = one[1] <= other[0] or other[1] <= one[0] or one[3] <= other[2] or other[3] <= one[2]
            assert apart, (zoom, one, other)
        for named, (left, right, top, bottom) in boxes.items():
            if found[named].zoom == zoom:
                assert left >= 0 <= top
                assert right <= WIDTH * scale
                assert bottom <= HEIGHT * scale
    assert all(ZOOMS[found[one.id].zoom] > 1 for one in items if one.kind == "fact" and one.id in found)


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=40), st.sampled_from([WIDTH, HEIGHT]))
def test_places_lie_within_the_edges_in_their_order(along: list[float], length: int) -> None:
    places = spread(np.array(along), length)
    assert np.all((places >= EDGE - 1e-6) & (places <= length - EDGE + 1e-6))
    order = np.argsort(along, kind="stable")
    assert np.all(np.diff(places[order]) >= -1e-6)


@given(st.integers(1, 10_000), st.integers(1, 10_000))
def test_a_circle_grows_with_its_pages_and_stays_small_enough(one: int, other: int) -> None:
    most = max(one, other)
    assert (radius(one, most) <= radius(other, most)) == (one <= other) or abs(one - other) < 5
    assert 5 < radius(most, most) <= 30


@given(st.integers(0, 2**32 - 1), st.integers(1, 10))
def test_vectors_of_each_kind_are_as_far_from_their_middle(seed: int, n: int) -> None:
    vectors = np.random.default_rng(seed).standard_normal((n, 4)).astype(np.float32)
    made = centred(vectors)
    assert np.allclose(made.mean(axis=0), 0, atol=1e-5)
    if n > 1:
        assert abs(float(np.sqrt(np.mean(np.sum(made * made, axis=1)))) - 1) < 1e-3


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(0, 12), dim=st.integers(1, 8))
def test_the_plane_is_that_of_the_first_directions_within_the_map_and_the_same_each_time(
    seed: int, n: int, dim: int
) -> None:
    vectors = np.random.default_rng(seed).standard_normal((n, dim)).astype(np.float32)
    places = plane(vectors)
    assert places.shape == (n, 2)
    assert np.all(np.abs(places) <= 1 + 1e-9)
    assert np.array_equal(places, plane(vectors.copy()))
    vectors = np.array([[0, 0, 0], [10, 1, 0], [20, 0, 0], [30, 1, 0]], dtype=np.float32)
    places = plane(vectors)
    assert np.all(np.diff(places[:, 0]) > 0)
    assert places[0, 0] == -1.0
    assert places[3, 0] == 1.0
    assert not plane(np.ones((4, 3), dtype=np.float32)).any()
