from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from damaged import damaged_zip
from documents_made import docx_of, heading, paragraph, pdf_of
from embermem.core.errors import InputError
from embermem.documents.outline import Outline
from embermem.documents.reader import read_bytes, read_file, read_text
from embermem.documents.splitter import split

PART = "# One\n\n" + "A sentence is this. " * 60 + "\n\n- an item\n- another\n\n```\ncode\n```\n\n"


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


def test_tables_in_tables_are_read_once() -> None:
    inner = "<w:tbl><w:tr><w:tc>{}</w:tc><w:tc>{}</w:tc></w:tr></w:tbl>"
    table = inner.format(paragraph("outer") + inner.format(paragraph("in"), paragraph("side")), paragraph("next"))
    page = "<table><tr><td>outer<table><tr><td>in</div><td>side</table><td>next</table><p>after"
    assert read_bytes(docx_of(table + paragraph("after")), "a.docx").text == "outer | next\nin | side\n\nafter"
    assert read_text(page, "a.html").text == "outer | next\nin | side\n\nafter"


def test_markup_that_is_not_well_formed_loses_no_text() -> None:
    for page, text in (
        ("<p>a<nav><p>menu</div><p>b", "a"),
        ("<div>a<nav>menu</div>b", "a\n\nb"),
        ("<h1><div>Title</div></h1>a <b>c", "Title\n\na c"),
        ("<a title='x > y'>a</a> &amp; &#x62;&#99999999999;<!-- <p>no --> c", "a & b\ufffd c"),
        ("<table>before<tr><td>1<td>2<tr><th>3</table>after", "before\n\n1 | 2\n3\n\nafter"),
        ("<ul><li><p>one</p><li>two</ul>three", "- one\n- two\n\nthree"),
        ("<pre>\na <b>b</b>\n  c</pre>d<pre>e", "a b\n  c\n\nd\n\ne"),
        ("<title>T</title><script>if (a<b) '</p>'</script>a<br/>b < c <d e", "a\nb < c <d e"),
    ):
        assert read_text(page, "a.html").text == text, page


def test_the_work_is_linear_in_the_size_of_the_file() -> None:
    def tables(n: int) -> bytes:
        return docx_of("<w:tbl><w:tr><w:tc>" * n + paragraph("x") + "</w:tc></w:tr></w:tbl>" * n)

    def styles(n: int) -> bytes:
        return docx_of(
            "", "".join(f'<w:style w:styleId="{i}"><w:basedOn w:val="{i + 1}"/></w:style>' for i in range(n))
        )

    def seconds(data: bytes, name: str) -> float:
        begin = time.process_time()
        split(read_bytes(data, name))
        return time.process_time() - begin

    cases: dict[str, tuple[int, Callable[[int], bytes]]] = {
        "tables.docx": (40, tables), "styles.docx": (500, styles),
        "tables.html": (100, lambda n: b"<table><tr><td>" * n),
        "blocks.html": (1_500, lambda n: b"<div>" * n + b"</p></b>" * n),
        "lists.html": (1_000, lambda n: b"<ul><li>" * n + b"x"),
        "misnested.html": (100, lambda n: b"<b id=1><p>" * n + b"</b>" * n),
        "quotes.html": (2_000, lambda n: b"<a b='" * n), "rule.md": (1_000, lambda n: b"a|b\n|" + b" " * n + b"x|"),
        "heading.md": (1_000, lambda n: b"# a" + b" " * n + b"x {#x"),
        "abbreviations.md": (4_000, lambda n: b"A. " * n), "parts.md": (10, lambda n: PART.encode() * n),
    }  # fmt: skip
    for name, (count, make) in cases.items():
        short, long = make(count), make(8 * count)
        most = 16 * min(seconds(short, name) for _ in range(2)) + 0.1
        assert seconds(long, name) <= most or seconds(long, name) <= most, name


def test_a_small_file_that_unfolds_into_a_large_one_is_refused() -> None:
    page = pdf_of([["Hello"] * 100])
    drawn = page.replace(b"/Contents 4 0 R", b"/Contents [" + b"4 0 R " * 5_000 + b"]")
    made = {
        "a.pdf": (drawn, "far more than its size"),
        "b.docx": (docx_of("<w:p/>" * 1_000_000, packed=True), "more than 2,"),
        "c.docx": (docx_of(f'<a xmlns="{"x" * 2_000}"/>'), "a namespace of more than 1,000 characters"),
    }
    for name, (data, what) in made.items():
        with pytest.raises(InputError, match=f"{name}.*{what}"):
            read_bytes(data, name)


def test_a_damaged_file_is_refused_by_name() -> None:
    cases = [b"", b"nothing of it", b"%PDF-1.4\n%%EOF", b"PK\x03\x04" + b"\x00" * 40, damaged_zip("word/document.xml")]
    for data in cases:
        for name in ["a.pdf", "a.docx"]:
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


def test_bytes_that_are_no_text_are_refused_whatever_the_name_with_what_can_be_read() -> None:
    cases = [
        (docx_of(""), "begins as a ZIP archive"), (b"%PDF-1.4\n%%EOF", "begins as a PDF"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "begins as a PNG picture"),
        (b"\x00\x00\x00\x18ftypheic\x00", "begins as a film, a sound or a HEIC picture"),
        (b"\x00\x01\x02\x03", "holds the character U+0000"), (b"one\x02two", "holds the character U+0002"),
    ]  # fmt: skip
    for name in ["a.xlsx", "a.bin", "a", "a.md", "a.txt", "a.html"]:
        for data, what in cases:
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
