"""No room of the code exceeds the ceilings that the architecture page gives it."""

from __future__ import annotations

import room_sizes
from room_sizes import Size


def test_no_room_is_larger_than_its_ceilings() -> None:
    page = room_sizes.PAGE.read_text(encoding="utf-8")
    assert room_sizes.above(room_sizes.measured(), room_sizes.ceilings(page)) == []


def test_a_table_keeps_its_ceilings_and_names_what_is_above_them() -> None:
    page = room_sizes.PAGE.read_text(encoding="utf-8")
    sizes = room_sizes.ceilings(page) | {"new/": Size(lines=1, modules=1)}
    made = room_sizes.written(page, sizes)
    assert room_sizes.ceilings(made) == room_sizes.ceilings(page) | {"new/": Size(lines=0, modules=0)}
    grown = sizes | {"core/": Size(lines=10**6, modules=1)}
    assert room_sizes.above(grown, room_sizes.ceilings(page)) == [
        f"core/ has 1,000,000 lines, at most {room_sizes.ceilings(page)['core/'].lines:,} are allowed",
        "new/ has 1 lines, at most 0 are allowed",
        "new/ has 1 modules, at most 0 are allowed",
    ]
