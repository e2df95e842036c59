"""Shared spaces: which there are, and to whom they are granted."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query

from embermem.http.access import Accessible
from embermem.http.api import bodies
from embermem.http.api.dependencies import Reading, router, text_query, written_by
from embermem.wire.answers import Shares, Spaces
from embermem.wire.mapping import to_record
from embermem.wire.memories import ShareItem

routes = router("spaces")

SpaceName = Annotated[
    str, Path(min_length=1, max_length=bodies.LONGEST_SPACE, description="The space's name.", examples=["team"])
]
Past = Annotated[bool, Query(description="Also what was revoked, with the times.")]


@routes.get("/spaces", summary="List spaces that the key can read")
def list_spaces(access: Accessible) -> Spaces:
    """The names, sorted. Whether a user may read one is said by its grants."""
    return Spaces(results=access.spaces())


@routes.get("/spaces/{space}/grants", summary="List the grants of a space")
def list_grants(access: Accessible, space: SpaceName, past: Past = False) -> Shares:
    """Oldest first. The key must hold the right `grant` to the space."""
    found = access.space(space, change=False).grants(space, past=past)
    return Shares(results=tuple(to_record(ShareItem, one) for one in found))


@routes.post("/spaces/{space}/grants", status_code=201, summary="Grant a space to a user")
def grant_space(access: Accessible, space: SpaceName, body: bodies.GrantBody) -> ShareItem:
    """Lets a user read it, with one agent or any, or also write; `user_id` null is everybody. It takes the place of a
    grant to the same user and agent. The key must hold the right `grant` to the space."""
    memory = access.space(space)
    return to_record(ShareItem, memory.grant(space, user=body.user_id, agent=body.agent_id, write=body.write))


@routes.delete("/spaces/{space}/grants", summary="Revoke grants of a space")
def revoke_grants(
    access: Accessible,
    space: SpaceName,
    user_id: Annotated[str | None, text_query("The user; left out: what everybody was granted.")] = None,
    agent_id: Annotated[str | None, text_query("Only the grant for this agent.")] = None,
) -> Shares:
    """Ends the user's grants at once, in all processes, and returns them. The key must hold the right `grant` to the
    space."""
    ended = access.space(space).revoke(space, user=user_id, agent=agent_id)
    return Shares(results=tuple(to_record(ShareItem, one) for one in ended))


@routes.get("/person-shares", summary="List the agents with which what is known of the user is shared")
def list_person_shares(owner: Reading, past: Past = False) -> Shares:
    """Oldest first."""
    return Shares(results=tuple(to_record(ShareItem, one) for one in owner.person_shares(past=past)))


@routes.post("/person-shares", summary="Share what is known of the user with another agent, or no longer")
def share_person(access: Accessible, body: bodies.PersonShareBody) -> ShareItem:
    """The profile, traits and facts about the user; never what was said, nor what is known of others."""
    return to_record(ShareItem, written_by(access, body).share_person_with(body.with_agent, body.shared))
