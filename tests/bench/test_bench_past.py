"""`embermem bench past`: its figures, and the talk that it is measured on."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest
from running import run as run_command

from embermem_bench.past import SHARES, PastReport, run, talk
from proofs import bounded

PAGES = bounded(12, proofs=60)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> PastReport:
    return run(tmp_path_factory.mktemp("past"), pages=PAGES, samples=bounded(1, proofs=2), facts_when="read")


def test_the_talk_is_the_same_for_a_seed_and_tells_what_changes() -> None:
    said = [list(islice(talk(seed), 30)) for seed in (0, 0, 1)]
    assert said[0] == said[1] != said[2]
    assert len({one.query for one in said[0]}) == 30
    assert any("I live in" in one.query for one in said[0])


@pytest.mark.proof
def test_every_read_and_what_changed_is_measured_now_and_then(report: PastReport) -> None:
    assert [read.name for read in report.reads] == list(SHARES)
    for read in report.reads:
        assert min(read.now_ms, read.as_of_ms, read.again_ms, read.valid_at_ms) > 0
        assert read.as_of_ratio == pytest.approx(read.as_of_ms / read.now_ms, abs=0.05 + 0.01 / read.now_ms)

    assert (report.pages, report.utterances) == (PAGES, 2 * PAGES)
    assert min(report.changes, report.facts, report.past_facts) > 0
    assert min(report.why_ms, report.undo_ms, report.forget_ms, report.scrub_ms, report.first_as_of_ms) > 0
    assert report.resident_bytes[0] < report.resident_bytes[1]
    assert set(report.table_bytes_a_page) in (set(), {"utterances", "changes"})
    assert sum(report.table_bytes_a_page.values()) < report.bytes_a_page


@pytest.mark.proof
def test_the_command_prints_a_table_or_json(tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    shown = run_command(store, "bench", "past", "--pages", "100", "--samples", "1")
    assert "forget a page" in shown.out
    told = run_command(store, "bench", "past", "--pages", "100", "--samples", "1", "--json")
    assert told.json["pages"] == 100
