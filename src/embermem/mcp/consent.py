"""Before something is forgotten for good, the person is asked, where the client can ask: elicitation.

The client shows the question itself, so a model cannot answer it. A client that declares no elicitation of forms, or
that a request reaches without its capabilities (HTTP before the protocol of 2026-07-28), is not asked: there the model
confirms, as `forget_memory` tells it to.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, cast

from mcp.server.mcpserver import Context, Elicit
from pydantic import BaseModel, Field

from embermem.core.errors import EmberError
from embermem.core.types import Forgotten
from embermem.reports import render

_WORDS_SHOWN = 3
_SHORT_CHARS = 120


class Consent(BaseModel):
    """What the person answers."""

    forget: bool = Field(title="Forget it for good", description="It cannot be undone.")


_GIVEN = Consent(forget=True)
"""Where nobody can be asked, or nothing would be forgotten yet."""


class Forgets(Protocol):
    """What the question is made of."""

    def forgetting(self, item: str, *, dry_run: bool) -> tuple[Forgotten, dict[str, str]]:
        """What went or would go, and the words of it. Raises EmberError."""


class Serving(Protocol):
    """A server that holds what its tools call."""

    calls: Forgets


def asked(id: str, confirm: bool, ctx: Context[Any, Any]) -> Consent | Elicit[Consent]:
    """Consent to forgetting the item with this id: asked for, where the client can."""
    if not (confirm and _can_ask(ctx)):
        return _GIVEN
    try:
        would, words = cast(Serving, ctx.mcp_server).calls.forgetting(id, dry_run=True)
    except EmberError:
        return _GIVEN  # the tool itself tells what is wrong
    return Elicit(question(would, list(words.values())), Consent)


def question(would: Forgotten, words: Sequence[str]) -> str:
    """What the person is asked: the counts of a dry run, and the first words of what would go."""
    counted = {
        "page": would.pages,
        "message": would.utterances,
        "fact": would.facts,
        "topic": would.segments,
        "profile line": would.profile,
        "trait": would.traits,
    }
    counts = ", ".join(f"{len(ids)} {name}{'s' * (len(ids) != 1)}" for name, ids in counted.items() if ids)
    shown = [f"- {render.cut(one, _SHORT_CHARS)}" for one in words[:_WORDS_SHOWN]]
    more = [f"- and {len(words) - _WORDS_SHOWN} more"] if len(words) > _WORDS_SHOWN else []
    return "\n".join([f"Forget for good: {counts or 'nothing'}?", *shown, *more])


def _can_ask(ctx: Context[Any, Any]) -> bool:
    held = ctx.client_capabilities
    asking = None if held is None else held.elicitation
    return asking is not None and (asking.form is not None or asking.url is None)
