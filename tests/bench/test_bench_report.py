"""The report, by numbers worked out by hand on a few lines of results; and it never reads data as markup."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from embermem.core.errors import InputError
from embermem_bench import report, results
from embermem_bench.blocks import Heading, Table
from embermem_bench.results import Header, Ingest, Result, Results, Source, Spent, Verdict

HOSTILE = "<script>alert(1)</script> | `x` [link](javascript:alert(1)) \x1b[31m\n# heading & \"quotes\" 'too'"


def header(*systems: str, **more: Any) -> Header:
    given: dict[str, Any] = {
        "data": (Source(name="d", file="d.json", sha256="ab" * 32, conversations=2, questions=4),),
        "systems": systems or ("one", "two"),
        "seeds": (0,),
        "limit": None,
        "conversations": (),
        "budget": None,
        "judges": ("strict", "lenient"),
        "model": "m",
        "embedder": "e",
        "counter": "approx",
    }
    return Header(**{**given, **more})


def asked(system: str, talk: str, question: str, values: Mapping[str, float] | None = None, **more: Any) -> Result:
    given: dict[str, Any] = {
        "dataset": "d",
        "seed": 0,
        "category": "c",
        "headline": True,
        "answerable": True,
        "gold": "g",
        "evidence": (),
        "evidence_threads": (),
        "ranking": (),
        "packed": (),
        "told": (),
        "confidence": 0.5,
        "context_tokens": 100,
        "answer": "a",
        "verdicts": (),
        "recall": Spent(ms=10.0),
        "answering": Spent(calls=1, prompt_tokens=150, completion_tokens=10, ms=1000.0),
        "judging": Spent(calls=2, prompt_tokens=900, completion_tokens=90, ms=5.0),
    }
    return Result(system=system, conversation=talk, question=question, values=values or {}, **{**given, **more})


def learnt(system: str, talk: str, **more: Any) -> Ingest:
    given: dict[str, Any] = {
        "dataset": "d",
        "turns": 8,
        "pages": 4,
        "spent": Spent(calls=2, prompt_tokens=70, completion_tokens=10, ms=400.0),
    }
    return Ingest(system=system, conversation=talk, seed=0, **{**given, **more})


def judged(strict: float, lenient: float) -> tuple[Verdict, ...]:
    return Verdict(judge="strict", scores={"correct": strict}), Verdict(judge="lenient", scores={"correct": lenient})


def values(mrr: float, found: float, f1: float, abstained: float = 0.0) -> dict[str, float]:
    return {"mrr": mrr, "rec@10": found, "f1_locomo": f1, "abstained": abstained}


def two() -> Results:
    """Two systems, two conversations: the first finds 1, ½ of u and 0 of v; the second ½ less of u."""
    none = {"mrr": 1.0, "rec@10": 1.0, "abstained": 1.0}
    return Results(
        headers=(header(),),
        ingested=(
            learnt("one", "u"),
            learnt("one", "v"),
            learnt("two", "u"),
            learnt("two", "v", failure="ModelReplyError"),
        ),
        results=(
            asked("one", "u", "1", values(1.0, 1.0, 0.8), verdicts=judged(1, 1)),
            asked("one", "u", "2", values(0.5, 0.5, 0.4, 1.0), verdicts=judged(0, 1)),
            asked("one", "v", "3", values(0.0, 0.0, 0.0), verdicts=judged(0, 0)),
            asked("one", "v", "4", none, headline=False, answerable=False, gold=None),
            asked("two", "u", "1", values(1.0, 0.5, 0.4), context_tokens=300),
            asked("two", "u", "2", values(0.5, 0.0, 0.0), context_tokens=500),
        ),
    )


def table(text: str, heading: str) -> list[list[str]]:
    """The cells of the first table under a heading, row by row."""
    after = text[text.index(f"{heading}\n") :]
    rows = re.search(r"((?:^\|.*\|\n)+)", after, re.M)
    assert rows is not None
    return [
        [cell.strip() for cell in line.strip("|\n").split(" | ")] for line in rows[1].splitlines() if "---" not in line
    ]


# ------------------------------------------------------------------------------------------------------------- figures


def test_figures_by_hand() -> None:
    one = two().of(system="one", headline=True)
    assert results.evidence(one)["rec@10"] == pytest.approx((1.0 + 0.5 + 0.0) / 3)
    assert results.evidence(one)["packed"] is None
    assert results.answers(one)["f1_locomo"] == pytest.approx(0.4)
    assert results.answers(one)["bleu1"] is None

    abstained = results.abstention(two().of(system="one"))
    assert (abstained["right"], abstained["right_locomo"]) == (1.0, None)
    assert abstained["wrong"] == pytest.approx(1 / 3)

    cost = results.cost(two().learnt(system="one"), two().of(system="one"))
    assert (cost.calls_a_page, cost.tokens_a_page, cost.ms_a_page) == (0.5, 20.0, 100.0)
    assert (cost.calls_a_response, cost.tokens_a_response) == (1.0, 160.0)
    assert (cost.recall_ms_p50, cost.answer_ms_p50) == (10.0, 1000.0)

    replayed = asked("one", "u", "9", recall=Spent(ms=None), answering=Spent(calls=1, ms=None))
    cost = results.cost([learnt("one", "u", spent=Spent(calls=8))], [replayed])
    assert (cost.ms_a_page, cost.recall_ms_p50, cost.answer_ms_p50) == (None, None, None)
    assert cost.calls_a_page == 2.0

    agreed = results.agreement(two().of(system="one"), "strict.correct", "lenient.correct")
    # 2 of 3 the same; by chance: ⅓·⅔ + ⅔·⅓ = 4/9 are not, 1/3 are not in fact: κ = 1 − (1/3)/(5/9)
    assert agreed.judged == 3
    assert agreed.share == pytest.approx(2 / 3)
    assert agreed.kappa == pytest.approx(0.4)

    apart = results.difference(two().of(system="two"), two().of(system="one"), "rec@10")
    assert apart.mean == pytest.approx(-0.5)
    assert (apart.questions, apart.low) == (2, None)  # of one conversation: nothing is said of others

    interval = results.interval(two().of(system="one", headline=True), "rec@10")
    assert interval.low is not None
    assert interval.high is not None
    assert interval.mean is not None
    assert 0.0 <= interval.low <= interval.mean <= interval.high <= 0.75


# ---------------------------------------------------------------------------------------------------------- the report


def test_the_report_has_the_numbers_worked_out_by_hand() -> None:
    text = report.markdown(two(), baseline="one")
    assert table(text, "### What was run")[1:] == [
        ["one", "2 of 2", "0", "8", "0", "4 of 4", "3", "0"],
        ["two", "1 of 2", "1", "4", "0", "2 of 4", "2", "0"],
    ]
    evidence = table(text, "### Finding the evidence")
    assert evidence[1] == ["one", "3", "", "", "0.500", "", "", "", "0.500", "", "", "100", "100"]
    assert evidence[2] == ["two", "2", "", "", "0.250", "", "", "", "0.750", "", "", "400", "300"]
    assert table(text, "### What it costs")[1] == [
        "one",
        "0.500",
        "20.0",
        "100",
        "1.000",
        "160",
        "10.0",
        "10.0",
        "1,000",
    ]
    answers = table(text, "### Answers against gold answers")
    assert answers[0] == ["system", "n", "f1_locomo"]
    assert answers[1][2].startswith("0.400 \\[")
    assert table(text, "### Saying that it is not known")[1] == ["one", "1", "1.000", "", "3", "0.333"]
    assert table(text, "How far the strict and the lenient judge agree:")[1] == ["one", "3", "0.667", "0.400"]
    assert table(text, "### Differences to one")[1] == ["two", "2", "-0.500", "-0.400", "", ""]


def test_it_says_how_it_was_made_whether_it_is_finished_and_names_no_folder() -> None:
    made = header(settings={"top_k": "5"}, limit=7, judges=("strict",), budget=600, seeds=(1, 2))
    one = Results(headers=(made,), ingested=(learnt("one", "u", made_by="embermem 9, commit abc"),), results=())
    text = report.markdown(one)
    assert "SHA-256 " + "ab" * 32 in text
    assert "top_k=5" in text
    assert "commit abc" in text
    command = (
        "embermem bench run d.json --system one --system two --seed 1 --seed 2 --limit 7 --budget 600 --judge strict"
    )
    assert f"    {command} --model m --out RUN" in text

    whole = Results(headers=(header("one"),), ingested=two().learnt(system="one"), results=two().of(system="one"))
    assert "not finished" not in report.markdown(whole)
    for less in (replace(whole, results=whole.results[:-1]), replace(whole, ingested=whole.ingested[:-1])):
        assert "The run is not finished" in report.markdown(less)


def test_categories_of_locomo_have_both_names_threads_are_said_to_be_evidence_and_a_baseline_must_have_run() -> None:
    both = [asked("one", "u", "1", {"mrr": 1.0}, category="1"), asked("one", "u", "2", {"mrr": 1.0}, category="4")]
    for locomo, label in ((True, "1 multi-hop (single-hop in papers' order)"), (False, "1")):
        source = Source(name="d", file="d.json", sha256="", conversations=1, questions=2, locomo=locomo)
        text = report.markdown(Results(headers=(header("one", data=(source,)),), ingested=(), results=tuple(both)))
        assert table(text, "### By category")[1][0] == label

    one = asked("one", "u", "1", {"thread_mrr": 0.5, "thread_rec@10": 1.0})
    threads = report.markdown(Results(headers=(header("one"),), ingested=(), results=(one,)))
    assert table(threads, "### Finding the evidence")[1][4] == "1.000"
    assert "The evidence is threads" in threads

    with pytest.raises(InputError, match="no system 'three' in these runs; there are: one, two"):
        report.markdown(two(), baseline="three")


class Seen(HTMLParser):
    """Which tags there are, and what text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


TAGS = {"html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "h3", "p", "pre", "div", "table", "thead"}
TAGS |= {"tbody", "tr", "th", "td"}


def hostile(text: str) -> Results:
    """Everything that comes from outside is this text."""
    source = Source(name=text, file=text, sha256=text, conversations=1, questions=1)
    made = header(text, "two", data=(source,), model=text, embedder=text, settings={"timezone": text})
    verdict = Verdict(judge="strict", scores={text: 1.0}, reason=text)
    figures = {"mrr": 1.0, "f1_locomo": 1.0}
    one = asked(text, text, "1", figures, dataset=text, category=text, verdicts=(verdict,))
    other = asked("two", text, "1", figures, dataset=text, category="other")
    return Results(headers=(made,), ingested=(learnt(text, text, dataset=text, made_by=text),), results=(one, other))


def test_hostile_text_stays_text_in_html_and_markdown() -> None:
    page = report.html_page(hostile(HOSTILE))
    seen = Seen(page)
    assert seen.tags == TAGS
    assert seen.attributes <= {"lang", "charset", "name", "content", "http-equiv", "class", "scope"}
    assert "<script>alert(1)</script> | `x`" in seen.text
    assert "\x1b" not in page
    assert "http://" not in page
    assert "https://" not in page

    text = report.markdown(hostile(HOSTILE))
    assert not re.search(r"(?<!\\)[<`\[]", text.partition("## How it was made")[0])
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in rows} >= {9}
    assert all(line.endswith("|") for line in rows)


@given(st.text(min_size=1, max_size=30))
def test_any_text_stays_text(text: str) -> None:
    assert Seen(report.html_page(hostile(text))).tags <= TAGS
    marked = report.markdown(hostile(text))
    headings = [line for line in marked.splitlines() if line.startswith("#")]
    assert len(headings) == len([b for b in report.blocks(hostile(text)) if isinstance(b, Heading)])
    for block in report.blocks(hostile(text)):
        if isinstance(block, Table):
            assert {len(row) for row in block.rows} == {len(block.columns)}


# ------------------------------------------------------------------------------------------------------------ the files


def kept(folder: Path, found: Results) -> Path:
    folder.mkdir()
    (folder / "plan.json").write_bytes(msgspec.json.encode(found.headers[0]))
    for name, records in (("ingest.jsonl", found.ingested), ("results.jsonl", found.results)):
        (folder / name).write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in records))
    return folder


def test_what_is_written_is_read_again_and_several_runs_as_one(tmp_path: Path) -> None:
    assert results.load(kept(tmp_path / "r", two())) == two()

    first = kept(tmp_path / "a", two())
    more = Results(headers=(header("three"),), ingested=(), results=(asked("three", "u", "1"),))
    both = results.load(first, kept(tmp_path / "b", more))
    assert both.systems == ("one", "two", "three")
    assert len(both.results) == 7
    with pytest.raises(InputError, match="two of the runs hold one on d, 1"):
        results.load(first, kept(tmp_path / "c", two()))

    folder = kept(tmp_path / "line", two())
    with (folder / "results.jsonl").open("ab") as file:
        file.write(b'{"system": 3}\n')
    with pytest.raises(InputError, match=r"results\.jsonl, line 7"):
        results.load(folder)

    with pytest.raises(InputError, match="holds no run of the bench"):
        results.load(tmp_path)
