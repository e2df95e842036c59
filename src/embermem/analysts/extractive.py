"""The analyst that needs no model: reads pages by rules and says what they mean.

Facts are read by rules in English, and by the trained reader, if there is one, in every language of the encoder;
standing instructions and fields of an application by the rules of several languages.

Deterministic, pure and thread-safe: it reads no clock, and its only input is the package's word lists, read once.
Instructions in pages are data. What it extracts, and what not: docs/concepts/extractive.md.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from embermem import languages
from embermem.analysts import asserted
from embermem.analysts.continuity import continues
from embermem.analysts.keywords import keywords
from embermem.analysts.screening import screen
from embermem.analysts.summary import summarise
from embermem.analysts.traits import traits_of
from embermem.core.attributes import BUILT_IN, Attributes, attributes, is_instruction
from embermem.core.changes import EXTRACTIVE
from embermem.core.config import ExtractiveSettings
from embermem.core.types import (
    About,
    Annotation,
    ChainTail,
    FactProposal,
    Owner,
    Page,
    PageView,
    PersonaChange,
    ProfileProposal,
    Role,
    Source,
    ThreadId,
    TraitProposal,
    Utterance,
)
from embermem.languages import Language
from embermem.languages.en import LANGUAGE as ENGLISH
from embermem.languages.facts import fields
from embermem.languages.facts.finding import Finding
from embermem.languages.people import USER, called, label, may_be_another, no_name, whose
from embermem.languages.words import terms
from embermem.memoryos.people import profile_value, speaker_of
from embermem.protocols import ProfileRequest, Reader

_Tail = tuple[PageView, str, tuple[Source, ...]]
"""The page before, its chain's summary, and where that stands."""
_LASTING = languages.finder(lambda one: one.screening.lasting)
"""A text without any of these holds no standing instruction."""


class ExtractiveAnalyst:
    """An `Analyst` without a model. It never raises for what a page may hold."""

    def __init__(
        self,
        settings: ExtractiveSettings | None = None,
        known: Attributes = BUILT_IN,
        reader: Reader | None = None,
    ) -> None:
        """`known` are the attributes of the memory whose pages it reads; `reader` is the trained reader, if there is
        one."""
        self._settings = settings or ExtractiveSettings()
        self._known = known
        self._reader = reader

    @property
    def name(self) -> str:
        """The version of the rules, and the reader's name if there is one."""
        return EXTRACTIVE if self._reader is None else f"{EXTRACTIVE}+{self._reader.name}"

    def annotate(
        self, owner: Owner, tails: Mapping[ThreadId, ChainTail], batch: Sequence[PageView]
    ) -> tuple[Annotation, ...]:
        """One annotation a page, in the batch's order; facts, traits and profile fields are filled."""
        latest: dict[ThreadId, _Tail] = {t: (tail.view, tail.summary, tail.sources) for t, tail in tails.items()}
        annotations = []
        for view in batch:
            annotation = self._annotate(view, latest.get(view.page.thread))
            latest[view.page.thread] = (view, annotation.chain_summary, annotation.summary_sources)
            annotations.append(annotation)
        return tuple(annotations)

    def profile(self, request: ProfileRequest) -> PersonaChange:
        """The facts, traits and profile fields of the request's pages, each once. The segment's summary stands: it is
        made of sentences of its pages already."""
        facts = merged(f for view in request.pages for f in self.facts(view.page))
        speakers = {name for view in request.pages for name in _speakers(view.page)}
        return PersonaChange(
            facts=facts, traits=_strongest(traits_of(facts, speakers)), profile=profile_of(facts, speakers, self._known)
        )

    def facts(self, page: Page, before: Utterance | None = None) -> tuple[FactProposal, ...]:
        """The facts of one page, in the order in which they were said, each once; `before` was said before it."""
        named = all(not no_name(u.speaker) for u in page.utterances)
        said = zip((before, *page.utterances), page.utterances, strict=False)
        return merged(fact for last, u in said for fact in self._facts(u, last, named))

    def _annotate(self, view: PageView, before: _Tail | None) -> Annotation:
        settings = self._settings
        goes_on = before is not None and continues(before[0], before[1], view, settings)
        so_far, told = (before[1], before[2]) if before is not None and goes_on else ("", ())
        summary, sources = summarise(so_far, view.page, settings, told)
        facts = self.facts(view.page, None if before is None else _last(before[0].page))
        text = "\n".join(u.text[: settings.max_chars] for u in view.page.utterances)
        return Annotation(
            page_id=view.page.id,
            continues=goes_on,
            chain_summary=summary,
            keywords=keywords(text, settings.keywords, max_chars=settings.max_chars),
            summary_sources=sources,
            facts=facts,
            traits=traits_of(facts, _speakers(view.page)),
            profile=profile_of(facts, _speakers(view.page), self._known),
        )

    def _facts(self, utterance: Utterance, before: Utterance | None, named: bool) -> Iterable[FactProposal]:
        if utterance.role not in (Role.USER, Role.ASSISTANT):
            return
        text = utterance.text[: self._settings.max_chars]
        mine = utterance.role is Role.USER
        reader = self._reader if (mine or named) and utterance.passage is None else None
        of_self, orders = ENGLISH.first_person.search(text) is not None, mine and _LASTING(text) is not None
        of_fields = mine and self._known.own and fields.spoken_of(text, self._known.own)
        screened = screen(text) if of_self or orders or of_fields or reader is not None else None
        if screened is None:
            return
        found: list[_Found] = []
        if of_self:
            read = mine or named
            facts = ENGLISH.facts(screened, utterance.said_at) if read else ENGLISH.facts_of_agent(screened)
            found = [(one, ENGLISH) for one in sorted(facts, key=lambda one: (one.start, one.end))]
        if orders:
            found = _with_instructions(found, screened, utterance.said_at)
        if of_fields:
            own = [*fields.stated(screened, utterance.said_at, self._known.own)]
            found = [*(pair for pair in found if not _is_told_by(pair[0], own)), *own]
        if reader is not None:
            assertions = reader.read(replace(utterance, text=text), before)
            if not mine:
                assertions = tuple(one for one in assertions if asserted.of_itself(text, one, before))
            found = asserted.added(found, text, screened, assertions, utterance.said_at)
        about = About.USER if mine else About.AGENT
        twice = _told_twice(finding for finding, _ in found)
        for finding, language in found[: self._settings.max_facts]:
            if (kept := _kept(finding, self._known, about)) is not None:
                proposal = _proposal(kept, language, utterance, about, self._known)
                beside = _of(finding) in twice or may_be_another(finding.subject)
                yield replace(proposal, single=proposal.single and not beside)


# ---------------------------------------------------------------------------------------------------- facts


_Found = tuple[Finding, Language]
"""A statement, and the language in which it is to be told."""


def _with_instructions(found: list[_Found], screened: str, said_at: datetime) -> list[_Found]:
    """What was found, with the standing instructions first: what is an instruction is nothing else."""
    orders = [(one, language) for language in languages.all() for one in language.instructions(screened, said_at)]
    taken = [(order.start, order.end) for order, _ in orders if not order.retracts]
    others = [pair for pair in found if all(pair[0].end <= start or end <= pair[0].start for start, end in taken)]
    return [*orders, *others]


def _of(finding: Finding) -> tuple[str, str, str]:
    return finding.subject, finding.kin, finding.attribute


def _told_twice(found: Iterable[Finding]) -> frozenset[tuple[str, str, str]]:
    """Of whom a message states an attribute with several values and takes none back: neither takes the other's
    place."""
    values: defaultdict[tuple[str, str, str], set[str]] = defaultdict(set)
    ended: set[tuple[str, str, str]] = set()
    for one in found:
        if one.retracts:
            ended.add(_of(one))
        else:
            values[_of(one)].add(one.value)
    return frozenset(of for of, some in values.items() if len(some) > 1 and of not in ended)


def _is_told_by(finding: Finding, own: Sequence[_Found]) -> bool:
    """Whether what was found says no more than a field's value does."""
    return finding.attribute in _GENERAL and any(finding.start < one.end and one.start < finding.end for one, _ in own)


def _kept(finding: Finding, known: Attributes, about: About) -> Finding | None:
    """What was found, if it is to be kept: of a field a value that fits, where what is said may set it."""
    if not known.is_kept(finding.attribute):
        return None
    field = known.field(finding.attribute)
    if field is None or about is About.AGENT:
        return finding
    value = finding.value if finding.retracts else field.fits(finding.value)
    return None if value is None or field.set_by == "caller" else replace(finding, value=value)


_GENERAL = frozenset({"does", "feels", "owns", "says"})
"""What a statement is read as that no rule knows."""
_DATES = frozenset({"birth_year", "birthday"})
"""What is a date itself needs no second one."""
_ONCE = frozenset({"born_in"})
"""What has one value but is an event: it was in that year, not since."""


def _proposal(
    finding: Finding, language: Language, utterance: Utterance, about: About, known: Attributes
) -> FactProposal:
    subject = speaker_of(utterance.speaker, utterance.role)
    if finding.subject != USER:
        who = called(finding.subject)
        subject = who.name or whose(subject, who.kin)
    elif finding.kin:
        subject = whose(subject, finding.kin)
    is_single, field = known.single(finding.attribute), known.field(finding.attribute)
    is_date = finding.attribute in _DATES or (field is not None and field.type == "date")
    if finding.retracts:
        text = language.no_longer(finding.attribute, finding.value)
    elif field is not None and finding.attribute not in attributes():
        text = fields.statement(field, finding.value, language)
    elif finding.as_said and is_instruction(finding.attribute):
        text = f"asks: “{finding.value}”" if language is ENGLISH else language.statement("instruction", finding.value)
    elif finding.as_said:
        quoted, name = f"“{finding.value}”", finding.attribute.replace("_", " ")
        text = f"{name}: {quoted}" if language is ENGLISH else language.statement(finding.attribute, quoted)
    else:
        text = language.statement(finding.attribute, finding.value)
    if finding.when is not None and not is_date:
        has_begun = finding.when.at <= utterance.said_at
        goes_on = (is_single and finding.attribute not in _ONCE) or finding.attribute == "studies"
        text += language.dated(finding.when.label, since=goes_on and has_begun and finding.until is None)
    source = Source(seq=utterance.seq, utterance_id=utterance.id, start=finding.start, end=finding.end)
    return FactProposal(
        about=about,
        subject=subject,
        attribute=finding.attribute,
        value=finding.value,
        text=language.of_subject(label(subject, language), text),
        sources=(source,),
        single=is_single or (finding.attribute == "diet" and len(terms(finding.value)) == 1),
        valid_from=None if finding.when is None or finding.until is not None else finding.when.at,
        retracts=finding.retracts,
        expires_at=None if finding.retracts else finding.until,
        sure=finding.sure,
    )


def _last(page: Page) -> Utterance | None:
    return page.utterances[-1] if page.utterances else None


def _speakers(page: Page) -> frozenset[str]:
    """The subjects of what the user's side says of itself."""
    return frozenset(speaker_of(u.speaker, u.role) for u in page.utterances if u.role is Role.USER)


def merged(facts: Iterable[FactProposal]) -> tuple[FactProposal, ...]:
    """Each fact once, with the sources of all its sayings. What is said again after a change stays a new fact."""
    kept: list[FactProposal] = []
    at: dict[tuple[About, str, str], dict[tuple[str, bool], int]] = {}
    for fact in facts:
        same = at.setdefault((fact.about, fact.subject, fact.attribute), {})
        key = (" ".join(fact.value.casefold().split()), fact.retracts)
        if key in same:
            old = kept[same[key]]
            kept[same[key]] = replace(old, sources=_unique((*old.sources, *fact.sources)))
            continue
        if fact.single:
            same.clear()
        same.pop((key[0], not fact.retracts), None)
        same[key] = len(kept)
        kept.append(fact)
    return tuple(kept)


def _unique(sources: Iterable[Source]) -> tuple[Source, ...]:
    return tuple(dict.fromkeys(sources))


def _strongest(traits: tuple[TraitProposal, ...]) -> tuple[TraitProposal, ...]:
    """One proposal a person, dimension and direction, with all its sources."""
    kept: dict[tuple[str, str, bool], TraitProposal] = {}
    for trait in traits:
        key = (trait.subject, trait.dimension, trait.level > 0)
        if key in kept:
            kept[key] = replace(kept[key], sources=_unique((*kept[key].sources, *trait.sources)))
        else:
            kept[key] = trait
    return tuple(kept.values())


# -------------------------------------------------------------------------------------------------- profile


def profile_of(
    facts: Iterable[FactProposal], speakers: Collection[str], known: Attributes
) -> tuple[ProfileProposal, ...]:
    """Fields of the speakers' profiles from facts about them; for each field the last said wins."""
    lines: dict[tuple[str, str], ProfileProposal] = {}
    for fact in facts:
        line = profile_value(fact.attribute, fact.value, known)
        if line is not None and fact.about is About.USER and fact.subject in speakers and not fact.retracts:
            lines.pop((fact.subject, line[0]), None)
            lines[fact.subject, line[0]] = ProfileProposal(
                name=line[0], value=line[1], sources=fact.sources, subject=fact.subject
            )
    return tuple(lines.values())
