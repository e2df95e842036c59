"""How pages are put before a language model: one line an utterance, short local numbers, a mark that no text can forge.

All of it is deterministic: the same pages make the same request.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from embermem.analysts.traits import has_words
from embermem.core.attributes import OPPOSITE
from embermem.core.config import ModelReadingSettings, Settings
from embermem.core.fields import Field
from embermem.core.traits import Dimension, dimensions
from embermem.core.types import ChainTail, Fact, FactProposal, Page, PageView, Role, Segment, ThreadId, Utterance
from embermem.languages.people import no_name
from embermem.languages.words import name_of, sentences, wide
from embermem.memoryos.people import speaker_of
from embermem.prompts.data import one_line

EARLIER, NEW = "Earlier, not to be noted:", "To be noted:"
"""What stands over the lines that are shown for context alone, and over the others."""
_CHARS_A_TOKEN = 3
"""Fewer than most tokenizers have, so that what is thought to fit does."""
_OTHER = "the user's language"
_LABEL = re.compile(r"\A[^\s:：][^:：]{0,40}[:：]\s*")
"""Whose words a sentence of a summary holds, as it stands before them."""
_INSTRUCTION, _EXAMPLE, _EXAMPLES = 300, 60, 4
"""Characters of an instruction and of an example; examples of a field."""
_DERIVED = frozenset({"age_group", "gender"})
"""Traits that follow from the profile; nobody sets them."""
_SIDES = {**{role: role.value for role in Role}, Role.ASSISTANT: "agent"}


def batch_lines(
    tails: Mapping[ThreadId, ChainTail], batch: Sequence[PageView], reading: ModelReadingSettings
) -> tuple[dict[str, PageView], list[str]]:
    """The pages of a batch by their local ids p1, p2, …, and the lines that show them."""
    threads: dict[ThreadId, str] = {}
    shown: dict[str, PageView] = {}
    lines: list[str] = []
    before: list[str] = []
    days, last = _Days(), None
    room = _room([u for view in batch for u in view.page.utterances], reading.annotate_chars, reading.utterance_chars)
    for view in batch:
        page = view.page
        if page.thread not in threads:
            threads[page.thread] = f"t{len(threads) + 1}"
            if page.thread in tails:
                before += _tail_lines(threads[page.thread], tails[page.thread], reading)
        name = f"p{len(shown) + 1}"
        shown[name] = view
        thread = [threads[page.thread]] if page.thread != last else []
        lines.append(" ".join((name, *thread, *days.new(page))))
        last = page.thread
        lines += [_spoken(u, room[u.seq], reading) for u in page.utterances]
    return shown, [EARLIER, *before, NEW, *lines] if before else lines


def page_lines(
    pages: Sequence[PageView], reading: ModelReadingSettings, claims: Mapping[str, FactProposal]
) -> tuple[dict[str, Utterance], list[str]]:
    """The utterances of a segment's pages by their local ids u1, u2, …, and the lines that show them, each with the
    claims about it."""
    said = [u for view in pages for u in view.page.utterances]
    room = _room(said, reading.profile_chars, reading.utterance_chars)
    shown = {f"u{i}": u for i, u in enumerate(said, 1)}
    names = {u.seq: name for name, u in shown.items()}
    lines, days = list[str](), _Days()
    for view in pages:
        lines += days.new(view.page)
        for u in view.page.utterances:
            about = {name: claim for name, claim in claims.items() if claim.sources[0].seq == u.seq}
            lines.append(f"{names[u.seq]} {_spoken(u, room[u.seq], reading)}")
            who = speaker_of(u.speaker, u.role)
            lines += [f"{name} {_told(claim, reading, who)}" for name, claim in about.items()]
    return shown, lines


def claims_by_id(
    read: Sequence[FactProposal], pages: Sequence[PageView], reading: ModelReadingSettings
) -> dict[str, FactProposal]:
    """What the extractive analyst read in the shown part of pages, by local ids c1, c2, …, without what follows from
    another of them."""
    said = {u.seq: u.text for view in pages for u in view.page.utterances}
    room = _room([u for view in pages for u in view.page.utterances], reading.profile_chars, reading.utterance_chars)
    own = [one for one in read if not any(follows(one, other) for other in read)]
    first = sorted(((one.sources[0], one) for one in own), key=lambda pair: pair[0].seq)
    shown = [
        one
        for at, one in first
        if one_line(said[at.seq][at.start : at.end], reading.utterance_chars) in one_line(said[at.seq], room[at.seq])
    ]
    return {f"c{i}": claim for i, claim in enumerate(shown[: reading.claims], 1)}


def follows(one: FactProposal, other: FactProposal) -> bool:
    """Whether the one only says that the opposite of the other no longer holds: of who likes tea, disliking it."""
    if not one.retracts or other.retracts or one.attribute != OPPOSITE.get(other.attribute):
        return False
    return (one.about, one.subject, one.value) == (other.about, other.subject, other.value)


def fact_lines(facts: Sequence[Fact], reading: ModelReadingSettings) -> tuple[dict[str, Fact], list[str]]:
    """Known facts by their local ids f1, f2, …, and the lines that show them."""
    shown = {f"f{i}": fact for i, fact in enumerate(facts, 1)}
    return shown, [f"{name} {fact.about.value} {_told(fact, reading)}" for name, fact in shown.items()]


def summary_line(segment: Segment, said: Iterable[Utterance], reading: ModelReadingSettings) -> str:
    """The segment's summary without what is shown of its pages; "none" where nothing else is left."""
    return one_line(_not_in(segment.summary, [u.text for u in said]), reading.segment_chars) or "none"


def language_of(utterances: Iterable[Utterance]) -> str:
    """The language to answer in, from what the user's side says: its name in English, or "the user's language"."""
    said = list(utterances)
    own = [u.text for u in said if u.role is Role.USER] or [u.text for u in said]
    return language("\n".join(text[:2_000] for text in own)[:20_000])


def language(text: str) -> str:
    """The same of one text."""
    return name_of(text) or _OTHER


def languages_of(batch: Sequence[PageView]) -> str:
    """The language of the batch's pages; where they differ, each page's own."""
    found = Counter(language_of(view.page.utterances) for view in batch)
    if len(found) == 1:
        return next(iter(found))
    overall = language_of(u for view in batch for u in view.page.utterances)
    return f"each page's own, else {overall}"


@cache
def field_lines(settings: Settings) -> list[str]:
    """What the application asks for: its fields that a model may set, and what to note and what never to."""
    lines = [_field_line(one) for one in settings.attributes.own if one.set_by == "model"]
    lines += [f"note: {one_line(text, _INSTRUCTION)}" for text in settings.remember]
    never = settings.never_kept
    names = (name.replace("_", " ") for name in never.attributes)
    return [*lines, *(f"never note: {one_line(text, _INSTRUCTION)}" for text in (*names, *never.sentences))]


def _field_line(field: Field) -> str:
    """ "level (one of: A1, B1): the learner's level, as \"B1\"; in each fact one value"."""
    told = f"- attribute {field.label} ({field.allowed}{'' if field.single else '; a fact for each value'})"
    told += f": {one_line(field.description, _INSTRUCTION)}" if field.description else ""
    shown = ", ".join(f'"{one_line(text, _EXAMPLE)}"' for text in field.examples[:_EXAMPLES])
    return f"{told}; such as {shown}" if shown else told


def trait_lines() -> str:
    """The dimensions a model is asked for, in the shortest form that tells both poles; those of one pair share a line.
    Interests that follow from what somebody likes are not asked for."""
    groups: dict[tuple[str, str], list[str]] = {}
    for dimension in dimensions():
        if dimension.name not in _DERIVED and not has_words(dimension.name):
            poles, name = _short(dimension)
            groups.setdefault(poles, []).append(name.replace("_", " "))
    shared = [f"{high} / {low}: {', '.join(names)}" for (high, low), names in groups.items() if len(names) > 1]
    single = [f"{names[0]} ({high} / {low})" for (high, low), names in groups.items() if len(names) == 1]
    return "\n".join([*shared, ", ".join(single)])


def trait_names() -> frozenset[str]:
    """The names that a model may give: those in `trait_lines`, and interests."""
    return frozenset(d.name for d in dimensions() if d.name not in _DERIVED)


def tokens_of(texts: Sequence[str]) -> int:
    """About how many tokens lines are, rather too many than too few."""
    signs = sum(map(wide, texts))
    return signs + (sum(len(text) + 1 for text in texts) - signs) // _CHARS_A_TOKEN


def chars_within(lines: Sequence[str], room: int) -> int:
    """Characters of these lines that fit into so many tokens."""
    return max(200, sum(map(len, lines)) * room // max(1, tokens_of(lines)) * 9 // 10)


_MEANING = {
    "retention": "keeping things", "inviolacy": "dignity", "infavoidance": "not failing",
    "counteraction": "overcoming failure", "deference": "following rules", "contrariance": "being unique",
    "abasement": "accepting blame", "succorance": "being helped",
}  # fmt: skip
"""What a need means, where its name does not tell everyone."""
_POLES = {
    "sleep": ("values it", "does not"),
    "investment_style": ("aggressive", "conservative"),
    "saving": ("good at it", "bad"),
    "interaction_depth": ("light", "deep"),
    "conflict_style": ("discusses", "avoids"),
}
"""Poles in a word, where data/user_traits.csv has a sentence."""


class _Days:
    """The day of a page, where it is another than that of the page shown before."""

    def __init__(self) -> None:
        self._last = ""

    def new(self, page: Page) -> list[str]:
        day, before = str(page.said_at.date()), self._last
        self._last = day
        return [day] if day != before else []


def _short(dimension: Dimension) -> tuple[tuple[str, str], str]:
    """Its poles in a few words, and its name, with what it means where the name does not tell."""
    name = dimension.name
    if dimension.high.startswith("strong need"):
        return ("strong need", "indifferent"), f"{name} ({_MEANING[name]})" if name in _MEANING else name
    if dimension.high.startswith("likes"):
        return ("likes", "dislikes"), name
    if dimension.high == "concerned":
        return ("concerned", "indifferent"), name
    return _POLES.get(name, (dimension.high, dimension.low)), name


def _spoken(utterance: Utterance, room: int, reading: ModelReadingSettings) -> str:
    side = _SIDES[utterance.role]
    speaker = one_line(utterance.speaker, reading.speaker_chars)
    who = side if no_name(speaker) else f"{side} {speaker}"
    return f"{who}: {one_line(utterance.text, room)}"


def _tail_lines(thread: str, tail: ChainTail, reading: ModelReadingSettings) -> list[str]:
    said = tail.view.page.utterances[: reading.tail_utterances]
    before = [f"{thread} before: {_spoken(u, reading.tail_chars, reading)}" for u in said]
    summary = one_line(_not_in(tail.summary, before), reading.chain_chars)
    return [*before, f"{thread} summary: {summary}"] if summary else before


def _not_in(summary: str, texts: Iterable[str]) -> str:
    """The sentences of a summary that stand in none of these texts, whoever is named before them."""
    said = "\n".join(" ".join(text.split()) for text in texts)
    told = [" ".join(summary[start:end].split()) for start, end in sentences(summary)]
    return " ".join(one for one in told if _LABEL.sub("", one) not in said)


def _told(fact: Fact | FactProposal, reading: ModelReadingSettings, speaker: str = "") -> str:
    """`Ana: lives in=Lyon`, `no longer works at=Acme`; of the `speaker` whose line stands above without the name."""
    named = fact.subject not in ("user", "agent", speaker)
    whose = f"{one_line(fact.subject, reading.subject_chars)}: " if named else ""
    ended = "no longer " if isinstance(fact, FactProposal) and fact.retracts else ""
    attribute = one_line(fact.attribute.replace("_", " "), reading.attribute_chars)
    return f"{whose}{ended}{attribute}={one_line(fact.value or fact.text, reading.value_chars)}"


def _room(said: Sequence[Utterance], total: int, most: int) -> dict[int, int]:
    """How many characters each utterance may take, by seq: all alike, what short ones leave goes to longer ones."""
    room: dict[int, int] = {}
    left = total
    for i, utterance in enumerate(sorted(said, key=lambda u: len(u.text))):
        room[utterance.seq] = given = min(len(utterance.text), most, left // (len(said) - i))
        left -= given
    return room
