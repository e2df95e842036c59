"""The resources: profile and topics, which a client may give to a model on its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError

from embermem import prompts
from embermem.api_keys import Right
from embermem.core.errors import EmberError, NotFound
from embermem.mcp import shapes
from embermem.mcp.reach import Reach
from embermem.wire.mapping import to_record

if TYPE_CHECKING:
    from embermem.core.types import Page, Segment
    from embermem.memory import Memory

_SEGMENTS_SHOWN = 50


def add_resources(server: MCPServer[Any], memory: Memory, reach: Reach, says: Callable[[EmberError], str]) -> None:
    """Give a server its resources; `reach` says for each reading whose they are, and `says` how a failure is told."""
    kind = "text/plain"

    def told(value: object) -> str:
        return f"{prompts.load('recalled').fill()}\n\n{memory.marked(shapes.as_json(value))}"

    @server.resource("ember://profile", name="profile", title="User profile", mime_type=kind)
    def profile() -> str:
        """The user's profile, traits and facts, as data between two markers."""
        with _read(says):
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
        with _read(says):
            owner = reach(Right.READ)
            hottest = sorted(((owner.heat(one), one) for one in owner.segments()), key=lambda pair: -pair[0])
            return told([_segment(one, heat) for heat, one in hottest[:_SEGMENTS_SHOWN]])

    @server.resource("ember://segments/{id}", name="segment", title="One topic", mime_type=kind)
    def segment(id: str) -> str:
        """One topic with everything that was said of it, as data between two markers."""
        with _read(says):
            owner = reach(Right.READ)
            one = owner.segment(id)
            pages = [owner.page(page_id) for page_id in one.page_ids]
            return told({**_segment(one, owner.heat(one)), "pages": [_page(page) for page in pages]})


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


def _page(page: Page) -> dict[str, object]:
    return {"id": page.id, "said": [asdict(to_record(shapes.SaidShown, one)) for one in page.utterances]}


@contextmanager
def _read(says: Callable[[EmberError], str]) -> Iterator[None]:
    try:
        yield
    except NotFound as error:
        raise ResourceNotFoundError(says(error)) from error
    except EmberError as error:
        raise ResourceError(says(error)) from error
