"""What several pages read of one memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fastapi.responses import HTMLResponse

from embermem.core.types import Fact, Page, Source, Utterance
from embermem.http.inspector.place import Place
from embermem.memory import OwnerMemory

SOURCES_SHOWN = 20
"""Sources of one fact, trait or summary shown: what is often said again has many."""


def resting_on(mine: OwnerMemory, pages: Iterable[Page]) -> tuple[Fact, ...]:
    """The facts, in whatever state, that rest on what was said in these pages."""
    return mine.facts_resting_on(one.seq for page in pages for one in page.utterances)


def said_for(mine: OwnerMemory, sources: Sequence[Source]) -> list[tuple[Utterance, list[tuple[int, int]]]]:
    """The first utterances that something rests on, oldest first, each with the characters that were taken from it."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for source in sources[:SOURCES_SHOWN]:
        held = spans.setdefault(source.utterance_id, [])
        if source.start is not None and source.end is not None:
            held.append((source.start, source.end))
    found = [(mine.utterance(utterance_id), marked) for utterance_id, marked in spans.items()]
    return sorted(found, key=lambda pair: pair[0].seq)


def sources_page(here: Place, sources: Sequence[Source], *, back: str) -> HTMLResponse:
    """What was said that something rests on: a part that opens in place, or a page that leads back."""
    template = "sources_list.html" if here.partial else "sources.html"
    return here.page(template, title="What was said", sources=said_for(here.mine, sources), back=back)
