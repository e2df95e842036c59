"""A document read: from its text, or from the bytes of a file in a format that its name says."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path, PurePath

from embermem.core.errors import InputError
from embermem.core.extras import needing
from embermem.documents.docx import docx
from embermem.documents.html import html
from embermem.documents.markdown import markdown, plain
from embermem.documents.outline import Outline
from embermem.documents.pdf import pdf

__all__ = ["read_bytes", "read_file", "read_text"]

_PLAIN = (".txt", ".text", ".log", ".csv", ".tsv", ".rst")
_CHARSET = re.compile(rb"charset\s*=\s*[\"']?([\w-]{2,40})", re.IGNORECASE)
_LOOKS_AT = 2_048
"""Bytes at the beginning of a page in which it names its encoding."""
_FORMATS = (
    "Formats: text and Markdown in any file that holds text, HTML in files that end in .html, .htm or .xhtml, and with "
    "the extra `embermem[documents]` files that end in .pdf or .docx"
)
_MAGIC = {
    b"PK\x03\x04": "a ZIP archive, as office documents are",
    b"%PDF-": "a PDF",
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"GIF8": "a GIF picture",
    b"RIFF": "a WebP picture, a sound or a film",
    b"ID3": "an MP3 sound",
    b"OggS": "an Ogg sound or film",
    b"\x1aE\xdf\xa3": "a Matroska or WebM film",
    b"\x1f\x8b": "a gzip archive",
    b"\xd0\xcf\x11\xe0": "an old office document",
    b"{\\rtf": "rich text (RTF)",
}
_NO_TEXT = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
"""Characters that no text has: all control characters but white space and the escape of coloured logs."""
_BINARY: dict[str, Callable[[bytes, str], Outline]] = {".pdf": pdf, ".docx": docx}


def read_text(text: str, name: str = "") -> Outline:
    """The outline of a text: as its name says, or as Markdown. Line ends become \\n."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    ending = PurePath(name).suffix.lower()
    if ending in (".html", ".htm", ".xhtml"):
        return html(text)
    return plain(text) if ending in _PLAIN else markdown(text)


def read_bytes(data: bytes, name: str) -> Outline:
    """The outline of a file by its bytes and its name. Raises InputError for what cannot be read, ConfigError where the
    extra is missing that its format needs."""
    read = _BINARY.get(PurePath(name).suffix.lower())
    if read is None:
        return read_text(_decoded(data, name), name)
    with needing("documents", f"reading {PurePath(name).suffix[1:].upper()}"):
        return read(data, name)


def read_file(path: Path, most: int) -> Outline:
    """The outline of a file of at most so many bytes. Raises as `read_bytes` does."""
    try:
        size = path.stat().st_size
        if size > most:
            raise InputError(f"{path} has {size:,} bytes, more than the {most:,} allowed; split it")
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    return read_bytes(data, path.name)


def _decoded(data: bytes, name: str) -> str:
    """A file's text: UTF-8 or UTF-16 with a mark; of a page, in the encoding that it names. Raises InputError."""
    named = _CHARSET.search(data[:_LOOKS_AT]) if PurePath(name).suffix.lower() in (".html", ".htm") else None
    marked = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    encoding = "utf-16" if marked else "utf-8-sig" if named is None else named[1].decode()
    begins = next((kind for magic, kind in _MAGIC.items() if data.startswith(magic)), None)
    if begins is None and data[4:8] == b"ftyp":
        begins = "a film, a sound or a HEIC picture"
    if begins is not None:
        raise InputError(f"{name} is no text: it begins as {begins}. {_FORMATS}")
    try:
        text = data.decode(encoding)
    except LookupError as error:
        raise InputError(f"{name} names the encoding {encoding}, which is not known; store it as UTF-8") from error
    except UnicodeDecodeError as error:
        coded = encoding.removesuffix("-sig").upper()
        raise InputError(
            f"{name} is no text in {coded}: byte {error.start} is {data[error.start]:#04x}. "
            f"Store a text as UTF-8; pictures, sounds and programs are not read. {_FORMATS}"
        ) from error
    if (found := _NO_TEXT.search(text)) is not None:
        raise InputError(f"{name} is no text: it holds the character U+{ord(found[0]):04X}. {_FORMATS}")
    return text
