"""The text of an HTML page: headings, paragraphs, lists, code, tables, by selectolax; no scripts, styles or menus."""

from __future__ import annotations

from typing import Any

from embermem.documents.outline import Outline, OutlineBuilder

__all__ = ["html"]

_SKIPPED = frozenset("script style template noscript nav svg iframe head button select textarea".split())
_INLINE = frozenset(
    "a abbr b bdi bdo cite code data del dfn em font i ins kbd label mark q rp rt ruby s samp small span strong sub sup"
    " time tt u var wbr".split()
)
_LEVELS = {f"h{level}": level for level in range(1, 7)}


def html(text: str) -> Outline:
    """The outline of a page. Raises ModuleNotFoundError without the extra."""
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(text)
    head = tree.css_first("title")
    reading = _Reading()
    if tree.body is not None:
        reading.read(tree.body)
    return reading.builder.outline("" if head is None else head.text())


class _Reading:
    """A page, element by element, however deep: what was read of the block that is being read."""

    def __init__(self) -> None:
        self.builder = OutlineBuilder()
        self._inline: list[str] = []
        self._is_item = False

    def read(self, body: Any) -> None:
        stack = [(body, False)]
        while stack:
            node, is_over = stack.pop()
            tag = node.tag
            if is_over:
                self._end(_LEVELS.get(tag, 0))
            elif tag == "-text":
                self._inline.append(node.text_content or "")
            elif tag == "br":
                self._inline.append("\n")
            elif tag in ("pre", "table"):
                self._end()
                self.builder.add(_table(node) if tag == "table" else node.text(), whole=True)
            elif tag is not None and tag not in _SKIPPED and not tag.startswith(("-", "!")):
                if tag not in _INLINE:
                    self._end()
                    self._is_item = tag == "li"
                    stack.append((node, True))
                stack.extend((child, False) for child in reversed(list(node.iter(include_text=True))))
        self._end()

    def _end(self, level: int = 0) -> None:
        """The end of a block."""
        lines = "".join(part if part == "\n" else _spaced(part) for part in self._inline).split("\n")
        text = "\n".join(line.strip() for line in lines).strip()
        if text:
            self.builder.add(f"- {text}" if self._is_item else text, level=level, gap="\n" if self._is_item else "\n\n")
            self._is_item = False
        self._inline = []


def _spaced(text: str) -> str:
    """The text with every run of white space turned into one space."""
    spaced = " ".join(text.split())
    return f"{' ' * (text[:1].isspace())}{spaced}{' ' * (bool(spaced) and text[-1:].isspace())}"


def _table(table: Any) -> str:
    rows = ([" ".join(cell.text().split()) for cell in row.css("th, td")] for row in table.css("tr"))
    return "\n".join(" | ".join(row) for row in rows)
