"""Messages kept, alone and in batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from embermem.core.errors import NotFound
from embermem.http.api import bodies
from embermem.wire.mapping import to_record
from embermem.wire.memories import Added, Addition

if TYPE_CHECKING:
    from embermem.core.types import Utterance
    from embermem.memory import OwnerMemory


def add(
    owner: OwnerMemory,
    given: str | Sequence[bodies.Message],
    *,
    thread: str,
    at: str | None,
    key: str | None,
    fresh: bool | None,
    expires_at: str | None = None,
) -> Added:
    """Keep messages; what was kept. The same key gives the same answer again.

    Without a word on `fresh`, a text begins a page of its own, and a list goes on with the open one.
    """
    alone = isinstance(given, str)
    messages = [{"role": "user", "content": given}] if isinstance(given, str) else [_plain(one) for one in given]
    added = owner.add_messages(
        messages, thread=thread, at=at, key=key, fresh=alone if fresh is None else fresh, expires_at=expires_at
    )
    wanted = set(added.utterance_ids)
    kept = [utterance for page_id in added.page_ids for utterance in _said(owner, page_id) if utterance.id in wanted]
    return Added(
        results=tuple(to_record(Addition, utterance) for utterance in sorted(kept, key=lambda one: one.seq)),
        page_ids=added.page_ids,
        redactions=added.redactions,
    )


def _plain(message: bodies.Message) -> Mapping[str, Any]:
    """The message as it was given. Not by model_dump: that refuses parts nested deeper than it likes."""
    return {name: getattr(message, name) for name in message.model_fields_set}


def _said(owner: OwnerMemory, page_id: str) -> tuple[Utterance, ...]:
    """A page's utterances; none where it was forgotten just now."""
    try:
        return owner.page(page_id).utterances
    except NotFound:
        return ()
