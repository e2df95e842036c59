"""Owners as JSON lines: exported, taken apart, changed, put together and imported."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from typing import Any

from embermem import Memory
from embermem.embedders.hashed import HashedNgrams
from embermem.transfer.export import export
from embermem.transfer.importing import Imported, import_owners
from lives import store_of
from scripted import NOW

Lines = list[dict[str, Any]]


def exported(memory: Memory, *users: str, vectors: bool = False) -> bytes:
    """An export of some users, or of all."""
    out = io.BytesIO()
    owners = [one for one in memory.owners() if not users or one.user in users]
    export(store_of(memory), owners, out, vectors=vectors, now=NOW)
    return out.getvalue()


def imported(memory: Memory, data: bytes, *, leave_out: bool = False) -> Imported:
    return import_owners(store_of(memory), io.BytesIO(data), HashedNgrams(), lambda: NOW, leave_out=leave_out)


def lines_of(data: bytes) -> Lines:
    return [json.loads(line) for line in data.splitlines()]


def file_of(lines: Sequence[object]) -> bytes:
    return b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines)
