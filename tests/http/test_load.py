"""Many clients on one real server: no error, nothing lost, nothing doubled; and the same while it is killed."""

from __future__ import annotations

from pathlib import Path

import pytest

from embermem_bench import load
from proofs import bounded

QUICK = {"EMBERMEM_EMBEDDER": "hashed"}


@pytest.mark.proof
def test_clients_that_add_and_recall_at_once_see_no_error_and_lose_no_page(tmp_path: Path) -> None:
    report = load.run(tmp_path, clients=12, seconds=6, environment=QUICK)
    assert report.adds > 0
    assert report.recalls > 0
    assert (report.refused, report.broken, report.lost, report.doubled) == ({}, 0, 0, 0)


@pytest.mark.proof
def test_a_server_killed_under_load_has_every_acknowledged_page_once_when_it_is_back(tmp_path: Path) -> None:
    kills = bounded(1, proofs=2)
    report = load.run(
        tmp_path, clients=bounded(4, proofs=8), seconds=bounded(10, proofs=12), kills=kills, environment=QUICK
    )
    assert report.kills == kills
    assert report.adds > 0
    assert report.recalls > 0
    assert (report.refused, report.lost, report.doubled) == ({}, 0, 0)
