"""The runner on real systems and a scripted model over HTTP: it finds the same however often it is ended."""

from __future__ import annotations

import contextlib
import json
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from running import command, environment
from running import run as cli
from small import locomo, recall_set

from embermem import bootstrap
from embermem.core import config
from embermem.core.errors import BudgetSpent, ConfigError, InputError, ModelMissing, ModelUnreachable
from embermem.protocols import LanguageModel
from embermem.testing.model_server import ModelServer
from embermem_bench import report, results, scripted, workspace
from embermem_bench.results import Ingest, Result, Results
from embermem_bench.running import Left, Plan, SystemSpec, calls_file, estimate, run
from embermem_bench.systems import SYSTEMS
from proofs import bounded

QUICK: dict[str, Any] = {"embedder": "hashed", "short_term_pages": 2, "model_retries": 0}
"""MemoryOS asks its model of pages that left short-term memory; here the third one does."""
TRAP = "A purple accordion from Gdansk"
ECHOES = "echoes:Echoes"


def talk() -> dict[str, Any]:
    """One person, two threads of six exchanges, questions with gold answers, one that has none, one in mid-talk."""
    said = [
        ("I moved to Ghent in spring.", "A fine city."),
        ("My name is Ines.", "Hello Ines."),
        ("The harp stands in the attic now.", "Is it in tune?"),
        ("I sold the blue bicycle to Tomas.", "For how much?"),
        ("We baked rye bread on Sunday.", "With seeds?"),
        ("Our cat had four kittens.", "Congratulations."),
    ]

    def thread(name: str, day: str) -> dict[str, Any]:
        turns = [
            {
                "id": f"{name}:{n}.{side}",
                "speaker": speaker,
                "role": role,
                "at": f"2026-03-{day}T10:0{n}:00",
                "text": text,
            }
            for n, pair in enumerate(said)
            for side, (speaker, role, text) in enumerate(
                zip(("Ines", "Ember"), ("user", "assistant"), pair, strict=True)
            )
        ]
        for turn in turns:
            turn["text"] += f" ({name})"
        return {"id": name, "at": f"2026-03-{day}", "turns": turns}

    questions = [
        {"id": "q1", "text": "Where does Ines live?", "category": "place", "evidence": ["one:0.0"], "answer": "Ghent"},
        {"id": "q2", "text": "Who bought the bicycle?", "category": "who", "evidence": ["one:3.0"], "answer": "Tomas"},
        {"id": "q3", "text": "What is the dog called?", "category": "none", "answerable": False},
        {
            "id": "q4",
            "text": "Where is the harp?",
            "category": "place",
            "after_turn": "two:2.0",
            "evidence": ["one:2.0"],
        },
    ]
    return {
        "name": "talk",
        "licence": "ours",
        "conversations": [
            {"id": "ines", "threads": [thread("one", "01"), thread("two", "02")], "questions": questions}
        ],
    }


def trapped() -> list[dict[str, Any]]:
    """LoCoMo's form, with gold answers, and a trap in its fifth category."""
    document = locomo()
    for question, answer in zip(document[0]["qa"], ["Kit", "lessons, a photo", "31 May 2023", "x", "y"], strict=False):
        question["answer"] = answer
    document[0]["qa"][-1] |= {"question": "What did Vera play on?", "adversarial_answer": TRAP}
    return document


def answering(request: Mapping[str, Any]) -> str | dict[str, Any]:
    """The scripted answers, and an echo."""
    form = request.get("response_format") or {}
    if (form.get("json_schema") or {}).get("name") == "Echo":
        return {"echo": request["messages"][0]["content"].removeprefix("Echo this: ")}
    return scripted.answer(request)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(answering) as one:
        yield one


@pytest.fixture
def model(server: ModelServer) -> LanguageModel:
    return model_of(server)


def model_of(server: ModelServer) -> LanguageModel:
    made = bootstrap.make_model(None, config.load(model="scripted", model_url=server.url, model_key="none"))
    assert made is not None
    return made


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write(tmp_path / "talk.json", talk())


def write(path: Path, document: object) -> Path:
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def plan(data: Path, *systems: str, **more: Any) -> Plan:
    named = systems or ("memoryos", "full_context")
    return Plan(data=(data,), systems=tuple(map(SystemSpec.parse, named)), **more)


def found(folder: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """What a run found, but for the times."""
    whole = results.load(folder)
    return [timeless(one) for one in whole.ingested], [timeless(one) for one in whole.results]


def timeless(record: Ingest | Result) -> dict[str, Any]:
    as_json = asdict(record)
    for value in as_json.values():
        if isinstance(value, dict):
            value.pop("ms", None)
    return as_json


def by_question(whole: Results, system: str) -> dict[str, Result]:
    return {r.question: r for r in whole.of(system=system)}


def schema_names(server: ModelServer) -> list[str]:
    forms = [(r.get("response_format") or {}).get("json_schema") or {} for r in server.requests]
    return [form.get("name", "") for form in forms]


# ------------------------------------------------------------------------------------------------------- what it does


@pytest.mark.proof
def test_two_runs_find_the_same(tmp_path: Path, data: Path, model: LanguageModel) -> None:
    systems = ("memoryos", "full_context", ECHOES)
    wanted = plan(data, *systems, judges=("strict", "lenient"))
    for name in ("a", "b"):
        run(wanted, tmp_path / name, model=model, **QUICK)
    assert found(tmp_path / "a") == found(tmp_path / "b")
    ingested, asked = found(tmp_path / "a")
    assert (len(ingested), len(asked)) == (len(systems), 4 * len(systems))


def test_a_run_measures_evidence_tokens_calls_and_answers_and_tells_what_is_left(
    tmp_path: Path, data: Path, model: LanguageModel
) -> None:
    told: list[Left] = []
    run(plan(data, ECHOES, "full_context", judges=("strict",)), tmp_path / "r", model=model, left=told.append, **QUICK)
    assert [one.calls for one in told] == sorted((one.calls for one in told), reverse=True)
    assert told[0].tokens > 0
    assert told[0].seconds > 0
    assert told[-1] == Left(seconds=0.0, calls=0, tokens=0)
    whole = results.load(tmp_path / "r")
    (learnt,) = whole.learnt(system=ECHOES)
    assert (learnt.turns, learnt.pages, learnt.spent.calls) == (24, 12, 12)
    one = by_question(whole, ECHOES)["q1"]
    assert one.values["rec@20"] == 0.0  # it has the user's side of each page alone, the newest first
    assert one.ranking[:2] == ("two:5.0", "two:5.1")
    assert (one.values["packed"], one.values["told"]) == (1.0, 1.0)
    assert one.context_tokens > 50
    assert (one.recall.calls, one.answering.calls, one.judging.calls) == (0, 1, 1)
    assert one.answering.prompt_tokens > one.context_tokens
    assert {"f1_locomo", "bleu1", "rougeL", "meteor_es", "similarity", "abstained"} <= one.values.keys()
    assert one.gold == "Ghent"
    assert [v.judge for v in one.verdicts] == ["strict"]


def test_without_a_model_retrieval_alone_is_measured_and_mid_conversation_sees_what_came_before(
    tmp_path: Path, data: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMBERMEM_MODEL", "scripted")
    monkeypatch.setenv("EMBERMEM_MODEL_URL", server.url)
    run(plan(data), tmp_path / "r", **QUICK)
    whole = results.load(tmp_path / "r")
    assert server.calls == 0, "whatever the environment names"
    for system in ("memoryos", "full_context"):
        asked = by_question(whole, system)["q4"]
        assert asked.ranking
        assert {turn.partition(":")[0] for turn in asked.ranking} == {"one"}, "neither its thread nor what comes later"
    assert whole.headers[0].model == ""
    assert {(r.answer, r.verdicts, "f1_locomo" in r.values) for r in whole.results} == {(None, (), False)}
    assert all(r.recall.ms is not None for r in whole.results)


def test_category_5_never_meets_its_trap_and_is_asked_whether_it_abstains(tmp_path: Path, server: ModelServer) -> None:
    file = write(tmp_path / "locomo.json", trapped())
    run(plan(file, "full_context", judges=("strict", "gvd")), tmp_path / "r", model=model_of(server), **QUICK)
    fifth = next(r for r in results.load(tmp_path / "r").results if r.category == "5")
    assert (fifth.gold, fifth.answerable, fifth.headline, fifth.verdicts) == (None, False, False, ())
    assert fifth.values["abstained"] == 0.0
    assert "f1_locomo" not in fifth.values
    assert TRAP not in json.dumps(server.requests)
    assert all(TRAP not in file.read_text(encoding="utf-8") for file in (tmp_path / "r").glob("*.json*"))


def test_an_answer_rests_on_the_context_alone_and_the_judge_of_gvd_is_shown_all_that_was_said(
    tmp_path: Path, data: Path, server: ModelServer
) -> None:
    run(plan(data, "full_context:window_tokens=1", judges=("gvd",)), tmp_path / "r", model=model_of(server), **QUICK)
    whole = by_question(results.load(tmp_path / "r"), "full_context:window_tokens=1")
    asked = [
        json.dumps(r["messages"]) for r, name in zip(server.requests, schema_names(server), strict=True) if not name
    ]
    assert len(asked) == 4
    assert not [text for text in asked if "Ghent" in text or "Tomas" in text or "category" in text]
    assert {name for name, one in whole.items() if one.verdicts} == {"q4"}, "where no gold answer is"
    assert whole["q4"].verdicts[0].scores == {"accuracy": 1.0, "correctness": 0.5, "coherence": 1.0}
    judged = [r for r, name in zip(server.requests, schema_names(server), strict=True) if name == "CompanionJudgement"]
    assert len(judged) == 1
    assert "2026-03-01 Ines: I moved to Ghent in spring. (one)" in json.dumps(judged[0])


@pytest.mark.proof
def test_a_limit_draws_the_same_questions_for_a_seed_and_more_hold_fewer(tmp_path: Path, data: Path) -> None:
    drawn = {}
    for limit in (1, 2, 3):
        folder = tmp_path / str(limit)
        run(plan(data, "full_context", "memoryos", limit=limit, seeds=(3, 4)), folder, **QUICK)
        whole = results.load(folder)
        for seed in (3, 4):
            both = [{r.question for r in whole.of(system=s) if r.seed == seed} for s in ("full_context", "memoryos")]
            assert both[0] == both[1]
            drawn[limit, seed] = both[0]
    for seed in (3, 4):
        assert [len(drawn[limit, seed]) for limit in (1, 2, 3)] == [1, 2, 3]
        assert drawn[1, seed] < drawn[2, seed] < drawn[3, seed]


def test_each_seed_asks_the_model_anew_and_a_finished_run_asks_nothing_again(
    tmp_path: Path, data: Path, server: ModelServer
) -> None:
    wanted = plan(data, "full_context", seeds=(0, 1))
    run(wanted, tmp_path / "r", model=model_of(server), **QUICK)
    assert server.calls == 8
    before = contents(tmp_path / "r")
    run(wanted, tmp_path / "r", model=model_of(server), **QUICK)
    assert server.calls == 8
    assert contents(tmp_path / "r") == before
    assert "work" not in before
    assert calls_file(tmp_path / "r", 0).is_file()
    assert calls_file(tmp_path / "r", 1).is_file()


def test_an_estimate_counts_before_anything_is_asked(tmp_path: Path, data: Path) -> None:
    size = estimate(plan(data, judges=("strict", "gvd"), seeds=(0, 1)))
    assert (size.units, size.conversations, size.turns, size.questions) == (4, 1, 24, 8)
    assert (size.answer_calls, size.judge_calls) == (16, 12)
    assert size.text_tokens > 150
    words = ["bench", "run", str(data), "--system", "memoryos", "--estimate", "--json", "--out", "r"]
    assert cli(tmp_path / "m.db", *words).json["questions"] == 4
    assert not (tmp_path / "r").exists()


# ------------------------------------------------------------------------------------------------ after interruptions


def contents(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file() and not p.name.startswith("lock")}


@pytest.mark.parametrize("where", ["ingest.jsonl", pytest.param("results.jsonl", marks=pytest.mark.proof)])
def test_a_torn_last_line_is_cut_off_and_done_again(
    tmp_path: Path, data: Path, server: ModelServer, where: str
) -> None:
    wanted = plan(data, "full_context", judges=("strict",))
    run(wanted, tmp_path / "whole", model=model_of(server), **QUICK)
    shutil.copytree(tmp_path / "whole", tmp_path / "torn")
    file, calls = tmp_path / "torn" / where, server.calls
    file.write_bytes(file.read_bytes()[:-9])
    assert len(results.load(tmp_path / "torn").results) == (3 if where == "results.jsonl" else 4)
    run(wanted, tmp_path / "torn", model=model_of(server), **QUICK)
    assert found(tmp_path / "torn") == found(tmp_path / "whole")
    assert file.read_bytes().endswith(b"\n")
    assert server.calls == calls


@settings(max_examples=bounded(15, proofs=400))
@given(st.lists(st.text(max_size=20), max_size=6), st.data())
def test_of_a_file_that_ends_anywhere_the_whole_lines_are_kept(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], data: st.DataObject
) -> None:
    file = tmp_path_factory.mktemp("lines") / "l.jsonl"
    with workspace.Lines(file) as lines:
        for text in texts:
            lines.add(text)
    whole = file.read_bytes()
    end = data.draw(st.integers(min_value=0, max_value=len(whole)))
    file.write_bytes(whole[:end])
    kept = texts[: whole[:end].count(b"\n")]
    assert list(results.lines(file, str)) == kept
    with workspace.Lines(file) as lines:
        lines.add("more")
    assert list(results.lines(file, str)) == [*kept, "more"]


@pytest.mark.proof
def test_a_model_that_cannot_be_reached_ends_the_run_and_the_next_goes_on(
    tmp_path: Path, data: Path, server: ModelServer
) -> None:
    wanted = plan(data, "memoryos", ECHOES, judges=("strict",))
    run(wanted, tmp_path / "whole", model=model_of(server), **QUICK)
    server.fail_next("http_503", times=20, after=3)
    for _ in range(2):  # MemoryOS would put up with it, and learn without a model; the other raises
        with pytest.raises(ModelUnreachable):
            run(wanted, tmp_path / "r", model=model_of(server), **QUICK)
        server.recover()
        server.fail_next("http_503", times=20, after=14)
    assert not [one for one in results.load(tmp_path / "r").ingested if one.system == ECHOES]
    server.recover()
    run(wanted, tmp_path / "r", model=model_of(server), **QUICK)
    assert found(tmp_path / "r") == found(tmp_path / "whole")
    assert {request.get("temperature") for request in server.requests} == {0.0}


@pytest.mark.proof
def test_calls_that_are_used_up_end_the_run_and_the_next_goes_on(
    tmp_path: Path, data: Path, server: ModelServer
) -> None:
    wanted = plan(data, "memoryos", ECHOES)
    run(wanted, tmp_path / "whole", model=model_of(server), **QUICK)
    calls, ended = server.calls, 0
    for _ in range(20):
        try:
            run(wanted, tmp_path / "r", model=model_of(server), most_calls=3, **QUICK)
            break
        except BudgetSpent:
            ended += 1
    assert ended >= 3
    assert server.calls == 2 * calls
    assert found(tmp_path / "r") == found(tmp_path / "whole")


@pytest.mark.parametrize("lost", ["work/*/settled", pytest.param("work", marks=pytest.mark.proof)])
def test_a_store_that_is_lost_or_half_made_is_made_again(
    tmp_path: Path, data: Path, server: ModelServer, lost: str
) -> None:
    wanted = plan(data, ECHOES)
    run(wanted, tmp_path / "whole", model=model_of(server), **QUICK)
    with pytest.raises(BudgetSpent):
        run(wanted, tmp_path / "r", model=model_of(server), most_calls=14, **QUICK)
    assert len(results.load(tmp_path / "r").results) == 2
    for path in (tmp_path / "r").glob(lost):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    run(wanted, tmp_path / "r", model=model_of(server), **QUICK)
    assert found(tmp_path / "r") == found(tmp_path / "whole")
    assert server.calls == 2 * 16


@pytest.mark.proof
@pytest.mark.parametrize("system", sorted(SYSTEMS))
def test_each_system_is_measured_alike_when_its_run_was_ended_in_between(
    tmp_path: Path, server: ModelServer, system: str
) -> None:
    document = talk()
    del document["conversations"][0]["threads"][1:], document["conversations"][0]["questions"][1:]
    wanted = plan(write(tmp_path / "short.json", document), system)
    run(wanted, tmp_path / "whole", model=model_of(server), **QUICK)
    calls = server.calls
    with contextlib.suppress(BudgetSpent):
        run(wanted, tmp_path / "r", model=model_of(server), most_calls=calls // 2, **QUICK)
    run(wanted, tmp_path / "r", model=model_of(server), **QUICK)
    assert found(tmp_path / "r") == found(tmp_path / "whole")
    assert server.calls == 2 * calls


@pytest.mark.proof
def test_a_run_that_is_killed_again_and_again_finds_what_an_undisturbed_one_finds(
    tmp_path: Path, data: Path, server: ModelServer
) -> None:
    systems = ("memoryos:short_term_pages=2,batch_pages=2", "full_context")
    wanted = plan(data, *systems, judges=("strict",))
    with ModelServer(answering) as other:
        run(wanted, tmp_path / "whole", model=model_of(other), embedder="hashed")
    arguments = [word for system in systems for word in ("--system", system)]
    arguments += ["--judge", "strict", "--out", str(tmp_path / "r")]
    more = {"EMBERMEM_MODEL": "scripted", "EMBERMEM_MODEL_URL": server.url, "EMBERMEM_MODEL_KEY": "none"}
    moment, kills = random.Random(20260501), 0
    for calls in (0, 1, 3, 6, 9, 13):
        one = subprocess.Popen(
            command("bench", "run", str(data), *arguments),
            env=environment(tmp_path / "m.db", more),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while one.poll() is None and server.calls < calls:
            time.sleep(0.005)
        time.sleep(moment.uniform(0.0, 1.5) if calls == 0 else moment.uniform(0.0, 0.05))
        if one.poll() is None:
            one.send_signal(signal.SIGKILL)
            kills += 1
        one.wait(60)
    run(wanted, tmp_path / "r", model=model_of(server), embedder="hashed")
    assert found(tmp_path / "r") == found(tmp_path / "whole")
    assert kills >= 3
    distinct = {json.dumps(request, sort_keys=True) for request in map(settled, server.requests)}
    assert len(distinct) <= server.calls <= len(distinct) + kills  # what was on its way is lost with who asked


def settled(request: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in request.items() if key in ("messages", "response_format")}


# ------------------------------------------------------------------------------------------------------------- replay


def test_a_replay_asks_nobody(tmp_path: Path, data: Path) -> None:
    wanted = plan(data, *bounded((ECHOES,), proofs=("memoryos", ECHOES)), judges=("strict", "lenient"))
    with ModelServer(answering) as server:
        run(wanted, tmp_path / "r", model=model_of(server), **QUICK)
    before = found(tmp_path / "r")
    for name in ("plan.json", "results.jsonl", "ingest.jsonl"):
        (tmp_path / "r" / name).unlink()
    run(wanted, tmp_path / "r", replay=True, **QUICK)
    assert found(tmp_path / "r") == before
    again = results.load(tmp_path / "r")
    assert again.headers[0].model == "scripted"
    assert {r.answering.ms for r in again.results} == {None}  # nothing was measured


def test_a_replay_of_what_was_not_recorded_is_an_error(tmp_path: Path, data: Path, model: LanguageModel) -> None:
    run(plan(data, "full_context"), tmp_path / "r", model=model, **QUICK)
    with pytest.raises(InputError, match=r"calls-7\.jsonl is missing"):
        run(plan(data, "full_context", seeds=(7,)), tmp_path / "r", replay=True, **QUICK)
    (tmp_path / "other").mkdir()
    calls_file(tmp_path / "r", 0).rename(calls_file(tmp_path / "other", 0))
    with pytest.raises(ModelMissing, match="no requests are allowed"):
        run(plan(data, ECHOES), tmp_path / "other", replay=True, **QUICK)


# -------------------------------------------------------------------------------------------------- rubbish of a model


def spoiling(schema: str, key: str, answer: str) -> Callable[[Mapping[str, Any]], str | dict[str, Any]]:
    """The usual answers, but to one question this. After two of them the prompt tells the form, which has this key."""

    def spoilt(request: Mapping[str, Any]) -> str | dict[str, Any]:
        form = request.get("response_format") or {}
        named = (form.get("json_schema") or {}).get("name", "") == schema
        told = any(f'"{key}":{{' in message["content"] for message in request["messages"])
        return answer if named or told else answering(request)

    return spoilt


def test_a_verdict_that_cannot_be_read_is_none(tmp_path: Path, data: Path, server: ModelServer) -> None:
    server.reply_with(spoiling("Judgement", "verdict", "Fine!"))
    run(plan(data, "full_context", judges=("strict",)), tmp_path / "r", model=model_of(server), **QUICK)
    asked = by_question(results.load(tmp_path / "r"), "full_context")
    assert [(v.judge, dict(v.scores)) for v in asked["q1"].verdicts] == [("strict", {})]
    assert asked["q1"].answer


def test_an_answer_that_is_empty_is_noted_and_counts_as_empty(tmp_path: Path, data: Path, server: ModelServer) -> None:
    server.fail_next("empty", times=10)
    run(plan(data, "full_context", judges=("strict",)), tmp_path / "r", model=model_of(server), **QUICK)
    for asked in results.load(tmp_path / "r").results:
        assert (asked.answer, asked.failure, asked.values["abstained"]) == ("", "answer: ModelReplyError", 0.0)
        assert [v.scores for v in asked.verdicts] == ([{"correct": 0.0}] if asked.gold else [])
    assert server.calls == 4


def test_pages_about_which_no_reply_can_be_read_are_left_out_by_every_system_and_counted(
    tmp_path: Path, data: Path, server: ModelServer
) -> None:
    wanted = plan(data, ECHOES, "memoryos", "full_context")

    def unfit(request: Mapping[str, Any]) -> str | dict[str, Any]:
        structured = request.get("response_format") or "JSON" in str(request["messages"])
        return "What?" if structured else answering(request)

    server.reply_with(unfit)
    for _ in range(2):
        run(wanted, tmp_path / "r", model=model_of(server), **QUICK)
    whole = results.load(tmp_path / "r")
    assert {one.failure for one in whole.ingested} == {""}
    pages = whole.ingested[0].pages
    left_out = {one.system: one.left_out for one in whole.ingested}
    assert left_out == {ECHOES: pages, "memoryos": pages - 2, "full_context": 0}
    assert {r.system for r in whole.results} == {ECHOES, "memoryos", "full_context"}
    told = report.markdown(whole, baseline="memoryos")
    assert "left out" in told
    assert "all systems went on without them" in told


def test_a_page_that_one_reply_spoils_costs_that_page_alone(tmp_path: Path, data: Path, server: ModelServer) -> None:
    spoilt, usual = spoiling("Echo", "echo", "What?"), spoiling("Echo", "echo", '{"echo": "heard"}')
    server.reply_with(lambda request: (spoilt if "kittens. (one)" in str(request["messages"]) else usual)(request))
    run(plan(data, ECHOES), tmp_path / "r", model=model_of(server), **QUICK)
    (learnt,) = results.load(tmp_path / "r").ingested
    assert (learnt.failure, learnt.left_out) == ("", 1)


def test_a_report_says_where_conversations_are_too_short_to_compare(
    tmp_path: Path, data: Path, server: ModelServer
) -> None:
    said = "have no more than 4 pages"
    run(plan(data, "full_context"), tmp_path / "r", model=model_of(server), **QUICK)
    pages = results.load(tmp_path / "r").ingested[0].pages
    assert (said in report.markdown(results.load(tmp_path / "r"), baseline="full_context")) == (pages <= 4)
    short = {**QUICK, "short_term_pages": pages}
    run(plan(data, "full_context"), tmp_path / "s", model=model_of(server), **short)
    assert "there is little to compare" in report.markdown(results.load(tmp_path / "s"), baseline="full_context")


# ---------------------------------------------------------------------------------------------- what cannot be run


def test_a_folder_of_another_plan_is_refused(tmp_path: Path, data: Path, model: LanguageModel) -> None:
    run(plan(data, "full_context"), tmp_path / "r", **QUICK)
    before = contents(tmp_path / "r")
    others: list[tuple[str, Plan, dict[str, Any]]] = [
        ("systems", plan(data, "full_context", ECHOES), {}),
        ("seeds", plan(data, "full_context", seeds=(1,)), {}),
        ("limit", plan(data, "full_context", limit=2), {}),
        ("budget", plan(data, "full_context", budget=100), {}),
        ("model", plan(data, "full_context"), {"model": model}),
        ("settings", plan(data, "full_context"), {"short_term_pages": 4}),
        ("data", plan(write(tmp_path / "b.json", recall_set()), "full_context"), {}),
    ]
    for name, other, more in others:
        with pytest.raises(ConfigError, match=rf"another plan \(.*\b{name}\b.* differ"):
            run(other, tmp_path / "r", **{**QUICK, **more})
    assert contents(tmp_path / "r") == before


def test_what_cannot_be_run_is_refused_before_anything_is_done(tmp_path: Path, data: Path) -> None:
    for system, told in [
        ("full_context:windows=3", "unknown option 'windows'"),
        ("nowhere:Class", "cannot be imported"),
    ]:
        with pytest.raises(ConfigError, match=told):
            run(plan(data, "memoryos", system), tmp_path / system[:4], **QUICK)
        assert (tmp_path / system[:4] / "ingest.jsonl").read_bytes() == b""

    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "diary.txt").write_text("mine")
    with pytest.raises(ConfigError, match=r"other things \(diary\.txt\)"):
        run(plan(data), tmp_path / "other", **QUICK)

    with pytest.raises(ConfigError, match="calls_per_day is set"):
        run(plan(data), tmp_path / "limits", calls_per_day=3, **QUICK)

    with pytest.raises(ConfigError, match="no conversation 'otto'; there are: ines"):
        run(plan(data, conversations=("otto",)), tmp_path / "nobody", **QUICK)

    words = ["bench", "run", str(data), "--system", "memoryos", "--judge", "strict", "--out", str(tmp_path / "judges")]
    done = cli(tmp_path / "m.db", *words)
    assert done.code == 1
    assert "judges need a model" in done.err


def test_a_second_process_in_a_folder_is_told_so(tmp_path: Path, data: Path) -> None:
    with workspace.held(tmp_path / "r"), pytest.raises(workspace.FolderBusy, match="another process"):
        run(plan(data, "full_context"), tmp_path / "r", **QUICK)
    run(plan(data, "full_context"), tmp_path / "r", **QUICK)
    with pytest.raises(workspace.FolderBusy), workspace.held(tmp_path / "r"), workspace.held(tmp_path / "r"):
        raise AssertionError("held twice")


def test_a_system_is_named_with_its_options_or_by_its_class_and_a_plan_can_be_run() -> None:
    for text, label in [
        ("amem", "amem"),
        ("amem:recall_k=20,links=false", "amem:links=false,recall_k=20"),
        ("memoryos:preset=paper", "memoryos:preset=paper"),
        (" my.module:Class ", "my.module:Class"),
    ]:
        spec = SystemSpec.parse(text)
        assert spec.label == label
        assert SystemSpec.parse(spec.label) == spec

    for text in ["", "amen", "amem:", "amem:links", "amem:links=", "amem:k=1,k=2", "amem:2k=1", "x:k=1"]:
        with pytest.raises(ConfigError):
            SystemSpec.parse(text)

    wrong: list[tuple[dict[str, Any], str]] = [
        ({"judges": ("harsh",)}, "no judge 'harsh'"),
        ({"judges": ("strict", "strict")}, "named twice"),
        ({"seeds": ()}, "at least one seed"),
        ({"limit": 0}, "limit = 0"),
        ({"budget": 0}, "budget = 0"),
    ]
    for more, told in wrong:
        with pytest.raises(ConfigError, match=told):
            plan(Path("x.json"), **more)


# -------------------------------------------------------------------------------------------------------- the command


def test_the_command_runs_goes_on_and_reports(tmp_path: Path, data: Path, server: ModelServer) -> None:
    more = {"EMBERMEM_MODEL": "scripted", "EMBERMEM_MODEL_URL": server.url, "EMBERMEM_MODEL_KEY": "none"}
    words = ["bench", "run", str(data), "--system", "full_context", "--system", "memoryos", "--judge", "strict"]
    words += ["--limit", "2", "--out", str(tmp_path / "r")]
    first = cli(tmp_path / "m.db", *words, "--max-calls", "3", more=more)
    assert (first.code, first.out) == (1, "")
    assert "3 calls were made" in first.err
    told = cli(tmp_path / "m.db", *words, "--json", more=more)
    assert [(one["system"], one["questions"]) for one in told.json] == [("full_context", 2), ("memoryos", 2)]
    shown = cli(tmp_path / "m.db", *words, more=more)
    assert "talk: Finding the evidence" in shown.out
    reported = cli(tmp_path / "m.db", "bench", "report", str(tmp_path / "r"), "--baseline", "full_context")
    assert reported.code == 0
    text = (tmp_path / "r" / "report.md").read_text(encoding="utf-8")
    assert "Differences to full_context" in text
    for name in ("report.md", "report.html"):
        assert str(tmp_path) not in (tmp_path / "r" / name).read_text(encoding="utf-8")
    assert "--model scripted --out RUN" in text
