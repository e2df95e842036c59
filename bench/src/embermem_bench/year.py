"""A year of one user's talk, told to a new store with the clock of the year, and questions asked of its past.

The script is data: `data/year.jsonl` has what was said and what was done to the memory (forgotten, corrected, pinned),
`data/year_questions.json` what is asked at the end of it, how, and what must and must not stand in the answer. A
question is right or wrong by its words alone: no model judges. Rules: docs/research/bench.md.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from embermem.core.errors import EmberError, InputError, NotFound
from embermem.core.text import fold
from embermem_bench import ProgressFn
from embermem_bench.metrics import percentile

if TYPE_CHECKING:
    from embermem.core.types import Conflict, Fact
    from embermem.memory import Memory, OwnerMemory
    from embermem.protocols import LanguageModel

SCRIPT, QUESTIONS = "data/year.jsonl", "data/year_questions.json"
USER, AGENT, ZONE = "signe", "companion", "Europe/Copenhagen"
EXTRACTIVE, MODEL = "extractive", "model"
"""Who can see what a question asks for: any analyst, or one with a model only."""
SETTLED_AFTER = timedelta(minutes=10)
"""After the last word of a talk: the oldest page waits no longer than this for a worker (`batch_wait_s`)."""
ASKED_AFTER = timedelta(days=1)
"""After the last talk, when all questions are asked."""
READ_ALL: Mapping[str, float] = {"tau": 0.0, "min_new": 1}
"""With a model each placed page is promoted at once: in one year few topics grow hot, and it is the reading of dates
that is measured, not the choice of what to read."""


# --------------------------------------------------------------------------------------------------- what is played


@dataclass(frozen=True, kw_only=True, slots=True)
class Exchange:
    """One page of the year. `id` is talk.page, such as "23.1"."""

    id: str
    thread: str
    at: datetime
    query: str
    response: str
    expires_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Meant:
    """The fact that an action or a question is about, by the person and what it says; None: any."""

    person: str | None = None
    attribute: str | None = None
    value: str | None = None

    def fits(self, fact: Fact) -> bool:
        return all(
            wanted is None or fold(wanted) == fold(given)
            for wanted, given in (
                (self.attribute, fact.attribute),
                (self.value, fact.value),
            )
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Forget:
    """She asks that what was said be forgotten: the exchanges named."""

    at: datetime
    forget: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Correct:
    """She corrects a fact by hand."""

    at: datetime
    correct: Meant
    text: str
    value: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Pin:
    """She pins a fact."""

    at: datetime
    pin: Meant


Step = Exchange | Forget | Correct | Pin


def script() -> tuple[Step, ...]:
    """The bundled year, in order."""
    return tuple(_step(json.loads(line)) for line in _bundled(SCRIPT).splitlines())


def _step(row: dict[str, Any]) -> Step:
    at = datetime.fromisoformat(row.pop("at"))
    if "forget" in row:
        return Forget(at=at, forget=tuple(row["forget"]))
    if "correct" in row:
        return Correct(at=at, correct=Meant(**row["correct"]), text=row["text"], value=row["value"])
    if "pin" in row:
        return Pin(at=at, pin=Meant(**row["pin"]))
    expires = row.pop("expires_at", None)
    return Exchange(at=at, expires_at=None if expires is None else datetime.fromisoformat(expires), **row)


def _bundled(name: str) -> str:
    return files("embermem_bench").joinpath(name).read_text(encoding="utf-8")


def play(
    memory: Memory,
    clock: Clock,
    steps: Sequence[Step],
    told: ProgressFn = lambda what, done, total: None,
    after_talk: Callable[[OwnerMemory], None] = lambda owner: None,
) -> OwnerMemory:
    """Tell the year to a memory that goes by this clock; at the end of each talk it is settled, as by a worker, and
    shown to `after_talk`.

    Raises EmberError where an action finds nothing to act on.
    """
    owner = memory.of(USER, AGENT, timezone=ZONE)
    pages: dict[str, str] = {}
    for done, (step, following) in enumerate(zip(steps, (*steps[1:], None), strict=True), 1):
        clock.now = step.at
        if isinstance(step, Exchange):
            pages[step.id] = _add(owner, step)
        else:
            owner.settle()
            _act(owner, step, pages)
        if following is None or following.at - step.at > SETTLED_AFTER:
            clock.now = step.at + SETTLED_AFTER
            owner.settle()
            after_talk(owner)
        told("telling", done, len(steps))
    return owner


def _add(owner: OwnerMemory, said: Exchange) -> str:
    expiring: dict[str, Any] = {} if said.expires_at is None else {"expires_at": said.expires_at}
    return owner.add(said.query, said.response, at=said.at, thread=said.thread, key=said.id, **expiring)


def _act(owner: OwnerMemory, step: Forget | Correct | Pin, pages: Mapping[str, str]) -> None:
    if isinstance(step, Forget):
        for exchange in step.forget:
            owner.forget(page=pages[exchange])
    elif isinstance(step, Correct):
        owner.correct(_fact(owner, step.correct).id, step.text, value=step.value)
    else:
        owner.pin(_fact(owner, step.pin).id)


def _fact(owner: OwnerMemory, meant: Meant) -> Fact:
    found = _meant(owner.facts, meant, {})
    if len(found) != 1:
        raise EmberError(f"{len(found)} facts where the script means one: {meant}")
    return found[0]


# ---------------------------------------------------------------------------------------------------- what is asked


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """What is asked at the end of the year. `read` names the call, `of` narrows what is read, `as_of` and `valid_at`
    go with it. Every text of `has` must stand in the answer (as words, whatever their case), none of `has_not` may;
    `lines` is how many lines it has. `needs` says which analyst can see it; `open` why it is known to be answered
    wrong."""

    id: str
    kind: str
    question: str
    read: str
    needs: str = EXTRACTIVE
    of: Meant = field(default_factory=Meant)
    as_of: datetime | None = None
    valid_at: datetime | None = None
    has: tuple[str, ...] = ()
    has_not: tuple[str, ...] = ()
    lines: int | None = None
    open: str = ""

    @property
    def month(self) -> str:
        """The month that is asked about; "now" for none."""
        at = self.valid_at or self.as_of
        return "now" if at is None else f"{at:%Y-%m}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Asking:
    """All questions, and the texts that were forgotten: they may stand in no answer at all."""

    questions: tuple[Question, ...]
    forgotten: tuple[str, ...]


def questions() -> Asking:
    """The bundled questions. Raises InputError for one that asks nothing."""
    read = json.loads(_bundled(QUESTIONS))
    made = tuple(_question(row) for row in read["questions"])
    return Asking(questions=made, forgotten=tuple(read["forgotten"]))


def _question(row: dict[str, Any]) -> Question:
    for name in ("as_of", "valid_at"):
        if name in row:
            row[name] = datetime.fromisoformat(row[name])
    made = Question(
        **{
            **row,
            "of": Meant(**row.get("of", {})),
            "has": tuple(row.get("has", ())),
            "has_not": tuple(row.get("has_not", ())),
        }
    )
    if not (made.has or made.has_not or made.lines is not None):
        raise InputError(f"question {made.id} expects nothing")
    if made.read not in _READS or made.needs not in (EXTRACTIVE, MODEL):
        raise InputError(f"question {made.id}: read = {made.read!r}, needs = {made.needs!r}")
    return made


def answered(owner: OwnerMemory, question: Question, budget: int | None = None) -> tuple[str, ...]:
    """What the memory answers, line by line."""
    times = {"as_of": question.as_of, "valid_at": question.valid_at}
    moment: dict[str, Any] = {name: at for name, at in times.items() if at is not None}
    if question.read == "recall":
        return tuple(owner.recall(question.question, budget=budget, **moment).text.splitlines())
    return tuple(_READS[question.read](owner, question.of, moment))


def _facts(owner: OwnerMemory, of: Meant, moment: Mapping[str, Any]) -> Iterable[str]:
    return map(_told, _meant(owner.facts, of, moment))


def _past_facts(owner: OwnerMemory, of: Meant, moment: Mapping[str, Any]) -> Iterable[str]:
    return map(_told, _meant(owner.past_facts, of, moment))


def _meant(read: Callable[..., Iterable[Fact]], of: Meant, moment: Mapping[str, Any]) -> list[Fact]:
    """The facts that are meant; none of a person who is not known at that moment."""
    try:
        return [fact for fact in read(person=of.person, **moment) if of.fits(fact)]
    except NotFound:
        return []


def _profile(owner: OwnerMemory, of: Meant, moment: Mapping[str, Any]) -> Iterable[str]:
    lines = owner.profile(**moment)
    return (f"{line.name}: {line.value}" for line in lines if of.attribute in (None, line.name))


def _traits(owner: OwnerMemory, of: Meant, moment: Mapping[str, Any]) -> Iterable[str]:
    traits = owner.traits(**moment)
    return (f"{trait.dimension}: {trait.pole}" for trait in traits if of.attribute in (None, trait.dimension))


def _segments(owner: OwnerMemory, of: Meant, moment: Mapping[str, Any]) -> Iterable[str]:
    return (f"{', '.join(one.keywords)}: {one.summary}" for one in owner.segments(**moment))


def _pages(owner: OwnerMemory, of: Meant, moment: Mapping[str, Any]) -> Iterable[str]:
    return (f"{page.query} {page.response}" for page in owner.pages(**moment))


def _conflicts(owner: OwnerMemory, of: Meant, moment: Mapping[str, Any]) -> Iterable[str]:
    found: Sequence[Conflict] = owner.conflicts(**moment)
    return (f"{one.older.person} {one.older.text} / {one.newer.person} {one.newer.text}" for one in found)


def _everything(owner: OwnerMemory, of: Meant, moment: Mapping[str, Any]) -> Iterable[str]:
    """All that can be read: what is forgotten may be in none of it."""
    known = {name: at for name, at in moment.items() if name == "as_of"}
    for read in (_pages, _segments, _profile, _traits, _facts):
        yield from read(owner, of, moment)
    yield from _past_facts(owner, of, known)
    yield from (chain.summary for chain in owner.chains(**moment))
    if not moment:
        yield from (repr(change) for change in owner.changes())
        yield from (_told(fact) for fact in owner.facts(archived=True))


def _told(fact: Fact) -> str:
    """A fact, how often it was told, and until when it was true."""
    ended = f" until {fact.valid_to:%Y-%m-%d}" if fact.valid_to else ""
    times = len({source.utterance_id for source in fact.sources})
    return f"{fact.person}: {fact.text}{ended} (told {times}×){' pinned' if fact.pinned else ''}"


_READS: Mapping[str, Callable[[OwnerMemory, Meant, Mapping[str, Any]], Iterable[str]]] = {
    "facts": _facts,
    "past_facts": _past_facts,
    "profile": _profile,
    "traits": _traits,
    "segments": _segments,
    "pages": _pages,
    "conflicts": _conflicts,
    "everything": _everything,
    "recall": lambda owner, of, moment: (),  # asked with its question: see `answered`
}


# ------------------------------------------------------------------------------------------------- copies and soundness


class Copies:
    """What the memory knew after the talks of a year, kept beside it, to be held against what it says of them later."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kept: list[tuple[datetime, frozenset[object]]] = []

    def __len__(self) -> int:
        return len(self._kept)

    def keep(self, owner: OwnerMemory) -> None:
        """Keep what is known now, once a month."""
        if not self._kept or self._kept[-1][0].month != self._clock.now.month:
            self._kept.append((self._clock.now, _known(owner)))

    def unlike(self, owner: OwnerMemory, forgotten: Sequence[str]) -> Iterator[str]:
        """What `as_of` a time says otherwise than it was known then, but for what was forgotten since."""
        for at, was in self._kept:
            for item in sorted(map(str, was ^ _known(owner, as_of=at))):
                if not any(text in item for text in forgotten):
                    yield f"{at:%Y-%m-%d}: {item}"


def _known(owner: OwnerMemory, **moment: Any) -> frozenset[object]:
    """Facts, lines of the profile and traits, with all that is said of them."""
    return frozenset(
        (*owner.facts(**moment), *owner.past_facts(**moment), *owner.profile(**moment), *owner.traits(**moment))
    )


# ------------------------------------------------------------------------------------------------------- the figures


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """A question, its answer, and what is wrong with it: empty where it is right."""

    question: Question
    answer: tuple[str, ...]
    wrong: tuple[str, ...]
    ms: float


def judged(question: Question, answer: Sequence[str], forgotten: Iterable[str] = ()) -> tuple[str, ...]:
    """What is wrong with an answer, each in a few words."""
    text = fold("\n".join(answer))
    wrong = [f"lacks {one!r}" for one in question.has if fold(one) not in text]
    wrong += [f"says {one!r}" for one in question.has_not if fold(one) in text]
    wrong += [f"says the forgotten {one!r}" for one in forgotten if fold(one) in text]
    if question.lines is not None and len(answer) != question.lines:
        wrong.append(f"{len(answer)} lines, not {question.lines}")
    return tuple(wrong)


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """What came of a year."""

    analyst: str
    embedder: str
    pages: int
    talks: int
    changes: int
    facts: int
    past_facts: int
    asked: tuple[Asked, ...]
    left_out: int
    left_in_files: tuple[str, ...]
    """Forgotten texts whose bytes a file of the store still holds when it is closed."""
    moments: int
    moments_unlike: tuple[str, ...]
    """What `as_of` the end of a month's first talk says otherwise than it was known then; of so many months."""
    unsound: tuple[str, ...]
    """What a deep check of the store found: what was derived compared with what the log of changes gives."""

    @property
    def good(self) -> bool:
        """Whether nothing is wrong but what is known to be."""
        failed = [one for one in self.failed if not one.question.open]
        return not (failed or self.left_in_files or self.moments_unlike or self.unsound)

    @property
    def failed(self) -> tuple[Asked, ...]:
        """The questions with a wrong answer."""
        return tuple(one for one in self.asked if one.wrong)

    def as_json(self) -> dict[str, Any]:
        """The keys that docs/research/bench.md lists."""
        return {
            "analyst": self.analyst,
            "embedder": self.embedder,
            "pages": self.pages,
            "talks": self.talks,
            "changes": self.changes,
            "facts": self.facts,
            "past_facts": self.past_facts,
            "questions": len(self.asked),
            "right": len(self.asked) - len(self.failed),
            "left_out": self.left_out,
            "left_in_files": list(self.left_in_files),
            "moments": self.moments,
            "moments_unlike": list(self.moments_unlike),
            "unsound": list(self.unsound),
            "ms_p50": round(percentile([one.ms for one in self.asked], 0.5) or 0.0, 2),
            "by_kind": self.by(lambda one: one.question.kind),
            "by_read": self.by(lambda one: one.question.read),
            "by_month": self.by(lambda one: one.question.month),
            "by_needs": self.by(lambda one: one.question.needs),
            "failed": [
                {"id": one.question.id, "question": one.question.question, "wrong": list(one.wrong)}
                for one in self.failed
            ],
        }

    def by(self, key: Callable[[Asked], str]) -> dict[str, dict[str, int]]:
        """How many of each group are right, and how many there are."""
        groups = groupby(sorted(self.asked, key=key), key=key)
        counted = {name: [not one.wrong for one in some] for name, some in groups}
        return {name: {"right": sum(right), "questions": len(right)} for name, right in counted.items()}


@dataclass(slots=True)
class Clock:
    """Says the time of the script."""

    now: datetime

    def __call__(self) -> datetime:
        return self.now


def run(
    folder: Path,
    *,
    model: str | LanguageModel | None = None,
    budget: int | None = None,
    told: ProgressFn = lambda what, done, total: None,
    **settings: object,
) -> Report:
    """Tell the year to a new store in the folder and ask all that its analyst can see: with a model everything.

    Raises EmberError where something fails that is no wrong answer.
    """
    from embermem.memory import Memory

    steps, asking = script(), questions()
    clock = Clock(steps[0].at)
    copies = Copies(clock)
    seen = [one for one in asking.questions if model or one.needs == EXTRACTIVE]
    given: dict[str, Any] = {**(READ_ALL if model else {}), "background": False, **settings}
    with Memory(folder / "year.db", clock=clock, model=model or "", **given) as memory:
        owner = play(memory, clock, steps, told, copies.keep)
        clock.now = steps[-1].at + ASKED_AFTER
        asked = []
        for done, question in enumerate(seen, 1):
            began = time.perf_counter()
            answer = answered(owner, question, budget)
            ms = 1000 * (time.perf_counter() - began)
            asked.append(
                Asked(question=question, answer=answer, wrong=judged(question, answer, asking.forgotten), ms=ms)
            )
            told("asking", done, len(seen))
        unlike = tuple(copies.unlike(owner, asking.forgotten))
        unsound = tuple(f"{found.what}: {found.advice}" for found in memory.check(deep=True) if found.level != "ok")
        embedder, changes = memory.embedder_name, len(owner.changes())
        facts, past_facts = len(owner.facts()), len(owner.past_facts())
    said = [step for step in steps if isinstance(step, Exchange)]
    return Report(
        analyst=MODEL if model else EXTRACTIVE,
        embedder=embedder,
        pages=len(said),
        talks=len({one.thread for one in said}),
        changes=changes,
        facts=facts,
        past_facts=past_facts,
        asked=tuple(asked),
        left_out=len(asking.questions) - len(seen),
        left_in_files=tuple(_left(folder, asking.forgotten)),
        moments=len(copies),
        moments_unlike=unlike,
        unsound=unsound,
    )


def _left(folder: Path, forgotten: Iterable[str]) -> Iterable[str]:
    held = [file.read_bytes() for file in sorted(folder.iterdir()) if file.is_file()]
    return (text for text in forgotten if any(text.encode() in one for one in held))
