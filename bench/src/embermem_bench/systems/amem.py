"""A-MEM, agentic memory (arXiv 2502.12110): a box of notes that link to each other and change as new ones come.

A note is one utterance: what was said, and what the model says of it (§3.1). It is linked to those of the nearest older
notes that belong to it (§3.2), and these may be understood anew in its light (§3.3). A query takes the nearest notes,
and with them their boxes: the notes that each of them links to, or that link to it (§3.4).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from heapq import nlargest
from typing import ClassVar

from embermem.core.text import fold
from embermem.core.types import Context, Hit, Owner, Page, Scope, ThreadId, Utterance
from embermem.prompts.data import one_line
from embermem.prompts.rendering import day
from embermem.protocols import Purpose
from embermem_bench.systems.numbers import AMemNumbers
from embermem_bench.systems.recorded import Kit, Piece, RecordedSystem, only_shown, similarities
from embermem_bench.systems.records import Record, RecordId, Written, remade

__all__ = ["AMem", "Note", "Version"]


_NOT_SHOWN = "Note {} was not shown; the numbers are 1 to {}."


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Note(Record):
    """m = {c, t, K, G, X, e, L} (Eq. 1): `text` is c, `at` is t, `vector` is e, and `links` are the ids of older notes.

    `said` is the seq of its utterance; its sources are that, the utterances that made it evolve, and without a model
    those that its context is condensed from. `category` is the one word under which the model files it.
    `retrieval_count` says how often `visit` counted it, `last_accessed` when.
    """

    kind: ClassVar[str] = "amem.note"

    said: int
    keywords: tuple[str, ...]
    tags: tuple[str, ...]
    context: str
    links: tuple[RecordId, ...]
    category: str = ""
    retrieval_count: int = 0
    last_accessed: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Version(Note):
    """The note `of` as it was before it evolved: what a recall sees that may not see what made it evolve."""

    kind: ClassVar[str] = "amem.version"

    of: RecordId


class AMem(RecordedSystem):
    """A MemorySystem of linked notes."""

    name: ClassVar[str] = "amem"
    kinds: ClassVar[tuple[type[Record], ...]] = (Note, Version)

    def __init__(self, kit: Kit, numbers: AMemNumbers | None = None) -> None:
        super().__init__(kit)
        self.numbers = numbers or AMemNumbers()

    def learn(self, owner: Owner, pages: Sequence[Page]) -> Written:
        """A note for each utterance, its links, and what it makes of its neighbours."""
        (page,) = pages
        notes = {note.id: note for note in self.kept(owner, Note)}
        written: dict[RecordId, Note] = {}
        for made in self._constructed(owner, page):
            near = self._near(made, list(notes.values()))
            note = self._linked(owner, made, near)
            evolved = self._evolved(owner, note, near)
            earlier = [remade(Version, notes[one.id], id=self.new_id(), of=one.id) for one in evolved]
            written |= {one.id: one for one in (note, *evolved, *earlier)}
            notes |= {one.id: one for one in (note, *evolved)}
        return Written(keep=list(written.values()))

    def recall(
        self,
        owner: Owner,
        query: str,
        *,
        at: datetime | None = None,
        budget: int | None = None,
        thread: ThreadId | None = None,
        scope: Scope | None = None,
    ) -> Context:
        """The notes nearest to the query (Eq. 8 to 10), and after them all of their boxes.

        A hit is the utterance of a note. What a context took from other utterances stands in the note's sources.
        """
        notes = self._seen(owner, scope)
        if not notes:
            return self.context(owner, query, [], budget=budget)
        scores = dict(zip(notes, similarities(self.embed(query)[0], list(notes.values())), strict=True))
        nearest = nlargest(self.numbers.recall_k, notes, key=scores.__getitem__)
        boxes = _boxes(notes)
        linked = {one for note_id in nearest for one in boxes[note_id]}.difference(nearest)
        beside = sorted(linked, key=lambda note_id: (-scores[note_id], notes[note_id].said))
        pieces = [
            Piece(text=_line(notes[one]), score=scores[one], seqs=(notes[one].said,)) for one in (*nearest, *beside)
        ]
        return self.context(owner, query, pieces, budget=budget)

    def visit(self, owner: Owner, hits: Iterable[Hit]) -> None:
        """Count a retrieval of the notes of these hits, at the clock's time."""
        seqs = {hit.utterance.seq for hit in hits}

        def decide() -> Written:
            now, notes = self.kit.clock(), [note for note in self.kept(owner, Note) if note.said in seqs]
            return Written(
                keep=[replace(note, retrieval_count=note.retrieval_count + 1, last_accessed=now) for note in notes]
            )

        self.write(owner, decide)

    def notes(self, owner: Owner) -> tuple[Note, ...]:
        """The owner's notes as they stand, oldest first, with their links, counts and times."""
        return self.kept(owner, Note)

    def _seen(self, owner: Owner, scope: Scope | None) -> dict[RecordId, Note]:
        """The notes by id, each as it was when it rested on nothing outside the scope."""
        versions = {} if scope is None else {one.of: one for one in self.kept(owner, Version, scope)}
        return {**versions, **{note.id: note for note in self.kept(owner, Note, scope)}}

    def _near(self, note: Note, notes: Sequence[Note]) -> list[tuple[float, Note]]:
        """The k notes of the greatest cosine (Eq. 4 and 5), nearest first."""
        if note.vector is None:
            return []
        scored = zip(similarities(note.vector, notes), notes, strict=True)
        return nlargest(self.numbers.near_k, scored, key=lambda pair: pair[0])

    # -------------------------------------------------------------------------------------- note construction, §3.1

    def _constructed(self, owner: Owner, page: Page) -> list[Note]:
        """A note for each utterance that says anything, without links."""
        notes = []
        for index, utterance in enumerate(page.utterances):
            if utterance.text.strip():
                said = page.utterances[max(0, index + 1 - max(1, self.numbers.window)) : index + 1]
                notes.append(self._extracted(said) if self.kit.asker is None else self._asked(owner, utterance))
        return self._embedded(notes)

    def _asked(self, owner: Owner, utterance: Utterance) -> Note:
        """Eq. 2: K, G, X ← LLM(c ‖ t ‖ P_s1)."""
        shown = f"{day(utterance.said_at)} {one_line(_content(utterance), self.numbers.content_chars)}"
        answer = self.ask(owner, Purpose.REMEMBER, "amem_note", AMemNote, shown)
        note = self._described(self._bare(utterance), answer)
        return replace(note, category=one_line(answer.category, self.numbers.word_chars))

    def _extracted(self, said: Sequence[Utterance]) -> Note:
        """The last of these utterances, with its own keywords, and a context condensed from all of them."""
        n = self.numbers
        context = self.kit.condense([_content(utterance) for utterance in said], n.context_chars)
        note = self._bare(said[-1])
        return replace(
            note,
            keywords=self.kit.keywords(said[-1].text, n.keywords),
            context=one_line(context, n.context_chars),
            sources=tuple(utterance.seq for utterance in said),
        )

    def _bare(self, utterance: Utterance) -> Note:
        return Note(
            id=self.new_id(),
            text=one_line(_content(utterance), len(utterance.text) + len(utterance.speaker) + 2),
            at=utterance.said_at,
            sources=(utterance.seq,),
            said=utterance.seq,
            keywords=(),
            tags=(),
            context="",
            links=(),
        )

    def _described(self, note: Note, told: AMemNote | AMemEvolved | AMemChange) -> Note:
        """The note with K, G and X as the model tells them, and its own where it tells nothing."""
        n = self.numbers
        return replace(
            note,
            keywords=_words(told.keywords, n.keywords, n.word_chars) or note.keywords,
            tags=_words(told.tags, n.tags, n.word_chars) or note.tags,
            context=one_line(told.context, n.context_chars) or note.context,
        )

    def _embedded(self, notes: Sequence[Note]) -> list[Note]:
        """Eq. 3: e = f_enc(concat(c, K, G, X))."""
        if not notes:
            return []
        vectors = self.embed(*(_whole(note) for note in notes))
        return [replace(note, vector=vector) for note, vector in zip(notes, vectors, strict=True)]

    # ----------------------------------------------------------------------------------------- link generation, §3.2

    def _linked(self, owner: Owner, note: Note, near: Sequence[tuple[float, Note]]) -> Note:
        """Eq. 6: the note with its links, to those of the near notes that the model names; with tags anew if the model
        gives some for it. Without a model the links are those above a cosine."""
        if not self.numbers.links or not near:
            return note
        if self.kit.asker is None:
            return replace(note, links=tuple(one.id for score, one in near if score >= self.numbers.link_cosine))
        shown = "\n".join(["new note", self._shown(note), "older notes", *self._numbered([one for _, one in near])])

        def check(answer: AMemLinks) -> None:
            only_shown(answer.linked, len(near), _NOT_SHOWN)

        answer = self.ask(owner, Purpose.REMEMBER, "amem_link", AMemLinks, shown, check)
        if not answer.linked:
            return note
        links = tuple(near[number - 1][1].id for number in dict.fromkeys(answer.linked))
        tags = _words(answer.tags, self.numbers.tags, self.numbers.word_chars) or note.tags
        linked = replace(note, links=links, tags=tags)
        return linked if tags == note.tags else self._embedded([linked])[0]

    # ---------------------------------------------------------------------------------------- memory evolution, §3.3

    def _evolved(self, owner: Owner, note: Note, near: Sequence[tuple[float, Note]]) -> list[Note]:
        """Eq. 7: the neighbours that are understood anew in the light of a note, embedded anew."""
        n = self.numbers
        if not n.evolution:
            return []
        neighbours = [one for _, one in near if one.id in note.links or not (n.links and n.evolve_linked)]
        if self.kit.asker is None:
            changed = [self._with_keywords_of(one, note) for one in neighbours if one.id in note.links]
        elif n.evolve_each:
            changed = [self._asked_of(owner, note, one, [other for _, other in near]) for one in neighbours]
        else:
            changed = self._asked_of_all(owner, note, neighbours)
        old = {one.id: one for one in neighbours}
        fresh = [one for one in changed if _whole(one) != _whole(old[one.id])]
        return self._embedded([replace(one, sources=tuple(sorted({*one.sources, *note.sources}))) for one in fresh])

    def _asked_of(self, owner: Owner, note: Note, neighbour: Note, near: Sequence[Note]) -> Note:
        """m_j* ← LLM(m_n ‖ M_near \\ m_j ‖ m_j ‖ P_s3)."""
        others = [self._shown(one) for one in near if one.id != neighbour.id]
        head = ["new note", self._shown(note), "older note", self._shown(neighbour)]
        shown = "\n".join([*head, *(["other notes"] if others else []), *others])
        answer = self.ask(owner, Purpose.REMEMBER, "amem_evolve", AMemEvolved, shown)
        return self._described(neighbour, answer) if answer.changes else neighbour

    def _asked_of_all(self, owner: Owner, note: Note, neighbours: Sequence[Note]) -> list[Note]:
        if not neighbours:
            return []
        shown = "\n".join(["new note", self._shown(note), "older notes", *self._numbered(neighbours)])

        def check(answer: AMemEvolvedAll) -> None:
            only_shown([change.number for change in answer.changed], len(neighbours), _NOT_SHOWN)

        answer = self.ask(owner, Purpose.REMEMBER, "amem_evolve_all", AMemEvolvedAll, shown, check)
        changes = {change.number: change for change in answer.changed}
        return [self._described(neighbours[number - 1], change) for number, change in changes.items()]

    def _with_keywords_of(self, neighbour: Note, note: Note) -> Note:
        keywords = tuple(dict.fromkeys((*neighbour.keywords, *note.keywords)))
        return replace(neighbour, keywords=keywords[: self.numbers.keywords])

    # -------------------------------------------------------------------------------------------- what a model is shown

    def _shown(self, note: Note) -> str:
        return _line(replace(note, text=one_line(note.text, self.numbers.near_chars)))

    def _numbered(self, notes: Sequence[Note]) -> list[str]:
        return [f"{number} {self._shown(note)}" for number, note in enumerate(notes, 1)]


def _boxes(notes: Mapping[RecordId, Note]) -> Mapping[RecordId, Set[RecordId]]:
    """Of each note its box: those of the notes that it links to, and those that link to it."""
    boxes: defaultdict[RecordId, set[RecordId]] = defaultdict(set)
    for note_id, note in notes.items():
        for other in notes.keys() & set(note.links):
            boxes[note_id].add(other)
            boxes[other].add(note_id)
    return boxes


def _content(utterance: Utterance) -> str:
    return f"{utterance.speaker}: {utterance.text}"


def _whole(note: Note) -> str:
    """concat(c, K, G, X) of Eq. 3."""
    return "\n".join(part for part in (note.text, ", ".join(note.keywords), ", ".join(note.tags), note.context) if part)


def _line(note: Note) -> str:
    """`2026-05-02 Alice: text | context: … | keywords: … | tags: … | category: …`, without what it has none of."""
    keywords, tags = ", ".join(note.keywords), ", ".join(note.tags)
    parts = {"context": note.context, "keywords": keywords, "tags": tags, "category": note.category}
    return " | ".join([f"{day(note.at)} {note.text}", *(f"{name}: {text}" for name, text in parts.items() if text)])


def _words(given: Sequence[str], limit: int, chars: int) -> tuple[str, ...]:
    """Keywords or tags of a model's answer, each once."""
    cleaned = (one_line(word, chars) for word in given)
    return tuple({fold(word): word for word in cleaned if word}.values())[:limit]


# ------------------------------------------------------------------------------------------------- the model's answers


@dataclass(frozen=True, kw_only=True, slots=True)
class AMemNote:
    """The answer to amem_note."""

    schema_name: ClassVar[str] = "AMemNote"
    keywords: tuple[str, ...]
    context: str
    tags: tuple[str, ...]
    category: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class AMemLinks:
    """The answer to amem_link: numbers of notes, and the new note's tags in their light."""

    schema_name: ClassVar[str] = "AMemLinks"
    linked: tuple[int, ...]
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class AMemEvolved:
    """The answer to amem_evolve: the one neighbour that was asked about."""

    schema_name: ClassVar[str] = "AMemEvolved"
    changes: bool
    context: str
    keywords: tuple[str, ...]
    tags: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class AMemChange:
    """A neighbour that changes, by its number."""

    number: int
    context: str
    keywords: tuple[str, ...]
    tags: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class AMemEvolvedAll:
    """The answer to amem_evolve_all."""

    schema_name: ClassVar[str] = "AMemEvolvedAll"
    changed: tuple[AMemChange, ...]
