"""What matters to a query."""

from __future__ import annotations

from embermem.core.types import Hit
from embermem.http.access import Accessible, Right, asker_of
from embermem.http.api import bodies, listing
from embermem.http.api.dependencies import bound_by, router, then_of
from embermem.owner_memory import count_visit
from embermem.wire.memories import ContextAnswer, Found, context_answer, hit_item

routes = router("search")


@routes.post("/search", summary="Search messages")
def search_memories(access: Accessible, body: bodies.SearchBody) -> Found:
    """The best utterances for a query. Writes nothing, and counts no visit."""
    owner = bound_by(access, body, *body.owner_asked)
    thread, then = body.thread_asked, then_of(body.as_of, body.valid_at)

    def found(k: int) -> tuple[Hit, ...]:
        return owner.search(body.query, k, at=body.at, scope=body.scope_asked, min_score=body.min_score, **then)

    hits = found(body.top_k) if thread is None else listing.in_thread(found, thread, body.top_k)
    return Found(results=tuple(hit_item(asker_of(owner), hit) for hit in hits))


@routes.post("/context", summary="Recall a context for a prompt")
def get_context(access: Accessible, body: bodies.ContextBody) -> ContextAnswer:
    """Text within the budget for a prompt, with its sources. Counts what it packs as visited, unless the key is
    read-only."""
    owner = bound_by(access, body, body.user_id, body.agent_id)
    then = then_of(body.as_of, body.valid_at)
    context = owner.recall(
        body.query,
        at=body.at,
        budget=body.budget,
        thread=body.run_id,
        scope=body.scope_asked,
        min_score=body.min_score,
        mode=body.mode,
        **then,
    )
    if not then and access.may(owner.owner, Right.WRITE):
        count_visit(owner, context)
    return context_answer(asker_of(owner), context, explain=body.explain)
