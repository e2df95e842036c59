"""Whatever a file holds, it is a data set or an InputError."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small import locomo, recall_set
from test_dataset_gvd import ASKED, bank
from test_dataset_locomo import difficult
from test_dataset_longmemeval import abstention, instance

from embermem.core.errors import InputError
from embermem_bench.datasets import Dataset, load, parse
from proofs import bounded

WHOLE = [recall_set(), locomo(), [difficult()], [instance(), abstention()]]
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([10**400, -(10**4000)])
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["\x00", "\ud800", "D1:1", "session_1", "2024-05-01", "1:56 pm on 8 May, 2023", "user", "5"])
)
NAMES = st.sampled_from(
    "conversations conversation threads turns questions qa id at text session_1 session_1_date_time speaker dia_id "
    "evidence haystack_sessions haystack_dates history query observation session_1_observation category".split()
)
MISSING = object()
"""In place of a value: its key goes too."""
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES | st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)


def read(document: object) -> Dataset | None:
    """The data set, or None where it is refused."""
    wrong = "here"
    try:
        return parse(document, "name", "here")
    except InputError as error:
        wrong = str(error)
    assert wrong.startswith("here")
    return None


@settings(deadline=None)
@given(JSON | st.dictionaries(NAMES, JSON, max_size=4) | st.lists(st.dictionaries(NAMES, JSON, max_size=4), max_size=2))
def test_any_json_is_a_data_set_or_an_input_error(document: object) -> None:
    read(document)


def places(value: object, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, one in inner for found in places(one, (*path, key)))]


@settings(max_examples=bounded(100, proofs=3000), deadline=None)
@given(data=st.data(), whole=st.sampled_from(WHOLE), wrong=JSON | st.just(MISSING))
def test_a_good_file_with_anything_in_any_place_is_a_data_set_or_an_input_error(
    data: st.DataObject, whole: object, wrong: object
) -> None:
    document = changed(whole, data.draw(st.sampled_from(places(whole)[1:])), wrong)
    if (made := read(document)) is not None:
        for conversation in made.conversations:
            known = {turn.id for _, turn in conversation.turns()}
            assert len(known) == sum(1 for _ in conversation.turns())
            for question in conversation.questions:
                assert question.evidence <= known
                assert question.answerable or question.answer is None


def changed(whole: object, path: tuple[Any, ...], value: object) -> object:
    """A copy of the document with another value at one place."""
    document: Any = copy.deepcopy(whole)
    inner = document
    for step in path[:-1]:
        inner = inner[step]
    if value is MISSING:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return document


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("gvd")


@settings(max_examples=bounded(40, proofs=1000), deadline=None)
@given(data=st.data(), wrong=JSON | st.just(MISSING))
def test_a_bank_with_anything_in_any_place_is_a_data_set_or_an_input_error(
    folder: Path, data: st.DataObject, wrong: object
) -> None:
    talk = changed(bank(), data.draw(st.sampled_from(places(bank())[1:])), wrong)
    asked = changed(ASKED, data.draw(st.sampled_from(places(ASKED)[1:])), data.draw(JSON))
    assert isinstance(asked, list)
    (folder / "memory_bank.json").write_text(json.dumps(talk))
    (folder / "probing_questions.jsonl").write_text("\n".join(map(json.dumps, asked)))
    wrong = str(folder)
    try:
        load(folder)
    except InputError as error:
        wrong = str(error)
    assert str(folder) in wrong


@settings(max_examples=bounded(40, proofs=1000), deadline=None)
@given(raw=st.binary(max_size=40) | st.text(max_size=40).map(lambda text: text.encode("utf-8", "replace")))
def test_any_bytes_are_a_data_set_or_an_input_error(folder: Path, raw: bytes) -> None:
    path = folder / "x.json"
    path.write_bytes(raw)
    with pytest.raises(InputError, match=r"x\.json"):
        load(path)
