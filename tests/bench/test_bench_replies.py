"""How a run has questions answered, and by which model answers are judged."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from running import run as cli
from test_bench_run import QUICK, TRAP, answering, found, model_of, plan, talk, trapped, write

from embermem.core.errors import BudgetSpent, ConfigError
from embermem.testing.model_server import ModelServer
from embermem_bench import results
from embermem_bench.running import judged_file, run
from embermem_bench.scoring import REFUSAL
from embermem_bench.tracing import Price, Purse

SEES_ALL = "full_context"
SEES_NOTHING = "full_context:window_tokens=1"


def texts(server: ModelServer, schema: str | None = None) -> list[str]:
    """The prompts of the requests that ask for this schema; None: for a free text."""
    made = []
    for request in server.requests:
        name = ((request.get("response_format") or {}).get("json_schema") or {}).get("name")
        if name == schema:
            made.append("\n".join(message["content"] for message in request["messages"]))
    return made


# ------------------------------------------------------------------------------------------------------------ replies


def choosing(choice: str) -> Any:
    """The usual answers, and of two that are offered this one."""

    def chosen(request: Mapping[str, Any]) -> str | dict[str, Any]:
        return choice if "answer 1:" in request["messages"][-1]["content"] else answering(request)

    return chosen


def test_a_choice_is_scored_against_both_answers(tmp_path: Path) -> None:
    for choice, trap, refusal in [(TRAP, 1.0, 0.0), (REFUSAL, 0.0, 1.0)]:
        file = write(tmp_path / "locomo.json", trapped())
        with ModelServer(choosing(choice)) as server:
            run(plan(file, SEES_ALL, replies="choice"), tmp_path / f"r{trap}", model=model_of(server), **QUICK)
        fifth = next(r for r in results.load(tmp_path / f"r{trap}").results if r.category == "5")
        assert fifth.answer == choice
        assert {fifth.values[name] for name in ("f1_set_trap", "bleu1_trap", "rougeL_trap")} == {trap}
        assert {fifth.values[name] for name in ("f1_set_refusal", "bleu1_refusal")} == {refusal}
        assert fifth.values["abstained_locomo"] == refusal
        assert fifth.values["similarity_trap"] == pytest.approx(1.0) if trap else fifth.values["similarity_trap"] < 1.0
        assert not [name for name in fifth.values if name in results.ANSWERS]


def test_only_a_question_without_an_answer_is_a_choice_and_the_seed_draws_the_order(tmp_path: Path) -> None:
    document = trapped()
    fifth = document[0]["qa"][-1]
    document[0]["qa"] += [{**fifth, "question": f"What did Vera play in {n}?"} for n in range(8)]
    file = write(tmp_path / "locomo.json", document)
    orders = []
    for name in ("a", "b"):
        with ModelServer(answering) as server:
            run(plan(file, SEES_ALL, replies="choice"), tmp_path / name, model=model_of(server), **QUICK)
            asked = texts(server)
        chosen = [text for text in asked if "answer 1:" in text]
        assert len(asked) == 14
        assert all(TRAP in text and REFUSAL in text for text in chosen)
        assert not [text for text in asked if TRAP in text and text not in chosen]
        orders.append([text.index(TRAP) < text.index(REFUSAL) for text in chosen])
    assert orders[0] == orders[1]
    assert {*orders[0]} == {True, False}


def test_a_reply_is_made_with_the_prompt_of_chat_and_the_memory_and_others_are_an_error(tmp_path: Path) -> None:
    file = write(tmp_path / "talk.json", talk())
    with ModelServer(answering) as server:
        run(plan(file, SEES_ALL, replies="chat"), tmp_path / "r", model=model_of(server), **QUICK)
        asked = texts(server)
    assert len(asked) == 4
    for text in asked:
        assert "You are a companion who remembers what this user has told you" in text
        assert "Now: 2026-03-02" in text or "Now: -" in text
        assert "I moved to Ghent in spring." in text
        assert "No information available" not in text
    assert asked[0].endswith("Where does Ines live?")

    with pytest.raises(ConfigError, match="no replies 'long'; known: short, choice, chat"):
        plan(Path("x.json"), replies="long")


# ------------------------------------------------------------------------------------------------------------- judges


def test_the_judge_of_gvd_is_shown_what_the_memory_recalled(tmp_path: Path) -> None:
    file = write(tmp_path / "talk.json", talk())
    judged = {}
    for system in (SEES_ALL, SEES_NOTHING):
        with ModelServer(answering) as server:
            wanted = plan(file, system, judges=("gvd",), replies="chat")
            run(wanted, tmp_path / system.replace(":", "-"), model=model_of(server), **QUICK)
            (judged[system],) = texts(server, "CompanionJudgement")
    said = "The harp stands in the attic now. (one)"
    assert judged[SEES_ALL].count(said) == 2  # among all that was said, and in what was recalled
    assert judged[SEES_NOTHING].count(said) == 1
    assert "(nothing)" in judged[SEES_NOTHING]


@pytest.mark.proof
def test_a_judge_of_ones_own_judges_and_the_model_does_the_rest(tmp_path: Path) -> None:
    file = write(tmp_path / "talk.json", talk())
    wanted = plan(file, "memoryos", judges=("strict",))
    with ModelServer(answering) as server, ModelServer(answering, models=("second",)) as other:
        judge = model_of(other)
        run(wanted, tmp_path / "r", model=model_of(server), judge=judge, **QUICK)
        assert not texts(server, "Judgement")
        assert len(texts(other, "Judgement")) == other.calls == 2
        whole = found(tmp_path / "r")
        calls = server.calls + other.calls
        (tmp_path / "r" / "results.jsonl").unlink()
        run(wanted, tmp_path / "r", model=model_of(server), judge=judge, **QUICK)
        assert server.calls + other.calls == calls
    assert found(tmp_path / "r") == whole
    header = results.load(tmp_path / "r").headers[0]
    assert (header.model, header.judge_model) == ("scripted", "scripted")
    assert {r.judging.calls for r in results.load(tmp_path / "r").results if r.verdicts} == {1}
    for name in ("results.jsonl", "ingest.jsonl"):
        (tmp_path / "r" / name).unlink()
    run(wanted, tmp_path / "r", replay=True, **QUICK)
    assert found(tmp_path / "r") == whole
    assert judged_file(tmp_path / "r", 0).is_file()


def test_the_judges_model_has_its_own_address_and_never_the_models_key(tmp_path: Path) -> None:
    file = write(tmp_path / "talk.json", talk())
    with ModelServer(answering, key="of the model") as server, ModelServer(answering) as other:
        more = {"EMBERMEM_MODEL": "m", "EMBERMEM_MODEL_URL": server.url, "EMBERMEM_MODEL_KEY": "of the model"}
        words = ["bench", "run", str(file), "--system", SEES_ALL, "--judge", "strict", "--limit", "2"]
        words += ["--judge-model", f"second@{other.url}"]
        for n, own in enumerate(({}, {"EMBERMEM_JUDGE_KEY": "of the judge"})):
            told = cli(tmp_path / "m.db", *words, "--out", str(tmp_path / f"r{n}"), more={**more, **own})
            assert told.code == 0, told.err
        assert {request["model"] for request in other.requests} == {"second"}
        assert {*other.authorizations} == {"Bearer none", "Bearer of the judge"}
        assert {*server.authorizations} == {"Bearer of the model"}
    kept = "".join(path.read_text(encoding="utf-8") for path in tmp_path.glob("r*/*.json*"))
    assert "of the model" not in kept
    assert "of the judge" not in kept
    assert json.loads((tmp_path / "r1" / "plan.json").read_text(encoding="utf-8"))["judge_model"] == "second"
    assert "--judge-model second" in cli(tmp_path / "m.db", "bench", "report", str(tmp_path / "r0"), "--stdout").out


# -------------------------------------------------------------------------------------------------------------- purse


def test_a_run_ends_when_its_money_is_spent_and_goes_on_with_more(tmp_path: Path) -> None:
    assert Price(prompt=0.15, completion=0.6).of(2_000_000, 500_000) == pytest.approx(0.6)
    assert Price().of(400_000, 100_000) == pytest.approx(0.5)

    file = write(tmp_path / "talk.json", talk())
    wanted = plan(file, SEES_ALL)
    with ModelServer(answering) as server:
        run(wanted, tmp_path / "whole", model=model_of(server), **QUICK)
        each = results.load(tmp_path / "whole").results[0].answering
        price = Price(prompt=1_000_000 / each.prompt_tokens, completion=0.0)  # the first question costs 1
        with pytest.raises(BudgetSpent, match=r"the budget is spent: \d\.\d\d of 1\.50"):
            run(wanted, tmp_path / "r", model=model_of(server), purse=Purse(money=1.5), prices=(price, price), **QUICK)
        assert len(results.load(tmp_path / "r").results) == 2
        run(wanted, tmp_path / "r", model=model_of(server), purse=Purse(money=9.0), prices=(price, price), **QUICK)
    assert found(tmp_path / "r") == found(tmp_path / "whole")
