"""All that can be read of a memory or of a store, in a form that can be compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from embermem import Context, Memory, OwnerMemory, Tier
from embermem.core.changes import Change, SegmentGrew, SegmentTexts, SegmentWritten
from embermem.core.config import Preset
from embermem.core.state import PersonaState, TopicState
from embermem.core.types import Page, Segment
from soundness import looking
from state_rows import all_topics, everything, state_rows, topic_rows

KEPT = ("utterance", "page", "segment", "embedding", "change", "barred", "receipt", "visit")
"""Tables that are compared beside what the log folds to."""


def stored(place: str | Path, *, without: str | None = None) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of both logs and of what is derived, in tables or by folding the log, but for those of one owner.
    `touched_no`, the change that touched a page or segment last, is left out: only readers ask for it, and they begin
    anew after a forgetting."""
    told: dict[str, list[tuple[Any, ...]]] = {}
    with looking(place) as look:
        found = {table: look(f"SELECT * FROM {table}") for table in KEPT}
        states = state_rows(look)
    for table, rows in {**states, **found}.items():
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
    """The state that the owner's log folds to, at once and change by change, is what the store holds."""
    log = mine.changes()
    state, topics = PersonaState(log), TopicState().extended(log)
    parts, some = PersonaState(), TopicState()
    for change in log:
        parts.fold([change])
        some = some.extended([change])
    assert (everything(state), all_topics(topics)) == (everything(parts), all_topics(some))
    store: Any = mine._parts.admin
    with store._read() as c:
        known = store._known(c, mine.owner.id, topics=True)
        assert (everything(state), all_topics(topics)) == (everything(known.held.state), all_topics(known.topics))
    assert_topics_of(topics, list(log))
    opened, then = topics.opened(), topics.at()
    with looking(place) as look:
        for row in look("SELECT * FROM segment WHERE owner_id = ?", mine.owner.id):
            segment_id = row["segment_id"]
            assert (opened[segment_id], then.left(segment_id)) == (row["opened_no"], row["evicted_no"])


def assert_topics_of(topics: TopicState, log: list[Change]) -> None:
    """Topics are what the log says of notes, places, summaries and texts, at every moment."""
    told = topic_rows(log)
    for no in {0, *(row["change_no"] for rows in told.values() for row in rows), topics.no}:
        then = topics.at(no)

        def stood(name: str, no: int = no) -> list[dict[str, Any]]:
            rows = (row for row in told[name] if row["change_no"] <= no)
            return [row for row in rows if row["retired_no"] is None or row["retired_no"] > no]

        assert then.places() == {row["page_id"]: row["segment_id"] for row in stood("membership")}
        assert then.notes() == {row["page_id"]: (row["chain_id"], row["change_no"]) for row in stood("note")}
        assert then.summaries() == {row["chain_id"]: row["change_no"] for row in stood("chain")}
        assert then.texts() == {row["segment_id"]: row["change_no"] for row in stood("segment_text")}


def texts_written(changes: Iterable[Change]) -> Iterator[tuple[int, SegmentWritten]]:
    """Every version of every segment's text, whole, with the number of the change that wrote it."""
    texts = SegmentTexts()
    for change in changes:
        for d in change.decisions:
            texts.take(d)
            text = texts.get(d.segment_id) if isinstance(d, SegmentWritten | SegmentGrew) else None
            if text is not None:
                yield change.no, text


def all_read(mine: OwnerMemory, **at: Any) -> dict[str, object]:
    """What every read gives, without visits, which a moment has from the next change on, and waits."""
    pages = {page.id: page for page in mine.pages(**at)}

    def plain(segment: Segment) -> Segment:
        arrived = max(pages[page_id].utterances[0].recorded_at for page_id in segment.page_ids)
        return replace(segment, visits=0, last_access=arrived)

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
