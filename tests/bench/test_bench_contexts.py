"""What the contexts of questions hold: the figures by hand-computed values, and the sheet of contexts."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from small import locomo
from test_bench_recall import command
from utterances import context, said

from embermem.core.types import UtteranceId
from embermem_bench.datasets import Question
from embermem_bench.recall import packed_within
from embermem_bench.understanding import context_sheet, contexts, sheet


def test_the_figures_of_contexts_by_hand() -> None:
    for line, found in [
        ("#1 Ann: We met last Saturday.", ["last Saturday"]),
        ("#1 Ann: We met last Saturday [2026-03-07].", []),
        ("#1 Ann: Two weeks ago, on 20 February, we met.", []),
        ("#1 Ann: I swam yesterday, and tomorrow I rest.", ["yesterday", "tomorrow"]),
        ("#1 Ann: She will come in three days.", ["in three days"]),
        ("#1 Ann: The day before, this weekend, tonight.", ["The day before", "this weekend", "tonight"]),
        ("#1 Ann: Recently, the other day, the last day of it, in one day.", []),
        ("2026-03-09 Mon:", []),
    ]:
        assert contexts.unresolved(line) == found

    talk = [said(1, "Ann", "Where?"), said(2, "Bo", "No.", "t2"), said(3, "Ann", "Here?"), said(4, "Bo", "There.")]
    assert contexts.answers_of(talk) == {"u1": "u4", "u3": "u4"}

    for said_so, asks in [("Where? 😊", True), ("你呢？", True), ("Where? There.", False), ("Where? [photo]", False)]:
        assert contexts.asks(said_so) is asks

    ask, answer = said(1, "Ann", "Where did you go on your long way home?"), said(2, "Bo", "To the lake.")
    again = said(3, "Ann", "Which of the many lakes over there was it then?")
    text = f"2026-03-09 Mon:\n#1 Ann: {ask.text}\n#2 Bo: {answer.text}\n#3 Ann: {again.text}"
    made = contexts.figures(
        [context(text, ask, answer, again), context("I swam yesterday.")],
        {ask.id: answer.id, again.id: UtteranceId("u4")},
        300,
    )
    assert made["relative_300"] == (1, 2)
    assert made["unanswered_300"] == (1, 2)
    assert made["short_300"] == (3, 3)  # way home; lake; lake, over
    assert made["tokens_300"] == (len(text.split()) + 3, 2)
    assert contexts.unrelated([context("a b"), context("")]) == {"unrelated_tokens": (2, 2)}

    one = said(1, "Ann", "We met last Saturday, and  we swam.")
    shown = context("#1 Ann: We met last Saturday [2026-03-07], and we swam.", one)
    assert packed_within(shown, 100).whole == {one.id}
    assert packed_within(context("#1 Ann: We met last Saturday […]", one), 100).whole == frozenset()


def test_judged_contexts_are_counted(tmp_path: Path) -> None:
    question = Question(id="q", text="Where?", category="1", answer="There")
    rows = [context_sheet.row_of("c", question, context(f"text {n}")) for n in range(3)]
    file = tmp_path / "contexts.csv"
    sheet.write(rows, file, context_sheet.ContextRow)
    with file.open(encoding="utf-8", newline="") as lines:
        read = list(csv.DictReader(lines))
    first = read[0]
    assert (first["question"], first["gold"], first["context"], first["answers"]) == ("Where?", "There", "text 0", "")
    with file.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.DictWriter(lines, list(read[0]))
        writer.writeheader()
        writer.writerows(row | {"answers": verdict} for row, verdict in zip(read, ("y", "no", ""), strict=True))
    assert context_sheet.judged(file) == context_sheet.Answered(judged=2, answers=1, not_judged=1)


def test_the_command_writes_one_sheet_of_contexts_and_reads_it_back(tmp_path: Path) -> None:
    file, drawn = tmp_path / "one.json", tmp_path / "contexts.csv"
    file.write_text(json.dumps(locomo()), encoding="utf-8")
    command("understanding", str(file), "--json", "--contexts", "1", "--tokens", "200", "--out", str(drawn))
    with drawn.open(encoding="utf-8", newline="") as lines:
        (row,) = csv.DictReader(lines)
    assert int(row["tokens"]) <= 200
    found = json.loads(command("understanding", "--judged", str(drawn), "--json").out)
    assert (found["judged"], found["not_judged"], found["contexts_answer"]) == (0, 1, None)
    assert "contexts that answer" in command("understanding", "--judged", str(drawn)).out

    done = command("understanding", "a.json", "--sample", "1", "--contexts", "1", "--out", "x.csv")
    assert (done.code, done.out) == (2, "")
    assert "one sheet each" in " ".join(done.err.replace("│", " ").split())
