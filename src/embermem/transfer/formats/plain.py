"""The plain forms that `ingest` reads too: messages in OpenAI's format, recall sets, LoCoMo, and `Name: text`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from embermem.transfer import conversations
from embermem.transfer.files import Files
from embermem.transfer.formats.format import Format, Options
from embermem.transfer.formats.shapes import first_lines, first_objects, json_of, json_with
from embermem.transfer.items import Entry, Found, LeftOut
from embermem.transfer.json_stream import Path

_MESSAGES = (("[].role", "[].content"), ("messages", "messages[].role"), ("[].query", "[].response"))
_OF_LINE = ("role", "query", "response", "messages")


def _is_lines(files: Files, name: str) -> bool:
    return any(key in one for one in first_objects(files, name) for key in _OF_LINE)


def _is_text(files: Files, name: str) -> bool:
    lines = first_lines(files, name)
    return conversations.line_format(lines) is conversations.Format.TEXT and any(map(conversations.is_named, lines))


def _lists(files: Files) -> list[str]:
    return sorted({name for signs in _MESSAGES for name in json_with(files, *signs)})


def _messages(files: Files, options: Options) -> Iterator[Found]:
    def into(path: Path) -> bool:
        return path in ((), ("messages",))

    for name in files.names:
        for place, path, value in json_of(files, name, into):
            if path and isinstance(path[-1], int):
                yield from conversations.messages_of(value, place)
            elif value not in (None, "", [], {}):
                yield LeftOut(what=f"values of {place}, which no message has a place for")


def _read(form: conversations.Format, files: Files, options: Options) -> Iterator[Found]:
    for name in files.names:
        with files.open(name) as file:
            sources = conversations.read(file, form, options.me, options.longest)
            for source in sources:
                whose = source.name if len(sources) > 1 else None
                for item in source.items:
                    item = replace(item, place=f"{files.where(name)}{item.place}")
                    yield replace(item, user=whose) if isinstance(item, Entry) else item


JSONL = Format(
    name="jsonl",
    title="JSON lines of messages",
    sniff=lambda files: any(_is_lines(files, name) for name in files.names),
    read=lambda files, options: _read(conversations.Format.JSONL, files, options),
)
MESSAGES = Format(name="messages", title="a list of messages", sniff=lambda files: bool(_lists(files)), read=_messages)
RECALL = Format(
    name="recall",
    title="a recall set",
    sniff=lambda files: bool(json_with(files, "conversations", "conversations[].threads")),
    read=lambda files, options: _read(conversations.Format.RECALL, files, options),
)
LOCOMO = Format(
    name="locomo",
    title="LoCoMo",
    sniff=lambda files: bool(json_with(files, "[].conversation", "[].conversation.speaker_a")),
    read=lambda files, options: _read(conversations.Format.LOCOMO, files, options),
)
TEXT = Format(
    name="text",
    title="lines of `Name: text`",
    sniff=lambda files: any(_is_text(files, name) for name in files.names),
    read=lambda files, options: _read(conversations.Format.TEXT, files, options),
)
