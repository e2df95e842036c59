"""The learned ranker: trees of our own making over the channels of small memories, and the weights that are shipped."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from talking import Line
from test_late_interaction import DEFAULT, TALK, asked, memory

from embermem.core.errors import ConfigError
from embermem.index.fusion import EVIDENCE_NAMES, fuse, said_of
from embermem.index.query_context import View
from embermem.index.ranker import RISING, SHIPPED, Ranker, features, ranker_of
from embermem.index.tokens import counter
from embermem.memoryos.recall.retrieval import Ranking, rank, recall

LINES = [*TALK, Line("a bird in the reeds", thread="x"), Line("the heron again, at length", thread="y")]
LINEAR = replace(DEFAULT, ranker="none")
SHORT = Ranker(
    names=("length", "number"),
    feature=np.array([[0, 1, 1], [0, 0, 0]]),
    threshold=np.array([[3.0, 0.5, 0.5], [9.0, 9.0, 9.0]], dtype=np.float32),
    value=np.array([[1.0, 2.0, -1.0, -2.0], [0.25, 0.25, 0.25, 0.25]], dtype=np.float32),
)


def ranked_by(ranker: Ranker, folder: Path, question: str = "Where was the heron?") -> Ranking:
    path = folder / "trees.npz"
    ranker.write(path)
    return rank(memory(LINES), asked(question), replace(DEFAULT, ranker=str(path)))


def test_each_tree_is_followed_to_the_leaf_of_its_features() -> None:
    x = np.array([[2.0, 0.0], [3.0, 1.0], [3.1, 0.0], [8.0, 1.0]], dtype=np.float32)
    assert SHORT.scores(x).tolist() == [1.25, 2.25, -0.75, -1.75]


def test_weights_that_are_read_again_are_the_same_and_a_file_without_any_is_refused(tmp_path: Path) -> None:
    one, other = tmp_path / "one.npz", tmp_path / "other.npz"
    SHORT.write(one)
    Ranker.read(one).write(other)
    assert one.read_bytes() == other.read_bytes()
    assert Ranker.read(one).names == SHORT.names

    path = tmp_path / "no.npz"
    with pytest.raises(ConfigError, match=r"no\.npz"):
        ranker_of(str(path))
    path.write_text("nothing of the kind")
    with pytest.raises(ConfigError, match="fit_ranker"):
        ranker_of(str(path))


def test_the_correction_is_a_channel_that_moves_evidence_between_rows_and_adds_none(tmp_path: Path) -> None:
    for hit in ranked_by(SHORT, tmp_path).hits:
        total = sum(share.weight * share.normalised for share in hit.channels.values())
        assert hit.score == pytest.approx(total)
        assert "ranker" in hit.channels

    by_trees, linear = ranked_by(SHORT, tmp_path), rank(memory(LINES), asked("Where was the heron?"), LINEAR)
    assert by_trees.likely == pytest.approx(linear.likely)
    assert [hit.utterance.text for hit in by_trees.hits] != [hit.utterance.text for hit in linear.hits]

    by_words = rank(memory(LINES), asked("the heron"), LINEAR).hits
    scores = {hit.utterance.id: hit.score - hit.channels["told"].raw for hit in by_words}
    for hit in ranked_by(SHORT, tmp_path, "the heron").hits:
        told = hit.channels["told"].raw
        assert hit.score - told - hit.channels["ranker"].raw == pytest.approx(scores[hit.utterance.id])


def test_where_the_trees_cannot_serve_the_linear_fusion_does(tmp_path: Path) -> None:
    context = recall(memory(LINES), replace(asked("Where was the heron?"), budget=200), LINEAR, counter("words"))
    assert "ranker" not in context.hits[0].channels

    of_a_pair = replace(SHORT, names=("length", "sense-raw"))
    assert "ranker" not in ranked_by(of_a_pair, tmp_path).hits[0].channels

    (folder := tmp_path / "words").mkdir()
    by_words = replace(SHORT, names=("length", "word-gap"))
    assert "ranker" in ranked_by(by_words, folder).hits[0].channels
    assert "ranker" not in ranked_by(by_words, folder, "the ?").hits[0].channels

    view = View(memory(LINES), asked("the heron"), replace(LINEAR, recall_dense=0.0, recall_segment=0.0))
    fused = fuse(view)
    raw, normal = dict(zip(fused.names, fused.raw, strict=True)), dict(zip(fused.names, fused.normalised, strict=True))
    said = said_of(view, raw, normal)
    assert not said.evidence["dense"].any()
    assert not said.raw["dense"].any()
    assert not said.priors["segment"].any()
    assert said.evidence["words"].any()


def test_every_feature_is_a_finite_number_for_each_row() -> None:
    view = View(memory(LINES), asked("How many herons did Meadow see in May?"), LINEAR)
    fused = fuse(view)
    raw, normal = dict(zip(fused.names, fused.raw, strict=True)), dict(zip(fused.names, fused.normalised, strict=True))
    found = features(view, fused.scores, said_of(view, raw, normal))
    assert all(np.isfinite(values).all() for values in found.values())
    assert {np.shape(values) for values in found.values()} <= {(), (len(view.pool),)}
    assert set(EVIDENCE_NAMES) <= found.keys()


@pytest.mark.skipif(not SHIPPED.is_file(), reason="no weights are shipped")
def test_more_evidence_never_lowers_a_score_of_the_shipped_trees() -> None:
    ranker = Ranker.read(SHIPPED)
    generator = np.random.default_rng(0)
    x = generator.normal(size=(200, len(ranker.names))).astype(np.float32)
    rising = [
        place
        for place, name in enumerate(ranker.names)
        if name in EVIDENCE_NAMES or any(name.startswith(part) or name.endswith(part) for part in RISING)
    ]
    assert rising
    for place in rising:
        more = x.copy()
        more[:, place] += generator.exponential(size=len(x)).astype(np.float32)
        assert (ranker.scores(more) >= ranker.scores(x) - 1e-5).all()
    assert SHIPPED.stat().st_size < 300_000
