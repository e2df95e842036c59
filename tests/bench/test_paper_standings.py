"""Macro averages, ranks and improvements: by hand, and held against every cell that the papers print of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from embermem_bench.papers import published
from embermem_bench.papers.published import FIVE, FOUR, OURS, Published, locomo_columns
from embermem_bench.papers.standings import average_ranks, improvement, macro

TABLE_2 = published.MEMORYOS_2
AGAINST_A_MEM = {("Qwen2.5-3B", "3 f1"): 44.60, ("Qwen2.5-7B", "correctness"): 2.62}
"""Two of 22 printed improvements are over A-Mem where MemGPT is better; the improvement over MemGPT."""


def measured(table: Published, model: str) -> Mapping[str, published.Row]:
    return {name: row for name, row in table.rows[model].items() if name != published.CITED}


# ------------------------------------------------------------------------------------------------------------ by hand


def test_averages_ranks_and_improvements_by_hand() -> None:
    assert macro([10.0, 20.0, 30.0, 60.0]) == 30.0
    assert macro([10.0, None]) is None
    assert macro([]) is None

    rows = {"a": [9.0, 1.0, 5.0], "b": [8.0, 3.0, 5.0], "c": [7.0, 2.0, 6.0]}
    # a: 1, 3, 2; b: 2, 1, 2; c: 3, 2, 1
    assert average_ranks(rows) == {"a": 2.0, "b": pytest.approx(5 / 3), "c": 2.0}

    assert average_ranks({"a": [1.0, 1.0], "b": [9.0, None], "c": [0.5, 2.0]}) == {"a": 1.5, "b": None, "c": 1.5}
    assert average_ranks({}) == {}
    assert average_ranks({"a": []}) == {"a": None}

    assert improvement(30.0, [20.0, 25.0, None]) == pytest.approx(20.0)
    assert improvement(20.0, [25.0]) == pytest.approx(-20.0)
    assert improvement(None, [25.0]) is None
    assert improvement(20.0, [None]) is None
    assert improvement(20.0, [0.0]) is None


# ----------------------------------------------------------------------------------------------------- as it is printed


def improvements() -> Iterator[tuple[Published, str, str]]:
    for table in (TABLE_2, published.MEMORYOS_1):
        for model, row in table.improvement.items():
            yield from ((table, model, column) for column in row)


def test_the_improvements_of_the_memoryos_paper_are_over_the_best_measured_system() -> None:
    for table, model, column in list(improvements()):
        rows = measured(table, model)
        found = improvement(rows[OURS][column], [row[column] for name, row in rows.items() if name != OURS])
        step = 0.005 if table is TABLE_2 else 0.05
        printed = table.improvement[model][column]
        if (model, column) in AGAINST_A_MEM:
            assert found == pytest.approx(AGAINST_A_MEM[model, column], abs=0.005)
            assert improvement(rows[OURS][column], [rows["A-Mem"][column]]) == pytest.approx(printed, abs=step)
        else:
            assert found == pytest.approx(printed, abs=step + 1e-9)


def test_the_average_ranks_of_table_2_are_those_of_the_systems_that_were_measured() -> None:
    for model in TABLE_2.ranks:
        for place, metric in [(0, "f1"), (1, "bleu1")]:
            rows = measured(TABLE_2, model)
            found = average_ranks({name: [row[f"{c} {metric}"] for c in FOUR] for name, row in rows.items()})
            for name, rank in found.items():
                assert rank == pytest.approx(
                    TABLE_2.ranks[model][name][place], abs=0.05 + 1e-9
                )  # one digit; 2.25 is 2.2 and 2.3


def test_means_of_the_abstract_and_of_table_3_are_not_those_of_table_2() -> None:
    row = TABLE_2.improvement["GPT-4o-mini"]
    assert macro([row[f"{c} bleu1"] for c in FOUR]) == pytest.approx(46.18, abs=0.005)
    assert macro([row[f"{c} f1"] for c in FOUR]) == pytest.approx(48.36, abs=0.005)  # the abstract says 49.11

    means = {name: macro([row[f"{c} f1"] for c in FOUR]) for name, row in measured(TABLE_2, "GPT-4o-mini").items()}
    printed = {name: row["f1"] for name, row in published.MEMORYOS_3.rows["GPT-4o-mini"].items()}
    apart = {name: round((mean or 0.0) - printed[name], 2) for name, mean in means.items()}
    assert apart == {"TiM": -1.32, "MemoryBank": -0.13, "MemGPT": -3.54, "A-Mem": -2.05, OURS: 0.04}


def test_rows_that_two_tables_print_are_the_same() -> None:
    columns = locomo_columns(FOUR)
    for model in ("GPT-4o-mini", "Qwen2.5-3B"):
        ours, theirs = TABLE_2.rows[model], published.AMEM_1.rows[model]
        for one, other in (("MemoryBank", "MemoryBank"), ("MemGPT", "MemGPT"), (published.CITED, "A-Mem")):
            assert {c: ours[one][c] for c in columns} == {c: theirs[other][c] for c in columns}

    whole = published.AMEM_1.rows["GPT-4o-mini"]["A-Mem"]
    five = locomo_columns(FIVE)
    assert {c: whole[c] for c in five} == dict(published.AMEM_2.rows["GPT-4o-mini"]["A-Mem"])
