from __future__ import annotations

from pathlib import Path

import pytest

from damaged import damaged_zip
from documents_made import docx_of, heading, paragraph, pdf_of
from embermem.core.errors import InputError
from embermem.documents.outline import Outline
from embermem.documents.reader import read_bytes, read_file, read_text
from embermem.documents.splitter import split


def places(outline: Outline) -> list[tuple[str, str]]:
    return [(" > ".join(part.place), outline.text[part.start : part.end]) for part in split(outline)]


def test_a_passage_of_a_pdf_says_its_page() -> None:
    made = pdf_of([["The rent is due on the third."], ["Pets are wel-", "come in the house."]])
    assert places(read_bytes(made, "lease.pdf")) == [
        ("page 1", "The rent is due on the third."),
        ("page 2", "Pets are welcome in the house."),
    ]


def test_headings_lists_and_tables_of_a_docx_are_known() -> None:
    table = f"<w:tbl><w:tr><w:tc>{paragraph('dog')}</w:tc><w:tc>{paragraph('20 euros')}</w:tc></w:tr></w:tbl>"
    item = "<w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>No parrots.</w:t></w:r></w:p>"
    body = paragraph("Pets", "H1") + paragraph("Dogs are welcome.") + item + table + paragraph("Rent", "H2")
    styles = heading("H1", 0) + '<w:style w:styleId="H2"><w:basedOn w:val="H1"/></w:style>'
    outline = read_bytes(docx_of(body + paragraph("Due on the third."), styles), "lease.docx")
    assert places(outline) == [
        ("Pets", "Pets\n\nDogs are welcome.\n- No parrots.\n\ndog | 20 euros"),
        ("Rent", "Rent\n\nDue on the third."),
    ]


def test_a_page_of_html_is_read_without_scripts_and_menus() -> None:
    page = (
        "<html><head><title>The lease</title><style>p {}</style></head><body><nav>Home</nav><h1>Pets</h1>"
        "<p>Dogs are <b>wel</b>come<br>here.</p><ul><li>No parrots<li>No snakes</ul><script>alert(1)</script>"
        "<pre>a  b</pre><table><tr><td>dog<td>20</table></body></html>"
    )
    outline = read_text(page, "lease.html")
    assert outline.title == "The lease"
    said = "Pets\n\nDogs are welcome\nhere.\n- No parrots\n- No snakes\n\na  b\n\ndog | 20"
    assert places(outline) == [("Pets", said)]
    assert places(read_text("<div>" * 20_000 + "deep", "a.html")) == [("", "deep")]


@pytest.mark.parametrize("name", ["a.pdf", "a.docx"])
@pytest.mark.parametrize(
    "data", [b"", b"nothing of it", b"%PDF-1.4\n%%EOF", b"PK\x03\x04" + b"\x00" * 40, damaged_zip("word/document.xml")]
)
def test_a_damaged_file_is_refused_by_name(name: str, data: bytes) -> None:
    with pytest.raises(InputError, match=name):
        read_bytes(data, name)


def test_entities_of_a_docx_are_refused() -> None:
    bomb = '<!DOCTYPE w [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>'
    made = docx_of("").replace(b"<w:document", bomb.encode() + b"<w:document")
    with pytest.raises(InputError):
        read_bytes(made, "a.docx")


def test_text_that_is_no_text_is_refused_and_line_ends_are_one() -> None:
    with pytest.raises(InputError, match=r"a\.md is no text in UTF-8: byte 0 is 0xff"):
        read_bytes(b"\xff\x00\xfa", "a.md")
    assert read_text("a\r\nb\rc", "a.txt").text == "a\nb\nc"
    assert read_bytes("\ufeffGrüße".encode(), "a.txt").text == "Grüße"
    page = '<meta charset="iso-8859-1"><p>Grüße'.encode("latin-1")
    assert read_bytes(page, "a.html").text == "Grüße"


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (docx_of(""), "begins as a ZIP archive"),
        (b"%PDF-1.4\n%%EOF", "begins as a PDF"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "begins as a PNG picture"),
        (b"\x00\x00\x00\x18ftypheic\x00", "begins as a film, a sound or a HEIC picture"),
        (b"\x00\x01\x02\x03", "holds the character U+0000"),
        (b"one\x02two", "holds the character U+0002"),
    ],
)
@pytest.mark.parametrize("name", ["a.xlsx", "a.bin", "a", "a.md", "a.txt", "a.html"])
def test_bytes_that_are_no_text_are_refused_whatever_the_name_with_what_can_be_read(
    data: bytes, what: str, name: str
) -> None:
    with pytest.raises(InputError, match=f"{name} is no text: it .*Formats: text and Markdown.*pdf") as refused:
        read_bytes(data, name)
    assert what in str(refused.value)
    assert read_bytes(b"\tone\x0c\x1b[1mtwo", name).text


def test_a_file_that_is_not_there_or_too_large_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_file(tmp_path / "none.md", 100)
    (tmp_path / "big.md").write_text("x" * 101)
    with pytest.raises(InputError, match="101 bytes"):
        read_file(tmp_path / "big.md", 100)
