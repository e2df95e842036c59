"""A study's files: the numbers as JSON, and a page of Markdown with the same numbers. Names from data are text only."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from embermem.core.errors import InputError
from embermem_bench.results import Header

__all__ = ["Column", "Written", "document", "made_of", "place", "shown", "write"]

_MARKS = re.compile(r"[\\`*\[\]|~#]|(?<!\w)_|_(?!\w)")
_SPACE = re.compile(r"\s+")

Table = tuple[str, Sequence[str], Sequence[Sequence[object]]]
"""Its title, the names of its columns, and rows whose first cell is a name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Column:
    """A figure of a row, and how a table names it."""

    key: str
    name: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """The files of a study, and what stands in them."""

    table: Path
    numbers: Path
    figures: tuple[Path, Path]
    content: Mapping[str, Any]
    text: str


def place(folder: Path) -> Path:
    """The folder, made if it is not there. Raises InputError if it cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {folder}: {error.strerror}") from error
    return folder


def write(stem: Path, content: Mapping[str, Any], text: str, figures: tuple[Path, Path]) -> Written:
    """Writes `stem`.md and `stem`.json beside the figures."""
    table, numbers = (stem.parent / f"{stem.name}.{ending}" for ending in ("md", "json"))
    table.write_text(text, encoding="utf-8")
    numbers.write_text(json.dumps(content, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    return Written(table=table, numbers=numbers, figures=figures, content=content, text=text)


def document(
    *,
    title: str,
    figure: str,
    lead: Sequence[str],
    tables: Sequence[Table],
    made: Mapping[str, Any],
    command: str,
) -> str:
    """The page: what is shown, the figure, the tables, and how it was made."""
    parts = [f"# {_plain(title)}", *map(_plain, lead), f"![{_plain(title)}]({figure}.svg)"]
    parts += [f"## {_plain(name)}\n\n{_table(columns, rows)}" for name, columns, rows in tables]
    told = [f"- {_plain(key)}: {_plain(_told(value))}" for key, value in made.items() if value not in ("", None, [])]
    told += [f"- command: {_plain(command)}"] if command else []
    parts.append("## How it was made\n\n" + "\n".join(told))
    return "\n\n".join(parts) + "\n"


def made_of(header: Header) -> dict[str, Any]:
    """How a run was made, without any path."""
    return {
        "data": [f"{s.name} ({s.file}, sha256 {s.sha256}), {s.questions} questions" for s in header.data],
        "model": header.model or "none: figures of evidence only",
        "embedder": header.embedder,
        "token counter": header.counter,
        "seeds": list(header.seeds),
        "questions a conversation": header.limit,
        "conversations": list(header.conversations),
        "budget": header.budget,
        "settings": [f"{key}={value}" for key, value in sorted(header.settings.items())],
    }


def shown(value: object) -> str:
    """A figure as tables have it; the same digits as in the JSON."""
    return "" if value is None else str(value)


def _table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [columns, ["---", *("---:" for _ in columns[1:])]]
    lines += [[shown(cell) for cell in row] for row in rows]
    return "\n".join(
        "| " + " | ".join(cell if n == 1 else _plain(cell) for cell in line) + " |" for n, line in enumerate(lines)
    )


def _told(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _plain(text: str) -> str:
    """Text in Markdown, of which no renderer makes anything else."""
    line = html.escape(_SPACE.sub(" ", text).strip(), quote=False)
    return _MARKS.sub(lambda mark: f"\\{mark[0]}", line)
