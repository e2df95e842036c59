"""The figures of one conversation, each as a sum and what it is divided by, so that conversations can be added up."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from embermem.core.types import Context, Fact, Page, Segment, Utterance, UtteranceId
from embermem_bench.recall import Asked
from embermem_bench.understanding.gold import Note
from embermem_bench.understanding.words import content_words, share

NOTE_HELD, GROUNDED, OWN = 0.4, 0.6, 0.8
"""The shares of content words from which a note is held, a fact grounded, a summary's sentence of its own pages."""
_SENTENCE_WORDS = 3
"""Content words from which a sentence is counted."""
_SUMMARISED_PAGES = 3
_FILLER_WORDS = 4
"""Content words, or characters of other scripts than Latin, up to which an utterance is filler."""
_OTHER = re.compile(r"[^\W\u0000-\u024f]")
_SENTENCE_END = re.compile(r"(?<=[.!?。])\s+|\n")
_NUMBER = re.compile(r"[0-9]+")
_DATES = content_words(
    "January February March April May June July August September October November December "
    "Monday Tuesday Wednesday Thursday Friday Saturday Sunday since until"
)
_UTTERANCE_LINE = re.compile(r"\s*#\d")

Figures = dict[str, tuple[float, float]]
"""Sum and divisor of each figure, by key."""


def added(first: Mapping[str, tuple[float, float]], second: Mapping[str, tuple[float, float]]) -> Figures:
    """The figures of two parts together."""
    both = dict(first)
    for key, (total, count) in second.items():
        before = both.get(key, (0.0, 0.0))
        both[key] = (before[0] + total, before[1] + count)
    return both


# -------------------------------------------------------------------------------------------------------------- facts


def distinct(facts: Collection[Fact]) -> tuple[Fact, ...]:
    """The facts without later ones of the same text and sources."""
    made: dict[tuple[str, tuple[UtteranceId, ...]], Fact] = {}
    for fact in facts:
        made.setdefault((fact.text, tuple(source.utterance_id for source in fact.sources)), fact)
    return tuple(made.values())


def facts_held(
    facts: Sequence[Fact], notes: Sequence[Note], utterances: Sequence[Utterance], id_of: Mapping[str, UtteranceId]
) -> Figures:
    """`fact_recall`: how many of the notes the facts hold. `id_of` gives the utterance of each turn."""
    seq_of = {utterance.id: utterance.seq for utterance in utterances}
    told_near: defaultdict[int, set[str]] = defaultdict(set)
    for fact in facts:
        words = content_words(fact.text)
        for source in fact.sources:
            if (seq := seq_of.get(source.utterance_id)) is not None:
                for near in (seq - 1, seq, seq + 1):
                    told_near[near] |= words
    held = [
        any(share(content_words(note.text), told_near[seq_of[id_of[turn]]]) >= NOTE_HELD for turn in note.turns)
        for note in notes
    ]
    return {"fact_recall": (sum(held), len(held))}


def facts_made(facts: Sequence[Fact], utterances: Sequence[Utterance], pages: int) -> Figures:
    """How many facts there are, how long they are, and whether their sources say them."""
    text_of = {utterance.id: utterance.text for utterance in utterances}
    uncounted = _DATES | content_words(" ".join({utterance.speaker for utterance in utterances}))

    def grounded(fact: Fact) -> bool:
        words = {word for word in content_words(fact.text) - uncounted if not _NUMBER.fullmatch(word)}
        said = " ".join(text_of.get(source.utterance_id, "") for source in fact.sources)
        return share(words, content_words(said)) >= GROUNDED

    return {
        "facts_per_100": (100 * len(facts), pages),
        "fact_words": (sum(len(fact.text.split()) for fact in facts), len(facts)),
        "fact_grounded": (sum(map(grounded, facts)), len(facts)),
    }


@dataclass(frozen=True, kw_only=True, slots=True)
class Asking:
    """A context, and the utterances that are its question's evidence, or are in an evidence thread."""

    context: Context
    evidence: frozenset[UtteranceId]


def facts_in_contexts(asked: Sequence[Asking], speaker_of: Mapping[UtteranceId, str]) -> Figures:
    """What the facts in contexts rest on, and whether they name their subjects."""
    told = [(asking, fact) for asking in asked for fact in asking.context.facts]
    on_evidence = sum(any(s.utterance_id in asking.evidence for s in fact.sources) for asking, fact in told)
    unnamed = sum(not is_named(fact, asking.context.text, speaker_of) for asking, fact in told)
    return {
        "context_facts_on_evidence": (on_evidence, len(told)),
        "context_facts_unnamed": (unnamed, len(told)),
        "facts_per_context": (len(told), len(asked)),
    }


def is_named(fact: Fact, context: str, speaker_of: Mapping[UtteranceId, str]) -> bool:
    """Whether the fact's line in the context contains a name of its person: of a user or agent without a name, the name
    of the speaker of a source. Utterances are not the fact's line."""
    line = _line_of(fact, context)
    if line is None:
        return False
    names = {fact.person, fact.subject} - {""}
    if names <= {"user", "agent"}:
        names = {speaker_of[s.utterance_id] for s in fact.sources if s.utterance_id in speaker_of}
    return any(_contains_name(line, " ".join(name.split()).casefold()) for name in names)


def _line_of(fact: Fact, context: str) -> str | None:
    text = " ".join(fact.text.split()).casefold()
    lines = (" ".join(line.split()).casefold() for line in context.splitlines() if not _UTTERANCE_LINE.match(line))
    return next((line for line in lines if text in line), None)


def _contains_name(line: str, name: str) -> bool:
    if not name.isascii():  # a Chinese name has no space around it
        return name in line
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", line) is not None


# ----------------------------------------------------------------------------------------------------------- segments


def segments_made(segments: Sequence[Segment], pages: Mapping[str, Page]) -> Figures:
    """How large segments are, and whether their summaries are of their own pages."""
    long = [segment for segment in segments if len(segment.page_ids) >= _SUMMARISED_PAGES]
    own = [of_own for segment in segments for of_own in _sentences_of_own(segment, pages)]
    return {
        "single": (sum(len(segment.page_ids) == 1 for segment in segments), len(segments)),
        "filler": (sum(_of_filler(segment, pages) for segment in segments), len(segments)),
        "summarised": (sum(bool(segment.summary.strip()) for segment in long), len(long)),
        "summary_own": (sum(own), len(own)),
    }


def _of_filler(segment: Segment, pages: Mapping[str, Page]) -> bool:
    said = [u.text for page_id in segment.page_ids if page_id in pages for u in pages[page_id].utterances]
    return all(
        len(content_words(text)) <= _FILLER_WORDS and len(_OTHER.findall(text)) <= _FILLER_WORDS for text in said
    )


def _sentences_of_own(segment: Segment, pages: Mapping[str, Page]) -> Iterator[bool]:
    said = [u for page_id in segment.page_ids if page_id in pages for u in pages[page_id].utterances]
    own = content_words(" ".join(f"{u.text} {u.speaker}" for u in said))
    for sentence in _SENTENCE_END.split(segment.summary):
        words = content_words(sentence)
        if len(words) >= _SENTENCE_WORDS:
            yield share(words, own) >= OWN


def segments_by_project(
    segments: Sequence[Segment], pages: Mapping[str, Page], project_of: Mapping[str, str]
) -> Figures:
    """B-cubed of the pages by segment against the projects of their threads; nothing where no thread has one."""
    segment_of = {page_id: str(segment.id) for segment in segments for page_id in segment.page_ids}
    scored = [
        (segment_of.get(page.id, page.id), project_of[page.thread])
        for page in pages.values()
        if page.thread in project_of
    ]
    if not scored:
        return {}
    precision, recall = b_cubed(scored)
    return {
        "b3_f1": (2 * precision * recall / (precision + recall), 1),
        "b3_precision": (precision, 1),
        "b3_recall": (recall, 1),
    }


def b_cubed(items: Sequence[tuple[str, str]]) -> tuple[float, float]:
    """B-cubed precision and recall of items, each with its cluster and its class; at least one item."""
    clusters, classes = Counter(cluster for cluster, _ in items), Counter(one for _, one in items)
    together = Counter(items)
    precision = sum(together[item] / clusters[item[0]] for item in items) / len(items)
    recall = sum(together[item] / classes[item[1]] for item in items) / len(items)
    return precision, recall


# ------------------------------------------------------------------------------------------------------------- recall


def evidence_found(asked: Sequence[Asked], headline: frozenset[str] | None, keys: Sequence[str]) -> Figures:
    """These figures of `bench recall`, over the questions of its headline that have them."""
    counted = [one.values for one in asked if headline is None or one.category in headline]
    return {key: (sum(v[key] for v in counted if key in v), sum(key in v for v in counted)) for key in keys}


def events_covered(key: str, overviews: Iterable[tuple[str, str]], events: Mapping[str, str], words: int) -> Figures:
    """How many of the events' content words the first words of each overview contain: of (name, text)."""
    shares = [
        share(content_words(events[name]), content_words(" ".join(text.split()[:words]))) for name, text in overviews
    ]
    return {key: (sum(shares), len(shares))}
