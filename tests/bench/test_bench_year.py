"""The bundled year of talk: what it is made of, how answers are judged, and that its past is answered right."""

from __future__ import annotations

import json
from collections import Counter
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from running import run as run_command

from embermem import Memory
from embermem.core.errors import EmberError
from embermem.languages.words import unspaced
from embermem.testing.model_server import ModelServer
from embermem_bench import year
from embermem_bench.scripted import year as good_model
from embermem_bench.year import Exchange, Forget, Meant, Question, judged

STEPS = year.script()
SAID = [step for step in STEPS if isinstance(step, Exchange)]
ASKING = year.questions()


def asked(**expected: object) -> Question:
    return Question(id="q", kind="now", question="Where?", read="facts", **expected)  # type: ignore[arg-type]


def test_the_year_goes_forward_over_two_zones_is_forgotten_in_part_and_is_asked_about_in_every_way() -> None:
    assert all(a.at <= b.at for a, b in pairwise(STEPS))
    assert 120 <= len(SAID) <= 160
    assert len({one.thread for one in SAID}) >= 40
    assert SAID[-1].at - SAID[0].at > timedelta(days=330)
    assert {one.at.utcoffset() for one in SAID} == {timedelta(hours=h) for h in (0, 1, 2)}
    assert 0.10 <= sum(unspaced(one.query) > 0 for one in SAID) / len(SAID) <= 0.16
    assert len({one.id for one in SAID}) == len(SAID)

    gone = {exchange for step in STEPS if isinstance(step, Forget) for exchange in step.forget}
    for text in ASKING.forgotten:
        assert {one.id for one in SAID if text in one.query + one.response} <= gone
    assert all(any(text in one.query for one in SAID) for text in ASKING.forgotten)

    assert len({one.id for one in ASKING.questions}) == len(ASKING.questions) >= 60
    needs = Counter(one.needs for one in ASKING.questions)
    assert needs[year.EXTRACTIVE] > 4 * needs[year.MODEL] > 0
    moments = Counter((one.as_of is not None, one.valid_at is not None) for one in ASKING.questions)
    assert all(count >= 4 for count in moments.values())
    assert len(moments) == 4
    assert {"recall", "facts", "profile", "traits", "segments", "conflicts"} <= {one.read for one in ASKING.questions}


def test_an_answer_is_wrong_by_what_it_lacks_and_by_what_it_may_not_say() -> None:
    question = asked(has=("Porto",), has_not=("Odense",), lines=1)
    assert judged(question, ["user: lives in PORTO"]) == ()
    assert judged(question, []) == ("lacks 'Porto'", "0 lines, not 1")
    assert judged(question, ["Porto, before Odense"]) == ("says 'Odense'",)
    assert judged(asked(lines=1), ["Lane 5"], ["Lane 5"]) == ("says the forgotten 'Lane 5'",)


@given(st.lists(st.text(min_size=1), max_size=5), st.lists(st.text(), max_size=5))
def test_an_answer_of_all_that_is_wanted_lacks_nothing_and_says_whatever_it_may_not(
    words: list[str], more: list[str]
) -> None:
    answer = [*words, *more]
    assert judged(asked(has=tuple(words)), answer) == ()
    assert len(judged(asked(has_not=tuple(words)), answer)) == len(words)


def test_a_script_that_acts_on_a_fact_which_is_not_there_fails(tmp_path: Path) -> None:
    clock = year.Clock(SAID[0].at)
    pin = year.Pin(at=SAID[0].at, pin=Meant(person="user", attribute="lives_in"))
    with (
        Memory(tmp_path / "year.db", clock=clock, embedder="hashed", background=False, model="") as memory,
        pytest.raises(EmberError, match="0 facts where the script means one"),
    ):
        year.play(memory, clock, [SAID[0], pin])


@pytest.mark.proof
def test_without_a_model_all_that_needs_none_is_answered_right(tmp_path: Path) -> None:
    done = run_command(tmp_path / "none.db", "bench", "year", "--embedder", "hashed", "--json")
    told = json.loads(done.out)
    assert told["failed"] == []
    assert (told["analyst"], told["pages"], told["left_in_files"]) == ("extractive", len(SAID), [])
    assert told["questions"] + told["left_out"] == len(ASKING.questions)
    assert told["by_needs"].keys() == {"extractive"}
    assert (told["moments"], told["moments_unlike"], told["unsound"]) == (12, [], [])
    assert done.code == 0


@pytest.mark.proof
def test_with_a_good_model_everything_is_answered_right(tmp_path: Path) -> None:
    with ModelServer(good_model.answer) as server:
        report = year.run(
            tmp_path, model="scripted", embedder="hashed", model_url=server.url, model_key="none", model_cache=""
        )
        assert server.calls > len(SAID) / 4
    assert report.failed == ()
    assert report.good
    assert (report.analyst, report.left_out, report.left_in_files) == ("model", 0, ())
    assert (report.moments, report.moments_unlike, report.unsound) == (12, (), ())
