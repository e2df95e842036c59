"""The documentation site: its menu lists every page, and the check of the built site finds what is wrong."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}


@pytest.fixture(scope="module")
def site() -> Iterator[Any]:
    """The script."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "scripts")
        yield importlib.import_module("docs_site")


def built(folder: Path, **pages: str) -> Path:
    for name, body in pages.items():
        path = folder / f"{name.replace('__', '/')}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"<html><body><nav><a href='far.html'></a></nav><article>{body}</article></body></html>")
    return folder


def test_the_menu_lists_every_page_once() -> None:
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    listed = re.findall(r"(\S+\.md)$", menu, re.MULTILINE)
    assert sorted(listed) == sorted(PAGES)


def test_every_page_is_within_two_clicks_of_the_start_page() -> None:
    reached = {"index.md"}
    for _ in range(2):
        for page in sorted(reached):
            text = (DOCS / page).read_text(encoding="utf-8")
            links = re.findall(r"\]\(([^)\s#]+\.md)", text)
            reached |= {(DOCS / page).parent.joinpath(link).resolve().relative_to(DOCS).as_posix() for link in links}
    assert reached == PAGES


def test_a_site_whose_links_lead_somewhere_has_no_problems(site: Any, tmp_path: Path) -> None:
    folder = built(
        tmp_path,
        index="<h1 id='top'>Start</h1> <a href='guides/chat.html#more'>Chat</a> <a href='https://example.org'>out</a>",
        guides__chat="<h2 id='more'>More</h2> <a href='../index.html#top'>back</a> <a href='../far.html'>far</a>",
        far="<a href='#here'>here</a><p id='here'></p>",
    )
    (folder / "guides" / "far.html").write_text("")
    (folder / "index.html").write_text((folder / "index.html").read_text() + "<article><a href='guides/far.html'></a>")
    assert site.problems(folder) == []


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("<a href='gone.html'>gone</a>", "index.html: gone.html leads nowhere"),
        ("<a href='#gone'>gone</a>", "index.html: #gone leads nowhere"),
        ("<script src='https://cdn.example.org/a.js'></script>", "index.html: loads https://cdn.example.org/a.js"),
        ("<link rel='preconnect stylesheet' href='//fonts.example.org/f'>", "index.html: loads //fonts.example.org/f"),
        ("", "far.html: more than 2 clicks from index.html"),
    ],
)
def test_the_check_reports(site: Any, tmp_path: Path, body: str, problem: str) -> None:
    folder = built(tmp_path, index=body, far="only the menu leads here")
    assert any(line.startswith(problem) for line in site.problems(folder))


def test_a_fence_keeps_its_language_and_loses_the_note_after_it(site: Any) -> None:
    shown = site.on_page_markdown("```console no-run\n$ ls\n```\n```text\na b\n```\n")
    assert shown == "```console\n$ ls\n```\n```text\na b\n```\n"
