"""The heat that is told of a service: exact for each owner, bounded for all."""

from __future__ import annotations

import threading

from hypothesis import given
from hypothesis import strategies as st

from embermem.core.changes import Analysed, Cause, Evicted
from embermem.core.types import OwnerId, PageId, SegmentId
from embermem.memoryos.ingest.heat_sample import BOUNDS, OWNERS, HeatWatch

HEATS = st.lists(st.floats(min_value=0.0, max_value=500.0) | st.sampled_from(BOUNDS), max_size=30)


@given(st.dictionaries(st.sampled_from("abcd"), HEATS))
def test_the_distribution_counts_every_segment_of_every_owner_once(owners: dict[str, list[float]]) -> None:
    watch = HeatWatch()
    for owner, heats in owners.items():
        watch.worked(OwnerId(owner), [1.0] * 7)  # what was before counts no more
        watch.worked(OwnerId(owner), heats)
    sample = watch.sample()
    every = [heat for heats in owners.values() for heat in heats]
    assert sample.up_to == tuple(sum(heat <= bound for heat in every) for bound in BOUNDS)
    assert (sample.owners, sample.segments) == (len(owners), len(every))
    assert sample.hottest == max(every, default=0.0)
    assert abs(sample.total - sum(every)) < 1e-6


def test_only_the_owners_that_were_worked_on_last_are_kept_and_promotions_and_evictions_counted() -> None:
    watch = HeatWatch()
    watch.worked(OwnerId("first"), [400.0])
    watch.worked(OwnerId("second"), [300.0])
    for n in range(OWNERS - 1):
        watch.worked(OwnerId(f"o{n}"), [1.0])
    assert watch.sample().hottest == 300.0
    watch.worked(OwnerId("second"), [200.0])
    watch.worked(OwnerId("one more"), [1.0])
    sample = watch.sample()
    assert (sample.owners, sample.hottest) == (OWNERS, 200.0)

    analysed, gone = Analysed(page_id=PageId("p1"), upto_seq=2), Evicted(segment_id=SegmentId("s1-00"))
    watch = HeatWatch()
    assert watch.sample().evictions == {"eviction": 0, "retention": 0}
    watch.applied(Cause.PROMOTION, [analysed, analysed])
    watch.applied(Cause.PROMOTION, [])
    watch.applied(Cause.CONSOLIDATION, [])
    watch.applied(Cause.EVICTION, [gone])
    watch.applied(Cause.RETENTION, [gone, gone])
    watch.worked(OwnerId("o"), [])
    watch.forgotten(OwnerId("o"))
    sample = watch.sample()
    assert (sample.owners, sample.promotions) == (0, 1)
    assert sample.evictions == {"eviction": 1, "retention": 2}


def test_many_threads_lose_no_count() -> None:
    watch = HeatWatch()

    def work(n: int) -> None:
        for _ in range(200):
            watch.applied(Cause.PROMOTION, [Analysed(page_id=PageId("p1"), upto_seq=2)])
            watch.worked(OwnerId(f"o{n}"), [float(n)])
            watch.sample()

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sample = watch.sample()
    assert (sample.promotions, sample.owners, sample.segments, sample.hottest) == (800, 4, 4, 3.0)
