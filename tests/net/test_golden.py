"""What the code of now answers is what is kept (docs/reference/testing.md).

Every number is compared to 6 digits (`net.plain.EXACT`), since processors add up a product in different orders. All
else is exact.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from embermem.testing.answers import answer
from embermem.testing.model_server import ModelServer
from net import outputs, stores
from net.golden import GOLDEN, OUTPUTS, compare, golden
from net.plain import EXACT, differences
from proofs import bounded


@pytest.fixture(scope="module")
def model_url() -> Iterator[str]:
    """A model that answers by rule."""
    with ModelServer(answer) as server:
        yield server.url


@pytest.mark.parametrize(
    "name",
    bounded(
        ("recalled-default", "recalled-paper", "lived-default", "lived-paper"),
        proofs=[name for name in OUTPUTS if not name.startswith("store-")],
    ),
)
def test_the_answers_are_those_that_are_kept(name: str, tmp_path: Path, model_url: str) -> None:
    compare(name, OUTPUTS[name](tmp_path, model_url))


@pytest.mark.postgresql
def test_the_same_store_on_a_server_gives_the_same_answers(tmp_path: Path, server_folder: Path) -> None:
    with (
        stores.thawed_on_a_server(tmp_path, server_folder) as (url, key_file),
        stores.opened(url, forgotten_key_file=str(key_file)) as memory,
    ):
        compare("recalled-default", outputs.recalled(memory))
        compare("recalled-paper", outputs.recalled(memory, "paper"))


def test_every_golden_file_is_compared_and_names_no_machine() -> None:
    assert {file.stem for file in GOLDEN.glob("*.json")} == set(OUTPUTS)

    for file in GOLDEN.glob("*.json"):
        text = file.read_text(encoding="utf-8")
        assert not [word for word in ("/tmp", "/home", "/work", "127.0.0.1", "embermem.") if word in text], file.name
        assert golden(file.stem)


# --------------------------------------------------------------------------------------------- the comparison itself


def test_a_difference_names_its_place_and_both_values_and_numbers_may_differ_by_the_tolerance() -> None:
    kept: dict[str, Any] = {
        "facts": [{"id": "f1", "score": 0.5}, {"id": "f2", "score": 0.25}],
        "text": "one\ntwo\nthree",
    }
    found = copy.deepcopy(kept)
    assert differences(kept, found) == []
    found["facts"][1]["score"] = -0.25
    found["text"] = "one\n2\nthree"
    score, text = differences(kept, found)
    assert score == "facts[1].score: expected 0.25, found -0.25"
    assert "-two" in text
    assert "+2" in text

    for tolerance, same, other in ((EXACT, 1e-6, 4e-6), (1e-3, 0.9e-3, 3e-3)):
        assert differences([0.5], [0.5 + same], tolerance) == []
        assert len(differences([0.5], [0.5 + other], tolerance)) == 1

    assert len(differences({"n": 1000}, {"n": 1001}, 1e-3)) == 1
    assert len(differences({"n": True}, {"n": 1})) == 1
    assert len(differences({"a": 1}, {"b": 1})) == 2
    assert len(differences(["a", "b"], ["a"])) == 2
    assert len(differences({"text": "score 0.5000"}, {"text": "score 0.5001"})) == 1

    assert differences({"explain": "score 0.5000"}, {"explain": "score 0.5001"}) == []
    assert len(differences({"explain": "score 0.5000"}, {"explain": "score 0.5003"})) == 1
    assert len(differences({"explain": "score 0.5000"}, {"explain": "rank 0.5000"})) == 1
