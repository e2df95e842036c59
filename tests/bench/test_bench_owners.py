"""`embermem bench owners`: the simulation obeys what is known of queues and caches; figures are of a real store."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from running import run as run_command

from embermem.core.errors import ConfigError
from embermem_bench import places
from embermem_bench.owners.load import Load, Queue, arrivals, hit_rate, popularity, recalls, served
from embermem_bench.owners.run import Plan
from embermem_bench.owners.unit import Memories, Prices, Units, cost_of, real_hit_rate
from proofs import bounded

LOAD = Load(owners=2000, pages_a_day=100.0, hours=2.0)
ONE_A_TURN = Queue(workers=1, turn_s=0.0, page_s=1.0, slice_pages=32)


def test_owners_are_popular_by_rank_and_pages_come_in_sittings_by_the_curve_of_the_day() -> None:
    shares = popularity(LOAD)
    assert shares.sum() == pytest.approx(1.0)
    assert np.all(np.diff(shares) <= 0)
    assert shares[0] <= 1.1 * LOAD.most / LOAD.owners
    assert shares[200] / shares[1600] == pytest.approx((1601 / 201) ** 0.7)

    at, whose = arrivals(LOAD, popularity(LOAD))
    mean = LOAD.pages_per_s * LOAD.hours * 3600
    assert 1.4 * mean < len(at) < 1.8 * mean  # near the peak, less the ends of sittings that are cut off
    assert np.all(np.diff(at) >= 0)
    assert 0 <= at.min() < at.max() < LOAD.hours * 3600
    again = np.mean(whose[1:200] == whose[:199])
    assert again < 0.2  # sittings of many owners are interleaved

    day = Load(owners=500, pages_a_day=200.0, hours=24.0)
    spoken, _ = arrivals(day, popularity(day))
    parts = np.histogram(spoken, bins=4)[0]
    assert min(parts[1:3]) > 2 * max(parts[0], parts[3])


def test_one_worker_takes_turns_and_slices_keep_a_noisy_owner_from_holding_up_the_others() -> None:
    at, whose = np.array([0.0, 0.5, 0.6, 5.0]), np.array([1, 2, 1, 3])
    waits = served(at, whose, ONE_A_TURN)
    # Owner 1 at once; 2 after a second; the second page of 1 is due when its first turn ends, and waits for 2.
    assert (waits.turns, waits.longest_s, waits.most_waiting) == (4, 1.0, 2)
    assert waits.busy == pytest.approx(4 / 6, abs=1e-3)

    at, whose = np.arange(0.0, 400.0, 4.0), np.arange(100)
    queue = Queue(workers=1, turn_s=0.0, page_s=0.5, slice_pages=4)
    whole = served(at, whose, Queue(workers=1, turn_s=0.0, page_s=0.5, slice_pages=0), noisy_pages=100)
    assert served(at, whose, queue, noisy_pages=100).longest_s <= 2.5
    assert whole.longest_s > 40


@given(st.lists(st.tuples(st.floats(0, 100), st.integers(0, 5)), max_size=40), st.integers(1, 3), st.integers(0, 4))
def test_every_page_is_served_once_and_more_workers_wait_no_longer(
    pages: list[tuple[float, int]], workers: int, slice_pages: int
) -> None:
    pages.sort()
    at, whose = np.array([one for one, _ in pages]), np.array([one for _, one in pages], dtype=np.int64)
    queue = Queue(workers=workers, turn_s=0.0, page_s=1.0, slice_pages=slice_pages)
    waits = served(at, whose, queue)
    assert waits.turns <= len(pages)
    enough = served(at, whose, Queue(workers=8, turn_s=0.0, page_s=1.0, slice_pages=slice_pages))
    assert enough.longest_s == 0.0 or workers >= 8  # as many workers as owners: nobody waits


def test_the_least_recently_used_leave_a_full_memory_and_sittings_are_found_in_it_more_often() -> None:
    asked = [1, 2, 1, 3, 1, 2]
    assert hit_rate(asked, 2, 1, after=0) == pytest.approx(2 / 6)
    assert hit_rate(asked, 2, {1: 1, 2: 1, 3: 2}, after=0) == pytest.approx(1 / 6)
    assert hit_rate(asked, 3, 1, after=3) == pytest.approx(2 / 3)

    load = Load(owners=2000, recalls_a_day=50.0)
    shares = popularity(load)
    sittings, chance = (recalls(load, shares, 4000, sittings=one) for one in (True, False))
    assert hit_rate(sittings, 100, 1, after=2000) > 2 * hit_rate(chance, 100, 1, after=2000)


@pytest.mark.proof
def test_the_simulated_memory_is_as_good_as_the_real_working_set(tmp_path: Path) -> None:
    measured, simulated = real_hit_rate(places.file(tmp_path), bounded(20, proofs=40), 160, 0.3, lambda what: None)
    assert 0 < measured < 1
    assert measured == pytest.approx(simulated, abs=0.05)


def test_the_cost_of_an_owner_is_the_sum_of_its_parts() -> None:
    units = Units(
        engine="sqlite",
        embedder="hashed",
        pages=1,
        page_s=0.036,
        server_page_s=0.0,
        turn_s=0.0,
        warm_s=0.0,
        cold_s=0.0,
        disk_bytes=1000,
        resident_bytes=500,
    )
    memory = Memories(resident_share=0.1, hit_rate=1.0, any_server=1.0, by_chance=1.0, servers=1)
    load, prices = Load(owners=1_000_000, pages_a_day=10.0), Prices(kept_days=100.0, copies=1, busy=1.0)
    cost = cost_of(load, units, memory, prices)
    assert cost.cpu == pytest.approx(1000 * 30 * 10 * 0.036 / 3600 * 0.04)
    assert cost.disk == pytest.approx(1000 * 1000 * 1000 / 1e9 * 0.10)
    assert cost.memory == pytest.approx(0.1 * 1000 * 1000 * 500 / 1e9 * 3.0)
    assert cost.total == pytest.approx(cost.cpu + cost.disk + cost.memory)
    assert (cost.vcpus, cost.disk_tb, cost.memory_gb) == (4.2, 1.0, 50.0)


def test_a_part_or_a_number_of_whole_owners_that_there_is_not_is_refused() -> None:
    with pytest.raises(ConfigError, match="no part rest"):
        Plan(parts=("rest",))
    with pytest.raises(ConfigError, match="--whole"):
        Plan(load=Load(owners=100), whole=100)


def test_all_parts_are_measured_on_a_file_and_told_as_json(tmp_path: Path) -> None:
    few = "--owners 60 --whole 2 --turns 4 --real-owners 2 --unit-pages 2 --asks 50 --hours 0.02".split()
    quick = bounded(True, proofs=False)
    few += ["--part", "rows"] if quick else []
    done = run_command(tmp_path / "none.db", "bench", "owners", *few, "--embedder", "hashed", "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert (told["filled"][0]["owners"], told["filled"][0]["whole"]) == (60, 3)
    assert [point["by_index"] for point in told["due"]["sqlite"]] == [True] * 3
    asked = {one["what"]: one["gave"] for one in told["questions"]["sqlite"]}
    assert (asked["stats()"], asked["owners()"], asked["find_owners(), size"]) == ("60 owners", "60", "50 owners")
    if quick:
        return
    assert told["units"]["page_s"] > 0
    assert len(told["workers"]) >= 3
    assert told["costs"][0]["total"] > 0
