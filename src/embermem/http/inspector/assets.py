"""The inspector's own files: each under an address that holds the hash of its content, so that it may be kept."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from embermem.core.errors import NotFound

STATIC = Path(__file__).parent / "static"
FOREVER = "public, max-age=31536000, immutable"
TYPES: Mapping[str, str] = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Asset:
    """One file: its content, plain and by gzip, its type, and the first 12 hexadecimal digits of its SHA-256."""

    content: bytes
    compressed: bytes
    type: str
    mark: str


@cache
def assets() -> Mapping[str, Asset]:
    """All files by their names under `static`."""
    return {
        path.relative_to(STATIC).as_posix(): Asset(
            content=(content := path.read_bytes()),
            compressed=gzip.compress(content, mtime=0),
            type=TYPES[path.suffix],
            mark=hashlib.sha256(content).hexdigest()[:12],
        )
        for path in sorted(STATIC.rglob("*"))
        if path.suffix in TYPES
    }


def address(name: str) -> str:
    """Where a file is served. Raises KeyError for one that is not there: a template's mistake."""
    return f"/assets/{assets()[name].mark}/{name}"


def asset(mark: str, name: str) -> Asset:
    """The file of that address. Raises NotFound where the name or its hash is another one's."""
    found = assets().get(name)
    if found is None or found.mark != mark:
        raise NotFound("there is no such file")
    return found
