"""ChatGPT's export: `conversations.json`, alone or in the archive. A conversation is a tree of messages; its current
branch is the one that ChatGPT shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from embermem.transfer.files import Files
from embermem.transfer.formats.format import Format, Options
from embermem.transfer.formats.shapes import (
    bad,
    branches,
    json_of,
    json_with,
    lineage,
    listed,
    mapping,
    moment,
    statements,
    text_of,
    untimed,
)
from embermem.transfer.items import Entry, FactEntry, Found, LeftOut
from embermem.transfer.json_stream import Path

_LABELS = {"source": "chatgpt"}
_REASONING = ("thoughts", "reasoning_recap")
_TEXTS = ("text", "multimodal_text")
_TEXT_KEYS = {
    "code": ("text",),
    "execution_output": ("text",),
    "tether_quote": ("title", "url", "text"),
    "tether_browsing_display": ("summary", "result"),
    "tether_browsing_code": ("text",),
    "system_error": ("name", "text"),
    "computer_output": ("text",),
    "sonic_webpage": ("title", "url", "text"),
}
_HIDDEN, _EMPTY = "hidden messages", "empty messages"


_ALONE = tuple(("mapping", sign) for sign in ("title", "create_time", "current_node", "conversation_id"))
"""What shows one conversation that stands alone."""


def sniff(files: Files) -> bool:
    return bool(json_with(files, "[].mapping") or _alone(files))


def _whole(path: Path) -> bool:
    return False


def _each(path: Path) -> bool:
    return path == ()


def _alone(files: Files) -> list[str]:
    return sorted({name for signs in _ALONE for name in json_with(files, *signs)})


def read(files: Files, options: Options) -> Iterator[Found]:
    told = _Told()
    alone = _alone(files)
    for name in [*json_with(files, "[].mapping"), *alone]:
        for place, _, value in json_of(files, name, _whole if name in alone else _each):
            if isinstance(value, dict) and isinstance(value.get("mapping"), dict):
                yield from _conversation(value, place, options, told)
            else:
                yield bad(place, "no conversation with a mapping")


@dataclass(slots=True)
class _Told:
    """What every conversation repeats, and is to come in once."""

    about: set[str] = field(default_factory=set)

    def anew(self, text: str) -> bool:
        """Whether this was not told before."""
        known = text in self.about
        self.about.add(text)
        return bool(text.strip()) and not known


def _conversation(value: Mapping[str, Any], place: str, options: Options, told: _Told) -> Iterator[Found]:
    nodes: Mapping[str, Any] = value["mapping"]
    parents = {node: text_of(mapping(one).get("parent")) or None for node, one in nodes.items()}
    name = text_of(value.get("conversation_id")) or text_of(value.get("id")) or place
    thread, title = f"chatgpt:{name}", text_of(value.get("title")) or None
    began = moment(value.get("create_time"))
    yield from untimed(value, place, "create_time")
    last = value.get("current_node")
    if nodes and not (isinstance(last, str) and last in nodes):
        if last:
            yield bad(place, f"current_node {str(last)[:80]!r} is no message", "the branch of the newest one came in")
        last = _latest(nodes)
    current = lineage(parents, last)
    for node in current:
        yield from _message(nodes[node], f"{place}.mapping.{node}", thread, title, began, told)
    for number, branch in enumerate(branches(parents, current), 1):
        for node in branch:
            found = _message(nodes[node], f"{place}.mapping.{node}", f"{thread}:branch:{number}", title, began, told)
            for one in found:
                left = isinstance(one, Entry) and not options.branches
                yield LeftOut(what="messages of other branches (--branches imports them)") if left else one


def _latest(nodes: Mapping[str, Any]) -> str | None:
    """The newest message: the end of the conversation where the file does not say."""
    times = {node: moment(mapping(mapping(one).get("message")).get("create_time")) for node, one in nodes.items()}
    seconds = {node: -1.0 if at is None else at.astimezone(UTC).timestamp() for node, at in times.items()}
    return max(reversed(seconds), key=lambda node: seconds[node], default=None)


def _message(
    node: object, place: str, thread: str, title: str | None, began: datetime | None, told: _Told
) -> Iterator[Found]:
    message = mapping(mapping(node).get("message"))
    if not message:
        return  # the root of a tree
    author, content, metadata = (mapping(message.get(key)) for key in ("author", "content", "metadata"))
    role, kind = author.get("role"), text_of(content.get("content_type"))
    yield from untimed(message, place, "create_time")
    at = moment(message.get("create_time") or None) or began
    if kind in ("user_editable_context", "model_editable_context"):
        yield from _context(content, kind, place, at, told)
    elif role == "system" or metadata.get("is_visually_hidden_from_conversation"):
        yield LeftOut(what=_HIDDEN)
    elif kind in _REASONING:
        yield LeftOut(what="reasoning of the model")
    elif role not in ("user", "assistant", "tool"):
        yield bad(place, f"the role {role!r} is not known")
    else:
        text = _text(content, kind)
        if text is None:
            known = f"parts are of type {type(content.get('parts')).__name__}, not a list" if kind in _TEXTS else None
            yield bad(place, known or f"content of the kind {kind or 'none'!r} is not known")
            return
        made = Entry(place=place, role=str(role), content=text, thread=thread, title=title, at=at, metadata=_LABELS)
        yield from _said(made, message, author, metadata, told)


def _said(
    made: Entry, message: Mapping[str, Any], author: Mapping[str, Any], metadata: Mapping[str, Any], told: _Told
) -> Iterator[Found]:
    """A message with text: to the other side, to a tool, or to ChatGPT's own memory."""
    text, to = str(made.content), text_of(message.get("recipient")) or "all"
    files = [f"[file: {one['name']}]" for one in listed(metadata.get("attachments")) if mapping(one).get("name")]
    said = "\n".join([*([text] if text.strip() else []), *files])
    if to == "bio" or author.get("name") == "bio":
        for line in statements(text) if made.role == "assistant" else ():
            if told.anew(line):
                yield FactEntry(place=made.place, text=line, since=made.at, metadata=_LABELS)
        return
    more: dict[str, object] = {}
    if made.role == "assistant" and to != "all":
        more["tool_calls"] = [{"function": {"name": to, "arguments": text}}]
        said = ""
    if not said and not more:
        yield LeftOut(what=_EMPTY)
        return
    name = text_of(author.get("name")) or None if made.role == "tool" else None
    yield Entry(
        place=made.place,
        role=made.role,
        content=said or None,
        thread=made.thread,
        title=made.title,
        name=name,
        at=made.at,
        more=more,
        metadata=made.metadata,
    )


def _context(content: Mapping[str, Any], kind: str, place: str, at: datetime | None, told: _Told) -> Iterator[Found]:
    """Custom instructions: what is said of the user is the user's word, the rest an instruction. What ChatGPT kept of
    the user are facts."""
    about, wish = text_of(content.get("user_profile")), text_of(content.get("user_instructions"))
    if told.anew(about):
        yield Entry(
            place=place, role="user", content=_without_frame(about), thread="chatgpt:about-me", at=at, metadata=_LABELS
        )
    if told.anew(wish):
        for line in statements(_without_frame(wish)):
            yield FactEntry(place=place, text=line, standing=True, since=at, metadata=_LABELS)
    if kind == "model_editable_context":
        for line in statements(text_of(content.get("model_set_context"))):
            if told.anew(line):
                yield FactEntry(place=place, text=line, since=at, metadata=_LABELS)


def _without_frame(text: str) -> str:
    """Custom instructions without the sentences that ChatGPT sets around them."""
    before, fence, inner = text.partition("```")
    return inner.rpartition("```")[0].strip() if fence and "```" in inner else before.strip()


def _text(content: Mapping[str, Any], kind: str) -> str | None:
    """The words of a message; None for a kind of content that is not known."""
    if kind in _TEXTS:
        if not isinstance(content.get("parts"), list):
            return None
        return "\n".join(part for part in map(_part, content["parts"]) if part)
    keys = _TEXT_KEYS.get(kind)
    return None if keys is None else "\n".join(text_of(content.get(key)) for key in keys if content.get(key))


def _part(part: object) -> str:
    if isinstance(part, str):
        return part
    of = mapping(part)
    kind = text_of(of.get("content_type"))
    if "transcription" in kind:
        return text_of(of.get("text"))
    if "image" in kind:
        dalle = mapping(mapping(of.get("metadata")).get("dalle"))
        caption = text_of(dalle.get("prompt"))
        return f"[image: {caption}]" if caption else "[image]"
    if "audio" in kind or "video" in kind:
        return ""  # its transcription is a part of its own
    return f"[{kind or 'something that is no text'}]"


FORMAT = Format(name="chatgpt", title="ChatGPT's export", sniff=sniff, read=read)
