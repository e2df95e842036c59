"""What callers hand in, checked and made into messages: an exchange, or a list in OpenAI's format."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from typing import Any, TypedDict, TypeVar
from zoneinfo import ZoneInfo

from embermem.core import ids, injected_blocks, originals
from embermem.core.errors import InputError
from embermem.core.metadata import Metadata, Value, with_texts
from embermem.core.metadata import checked as checked_metadata
from embermem.core.metadata import texts as texts_in
from embermem.core.patterns import regex
from embermem.core.reasoning import without_reasoning
from embermem.core.sensitive import Finder, Redacted, redacted
from embermem.core.text import did_you_mean
from embermem.core.types import (
    NO_USER,
    Message,
    Owner,
    Redaction,
    Role,
    ThreadId,
    UtteranceOrigin,
    is_of_document,
)

At = datetime | date | str | None
"""A time as callers give it: a datetime, a date, or ISO 8601; without a zone it takes the owner's."""
Expiry = datetime | date | str | timedelta | None
"""When something ends, as callers give it: a time as above, or how long from now."""


class LookBack(TypedDict, total=False):
    """The moment that a read looks back to: what was known then, what was true then."""

    as_of: At
    valid_at: At


Given = tuple[list[Message], str, tuple[Redaction, ...]]
"""What was given as messages, its digest, and what was taken out of it before."""

_Kind = TypeVar("_Kind", bound=StrEnum)

_ROLES = {
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "tool": Role.TOOL,
    "function": Role.TOOL,
}
TIME_NAMES = ("time", "timestamp", "date", "datetime", "created_at", "sent_at", "ts")
"""What others call the time of a message, which is `at` here."""
SPOKEN_KEYS = ("role", "content", "name", "tool_calls", "function_call", "refusal", "audio")
"""The keys of a message that say what was said, and by whom."""
_OWN_KEYS = ("at", "metadata", "original", "origin")
MESSAGE_KEYS = (*SPOKEN_KEYS[:3], *_OWN_KEYS, *SPOKEN_KEYS[3:])
"""All keys of a message that are read."""
IGNORED_KEYS = frozenset(
    # OpenAI's chat completions and responses
    "tool_call_id annotations parsed id type object status phase weight "
    # Anthropic's messages
    "model stop_reason stop_sequence stop_details container context_management usage is_error "
    # reasoning, as DeepSeek, vLLM, Ollama, OpenRouter and others give it
    "reasoning reasoning_content reasoning_details thinking thinking_blocks thinking_signature "
    # marks for the provider: caches, continued answers
    "cache_control prefix partial provider_specific_fields tool_name "
    # frameworks' own: LangChain, LlamaIndex, Vercel's AI SDK
    "additional_kwargs response_metadata usage_metadata invalid_tool_calls example artifact providerOptions "
    "provider_options".split()
)
"""Keys that other forms of messages carry beside what was said: memory leaves them out. Any other key is refused."""
LONGEST_KEY = 256
"""Characters of an idempotency key."""
_LONGEST_NAME = 512
_SHOWN_NAME = 60
_LONGEST_URL = 300
_LONGEST_SPACE = 64
_SPACE = regex(r"[^\W_][\w.-]*")
_ONLY_OURS = "held nothing but memory that Ember itself put into a prompt: there is nothing to add"


@dataclass(frozen=True, kw_only=True, slots=True)
class Inbox:
    """How an owner's input is read: who speaks, in which zone, what time it is, how long a text may be.

    What `finders` find is taken out of every text, every speaker's name, all metadata and the texts of originals
    (`embermem.core.sensitive`), before anything else sees it. `nonce_key` gives the key of the blocks that Ember put
    into prompts; they are taken out of every text, also of metadata and originals. It is asked only where a text may
    hold one. A message that held nothing else is left out, unless it has an original.
    """

    owner: Owner
    zone: ZoneInfo
    now: datetime
    max_chars: int
    nonce_key: Callable[[], bytes] = bytes
    finders: tuple[Finder, ...] = ()

    def exchange(
        self,
        query: str | None,
        response: str | None,
        at: At,
        thread: str,
        metadata: Mapping[str, Any] | None = None,
        origin: UtteranceOrigin | str | None = None,
    ) -> Given:
        """One exchange as messages, and the digest of what was given. A side that is None or blank is missing, and so
        is one that holds nothing but our own blocks. `origin` is the query's."""
        given = sides(query, response, origin)
        read = [
            (place, role, text)
            for place, (role, raw, where) in enumerate(given)
            if (text := self._text(raw, where)) is not None
        ]
        if not read:
            raise InputError(f"{given[0][2]} {_ONLY_OURS}")
        said_at, labels = self.moment(at, "at"), self.metadata(metadata, "metadata")
        of_query = _origin(origin, Role.USER, "origin")
        messages = [
            Message(
                role=role,
                speaker=self._speaker(role),
                text=text,
                said_at=said_at,
                thread=thread_of_talk(thread),
                metadata=labels,
                origin=of_query if role is Role.USER else None,
            )
            for _, role, text in read
        ]
        messages, took = self._without_secrets(messages, [place for place, _, _ in read], named=frozenset())
        return messages, _digest(messages, [at] * len(messages)), took

    def openai(
        self,
        messages: Sequence[Mapping[str, Any]],
        at: At,
        thread: str,
        metadata: Mapping[str, Any] | None = None,
    ) -> Given:
        """Messages of OpenAI's format (each may carry `name`, an `at`, `metadata`, an `original` and an `origin` of
        its own), and their digest. `metadata` are those of all messages; a message's own come before them."""
        if isinstance(messages, (str, bytes, Mapping)) or not isinstance(messages, Sequence):
            raise InputError("messages must be a list of mappings such as {'role': 'user', 'content': 'Hello'}")
        if not messages:
            raise InputError("messages is empty: there is nothing to add")
        made, times, places, named = [], [], list[int](), set[int]()
        labels = self.metadata(metadata, "metadata")
        for place, message in enumerate(messages):
            where = f"messages[{place}]"
            if not isinstance(message, Mapping):
                raise InputError(f"{where} is {type(message).__name__}, not a mapping with role and content")
            if misnamed := next((key for key in TIME_NAMES if message.get(key) is not None), None):
                raise InputError(f"{where}.{misnamed} is not read; give the time of a message as `at`")
            _refuse_unknown(message, where)
            said_at = message.get("at", at)
            own = {**labels, **self.metadata(message.get("metadata"), f"{where}.metadata")}
            own = checked_metadata(own, f"{where}.metadata with those of all messages")
            if (read := self._message(message, said_at, thread, where)) is not None:
                times.append(said_at)
                made.append(replace(read, metadata=own))
                places.append(place)
                named |= {place} if message.get("name") is not None else set()
        if not made:
            raise InputError(f"messages {_ONLY_OURS}")
        made, took = self._without_secrets(made, places, named=named)
        return made, _digest(made, times), took

    def expiry(self, expires_at: Expiry, where: str = "expires_at") -> datetime | None:
        """When something ends: a time later than now, or a span from now. Raises InputError for one that is over."""
        if expires_at is None:
            return None
        if isinstance(expires_at, timedelta):
            try:
                ends = self.now.astimezone(self.zone) + expires_at
            except OverflowError as error:
                raise InputError(f"{where} = {expires_at} from now is outside the times that can be stored") from error
        else:
            ends = self.moment(expires_at, where)
        if ends <= self.now:
            raise InputError(f"{where} = {ends.isoformat()} is in the past")
        return ends

    def moment(self, at: At, where: str) -> datetime:
        """A time with a zone; where none is given, now in the owner's. Raises InputError."""
        if at is None:
            return self.now.astimezone(self.zone)
        if isinstance(at, str):
            try:
                at = datetime.fromisoformat(at.strip())
            except ValueError as error:
                raise InputError(
                    f"{where} = {at!r} is not a time; give ISO 8601 such as 2026-05-02T10:00:00+02:00"
                ) from error
        if not isinstance(at, datetime):
            if not isinstance(at, date):
                raise InputError(f"{where} = {at!r} is not a time; give a datetime or an ISO 8601 text")
            at = datetime.combine(at, time())
        if at.utcoffset() is None:
            at = at.replace(tzinfo=self.zone)
        try:
            at.astimezone(UTC)
        except (OverflowError, ValueError) as error:
            raise InputError(f"{where} = {at!r} is outside the times that can be stored") from error
        return at

    def then(self, as_of: At, valid_at: At) -> LookBack:
        """What a read looks back to, as it may be passed on to another owner's, whose zone may be another."""
        then = LookBack()
        if as_of is not None:
            then["as_of"] = self.moment(as_of, "as_of")
        if valid_at is not None:
            then["valid_at"] = self.moment(valid_at, "valid_at")
        return then

    def _message(self, message: Mapping[str, Any], at: At, thread: str, where: str) -> Message | None:
        named = message.get("role")
        role = _ROLES.get(named) if isinstance(named, str) else None
        if role is None:
            raise InputError(f"{where}.role = {named!r} is not allowed; one of: {', '.join(_ROLES)}")
        speaker = message.get("name")
        if speaker is not None and (not isinstance(speaker, str) or not speaker.strip()):
            raise InputError(f"{where}.name = {speaker!r} is not a name; give a text or leave it out")
        if is_empty(message, where):
            thought = bool(_content(message.get("content"), f"{where}.content").strip())
            what = "has nothing but a model's reasoning, which is not kept" if thought else "is empty"
            raise InputError(f"{where} {what}: give it a content, or leave it out")
        text = self._text(_said(message, where), f"{where}.content")
        original = self.original(message.get("original"), f"{where}.original")
        if text is None and original is None:
            return None
        return Message(
            role=role,
            speaker=self._speaker(role) if speaker is None else checked(speaker, f"{where}.name", _LONGEST_NAME),
            text=text or "",
            said_at=self.moment(at, f"{where}.at"),
            thread=thread_of_talk(thread),
            original=original,
            origin=_origin(message.get("origin"), role, f"{where}.origin"),
        )

    def _speaker(self, role: Role) -> str:
        if role is Role.USER:
            return self.owner.space or self.owner.user
        if role is Role.ASSISTANT:
            return self.owner.agent if self.owner.agent != "default" and not self.owner.space else "assistant"
        return role.value

    def _text(self, text: object, where: str) -> str | None:
        """The text without what Ember put there; None if there was nothing else."""
        if not isinstance(text, str) or injected_blocks.MARK not in text:
            return checked(text, where, self.max_chars)
        theirs = injected_blocks.strip(text, self.nonce_key())
        return checked(theirs, where, self.max_chars) if theirs.strip() or theirs == text else None

    def _without_secrets(
        self, messages: list[Message], places: Sequence[int], named: AbstractSet[int]
    ) -> tuple[list[Message], tuple[Redaction, ...]]:
        """The messages without what the finders find, in their texts, in the names that were given with them and in
        their metadata and originals, and what that was. What is found in one is taken out of all."""
        if not self.finders:
            return messages, ()
        kept = [None if one.original is None else originals.value_of(one.original) for one in messages]
        parts = [
            [
                *(("text", one.text), ("name", one.speaker if place in named else "")),
                *texts_in(one.metadata),
                *originals.texts(original, "original"),
            ]
            for one, place, original in zip(messages, places, kept, strict=True)
        ]
        wheres = [
            f"the {where} of message {place}" for place, own in zip(places, parts, strict=True) for where, _ in own
        ]
        left = iter(redacted([text for own in parts for _, text in own], self.finders, wheres))
        clean: list[Message] = []
        took: list[Redaction] = []
        for message, place, own, original in zip(messages, places, parts, kept, strict=True):
            text, speaker, *rest = found = [next(left) for _ in own]
            count = len(texts_in(message.metadata))
            labels, of_original = rest[:count], rest[count:]
            clean.append(
                replace(
                    message,
                    text=text.text,
                    speaker=speaker.text[:_LONGEST_NAME] or message.speaker,
                    metadata=_labels_left(message.metadata, labels, place),
                    original=originals.json_of(
                        originals.with_texts(original, (one.text for one in of_original)),
                        f"messages[{place}].original without what was sensitive",
                    ),
                )
            )
            took += [
                Redaction(message=place, kind=one.kind, start=one.start, end=one.end, where=where)
                for (where, _), said in zip(own, found, strict=True)
                for one in said.places
            ]
        return clean, tuple(took)

    def metadata(self, value: object, where: str) -> dict[str, Value]:
        """Metadata, without what Ember put into its texts. Raises InputError."""
        found = checked_metadata(value, where)
        texts = [text for _, text in texts_in(found)]
        if not any(injected_blocks.MARK in text for text in texts):
            return found
        return with_texts(found, [injected_blocks.strip(text, self.nonce_key()) for text in texts])

    def original(self, value: object, where: str) -> str | None:
        """An original as JSON, without what Ember put into its texts. Raises InputError."""
        found = originals.json_of(value, where)
        if found is None or injected_blocks.MARK not in found:
            return found
        kept = originals.value_of(found)
        theirs = [injected_blocks.strip(text, self.nonce_key()) for _, text in originals.texts(kept, where)]
        return originals.json_of(originals.with_texts(kept, theirs), where)


def sides(query: str | None, response: str | None, origin: object = None) -> list[tuple[Role, str, str]]:
    """The sides of an exchange that say something, the response without a model's reasoning: role, text, and what the
    caller calls it. Raises InputError where neither does, or for an origin of a query that says nothing."""
    said = without_reasoning(response) if isinstance(response, str) else response
    given = [(Role.USER, query, "query"), (Role.ASSISTANT, said, "response")]
    found = [(role, text, where) for role, text, where in given if text is not None and not is_blank(text)]
    if not found:
        raise InputError("query and response are empty: there is nothing to add")
    if origin is not None and found[0][0] is not Role.USER:
        raise InputError(f"query is empty, and origin = {origin!r} says where it comes from; give a query or no origin")
    return found


def is_blank(text: object) -> bool:
    """Whether a text says nothing. What is no text is for others to refuse."""
    return isinstance(text, str) and not text.strip()


def is_empty(message: Mapping[str, Any], where: str) -> bool:
    """Whether a message in OpenAI's format says nothing as a whole: it has no words, no attachment, no call of a tool,
    and no original. Raises InputError for a content that cannot be read."""
    return is_blank(_said(message, where)) and message.get("original") is None


def _refuse_unknown(message: Mapping[str, Any], where: str) -> None:
    for key, value in message.items():
        if value is not None and key not in MESSAGE_KEYS and key not in IGNORED_KEYS:
            hint = did_you_mean(str(key), MESSAGE_KEYS)
            raise InputError(
                f"{where}.{str(key)[:_SHOWN_NAME]} is unknown{hint}; known: {', '.join(MESSAGE_KEYS)}; "
                "write other values under metadata"
            )


def _labels_left(metadata: Metadata, left: Sequence[Redacted], place: int) -> Metadata:
    """Metadata without what was found in them. Raises InputError where what replaces it makes them too long."""
    if not any(one.places for one in left):
        return metadata
    without = with_texts(metadata, [one.text for one in left])
    return checked_metadata(without, f"messages[{place}].metadata without what was sensitive")


def checked(text: object, where: str, longest: int) -> str:
    """A text that every store can hold. Raises InputError that says where it is wrong."""
    if not isinstance(text, str):
        raise InputError(f"{where} is {type(text).__name__}, not text")
    if len(text) > longest:
        raise InputError(f"{where} has {len(text):,} characters, more than the {longest:,} allowed; split it")
    bad = text.find("\x00")
    if bad >= 0:
        raise InputError(f"{where} has a NUL character at {bad}; take it out")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"{where} has half of a surrogate pair at {error.start}; decode the text as UTF-8 or UTF-16 first"
        ) from error
    return text


def whole(number: object, where: str, low: int, high: int = 2**53) -> int:
    """A whole number in a range. Raises InputError."""
    if isinstance(number, bool) or not isinstance(number, int) or not low <= number <= high:
        raise InputError(f"{where} = {number!r} is not allowed; a whole number from {low}")
    return number


def probability(number: float, where: str) -> float:
    """A number from 0 to 1. Raises InputError."""
    if isinstance(number, bool) or not isinstance(number, (int, float)) or not 0.0 <= number <= 1.0:
        raise InputError(f"{where} = {number!r} is not allowed; a number from 0 to 1")
    return float(number)


def one_of(kind: type[_Kind], value: Any, where: str) -> _Kind:
    """One of the values of an enumeration. Raises InputError."""
    try:
        return kind(value)
    except ValueError as error:
        raise InputError(f"{where} = {value!r} is not allowed; one of: {', '.join(kind)}") from error


def name(text: object, where: str, longest: int = _LONGEST_NAME) -> str:
    """A name that is not empty: a user's, an agent's, a thread's, a key."""
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"{where} = {text!r} is not a name; give a text that is not empty")
    return checked(text, where, longest)


def idempotency_key(text: object) -> str:
    """The key of a call that is not to be done twice. Raises InputError."""
    return name(text, "key", LONGEST_KEY)


def owner(user: object, agent: object) -> Owner:
    """The owner of a (user, agent) pair. Raises InputError for what is no name."""
    named = name(user, "user"), name(agent, "agent")
    return Owner(id=ids.owner_id(*named), user=named[0], agent=named[1])


def space(text: object) -> Owner:
    """The owner of a shared space. Its name is of letters, digits, `_`, `-` and `.`, and begins with one of the first
    two. Raises InputError."""
    if not isinstance(text, str) or _SPACE.fullmatch(text) is None or len(text) > _LONGEST_SPACE:
        raise InputError(
            f"space = {text!r} is not a space's name; give up to {_LONGEST_SPACE} letters, digits, '_', '-' and '.', "
            "a letter or digit first"
        )
    return Owner(id=ids.owner_id(NO_USER, text), user=NO_USER, agent=text)


def thread_id(text: object) -> ThreadId:
    """A thread's name."""
    return ThreadId(name(text, "thread"))


def thread_of_talk(text: object) -> ThreadId:
    """The name of a thread in which something can be said. Raises InputError for a document's."""
    thread = thread_id(text)
    if is_of_document(thread):
        raise InputError(f"thread = {text!r} is a document's: nothing is said there; choose another name")
    return thread


def _origin(given: object, role: Role, where: str) -> UtteranceOrigin | None:
    """The origin of a message; None where none is given, or that of its role. Raises InputError."""
    if given is None:
        return None
    origin = one_of(UtteranceOrigin, given, where)
    return None if origin is role.origin else origin


def _digest(messages: Sequence[Message], times: Sequence[At]) -> str:
    """What was given, without the times that we filled in: the same call made again has the same digest."""
    given = [
        [m.role, m.speaker, m.text, m.thread, None if at is None else m.said_at.isoformat()]
        + ([dict(sorted(m.metadata.items()))] if m.metadata or m.original is not None else [])
        + ([m.original] if m.original is not None else [])
        + ([[m.origin]] if m.origin is not None else [])
        for m, at in zip(messages, times, strict=True)
    ]
    return hashlib.blake2b(json.dumps(given).encode(), digest_size=32).hexdigest()


def _said(message: Mapping[str, Any], where: str) -> str:
    """All that a message says, as text. A tool's result without output says that the tool ran."""
    content = _content(message.get("content"), f"{where}.content")
    if message.get("role") == Role.ASSISTANT.value:
        content = without_reasoning(content)
    parts = [content, *_beside(message), *_calls(message)]
    text = "\n".join(part for part in parts if part)
    if is_blank(text) and message.get("original") is None and _ROLES.get(str(message.get("role"))) is Role.TOOL:
        return "[no output]"
    return text


def _content(content: object, where: str) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, Sequence) and not isinstance(content, (bytes, bytearray)):
        return "\n".join(part for item in content if (part := _part(item, where)))
    raise InputError(f"{where} is {type(content).__name__}; give a text or a list of parts")


def _part(part: object, where: str) -> str:
    """One part of a list content, as text: texts as they are, all else named, but for a model's reasoning."""
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping):
        raise InputError(f"{where} holds a part of type {type(part).__name__}; give mappings with a type")
    kind = str(part.get("type", ""))
    text = part.get("text", part.get("refusal"))
    if isinstance(text, str):
        return text
    if kind in ("thinking", "redacted_thinking", "reasoning"):
        return ""  # nobody said it
    if "image" in kind:
        return f"[image{_reference(part.get('image_url', part.get('source')))}]"
    if "audio" in kind:
        audio = part.get("input_audio")
        spoken = audio.get("transcript") if isinstance(audio, Mapping) else None
        return f"[audio: {spoken}]" if isinstance(spoken, str) else "[audio]"
    if "file" in kind:
        file = part.get("file")
        named = file.get("filename") if isinstance(file, Mapping) else None
        return f"[file: {named}]" if isinstance(named, str) else "[file]"
    return f"[{kind or 'part'}: {json.dumps(part, ensure_ascii=False, default=str)}]"


def _reference(image: object) -> str:
    url = image.get("url") if isinstance(image, Mapping) else image
    if not isinstance(url, str) or url.startswith("data:") or len(url) > _LONGEST_URL:
        return ""
    return f": {url}"


def _beside(message: Mapping[str, Any]) -> list[str]:
    """What an assistant's message says outside its content: a refusal, spoken words."""
    refusal, audio = message.get("refusal"), message.get("audio")
    spoken = audio.get("transcript") if isinstance(audio, Mapping) else None
    return [text for text in (refusal, spoken) if isinstance(text, str)]


def _calls(message: Mapping[str, Any]) -> list[str]:
    """Tool calls as text of the page."""
    calls = message.get("tool_calls") or []
    if not isinstance(calls, Sequence) or isinstance(calls, str):
        calls = [calls]
    single = message.get("function_call")
    asked = [call.get("function", call.get("custom", call)) if isinstance(call, Mapping) else call for call in calls]
    lines = []
    for call in [*asked, *([single] if single else [])]:
        if isinstance(call, Mapping):
            arguments = call.get("arguments", call.get("input", ""))
            if not isinstance(arguments, str):
                arguments = json.dumps(arguments, ensure_ascii=False, default=str)
            lines.append(f"[tool call: {call.get('name', '?')}({arguments})]")
        else:
            lines.append(f"[tool call: {call}]")
    return lines
