"""A memory of mem0, made of what Ember holds: a fact, what of a page no fact holds, or a text added as it is."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from embermem.analysts.keywords import keywords
from embermem.compat.mem0.arguments import ENTITIES, IDENTITY, OURS, ROLES
from embermem.core.metadata import Metadata
from embermem.core.types import Document, Fact, Page, Utterance, UtteranceId
from embermem.languages.words import sentences

SOURCE = "mem0:"
"""How the source of a text that was added as it is begins; the rest is the id that it took over, or a new one."""
ID, CREATED, AS_GIVEN = f"{OURS}id", f"{OURS}created_at", f"{OURS}as_given"
"""Names in metadata: the id by which a fact is known that took the place of another, when that was made, and whether
its value is the text that a caller gave: Ember shows a fact's text with the name of its subject."""
ROLE, ACTOR, ENDS = f"{OURS}role", f"{OURS}actor_id", f"{OURS}expiration_date"
"""Names in metadata: who said a text that was added as it is, and the day with which a memory ends."""
_PAUSES = ",;，；、 "
Span = tuple[int, int] | None
"""Characters [start, end) of an utterance that a fact rests on; None: all of it."""
Spans = Mapping[UtteranceId, list[Span]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """One memory. `id` is its id within its owner's memory; `what` is the fact, page or document behind it. `steps` are
    the texts that one had that was added as it is, each with the time from which on it had it, the present one last."""

    id: str
    text: str
    created_at: datetime
    updated_at: datetime
    what: Fact | Page | Document
    metadata: Metadata = field(default_factory=dict)
    actor_id: str | None = None
    role: str | None = None
    attributed_to: str | None = None
    steps: tuple[tuple[str, str], ...] = ()

    def result(self, memory_id: str, user_id: str | None) -> dict[str, Any]:
        """As mem0 gives it, without a score."""
        own = self._own()
        promoted = {
            "user_id": user_id,
            **{name: _last(own.get(name)) for name in ENTITIES[1:]},
            "actor_id": self.actor_id or self.metadata.get(ACTOR),
            "role": self.role or self.metadata.get(ROLE),
            "attributed_to": self.attributed_to,
            "expiration_date": self.metadata.get(ENDS),
        }
        return {
            "id": memory_id,
            "memory": self.text,
            "hash": hashlib.md5(self.text.encode(), usedforsecurity=False).hexdigest(),
            "metadata": {name: value for name, value in own.items() if name not in IDENTITY} or None,
            "created_at": iso(self.created_at),
            "updated_at": iso(self.updated_at),
            **{name: value for name, value in promoted.items() if value not in (None, "")},
        }

    def held(self, user_id: str | None) -> dict[str, Any]:
        """What filters see of it."""
        own = self._own()
        runs = {name: own[name] for name in ENTITIES[1:] if name in own}  # a fact may have several
        return {**own, **self.result(self.id, user_id), **runs, "data": self.text}

    def _own(self) -> dict[str, Any]:
        return {name: _plain(value) for name, value in self.metadata.items() if not name.startswith(OURS)}


def of_fact(fact: Fact) -> Item:
    """A fact as a memory."""
    named, made = fact.own_metadata.get(ID), fact.own_metadata.get(CREATED)
    return Item(
        id=str(named or fact.id),
        text=fact.value if fact.own_metadata.get(AS_GIVEN) else fact.text,
        created_at=datetime.fromisoformat(made) if isinstance(made, str) else fact.recorded_at,
        updated_at=fact.recorded_at,
        what=fact,
        metadata=fact.metadata,
        attributed_to="user" if fact.about == "user" else "assistant",
    )


def of_document(document: Document, kept: Mapping[str, Any]) -> Item:
    """A text that was added as it is. `kept` is its original: the text, and those that it had before."""
    made, known_by = document.metadata.get(CREATED), document.source.removeprefix(SOURCE)
    return Item(
        id=known_by if known_by[:1] in ("f", "p") else str(document.id),
        text=kept["memory"],
        created_at=datetime.fromisoformat(made) if isinstance(made, str) else document.recorded_at,
        updated_at=document.recorded_at,
        what=document,
        metadata=document.metadata,
        steps=(*((text, at) for text, at in kept["before"]), (kept["memory"], iso(document.recorded_at))),
    )


def of_page(page: Page, texts: Sequence[tuple[Utterance, str]]) -> Item:
    """What of a page no fact holds: texts, each with who said it. Of several roles, each line begins with its role."""
    roles = {one.role for one, _ in texts}
    speakers = {one.speaker for one, _ in texts}
    role = next(iter(roles)) if len(roles) == 1 else None
    return Item(
        id=str(page.id),
        text="\n".join(text if role is not None else f"{one.role.value}: {text}" for one, text in texts),
        created_at=page.utterances[0].recorded_at,
        updated_at=page.utterances[-1].recorded_at,
        what=page,
        metadata=page.metadata,
        role=None if role is None else role.value,
        actor_id=next(iter(speakers)) if role is not None and len(speakers) == 1 else None,
    )


def spans_of(facts: Iterable[Fact]) -> Spans:
    """Where facts rest, by utterance."""
    found: dict[UtteranceId, list[Span]] = {}
    for fact in facts:
        for source in fact.sources:
            whole = source.start is None or source.end is None
            span = None if whole else (source.start or 0, source.end or 0)
            found.setdefault(source.utterance_id, []).append(span)
    return found


def unheld(page: Page, held: Spans, cut: Spans | None = None) -> list[tuple[Utterance, str]]:
    """The sentences of a page of which something is in no fact, by utterance; without the spans in `cut`.

    A sentence that has nothing but function words and fillers outside of what facts rest on is left out.
    """
    found = []
    for said in page.utterances:
        if said.role.value not in ROLES:
            continue
        rest = _blanked(said.text, held.get(said.id, []))
        text = _blanked(said.text, (cut or {}).get(said.id, []))
        kept = [text[start:end] for start, end in sentences(said.text) if keywords(rest[start:end], 1)]
        told = [" ".join(one.split()).lstrip(_PAUSES) if cut else one for one in kept]
        if told := [one for one in told if one]:
            found.append((said, " ".join(told)))
    return found


def _blanked(text: str, spans: Iterable[Span]) -> str:
    for span in spans:
        start, end = (0, len(text)) if span is None else span
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _last(value: Any) -> Any:
    """Of several, as a fact has that was told in several runs, the last."""
    return value[-1] if isinstance(value, list) else value


def iso(at: datetime) -> str:
    """A time as mem0 gives it."""
    return at.astimezone(UTC).isoformat()
