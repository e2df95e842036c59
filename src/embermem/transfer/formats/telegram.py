"""Telegram's export in JSON (`result.json`): one chat, or all of an account."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from embermem.transfer.files import Files
from embermem.transfer.formats.format import Format, Options
from embermem.transfer.formats.shapes import bad, json_of, json_with, listed, mapping, moment, text_of
from embermem.transfer.items import Entry, Found, LeftOut, Myself
from embermem.transfer.json_stream import Path

_SIGNS = (("name", "type", "id", "messages"), ("type", "id", "messages[].date"), ("personal_information", "chats"))
_FULL = ("chats", "left_chats")
_MEDIA = {
    "voice_message": "voice message",
    "video_message": "video message",
    "video_file": "video",
    "audio_file": "audio",
    "animation": "animation",
}


def _files(files: Files) -> list[str]:
    return sorted({*(name for signs in _SIGNS for name in json_with(files, *signs)), *json_with(files, "chats.list")})


def sniff(files: Files) -> bool:
    return bool(_files(files))


def _into(path: Path) -> bool:
    if path and path[0] in _FULL:
        return len(path) < 3 or (len(path) == 3 and path[1] == "list") or path[3:] == ("messages",)
    return path in ((), ("messages",))


def read(files: Files, options: Options) -> Iterator[Found]:
    for name in _files(files):
        chat: dict[str, Any] = {}
        me = ""
        for place, path, value in json_of(files, name, _into):
            if path == ("personal_information",):
                me = f"user{mapping(value).get('user_id')}"
                names = [text_of(mapping(value).get(key)).strip() for key in ("first_name", "last_name")]
                if any(names):
                    yield Myself(name=" ".join(one for one in names if one))
            elif len(path) >= 2 and path[-2] == "messages" and isinstance(path[-1], int):
                yield _message(mapping(value), place, chat, me)
            elif isinstance(path[-1] if path else None, str) and (len(path) == 1 or len(path) == 4):
                if path[-1] == "name":
                    chat = {}
                chat[str(path[-1])] = value


def _message(value: Mapping[str, Any], place: str, chat: Mapping[str, Any], me: str) -> Found:
    if value.get("type") == "service":
        return LeftOut(what="service messages (who joined, calls, pins)")
    if value.get("type") != "message":
        return bad(place, f"the type {value.get('type')!r} is not known")
    at = moment(value.get("date_unixtime")) or moment(value.get("date"))
    if at is None:
        return bad(place, f"date is {value.get('date')!r}", "write ISO 8601")
    said = _words(value)
    if not said.strip():
        return LeftOut(what="empty messages")
    bot = chat.get("type") == "bot_chat" and text_of(value.get("from_id")) != me and bool(me)
    name = text_of(value.get("from")).strip() or text_of(value.get("from_id")) or "a deleted account"
    labels: dict[str, str | int] = {"source": "telegram"}
    for key, of in (("telegram_id", "id"), ("reply_to", "reply_to_message_id")):
        if isinstance(value.get(of), int):
            labels[key] = value[of]
    return Entry(
        place=place,
        role="assistant" if bot else "user",
        content=said,
        name=name,
        at=at,
        thread=f"telegram:{chat.get('id', 'chat')}",
        title=text_of(chat.get("name")) or text_of(chat.get("type")) or None,
        metadata=labels,
    )


def _words(value: Mapping[str, Any]) -> str:
    """What was said, and what stands for what is no text. Words of others that were passed on are a quotation."""
    text = _text(value.get("text"))
    parts = [one for one in (_media(value), text) if one.strip()]
    author = value.get("forwarded_from")
    if author is None:
        return "\n".join(parts)
    quoted = [f"> {line}" for part in parts for line in part.splitlines()]
    return "\n".join([f"[forwarded from {author}]", *quoted])


def _text(text: object) -> str:
    """A text, or a list of texts and of entities, which have texts."""
    if isinstance(text, str):
        return text
    return "".join(one if isinstance(one, str) else text_of(mapping(one).get("text")) for one in listed(text))


def _media(value: Mapping[str, Any]) -> str:
    kind = text_of(value.get("media_type"))
    poll, contact = mapping(value.get("poll")), mapping(value.get("contact_information"))
    if kind == "sticker":
        return f"[sticker {text_of(value.get('sticker_emoji'))}".rstrip() + "]"
    if kind:
        song = " – ".join(text_of(value.get(key)) for key in ("performer", "title") if value.get(key))
        return f"[{_MEDIA.get(kind, kind)}{': ' + song if song else ''}]"
    if "photo" in value:
        return "[photo]"
    if "file" in value:
        return f"[file: {text_of(value.get('file_name')) or text_of(value.get('file')).rpartition('/')[2]}]"
    if poll:
        answers = ", ".join(_text(mapping(one).get("text")) for one in listed(poll.get("answers")))
        return f"[poll: {_text(poll.get('question'))} ({answers})]"
    if contact:
        names = [text_of(contact.get(key)) for key in ("first_name", "last_name")]
        return f"[contact: {' '.join(one for one in names if one)}]"
    return "[location]" if "location_information" in value else ""


FORMAT = Format(name="telegram", title="Telegram's export", sniff=sniff, read=read, people=True)
