"""The analyst that asks a language model: one question for a batch of pages, one for a segment's new pages.

A model is asked, never believed: what it says is held against the pages, by the checks that our own reading passes, and
what fails is replaced by what the extractive analyst finds there. docs/concepts/model-analyst.md says how.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from embermem import prompts
from embermem.analysts.answers import (
    BatchNotes,
    BatchSummaries,
    FactNote,
    PageFacts,
    PageNote,
    SaidNote,
    SegmentNotes,
    ToldNote,
    by_page,
    check_facts,
    check_pages,
)
from embermem.analysts.believed import Beliefs, Evidence, beside, borne_out
from embermem.analysts.continuity import continues
from embermem.analysts.extractive import ExtractiveAnalyst, merged, profile_of
from embermem.analysts.grounding import Ground, told_sentences
from embermem.analysts.guards import may_be_kept, no_summary, orders
from embermem.analysts.habit import Habit
from embermem.analysts.keywords import keywords
from embermem.analysts.nearest import nearest
from embermem.analysts.showing import (
    EARLIER,
    NEW,
    batch_lines,
    chars_within,
    claims_by_id,
    fact_lines,
    field_lines,
    language_of,
    languages_of,
    page_lines,
    summary_line,
    tokens_of,
    trait_lines,
)
from embermem.analysts.summary import summarise
from embermem.analysts.traits import traits_of
from embermem.core.changes import is_extractive
from embermem.core.config import ExtractiveSettings, ModelReadingSettings, Settings
from embermem.core.errors import ModelReplyError, ModelTooLong
from embermem.core.types import (
    Annotation,
    ChainTail,
    Fact,
    FactProposal,
    Owner,
    PageView,
    PersonaChange,
    Role,
    Source,
    ThreadId,
    Utterance,
)
from embermem.languages.words import terms
from embermem.memoryos.people import speaker_of
from embermem.prompts.data import nonce, one_line
from embermem.protocols import AnswerForm, Asker, ChatMessage, ProfileRequest, Purpose

logger = logging.getLogger(__name__)

_SMALL_CONTEXT = 4_096
"""Tokens: a server that takes no more is asked in the short form."""
_FRAME_TOKENS = 300
"""Of a request around its messages: a chat template, a schema that is shown."""
_PAGE_TOKENS, _FACT_TOKENS, _CLAIM_TOKENS, _SEGMENT_TOKENS, _ANY_TOKENS = 200, 90, 5, 900, 120
"""What an answer may take for each page noted, each fact, each claim named, a segment's title, summary and traits; and
always."""
_KEYWORDS_ALONE = 0.5
"""What a page counts of which only the keywords are borne out."""
_FEW_WORDS = 3
"""A page of fewer words need not be told of."""
_LIKES_TEA = SaidNote(evidence=["u1"], subject="user", attribute="likes", value="tea", text="likes tea")
"""A fact as an example shows it."""


class ModelAnalyst:
    """An `Analyst` on a language model. Between questions it keeps only whether the model needs the short forms.
    Threads may share it."""

    def __init__(self, asker: Asker, settings: Settings, reading: ModelReadingSettings | None = None) -> None:
        self._attributes = settings.attributes
        self._asker = asker
        self._settings = settings
        self._reading = reading or ModelReadingSettings()
        self._extractive = ExtractiveAnalyst(known=self._attributes)
        self._noting, self._profiling = Habit(), Habit()

    @property
    def name(self) -> str:
        """The model, and the versions of both prompts."""
        version = f"{prompts.load('annotate').version}.{prompts.load('profile').version}"
        return f"model:{self._asker.model}/{version}{self._asks_more and '.' + prompts.load('fields').version}"

    @property
    def _asks_more(self) -> str:
        """What fields and instructions of the application's own add to a prompt; nothing where there are none."""
        lines = field_lines(self._settings)
        return "\n\n" + prompts.load("fields").fill(lines="\n".join(lines)) if lines else ""

    def annotate(
        self, owner: Owner, tails: Mapping[ThreadId, ChainTail], batch: Sequence[PageView]
    ) -> tuple[Annotation, ...]:
        """One annotation a page, in the batch's order, from one question. Raises ModelError, ModelWait; ModelReplyError
        also for an answer of which nearly nothing is believed."""
        if not batch:
            return ()
        tokens = self._limit(_ANY_TOKENS + _PAGE_TOKENS * len(batch))
        stable = prompts.load("annotate").fill()
        room = self._room(stable, tokens)
        shown, lines = batch_lines(tails, batch, self._reading)
        if room is not None and tokens_of(lines) > room:
            if len(batch) > 1:
                raise ModelTooLong(f"{len(batch)} pages do not fit the context of {self._asker.model}")
            reading = replace(
                self._reading, annotate_chars=chars_within(lines, room), utterance_chars=chars_within(lines, room)
            )
            shown, lines = batch_lines(tails, batch, reading)
        content = "\n".join(lines)
        passing = prompts.load("annotate_pages").fill(language=languages_of(batch), nonce=nonce(content), pages=content)
        messages = _messages(stable, passing)
        with self._noting.asked() as asked:
            made = self._noted(owner, messages, tails, shown, BatchSummaries if asked.short else BatchNotes, tokens)
            if made is None:
                raise ModelReplyError(f"{self._asker.model} said little that the pages bear out", "")
            return made

    def _noted(
        self,
        owner: Owner,
        messages: Sequence[ChatMessage],
        tails: Mapping[ThreadId, ChainTail],
        shown: Mapping[str, PageView],
        form: type[BatchNotes] | type[BatchSummaries],
        tokens: int,
    ) -> tuple[Annotation, ...] | None:
        """The annotations of the pages shown, in one form of the answer; None where too little of it is believed."""
        example: BatchNotes | BatchSummaries
        if form is BatchNotes:
            example = BatchNotes(pages=[PageNote(id=n, summary="who said what", keywords=["topic"]) for n in shown])
        else:
            example = BatchSummaries(pages=[ToldNote(id=n, summary="who said what") for n in shown])
        made: tuple[Annotation, ...] | None = None

        def accept(answer: BatchNotes | BatchSummaries) -> bool:
            nonlocal made
            made = self._annotations(tails, shown, by_page(answer, shown))
            return made is not None

        self._asker.ask(
            owner,
            Purpose.ANNOTATE,
            messages,
            form,
            lambda notes: check_pages(notes, shown),
            accept=accept,
            form=AnswerForm(tokens=tokens, example=example, ids=tuple(shown), divisible=len(shown) > 1),
        )
        return made

    def profile(self, request: ProfileRequest) -> PersonaChange:
        """What a segment's new pages teach, from one question; nothing is asked where there are none. A server with a
        small context, or a model whose answer was wrong in form before, is asked for facts alone.

        Raises ModelError, ModelWait.
        """
        if not request.pages:
            return PersonaChange()
        small = self._asker.context_tokens
        if small is not None and small <= _SMALL_CONTEXT:
            return self._facts_alone(request)
        with self._profiling.asked(short=self._noting.short) as asked:
            change = self._facts_alone(request) if asked.short else self._whole_if_it_fits(request)
            asked.believed = not is_extractive(change.read_by)
        return change

    # ------------------------------------------------------------------------------------------------------ questions

    def _whole_if_it_fits(self, request: ProfileRequest) -> PersonaChange:
        """The long form; of a single page that does not fit the server's context the short one."""
        try:
            return self._whole(request)
        except ModelTooLong:
            if len(request.pages) > 1:
                raise
        return self._facts_alone(request)

    def _whole(self, request: ProfileRequest) -> PersonaChange:
        reading, read = self._reading, _read_in(request)
        claims = claims_by_id(read, request.pages, reading)
        said, lines = page_lines(request.pages, reading, claims)
        known, facts = fact_lines(nearest(request, reading.known_facts, self._attributes), reading)
        summary = summary_line(request.segment, said.values(), reading)
        fields = "; ".join(f"{f.name}={one_line(f.value, reading.field_chars)}" for f in request.persona.profile)
        shown_facts, shown_pages = "\n".join(facts) or "no known facts", "\n".join(lines)
        stable = prompts.load("profile").fill(traits=trait_lines()) + self._asks_more
        passing = prompts.load("profile_pages").fill(
            language=language_of(said.values()),
            nonce=nonce("\n".join((summary, fields, shown_facts, shown_pages))),
            earlier=EARLIER,
            summary=summary,
            profile=fields or "none",
            facts=shown_facts,
            new=NEW,
            pages=shown_pages,
        )
        tokens = _ANY_TOKENS + _SEGMENT_TOKENS + _FACT_TOKENS * min(len(said), reading.facts)
        tokens = self._limit(tokens + _CLAIM_TOKENS * len(claims))
        room = self._room(stable, tokens)
        if room is not None and tokens_of([passing]) > room:
            raise ModelTooLong(f"{len(request.pages)} pages do not fit the context of {self._asker.model}")
        example = SegmentNotes(
            facts=[FactNote(evidence=["u1"], subject="user", attribute="likes", value="tea", text="likes tea")],
            confirmed=[*claims][:1],
            dropped=[*claims][1:2],
            title="a heading",
            summary="who said what",
        )
        evidence = Evidence(said, reading.evidence, read, claims)
        change = PersonaChange()

        def accept(answer: SegmentNotes) -> bool:
            nonlocal change
            change = self._learnt(request, answer, evidence, known)
            return not is_extractive(change.read_by)

        self._asker.ask(
            request.owner,
            Purpose.PROFILE,
            _messages(stable, passing),
            SegmentNotes,
            lambda notes: check_facts(notes.facts, said),
            accept=accept,
            form=AnswerForm(tokens=tokens, example=example, ids=tuple(said), divisible=len(request.pages) > 1),
        )
        return change

    def _learnt(
        self,
        request: ProfileRequest,
        answer: SegmentNotes,
        evidence: Evidence,
        known: Mapping[str, Fact],
    ) -> PersonaChange:
        """What is believed of an answer in the long form, with extraction in place of the rest."""
        beliefs = Beliefs(evidence, known, self._reading, self._attributes)
        made = beliefs.facts(answer.facts, answer.confirmed, answer.dropped)
        traits = beliefs.traits(answer.traits)
        change = self._change(beliefs, evidence, made)
        ground = Ground.of(evidence.said.values(), (request.segment.summary,))
        told, left = self._summary(answer.summary, ground, request)
        title = self._title(answer.title, ground, request)
        by_both = bool(change.read_by) or left > 0 or not told or not title
        believed = told or traits or beliefs.any_of(made)
        return replace(
            change,
            traits=(*traits, *(one for one in change.traits if one.dimension not in {t.dimension for t in traits})),
            segment_summary=told or None,
            segment_title=title if told else "",
            summary_sources=self._sources(request, evidence) if told else (),
            read_by=(self._both if by_both else "") if believed else self._extractive.name,
        )

    def _facts_alone(self, request: ProfileRequest) -> PersonaChange:
        """The short form: as many questions as the server's context needs, each of some of the pages."""
        reading, stable = self._reading, prompts.load("facts").fill() + self._asks_more
        read = _read_in(request)
        parts, believed = [], False
        for pages in self._parted(request.pages, stable):
            said, lines = page_lines(pages, reading, {})
            tokens = self._limit(_ANY_TOKENS + _FACT_TOKENS * min(len(said), reading.facts))
            room = self._room(stable, tokens)
            if room is not None and tokens_of(lines) > room:  # one page
                said, lines = page_lines(pages, replace(reading, profile_chars=chars_within(lines, room)), {})
            content = "\n".join(lines)
            passing = prompts.load("facts_pages").fill(
                language=language_of(said.values()), nonce=nonce(content), pages=content
            )
            evidence = Evidence(said, reading.evidence, read)
            beliefs = Beliefs(evidence, {}, reading, self._attributes)
            made: list[FactProposal] = []

            def accept(answer: PageFacts, beliefs: Beliefs = beliefs, made: list[FactProposal] = made) -> bool:
                made += beliefs.facts(answer.facts)
                return beliefs.any_of(made)

            self._asker.ask(
                request.owner,
                Purpose.PROFILE,
                _messages(stable, passing),
                PageFacts,
                lambda notes, said=said: check_facts(notes.facts, said),  # type: ignore[misc]
                accept=accept,
                form=AnswerForm(
                    tokens=tokens, example=PageFacts(facts=[_LIKES_TEA]), ids=tuple(said), divisible=len(pages) > 1
                ),
            )
            believed = believed or beliefs.any_of(made)
            parts.append(self._change(beliefs, evidence, made))
        facts = [fact for part in parts for fact in part.facts]
        facts += beside(read, facts)
        fields = {line.name: line for part in parts for line in part.profile}
        return PersonaChange(
            facts=tuple(facts),
            traits=traits_of(tuple(facts), _users(u for view in request.pages for u in view.page.utterances)),
            profile=tuple(fields.values()),
            read_by=self._both if believed else self._extractive.name,
        )

    def _parted(self, pages: Sequence[PageView], stable: str) -> Iterator[tuple[PageView, ...]]:
        """The pages in parts that fit the server's context, each of one page at least."""
        part: list[PageView] = []
        for page in pages:
            said, lines = page_lines([*part, page], self._reading, {})
            room = self._room(stable, self._limit(_ANY_TOKENS + _FACT_TOKENS * min(len(said), self._reading.facts)))
            if part and room is not None and tokens_of(lines) > room:
                yield tuple(part)
                part = []
            part.append(page)
        yield tuple(part)

    def _limit(self, tokens: int) -> int:
        small = self._asker.context_tokens
        limit = min(tokens, self._settings.model_answer_tokens)
        return limit if small is None else min(limit, small // 2)

    def _room(self, stable: str, answer: int) -> int | None:
        """Tokens that are left for pages in a request; None where nothing is known of the server's context."""
        small = self._asker.context_tokens
        return None if small is None else max(200, small - answer - _FRAME_TOKENS - tokens_of([stable]))

    # ------------------------------------------------------------------------------------------------------- annotate

    def _annotations(
        self, tails: Mapping[ThreadId, ChainTail], shown: Mapping[str, PageView], notes: Mapping[str, ToldNote]
    ) -> tuple[Annotation, ...] | None:
        """What is believed of the notes, with extraction in place of the rest; None where that is too little."""
        chains = {thread: _Chain.of(tail) for thread, tail in tails.items()}
        made, believed = [], []
        for name, view in shown.items():
            before = chains.get(view.page.thread)
            annotation, share = self._annotation(view, notes.get(name), before)
            chains[view.page.thread] = _Chain.after(before, view, annotation, self._reading)
            made.append(annotation)
            if share or len(_own_words(view)) >= _FEW_WORDS:
                believed.append(share)
        logger.info("%s: %g of %d pages were believed", self.name, sum(believed), len(believed))
        return tuple(made) if self._noting.believes(believed) else None

    def _annotation(self, view: PageView, note: ToldNote | None, before: _Chain | None) -> tuple[Annotation, float]:
        """What a model says of a page, where the page bears it out; the rest is extracted. And how much is believed."""
        page, chain = view.page, before if note is not None and note.continues else None
        borne, told, left = (False, "", 0) if note is None else self._told(note.summary, view, chain)
        heard = self._noting.trusted and (borne or self._keywords(note, view, _ground(view, None))[0])
        if before is not None and not heard:
            chain = before if continues(before.last, before.summary, view, ExtractiveSettings()) else None
        said, more = self._keywords(note, view, _ground(view, chain))
        believed = 1.0 if borne else _KEYWORDS_ALONE * bool(said)
        extracted = not told
        if told:
            sources = _newest(
                (*(chain.sources if chain else ()), *_all_of(page.utterances)), self._reading.summary_sources
            )
        else:
            so_far, rests = (chain.summary, chain.sources) if chain else ("", ())
            told, sources = summarise(so_far, page, ExtractiveSettings(), rests)
            left = 1
        made = Annotation(
            page_id=page.id,
            continues=chain is not None,
            chain_summary=told,
            keywords=(*said, *more),
            summary_sources=sources,
            read_by=self._both if left or more else "",
            extracted=extracted,
        )
        return made, believed

    def _told(self, summary: str, view: PageView, chain: _Chain | None) -> tuple[bool, str, int]:
        """Whether a summary's sentences were said and tell of the page; those that stand, if they name a speaker where
        speakers have names; and how many do not."""
        ground, own = _ground(view, chain), _own_words(view)
        said, left = told_sentences(one_line(summary, self._reading.chain_chars), ground)
        told = ground.with_whom(said)
        borne, tells = (
            bool(text) and (len(own) < _FEW_WORDS or len(own & {*terms(text)}) >= 2) for text in (said, told)
        )
        return borne, told if tells else "", left + (told != said)

    def _keywords(self, note: ToldNote | None, view: PageView, ground: Ground) -> tuple[Sequence[str], Sequence[str]]:
        """The model's words in the form in which a query's come, so that Eq. 2 can compare them; and those of the
        page's text in place of those that were not said, of all where most were not."""
        limit = self._reading.keywords
        own = keywords("\n".join(u.text for u in view.page.utterances), limit)
        named = [
            word
            for phrase in (note.keywords if isinstance(note, PageNote) else ())
            for word in keywords(phrase[:200], limit)
        ]
        named = [*dict.fromkeys(named)][:limit]
        said = [word for word in named if ground.says(word)]
        if 2 * len(said) < len(named):
            said = []
        lost = len(named) - len(said) if said else limit
        return said, [word for word in own if word not in said][:lost]

    # -------------------------------------------------------------------------------------------------------- profile

    def _change(self, beliefs: Beliefs, evidence: Evidence, made: Sequence[FactProposal]) -> PersonaChange:
        """What is believed of an answer's facts, with what stands of the extractive analyst's, and what of the profile
        both say."""
        others, dropped = beliefs.standing(made), beliefs.dropped
        facts: tuple[FactProposal, ...] = (*made, *others)
        if left := beliefs.offered - beliefs.kept:
            logger.info("%s: %d of %d facts of an answer left out", self.name, left, beliefs.offered)
        speakers = _users(evidence.said.values())
        lines = borne_out(profile_of(facts, speakers, self._attributes), evidence, self._reading.field_chars)
        here = [one for one in evidence.read_in(evidence.said.values()) if one not in dropped]
        fields = {line.name: line for line in (*profile_of(here, speakers, self._attributes), *lines)}
        return PersonaChange(
            facts=facts,
            dropped=tuple(dropped),
            traits=traits_of(facts, speakers),
            profile=tuple(fields.values()),
            read_by=self._both if left or others else "",
        )

    def _summary(self, told: str, ground: Ground, request: ProfileRequest) -> tuple[str, int]:
        """The sentences of a segment's summary that were said, if they tell as much of it as the one so far."""
        limit = min(self._reading.segment_chars, self._settings.segment_summary_chars)
        said, left = told_sentences(one_line(told, limit), ground)
        kept = ground.with_whom(said)
        words = request.segment.keywords[: self._reading.keywords]
        tells = sum(word in {*keywords(kept, 60)} for word in words)
        before = sum(word in {*keywords(request.segment.summary, 60)} for word in words)
        return (kept, left) if tells >= min(before, 2) else ("", left)

    def _title(self, told: str, ground: Ground, request: ProfileRequest) -> str:
        """The model's title of the segment; "" where it is none, was not said, or may not be kept."""
        found = one_line(told, self._reading.title_chars).strip(" \"'.")
        is_one = len(found.split()) <= self._reading.title_words and may_be_kept(found) and not no_summary(found)
        return found if is_one and ground.bears(found) else ""

    def _sources(self, request: ProfileRequest, evidence: Evidence) -> tuple[Source, ...]:
        own = _all_of(evidence.said.values())
        return _newest((*request.segment.sources, *own), self._reading.summary_sources)

    @property
    def _both(self) -> str:
        """Who read what a model was not believed of."""
        return f"{self.name}+{self._extractive.name}"


@dataclass(frozen=True, slots=True)
class _Chain:
    """A thread's chain before a page: its last page, what was said in it of late, its summary and where that stands."""

    last: PageView
    said: tuple[Utterance, ...]
    summary: str
    sources: tuple[Source, ...]

    @classmethod
    def of(cls, tail: ChainTail) -> _Chain:
        return cls(tail.view, tail.view.page.utterances, tail.summary, tail.sources)

    @classmethod
    def after(
        cls, before: _Chain | None, view: PageView, annotation: Annotation, reading: ModelReadingSettings
    ) -> _Chain:
        earlier = before.said if before is not None and annotation.continues else ()
        said = (*earlier, *view.page.utterances)[-reading.summary_sources :]
        return cls(view, said, annotation.chain_summary, annotation.summary_sources)


def _ground(view: PageView, chain: _Chain | None) -> Ground:
    """What a page's note may tell: what was said in it and, where it goes on, in its chain."""
    said = view.page.utterances
    return Ground.of(said) if chain is None else Ground.of((*chain.said, *said), (chain.summary,))


def _own_words(view: PageView) -> frozenset[str]:
    """The words of a page without those that name its speakers."""
    ground = Ground.of(view.page.utterances)
    return ground.words - ground.whom


def _read_in(request: ProfileRequest) -> tuple[FactProposal, ...]:
    """What the extractive analyst read in the pages, each once, but for utterances that give orders."""
    told = {u.seq for view in request.pages for u in view.page.utterances if not orders(u.text)}
    own = ((fact, tuple(source for source in fact.sources if source.seq in told)) for fact in request.read)
    return merged(replace(fact, sources=sources) for fact, sources in own if sources)


def _users(utterances: Iterable[Utterance]) -> set[str]:
    """The subjects of what the user's side says of itself."""
    return {speaker_of(u.speaker, u.role) for u in utterances if u.role is Role.USER}


def _all_of(utterances: Iterable[Utterance]) -> tuple[Source, ...]:
    return tuple(Source(seq=u.seq, utterance_id=u.id) for u in utterances)


def _newest(sources: Sequence[Source], most: int) -> tuple[Source, ...]:
    return tuple(dict.fromkeys(sources))[-most:]


# ------------------------------------------------------------------------------------------------------ the request


def _messages(stable: str, passing: str) -> tuple[ChatMessage, ChatMessage]:
    """What is the same in every question first, so that a server can keep it."""
    return ChatMessage(role=Role.SYSTEM, text=stable), ChatMessage(role=Role.USER, text=passing)
