"""The documentation site: a hook for mkdocs, and the check of what it built.

    python scripts/docs_site.py site

Every page is within two clicks of the start page, through the text and not the menus; every link and anchor leads
somewhere; and no page loads anything from another server. `make docs` runs it.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

CLICKS = 2
START = "index.html"
# What a browser loads by itself. A plain link (<a href>) to another site is allowed.
LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src"}
LOADING_RELATIONS = frozenset({"stylesheet", "icon", "preload", "modulepreload", "preconnect", "dns-prefetch"})


def on_page_markdown(markdown: str, **_: object) -> str:
    """mkdocs' hook: a fence keeps its language and loses the note for the tests after it, such as `no-run`."""
    return re.sub(r"^(```\w+) [^\n]+$", r"\1", markdown, flags=re.MULTILINE)


@dataclass
class Page:
    """What the check needs to know of one page: links in its text, all links, anchors, and what it loads."""

    text_links: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)
    loads: list[str] = field(default_factory=list)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page()
        self._in_article = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "article":
            self._in_article += 1
        if "id" in given:
            self.page.anchors.add(given["id"])
        if tag == "a" and "href" in given:
            self.page.links.append(given["href"])
            if self._in_article:
                self.page.text_links.append(given["href"])
        if tag in LOADED and LOADED[tag] in given:
            self.page.loads.append(given[LOADED[tag]])
        if tag == "link" and LOADING_RELATIONS & set(given.get("rel", "").split()):
            self.page.loads.append(given.get("href", ""))

    def handle_endtag(self, tag: str) -> None:
        if tag == "article":
            self._in_article -= 1


def problems(site: Path) -> list[str]:
    """What is wrong with the site in this folder, one line each."""
    pages = {path.relative_to(site).as_posix(): _read(path) for path in sorted(site.rglob("*.html"))}
    found = [
        f"{name}: loads {address} from another server" for name, page in pages.items() for address in _foreign(page)
    ]
    for name, page in pages.items():
        found += [
            f"{name}: {link} leads nowhere" for link in page.links if not _leads_somewhere(site, pages, name, link)
        ]
    far = pages.keys() - _reached(pages) - {"404.html"}
    return found + [f"{name}: more than {CLICKS} clicks from {START}" for name in sorted(far)]


def _read(path: Path) -> Page:
    reader = _Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    return reader.page


def _foreign(page: Page) -> list[str]:
    return [address for address in page.loads if urlsplit(address).netloc]


def _leads_somewhere(site: Path, pages: dict[str, Page], name: str, link: str) -> bool:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc or name == "404.html":
        return True
    target = _target(name, parts.path)
    if target not in pages:
        return (site / target).is_file()
    return not parts.fragment or unquote(parts.fragment) in pages[target].anchors


def _target(name: str, path: str) -> str:
    """The file that a link of this page names, from the site's folder."""
    if not path:
        return name
    joined = Path("/", name).parent.joinpath(unquote(path)).resolve().relative_to("/")
    return (joined / START if path.endswith(("/", ".", "..")) else joined).as_posix()


def _reached(pages: dict[str, Page]) -> set[str]:
    reached, newest = {START}, {START}
    for _ in range(CLICKS):
        links = {
            _target(name, urlsplit(link).path)
            for name in newest
            for link in pages[name].text_links
            if "://" not in link
        }
        newest = (links & pages.keys()) - reached
        reached |= newest
    return reached


if __name__ == "__main__":
    lines = problems(Path(sys.argv[1]))
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.exit(1 if lines else 0)
