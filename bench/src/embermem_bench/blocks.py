"""What a page of the bench is made of, as Markdown and as one HTML file that needs nothing else.

Its texts may be text of others: they are escaped, and never read as markup.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass

from embermem.prompts.data import one_line

__all__ = ["Block", "Heading", "Table", "Text", "as_html", "as_markdown"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Heading:
    """A heading; `level` from 1."""

    level: int
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Text:
    """A paragraph; with `code` a line of a command."""

    text: str
    code: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """A table of plain texts. The first column names the row; the others are figures."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


Block = Heading | Text | Table


def as_markdown(blocks: Sequence[Block]) -> str:
    """The page as Markdown."""
    return "\n\n".join(map(_in_markdown, blocks)) + "\n"


def as_html(blocks: Sequence[Block], *, title: str) -> str:
    """The page as one HTML file: no script, nothing from elsewhere."""
    page = _PAGE.replace("{title}", _escaped(title), 1)
    return page.replace("{body}", "\n".join(map(_in_html, blocks)), 1)


_MARKUP = re.compile(r"([\\`*\[\]<>|&])")


def _in_markdown(block: Block) -> str:
    match block:
        case Heading():
            return f"{'#' * block.level} {_plain(block.text)}"
        case Text():
            return f"    {one_line(block.text, 4_000)}" if block.code else _plain(block.text)
        case Table():
            rule = ["---", *("---:" for _ in block.columns[1:])]
            rows = [block.columns, tuple(rule), *block.rows]
            return "\n".join(
                "| " + " | ".join(cell if row is rows[1] else _plain(cell) for cell in row) + " |" for row in rows
            )


def _plain(text: str) -> str:
    return _MARKUP.sub(r"\\\1", one_line(text, 4_000))


def _in_html(block: Block) -> str:
    match block:
        case Heading():
            return f"<h{block.level}>{_escaped(block.text)}</h{block.level}>"
        case Text():
            return f"<pre>{_escaped(block.text)}</pre>" if block.code else f"<p>{_escaped(block.text)}</p>"
        case Table():
            head = "".join(f'<th scope="col">{_escaped(column)}</th>' for column in block.columns)
            rows = (
                f'<tr><th scope="row">{_escaped(row[0])}</th>'
                + "".join(f"<td>{_escaped(cell)}</td>" for cell in row[1:])
                + "</tr>"
                for row in block.rows
            )
            body = "\n".join(rows)
            return f'<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>'


def _escaped(text: str) -> str:
    return html.escape(one_line(text, 4_000), quote=True)


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 20%, transparent); }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2, h3 { line-height: 1.2; margin: 1.6em 0 0.5em; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 0.25rem 0.7rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th:first-child { text-align: left; }
pre { overflow-x: auto; padding: 0.6rem; border: 1px solid var(--line); }
</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""
