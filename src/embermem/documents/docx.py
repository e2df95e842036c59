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
_BODY_TEXT = 9
"""The level in the outline of what is no heading."""


def docx(data: bytes, name: str) -> Outline:
    """The outline of a DOCX. Raises InputError for what cannot be read, ModuleNotFoundError without the extra."""
    from xml.etree.ElementTree import ParseError

    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            known = set(file.namelist())
            body, styles, core = (
                fromstring(_part(file, one, name)) if one in known else None
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
        builder.add(f"- {text}" if is_item and text.strip() else text, level=level, gap="\n" if is_item else "\n\n")
    return builder.outline("" if core is None else core.findtext(_TITLE) or "")


def _part(file: zipfile.ZipFile, part: str, name: str) -> bytes:
    with file.open(part) as stream:
        data = stream.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise InputError(f"{name} has more than {_MOST_BYTES:,} bytes in {part}")
    return data


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
    for row in table.iter(f"{_W}tr"):
        yield " | ".join(" ".join(_text(cell).split()) for cell in row.iter(f"{_W}tc"))


def _text(element: Any) -> str:
    found: list[str] = []
    for one in element.iter():
        if one.tag == f"{_W}t":
            found.append(one.text or "")
        elif one.tag == f"{_W}tab":
            found.append("\t")
        elif one.tag in (f"{_W}br", f"{_W}cr"):
            found.append("\n")
        elif one.tag == f"{_W}p" and one is not element:
            found.append(" ")
    return "".join(found)


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
        seen, at = set[str](), name
        while at not in own and at in based and at not in seen:
            seen.add(at)
            at = based[at]
        levels[name] = own.get(at, 0)
    return levels


def _heading(level: Any) -> int:
    text = level.get(f"{_W}val", "")
    number = int(text) if text.isdecimal() else _BODY_TEXT
    return min(number + 1, 6) if number < _BODY_TEXT else 0
