"""The text of a PDF file, page by page, by pypdf."""

from __future__ import annotations

import io
import re
import zlib
from typing import Any

from embermem.core.errors import InputError
from embermem.documents.outline import Outline, OutlineBuilder

__all__ = ["pdf"]

_HYPHEN = re.compile(r"(?<=\w)[-\u00ad]\n(?=[^\W\d_A-Z])")
_PARAGRAPH = re.compile(r"\n[ \t]*\n")
_RANGE = re.compile(rb"<([0-9A-Fa-f]{1,8})>\s*<([0-9A-Fa-f]{1,8})>\s*[<\[]")
"""In a font, codes from one to another that stand for characters."""
_DRAW, _DRAW_NAMED = re.compile(rb"\bDo\b"), re.compile(rb"(/[^\s()<>\[\]{}/%]*)\s+Do\b")
_HEX = re.compile(rb"#([0-9A-Fa-f]{2})")

_WORK_OF_FILE, _WORK_OF_BYTE = 200_000, 6
"""What a file may cost, and how much more with each of its bytes; a unit takes about 10 µs. Files of text cost less
than one unit a byte. A page and a font may be named without end by a few bytes, each time to be read again."""
_WORK_OF_PAGE, _WORK_OF_FONT = 50, 5
_BYTES_READ, _BYTES_UNPACKED, _CODES_MAPPED = 8, 1_000, 10
"""What one unit does."""


def pdf(data: bytes, name: str) -> Outline:
    """The outline of a PDF: its paragraphs under their page's number. Raises InputError for a file that cannot be read,
    that holds no text or that draws far more than its size explains, and ModuleNotFoundError without the extra."""
    import pypdf
    from pypdf.errors import PyPdfError

    builder, work = OutlineBuilder(), _Work(name, len(data))
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise InputError(f"{name} is protected by a password; store it without one")
        title = (reader.metadata.title if reader.metadata else None) or ""
        for number, page in enumerate(reader.pages, 1):
            work.take_page(page)
            text = page.extract_text()
            builder.begin(f"page {number}")
            for paragraph in _PARAGRAPH.split(_HYPHEN.sub("", text.replace("\x00", ""))):
                builder.add(paragraph)
    except InputError:
        raise
    except (PyPdfError, zlib.error, ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise InputError(f"{name} cannot be read as PDF ({type(error).__name__})") from error
    return builder.outline(str(title))


class _Work:
    """What reading a file costs, counted before it is done: what is named often counts as often."""

    def __init__(self, name: str, size: int) -> None:
        self._name = name
        self._left = _WORK_OF_FILE + _WORK_OF_BYTE * size
        self._known: dict[int, tuple[Any, int]] = {}
        """By the identity of streams and fonts, them, so that it stays theirs, and what each costs."""

    def take_page(self, page: Any) -> None:
        """The next page. Raises InputError where it is too much."""
        self._take(_WORK_OF_PAGE + self._fonts(page))
        contents = _resolved(page.get("/Contents"))
        for part in contents if isinstance(contents, list) else [contents]:
            self._take(1 + self._stream(_resolved(part), page))

    def _stream(self, stream: Any, of: Any) -> int:
        """What it costs to read the operators of a page or of a drawing, with the drawings that it names."""
        if not hasattr(stream, "get_data"):
            return 0
        if id(stream) not in self._known:
            self._known[id(stream)] = stream, 0  # drawings may name each other in a circle
            data = stream.get_data()
            self._take(len(data) // _BYTES_UNPACKED)
            self._known[id(stream)] = stream, len(data) // _BYTES_READ + self._drawings(data, of)
        return self._known[id(stream)][1]

    def _drawings(self, data: bytes, of: Any) -> int:
        count = len(_DRAW.findall(data))
        forms = _entries(of, "/XObject") if count else {}
        costs = {
            name: self._fonts(form) + self._stream(form, form)
            for name, form in forms.items()
            if isinstance(form, dict) and form.get("/Subtype") == "/Form"
        }
        named = [_HEX.sub(lambda hexed: bytes.fromhex(hexed[1].decode()), one) for one in _DRAW_NAMED.findall(data)]
        drawn = sum(1 + costs.get(one.decode("latin-1"), 0) for one in named)
        return drawn + (count - len(named)) * max(costs.values(), default=0) if costs else 0

    def _fonts(self, of: Any) -> int:
        return sum(map(self._font, _entries(of, "/Font").values()))

    def _font(self, font: Any) -> int:
        if not isinstance(font, dict):
            return 0
        if id(font) not in self._known:
            mapped = _resolved(font.get("/ToUnicode"))
            data = mapped.get_data() if hasattr(mapped, "get_data") else b""
            blocks = b" ".join(part.partition(b"endbfrange")[0] for part in data.split(b"beginbfrange")[1:])
            codes = sum(max(0, int(last, 16) - int(first, 16)) for first, last in _RANGE.findall(blocks))
            cost = _WORK_OF_FONT + len(data) // _BYTES_READ + codes // _CODES_MAPPED
            self._known[id(font)] = font, cost
        return self._known[id(font)][1]

    def _take(self, units: int) -> None:
        self._left -= units
        if self._left < 0:
            raise InputError(
                f"{self._name} draws far more than its size explains, such as the same content on page after page; "
                "print it to a new PDF, or store its text"
            )


def _resolved(value: Any) -> Any:
    return value.get_object() if hasattr(value, "get_object") else value


def _entries(of: Any, kind: str) -> dict[str, Any]:
    """The resources of one kind that a page or a drawing names."""
    resources = _resolved(of.get("/Resources"))
    found = _resolved(resources.get(kind)) if isinstance(resources, dict) else None
    return {name: _resolved(one) for name, one in found.items()} if isinstance(found, dict) else {}
