"""The text of an HTML page: headings, paragraphs, lists, code and tables; no scripts, styles or menus.

The page is read from its first tag to its last without a tree: the rules by which browsers build one take time that
grows with the square of how deep elements are nested.
"""

from __future__ import annotations

import re
from collections import Counter
from html import unescape

from embermem.documents.outline import Outline, OutlineBuilder

__all__ = ["html"]

_SKIPPED = frozenset("template noscript nav svg button select".split())
_NO_MARKUP = frozenset("script style textarea title iframe noembed noframes".split())
"""Elements that are left out and end at their end tag, whatever else is in them."""
_INLINE = frozenset(
    "a abbr acronym area b base bdi bdo big cite code col data del dfn em embed font i img input ins kbd label link "
    "map mark meta nobr object param picture q rp rt ruby s samp small source span strike strong sub sup time track tt "
    "u var wbr".split()
)
"""Elements that end no paragraph."""
_CELLS, _ROWS = frozenset(["td", "th", "caption"]), frozenset(["tr", "thead", "tbody", "tfoot"])
_LEVELS = {f"h{level}": level for level in range(1, 7)}

_TAG = re.compile(r"<(?:(?P<comment>!--(?!-?>))|[!?]|/(?=[^\sa-z])|(?P<end>/?)(?P<name>[a-z][^\s/>]*))", re.IGNORECASE)
_REST = re.compile(r"(?:[^>=]++|=\s*+\"[^\"]*+\"|=\s*+'[^']*+'|=(?!\s*+[\"']))*+>")
"""A tag after its name: in quotes, `>` does not end it."""
_COMMENT_END, _DECLARATION_END = re.compile(r"--!?>"), re.compile(r">")
_LONG_NUMBER = re.compile(r"&#(?:[0-9]{9,}|[xX][0-9a-fA-F]{9,});?")
"""The number of no character; `unescape` raises ValueError for the longest."""


def html(text: str) -> Outline:
    """The outline of a page."""
    reading = _Reading()
    reading.read(text)
    return reading.builder.outline(reading.title or "")


class _Scope:
    """What is open in the page, or in one table or cell: no end tag of another element reaches beyond it."""

    def __init__(self, kind: str, rows: list[list[list[str]]] | None = None) -> None:
        self.kind = kind
        self.text: list[str] = []
        """Of the page, what was read of a block; of a cell, all of it."""
        self.rows = [] if rows is None else rows
        """Of a table and the tables in it: their rows, in the order in which these begin."""
        self.row: list[list[str]] | None = None
        self.skips = False
        """Whether what comes now is left out."""
        self.count = Counter[str]()
        self._open: list[tuple[str, bool]] = []

    def open(self, name: str) -> None:
        self._open.append((name, self.skips))
        self.count[name] += 1
        self.skips |= name in _SKIPPED

    def close(self, name: str) -> None:
        """Close an element and those in it. An end tag of what is not open closes nothing."""
        closed = "" if self.count[name] else name
        while closed != name:
            closed, self.skips = self._open.pop()
            self.count[closed] -= 1

    def begin_row(self) -> None:
        self.row = []
        self.rows.append(self.row)


class _Reading:
    """A page, tag by tag: each is looked at once, and each element is opened and closed once at most."""

    def __init__(self) -> None:
        self.builder = OutlineBuilder()
        self.title: str | None = None
        self._scopes = [_Scope("page")]
        self._pre: list[str] | None = None
        self._level = 0
        self._is_item = False

    def read(self, page: str) -> None:
        at = 0
        while (tag := _TAG.search(page, at)) is not None:
            self._say(_text(page[at : tag.start()]))
            at = self._markup(tag, page)
        self._say(_text(page[at:]))
        while len(self._scopes) > 1:
            self._leave()
        self._end_pre()
        self._end()

    def _markup(self, tag: re.Match[str], page: str) -> int:
        """Read a tag or comment; where it ends."""
        if tag["name"] is None:
            end = (_COMMENT_END if tag["comment"] is not None else _DECLARATION_END).search(page, tag.end())
            return len(page) if end is None else end.end()
        name, rest = tag["name"].lower(), _REST.match(page, tag.end())
        if rest is None:  # the page is cut off within the tag, or this is none
            self._say(_text(page[tag.start() :]))
            return len(page)
        ends = rest[0].endswith("/>")
        if tag["end"]:
            self._close(name)
        elif name in _NO_MARKUP and not ends:
            return self._without_markup(name, page, rest.end())
        elif name in ("br", "hr"):
            self._break(name)
        elif name not in _INLINE and not ends:
            self._open(name)
        return rest.end()

    def _without_markup(self, name: str, page: str, at: int) -> int:
        end = re.compile(rf"</{name}(?=[\s/>])[^>]*>?", re.IGNORECASE).search(page, at)
        if name == "title" and self.title is None and not self._scopes[-1].skips:
            self.title = _text(page[at : len(page) if end is None else end.start()])
        return len(page) if end is None else end.end()

    def _open(self, name: str) -> None:
        scope = self._scopes[-1]
        plain = scope.skips or self._pre is not None  # what is in it has no structure of its own
        if name in _CELLS | _ROWS and len(self._scopes) > 1 and not scope.count["table"]:
            self._row_or_cell(name)
        elif name == "table" and not plain:
            if scope.kind == "table":
                self._leave()
            if self._scopes[-1].kind == "page":
                self._end()
            self._scopes.append(_Scope("table", self._scopes[-1].rows if len(self._scopes) > 1 else None))
        else:
            if not plain and name not in _SKIPPED:
                self._break(name)
                self._is_item |= name == "li"
                self._level = _LEVELS.get(name, self._level)
                if name == "pre" and scope.kind == "page":
                    self._pre = []
            scope.open(name)

    def _close(self, name: str) -> None:
        scope = self._scopes[-1]
        if name == "br":
            self._break(name)
        elif name in _CELLS | _ROWS | {"table"} and not scope.count["table"] and len(self._scopes) > 1:
            if scope.kind == "cell":
                self._leave()
            if name == "table":
                self._leave()
            elif name in _ROWS:
                self._scopes[-1].row = None
        elif name not in _INLINE:
            scope.close(name)
            if not scope.count["pre"]:
                self._end_pre()
            if not scope.skips and self._pre is None:
                self._break(name)
                self._is_item &= name != "li"
                self._level = 0 if name in _LEVELS else self._level

    def _row_or_cell(self, name: str) -> None:
        if self._scopes[-1].kind == "cell":
            self._leave()
        table = self._scopes[-1]
        if name in _ROWS:
            table.row = None
        if name == "tr" or table.row is None:
            table.begin_row()
        if name in _CELLS and table.row is not None:
            cell = _Scope("cell", table.rows)
            table.row.append(cell.text)
            self._scopes.append(cell)

    def _leave(self) -> None:
        """The end of a cell or of a table; the outermost table is a block."""
        left = self._scopes.pop()
        if left.kind == "table" and len(self._scopes) == 1:
            self._end()
            texts = ([" ".join("".join(cell).split()) for cell in row] for row in left.rows)
            self.builder.add("\n".join(" | ".join(row) for row in texts if any(row)), whole=True)

    def _say(self, text: str) -> None:
        scope = self._scopes[-1]
        if scope.skips or not text:
            return
        if self._pre is not None:
            self._pre.append(text)
        elif scope.kind != "table":
            scope.text.append(text)
        elif not text.isspace():
            self._scopes[-2].text.append(text)  # what is in no cell comes before the table

    def _break(self, name: str) -> None:
        """The end of a line or of a block; in a cell, a space."""
        scope = self._scopes[-1]
        if name == "br" or self._pre is not None or scope.skips:
            self._say("\n")
        elif scope.kind == "page":
            self._end()
        else:
            self._say(" ")

    def _end_pre(self) -> None:
        if self._pre is not None:
            self.builder.add("".join(self._pre).removeprefix("\n"), whole=True)
            self._pre = None

    def _end(self) -> None:
        """The end of a block of the page."""
        page = self._scopes[0]
        lines = "".join(part if part == "\n" else _spaced(part) for part in page.text).split("\n")
        page.text = []
        text = "\n".join(line.strip() for line in lines).strip()
        if text:
            gap = "\n" if self._is_item else "\n\n"
            self.builder.add(f"- {text}" if self._is_item else text, level=self._level, gap=gap)
            self._is_item, self._level = False, 0


def _text(markup: str) -> str:
    return unescape(_LONG_NUMBER.sub("\ufffd", markup)) if "&" in markup else markup


def _spaced(text: str) -> str:
    """The text with every run of white space turned into one space."""
    spaced = " ".join(text.split())
    return f"{' ' * (text[:1].isspace())}{spaced}{' ' * (bool(spaced) and text[-1:].isspace())}"
