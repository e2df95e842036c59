"""What of a model's answer about a segment's new pages is believed: facts and traits as proposals, and which claims of
the extractive analyst stand.

Each item is held against the utterances it names, and against what the extractive analyst read in them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from embermem import languages
from embermem.analysts.answers import SNAKE, FactNote, SaidNote, TraitNote, all_named, attribute_of, named
from embermem.analysts.grounding import Ground, statements
from embermem.analysts.guards import orders, says_nothing, span_of, stated, touches
from embermem.analysts.screening import HIDDEN, screen
from embermem.analysts.showing import follows, trait_names
from embermem.analysts.traits import bears_on, has_words
from embermem.core.attributes import BUILT_IN, OPPOSITE, Attributes, Kind, attributes, is_instruction, kind
from embermem.core.config import ModelReadingSettings
from embermem.core.text import fold
from embermem.core.types import (
    About,
    Fact,
    FactProposal,
    ProfileProposal,
    Role,
    Source,
    TraitProposal,
    Utterance,
)
from embermem.languages.facts import fields
from embermem.languages.people import AGENT, USER, called, label, mentions, no_name, told_in, whose
from embermem.languages.words import name_of, terms
from embermem.memoryos.people import speaker_of
from embermem.prompts.data import one_line

_VALUE = 0.5
"""The share of a value's words that a statement of its speaker must hold."""
_SAME = 0.6
"""The share of a value's words in what the rules read, from which both mean one matter."""
_GENERAL = frozenset({"did", "does", "feels", "owns", "plans", "says", "would_like_to"})
"""Attributes of which the rules say no more than that somebody did or has something: a model may say more."""
_CLAUSE_END = re.compile(r"[,;:，；：]|\s[-–—]\s")
_STATED_ONCE, _STATED_OFTEN = 0.5, 0.7
"""The confidence of a trait that rests on one utterance, and on several."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The utterances that were shown, by their local ids, what the extractive analyst read in them, and by local ids
    what of it was shown as claims."""

    said: Mapping[str, Utterance]
    limit: int
    read: Sequence[FactProposal] = ()
    claims: Mapping[str, FactProposal] = field(default_factory=dict)
    heard: Ground = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "heard", Ground.of(self.said.values()))

    def of(self, ids: Iterable[str]) -> list[Utterance]:
        """Those named, each once, in the order in which they were said."""
        return [*all_named(ids, self.said).values()][: self.limit]

    def sources(self, ids: Iterable[str], *quotes: str) -> tuple[Source, ...]:
        """Those named, each with where the first of the quotes stands in it that does."""
        return tuple(_source(u, quotes) for u in self.of(ids))

    def serving(self, ids: Iterable[str], about: About) -> list[Utterance]:
        """Those named on which a statement may rest: they give no orders, and for the user are of the user's side."""
        return [
            u
            for u in self.of(ids)
            if not orders(u.text) and (u.role is Role.USER or (about is About.AGENT and u.role is not Role.TOOL))
        ]

    def read_in(self, utterances: Iterable[Utterance]) -> list[FactProposal]:
        """What the extractive analyst read in these."""
        seqs = {u.seq for u in utterances}
        return [one for one in self.read if not seqs.isdisjoint(source.seq for source in one.sources)]


class Beliefs:
    """What is believed of one answer's facts and traits."""

    def __init__(
        self,
        evidence: Evidence,
        known: Mapping[str, Fact],
        reading: ModelReadingSettings,
        attributes: Attributes = BUILT_IN,
    ) -> None:
        """`known` are the facts that were shown, by their local ids."""
        self._attributes = attributes
        self._evidence = evidence
        self._known = known
        self._reading = reading
        self._ended: set[str] = set()
        self._stands: list[FactProposal] = []
        self._wrong: list[FactProposal] = []
        self._doubted: list[FactProposal] = []
        self.offered = self.kept = 0

    def facts(
        self, notes: Sequence[SaidNote], confirmed: Collection[str] = (), dropped: Collection[str] = ()
    ) -> list[FactProposal]:
        """The facts that are believed. `confirmed` and `dropped` are the claims of which the answer says so; one that
        is named by both is neither. For each fact that is not believed stands what the extractive analyst read in the
        utterances that it names, and the claim that it was to correct."""
        claims = self._evidence.claims
        right, wrong = (all_named(ids, claims) for ids in (confirmed, dropped))
        claimed = [claims.get(named(n.corrects, claims) or "") if isinstance(n, FactNote) else None for n in notes]
        self._wrong = [claim for name, claim in wrong.items() if name not in right]
        self._doubted = [*self._wrong, *(claim for claim in claimed if claim is not None)]
        self._stands = [claim for name, claim in right.items() if name not in wrong]
        made: list[FactProposal] = []
        self.offered, self.kept = len(notes), 0
        for note, claim in zip(notes, claimed, strict=True):
            fact = self._fact(note) if claim is None or not claim.retracts else self._ended_otherwise(note, claim)
            if fact is None:
                self._stands += self._evidence.read_in(self._evidence.of(note.evidence))
                self._stands += [] if claim is None else [claim]
            else:
                self.kept += 1
                made += self._with_relative(note, fact)
                self._wrong += [] if claim is None else [claim]
        return made[: self._reading.facts]

    def standing(self, made: Sequence[FactProposal]) -> list[FactProposal]:
        """What the extractive analyst read and is kept, but for what the model says too: claims that the model confirms
        or was not believed of, and what was not shown as a claim; all, where most of its facts were not believed."""
        claims = self._evidence.claims.values() if self.trusted else ()
        left = [one for one in claims if one not in self._stands or one in self._wrong]
        left += self._following(left)
        return beside((one for one in self._evidence.read_in(self._evidence.said.values()) if one not in left), made)

    @property
    def dropped(self) -> list[FactProposal]:
        """The claims that the model dropped or corrected, and what follows from them; none, where most of its facts
        were not believed."""
        return [*self._wrong, *self._following(self._wrong)] if self.trusted else []

    def any_of(self, made: Iterable[FactProposal]) -> bool:
        """Whether a fact of the answer was believed, and is not simply what the rules read; that there is none is."""
        return self.offered == 0 or any(one not in self._evidence.read for one in made)

    @property
    def trusted(self) -> bool:
        """Whether most facts of the answer were believed: then what no word bears out is believed too."""
        return 3 * self.kept >= 2 * self.offered

    def _following(self, claims: Sequence[FactProposal]) -> list[FactProposal]:
        return [one for one in self._evidence.read if any(follows(one, claim) for claim in claims)]

    # -------------------------------------------------------------------------------------------------------- facts

    def _ended_otherwise(self, note: SaidNote, claim: FactProposal) -> FactProposal | None:
        """A claim that something ended, with another attribute or value, which was said where it ended."""
        name = attribute_of(note.attribute, self._attributes)
        value = one_line(note.value, self._reading.value_chars + 1)
        seqs = {source.seq for source in claim.sources}
        said = [one for u in self._evidence.said.values() if u.seq in seqs for one in statements(u.text)]
        kept = SNAKE.fullmatch(name) and self._attributes.is_kept(name) and 0 < len(value) <= self._reading.value_chars
        if not kept or not any(_holds(value, one) for one in said):
            return None
        language = told_in(claim.text)
        text = language.of_subject(label(claim.subject, language), language.no_longer(name, value))
        return replace(claim, attribute=name, value=value, text=text, single=self._attributes.single(name))

    def _fact(self, note: SaidNote) -> FactProposal | None:
        action, meant = (note.action, note.fact) if isinstance(note, FactNote) else ("add", "")
        old_id = named(meant, self._known) if action != "add" else None
        old = None if old_id is None else self._known[old_id]
        said = self._evidence.of(note.evidence)
        about = _about(note.subject, said) if old is None else old.about
        own = self._evidence.serving(note.evidence, about)
        if not own or (action == "retire" and old is None):
            return None
        if old is not None and action in ("same", "retire"):
            return self._of_old(note, old, own, retracts=action == "retire")
        made = self._new(note, about, own, old)
        return None if made is None else self._fitting(made, own)

    def _fitting(self, made: FactProposal, own: Sequence[Utterance]) -> FactProposal | None:
        """The fact, if its attribute is kept; of a field with its value in written form, if it fits and a model may set
        it. What the rules read has been held against the field already."""
        if not self._attributes.is_kept(made.attribute):
            return None
        field = self._attributes.field(made.attribute)
        if field is None or made.about is About.AGENT or any(made is one for one in self._evidence.read):
            return made
        value = fields.value_said(field, made.value, own[-1].said_at)
        if value is None or field.set_by != "model":
            return None
        if made.attribute in attributes():
            return replace(made, value=value)
        language = told_in(made.text)
        text = language.of_subject(label(made.subject, language), fields.statement(field, value, language))
        return replace(made, value=value, text=text)

    def _of_old(self, note: SaidNote, old: Fact, own: Sequence[Utterance], *, retracts: bool) -> FactProposal | None:
        """A known fact that is said again, or no longer so: the evidence speaks of it, and of an end."""
        texts = [u.text for u in own]
        if not touches((old.value, old.subject), texts) or (retracts and not self._ends(old, texts)):
            return None
        return FactProposal(
            about=old.about,
            subject=old.subject,
            attribute=old.attribute,
            value=old.value,
            text=old.text,
            sources=self._evidence.sources(note.evidence, note.value, old.value),
            single=self._attributes.single(old.attribute),
            retracts=retracts,
            replaces=old.id if retracts else None,
        )

    def _ends(self, old: Fact, texts: Sequence[str]) -> bool:
        """Whether a sentence speaks of what is known and of an end. A fact is ended once. The name of an attribute that
        is none of the table's is a word of the matter too."""
        if old.id in self._ended:
            return False
        matter = (old.value,) if old.attribute in attributes() else (old.value, old.attribute.replace("_", " "))
        for text in texts:
            for one in statements(text):
                if touches(matter, [one]) and (name_of(text) is None or _matches("ending", one)):
                    self._ended.add(old.id)
                    return True
        return False

    def _new(self, note: SaidNote, about: About, own: Sequence[Utterance], old: Fact | None) -> FactProposal | None:
        reading = self._reading
        subject = subject_of(one_line(note.subject, reading.subject_chars + 1), about, own)
        name, value = attribute_of(note.attribute, self._attributes), one_line(note.value, reading.value_chars + 1)
        text = one_line(note.text, reading.fact_chars) or value
        if not SNAKE.fullmatch(name) or is_instruction(name):  # what an agent is to do is found by the rules
            return None
        if not value or len(value) > reading.value_chars or len(subject) > reading.subject_chars or says_nothing(text):
            return None
        made = FactProposal(
            about=about,
            subject=subject,
            attribute=name,
            value=value,
            text=one_line(_told_of(subject, text), reading.fact_chars),
            sources=self._evidence.sources(note.evidence, value, text),
            single=self._attributes.single(name),
        )
        rest = self._as_read(made, text, own)
        if rest is None or old is None or old.about is not about:
            return rest
        return replace(rest, replaces=old.id) if self._replaces(rest, old, own) else rest

    def _replaces(self, new: FactProposal, old: Fact, own: Sequence[Utterance]) -> bool:
        """Whether a fact takes the place of the one that it is said to end: of the same attribute with one value, else
        the evidence speaks of both."""
        if old.attribute != new.attribute or not self._attributes.single(old.attribute):
            return self._ends(old, [u.text for u in own])
        first = old.id not in self._ended
        self._ended.add(old.id)
        return first

    def _as_read(self, made: FactProposal, text: str, own: Sequence[Utterance]) -> FactProposal | None:
        """The fact where the pages bear it out; where the extractive analyst read the same matter otherwise, and the
        model did not say that this is wrong, what it read."""
        read = [one for one in self._evidence.read_in(own) if not one.retracts and one not in self._doubted]
        same = [one for one in read if _same_matter(made, one)]
        for one in same:
            otherwise = _is_stated(made.attribute) and one.attribute not in (made.attribute, *_GENERAL)
            opposite = one.attribute == OPPOSITE.get(made.attribute)
            if fold(one.subject) != fold(made.subject) or otherwise or opposite:
                return one
        if any(one.attribute == made.attribute for one in same):
            return made if self._evidence.heard.times_and_names_of(made.text) else same[0]
        return self._as_said(made, text, own) or next(iter(same), None)

    def _as_said(self, made: FactProposal, text: str, own: Sequence[Utterance]) -> FactProposal | None:
        """The fact, where the speaker states it: its value in a sentence that says such a thing of whom it is about."""
        texts = [words.replace(HIDDEN, " ") for u in own if (words := screen(u.text)) is not None]
        told = [one for words in texts for one in statements(words)]
        holding = [one for one in told if _holds(made.value, one)]
        if not holding or not self._is_known(made, own):
            return None
        of_speaker = made.subject in {speaker_of(u.speaker, u.role) for u in own}
        known = any(name_of(u.text) is not None for u in own)
        if known and not any(_states(made, one, of_speaker=of_speaker) for one in holding):
            return None
        ground = Ground.of(own)
        beside = {*terms(made.subject), *terms(made.attribute.replace("_", " ")), *_frame(made.attribute, text)}
        if not ground.bears(text, beside=beside) or not ground.times_and_names_of(made.value):
            return None
        return made

    def _is_known(self, made: FactProposal, own: Sequence[Utterance]) -> bool:
        """Whether whom a fact is about was spoken of. Who somebody is, each speaker says of themselves."""
        speakers = {speaker_of(u.speaker, u.role) for u in own}
        if made.subject in speakers:
            return True
        all_speakers = {fold(speaker_of(u.speaker, u.role)) for u in self._evidence.said.values()}
        if fold(made.subject) in all_speakers and kind(made.attribute) is Kind.IDENTITY:
            return False
        if any(no_name(u.speaker) and u.role is Role.ASSISTANT for u in own):
            return False
        told = called(made.subject)
        word = told.name or told.kin
        text = self._evidence.heard.text
        return mentions(text, word) or any(mentions(fact.subject, word) for fact in self._known.values())

    def _with_relative(self, note: SaidNote, fact: FactProposal) -> Iterator[FactProposal]:
        """The fact; of somebody with a kin word and a name that were said, also that there is such a relative."""
        told, language = called(note.subject), told_in(note.subject)
        heard = self._evidence.heard.text
        if told.kin and told.name == fact.subject and mentions(heard, told.kin) and mentions(heard, told.name):
            whose_is = subject_of("", fact.about, self._evidence.of(note.evidence)) if told.of == USER else told.of
            value = f"{told.kin}{' ' if language.spaced else ''}{told.name}"
            text = language.of_subject(label(whose_is, language), language.statement("has_relative", value) or value)
            yield FactProposal(
                about=fact.about,
                subject=whose_is,
                attribute="has_relative",
                value=value,
                text=text,
                sources=fact.sources,
                single=False,
            )
        yield fact

    # ------------------------------------------------------------------------------------------------------- traits

    def traits(self, notes: Sequence[TraitNote]) -> list[TraitProposal]:
        """The traits that are believed: one that words speak for, if such words were said; another of an answer that is
        trusted."""
        found = [made for note in notes if (made := self._trait(note)) is not None]
        return found[: self._reading.traits]

    def _trait(self, note: TraitNote) -> TraitProposal | None:
        name = "_".join(note.dimension.lower().split())
        own = self._evidence.serving(note.evidence, About.USER)
        if name not in trait_names() or not own or not -1.0 <= note.level <= 1.0 or not self.trusted:
            return None
        texts = [" ".join(statements(words)) for u in own if (words := screen(u.text)) is not None]
        if not any(texts) or (has_words(name) and not any(bears_on(name, text) for text in texts)):
            return None
        return TraitProposal(
            dimension=name,
            level=note.level,
            confidence=_STATED_OFTEN if len(own) > 1 else _STATED_ONCE,
            sources=tuple(_source(u, ()) for u in own),
            subject=subject_of("", About.USER, own),
        )


def beside(read: Iterable[FactProposal], made: Sequence[FactProposal]) -> list[FactProposal]:
    """What the extractive analyst read, but for what a model says too."""
    return [one for one in read if not any(one is fact or _same_matter(fact, one) for fact in made)]


def borne_out(lines: Iterable[ProfileProposal], evidence: Evidence, longest: int) -> list[ProfileProposal]:
    """The profile lines that facts say, where the user stated them."""
    by_seq = {u.seq: u for u in evidence.said.values()}
    found = []
    for line in lines:
        own = [u for s in line.sources if (u := by_seq[s.seq]).role is Role.USER and not orders(u.text)]
        if len(line.value) <= longest and stated(line.name, line.value, [(u.text, u.said_at.year) for u in own]):
            found.append(line)
    return found


def subject_of(subject: str, about: About, said: Sequence[Utterance]) -> str:
    """Whom a fact is about, as the extractive analyst has it: a speaker with a name goes by it, somebody's relative
    without a name by whose relative they are."""
    side = Role.USER if about is About.USER else Role.ASSISTANT
    speakers = [speaker_of(u.speaker, u.role) for u in said if u.role is side]
    speaker = speakers[0] if speakers else (USER if about is About.USER else AGENT)
    if not subject or no_name(subject) or fold(subject) in {USER, AGENT}:
        return speaker
    own = next((name for name in speakers if fold(name) == fold(subject)), None)
    if own is not None:
        return own
    told = called(subject)
    return told.name or whose(speaker if told.of == USER else told.of, told.kin)


# ----------------------------------------------------------------------------------------------------------- helpers


def _source(utterance: Utterance, quotes: Sequence[str]) -> Source:
    start, end = span_of(quotes, utterance.text) or (None, None)
    return Source(seq=utterance.seq, utterance_id=utterance.id, start=start, end=end)


def _about(subject: str, said: Sequence[Utterance]) -> About:
    """Whose side a fact is of: that which says it; of the agent, if it is named."""
    of_agent = {fold(u.speaker) for u in said if u.role is Role.ASSISTANT} | {AGENT, "assistant"}
    of_user = fold(subject) == USER or any(u.role is Role.USER for u in said)
    return About.AGENT if fold(subject) in of_agent or not of_user else About.USER


def _told_of(subject: str, text: str) -> str:
    """A statement names whom it is about, since it is read by itself: "Ana lives in Lyon"."""
    language = told_in(text)
    name = label(subject, language)
    if mentions(text, subject.split()[-1]) or mentions(text, name):
        return text
    return language.of_subject(name, text)


def _same_matter(one: FactProposal, other: FactProposal) -> bool:
    """Whether two facts that rest on one utterance have one value."""
    if {s.seq for s in one.sources}.isdisjoint(s.seq for s in other.sources):
        return False
    first, second = {*terms(one.value)}, {*terms(other.value)}
    if not first or not second:
        return fold(one.value) == fold(other.value)
    return len(first & second) >= _SAME * min(len(first), len(second))


def _holds(value: str, sentence: str) -> bool:
    wanted, own = {*terms(value)}, {*terms(sentence)}
    return len(wanted & own) >= _VALUE * len(wanted) if wanted else fold(value) in fold(sentence)


def _is_stated(name: str) -> bool:
    """Whether it is known in which words an attribute is stated."""
    return any(name in language.guards.stating for language in languages.all())


def _states(made: FactProposal, sentence: str, *, of_speaker: bool) -> bool:
    """Whether a sentence can be a statement of a fact: it has such words, and does not deny it beside its value; of the
    speaker, it is in the first person."""
    name, guards = made.attribute, languages.of(sentence).guards
    pattern = guards.stating.get(name)
    if pattern is None and name not in OPPOSITE:
        return True
    if pattern is not None and re.search(pattern, sentence, re.IGNORECASE) is None:
        return False
    clauses = [one for one in _CLAUSE_END.split(sentence) if _holds(made.value, one)] or [sentence]
    if name != "dislikes" and all(_matches("denying", one) for one in clauses):
        return False
    return not of_speaker or name in OPPOSITE or re.search(guards.own, sentence) is not None


def _matches(guard: str, sentence: str) -> bool:
    pattern: str = getattr(languages.of(sentence).guards, guard)
    return re.search(pattern, sentence, re.IGNORECASE) is not None


def _frame(name: str, text: str) -> set[str]:
    """The words in which an attribute is told."""
    return {*terms(told_in(text).statement(name, ""))}
