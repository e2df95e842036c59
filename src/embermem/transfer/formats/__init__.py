"""The formats that `embermem import` reads. Which one a file is of is found from what is in it."""

from __future__ import annotations

from embermem.core.errors import InputError
from embermem.transfer.files import Files
from embermem.transfer.formats import (
    chatgpt,
    claude,
    langgraph,
    letta,
    mem0,
    memoryos,
    plain,
    table,
    telegram,
    whatsapp,
    zep,
)
from embermem.transfer.formats.format import Format, Options

FORMATS = {
    one.name: one
    for one in (
        chatgpt.FORMAT,
        claude.FORMAT,
        memoryos.FORMAT,
        mem0.FORMAT,
        letta.FORMAT,
        langgraph.FORMAT,
        zep.FORMAT,
        telegram.FORMAT,
        plain.RECALL,
        plain.LOCOMO,
        plain.MESSAGES,
        plain.JSONL,
        whatsapp.FORMAT,
        table.LINES,
        table.CSV,
        plain.TEXT,
    )
}
"""By their names, in the order in which they are tried: the last ones are the least particular."""

__all__ = ["FORMATS", "Format", "Options", "found"]


def found(files: Files, name: str | None, options: Options) -> Format:
    """The format of some files, or the one that is named. Raises InputError where none is known."""
    if name is not None:
        if name not in FORMATS:
            raise InputError(f"the format {name!r} is not known; one of: {', '.join(FORMATS)}")
        return FORMATS[name]
    if options.columns:
        lines = any(head.lstrip()[:1] == b"{" for head in files.heads.values())
        return table.LINES if lines else table.CSV
    if not any(head.strip() for head in files.heads.values()):
        raise InputError("there is nothing in it")
    for one in FORMATS.values():
        if one.sniff(files):
            return one
    raise InputError(
        f"its format was not found from what is in it; name it with --format, one of: {', '.join(FORMATS)}; a table of "
        "other columns needs --map text=COLUMN"
    )
