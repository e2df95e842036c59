"""Live replay: each question is asked when it comes, what it was given is counted, and a killed unit begins again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from running import run as cli
from small import locomo, recall_set

from embermem import bootstrap
from embermem.core import config
from embermem.core.errors import BudgetSpent, ConfigError
from embermem.testing.model_server import ModelServer
from embermem_bench import datasets, report, results, scripted
from embermem_bench.live import places
from embermem_bench.plan import Mode
from embermem_bench.results import Results
from embermem_bench.running import Plan, SystemSpec, run
from proofs import bounded

QUICK: dict[str, Any] = {"embedder": "hashed", "short_term_pages": 1}
WARM = "memoryos:preset=paper,tau=2.5,theta=2"
"""Each page is a segment of its own, which is promoted after its second visit, and never without."""


def diary(days: int = 4) -> dict[str, Any]:
    """A thread a day, four exchanges each, of a thing each; then each is asked for, twice."""
    things = ("harp", "kayak", "loom", "beehive", "piano", "telescope")
    threads, questions = [], []
    for day in range(days):
        thing = things[day]
        said = [
            (f"The {thing} stands in the attic.", "Since when?"),
            (f"I bought the {thing} in Ghent.", "A fine town."),
            (f"My {thing} is very old.", "How old?"),
            (f"Rain fell on day {day}.", "It will stop."),
        ]
        turns = [
            {
                "id": f"d{day}:{n}.{side}",
                "speaker": ("Ines", "Ember")[side],
                "role": ("user", "assistant")[side],
                "at": f"2026-03-{day + 1:02}T10:{n:02}:00",
                "text": text,
            }
            for n, pair in enumerate(said)
            for side, text in enumerate(pair)
        ]
        threads.append({"id": f"d{day}", "at": f"2026-03-{day + 1:02}", "turns": turns})
        for again in range(3):
            questions.append(
                {
                    "id": f"q{day}{again}",
                    "text": f"Where does the {thing} stand?",
                    "category": "place",
                    "evidence": [f"d{day}:0.0"],
                    "answer": "in the attic",
                }
            )
    return {
        "name": "diary",
        "licence": "ours",
        "conversations": [{"id": "ines", "threads": threads, "questions": questions}],
    }


def written(folder: Path, document: object) -> Path:
    file = folder / "data.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    return file


def lived(folder: Path, data: Path, *systems: str, mode: Mode = "live", **more: Any) -> Results:
    wanted = Plan(data=(data,), systems=tuple(map(SystemSpec.parse, systems)), mode=mode)
    run(wanted, folder, **{**QUICK, **more})
    return results.load(folder)


def held(found: Results, system: str) -> Mapping[str, float]:
    (learnt,) = found.learnt(system=SystemSpec.parse(system).label)
    return learnt.held


def timeless(found: Results) -> list[dict[str, Any]]:
    made = [asdict(one) for one in found.ingested]
    made += [asdict(one) for one in sorted(found.results, key=lambda result: result.key)]
    for record in made:
        for value in record.values():
            if isinstance(value, dict):
                value.pop("ms", None)
    return made


# --------------------------------------------------------------------------------------------------- when it is asked


def test_a_question_comes_when_the_thread_after_its_last_evidence_begins_or_at_its_own_time() -> None:
    (talk,) = datasets.parse(locomo(), "small", "here").conversations
    turns = [turn.id for _, turn in talk.turns()]
    found = {
        question.text: turns[place] if place < len(turns) else "the end"
        for place, questions in places(talk).items()
        for question in questions
    }
    assert found == {
        "Who mended the greenhouse roof?": "D2:1",
        "What about the trombone?": "D10:1",
        "When did the tomatoes freeze?": "D10:1",
        "Nothing to stand on?": "the end",
        "Evidence from elsewhere?": "the end",
        "What did Vera harvest?": "the end",
    }

    document = recall_set()
    document["conversations"][0]["questions"].append(
        {"id": "q3", "text": "Is it dry?", "category": "now", "at": "2026-03-01T12:00:00", "evidence": ["b1:0"]}
    )
    (talk,) = datasets.parse(document, "small", "here").conversations
    turns = [turn.id for _, turn in talk.turns()]
    timed = {q.id: turns[place] for place, questions in places(talk).items() for q in questions}
    assert timed == {"q1": "k2:2", "q2": "k2:0", "q3": "b1:0"}


def test_a_question_is_asked_of_what_was_said_before_it_when_the_work_of_its_session_is_done(tmp_path: Path) -> None:
    """A session's work is done by the conversation's clock, 10 minutes after it, not by a full batch."""
    data = written(tmp_path, diary(2))
    slow = lived(tmp_path / "live", data, "memoryos", "full_context")
    for result in slow.results:
        day = int(result.question[1])
        assert {turn.partition(":")[0] for turn in result.ranking} == {f"d{n}" for n in range(day + 1)}
        assert result.values["packed"] == 1.0
    assert len(slow.results) == 2 * 6
    frozen = lived(tmp_path / "frozen", data, "memoryos", mode="frozen")
    assert {turn.partition(":")[0] for turn in frozen.results[0].ranking} == {"d0", "d1"}
    assert held(slow, "memoryos")["segments"] == held(frozen, "memoryos")["segments"] > 0
    assert held(slow, "memoryos")["visits"] > 0  # a page that is in no segment yet has none to visit


# ------------------------------------------------------------------------------------------------------ what it counts


@pytest.mark.proof
def test_visits_warm_segments_so_that_they_are_promoted_and_strengthen_memories(tmp_path: Path) -> None:
    data = written(tmp_path, diary(2))
    modes: tuple[Mode, ...] = ("frozen", "unvisited", "live")
    runs = {mode: lived(tmp_path / mode, data, WARM, "memorybank", mode=mode) for mode in modes}
    found = {mode: held(runs[mode], WARM) for mode in modes}
    assert found["frozen"]["visits"] == found["unvisited"]["visits"] == 0
    assert found["frozen"]["promotions"] == found["unvisited"]["promotions"] == 0
    assert found["live"]["visits"] > 0
    assert found["live"]["promotions"] > 0
    assert found["live"]["hottest"] > found["unvisited"]["hottest"]
    assert found["live"]["not_analysed"] < found["unvisited"]["not_analysed"]
    live, apart = held(runs["live"], "memorybank"), held(runs["unvisited"], "memorybank")
    assert (apart["visited"], apart["visits"], apart["strongest"]) == (0, 0, 1)
    assert live["visited"] > 0
    assert live["strongest"] > 3


@pytest.mark.proof
def test_what_is_not_used_fades_while_the_conversation_goes_on_and_what_is_asked_for_stays(tmp_path: Path) -> None:
    document = diary()
    for n, thread in enumerate(document["conversations"][0]["threads"]):
        for turn in thread["turns"]:
            turn["at"] = turn["at"].replace("-03-", f"-{3 + 2 * n:02}-")  # every other month
    document["conversations"][0]["questions"] = [
        {**q, "id": f"{q['id']}{n}", "after_turn": f"d{n}:0.0"}
        for q in document["conversations"][0]["questions"][:2]
        for n in (1, 2, 3)
    ]
    system = "memoryos:retention=true,min_new=1,tau=0,top_k=1,recall_embed_limit=0,placed_by=page,theta=2"
    data = written(tmp_path, document)
    live = held(lived(tmp_path / "live", data, system), system)
    apart = held(lived(tmp_path / "apart", data, system, mode="unvisited"), system)
    assert apart["archived"] > live["archived"] >= 0
    assert live["visited"] > 0


# ------------------------------------------------------------------------------------------------ after interruptions


def test_a_unit_that_was_ended_anywhere_finds_the_same_and_a_finished_run_does_nothing(tmp_path: Path) -> None:
    data = written(tmp_path, diary(bounded(2, proofs=4)))
    systems = (WARM, "memorybank", *bounded((), proofs=("amem",)))
    whole = lived(tmp_path / "whole", data, *systems)
    before = (tmp_path / "whole" / "results.jsonl").read_bytes()
    lived(tmp_path / "whole", data, *systems)
    assert (tmp_path / "whole" / "results.jsonl").read_bytes() == before
    assert not (tmp_path / "whole" / "work").exists()
    for ended in bounded((3,), proofs=(3, 45)):
        steps = 0

        def told(what: str, done: int, total: int) -> None:
            nonlocal steps
            steps += 1
            if steps == ended:  # noqa: B023  it is used in this round alone
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            lived(tmp_path / f"r{ended}", data, *systems, told=told)
        assert len(results.load(tmp_path / f"r{ended}").results) in (0, len(whole.results) // len(systems))
        assert timeless(lived(tmp_path / f"r{ended}", data, *systems)) == timeless(whole)


@pytest.mark.proof
def test_calls_that_were_made_are_not_made_again_when_a_unit_begins_again(tmp_path: Path) -> None:
    data = written(tmp_path, diary(3))
    with ModelServer(scripted.answer) as server:
        model = bootstrap.make_model(None, config.load(model="scripted", model_url=server.url, model_key="none"))
        whole = lived(tmp_path / "whole", data, "memoryos", "memorybank", model=model)
        calls = server.calls
        for most in (5, calls // 2):
            with pytest.raises(BudgetSpent):
                lived(tmp_path / "r", data, "memoryos", "memorybank", model=model, most_calls=most)
        ended = lived(tmp_path / "r", data, "memoryos", "memorybank", model=model)
        assert timeless(ended) == timeless(whole)
        assert server.calls == 2 * calls
    assert {result.answer is None for result in whole.results} == {False}


def test_results_of_a_unit_that_died_while_they_were_written_are_kept_once_and_another_mode_is_refused(
    tmp_path: Path,
) -> None:
    data = written(tmp_path, diary(1))
    whole = lived(tmp_path / "r", data, "memorybank")
    file = tmp_path / "r" / "results.jsonl"
    kept = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(kept[:2]) + kept[2][:9])
    (tmp_path / "r" / "ingest.jsonl").unlink()
    again = lived(tmp_path / "r", data, "memorybank")
    assert timeless(again) == timeless(whole)
    assert len(file.read_bytes().splitlines()) == len(kept)
    with pytest.raises(ConfigError, match="mode differ"):
        lived(tmp_path / "r", data, "memorybank", mode="unvisited")
    lived(tmp_path / "old", data, "memorybank", mode="frozen")
    plan = tmp_path / "old" / "plan.json"
    old = json.loads(plan.read_text("utf-8"))
    del old["mode"]
    plan.write_text(json.dumps(old), "utf-8")
    assert len(lived(tmp_path / "old", data, "memorybank", mode="frozen").results) == 3


# --------------------------------------------------------------------------------------------------------- the command


def test_the_command_runs_it_and_the_report_says_so(tmp_path: Path) -> None:
    data = written(tmp_path, diary(1))
    where = ["--system", "memorybank", "--no-model", "--out", str(tmp_path / "r")]
    done = cli(tmp_path / "m.db", "bench", "run", str(data), *where, "--live", "--counter", "words", "--json")
    assert done.code == 0, done.err
    (found,) = json.loads(done.out)
    assert found["held"]["visits"] > 0
    told = report.markdown(results.load(tmp_path / "r"))
    assert "each question was asked when it came, and what it was given was counted" in told
    assert "--counter words --live --no-model" in told
    assert "| memories | visited | visits | strongest |" in told.split("### What is held in the end")[1]
    refused = cli(tmp_path / "m.db", "bench", "run", str(data), *where, "--no-visits")
    assert refused.code != 0
    assert "--no-visits needs --live" in refused.err


def test_a_context_that_keeps_to_no_budget_is_cut_there_when_it_is_measured(tmp_path: Path) -> None:
    data = written(tmp_path, diary(1))
    paper = SystemSpec.parse("memoryos:preset=paper")
    for counter, cut in (("words", True), ("approx", False)):
        folder = tmp_path / counter
        run(Plan(data=(data,), systems=(paper,), budget=12), folder, **{**QUICK, "token_counter": counter})
        found = results.load(folder).results
        assert all(result.context_tokens > 12 for result in found)
        assert all(len(result.packed) <= 3 for result in found) is cut


def test_what_several_memories_hold_is_summed_but_for_the_greatest_and_the_medians() -> None:
    def learnt(talk: str, **held: float) -> results.Ingest:
        spent = results.Spent()
        return results.Ingest(
            system="memoryos", dataset="d", conversation=talk, seed=0, turns=2, pages=1, spent=spent, held=held
        )

    found = results.held([learnt("a", visits=3, hottest=7, heat_p50=2), learnt("b", visits=4, hottest=5, heat_p50=3)])
    assert found == {"visits": 7, "hottest": 7, "heat_p50": 2.5}
    assert results.held([]) == {}
