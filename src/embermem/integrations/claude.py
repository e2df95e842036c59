"""Claude's memory tool on a memory: its files are documents, so that what Claude writes is recalled like anything else.

The file `/memories/a.md` is the document of the source `claude:/memories/a.md`, with its exact text as original.
Folders are the paths of files: one without files is not there. Answers are those of the tool that keeps real files in
Anthropic's package (`BetaLocalFilesystemMemoryTool`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress

from embermem.core.errors import InputError, NotFound
from embermem.core.extras import needing
from embermem.core.types import Document
from embermem.owner_memory import OwnerMemory

with needing("claude", "embermem.integrations.claude"):
    from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
    from anthropic.types.beta import (
        BetaMemoryTool20250818CreateCommand,
        BetaMemoryTool20250818DeleteCommand,
        BetaMemoryTool20250818InsertCommand,
        BetaMemoryTool20250818RenameCommand,
        BetaMemoryTool20250818StrReplaceCommand,
        BetaMemoryTool20250818ViewCommand,
    )

__all__ = ["AsyncMemoryTool", "MemoryTool"]

_ROOT = "/memories"
_SOURCE = "claude:"
_MOST_LINES = 999_999
_WIDTH = len(str(_MOST_LINES))
_DEPTH = 2
"""Levels of a folder that are listed."""
_NO_SUCH = "The path {} does not exist. Please provide a valid path."


class _Files:
    """The folder `/memories` of one owner. Each method is a command, and raises ToolError with what Claude is told."""

    def __init__(self, memory: OwnerMemory) -> None:
        self._memory = memory

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        path = _normal(command.path)
        if self._document(path) is None:
            return self._listed(command.path, path)
        lines = self._read(path).split("\n")
        if len(lines) > _MOST_LINES:
            raise ToolError(f"File {command.path} exceeds maximum line limit of {_MOST_LINES:,} lines.")
        first = 0
        if command.view_range and len(command.view_range) == 2:
            first, end = max(1, command.view_range[0]) - 1, command.view_range[1]
            lines = lines[first : len(lines) if end == -1 else end]
        numbered = _numbered(lines, first + 1)
        return f"Here's the content of {command.path} with line numbers:\n{numbered}"

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        path = _normal(command.path)
        if self._is_there(path):
            raise ToolError(f"File {command.path} already exists")
        self._refuse_file_above(path)
        self._write(path, command.file_text)
        return f"File created successfully at: {command.path}"

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        path = self._file(command.path)
        text, old, new = self._read(path), command.old_str, command.new_str or ""
        count = text.count(old)
        if count == 0:
            raise ToolError(f"No replacement was performed, old_str `{old}` did not appear verbatim in {command.path}.")
        if count > 1:
            lines = ", ".join(str(text[:place].count("\n") + 1) for place in _places(text, old))
            raise ToolError(
                f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}. "
                "Please ensure it is unique"
            )
        changed = text[: text.find(old)].count("\n")
        text = text.replace(old, new)
        self._write(path, text)
        first = max(0, changed - 2)
        snippet = _numbered(text.split("\n")[first : changed + 3], first + 1)
        return (
            f"The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{snippet}"
        )

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        path = self._file(command.path)
        lines = self._read(path).split("\n")
        if lines[-1] == "":
            lines.pop()
        if not 0 <= command.insert_line <= len(lines):
            raise ToolError(
                f"Invalid `insert_line` parameter: {command.insert_line}. "
                f"It should be within the range [0, {len(lines)}]."
            )
        lines.insert(command.insert_line, command.insert_text.rstrip("\n"))
        text = "\n".join(lines)
        self._write(path, text if text.endswith("\n") else f"{text}\n")
        return f"The file {command.path} has been edited."

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        path = _normal(command.path)
        if path == _ROOT:
            raise ToolError(f"Cannot delete the {_ROOT} directory itself")
        document = self._document(path)
        gone = self._below(path) if document is None else (document,)
        if not gone:
            raise ToolError(f"The path {command.path} does not exist")
        self._forget(gone)
        return f"Successfully deleted {command.path}"

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Each file is stored under its new path before the old one is forgotten."""
        old, new = _normal(command.old_path), _normal(command.new_path)
        if old == _ROOT:
            raise ToolError(f"Cannot rename the {_ROOT} directory itself")
        if self._is_there(new):
            raise ToolError(f"The destination {command.new_path} already exists")
        document = self._document(old)
        moved = self._below(old) if document is None else (document,)
        if not moved:
            raise ToolError(f"The path {command.old_path} does not exist")
        if new.startswith(f"{old}/"):
            raise ToolError(f"Cannot move {command.old_path} into itself, to {command.new_path}")
        self._refuse_file_above(new)
        for one in moved:
            path = _path(one)
            self._write(new + path.removeprefix(old), self._read(path))
        self._forget(moved)
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    def clear(self) -> str:
        self._forget(self._below(_ROOT))
        return "All memory cleared"

    # ------------------------------------------------------------------------------------------------------ documents

    def _document(self, path: str) -> Document | None:
        found = self._memory.documents(source=_SOURCE + path)
        return found[0] if found else None

    def _below(self, path: str) -> Sequence[Document]:
        return self._memory.documents(under=f"{_SOURCE}{path}/")

    def _is_there(self, path: str) -> bool:
        return path == _ROOT or self._document(path) is not None or bool(self._below(path))

    def _file(self, named: str) -> str:
        path = _normal(named)
        if self._document(path) is None:
            raise ToolError(f"The path {named} is not a file." if self._is_there(path) else _NO_SUCH.format(named))
        return path

    def _refuse_file_above(self, path: str) -> None:
        parts = path.split("/")
        for length in range(3, len(parts)):
            if self._document("/".join(parts[:length])) is not None:
                raise ToolError(f"{'/'.join(parts[:length])} is a file, not a directory")

    def _read(self, path: str) -> str:
        """The file's text. Of a document that lost its original, because a passage was forgotten, what is left."""
        document = self._document(path)
        if document is None:
            raise ToolError(f"The file {path} no longer exists (may have been deleted or renamed concurrently).")
        found = self._memory.originals([document.id])
        if document.id in found:
            return str(found[document.id])
        return "\n\n".join(one.text for one in self._memory.passages(document.id))

    def _write(self, path: str, text: str) -> None:
        try:
            self._memory.add_document(text, source=_SOURCE + path, original=text)
        except InputError as error:
            raise ToolError(f"The file {path} cannot be stored: {error}") from error

    def _forget(self, documents: Sequence[Document]) -> None:
        for one in documents:
            with suppress(NotFound):  # by another process
                self._memory.forget_document(one.id)

    # -------------------------------------------------------------------------------------------------------- listing

    def _listed(self, named: str, path: str) -> str:
        documents = self._below(path)
        if not documents and path != _ROOT:
            raise ToolError(_NO_SUCH.format(named))
        texts = self._memory.originals([one.id for one in documents])
        sizes = {
            tuple(_path(one).removeprefix(f"{path}/").split("/")): len(str(texts.get(one.id, "")).encode())
            for one in documents
        }
        lines = [f"{_size(sum(sizes.values()))}\t{named}"]
        lines += [f"{_size(size)}\t{named}/{told}" for told, size in _entries(sizes, (), 1)]
        told = f"Here're the files and directories up to {_DEPTH} levels deep in {named}, excluding hidden items:"
        return "\n".join([told, *lines])


def _entries(sizes: dict[tuple[str, ...], int], folder: tuple[str, ...], depth: int) -> Iterator[tuple[str, int]]:
    """What is in a folder, each with its bytes: sorted by name, folders with what is in them."""
    inside = {path: size for path, size in sizes.items() if path[: len(folder)] == folder}
    for name in sorted({path[len(folder)] for path in inside}):
        if name.startswith("."):
            continue
        here = (*folder, name)
        if here in inside:
            yield "/".join(here), inside[here]
            continue
        yield f"{'/'.join(here)}/", sum(size for path, size in inside.items() if path[: len(here)] == here)
        if depth < _DEPTH:
            yield from _entries(inside, here, depth + 1)


def _normal(path: str) -> str:
    """The path without `.`, `..` and doubled slashes. Raises ToolError for one that is not in the folder."""
    if path != _ROOT and not path.startswith(f"{_ROOT}/"):
        raise ToolError(f"Path must start with {_ROOT}, got: {path}")
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if parts:
                parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    normal = "/" + "/".join(parts)
    if normal != _ROOT and not normal.startswith(f"{_ROOT}/"):
        raise ToolError(f"Path {path} would escape {_ROOT} directory")
    return normal


def _path(document: Document) -> str:
    return document.source.removeprefix(_SOURCE)


def _places(text: str, part: str) -> Iterator[int]:
    place = text.find(part)
    while place != -1:
        yield place
        place = text.find(part, place + 1)


def _numbered(lines: Sequence[str], first: int) -> str:
    return "\n".join(f"{str(number).rjust(_WIDTH)}\t{line}" for number, line in enumerate(lines, first))


def _size(count: int) -> str:
    if count == 0:
        return "0B"
    power = min((count.bit_length() - 1) // 10, 3)
    size = count / 1024**power
    return f"{int(size)}{'BKMG'[power]}" if size == int(size) else f"{size:.1f}{'BKMG'[power]}"


class MemoryTool(BetaAbstractMemoryTool):
    """Claude's memory tool for `client.beta.messages.tool_runner(tools=[MemoryTool(memory.of("alice"))], …)`, on an
    owner's memory or a client's handle."""

    def __init__(self, memory: OwnerMemory) -> None:
        super().__init__()
        self._files = _Files(memory)

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """A file with line numbers, or what is in a folder."""
        return self._files.view(command)

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Store a new file."""
        return self._files.create(command)

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that occurs once in a file."""
        return self._files.str_replace(command)

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Insert lines behind a line of a file."""
        return self._files.insert(command)

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Forget a file, or a folder with all that is in it."""
        return self._files.delete(command)

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Move a file or a folder."""
        return self._files.rename(command)

    def clear_all_memory(self) -> str:
        """Forget all files."""
        return self._files.clear()


class AsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """`MemoryTool` for `AsyncAnthropic`; its work is done in threads."""

    def __init__(self, memory: OwnerMemory) -> None:
        super().__init__()
        self._files = _Files(memory)

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """A file with line numbers, or what is in a folder."""
        return await asyncio.to_thread(self._files.view, command)

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Store a new file."""
        return await asyncio.to_thread(self._files.create, command)

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that occurs once in a file."""
        return await asyncio.to_thread(self._files.str_replace, command)

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Insert lines behind a line of a file."""
        return await asyncio.to_thread(self._files.insert, command)

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Forget a file, or a folder with all that is in it."""
        return await asyncio.to_thread(self._files.delete, command)

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Move a file or a folder."""
        return await asyncio.to_thread(self._files.rename, command)

    async def clear_all_memory(self) -> str:
        """Forget all files."""
        return await asyncio.to_thread(self._files.clear)
