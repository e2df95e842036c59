"""The pages that the navigation leads to: those of one owner's memory, and those of the whole server."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Section:
    """One page of the navigation: its address, what it is called, and the letter that opens it after `g`."""

    path: str
    name: str
    key: str


def _sections(*some: tuple[str, str, str]) -> tuple[Section, ...]:
    return tuple(Section(path=path, name=name, key=key) for path, name, key in some)


OF_OWNER = {
    "Memory": _sections(
        ("/overview", "Overview", "o"),
        ("/facts", "Facts", "f"),
        ("/persona", "Persona", "k"),
        ("/timeline", "Timeline", "l"),
        ("/pages", "Pages", "p"),
        ("/segments", "Segments", "s"),
        ("/documents", "Documents", "d"),
        ("/map", "Map", "m"),
    ),
    "Try": _sections(("/playground", "Playground", "r"), ("/chat", "Chat", "c")),
    "Record": _sections(("/audit", "Audit log", "a"), ("/import", "Import", "i")),
}
"""By the heading under which they stand."""
OWNERS = Section(path="/", name="Owners", key="h")
SPACES = Section(path="/spaces", name="Spaces", key="b")
"""Only for those who may reach one."""
OPERATIONS = _sections(("/operations", "Operations", "e"))
"""Only for those who run the server."""


def shown(*, owner: bool, operates: bool, spaces: bool) -> Iterator[tuple[str, tuple[Section, ...]]]:
    """The navigation of a page: of an owner or of none, for somebody who may run the server or may not."""
    if owner:
        yield from OF_OWNER.items()
    yield "Server", (OWNERS, *((SPACES,) if spaces else ()), *(OPERATIONS if operates else ()))
