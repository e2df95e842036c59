"""Working context: memory blocks with limits, and how they are edited. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from embermem.prompts.data import one_line
from embermem_bench.systems.memgpt.kept import Line
from embermem_bench.systems.records import RecordId

__all__ = ["HUMAN", "PERSONA", "SHARED", "Block", "Edit", "Refused", "edited", "plain"]

HUMAN, PERSONA = "human", "persona"
SHARED = "shared"
"""Stands for the label in the lines of a shared block, which have an owner of their own."""


class Refused(ValueError):
    """A function that could not be done. The words are its result, meant for the model."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Block:
    """A memory block: its limit counts characters. `shared` is the name of the shared block that stands in its place;
    `closed`, that the page at hand was worked into that already."""

    label: str
    limit: int
    lines: tuple[Line, ...] = ()
    shared: str | None = None
    closed: bool = False

    @property
    def text(self) -> str:
        """Its lines, joined by line breaks."""
        return "\n".join(line.text for line in self.lines)


@dataclass(frozen=True, kw_only=True, slots=True)
class Edit:
    """One edit: with `old_content` a replacement, else a new line, which has this id. `content` and `old_content` are
    `plain`. A line of the same `key` is replaced by the new one."""

    id: RecordId
    content: str
    old_content: str = ""
    at: datetime
    sources: tuple[int, ...] = ()
    key: str = ""


def plain(text: str) -> str:
    """The whole text on one line, without characters that control or cannot be seen."""
    return one_line(text, len(text) + 1)


def edited(block: Block, edit: Edit) -> Block:
    """The block after an edit. Raises Refused if it would pass its limit, or the old content is not there once."""
    if block.closed:
        raise Refused(f"these messages were worked into {block.label} before")
    changed = replace(block, lines=_replaced(block, edit) if edit.old_content else _appended(block, edit))
    if len(block.text) < len(changed.text) > block.limit:
        raise Refused(
            f"{block.label} would have {len(changed.text)} of {block.limit} characters;"
            " shorten it by core_memory_replace, or use archival_memory_insert"
        )
    return changed


def _appended(block: Block, edit: Edit) -> tuple[Line, ...]:
    """A new line at the end. What is there already is not written twice: it rests on more."""
    for line in block.lines:
        if line.text == edit.content or (edit.key and line.key == edit.key):
            return _with(block.lines, line, edit.content, edit)
    new = Line(id=edit.id, text=edit.content, at=edit.at, sources=edit.sources, label=_label_of(block), key=edit.key)
    return (*block.lines, new)


def _replaced(block: Block, edit: Edit) -> tuple[Line, ...]:
    """The one place where the old content stands, with the new in it; a line of which nothing is left goes."""
    times = sum(line.text.count(edit.old_content) for line in block.lines)
    if times == 0:
        raise Refused(f"old_content does not stand in {block.label}; copy it word for word from one of its lines")
    if times > 1:
        raise Refused(f"old_content stands in {block.label} {times} times; copy more of its line")
    line = next(line for line in block.lines if edit.old_content in line.text)
    return _with(block.lines, line, plain(line.text.replace(edit.old_content, edit.content)), edit)


def _with(lines: Sequence[Line], old: Line, text: str, edit: Edit) -> tuple[Line, ...]:
    sources = tuple(sorted({*old.sources, *edit.sources}))
    new = replace(old, text=text, at=edit.at, sources=sources)
    return tuple(new if line is old else line for line in lines if line is not old or text)


def _label_of(block: Block) -> str:
    """What its lines are kept under: a shared block has one name for all agents, whatever each calls it."""
    return SHARED if block.shared is not None else block.label
