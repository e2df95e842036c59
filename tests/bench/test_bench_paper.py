"""`embermem bench paper`: the papers' tables from one command, ours beside the published figures."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from running import command, environment
from running import run as cli
from small import recall_set
from test_bench_report import asked as result
from test_bench_report import header, learnt
from test_bench_run import QUICK, answering, model_of
from test_dataset_gvd import ASKED, bank
from test_dataset_gvd import written as gvd_written

from embermem.core.errors import BudgetSpent, ConfigError
from embermem.testing.model_server import ModelServer
from embermem_bench import results, scripted
from embermem_bench.blocks import Table, Text
from embermem_bench.commands.paper import PART_NAMES, SAMPLES, sample
from embermem_bench.papers import published
from embermem_bench.papers.estimate import RATES, Rate, sizes
from embermem_bench.papers.experiments import DEFAULT, PARTS, data_of
from embermem_bench.papers.page import RUNS, write
from embermem_bench.papers.published import FOUR, OURS
from embermem_bench.papers.run import Experiments, paid, run
from embermem_bench.papers.tables import PaperTable, tables
from embermem_bench.plan import SystemSpec
from embermem_bench.results import Results
from embermem_bench.scripted.model import ScriptedModel
from embermem_bench.tracing import Price
from proofs import bounded

LOCOMO, GVD = (sample(name) for name in SAMPLES)


# -------------------------------------------------------------------------------------------------- tables, by hand


def found(part: str, figures: Mapping[str, Mapping[str, Mapping[str, float]]]) -> dict[str, Results]:
    """A part in which each method has one question in each category, with these values: method → category → values."""
    labels = {entry.method: entry.spec.label for entry in PARTS[part].entries}
    asked = [
        result(labels[method], "u", category, values, category=category, answerable=category != "5")
        for method, by_category in figures.items()
        for category, values in by_category.items()
    ]
    run_of = Results(headers=(header(*labels.values()),), ingested=(), results=tuple(asked))
    return {part: run_of}


def named(made: tuple[PaperTable, ...], name: str) -> PaperTable:
    return next(table for table in made if table.name == name)


def rows(table: PaperTable, which: int = 0) -> dict[tuple[str, ...], dict[str, str]]:
    """The which-th table, by its first two cells."""
    shown = [block for block in table.blocks if isinstance(block, Table)][which]
    return {row[:2]: dict(zip(shown.columns, row, strict=True)) for row in shown.rows}


def figures(*values: float) -> dict[str, dict[str, float]]:
    """F1 in the four categories; BLEU-1 is half of it."""
    return {c: {"f1_set": value, "bleu1": value / 2} for c, value in zip(FOUR, values, strict=True)}


TABLE_2 = {
    "TiM": figures(0.10, 0.20, 0.30, 0.40),
    "MemoryBank": figures(0.05, 0.25, 0.10, 0.10),
    "MemGPT": figures(0.20, 0.10, 0.20, 0.50),
    "A-Mem": figures(0.25, 0.30, 0.05, 0.20),
    OURS: figures(0.30, 0.45, 0.24, 0.60),
    DEFAULT: figures(0.90, 0.90, 0.90, 0.90),
}


def test_table_2_has_published_figures_ours_macro_averages_ranks_and_improvement() -> None:
    shown = rows(named(tables(found("locomo", TABLE_2)), "memoryos-table-2"))
    ours = shown[OURS, "here"]
    assert (ours["1 Single Hop F1"], ours["2 Multi Hop F1"], ours["3 Temporal F1"]) == ("30.00", "45.00", "24.00")
    assert (ours["4 Open Domain F1"], ours["4 Open Domain BLEU-1"]) == ("60.00", "30.00")
    assert (ours["macro F1"], ours["macro BLEU-1"]) == ("39.75", "19.88")  # (30 + 45 + 24 + 60) / 4
    # ranks of F1 by category: TiM 4 4 1 3, MemoryBank 5 3 4 5, MemGPT 3 5 3 2, A-Mem 2 2 5 4, ours 1 1 2 1
    ranks = {method: shown[method, "here"]["Avg. Rank (F1)"] for method in TABLE_2}
    assert ranks == {"TiM": "3.0", "MemoryBank": "4.2", "MemGPT": "3.2", "A-Mem": "3.2", OURS: "1.2", DEFAULT: ""}
    better = shown["Improvement (%)", "here"]
    assert better["1 Single Hop F1"] == "20.00"  # 30 over A-Mem's 25
    assert better["2 Multi Hop F1"] == "50.00"  # 45 over A-Mem's 30
    assert better["3 Temporal F1"] == "-20.00"  # 24 over TiM's 30
    assert better["4 Open Domain F1"] == "20.00"  # 60 over MemGPT's 50; Ember's default is not among the others

    table = named(tables(found("locomo", TABLE_2)), "memoryos-table-2")
    blocks = next(block for block in table.blocks if isinstance(block, Table))
    of_tim = [row[:3] for row in blocks.rows if row[0] == "TiM"]
    assert of_tim == [
        ("TiM", "paper, GPT-4o-mini", "16.25"),
        ("TiM", "paper, Qwen2.5-3B", "4.37"),
        ("TiM", "here", "10.00"),
    ]
    printed = rows(table)[OURS, "paper, GPT-4o-mini"]
    assert (printed["Avg. Rank (F1)"], printed["macro F1"]) == ("1.0", "36.27")
    assert rows(table)["Improvement (%)", "paper, GPT-4o-mini"]["3 Temporal BLEU-1"] == "111.52"

    short = {method: {c: row[c] for c in ("1", "2", "4")} for method, row in TABLE_2.items()}
    lacking = rows(named(tables(found("locomo", short)), "memoryos-table-2"))[OURS, "here"]
    assert lacking["1 Single Hop F1"] == "30.00"
    assert {lacking["3 Temporal F1"], lacking["macro F1"], lacking["Avg. Rank (F1)"]} == {""}


def test_adversarial_questions_of_a_mem_are_scored_by_their_false_answer_and_refusals_are_told() -> None:
    fifth = {"f1_set_trap": 0.5, "bleu1_trap": 0.25, "f1_set_refusal": 0.9, "abstained": 0.75}
    shown = {
        "A-Mem": {**TABLE_2["A-Mem"], "5": fifth},
        "LoCoMo": {**TABLE_2["TiM"], "5": {**fifth, "f1_set_trap": 0.6}},
    }
    table = named(tables(found("locomo", shown)), "amem-table-1")
    ours = rows(table)["A-Mem", "here"]
    assert (ours["5 Adversarial F1"], ours["5 Adversarial BLEU-1"]) == ("50.00", "25.00")
    assert ours["said that it is not mentioned"] == "75.00"
    # ranks of F1: A-Mem 1 1 2 2 2, LoCoMo 2 2 1 1 1
    assert (ours["Ranking (F1)"], rows(table)["LoCoMo", "here"]["Ranking (F1)"]) == ("1.6", "1.4")
    printed = rows(table)["LoCoMo", "paper, GPT-4o-mini"]
    assert (printed["5 Adversarial F1"], printed["Token length"]) == ("69.23", "16,910")


def test_without_a_run_every_table_has_the_published_figures_with_their_source_alone() -> None:
    made = {table.name: table for table in tables({})}
    assert len(made) == 10
    for name, table in made.items():
        shown = [block for block in table.blocks if isinstance(block, Table)]
        assert all(row[1] != "here" for one in shown for row in one.rows), name
        said = " ".join(block.text for block in table.blocks if isinstance(block, Text))
        drawn = "as a drawing" in said or "appendix B.2" in said
        assert bool(shown) is not drawn, name
    assert ("MemGPT", "paper, GPT-4o-mini") in rows(made["memoryos-table-3"])

    for source in (
        published.MEMORYOS_1,
        published.MEMORYOS_2,
        published.MEMORYOS_3,
        published.AMEM_1,
        published.AMEM_2,
    ):
        assert "paper" in source.source
        assert "Table" in source.source

    assert ", ".join(PARTS) == PART_NAMES


def test_what_is_missing_is_told_of_each_system(tmp_path: Path) -> None:
    labels = [entry.spec.label for entry in PARTS["gvd"].entries]
    folder = tmp_path / RUNS / "gvd"
    folder.mkdir(parents=True)
    (folder / results.PLAN).write_bytes(msgspec.json.encode(header(*labels)))  # two conversations, four questions
    ingested = [learnt(label, talk) for label in labels[2:] for talk in ("u", "v")]
    ingested += [learnt(labels[0], "u"), learnt(labels[1], "u"), learnt(labels[1], "v", failure="ModelReplyError")]
    asked = [result(label, "u", str(n), category="gvd") for label in labels[2:-1] for n in range(4)]
    asked += [result(labels[0], "u", "1", category="gvd"), result(labels[1], "u", "1", category="gvd")]
    asked += [result(labels[-1], "u", str(n), category="gvd") for n in range(3)]
    for name, lines in ((results.INGEST, ingested), (results.RESULTS, asked)):
        (folder / name).write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in lines))
    write(tmp_path, {"locomo": "no LoCoMo data were given"}, scripted=False)
    states = {one["name"]: one["state"] for one in json.loads(texts(tmp_path)["paper.json"])["tables"]}
    assert states["memoryos-table-1"] == (
        "Questions: 4. Not finished: TiM, 1 questions; the same command goes on. "
        "MemoryBank could not learn 1 of the conversations, and was not asked about these. "
        "Not finished: MemoryOS, preset default, 3 questions; the same command goes on."
    )
    assert states["memoryos-table-2"] == "Missing: the part `locomo` was not run; no LoCoMo data were given."
    assert states["memoryos-figure-3"] == "Missing: the part `k` was not run; it was not asked for."


# ------------------------------------------------------------------------------------------------- what is to be run


def test_each_file_goes_to_the_parts_of_its_kind_and_other_data_are_refused(tmp_path: Path) -> None:
    wanted = Experiments.of([LOCOMO])
    assert {part.name for part, _ in wanted.plans()} == {"locomo", "ablation", "k", "amem-ablation", "amem-k"}
    assert wanted.reasons() == {"gvd": "no GVD data were given", "gvd-ablation": "no GVD data were given"}
    both = {part.name: plan for part, plan in Experiments.of([LOCOMO, GVD], ["gvd", "k"]).plans()}
    assert {name: (plan.judges, plan.replies) for name, plan in both.items()} == {
        "k": ((), "choice"),
        "gvd": (("gvd",), "chat"),
    }
    assert both["k"].systems[0].label == "memoryos:preset=paper,top_k=5"
    with pytest.raises(ConfigError, match="no part 'x'; there are: locomo, ablation"):
        Experiments.of([LOCOMO], ["x"])
    with pytest.raises(ConfigError, match="no conversation 'nobody'"):
        Experiments.of([LOCOMO], conversations=["nobody"])
    other = tmp_path / "other.json"
    other.write_text(json.dumps(recall_set()), encoding="utf-8")
    with pytest.raises(ConfigError, match="neither LoCoMo's nor GVD's data; other data sets: embermem bench run"):
        list(Experiments.of([other]).plans())

    named = Experiments.of([LOCOMO, GVD], conversations=["Noor"])
    assert {part.data for part, _ in named.plans()} == {"gvd"}
    assert named.reasons()["locomo"] == "no LoCoMo data were given"

    samples = Experiments.of([LOCOMO, GVD])
    assert [data_of(dataset, "x") for dataset in samples.sets] == ["locomo", "gvd"]
    (talk,) = samples.sets[0].conversations
    assert sorted({question.category for question in talk.questions}) == ["1", "2", "3", "4", "5"]
    assert sum(1 for _ in talk.turns()) > 2 * 2 * 7
    for entry in PARTS["locomo"].entries:
        assert SystemSpec.parse(entry.spec.label) == entry.spec


def test_systems_can_be_left_out_and_the_page_says_so(tmp_path: Path) -> None:
    wanted = Experiments.of([LOCOMO], without=["amem"])
    assert [part.name for part, _ in wanted.plans()] == ["locomo", "ablation", "k"]
    assert wanted.reasons()["amem-k"] == "its systems are left out"
    with pytest.raises(ConfigError, match="no system 'x' in these experiments; there are: amem, full_context"):
        Experiments.of([LOCOMO], without=["x"])
    few = Experiments.of([GVD], ["gvd"], without=["amem", "memgpt", "tim"], conversations=["Emeka"])
    run(few, tmp_path / "r", model=ScriptedModel(), embedder="hashed")
    made = json.loads(texts(tmp_path / "r")["paper.json"])["tables"][0]
    assert made["state"] == "Questions: 2. Left out: TiM, MemGPT, A-Mem."
    here = [row[0] for row in made["tables"][0]["rows"] if row[1] == "here"]
    assert here == ["MemoryBank", OURS, DEFAULT, "Improvement (%)"]


# ---------------------------------------------------------------------------------------------------------- estimates


def test_an_estimate_counts_what_is_learnt_alike_once_and_there_is_a_rate_for_every_system(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for size in sizes(Experiments.of([LOCOMO, GVD])):
        assert size.model.calls > 0
        assert bool(size.judge.prompt_tokens) is (size.part.data == "gvd")

    rate = Rate(page=(2.0, 100.0, 10.0), response=(1.0, 500.0, 20.0), context=300.0)
    names = {SystemSpec.parse(name).name for part in PARTS.values() for name in (s.label for s in part.systems)}
    for name in {*names, "memoryos:preset=paper"}:
        monkeypatch.setitem(RATES, name, rate)
    (sweep,) = sizes(Experiments.of([LOCOMO], ["k"]))
    # 18 pages are learnt once for five k; ten questions are asked with each
    assert (sweep.units, sweep.questions) == (5, 10)
    assert (sweep.model.calls, sweep.model.prompt_tokens) == (18 * 2 + 50, 18 * 100 + 50 * 500)
    assert sweep.model.completion_tokens == 18 * 10 + 50 * 20
    assert sweep.price((Price(prompt=1.0, completion=2.0), Price())) == pytest.approx((26_800 + 2 * 1_180) / 1e6)
    ablation, again = sizes(Experiments.of([LOCOMO], ["ablation", "k"]))
    assert ablation.model.calls == 2 * 18 * 2 + 50  # whole and -Chain learn; -MTM and -LPM learn as whole
    assert again.model.calls == 50  # all of it is learnt in the ablation already
    assert (ablation.judge.calls, sizes(Experiments.of([GVD], ["gvd"]))[0].judge.calls) == (0, 6 * 4)


# ------------------------------------------------------------------------------------------------------- being run


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(answering) as one:
        yield one


@pytest.fixture
def gvd(tmp_path: Path) -> Path:
    folder = tmp_path / "gvd"
    folder.mkdir()
    return gvd_written(folder, bank(), ASKED)


def texts(out: Path) -> dict[str, str]:
    """The page, but for the code that made it."""
    whole = {name: (out / name).read_text(encoding="utf-8") for name in ("paper.md", "paper.json")}
    return {name: re.sub(r"^Made by .*\n\n?", "", text, flags=re.M).strip() for name, text in whole.items()}


@pytest.mark.proof
def test_the_budget_ends_a_run_and_the_next_one_finds_what_an_undisturbed_one_finds(
    tmp_path: Path, gvd: Path, server: ModelServer
) -> None:
    wanted = Experiments.of([gvd], ["gvd-ablation"], conversations=["Petra"])
    more: dict[str, Any] = {"model": model_of(server), "judge": model_of(server), **QUICK}
    run(wanted, tmp_path / "whole", **more)
    cost = paid(tmp_path / "whole", (Price(), Price()))
    assert 0 < cost < 0.1
    calls = server.calls
    for share in (0.4, 0.4):  # what was spent before counts: the second does nothing
        with pytest.raises(BudgetSpent, match="the budget is spent"):
            run(wanted, tmp_path / "r", money=cost * share, **more)
    assert "Not finished: " in texts(tmp_path / "r")["paper.md"]
    run(wanted, tmp_path / "r", money=cost * 1.1, **more)
    assert server.calls == 2 * calls
    assert texts(tmp_path / "r") == texts(tmp_path / "whole")
    assert paid(tmp_path / "r", (Price(), Price())) == pytest.approx(cost)


@pytest.mark.proof
def test_parts_on_the_same_data_ask_alike_questions_once_and_a_part_can_be_added(
    tmp_path: Path, gvd: Path, server: ModelServer
) -> None:
    more: dict[str, Any] = {"model": model_of(server), **QUICK}
    run(Experiments.of([gvd], ["gvd-ablation"], conversations=["Otto"]), tmp_path / "r", **more)
    page = texts(tmp_path / "r")["paper.md"]
    assert "Missing: the part `gvd` was not run; it was not asked for.".replace("`", "\\`") in page
    prompts = [json.dumps([r["messages"], r.get("response_format")]) for r in server.requests]
    assert len(set(prompts)) == len(prompts)
    run(Experiments.of([gvd], ["gvd"], conversations=["Otto"]), tmp_path / "r", **more)
    prompts = [json.dumps([r["messages"], r.get("response_format")]) for r in server.requests]
    assert len(set(prompts)) == len(prompts)
    made = json.loads(texts(tmp_path / "r")["paper.json"])
    states = {table["name"]: table["state"] for table in made["tables"]}
    assert states["memoryos-table-1"] == states["memoryos-figure-2-gvd"] == "Questions: 1."
    assert states["amem-table-1"].startswith("Missing: the part `locomo` was not run")


# --------------------------------------------------------------------------------------------------------- the command

ENVIRONMENT = {"EMBERMEM_EMBEDDER": "hashed"}


def test_a_dry_run_needs_no_package_of_a_model_and_every_table_says_that_its_model_is_scripted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package in ("openai", "matplotlib"):
        monkeypatch.setitem(sys.modules, package, None)
    parts = bounded(("gvd-ablation",), proofs=tuple(PARTS))
    words = [word for part in parts for word in ("--part", part)]
    words += bounded(["--limit", "1", "--conversation", "Emeka"], proofs=[])
    told = cli(tmp_path / "m.db", "bench", "paper", "--dry", *words, "--out", str(tmp_path / "r"), more=ENVIRONMENT)
    assert told.code == 0, told.err
    page = texts(tmp_path / "r")["paper.md"]
    headings = page.split("\n## ")[1:]
    made = {table.title: table for table in tables({})}
    for section in headings[:-1]:
        title = section.partition("\n")[0]
        ran = made[title].part in parts
        assert ("Scripted model" in section) is ran, title
        assert ("Missing: the part" in section) is not ran, title
    assert len(headings) == len(made) + 1
    assert page.startswith("# The papers' tables, measured again\n\nScripted model")
    assert str(tmp_path) not in page + (tmp_path / "r" / "paper.html").read_text(encoding="utf-8")
    for part in parts:
        for name in ("plan.json", "ingest.jsonl", "results.jsonl", "report.md", "report.html"):
            assert (tmp_path / "r" / "runs" / part / name).is_file()
    again = cli(tmp_path / "m.db", "bench", "paper", "--dry", *words, "--out", str(tmp_path / "r"), more=ENVIRONMENT)
    assert again.code == 0
    assert texts(tmp_path / "r")["paper.md"] == page


def test_the_estimate_is_printed_and_nothing_is_done(tmp_path: Path) -> None:
    words = ["bench", "paper", str(LOCOMO), str(GVD), "--out", str(tmp_path / "r"), "--estimate"]
    told = cli(tmp_path / "m.db", *words, "--json", "--price", "0.15,0.60")
    assert [part["part"] for part in told.json["parts"]] == list(PARTS)
    assert all(part["price"] > 0 for part in told.json["parts"])
    assert told.json["model"]["calls"] > 100
    shown = cli(tmp_path / "m.db", *words)
    assert "million tokens" in shown.out
    assert "price" not in shown.out
    assert not (tmp_path / "r").exists()


def test_what_cannot_be_paid_or_lacks_data_or_a_model_is_not_begun(tmp_path: Path, server: ModelServer) -> None:
    for more, said in [
        ((), "and no --budget is given"),
        (("--budget", "0.01"), "is beyond the budget of 0.01"),
        (("--budget", "0.0001", "--price", "0.15,0.60"), "is beyond the budget of 0.00; raise --budget"),
        (("--price", "cheap"), "expected two numbers"),
        (("--judge-price", "1,2"), "--judge-price needs --price"),
    ]:
        environ = {"EMBERMEM_MODEL": "m", "EMBERMEM_MODEL_URL": server.url, "EMBERMEM_MODEL_KEY": "none"}
        words = ["bench", "paper", str(GVD), "--out", str(tmp_path / "r"), *more]
        told = cli(tmp_path / "m.db", *words, more=environ)
        assert told.code != 0
        assert said in " ".join(told.err.replace("│", " ").split())
        assert server.calls == 0
        assert not (tmp_path / "r").exists()

    bare = ["bench", "paper", "--out", str(tmp_path / "r")]
    assert "name the data" in cli(tmp_path / "m.db", *bare).err
    lacking = cli(tmp_path / "m.db", *bare, str(GVD), "--budget", "100")
    assert "name a model with --model or EMBERMEM_MODEL, or try everything with --dry" in lacking.err


@pytest.mark.proof
def test_a_run_that_is_killed_again_and_again_makes_the_same_page(tmp_path: Path, server: ModelServer) -> None:
    more = {"EMBERMEM_MODEL": "scripted", "EMBERMEM_MODEL_URL": server.url, "EMBERMEM_MODEL_KEY": "none", **ENVIRONMENT}
    words = ["bench", "paper", str(GVD), "--part", "gvd", "--part", "gvd-ablation", "--conversation", "Emeka", "--yes"]
    whole = cli(tmp_path / "m.db", *words, "--out", str(tmp_path / "whole"), more=more)
    assert whole.code == 0, whole.err
    calls, kills = server.calls, 0
    for share in (0.05, 0.2, 0.4, 0.6, 0.8):
        one = subprocess.Popen(
            command(*words, "--out", str(tmp_path / "r")),
            env=environment(tmp_path / "m.db", more),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while one.poll() is None and server.calls < calls * (1 + share):
            time.sleep(0.02)
        if one.poll() is None:
            one.send_signal(signal.SIGKILL)
            kills += 1
        one.wait(60)
    done = cli(tmp_path / "m.db", *words, "--out", str(tmp_path / "r"), more=more)
    assert done.code == 0, done.err
    assert kills >= 3
    assert texts(tmp_path / "r") == texts(tmp_path / "whole")
    assert server.calls <= 2 * calls + kills  # what was on its way is lost with who asked


@pytest.mark.proof
def test_the_scripted_model_answers_as_its_server_does(tmp_path: Path, gvd: Path, server: ModelServer) -> None:
    server.reply_with(scripted.answer)
    found: list[str] = []
    for name, model in (("http", model_of(server)), ("here", ScriptedModel())):
        run(Experiments.of([gvd], ["gvd"]), tmp_path / name, model=model, **QUICK)
        found.append(texts(tmp_path / name)["paper.json"])
    assert found[0] == found[1]
