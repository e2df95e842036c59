"""The analyst that asks a language model: one question for a batch of pages, one for a segment's new pages.

A model is asked, never believed: what it names must have been shown to it, what it says must rest on what was said,
and lengths, keywords and ids are ours. docs/concepts/model-analyst.md says which faults fail an answer, and which drop
one item.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from embermem import languages, prompts
from embermem.analysts.answers import (
    BatchNotes,
    FactNote,
    FieldNote,
    LinkNote,
    PageNote,
    SegmentNotes,
    TraitNote,
    attribute_of,
    check_pages,
    check_segment,
    local_id,
)
from embermem.analysts.extractive import ExtractiveAnalyst, profile_of
from embermem.analysts.guards import may_be_kept, no_summary, orders, says_nothing, span_of, stated, touches
from embermem.analysts.keywords import keywords
from embermem.analysts.showing import (
    batch_lines,
    fact_lines,
    language_of,
    page_lines,
    segment_lines,
    trait_lines,
    trait_names,
)
from embermem.core.attributes import is_instruction, single
from embermem.core.config import LinkNumbers, ModelReadingSettings, Settings
from embermem.core.equations import idf
from embermem.core.text import fold
from embermem.core.types import (
    About,
    Annotation,
    ChainTail,
    EvolutionProposal,
    Fact,
    FactProposal,
    ItemId,
    LinkProposal,
    Owner,
    PageView,
    PersonaChange,
    ProfileProposal,
    Role,
    Segment,
    Source,
    ThreadId,
    TraitProposal,
    Utterance,
)
from embermem.languages.people import AGENT, USER, called, label, mentions, no_name, told_in, whose
from embermem.languages.words import terms
from embermem.memoryos.people import speaker_of
from embermem.prompts.data import nonce, one_line
from embermem.protocols import Asker, ChatMessage, ProfileRequest, Purpose

logger = logging.getLogger(__name__)

_OWN = "s0"
"""The segment of the pages that are read."""


class ModelAnalyst:
    """An `Analyst` on a language model. It keeps nothing between questions; threads may share it."""

    def __init__(self, asker: Asker, settings: Settings, reading: ModelReadingSettings | None = None) -> None:
        self._asker = asker
        self._settings = settings
        self._reading = reading or ModelReadingSettings()
        self._links = LinkNumbers()

    @property
    def name(self) -> str:
        """The model, and the versions of both prompts."""
        version = f"{prompts.load('annotate').version}.{prompts.load('profile').version}"
        return f"model:{self._asker.model}/{version}"

    def annotate(
        self, owner: Owner, tails: Mapping[ThreadId, ChainTail], batch: Sequence[PageView]
    ) -> tuple[Annotation, ...]:
        """One annotation a page, in the batch's order, from one question. Raises ModelError, ModelWait."""
        if not batch:
            return ()
        shown, lines = batch_lines(tails, batch, self._reading)
        content = "\n".join(lines)
        messages = _messages(
            prompts.load("annotate").fill(),
            prompts.load("annotate_pages").fill(language=_languages(batch), nonce=nonce(content), pages=content),
        )
        answer = self._asker.ask(owner, Purpose.ANNOTATE, messages, BatchNotes, lambda notes: check_pages(notes, shown))
        notes = {note.id: note for note in answer.pages}
        return self._annotations(tails, shown, notes)

    def profile(self, request: ProfileRequest) -> PersonaChange:
        """What a segment's new pages teach, from one question; nothing is asked where there are none.

        Raises ModelError, ModelWait.
        """
        if not request.pages:
            return PersonaChange()
        reading = self._reading
        said, lines = page_lines(request.pages, reading)
        known, facts = fact_lines(nearest(request, reading.known_facts), reading)
        segments, beside = segment_lines(request.neighbours, self._links)
        summary = one_line(request.segment.summary, reading.segment_chars) or "none"
        fields = "; ".join(f"{f.name}={one_line(f.value, reading.field_chars)}" for f in request.persona.profile)
        shown_facts, shown_pages = "\n".join(facts) or "no known facts", "\n".join(lines)
        shown_segments = "\n".join(beside) or "no older segments"
        messages = _messages(
            prompts.load("profile").fill(traits=trait_lines()),
            prompts.load("profile_pages").fill(
                language=language_of(said.values()),
                nonce=nonce("\n".join((summary, fields, shown_facts, shown_segments, shown_pages))),
                summary=summary,
                profile=fields or "none",
                facts=shown_facts,
                segments=shown_segments,
                pages=shown_pages,
            ),
        )
        answer = self._asker.ask(
            request.owner, Purpose.PROFILE, messages, SegmentNotes, lambda notes: check_segment(notes, said, known)
        )
        evidence = _Evidence(said, reading.evidence)
        return self._change(request, answer, evidence, known, {_OWN: request.segment, **segments})

    # ----------------------------------------------------------------------------------------------------- annotate

    def _annotations(
        self, tails: Mapping[ThreadId, ChainTail], shown: Mapping[str, PageView], notes: Mapping[str, PageNote]
    ) -> tuple[Annotation, ...]:
        reading = self._reading
        chains: dict[ThreadId, tuple[Source, ...]] = dict.fromkeys(tails, ())
        made = []
        for name, view in shown.items():
            note, page = notes[name], view.page
            continues = note.continues and page.thread in chains
            own = tuple(Source(seq=u.seq, utterance_id=u.id) for u in page.utterances)
            sources = (*chains[page.thread], *own) if continues else own
            chains[page.thread] = sources[-reading.summary_sources :]
            made.append(
                Annotation(
                    page_id=page.id,
                    continues=continues,
                    chain_summary=one_line(note.summary, reading.chain_chars),
                    keywords=self._keywords(note, view),
                    summary_sources=chains[page.thread],
                )
            )
        return tuple(made)

    def _keywords(self, note: PageNote, view: PageView) -> tuple[str, ...]:
        """The model's words in the form in which a query's come, so that Eq. 1 can compare them; where none of them
        is one, those of the page's text."""
        limit = self._reading.keywords
        named = (word for phrase in note.keywords for word in keywords(phrase[:200], limit))
        found = tuple(dict.fromkeys(named))[:limit]
        return found or keywords("\n".join(u.text for u in view.page.utterances), limit)

    # ------------------------------------------------------------------------------------------------------ profile

    def _change(
        self,
        request: ProfileRequest,
        answer: SegmentNotes,
        evidence: _Evidence,
        known: Mapping[str, Fact],
        segments: Mapping[str, Segment],
    ) -> PersonaChange:
        """The answer as proposals. An item that does not rest on what was said is left out, and counted in the log."""
        reading = self._reading
        told = {f"n{i}": self._fact(note, evidence, known) for i, note in enumerate(answer.facts, 1)}
        facts = [
            made
            for note, fact in zip(answer.facts, told.values(), strict=True)
            for made in _with_relative(note, fact, evidence)
        ]
        traits = [trait for note in answer.traits if (trait := _trait(note, evidence)) is not None]
        fields = [field for note in answer.profile if (field := self._field(note, evidence)) is not None]
        facts, traits = facts[: reading.facts], traits[: reading.traits]
        ends = _Ends(told, known, segments)
        links = [(note, link) for note in answer.links if (link := self._link(note, evidence, ends)) is not None]
        links = links[: self._links.links]
        offered = len(answer.facts) + len(answer.traits) + len(answer.profile) + len(answer.links)
        if left := offered - len(facts) - len(traits) - len(fields) - len(links):
            logger.info("%s: %d of %d items of an answer left out", self.name, left, offered)
        own = tuple(Source(seq=u.seq, utterance_id=u.id) for u in evidence.said.values())
        return PersonaChange(
            facts=tuple(facts),
            traits=tuple(traits),
            profile=(*fields, *self._mirrored(facts, fields, evidence)),
            segment_summary=one_line(answer.summary, min(reading.segment_chars, self._settings.segment_summary_chars)),
            segment_title=self._title(answer.title),
            summary_sources=tuple(dict.fromkeys((*request.segment.sources, *own)))[-reading.summary_sources :],
            links=tuple(link for _, link in links),
            evolutions=tuple(made for note, link in links if (made := self._evolution(note, link, ends)) is not None),
        )

    def _title(self, told: str) -> str:
        """The model's title of the segment; "" where it is none, or may not be kept."""
        found = one_line(told, self._reading.title_chars).strip(" \"'.")
        is_one = len(found.split()) <= self._reading.title_words and may_be_kept(found) and not no_summary(found)
        return found if is_one else ""

    def _link(self, note: LinkNote, evidence: _Evidence, ends: _Ends) -> LinkProposal | None:
        """A link of what was told or shown to what was shown, for a reason. It rests on what the told fact does, else
        on what was said of the other end."""
        one, other = ends.shown(local_id(note.one)), ends.shown(local_id(note.other))
        fact, reason = ends.told.get(local_id(note.one)), one_line(note.reason, self._links.reason_chars)
        if (one is None and fact is None) or other is None or not may_be_kept(reason):
            return None
        sources = evidence.speaking_of(ends.words(local_id(note.other))) if fact is None else fact.sources
        if not sources:
            return None
        return LinkProposal(from_id=one, from_fact=fact, to_id=other, reason=reason, sources=sources)

    def _evolution(self, note: LinkNote, link: LinkProposal, ends: _Ends) -> EvolutionProposal | None:
        """What becomes of the segment that a link goes to, in the model's words; None where it is no other segment, or
        nothing does."""
        segment, numbers = ends.segments.get(local_id(note.other)), self._links
        if segment is None or local_id(note.other) == _OWN:
            return None
        named = (word for phrase in note.keywords for word in keywords(phrase[:200], numbers.keywords))
        tags = (one_line(tag, numbers.tag_chars) for tag in note.tags)
        context = one_line(note.context, numbers.context_chars)
        made = EvolutionProposal(
            segment_id=segment.id,
            keywords=tuple(dict.fromkeys(named))[: numbers.keywords],
            tags=tuple({fold(tag): tag for tag in tags if may_be_kept(tag)}.values())[: numbers.tags],
            context=context if may_be_kept(context) else "",
            reason=link.reason,
            sources=link.sources,
        )
        return made if made.keywords or made.tags or made.context else None

    def _fact(self, note: FactNote, evidence: _Evidence, known: Mapping[str, Fact]) -> FactProposal | None:
        reading, about = self._reading, About(note.who)
        old = known.get(local_id(note.fact)) if note.action != "add" else None
        if not evidence.serves(note.evidence, about if old is None else old.about):
            return None
        said = evidence.of(note.evidence)
        if old is not None and note.action in ("same", "retire"):
            return FactProposal(
                about=old.about,
                subject=old.subject,
                attribute=old.attribute,
                value=old.value,
                text=old.text,
                sources=evidence.sources(note.evidence, note.value, old.value),
                single=single(old.attribute),
                retracts=note.action == "retire",
                replaces=old.id if note.action == "retire" else None,
            )
        subject = _subject(one_line(note.subject, reading.subject_chars + 1), about, said)
        attribute, value = attribute_of(note.attribute), one_line(note.value, reading.value_chars + 1)
        text = one_line(note.text, reading.fact_chars) or value
        too_long = len(subject) > reading.subject_chars or len(value) > reading.value_chars
        texts = [u.text for u in said]
        if is_instruction(attribute):  # what an agent is to do is not taken from a model: the rules find it
            return None
        if not value or too_long or says_nothing(text) or not touches((value, text), texts):
            return None
        if old is not None and old.about is not about:
            return None
        ends = old is not None and (old.attribute == attribute or touches((old.value,), [value, text, *texts]))
        return FactProposal(
            about=about,
            subject=subject,
            attribute=attribute,
            value=value,
            text=one_line(_told_of(subject, text), reading.fact_chars),
            sources=evidence.sources(note.evidence, value, text),
            single=single(attribute),
            replaces=old.id if old is not None and ends else None,  # of another matter
        )

    def _field(self, note: FieldNote, evidence: _Evidence) -> ProfileProposal | None:
        value = one_line(note.value, self._reading.field_chars + 1)
        if note.name == "gender":
            value = languages.gender(fold(value)) or value
        own = [u for u in evidence.of(note.evidence) if u.role is Role.USER and not orders(u.text)]
        long = len(value) > self._reading.field_chars
        if long or says_nothing(value) or not evidence.serves(note.evidence, About.USER):
            return None
        if not stated(note.name, value, [(u.text, u.said_at.year) for u in own]):
            return None
        return ProfileProposal(
            name=note.name,
            value=value,
            sources=evidence.sources(note.evidence, note.value),
            subject=_subject("", About.USER, own),
        )

    def _mirrored(
        self, facts: Iterable[FactProposal], fields: Iterable[ProfileProposal], evidence: _Evidence
    ) -> list[ProfileProposal]:
        """Profile lines that the facts say and the model did not repeat, if the user stated them."""
        given = {field.name for field in fields}
        by_seq = {u.seq: u for u in evidence.said.values()}
        made = []
        speakers = {speaker_of(u.speaker, u.role) for u in by_seq.values() if u.role is Role.USER}
        for field in profile_of(facts, speakers):
            own = [u for s in field.sources if (u := by_seq[s.seq]).role is Role.USER and not orders(u.text)]
            texts = [(u.text, u.said_at.year) for u in own]
            short = len(field.value) <= self._reading.field_chars
            if field.name not in given and short and stated(field.name, field.value, texts):
                made.append(field)
        return made


def nearest(request: ProfileRequest, limit: int) -> tuple[Fact, ...]:
    """At most `limit` of the known facts, as they stand in order: those that share rare words with the pages, those
    of one value that the pages plainly speak of, then other facts of one value, which change without a shared word."""
    facts = request.nearest
    if len(facts) <= limit:
        return facts
    said = {term for view in request.pages for u in view.page.utterances for term in terms(u.text[:20_000])}
    reader = ExtractiveAnalyst()
    spoken_of = {fact.attribute for view in request.pages for fact in reader.facts(view.page)}
    words = [set(terms(f"{f.subject} {f.attribute.replace('_', ' ')} {f.value} {f.text}")) for f in facts]
    held = Counter(term for own in words for term in own)

    def worth(i: int) -> tuple[bool, float, bool, int]:
        one_value = single(facts[i].attribute)
        shared = sum(idf(len(facts), held[term]) for term in words[i] & said)
        return one_value and facts[i].attribute in spoken_of, shared, one_value, i

    chosen = sorted(range(len(facts)), key=worth, reverse=True)[:limit]
    return tuple(facts[i] for i in sorted(chosen))


# ------------------------------------------------------------------------------------------------- what it rests on


@dataclass(frozen=True, slots=True)
class _Evidence:
    """The utterances that were shown, by their local ids."""

    said: Mapping[str, Utterance]
    limit: int

    def of(self, ids: Iterable[str]) -> list[Utterance]:
        """Those named, each once, in the order in which they were said."""
        named = {local_id(name) for name in ids}
        return [utterance for name, utterance in self.said.items() if name in named][: self.limit]

    def sources(self, ids: Iterable[str], *quotes: str) -> tuple[Source, ...]:
        """Those named, each with where the first of the quotes stands in it that does."""
        return tuple(_source(u, quotes) for u in self.of(ids))

    def speaking_of(self, words: Sequence[str]) -> tuple[Source, ...]:
        """Those that share a word with these and give no orders, the newest."""
        own = [u for u in self.said.values() if touches(words, [u.text]) and not orders(u.text)]
        return tuple(_source(u, words) for u in own[-self.limit :])

    def serves(self, ids: Iterable[str], about: About) -> bool:
        """Whether a statement may rest on them: one at least gives no orders, and is the user's own for the user."""
        return any(
            not orders(u.text) and (u.role is Role.USER or (about is About.AGENT and u.role is not Role.TOOL))
            for u in self.of(ids)
        )


def _source(utterance: Utterance, quotes: Sequence[str]) -> Source:
    start, end = span_of(quotes, utterance.text) or (None, None)
    return Source(seq=utterance.seq, utterance_id=utterance.id, start=start, end=end)


@dataclass(frozen=True, slots=True)
class _Ends:
    """What a link may name: the answer's own facts n1, n2, … (None: not believed), the facts and segments shown."""

    told: Mapping[str, FactProposal | None]
    known: Mapping[str, Fact]
    segments: Mapping[str, Segment]

    def shown(self, name: str) -> ItemId | None:
        """The id of what was shown by this name."""
        found = self.known.get(name) or self.segments.get(name)
        return None if found is None else found.id

    def words(self, name: str) -> tuple[str, ...]:
        """What the one of this name is about."""
        if (fact := self.known.get(name)) is not None:
            return (fact.value, fact.subject)
        return self.segments[name].keywords if name in self.segments else ()


def _trait(note: TraitNote, evidence: _Evidence) -> TraitProposal | None:
    if note.dimension not in trait_names() or not evidence.serves(note.evidence, About.USER):
        return None
    return TraitProposal(
        dimension=note.dimension,
        level=note.level,
        confidence=note.confidence,
        sources=evidence.sources(note.evidence),
        subject=_subject("", About.USER, evidence.of(note.evidence)),
    )


def _subject(subject: str, about: About, said: Sequence[Utterance]) -> str:
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


def _with_relative(note: FactNote, fact: FactProposal | None, evidence: _Evidence) -> Iterator[FactProposal]:
    """What is believed of a note; of somebody with a kin word and a name, also that there is such a relative."""
    if fact is None:
        return
    told, language = called(note.subject), told_in(note.subject)
    if told.kin and told.name == fact.subject:
        whose = _subject("", fact.about, evidence.of(note.evidence)) if told.of == USER else told.of
        value = f"{told.kin}{' ' if language.spaced else ''}{told.name}"
        text = language.of_subject(label(whose, language), language.statement("has_relative", value) or value)
        yield FactProposal(
            about=fact.about,
            subject=whose,
            attribute="has_relative",
            value=value,
            text=text,
            sources=fact.sources,
            single=False,
        )
    yield fact


def _told_of(subject: str, text: str) -> str:
    """A statement names whom it is about, since it is read by itself: "Ana lives in Lyon"."""
    language = told_in(text)
    named = label(subject, language)
    if mentions(text, subject.split()[-1]) or mentions(text, named):
        return text
    return language.of_subject(named, text)


# ------------------------------------------------------------------------------------------------------ the request


def _messages(stable: str, passing: str) -> tuple[ChatMessage, ChatMessage]:
    """What is the same in every question first, so that a server can keep it."""
    return ChatMessage(role=Role.SYSTEM, text=stable), ChatMessage(role=Role.USER, text=passing)


def _languages(batch: Sequence[PageView]) -> str:
    """The language of the batch's pages; where they differ, each page's own."""
    found = Counter(language_of(view.page.utterances) for view in batch)
    if len(found) == 1:
        return next(iter(found))
    overall = language_of(u for view in batch for u in view.page.utterances)
    return f"each page's own, else {overall}"
