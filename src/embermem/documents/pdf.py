"""The text of a PDF file, page by page, by pypdf."""

from __future__ import annotations

import io
import re
import zlib

from embermem.core.errors import InputError
from embermem.documents.outline import Outline, OutlineBuilder

__all__ = ["pdf"]

_HYPHEN = re.compile(r"(?<=\w)[-\u00ad]\n(?=[^\W\d_A-Z])")
_PARAGRAPH = re.compile(r"\n[ \t]*\n")


def pdf(data: bytes, name: str) -> Outline:
    """The outline of a PDF: its paragraphs under their page's number. Raises InputError for a file that cannot be read
    or holds no text, and ModuleNotFoundError without the extra."""
    import pypdf
    from pypdf.errors import PyPdfError

    builder = OutlineBuilder()
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise InputError(f"{name} is protected by a password; store it without one")
        title = (reader.metadata.title if reader.metadata else None) or ""
        for number, page in enumerate(reader.pages, 1):
            text = _HYPHEN.sub("", page.extract_text().replace("\x00", ""))
            builder.begin(f"page {number}")
            for paragraph in _PARAGRAPH.split(text):
                builder.add(paragraph)
    except InputError:
        raise
    except (PyPdfError, zlib.error, ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise InputError(f"{name} cannot be read as PDF ({type(error).__name__})") from error
    return builder.outline(str(title))
