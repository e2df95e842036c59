"""All that can be read of a memory or of a store, in a form that can be compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from embermem import Context, Memory, OwnerMemory, Tier
from embermem.core.changes import Change, Item, SegmentGrew, SegmentTexts, SegmentWritten
from embermem.core.config import Preset
from embermem.core.state import State
from embermem.core.types import Page, Segment, SegmentId
from embermem.store import schema
from embermem.store.codec import row_of
from persona_rows import everything, persona_rows
from soundness import looking

KEPT = ("utterance", "page", "embedding", "change", "barred", "receipt", "fact_visit")
"""Tables that are compared beside the derived ones."""


def stored(place: str | Path, *, without: str | None = None) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of both logs and of what is derived, in tables or by folding the log, but for those of one owner.
    `touched_no`, the change that touched a page or segment last, is left out: only readers ask for it, and they begin
    anew after a forgetting."""
    told: dict[str, list[tuple[Any, ...]]] = {}
    with looking(place) as look:
        found = {table: look(f"SELECT * FROM {table}") for table in (*(one.name for one in schema.DERIVED), *KEPT)}
        personas = persona_rows(look)
    for table, rows in {**personas, **found}.items():
        told[table] = sorted(
            tuple((name, repr(value)) for name, value in row.items() if name != "touched_no")
            for row in rows
            if row["owner_id"] != without
        )
    return told


def assert_same_rows(before: dict[str, list[tuple[Any, ...]]], after: dict[str, list[tuple[Any, ...]]]) -> None:
    """The first table that differs is named."""
    for table, found in before.items():
        assert found == after[table], table


def assert_as_applied_again(memory: Memory, place: str | Path) -> None:
    """Applying the whole log again gives the same rows, and folding it what they tell."""
    before = stored(place)
    for owner in memory.owners():
        assert_folded_alike(memory.of(owner.user, owner.agent), place)
    assert all(found.same for found in memory.rebuild())
    assert_same_rows(before, stored(place))


def assert_folded_alike(mine: OwnerMemory, place: str | Path) -> None:
    """The state that the owner's log folds to has the versions that stand in the tables, and the persona that the store
    holds."""
    log = mine.changes()
    state = State(log)
    parts = State()
    for change in log:
        parts.fold([change])
    assert everything(state.persona) == everything(parts.persona)
    store: Any = mine._parts.store
    with store._read() as c:
        assert everything(state.persona) == everything(store._known(c, mine.owner.id).held.state)
    with looking(place) as look:
        for table in schema.KEYS:
            found = look(f"SELECT * FROM {table.name} WHERE owner_id = ?", mine.owner.id)
            keys = schema.KEYS[table]
            told = sorted(
                ((tuple(str(row[key]) for key in keys), row["change_no"], row["retired_no"], row) for row in found),
                key=lambda one: one[:2],
            )
            versions = state.items[Item(table.name)]
            folded = sorted((key, one.began, one.ended) for key in versions for one in versions.of(key))
            assert [one[:3] for one in told] == folded, table.name
            for key, no, until, row in told:
                if table is schema.segment_text:
                    assert row_of_text(state, SegmentId(key[0]), no, until) == {
                        name: row[name] for name in ("parts", "keywords", "title", "said_from", "said_to")
                    }, (key, no)
                    continue
                (decision,) = [one.value for one in versions.of(key) if one.began == no]
                said = {name: value for name, value in row_of(decision, table).items() if name not in NOT_SAID}
                assert said == {name: row[name] for name in said}, (table.name, key, no)
        for row in look("SELECT * FROM segment WHERE owner_id = ?", mine.owner.id):
            gone = state.evicted.get(row["segment_id"], [])
            assert (state.opened[row["segment_id"]], [*gone[-1:]]) == (
                row["opened_no"],
                [one for one in (row["evicted_no"],) if one is not None],
            )


def texts_written(changes: Iterable[Change]) -> Iterator[tuple[int, SegmentWritten]]:
    """Every version of every segment's text, whole, with the number of the change that wrote it."""
    texts = SegmentTexts()
    for change in changes:
        for d in change.decisions:
            texts.take(d)
            text = texts.get(d.segment_id) if isinstance(d, SegmentWritten | SegmentGrew) else None
            if text is not None:
                yield change.no, text


def row_of_text(state: State, segment_id: SegmentId, no: int, until: int | None) -> dict[str, object]:
    """Columns of `segment_text`: the row of the text that stands holds it."""
    text = state.text(segment_id, no)
    assert text is not None
    row = row_of(text, schema.segment_text)
    names = ("parts", "keywords", "title", "said_from", "said_to")
    return {**{name: row[name] for name in names}, **({} if until is None else ENDED)}


ENDED = {"parts": "[]", "keywords": "[]", "title": None}
NOT_SAID = ("analyst", "shown", "proposals")
"""Columns that hold a decision's field in another form."""


def all_read(mine: OwnerMemory, **at: Any) -> dict[str, object]:
    """What every read gives, without what is counted: visits, heat, waits."""
    pages = {page.id: page for page in mine.pages(**at)}

    def plain(segment: Segment) -> Segment:
        arrived = max(pages[page_id].utterances[0].recorded_at for page_id in segment.page_ids)
        return replace(segment, visits=0, unanalysed=0, last_access=arrived)

    def uncounted(page: Page) -> Page:
        return replace(page, error=None)

    past = {name: value for name, value in at.items() if name == "as_of"}
    facts = (*mine.facts(**at), *mine.facts(archived=True, **at), *mine.past_facts(**past))
    return {
        "pages": [uncounted(page) for page in pages.values()],
        "page": [uncounted(mine.page(page_id, **at)) for page_id in [*pages][:1]],
        "tiers": {tier: [page.id for page in mine.pages(tier, **at)] for tier in (Tier.SHORT, Tier.ARCHIVE)},
        "newest": [page.id for page in mine.pages(limit=2, before=3, thread="t1", **at)],
        "segments": [plain(one) for archived in (False, True) for one in mine.segments(archived, **at)],
        "segment": [plain(mine.segment(one.id, **at)) for one in mine.segments(**at)[:1]],
        "chains": mine.chains(**at),
        "persona": mine.persona(**at),
        "traits": mine.traits(**at),
        "agent": mine.agent_profile(**at),
        "facts": facts,
        "fact": [mine.fact(fact.id, **past) for fact in facts[-1:]],
        "user facts": mine.facts("user", **at),
    }


def assert_recalled_alike(mine: OwnerMemory, then: OwnerMemory, query: str, at: datetime, preset: Preset) -> None:
    """A recall as of a time is what a copy of the store that was taken then answers."""
    now, there = mine.recall(query, as_of=at, preset=preset), then.recall(query, preset=preset)
    assert now.text == there.text
    assert ranked(now) == ranked(there)
    assert (now.facts, now.persona) == (there.facts, there.persona)
    assert [hit.score for hit in now.hits] == pytest.approx([hit.score for hit in there.hits], abs=2e-3)
    assert now.confidence == pytest.approx(there.confidence, abs=2e-3)
    found = [[hit.utterance.id for hit in side] for side in (mine.search(query, 5, as_of=at), then.search(query, 5))]
    assert found[0] == found[1]


def ranked(context: Context) -> list[tuple[object, ...]]:
    """The hits of a recall without their scores."""
    return [(hit.utterance, hit.rank, hit.tier, hit.segment_id) for hit in context.hits]
