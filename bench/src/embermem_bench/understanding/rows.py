"""The figures of `embermem bench understanding`: key, heading, definition."""

from __future__ import annotations

from dataclasses import dataclass

BUDGET = 1_000
"""The budget of the contexts whose facts are looked at, in tokens of the store's own counter."""
BUDGETS = (300, BUDGET)
"""The budgets of the contexts whose lines are looked at."""
OVERVIEW_BUDGET, OVERVIEW_WORDS = 900, 600
"""The budget of an overview in tokens, and how many words of it are read."""


@dataclass(frozen=True, slots=True)
class Row:
    """One figure: its key in JSON, its heading in the table, and its definition."""

    key: str
    heading: str
    definition: str


ROWS = (
    Row(
        "fact_recall",
        "facts that meet a model's notes",
        "Share of the model's notes (LoCoMo's observations, a recall set's memories) that facts hold: 40 % of a note's "
        "content words are in the facts that rest on one of its turns or on the turn before or after it. Facts are the "
        "current, archived and past ones; equal texts with equal sources count once.",
    ),
    Row("facts_per_100", "facts for 100 pages", "Number of these facts for 100 pages."),
    Row("fact_words", "words a fact", "Mean number of words of a fact's text, between white space."),
    Row(
        "fact_grounded",
        "facts grounded in their utterances",
        "Share of the facts of which 60 % of the content words are in the utterances that they name as sources. "
        "Names of speakers, months, weekdays and numbers are not counted.",
    ),
    Row(
        "context_facts_on_evidence",
        "facts in a context on the evidence",
        f"Every question with evidence is asked as in `bench recall`, with a budget of {BUDGET:,} tokens. Share of the "
        "facts in these contexts one of whose sources is an evidence turn, or a turn of an evidence thread.",
    ),
    Row(
        "context_facts_unnamed",
        "facts in a context without their subject",
        "Share of the same facts whose line in the context does not contain the subject's name: of the user and the "
        "agent, the name of the speaker of a source. A fact without a line of its own counts as unnamed.",
    ),
    Row("facts_per_context", "facts a context", "Mean number of facts in these contexts."),
    *(
        row
        for budget in BUDGETS
        for row in (
            Row(
                f"relative_{budget}",
                f"contexts with an unresolved relative time, {budget:,} tokens",
                f"The same questions, with a budget of {budget:,} tokens: share of the contexts with an expression "
                'such as "yesterday", "last Friday", "two weeks ago" that has no date within 30 characters; English.',
            ),
            Row(
                f"unanswered_{budget}",
                f"packed questions without their answer, {budget:,} tokens",
                "Share of the packed utterances that end in a question, and that somebody else answers in the thread, "
                "whose next utterance by another speaker is not packed.",
            ),
            Row(
                f"short_{budget}",
                f"packed lines of four content words or fewer, {budget:,} tokens",
                "Share of the lines of utterances with four content words or fewer; names of speakers and words of "
                'courtesy ("thanks", "great", "sure") do not count.',
            ),
            Row(f"tokens_{budget}", f"tokens a context, {budget:,}", f"Mean tokens of these contexts of {budget:,}."),
        )
    ),
    Row(
        "unrelated_tokens",
        "tokens for an unrelated question",
        f"Mean tokens of the contexts of ten questions of which no conversation knows anything, budget {BUDGET:,}.",
    ),
    Row(
        "rec@10",
        "evidence in the first 10",
        "As in `bench recall`: share of the evidence turns among the first 10 utterances; LoCoMo's categories 1 to 4.",
    ),
    Row("rec@600w", "evidence in 600 words", "As in `bench recall`: share of it in a context of 600 words."),
    Row(
        "thread_any@5",
        "evidence thread in the first 5",
        "As in `bench recall`: share of the questions with a turn of an evidence thread among the first 5 utterances.",
    ),
    Row(
        "pages_per_s",
        "pages a second",
        "Pages over the seconds in which all messages are added and everything is settled, in one run.",
    ),
    Row("pages_per_cpu_s", "pages a second of processor time", "The same over the processor time of all threads."),
    Row(
        "b3_f1",
        "segments against projects, B³ F1",
        "Pages by segment (a page in no segment is one of its own; archived segments count) against the projects of "
        "their threads, B-cubed, mean over conversations. Threads without a project, or of `Enhanced`, are left out.",
    ),
    Row("b3_precision", "B³ precision", "Its precision."),
    Row("b3_recall", "B³ recall", "Its recall."),
    Row("single", "segments of one page", "Share of the segments, archived ones too, that have one page."),
    Row(
        "filler",
        "segments of filler",
        "Share of the segments whose pages hold only utterances of at most four content words (of other scripts: four "
        "characters).",
    ),
    Row(
        "summarised",
        "segments with a summary",
        "Share of the segments of three pages or more that have a summary.",
    ),
    Row(
        "summary_own",
        "summary sentences of own pages",
        "Share of the summaries' sentences with three content words or more of which 80 % of the content words are in "
        "the segment's own pages.",
    ),
    Row(
        f"overview_{OVERVIEW_WORDS}w",
        f"overview in {OVERVIEW_WORDS} words",
        "For each speaker with events in LoCoMo's file, recall(\"What has happened in NAME's life?\", budget="
        f"{OVERVIEW_BUDGET}): share of the content words of the events in the first {OVERVIEW_WORDS} words, mean.",
    ),
    Row(
        "overview_other_words",
        "overview, asked in other words",
        "The same, asked in ten other ways (`OVERVIEW_QUESTIONS` in embermem_bench/understanding/run.py), mean.",
    ),
    Row(
        "overview_unasked",
        "overview without a question",
        f"The same of overview({OVERVIEW_BUDGET}, person=NAME).",
    ),
)


def definitions() -> str:
    """The keys and their definitions, one paragraph each."""
    return "\n\n".join(f"{row.key}: {row.definition}" for row in ROWS)
