"""What a memory understood: the figures by hand-computed values, the gold of both formats, the sheet, the command."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from small import locomo, recall_set
from test_bench_recall import command
from utterances import AT, context, said

from embermem.core.errors import InputError
from embermem.core.types import About, Fact, FactId, Page, PageId, Segment, SegmentId, Source, Utterance, UtteranceId
from embermem_bench import recall
from embermem_bench.datasets import parse
from embermem_bench.understanding import measures, sheet
from embermem_bench.understanding.gold import Gold, Note, gold_of, load_with_gold
from embermem_bench.understanding.measures import Asking
from embermem_bench.understanding.rows import ROWS
from embermem_bench.understanding.run import Report, run
from embermem_bench.understanding.words import content_words, share

PAGE = Path(__file__).parents[2] / "docs" / "research" / "understanding.md"


def page(*utterances: Utterance) -> Page:
    return Page(id=utterances[0].page_id, no=utterances[0].seq, thread=utterances[0].thread, utterances=utterances)


def by_id(*pages: Page) -> dict[str, Page]:
    return {one.id: one for one in pages}


def fact(text: str, *seqs: int, person: str = "user", attribute: str = "likes", **more: Any) -> Fact:
    made: dict[str, Any] = {
        "id": FactId(f"f-{text}-{seqs}"),
        "about": About.USER,
        "subject": person,
        "person": person,
        "attribute": attribute,
        "value": text,
        "text": text,
        "sources": tuple(Source(seq=seq, utterance_id=UtteranceId(f"u{seq}")) for seq in seqs),
        "valid_from": None,
        "valid_to": None,
        "recorded_at": AT,
    }
    return Fact(**made | more)


def segment(name: str, *pages: str, summary: str = "") -> Segment:
    return Segment(
        id=SegmentId(name),
        summary=summary,
        keywords=(),
        page_ids=tuple(map(PageId, pages)),
        visits=0,
        unanalysed=0,
        last_access=AT,
        archived=False,
        change_no=1,
        recorded_at=AT,
        said_from=AT,
        said_to=AT,
    )


# -------------------------------------------------------------------------------------------------------------- words


def test_content_words_and_their_share() -> None:
    painted = content_words("She's been painting Vera's two walls again, 3 times in 2026!")
    assert painted == {"paint", "vera", "two", "wall", "tim", "2026"}
    assert content_words("running, stopped; berries glasses quickly") == {"runn", "stop", "berr", "glas", "quick"}
    assert content_words("ring bed as") == {"ring", "bed"}

    assert (share(set(), set()), share({"a", "b"}, {"a", "c"}), share({"a"}, set())) == (1.0, 0.5, 0.0)


# -------------------------------------------------------------------------------------------------------------- facts

TALK = (
    said(1, "Vera", "I play the trombone in a brass band."),
    said(2, "Kit", "Lovely. My greenhouse roof leaks."),
    said(3, "Vera", "Mend it!"),
    said(4, "Vera", "I bought a red kayak in Lyon."),
)
TURNS = {f"D1:{u.seq}": u.id for u in TALK}


def test_facts_are_measured_by_hand() -> None:
    facts = (fact("Vera plays the trombone", 1), fact("Vera owns a kayak", 4))
    notes = (
        Note(text="plays trombone in a brass band", turns=("D1:1",)),  # 2 of 4 words
        Note(text="plays trombone", turns=("D1:2",)),  # the neighbour's fact
        Note(text="plays trombone", turns=("D1:3",)),  # only the kayak is near
        Note(text="a trombone and a kayak", turns=("D1:2", "D1:3")),  # half of it at either turn
        Note(text="bought one red wooden kayak cheaply", turns=("D1:4",)),  # 1 of 6 words
    )
    assert measures.facts_held(facts, notes, TALK, TURNS) == {"fact_recall": (3, 5)}

    equal = (fact("likes tea", 1), fact("likes tea", 1, id=FactId("other")), fact("likes tea", 2))
    assert measures.distinct(equal) == (equal[0], equal[2])

    counted = (
        fact("Vera owns a red kayak (2026-03-01)", 4),  # owns is not said: red, kayak; 2 of 3
        fact("Kit bought a red boat", 4),  # bought and red of three
        fact("Vera plays the piano", 1),  # plays of two
    )
    made = measures.facts_made(counted, TALK, 8)
    assert made == {"facts_per_100": (300, 8), "fact_words": (6 + 5 + 4, 3), "fact_grounded": (2, 3)}

    trombone = fact("plays the trombone", 1)
    roof = fact("Kit has a leaking roof", 2, person="Kit")
    sister = fact("lives in Rome", 3, person="Ana")
    asked = (
        Asking(
            context=context(
                "- Vera plays the trombone (said 2026-03-01) [#1]\n- Kit has a leaking roof", facts=(trombone, roof)
            ),
            evidence=frozenset({UtteranceId("u2")}),
        ),
        Asking(
            context=context(
                "- plays  the trombone\n- lives in Rome\n\n#1 Vera: plays the trombone", facts=(trombone, sister)
            ),
            evidence=frozenset({UtteranceId("u1"), UtteranceId("u4")}),
        ),
        Asking(context=context("#1 Vera: I play."), evidence=frozenset({UtteranceId("u1")})),
    )
    told = measures.facts_in_contexts(asked, {u.id: u.speaker for u in TALK})
    assert told == {"context_facts_on_evidence": (2, 4), "context_facts_unnamed": (2, 4), "facts_per_context": (4, 3)}


def test_a_person_is_named_by_the_whole_name_or_the_kin_word_in_the_facts_own_line() -> None:
    for person, line, named in [
        ("Kit", "- kit plays chess", True),
        ("Kit", "- a kitten plays chess", False),
        ("Ana", "- Vera's sister Ana plays chess", True),
        ("Vera's sister", "- Ana plays chess", False),
        ("小安", "- 姐姐小安plays chess", True),
        ("Kit", "- Kit likes tea", False),  # not this fact's line
        ("Kit", "#2 Kit: who plays chess", False),  # an utterance
    ]:
        assert measures.is_named(fact("plays chess", 2, person=person), line, {}) is named

    sister = fact("plays chess", 2, person="Ana", subject="Vera's sister")
    assert measures.is_named(sister, "- Vera's sister plays chess", {})
    assert measures.is_named(sister, "- Ana plays chess", {})
    assert not measures.is_named(sister, "- Vera plays chess", {})


# ----------------------------------------------------------------------------------------------------------- segments


def test_segments_are_measured_by_hand() -> None:
    precision, recalled = measures.b_cubed([("s1", "boat"), ("s1", "boat"), ("s1", "bread"), ("s2", "boat")])
    assert precision == pytest.approx((2 / 3 + 2 / 3 + 1 / 3 + 1) / 4)
    assert recalled == pytest.approx((2 / 3 + 2 / 3 + 1 + 1 / 3) / 4)

    pages = by_id(*(page(said(n, "Vera", "x", thread)) for n, thread in enumerate("aabbc", 1)))
    segments = (segment("s1", "p1", "p2", "p3"), segment("s2", "p5"))
    found = measures.segments_by_project(segments, pages, {"a": "boat", "b": "bread"})
    precision, recall_of = (2 / 3 + 2 / 3 + 1 / 3 + 1) / 4, (1 + 1 + 1 / 2 + 1 / 2) / 4
    assert {count for _, count in found.values()} == {1}
    assert found["b3_precision"][0] == pytest.approx(precision)
    assert found["b3_recall"][0] == pytest.approx(recall_of)
    assert found["b3_f1"][0] == pytest.approx(2 * precision * recall_of / (precision + recall_of))
    assert measures.segments_by_project(segments, pages, {}) == {}

    paged = by_id(*map(page, TALK))
    summed = (
        segment("s1", "p1", summary="Vera plays trombone in a brass band. Yes. Kit sold forty old cucumbers."),
        segment("s2", "p2", "p3", "p4", summary=" "),
        segment("s3", "p2", "p3", "p4", summary="Vera bought a red kayak."),
    )
    made = measures.segments_made(summed, paged)
    assert made == {"single": (1, 3), "filler": (3, 3), "summarised": (1, 2), "summary_own": (2, 3)}

    for text, filler in [
        ("Totally! Bye, take care!", 1),
        ("Vera bought a red kayak with two paddles and seats.", 0),
        ("再见！", 1),
        ("我们昨天去了西湖，看见很多白鹭。", 0),
    ]:
        greeting = by_id(page(said(1, "Vera", "Hello!"), said(2, "Kit", text)))
        (page_id,) = greeting
        assert measures.segments_made((segment("s1", page_id, summary=""),), greeting)["filler"] == (filler, 1)

    overviews = [("Vera", "Vera bought a kayak and sold it"), ("Kit", "nothing")]
    events = {"Vera": "Vera buys a red kayak; sold", "Kit": "a roof"}  # vera, buy, red, kayak, sold
    assert measures.events_covered("overview", overviews, events, 4) == {"overview": (2 / 5, 2)}

    both = measures.added({"a": (1, 2), "b": (1, 1)}, {"a": (2, 3), "c": (0, 0)})
    assert both == {"a": (3, 5), "b": (1, 1), "c": (0, 0)}


# --------------------------------------------------------------------------------------------------------------- gold


def told_set() -> dict[str, Any]:
    """The small recall set with projects and a model's memories, and enough talk that its first pages are analysed."""
    document = recall_set()
    talk = document["conversations"][0]
    for thread, project in zip(talk["threads"], ("boat", "bread", "boat", "Enhanced"), strict=True):
        thread["project"] = project
    talk["threads"][0]["turns"][0]["text"] = "I live in Lyon. I want to repaint the kayak."
    talk["memories"] = [
        {"text": "【boat】 User lives in Lyon.", "evidence": "k1:0", "evidence_thread": "k1"},
        {"text": "User keeps bees.", "evidence": "k1:1"},
        {"text": "Nobody said it.", "evidence": "k9:1"},
        {"text": "It has no turn.", "evidence_thread": "b1"},
    ]
    return document


def test_both_formats_bring_what_should_be_understood(tmp_path: Path) -> None:
    document = told_set()
    of_mara = gold_of(parse(document, "ours", "here"), document, "here")["mara"]
    assert of_mara == Gold(
        notes=(Note(text=" User lives in Lyon.", turns=("k1:0",)), Note(text="User keeps bees.", turns=("k1:1",))),
        project_of={"k1": "boat", "b1": "bread", "k2": "boat"},
    )

    talk = locomo()
    talk[0]["observation"] = {
        "session_1_observation": {
            "Kit": [["Kit mended the roof.", "D1:1"], ["Nobody said it.", "D7:7"]],
            "Vera": [["Vera learns the trombone.", ["D1:2", "D2:1"]]],
        }
    }
    talk[0]["event_summary"] = {
        "events_session_1": {"Kit": ["Kit mends a roof.", "He rests."], "Vera": [], "date": "8 May, 2023"},
        "events_session_2": {"Kit": ["Frost."], "Vera": ["A picture."], "date": "1 June, 2023"},
    }
    gold = gold_of(parse(talk, "ours", "here"), talk, "here")["our-1"]
    assert gold.notes == (
        Note(text=" mended the roof.", turns=("D1:1",)),
        Note(text=" learns the trombone.", turns=("D1:2", "D2:1")),
    )
    assert {name: told.split() for name, told in gold.events.items()} == {
        "Kit": ["Kit", "mends", "a", "roof.", "He", "rests.", "Frost."],
        "Vera": ["A", "picture."],
    }

    wrong = told_set()
    wrong["conversations"][0]["memories"].append({"evidence": "k1:0"})
    file = tmp_path / "bad.json"
    file.write_text(json.dumps(wrong), encoding="utf-8")
    with pytest.raises(InputError, match=r"bad\.json, conversation 1, memory 5: 'text' is missing"):
        load_with_gold(file)


# ---------------------------------------------------------------------------------------------------------------- run


def measured(document: Any, folder: Path) -> Report:
    dataset = parse(document, "ours", "here")
    folder.mkdir(parents=True, exist_ok=True)
    return run(dataset, gold_of(dataset, document, "here"), folder, embedder="hashed", short_term_pages=1, tau=0.0)


def test_a_run_gives_each_figure_that_the_data_allows_those_of_recall_as_bench_recall_does(tmp_path: Path) -> None:
    report = measured(told_set(), tmp_path / "own")
    found = report.as_json()
    assert [row.key for row in ROWS if row.key not in found] == []
    assert (found["pages"], found["notes"], found["asked"]) == (5, 2, 2)
    assert found["fact_recall"] == 0.5
    assert found["facts"] == len(report.facts) > 0
    assert found["facts_per_100"] == 100 * found["facts"] / 5
    assert found["overview_600w"] is found["overview_other_words"] is found["overview_unasked"] is None
    assert found["b3_f1"] is not None
    assert min(found["pages_per_s"], found["pages_per_cpu_s"]) > 0
    assert any("«I live in Lyon" in row.source for row in report.facts)
    (tmp_path / "recall").mkdir()
    data = parse(told_set(), "ours", "here")
    there = recall.run(data, tmp_path / "recall", embedder="hashed", short_term_pages=1, tau=0.0).as_json()
    assert [found[key] for key in ("rec@10", "rec@600w", "thread_any@5")] == [
        there.get(key) for key in ("rec@10", "rec@600w", "thread_any@5")
    ]


def test_a_question_in_mid_conversation_gets_no_fact_that_is_learnt_later(tmp_path: Path) -> None:
    document = told_set()
    talk = document["conversations"][0]
    talk["threads"][3]["turns"][0]["text"] = "I am allergic to kayak paint."
    talk["questions"] = talk["questions"][:1]
    assert measured(document, tmp_path / "then").figures["context_facts_on_evidence"][1] <= 1
    talk["questions"][0] |= {"after_turn": None, "text": "Am I allergic to kayak paint?", "evidence_threads": ["k3"]}
    later = measured(document, tmp_path / "later")
    assert later.figures["context_facts_on_evidence"][0] == 1


# -------------------------------------------------------------------------------------------------------------- sheet


def sheet_rows() -> list[sheet.SheetRow]:
    long = "x" * 400
    pages = [
        page(said(1, "Vera", "Hello."), said(2, "Kit", f"{long}I live in Lyon.{long}"), said(3, "Vera", "Nice.", "t2"))
    ]
    home = fact("Kit lives in Lyon", person="Kit", attribute="lives_in", value="Lyon", valid_from=AT)
    source = Source(seq=2, utterance_id=UtteranceId("u2"), start=400, end=414)
    ended = fact("Vera likes tea", 1, 3, attribute="likes", retired_at=AT, valid_to=AT)
    kept = fact("Vera likes figs", 1, attribute="likes", archived=True)
    return sheet.rows_of("ours", [Fact(**{**fields_of(home), "sources": (source,)}), ended, kept], pages)


def fields_of(made: Fact) -> dict[str, Any]:
    return {name: getattr(made, name) for name in Fact.__dataclass_fields__}


def test_a_sheet_has_the_source_words_in_their_context_and_draws_the_same_for_a_seed() -> None:
    home, ended, kept = sheet_rows()
    around = "x" * sheet.AROUND
    assert home.source == f"Vera: Hello.\n#2 2026-03-01 Kit: …{around}«I live in Lyon»{('.' + around)[: sheet.AROUND]}…"
    assert (home.person, home.attribute, home.value, home.valid_from) == ("Kit", "lives_in", "Lyon", "2026-03-01")
    assert [row.state for row in (home, ended, kept)] == ["current", "past", "archived"]
    assert ended.valid_to == "2026-03-01"
    first, _, second = ended.source.partition("\n---\n")
    assert first.startswith("#1 2026-03-01 Vera: «Hello.»\nKit: x")
    assert second == "#3 2026-03-01 Vera: «Nice.»"  # Kit's turn before it is in another thread

    rows = sheet.rows_of("ours", [fact(f"likes {n}", 1) for n in range(50)], [page(said(1, "Vera", "x"))])
    one, again, other = sheet.drawn(rows, 20, 1), sheet.drawn(rows, 20, 1), sheet.drawn(rows, 20, 2)
    assert one == again != other
    assert len({row.text for row in one}) == 20
    assert len(sheet.drawn(rows, 99, 1)) == 50


def judged_as(file: Path, *verdicts: str) -> Path:
    """The sheet of three facts, one of them of an identity attribute, judged."""
    sheet.write(sheet_rows(), file)
    with file.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    with file.open("w", encoding="utf-8-sig", newline="") as lines:
        writer = csv.DictWriter(lines, list(rows[0]))
        writer.writeheader()
        writer.writerows(row | {"right": verdict} for row, verdict in zip(rows, verdicts, strict=True))
    return file


def test_judgements_are_counted_and_a_sheet_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    for verdicts, found in [
        (("y", "n", " Yes"), sheet.Judged(judged=3, right=2, identity_judged=1, identity_right=1, not_judged=0)),
        (("no", "", "Y"), sheet.Judged(judged=2, right=1, identity_judged=1, identity_right=0, not_judged=1)),
        (("", "", ""), sheet.Judged(judged=0, right=0, identity_judged=0, identity_right=0, not_judged=3)),
    ]:
        assert sheet.judged(judged_as(tmp_path / f"{len(verdicts[0])}-{found.judged}.csv", *verdicts)) == found

    wrong = judged_as(tmp_path / "sheet.csv", "y", "perhaps", "n")
    with pytest.raises(InputError, match=r"line 2: right is 'perhaps'; write y or n"):
        sheet.judged(wrong)
    with pytest.raises(InputError, match=r"sheet\.csv exists"):
        sheet.write(sheet_rows(), wrong)
    other = tmp_path / "other.csv"
    other.write_text("attribute,text\nlikes,tea\n", encoding="utf-8")
    with pytest.raises(InputError, match="has no column right: not such a sheet"):
        sheet.judged(other)
    with pytest.raises(InputError, match=r"cannot read .*none\.csv"):
        sheet.judged(tmp_path / "none.csv")


# ------------------------------------------------------------------------------------------------ command and document


def test_the_page_defines_every_figure_and_gives_it_a_value() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    for row in ROWS:
        assert [line for line in lines if line.startswith(f"| `{row.key}` |")] != [], row.key


@pytest.mark.proof
def test_the_command_prints_each_file_writes_a_sheet_and_reads_it_back(tmp_path: Path) -> None:
    files = []
    long = told_set()
    turns = long["conversations"][0]["threads"][0]["turns"]
    turns += [turn | {"id": f"k1:{n}", "text": "Rain again."} for n, turn in enumerate(turns * 12, 10)]
    for name, document in (("one", long), ("two", locomo())):
        files.append(str(tmp_path / f"{name}.json"))
        Path(files[-1]).write_text(json.dumps(document), encoding="utf-8")
    drawn = tmp_path / "sheet.csv"
    done = command("understanding", *files, "--limit", "1", "--json", "--sample", "1", "--out", str(drawn))
    assert [report["conversations"] for report in json.loads(done.out)] == [1, 1]
    assert "sheet.csv: 1;" in "".join(done.err.split("\n"))
    drawn.write_text(drawn.read_text(encoding="utf-8").replace("\n,", "\ny,", 1), encoding="utf-8")
    found = json.loads(command("understanding", "--judged", str(drawn), "--json").out)
    assert (found["judged"], found["facts_right"]) == (1, 1.0)
    shown = command("understanding", files[1])
    assert all(row.heading in shown.out for row in ROWS)
    assert "facts right" in command("understanding", "--judged", str(drawn)).out


def test_segments_are_written_to_be_read_and_their_judgements_counted(tmp_path: Path) -> None:
    told = tmp_path / "told.json"
    document = told_set()
    turns = document["conversations"][0]["threads"][0]["turns"]
    turns += [turn | {"id": f"k1:{n}", "text": "The harbour ferry was late."} for n, turn in enumerate(turns * 12, 10)]
    told.write_text(json.dumps(document), encoding="utf-8")
    drawn = tmp_path / "segments.csv"
    command("understanding", str(told), "--segments", "2", "--seed", "3", "--out", str(drawn))
    with drawn.open(encoding="utf-8", newline="") as lines:
        drawn_rows = list(csv.DictReader(lines))
    assert drawn_rows
    assert {"accept", "title", "keywords", "summary", "lines"} <= set(drawn_rows[0])
    assert all(row["summary"] and row["lines"] and not row["accept"] for row in drawn_rows)
    with drawn.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, list(drawn_rows[0]))
        writer.writeheader()
        writer.writerows([row | {"accept": "y" if n else "n"} for n, row in enumerate(drawn_rows)])
    found = json.loads(command("understanding", "--judged", str(drawn), "--json").out)
    assert found["judged"] == len(drawn_rows)
    assert found["accepted"] == len(drawn_rows) - 1
    assert "segments accepted" in command("understanding", "--judged", str(drawn)).out


def test_message_sets_are_counted_a_row_each_and_a_line_that_is_none_says_what_was_expected(tmp_path: Path) -> None:
    def history(*said: str, **expected: str) -> dict[str, Any]:
        messages = [{"at": f"2026-05-{day:02}", "text": text} for day, text in enumerate(said, 4)]
        return {"lang": "en", "messages": messages} | expected

    def files(sets: dict[str, list[dict[str, Any]]]) -> list[str]:
        for name, lines in sets.items():
            made = "\n\n".join(json.dumps({"id": f"i{n}"} | line) for n, line in enumerate(lines))
            (tmp_path / f"{name}.jsonl").write_text(made, encoding="utf-8")
        return [str(tmp_path / f"{name}.jsonl") for name in sets]

    moved = history("I live in Lyon.", "I moved to Nantes.", old="Lyon", new="nantes")
    stayed = history("I live in Lyon.", "Nantes, again and again.", old="Lyon", new="Nantes")
    left = history("Rain again.", old="Lyon", new="")
    stayed_there = history("I live in Lyon.", "Rain again.", holds="Lyon")
    moved_away = history("I live in Lyon.", "I moved to Nantes.", holds="Lyon")
    lives = {"lang": "en", "text": "I live in Lyon.", "value": "Lyon"}
    names = files(
        {
            "changed": [moved, stayed, left],
            "near": [stayed_there, moved_away, history("Rain.", holds="Lyon")],
            "said": [lives, lives | {"value": "Nantes"}, lives | {"lang": "de"}],
            "idle": [{"lang": "en", "text": "Rain again."}, {"lang": "en", "text": "I live in Lyon."}],
        }
    )
    done = command("understanding", *names, "--json")
    assert "rules alone read the message sets: run `embermem model install`" in " ".join(done.err.split())
    common = {"preset": "default", "embedder": "hashed-ngram-v1", "reader": False}
    languages = {"de": {"noted": 1, "items": 1}, "en": {"noted": 1, "items": 2}}
    changes = {"old_current": 1, "new_expected": 2, "new_noted": 1, "both_right": 2}
    found = [{key: value for key, value in one.items() if common.get(key) != value} for one in json.loads(done.out)]
    assert found == [
        {"name": "changed", "kind": "changes", "items": 3} | changes,
        {"name": "near", "kind": "near misses", "items": 3, "still_noted": 1, "ended": 1},
        {"name": "said", "kind": "statements", "items": 3, "noted": 2, "by_language": languages},
        {"name": "idle", "kind": "nothing to note", "items": 2, "with_fact": 1},
    ]
    assert json.loads(command("understanding", names[3], "--limit", "1", "--json").out)["with_fact"] == 0
    shown = command("understanding", *names).out
    assert all(word in shown for word in ("both right", "near misses", "with fact", "de 1/1, en 1/2"))

    for lines, why in [
        ([{"lang": "en", "said": "Rain."}], "line 1: the fields are id, lang, said; expected id, lang, and one of"),
        ([lives, moved], "line 3: the fields are those of 'changes', the first line's those of 'statements'"),
        ([lives, lives | {"id": "i0"}], "line 3: the id 'i0' stands there twice"),
        ([lives | {"value": ""}], "line 1: 'value' is missing or not a text"),
        ([history(holds="Lyon")], "line 1: there is no message in it"),
        ([moved | {"messages": [{"at": "May", "text": "Rain."}]}], "line 1, message 1: at = 'May' is not a day"),
        ([moved | {"messages": [{"text": "Rain."}]}], "line 1, message 1: the fields are text; expected at, text"),
        ([], "there is no line in it"),
    ]:
        done = command("understanding", *files({"bad": lines}))
        assert (done.code, done.out) == (1, "")
        assert why in " ".join(done.err.split())


def test_options_that_do_not_go_together_are_refused() -> None:
    for arguments, why in [
        ((), "no FILE is given"),
        (("a.json", "--sample", "5"), "--sample, --segments or --contexts and --out go"),
        (("a.json", "--judged", "s.csv"), "--judged only reads its sheet"),
        (("a.jsonl", "--sample", "5", "--out", "s.csv"), "a.jsonl is a message set; a sheet is drawn from conver"),
        (("a.json", "--segments", "5"), "--contexts and --out go together"),
        (("a.json", "--segments", "5", "--sample", "5", "--out", "s.csv"), "--contexts write one sheet each"),
    ]:
        done = command("understanding", *arguments)
        assert (done.code, done.out) == (2, "")
        assert why in " ".join(done.err.replace("│", " ").split())
