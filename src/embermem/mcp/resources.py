"""The resources, which a client may give to a model on its own: profile, instructions, topics, documents, exchanges."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import anyio.to_thread
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp_types import Completion, CompletionArgument, CompletionContext, PromptReference, ResourceTemplateReference

from embermem.api_keys import Right
from embermem.core.errors import EmberError, NotFound
from embermem.mcp import shapes
from embermem.mcp.reach import Reach
from embermem.wire.mapping import to_record

if TYPE_CHECKING:
    from embermem.core.types import Document, Page, Segment
    from embermem.memory import Memory

_ITEMS_SHOWN = 50
_COMPLETED = {"ember://segments/{id}": "segment", "ember://documents/{id}": "document", "ember://pages/{id}": "page"}
"""Templates, and the kind of item whose ids they take."""
_MOST_COMPLETED = 100
"""The protocol allows no more."""
_MOST_SEEN = 1000


def add_resources(server: MCPServer[Any], memory: Memory, reach: Reach, says: Callable[[EmberError], str]) -> None:
    """Give a server its resources; `reach` says for each reading whose they are, and `says` how a failure is told."""
    kind = "text/plain"

    def told(value: object) -> str:
        holds = any(value.values()) if isinstance(value, dict) else value
        return shapes.for_model(memory, shapes.as_json(value)) if holds else shapes.as_json(value)

    @server.resource("ember://profile", name="profile", title="User profile", mime_type=kind)
    def profile() -> str:
        """The user's profile, traits and facts, as data between two markers."""
        with read(says):
            owner = reach(Right.READ)
            persona = owner.persona()
            return told(
                {
                    "user": shapes.profile(persona.profile),
                    "agent": shapes.profile(persona.agent_profile),
                    "traits": [asdict(to_record(shapes.TraitShown, one)) for one in owner.traits()],
                    "knowledge": [asdict(one) for one in shapes.facts(persona.facts)],
                }
            )

    @server.resource("ember://segments", name="segments", title="Topics", mime_type=kind)
    def segments() -> str:
        """The hottest topics of mid-term memory, with their summaries, as data between two markers."""
        with read(says):
            owner = reach(Right.READ)
            hottest = sorted(((owner.heat(one), one) for one in owner.segments()), key=lambda pair: -pair[0])
            return told([_segment(one, heat) for heat, one in hottest[:_ITEMS_SHOWN]])

    @server.resource("ember://segments/{id}", name="segment", title="One topic", mime_type=kind)
    def segment(id: str) -> str:
        """One topic with everything that was said of it, as data between two markers."""
        with read(says):
            owner = reach(Right.READ)
            one = owner.segment(id)
            pages = [owner.page(page_id) for page_id in one.page_ids]
            return told({**_segment(one, owner.heat(one)), "pages": [_page(page) for page in pages]})

    @server.resource("ember://instructions", name="instructions", title="Standing instructions", mime_type=kind)
    def instructions() -> str:
        """What the user wants of the agent's replies, the oldest first, as data between two markers."""
        with read(says):
            return told([asdict(one) for one in shapes.facts(reach(Right.READ).instructions())])

    @server.resource("ember://documents", name="documents", title="Documents", mime_type=kind)
    def documents() -> str:
        """The newest documents, as data between two markers."""
        with read(says):
            return told([_document(one) for one in reversed(reach(Right.READ).documents()[-_ITEMS_SHOWN:])])

    @server.resource("ember://documents/{id}", name="document", title="One document", mime_type=kind)
    def document(id: str) -> str:
        """One document with its passages, as data between two markers."""
        with read(says):
            owner = reach(Right.READ)
            passages = [{"id": one.id, "text": one.text} for one in owner.passages(id)]
            return told({**_document(owner.document(id)), "passages": passages})

    @server.resource("ember://pages/{id}", name="page", title="One exchange", mime_type=kind)
    def page(id: str) -> str:
        """One exchange, as data between two markers."""
        with read(says):
            return told(_page(reach(Right.READ).page(id)))

    @server.completion()  # type: ignore[no-untyped-call, untyped-decorator]
    async def complete(
        ref: PromptReference | ResourceTemplateReference,
        argument: CompletionArgument,
        context: CompletionContext | None,
    ) -> Completion | None:
        """The ids that a template takes and that begin so, the newest first."""
        listed = _COMPLETED.get(ref.uri) if isinstance(ref, ResourceTemplateReference) else None
        if listed is None or argument.name != "id":
            return None
        items = await anyio.to_thread.run_sync(lambda: reach(Right.READ).items(listed, limit=_MOST_SEEN))
        found = [str(one.id) for one in items if one.id.startswith(argument.value)]
        return Completion(values=found[:_MOST_COMPLETED], total=len(found), has_more=len(found) > _MOST_COMPLETED)


def _segment(segment: Segment, heat: float) -> dict[str, object]:
    return {
        "id": segment.id,
        "uri": f"ember://segments/{segment.id}",
        "title": segment.title,
        "summary": segment.summary,
        "keywords": list(segment.keywords),
        "heat": round(heat, 3),
        "pages": len(segment.page_ids),
        "said_from": segment.said_from.isoformat(),
        "said_to": segment.said_to.isoformat(),
        "archived": segment.archived,
    }


def _document(document: Document) -> dict[str, object]:
    return {
        "id": document.id,
        "uri": f"ember://documents/{document.id}",
        "title": document.title,
        "source": document.source,
        "said_at": document.said_at.isoformat(),
        "passages": document.passages,
    }


def _page(page: Page) -> dict[str, object]:
    return {"id": page.id, "said": [asdict(to_record(shapes.SaidShown, one)) for one in page.utterances]}


@contextmanager
def read(says: Callable[[EmberError], str]) -> Iterator[None]:
    """Tell our errors in our words."""
    try:
        yield
    except NotFound as error:
        raise ResourceNotFoundError(says(error)) from error
    except EmberError as error:
        raise ResourceError(says(error)) from error
