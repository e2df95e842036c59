"""Writes the table of lines and modules of each room into docs/concepts/architecture.md.

    python scripts/room_sizes.py           measure, and write the table
    python scripts/room_sizes.py --check   name the rooms that are above their ceilings; the exit code is 1 if any is

The command writes the measured sizes. The two ceilings of a room are written by hand: it keeps them, and gives a new
room none, which counts as zero. Whoever raises a ceiling says why in the commit.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "concepts" / "architecture.md"
PACKAGES = {"embermem": Path("src/embermem"), "embermem_bench": Path("bench/src/embermem_bench")}
"""The packages whose rooms are measured; a package of the bench is one room."""
_ROW = re.compile(r"^\| `(?P<room>[^`]+)` \| [\d,]+ \| (?P<lines>[\d,]+) \| [\d,]+ \| (?P<modules>[\d,]+) \|$", re.M)
_HEAD = "| room | lines | at most | modules | at most |\n|---|---:|---:|---:|---:|\n"
_TABLE = re.compile(re.escape(_HEAD) + r"(?:\|.*\|\n)*")


@dataclass(frozen=True, kw_only=True, slots=True)
class Size:
    """Lines and Python modules of a room: those that it has, or those that it may have."""

    lines: int
    modules: int


def measured(root: Path = ROOT) -> dict[str, Size]:
    """The size of each room: a top-level folder of `src/embermem`, the modules beside them, and the bench."""
    rooms: dict[str, list[Path]] = {}
    for package, folder in PACKAGES.items():
        for file in sorted((root / folder).rglob("*.py")):
            parts = file.relative_to(root / folder).parts
            room = f"{parts[0]}/" if len(parts) > 1 else "modules beside them"
            rooms.setdefault(room if package == "embermem" else package, []).append(file)
    return {room: Size(lines=_lines(files), modules=len(files)) for room, files in sorted(rooms.items())}


def _lines(files: Iterable[Path]) -> int:
    return sum(file.read_bytes().count(b"\n") for file in files)


def ceilings(page: str) -> dict[str, Size]:
    """What the table of the page allows each room."""
    return {
        row["room"]: Size(lines=_number(row["lines"]), modules=_number(row["modules"])) for row in _ROW.finditer(page)
    }


def _number(text: str) -> int:
    return int(text.replace(",", ""))


def above(sizes: dict[str, Size], allowed: dict[str, Size]) -> list[str]:
    """The rooms that are above a ceiling, and the rows without a room, in words."""
    none = Size(lines=0, modules=0)
    found = [f"the table has a row for {room}, which does not exist" for room in allowed if room not in sizes]
    for room, size in sizes.items():
        most = allowed.get(room, none)
        if size.lines > most.lines:
            found.append(f"{room} has {size.lines:,} lines, at most {most.lines:,} are allowed")
        if size.modules > most.modules:
            found.append(f"{room} has {size.modules:,} modules, at most {most.modules:,} are allowed")
    return found


def written(page: str, sizes: dict[str, Size]) -> str:
    """The page with a table of these sizes and its own ceilings. Raises ValueError if it has no table."""
    allowed = ceilings(page)
    none = Size(lines=0, modules=0)
    rows = [_row(f"`{room}`", size, allowed.get(room, none)) for room, size in sizes.items()]
    total = [
        Size(lines=sum(one.lines for one in some), modules=sum(one.modules for one in some))
        for some in (sizes.values(), [allowed.get(room, none) for room in sizes])
    ]
    table = _HEAD + "".join([*rows, _row("together", *total)])
    made, count = _TABLE.subn(lambda _: table, page)
    if count != 1:
        raise ValueError(f"{PAGE.name} has {count} tables of sizes, not one")
    return made


def _row(name: str, size: Size, most: Size) -> str:
    return f"| {name} | {size.lines:,} | {most.lines:,} | {size.modules:,} | {most.modules:,} |\n"


def main(argv: Sequence[str]) -> int:
    """The exit code."""
    page = PAGE.read_text(encoding="utf-8")
    if "--check" in argv:
        found = above(measured(), ceilings(page))
        print("\n".join(found) or "no room is above its ceilings")
        return int(bool(found))
    PAGE.write_text(written(page, measured()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
