"""The text of a DOCX file: the paragraphs, headings, lists and tables of its document, read from the XML.

Headings are known by their style: by its level in the outline, its own or that of the style that it is based on.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

from embermem.core.errors import InputError
from embermem.documents.outline import Outline, OutlineBuilder

__all__ = ["docx"]

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_TITLE = "{http://purl.org/dc/elements/1.1/}title"
_MOST_BYTES = 200_000_000
"""Bytes of a part, unpacked: far above any text, and below what fills a machine."""
_MOST_UNPACKED, _FREE_BYTES = 100, 2_000_000
"""Bytes that a part may have for each byte of the file, and those that it may have at least: XML shrinks to about a
tenth, and what shrinks to a thousandth was made to keep its reader busy."""
_LONGEST_NAMESPACE = 1_000
"""Characters; the parser writes a namespace out for each element that is in it."""
_BODY_TEXT = 9
"""The level in the outline of what is no heading."""
_WHITE = {f"{_W}tab": "\t", f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}p": " "}


def docx(data: bytes, name: str) -> Outline:
    """The outline of a DOCX. Raises InputError for what cannot be read, ModuleNotFoundError without the extra."""
    from xml.etree.ElementTree import ParseError

    from defusedxml.common import DefusedXmlException

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            known = set(file.namelist())
            body, styles, core = (
                _parsed(_part(file, one, name, len(data)), f"{name} ({one})") if one in known else None
                for one in ("word/document.xml", "word/styles.xml", "docProps/core.xml")
            )
    except (zipfile.BadZipFile, zlib.error, ParseError, DefusedXmlException, RuntimeError, EOFError) as error:
        raise InputError(f"{name} cannot be read as DOCX ({type(error).__name__})") from error
    if body is None:
        raise InputError(f"{name} is no DOCX: it has no word/document.xml")
    builder, levels = OutlineBuilder(), {} if styles is None else _levels(styles)
    for element in _blocks(body):
        if element.tag == f"{_W}tbl":
            builder.add("\n".join(_rows(element)), whole=True)
            continue
        text, level = _text(element), _level(element, levels)
        is_item = level == 0 and element.find(f"{_W}pPr/{_W}numPr") is not None
        builder.add(f"- {text}" if is_item and text else text, level=level, gap="\n" if is_item else "\n\n")
    return builder.outline("" if core is None else core.findtext(_TITLE) or "")


def _part(file: zipfile.ZipFile, part: str, name: str, size: int) -> bytes:
    most = min(_MOST_BYTES, _FREE_BYTES + _MOST_UNPACKED * size)
    with file.open(part) as stream:
        data = stream.read(most + 1)
    if len(data) > most:
        raise InputError(
            f"{name} has more than {most:,} bytes in {part}, which is too much for a file of {size:,} bytes; save it "
            "anew with an office program, or store its text"
        )
    return data


def _parsed(data: bytes, where: str) -> Any:
    from xml.etree.ElementTree import TreeBuilder

    from defusedxml.ElementTree import DefusedXMLParser

    def check(prefix: str | None, uri: str | None) -> None:
        if len(uri or "") > _LONGEST_NAMESPACE:
            raise InputError(f"{where} has a namespace of more than {_LONGEST_NAMESPACE:,} characters")

    parser = DefusedXMLParser(target=TreeBuilder(), forbid_dtd=True)
    parser.parser.StartNamespaceDeclHandler = check
    parser.feed(data)
    return parser.close()


def _blocks(body: Any) -> Iterator[Any]:
    """Paragraphs and tables in order, whatever holds them; those of tables and of text boxes come with them."""
    stack = [body]
    while stack:
        element = stack.pop()
        if element.tag in (f"{_W}p", f"{_W}tbl"):
            yield element
        else:
            stack.extend(reversed(element))


def _rows(table: Any) -> Iterator[str]:
    """The rows of a table, each followed by those of the tables in it. Every element is looked at once."""
    outside: list[str] = []  # text that is in no cell
    rows: list[list[list[str]]] = [[outside]]
    stack: list[tuple[Any, list[list[str]] | None, list[str]]] = [(table, None, outside)]
    while stack:
        element, row, text = stack.pop()
        if element.tag == f"{_W}tbl":
            row = None
        elif element.tag == f"{_W}tr":
            row = []
            rows.append(row)
        elif element.tag == f"{_W}tc" and row is not None:
            text = []
            row.append(text)
        else:
            text.append(_piece(element))
        stack.extend((one, row, text) for one in reversed(element))
    for cells in rows:
        texts = [" ".join("".join(cell).split()) for cell in cells]
        if any(texts):
            yield " | ".join(texts)


def _text(paragraph: Any) -> str:
    return "".join(_piece(one) for one in paragraph.iter()).strip()


def _piece(element: Any) -> str:
    """The text of one element, without that of those in it."""
    if element.tag == f"{_W}t":
        return element.text or ""
    return _WHITE.get(element.tag, "")


def _level(paragraph: Any, levels: Mapping[str, int]) -> int:
    own = paragraph.find(f"{_W}pPr/{_W}outlineLvl")
    if own is not None:
        return _heading(own)
    style = paragraph.find(f"{_W}pPr/{_W}pStyle")
    return 0 if style is None else levels.get(style.get(f"{_W}val", ""), 0)


def _levels(styles: Any) -> dict[str, int]:
    """By a style's id, the level of the headings that it makes."""
    own: dict[str, int] = {}
    based: dict[str, str] = {}
    for style in styles.iter(f"{_W}style"):
        name = style.get(f"{_W}styleId", "")
        level, on = style.find(f"{_W}pPr/{_W}outlineLvl"), style.find(f"{_W}basedOn")
        called = style.find(f"{_W}name")
        if level is not None:
            own[name] = _heading(level)
        elif called is not None and called.get(f"{_W}val", "").lower() == "title":
            own[name] = 1
        if on is not None:
            based[name] = on.get(f"{_W}val", "")
    levels: dict[str, int] = {}
    for name in {*own, *based}:
        chain: dict[str, None] = {}
        at = name
        while at not in levels and at not in own and at in based and at not in chain:
            chain[at] = None
            at = based[at]
        level = levels.get(at, own.get(at, 0))
        levels |= dict.fromkeys([*chain, name], level)
    return levels


def _heading(level: Any) -> int:
    text = level.get(f"{_W}val", "")
    number = int(text) if text.isdecimal() and len(text) == 1 else _BODY_TEXT
    return min(number + 1, 6) if number < _BODY_TEXT else 0
