"""Files of documents, made here: a PDF and a DOCX of a few lines, by hand."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def pdf_of(pages: Sequence[Sequence[str]]) -> bytes:
    """A PDF whose pages have these lines."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"", b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids = []
    for lines in pages:
        shown = "\n".join(f"({line}) Tj 0 -14 Td" for line in lines)
        stream = f"BT /F1 12 Tf 72 720 Td\n{shown}\nET".encode("latin-1")
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
        contents = len(objects)
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % contents
        )
        kids.append(b"%d 0 R" % len(objects))
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b" ".join(kids), len(kids))
    out, places = b"%PDF-1.4\n", []
    for number, one in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    tail = b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, len(out))
    return out + b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(objects) + 1, table) + tail


def docx_of(body: str, styles: str = "", *, packed: bool = False) -> bytes:
    """A DOCX of these paragraphs and tables (`paragraph`), and styles."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED) as file:
        file.writestr("word/document.xml", f"<w:document {_W}><w:body>{body}</w:body></w:document>")
        file.writestr("word/styles.xml", f"<w:styles {_W}>{styles}</w:styles>")
    return made.getvalue()


def paragraph(text: str, style: str = "") -> str:
    """A paragraph of a DOCX."""
    styled = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{styled}<w:r><w:t>{text}</w:t></w:r></w:p>"


def heading(style: str, level: int) -> str:
    """A style of headings of a DOCX, of a level from 0."""
    told = f'<w:name w:val="{style}"/><w:pPr><w:outlineLvl w:val="{level}"/></w:pPr>'
    return f'<w:style w:styleId="{style}">{told}</w:style>'
