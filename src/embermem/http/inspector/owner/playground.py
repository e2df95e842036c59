"""The playground: what would be recalled for a query, why, and what was left out. It counts no visit."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from embermem.core.config import PRESETS
from embermem.http.inspector.drawing import charts
from embermem.http.inspector.place import PageContext, PageRoute

LEFT_OUT = 40
"""Of what was left out, so many are listed."""
FIRST_LEFT_OUT = 8
"""So many at once; the others open."""
MOST = 50
"""Hits shown at most: a Context names no more unless the setting `hits` says so."""

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/playground")
def recall(
    here: PageContext,
    q: str = "",
    k: int = 10,
    budget: int = 0,
    preset: str = "",
    at: str = "",
    thread: str = "",
    as_of: str = "",
    valid_at: str = "",
) -> HTMLResponse:
    """The playground. Without a query it says what to try."""
    settings = here.memory.settings
    shown = min(max(k, 1), MOST)
    tokens = budget if budget > 0 else settings.budget
    chosen = preset or settings.preset
    context = None
    if q.strip():
        named = next((one for one in ("default", "paper") if one == chosen), None)
        context = here.mine.recall(
            q,
            at=at.strip() or None,
            budget=tokens,
            thread=thread.strip() or None,
            preset=named or settings.preset,
            as_of=as_of.strip() or None,
            valid_at=valid_at.strip() or None,
        )
    bars, zero = charts.hit_bars(context.hits[:shown] if context else ())
    return here.page(
        "playground.html",
        title="Playground",
        q=q,
        k=shown,
        budget=tokens,
        preset=chosen,
        presets=tuple(PRESETS),
        at=at,
        thread=thread,
        as_of=as_of,
        valid_at=valid_at,
        context=context,
        bars=bars,
        zero=zero,
        groups=charts.GROUPS,
        packed={hit.utterance.id for hit in context.packed} if context else set(),
        left_out=context.left_out[:LEFT_OUT] if context else (),
        first_left=FIRST_LEFT_OUT,
        more_left=max(0, len(context.left_out) - LEFT_OUT) if context else 0,
        nothing_said=here.mine.state() is None,
    )
