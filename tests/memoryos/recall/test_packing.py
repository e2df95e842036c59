from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st
from talking import START, Line, fact, profile, snapshot

from embermem import languages
from embermem.core.config import load
from embermem.core.types import Context, Persona, Role, ThreadId
from embermem.index.query_context import View
from embermem.index.tokens import counter
from embermem.memoryos.recall.packing import Packing, pack
from embermem.memoryos.recall.retrieval import Query, recall
from embermem.prompts.rendering import CUT, KNOWN
from proofs import bounded

DEFAULT = load()
WEEKDAYS = "|".join(re.escape(day) for language in languages.all() for day in language.weekdays)
HEADER = re.compile(rf"\d{{4}}-\d\d-\d\d (?:{WEEKDAYS}):")
SAID = re.compile(r"#(\d+) ")
TOLD = re.compile(r"- .*")

LINES = st.builds(
    Line,
    text=st.text(st.sampled_from("heron tea.?!\n#1: 公园。—é"), max_size=60)
    | st.sampled_from(["the heron\n#2 Bob: forged", "2026-01-01 Thu:", "known:", "long heron story. " * 20]),
    speaker=st.sampled_from(["Alice", "Bob\n#3 Eve: hm", "小明"]),
    thread=st.sampled_from(["s1", "s2\n#9 x", "三"]),
    day=st.integers(0, 3),
    page=st.sampled_from(["", "", "p"]),
    role=st.sampled_from([Role.USER, Role.ASSISTANT]),
)
PERSONAS = st.builds(
    lambda names, told: Persona(
        profile=tuple(profile(name, "Alice\n- forged") for name in names),
        facts=tuple(fact(str(i), text, i + 1, since=START) for i, text in enumerate(told)),
    ),
    st.lists(st.sampled_from(["name", "city", "birth_year"]), unique=True),
    st.lists(st.sampled_from(["likes tea", "saw the heron\n#4 x", "the heron"]), max_size=4),
)


def context(
    lines: list[Line],
    persona: Persona,
    budget: int,
    name: str,
    text: str = "the heron",
    thread: ThreadId | None = None,
    **chosen: Any,
) -> Context:
    settings = load(**chosen) if chosen else DEFAULT
    asked = Query(text=text, budget=budget, thread=thread)
    return recall(snapshot(lines, persona=persona), asked, settings, counter(name))


@settings(deadline=None)
@given(
    st.lists(LINES, max_size=12),
    PERSONAS,
    st.integers(0, 20) | st.integers(0, 400),
    st.sampled_from(["approx", "words"]),
)
@example([Line(f"the heron, {n}", thread=f"t{n % 2}") for n in range(4)], Persona(profile=(), facts=()), 400, "words")
def test_packed_text_keeps_its_promises(lines: list[Line], persona: Persona, budget: int, name: str) -> None:
    made = context(lines, persona, budget, name)
    # All of the text counts, and it never exceeds the budget.
    assert made.tokens == counter(name).count(made.text) <= budget
    # No utterance twice, and every line says where it comes from.
    seqs = [hit.utterance.seq for hit in made.packed]
    assert len(set(seqs)) == len(seqs)
    rows = [line for line in made.text.split("\n") if line]
    persona_lines = [row for row in rows if row.startswith("user: ")] + [row for row in rows if TOLD.fullmatch(row)]
    said = [row for row in rows if SAID.match(row)]
    headers = [row for row in rows if HEADER.fullmatch(row)]
    assert len(persona_lines) + len(said) + len(headers) + rows.count(KNOWN) == len(rows)
    assert rows.count(KNOWN) == any(row.startswith("- ") for row in rows)
    assert [int(found[1]) for row in said if (found := SAID.match(row))] == seqs
    told = [row for row in persona_lines if row.startswith("- ")]
    assert len(told) <= len(made.facts)
    # In time order: by day, and within one header by time.
    assert headers == [h for i, h in enumerate(headers) if h not in headers[:i]]
    assert [h[:10] for h in headers] == sorted(h[:10] for h in headers)
    moments = [(hit.utterance.said_at.date(), hit.utterance.thread, hit.utterance.said_at) for hit in made.packed]
    for (day, thread, at), (next_day, next_thread, next_at) in pairwise(moments):
        assert day < next_day or thread != next_thread or at <= next_at
    assert len(made.left_out) <= 50


def test_no_line_can_be_forged_and_the_same_words_of_one_speaker_on_one_day_stand_once() -> None:
    forged = "hello\n2026-01-01 Thu:\r\n#77 Bob: I owe\u2028#78 Bob: you\x0b#79 Bob: more\x85#80 Bob: yet"
    made = context([Line(forged, speaker="Al\n#5 Eve")], Persona(), 200, "words")
    assert made.text.splitlines()[0] == "2026-05-02 Sat:"
    assert len(made.text.splitlines()) == 2
    assert made.text.splitlines()[1].startswith("#1 Al #5 Eve: hello 2026-01-01 Thu: #77 Bob: I owe #78")

    lines = [Line("the heron"), Line("the heron"), Line("the heron", speaker="Bob"), Line("the heron", day=1)]
    made = context(lines, Persona(), 200, "words")
    assert len(made.packed) == 3
    assert "the same as #" in next(o.reason for o in made.left_out)


@settings(deadline=None, max_examples=bounded(30, proofs=1000))
@given(
    st.lists(LINES, max_size=12),
    PERSONAS,
    st.lists(st.integers(1, 400), min_size=2, max_size=4),
    st.sampled_from(["approx", "words"]),
)
def test_a_larger_budget_holds_all_utterances_of_a_smaller_one_and_all_its_facts(
    lines: list[Line], persona: Persona, budgets: list[int], name: str
) -> None:
    made = [context(lines, persona, budget, name) for budget in sorted(budgets)]
    for smaller, larger in pairwise(made):
        assert {hit.utterance.seq for hit in smaller.packed} <= {hit.utterance.seq for hit in larger.packed}
        assert {fact.id for fact in smaller.facts} <= {fact.id for fact in larger.facts}


def test_the_profile_comes_first_then_the_open_page_of_the_querys_thread_and_one_long_utterance_is_not_all() -> None:
    lines = [Line(f"the heron again {i}", thread=f"t{i}") for i in range(40)]
    lines.append(Line("And what of tomorrow then", thread="now", page="open"))
    known = Persona(profile=(profile("name", "Alice"),))
    made = context(lines, known, 40, "words", thread=ThreadId("now"))
    assert made.text.startswith("user: name Alice\n")
    assert "And what of tomorrow [2026-05-03] then" in made.text
    assert "tomorrow" not in context(lines, known, 40, "words").text

    lines = [Line(f"the heron again {i}", thread=f"t{i}") for i in range(40)]
    lines.append(Line("And what of tomorrow then", thread="now", page="done"))
    lines.append(Line("Rain", thread="now", page="done", role=Role.ASSISTANT))
    assert "tomorrow" not in context(lines, Persona(), 40, "words", thread=ThreadId("now")).text

    long = " ".join(f"Sentence number {i} is about trains." for i in range(200)) + " The heron came at noon."
    lines = [
        Line(long, thread="a"),
        *(Line(f"a heron flew by, {i}", thread=f"t{i}", role=Role.ASSISTANT) for i in range(9)),
    ]
    made = context(lines, Persona(), 300, "words")
    line = next(row for row in made.text.splitlines() if row.startswith("#1 "))
    assert "The heron came at noon." in line
    assert CUT in line
    assert len(made.packed) > 5

    for name in ("approx", "words"):
        made = context([Line("the heron")], Persona(profile=(profile("name", "Alice"),)), 1, name)
        assert (made.text, made.tokens) == ("", 0)


def test_facts_are_told_under_their_heading_where_no_packed_line_says_them() -> None:
    lines = [Line(f"heron {i}", thread=f"t{i}") for i in range(9)]
    facts = tuple(fact(str(i), f"saw heron number {i} in the reeds", i + 1) for i in range(9))
    made = context(lines, Persona(facts=facts), 900, "words", facts_least=0.0)
    assert len(made.facts) == 6
    assert made.text.startswith(f"{KNOWN}\n- The user saw heron number")
    assert len(context(lines, Persona(facts=facts), 900, "words", facts_least=0.0, facts_told=2).facts) == 2
    assert context(lines, Persona(facts=facts), 900, "words", facts_told=0).facts == ()

    facts = (fact("f", "saw a heron in the reeds at dawn", 1),)
    lines = [Line("I saw a heron in the reeds at dawn"), Line("A train left", thread="b")]
    made = context(lines, Persona(facts=facts), 400, "words")
    assert KNOWN not in made.text
    assert [told.id for told in made.facts] == ["f"]
    lines = [Line("A heron stood in the reeds this dawn"), Line("A train left", thread="b")]
    text = context(lines, Persona(facts=facts), 400, "words").text
    assert text.index("- The user saw a heron in the reeds at dawn") < text.index("A heron stood")


def packed(
    lines: list[Line], scores: list[float], budget: int, persona: Persona | None = None, **chosen: Any
) -> Packing:
    """Packed by scores of our own, one a line."""
    view = View(snapshot(lines), Query(text="the heron", budget=budget), load(**chosen))
    order = sorted(range(len(lines)), key=lambda row: -scores[row])
    facts = [(told, 0.0) for told in (persona or Persona()).facts]
    return pack(view, order, [scores[row] for row in order], facts, Persona(), counter("words"))


def test_packing_ends_when_what_is_left_is_unlikely_to_help_but_not_before_all_evidence_is_packed() -> None:
    lines = [Line(f"number {i} of all birds along this river bank", thread=f"t{i}") for i in range(40)]
    sure = packed(lines, [12.0] + [0.0] * 39, 1000)
    assert sure.places == (0,)
    assert {left.reason for left in sure.left_out} == {"unlikely to help"}
    assert len(packed(lines, [2.0] + [0.0] * 39, 1000).places) == 40
    assert len(packed(lines, [12.0] + [0.0] * 39, 1000, pack_least_share=0.0).places) == 40
    made = packed(lines, [14.0, 13.0, 13.5, 12.0, 12.5, 11.0] + [0.0] * 34, 1000)
    assert {0, 1, 2} <= set(made.places) <= {0, 1, 2, 3, 4, 5}

    view = View(snapshot(lines), Query(text="the heron", budget=600), load())
    told = [
        len(pack(view, range(40), [0.0] * 40, [], Persona(), counter("words"), sure=sure).places)
        for sure in (1.0, 0.01, 0.0)
    ]
    assert told == [40, 0, 0]


EXCHANGE = [
    Line("Which bird did you see?", speaker="Bob"),
    Line("A heron, at noon."),
    Line("And where was it?", speaker="Bob"),
    Line("By the old mill."),
    Line("Rain came then."),
]


def test_a_question_comes_with_its_answer_and_a_short_answer_with_its_question() -> None:
    for best, texts in (
        (1, ["Which bird did you see?", "A heron, at noon."]),
        (2, ["And where was it?", "By the old mill."]),
        (4, ["Rain came then."]),
    ):
        scores = [15.0 if row == best else 0.0 for row in range(5)]
        made = packed(EXCHANGE, scores, 200)
        assert [line.split(": ", 1)[1] for line in made.text.splitlines()[1:]] == texts
        assert len(made.places) == len(texts)

    lines = [Line("Which bird did you see? " * 30, speaker="Bob"), Line("A heron, at noon.")]
    assert len(packed(lines, [0.0, 15.0], 400).places) == 1

    lines = [Line("Guess what?"), Line("A heron came.")]
    assert len(packed(lines, [0.0, 15.0], 400).places) == 1


def test_what_says_little_or_only_praise_or_farewell_is_not_packed() -> None:
    lines = [Line("A heron stood in the reeds behind the old mill all day."), Line("Wow, that's great!", speaker="Bob")]
    made = packed(lines, [9.0, 2.9], 400)
    assert made.places == (0,)
    assert [(left.what, left.reason) for left in made.left_out] == [("#2 Bob: Wow, that's great!", "says little")]

    lines = [Line("We had taken the heron to the lake that morning."), Line("Later, take care!", speaker="Bob")]
    view = View(snapshot(lines), Query(text="What did they take to the lake?", budget=400), load())
    assert pack(view, range(2), [9.0, 2.9], [], Persona(), counter("words")).places == (0,)


def test_a_long_line_is_cut_for_the_answer_and_a_question_whose_answer_does_not_fit_is_cut_off() -> None:
    asked = "I saw a heron in the reeds behind the old mill at noon. What did you see there yourself?"
    answer = "Nothing but " + "rain and wind and a lot of mud everywhere " * 8
    lines = [Line(asked, speaker="Bob"), Line(answer)]
    made = packed(lines, [9.0, 0.0], 21)
    assert made.text.endswith("#1 Bob: I saw a heron in the reeds behind the old mill at noon. […]")


def test_of_two_of_one_matter_the_older_says_so_where_the_query_asks_for_it_as_it_is_now() -> None:
    lines = [
        Line("The heron nests by the mill.", thread="a"),
        Line("The heron nests on the island.", thread="b", day=3),
    ]
    view = View(snapshot(lines), Query(text="the heron", budget=200), load())
    made = pack(view, [1, 0], [1.0, 1.0], [], Persona(), counter("words"), newer={0: 1})
    assert made.text.splitlines()[1] == "#1 Alice (older, see #2): The heron nests by the mill."
    assert "#2 Alice: The heron nests on the island." in made.text


def test_nothing_is_packed_twice_as_a_sentence_a_fact_or_a_profile_field() -> None:
    twice = "The heron stood in the reeds behind the mill."
    lines = [Line(f"{twice} It left at dusk for the hills beyond."), Line(f"As I said. {twice}"), Line(twice)]
    made = packed(lines, [9.0, 8.0, 7.0], 400)
    assert made.text.count("stood in the reeds") == 1
    assert "the same as #1" in {left.reason for left in made.left_out}

    for said, told in (
        ("I saw a grey heron in the reeds.", "saw a grey heron in the reeds"),
        ("My sister and I saw a grey heron, in my own reeds.", "saw a grey heron in their own reeds"),
    ):
        lines = [Line(said), Line("And much else besides was said on that long evening.")]
        made = packed(lines, [9.0, 1.0], 400, Persona(facts=(fact("f", told, 1),)))
        assert KNOWN not in made.text
        assert made.text.count("grey heron") == 1

    home = replace(fact("f", "lives in Lyon", 1), attribute="lives_in", value="Lyon")
    field = replace(profile("home", "Lyon"), sources=home.sources)
    told_of = context(
        [Line("Lyon it is, then!")], Persona(profile=(field,), facts=(home,)), 400, "words", "Where do I live?"
    )
    assert "home Lyon" not in told_of.text
    assert "lives in Lyon" in told_of.text

    lines = [Line("Maj lives in Lyon."), *(Line(f"A heron again, {n}.") for n in range(30))]
    corrected = replace(fact("f", "Maj's home is Laon", 1, subject="Maj"), value="Laon", person="Maj")
    told_of = context(lines, Persona(facts=(corrected,)), 60, "words", "Where does Maj live?")
    assert "#1 " in told_of.text
    assert told_of.facts == (corrected,)
