"""Documents of one owner's memory: texts and files that nobody said in a talk."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from embermem import telemetry
from embermem.arguments import checked
from embermem.core import injected_blocks, messages, originals
from embermem.core.errors import InputError
from embermem.core.messages import At, Expiry
from embermem.core.metadata import checked as checked_metadata
from embermem.core.sensitive import redacted
from embermem.core.types import Document, DocumentAdded, DocumentId, Forgotten, Utterance, thread_of
from embermem.owner_memory.forgetting import Forgetting
from embermem.protocols import NewDocument, NewPassage

if TYPE_CHECKING:
    from embermem.documents.outline import Outline

_LONGEST = 512
"""Characters of a source, and of a title."""
_TITLE = 80
"""Characters of a text's first line that are its title where it has none."""


@checked
class Documents(Forgetting):
    """Add, list, show and forget documents."""

    @telemetry.spanned(telemetry.CREATE, "add_document")
    def add_document(
        self,
        document: str | bytes | Path,
        *,
        title: str | None = None,
        source: str | None = None,
        at: At = None,
        metadata: Mapping[str, Any] | None = None,
        key: str | None = None,
        original: Any = None,
        expires_at: Expiry = None,
    ) -> DocumentAdded:
        """Store a document in passages, in one transaction. When it returns, it is on disk and can be recalled.

        `document` is a text (Markdown, or what the ending of `source` says), a Path, or the bytes of a file whose name
        is `source`. Text, Markdown and HTML need nothing; PDF and DOCX need the extra `embermem[documents]`.
        `source` tells documents apart (default: the file's path, or a hash of the text): added again, what changed is
        replaced, and passages that did not keep their ids and vectors; where nothing did, nothing is written. `title`
        is shown with every passage (default: the document's own, or the file's name); `at` is when it was written
        (default: the file's time, or now); `metadata` are those of all passages. `original` is any JSON value, kept
        beside the document and returned by `original`; with one, the text may be empty: no query finds it then.
        `expires_at` is when the document is forgotten by itself: a time, or a timedelta from now; added again, it ends
        when it says then. Repeated with the same `key`, the call stores nothing. Raises InputError, ConfigError without
        the extra, and KeyReused.
        """
        inbox = self._inbox()
        if key is not None:
            messages.idempotency_key(key)
        outline, named, written = self._read(document, source)
        kept = inbox.original(original, "original")
        made = self._made(outline, title=title, source=named, at=at, metadata=metadata, original=kept)
        said_at = inbox.moment(at if at is not None else written, "at")
        given = replace(made, said_at=said_at, expires_at=inbox.expiry(expires_at))
        done = self._parts.admin.put_document(self.owner, given, now=self._parts.clock(), key=key)
        (self._parts.deleted if done.removed else self._parts.added)()
        return done

    def documents(
        self,
        *,
        source: str | None = None,
        under: str | None = None,
        text: str | None = None,
        before: str | None = None,
        limit: int | None = None,
    ) -> tuple[Document, ...]:
        """Return all documents, the first stored first; the one of a `source`, those whose source begins with the text
        `under`, or that have a `text` in source or title, whatever its case; the newest `limit` of those, stored before
        the document whose id is `before`. Raises NotFound, InputError."""
        return self._parts.admin.documents(
            self.owner.id,
            now=self._parts.clock(),
            source=source,
            under=under,
            text=text,
            before=None if before is None else self.document(before),
            limit=None if limit is None else messages.whole(limit, "limit", 0),
        )

    def document(self, document_id: str) -> Document:
        """Return one document. Raises NotFound."""
        found = self._parts.admin.documents(self.owner.id, [DocumentId(document_id)], now=self._parts.clock())
        if not found:
            raise self._none_such("document", document_id)
        return found[0]

    def passages(self, document_id: str, *, start: int = 0, limit: int | None = None) -> tuple[Utterance, ...]:
        """Return the passages of a document, in the order of its text; the next `limit` of those that begin at the
        character `start` or later. Raises NotFound, InputError."""
        document = self.document(document_id)
        begin, most = messages.whole(start, "start", 0), None if limit is None else messages.whole(limit, "limit", 0)
        return self._parts.admin.passages(self.owner.id, document.id, start=begin, limit=most)

    def forget_document(self, document_id: str, *, dry_run: bool = False) -> Forgotten:
        """Remove a document and its passages, as `forget` does pages. It may be added again. Raises NotFound."""
        self.document(document_id)
        return self.forget(thread=thread_of(DocumentId(document_id)), dry_run=dry_run)

    def original(self, item_id: str) -> Any:
        """Return the `original` of a message or document, by the id of its utterance or document. Raises NotFound."""
        found = self.originals([item_id])
        if item_id not in found:
            raise self._none_such("original of", item_id)
        return found[item_id]

    def originals(
        self, ids: Sequence[str] | None = None, *, thread: str | None = None, last: int | None = None
    ) -> Mapping[str, Any]:
        """Return originals by the ids of their utterances and documents, in the order in which these were stored: all,
        those of some `ids`, of the messages of a `thread`, or the `last` so many of them. Raises InputError."""
        return self._parts.admin.originals(
            self.owner.id,
            now=self._parts.clock(),
            ids=None if ids is None else [messages.name(one, "ids") for one in ids],
            thread=None if thread is None else messages.thread_id(thread),
            last=None if last is None else messages.whole(last, "last", 0, 2**31 - 1),
        )

    def _read(self, document: str | bytes | Path, source: str | None) -> tuple[Outline, str | None, datetime | None]:
        """A document's outline, its source, and when its file was written."""
        from embermem.documents import reader

        most = self._parts.settings.max_document_chars
        if isinstance(document, Path):
            outline = reader.read_file(document, most)
            written = datetime.fromtimestamp(document.stat().st_mtime, UTC)
            return outline, str(document.resolve()) if source is None else source, written
        if isinstance(document, bytes):
            if source is None:
                raise InputError("a document's bytes need a source whose ending names their format, such as lease.pdf")
            if len(document) > most:
                raise InputError(f"document has {len(document):,} bytes, more than the {most:,} allowed; split it")
            return reader.read_bytes(document, source), source, None
        text = messages.checked(document, "document", most)
        return reader.read_text(text, source or ""), source, None

    def _made(
        self,
        outline: Outline,
        *,
        title: str | None,
        source: str | None,
        at: At,
        metadata: Mapping[str, Any] | None,
        original: str | None,
    ) -> NewDocument:
        """The document as it is stored: without what is sensitive or ours, in passages. `said_at` is not said yet."""
        from embermem.documents.splitter import split

        name = title or outline.title or _named(outline, source)
        if injected_blocks.MARK in outline.text:
            outline = self._without_blocks(outline)
        kept = None if original is None else originals.value_of(original)
        wheres, texts = zip(
            *(("the document", outline.text), ("title", name), ("source", source or "")),
            *originals.texts(kept, "original"),
            strict=True,
        )
        left = redacted(texts, self._parts.finders, wheres)
        self._tell_of([place.kind for one in left for place in one.places])
        outline = outline.redacted(left[0])
        text = messages.checked(outline.text, "document", self._parts.settings.max_document_chars)
        source = left[2].text or f"text:{hashlib.blake2b(text.encode(), digest_size=12).hexdigest()}"
        passages = [
            NewPassage(text=text[one.start : one.end], place=" > ".join(one.place), start=one.start, end=one.end)
            for one in split(outline)
        ]
        if not passages and original is not None:
            passages = [NewPassage(text="", place="", start=0, end=0)]
        if not passages:
            raise InputError(
                f"{source if left[2].text else 'document'} holds no text; a scan has to be made text first, by OCR"
            )
        labels, moment = checked_metadata(metadata, "metadata"), None if at is None else str(at)
        if any(one.places for one in left[3:]):
            original = originals.json_of(originals.with_texts(kept, (one.text for one in left[3:])), "original")
        told = [left[1].text, source, text, dict(sorted(labels.items())), moment, *filter(None, [original])]
        return NewDocument(
            source=messages.name(source, "source", _LONGEST),
            title=messages.name(" ".join(left[1].text.split()), "title", _LONGEST),
            digest=hashlib.blake2b(json.dumps(told).encode(), digest_size=32).hexdigest(),
            said_at=self._parts.clock(),
            metadata=labels,
            passages=passages,
            original=original,
        )

    def _without_blocks(self, outline: Outline) -> Outline:
        """The outline without what Ember itself put into a prompt."""
        from embermem.documents.reader import read_text

        text = injected_blocks.strip(outline.text, self._parts.nonce_key())
        return outline if text == outline.text else read_text(text)


def originals_of_source(memory: Documents, source: str) -> Mapping[str, Any]:
    """The original of the document of a source, by its id, for an adapter that asks for nothing else."""
    return memory._parts.admin.originals(memory.owner.id, now=memory._parts.clock(), source=source)


def remove_document(memory: Documents, source: str) -> None:
    """`forget_document` by source, for an adapter whose callers get no receipt: the background thread scrubs the file,
    together with what else was deleted meanwhile; where none runs, this call does. Raises NotFound, StoreError."""
    if (named := memory._parts.admin.remove_document(memory.owner.id, source, now=memory._parts.clock())) is not None:
        memory._forget({"thread": thread_of(named)}, dry_run=False, scrub=False)
    memory._parts.deleted()


def _named(outline: Outline, source: str | None) -> str:
    """A title of a document that has none: its file's name, or how it begins."""
    if source is not None:
        return Path(source).stem or source
    return " ".join(outline.text.strip().partition("\n")[0].split())[:_TITLE] or "untitled"
