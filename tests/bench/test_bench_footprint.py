"""`embermem bench footprint`: two versions in turn, the vectors that large stores are filled with, and its table."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from running import run as run_command
from small import locomo

import embermem
from embermem.core.errors import ConfigError
from embermem.protocols import TokenEmbedder
from embermem_bench.footprint import (
    AFTER,
    BEFORE,
    PARTS,
    QUICK,
    Figure,
    FootprintReport,
    Plan,
    markdown,
    run,
    this_version,
    version_of,
)
from embermem_bench.footprint_worker import Drawn

SOURCE = Path(embermem.__file__).parents[1]


@pytest.mark.proof
def test_a_store_is_measured_on_disk_and_in_memory_and_used_again(tmp_path: Path) -> None:
    plan = Plan(**{**QUICK, "parts": ("bytes",), "embedder": "hashed"})
    report = run(tmp_path, plan)
    figures = {figure.name: figure for figure in report.figures}
    assert list(report.versions) == [AFTER]
    assert figures["on disk, the store"].values[AFTER] > 1000
    assert figures["in memory, by its own estimate"].values[AFTER] > 100
    (filled,) = report.filled.values()
    assert filled[AFTER]["utterances"] == 60  # those of `warm` too
    assert json.loads(json.dumps(report.as_json()))["figures"][0]["unit"] == "bytes each"
    (told,) = tmp_path.glob("*/*.json")
    before = told.stat().st_mtime_ns
    assert run(tmp_path, plan).filled == report.filled
    assert told.stat().st_mtime_ns == before


@pytest.mark.proof
def test_everything_is_measured_of_both_versions(tmp_path: Path) -> None:
    file = tmp_path / "ours.json"
    file.write_text(json.dumps(locomo()), encoding="utf-8")
    done = run_command(
        tmp_path / "none.db",
        *("bench", "footprint", "--quick", "--embedder", "hashed", "--json"),
        *("--against", str(SOURCE), "--corpus", f"ours={file}", "--folder", str(tmp_path / "stores")),
    )
    assert done.code == 0, done.err
    assert list(done.json["versions"]) == [BEFORE, AFTER]
    groups = {figure["group"] for figure in done.json["figures"]}
    assert {"add", "settle", "command line, from cold", "one page of 20", "40 utterances of one owner"} <= groups
    assert any(group.startswith("ours: 25 utterances") for group in groups)
    for figure in done.json["figures"]:
        assert {BEFORE, AFTER} <= figure.keys(), figure
        if figure["unit"] == "ms":
            assert figure[BEFORE] > 0.0
    assert not list((tmp_path / "stores").glob("scratch-*"))


@pytest.mark.proof
def test_a_part_that_fails_is_told_and_the_others_are_measured(tmp_path: Path) -> None:
    (tmp_path / "broken" / "embermem").mkdir(parents=True)
    (tmp_path / "broken" / "embermem" / "__init__.py").write_text("raise RuntimeError('out of tune')\n")
    plan = Plan(**{**QUICK, "parts": ("settle",), "embedder": "hashed"})
    report = run(tmp_path, plan, against=version_of(BEFORE, str(tmp_path / "broken")))
    assert report.figures == ()
    assert report.failed
    assert "out of tune" in report.notes[0]


def test_drawn_vectors_have_the_form_of_e5_and_are_the_same_everywhere() -> None:
    embedder, texts = Drawn(), ["The heron came back to the marsh.", "A kettle is on the stove.", ""]
    assert isinstance(embedder, TokenEmbedder)
    vectors, tokens = embedder.embed_tokens(texts)
    assert vectors.shape == (3, 384)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert np.array_equal(vectors, Drawn().embed(texts))
    assert [len(one.words) for one in tokens] == [7, 6, 0]
    for one in tokens:
        assert one.vectors.shape == (len(one.words), 128)
        assert np.allclose(np.linalg.norm(one.vectors, axis=1), 1.0, atol=1e-5)


def test_a_version_is_a_checkout_or_the_folders_of_a_pythonpath() -> None:
    assert version_of(BEFORE, str(SOURCE)).source == SOURCE / "embermem" == this_version().source
    if SOURCE.name == "src":
        assert version_of(BEFORE, str(SOURCE.parent)).paths == (SOURCE,)
    with pytest.raises(ConfigError, match="has no package embermem: name a checkout"):
        version_of(BEFORE, "/nowhere")
    with pytest.raises(ConfigError, match="no part luck; one of: bytes"):
        Plan(parts=("luck",))


def test_the_table_has_both_versions_and_their_ratios(tmp_path: Path) -> None:
    report = FootprintReport(
        versions={BEFORE: "abc", AFTER: "def"},
        machine="two cores",
        embedder="hashed",
        figures=(
            Figure(group="disk", name="the store", unit="bytes each", values={BEFORE: 8000, AFTER: 2000}),
            Figure(
                group="wake", name="open", unit="ms", values={BEFORE: 40.0, AFTER: 10.0}, cpu={BEFORE: 20, AFTER: 8}
            ),
        ),
        filled={},
        notes=("A note.",),
        failed=False,
        seconds=3.0,
    )
    assert markdown(report).splitlines() == [
        "**disk**",
        "",
        "|  | before | after | ratio | ratio of processor time |",
        "| --- | --: | --: | --: | --: |",
        "| the store, bytes each | 8,000 | 2,000 | 0.25 |  |",
        "",
        "**wake**",
        "",
        "|  | before | after | ratio | ratio of processor time |",
        "| --- | --: | --: | --: | --: |",
        "| open, ms | 40 | 10 | 0.25 | 0.40 |",
        "",
        "two cores; before abc, after def; embedder hashed; 3 s.",
        "A note.",
    ]

    shown = run_command(tmp_path / "none.db", "bench", "footprint", "--help")
    assert all(part in shown.out for part in PARTS)
