"""`embermem bench contexts`: what the contexts of questions hold, beside the same hits as plain lines.

A data set of conversations: for each budget the evidence that stands whole in the text, and what plain lines of the
same ranking hold within the tokens that the context used. An item set of bench/sets/contexts (.jsonl): of two
statements of one matter whether the newer comes first and the older says so; of two that both hold whether both are
told; which messages that need no memory get something all the same. Notes (`notes`, `questions` with the `quote` that
answers): how many quotes stand in the text, and how many other passages beside them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from embermem.core.types import Context
from embermem.transfer.datasets.reading import as_object, json_of, objects, read_text, refuse, text_of
from embermem_bench import ProgressFn, metrics
from embermem_bench.datasets import Dataset, Question
from embermem_bench.load_conversation import Stored, add_conversation, look_up
from embermem_bench.recall import packed_within
from embermem_bench.understanding.message_sets import message_of, tell
from embermem_bench.understanding.words import content_words, share

if TYPE_CHECKING:
    from embermem.memory import Memory, OwnerMemory
    from embermem.protocols import TokenCounter

BUDGETS = (150, 300, 600, 1000, 2000)
"""The budgets, in tokens of the memory's counter."""
ITEM_BUDGET = 300
KINDS: Mapping[str, frozenset[str]] = {
    "replaced": frozenset(("messages", "query", "old", "new")),
    "both hold": frozenset(("messages", "query", "values")),
    "no memory needed": frozenset(("text", "near")),
}
"""The kinds of items, by their fields beside `id` and `lang`."""
OLDER = "(older, see #"
"""What a line has that says that something newer is said of its matter."""
_ALL = 10**9
_LATER = timedelta(days=90)


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """One question at one budget: the shares of its evidence that stand in the text, that stand there whole, and that
    plain lines hold; whether the answer's words do; tokens, lines and facts; and what a smaller budget held and this
    one does not."""

    budget: int
    present: float
    whole: float
    plain: float
    answer: float | None
    tokens: int
    lines: int
    facts: int
    lost: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """The figures of one data set or one item set."""

    name: str
    preset: str
    embedder: str
    asked: tuple[Asked, ...] = ()
    counts: Mapping[str, int] | None = None

    def as_json(self) -> dict[str, Any]:
        """The keys that docs/research/contexts.md lists."""
        head = {"name": self.name, "preset": self.preset, "embedder": self.embedder}
        if self.counts is not None:
            return {**head, **self.counts}
        return {
            **head,
            "budgets": {budget: figures([a for a in self.asked if a.budget == budget]) for budget in BUDGETS},
        }


def figures(asked: Sequence[Asked]) -> dict[str, Any]:
    """The means over the questions of one budget."""
    names = ("present", "whole", "plain", "tokens", "lines", "facts", "lost")
    found: dict[str, Any] = {name: metrics.mean([float(getattr(one, name)) for one in asked]) for name in names}
    found["answer"] = metrics.mean([one.answer for one in asked if one.answer is not None])
    return {"questions": len(asked)} | {k: None if v is None else round(v, 4) for k, v in found.items()}


def run(
    dataset: Dataset,
    folder: Path,
    *,
    preset: str | None = None,
    limit: int | None = None,
    told: ProgressFn = lambda what, done, total: None,
) -> Report:
    """Store a data set in `folder`, and ask the questions with evidence of its first `limit` conversations."""
    from embermem.index.tokens import counter
    from embermem.memory import Memory

    asked: list[Asked] = []
    with Memory(folder / "bench.db", preset=preset, background=False) as memory:
        count = counter(memory.settings.token_counter)
        for number, conversation in enumerate(dataset.conversations[:limit], 1):
            owner = memory.of(conversation.id, agent="bench", timezone="UTC")
            turn_of = add_conversation(owner, conversation)
            owner.settle()
            stored = look_up(owner, conversation, turn_of)
            for place, question in enumerate(conversation.with_evidence, 1):
                told(f"{conversation.id} ({number}): asking", place, len(conversation.with_evidence))
                asked += _asked(owner, question, stored, count)
        name, embedder = memory.settings.preset, memory.embedder_name
    return Report(name=dataset.name, preset=name, embedder=embedder, asked=tuple(asked))


def _asked(owner: OwnerMemory, question: Question, stored: Stored, count: TokenCounter) -> list[Asked]:
    found: list[Asked] = []
    before: set[str] = set()
    words = content_words(question.answer or "")
    for budget in BUDGETS:
        scope = stored.scope(question)
        context = owner.recall(
            question.text, at=stored.asked_at(question), budget=budget, thread=question.thread, scope=scope
        )
        packed = packed_within(context, _ALL)
        present = {stored.turn_of[one] for one in packed.present}
        whole = {stored.turn_of[one] for one in packed.whole}
        if question.quote is not None and packed.says(question.quote):
            whole |= question.evidence & present
        found.append(
            Asked(
                budget=budget,
                present=_share(present, question, stored),
                whole=_share(whole, question, stored),
                plain=_share(plain_lines(context, stored, count), question, stored),
                answer=share(words, content_words(context.text)) if words else None,
                tokens=context.tokens,
                lines=len(context.packed),
                facts=len(context.facts),
                lost=len(before - present),
            )
        )
        before = present
    return found


def plain_lines(context: Context, stored: Stored, count: TokenCounter) -> set[str]:
    """The turns of the first hits that fit as plain lines, each whole, into the tokens that the context used."""
    left, found = context.tokens, set()
    for hit in context.hits:
        said = hit.utterance
        left -= count.count(f"#{said.seq} {said.speaker}: {' '.join(said.text.split())}\n")
        if left < 0:
            break
        found.add(stored.turn_of[said.id])
    return found


def _share(turns: Collection[str], question: Question, stored: Stored) -> float:
    if question.evidence:
        return metrics.recall_packed(set(turns), question.evidence)
    return metrics.recall_packed({stored.thread_of[turn] for turn in turns}, question.evidence_threads)


# ------------------------------------------------------------------------------------------------------- item sets


def is_item_set(path: Path) -> bool:
    """Whether a file is one: data sets of conversations are one JSON document, not lines."""
    return path.suffix == ".jsonl"


def load_items(path: Path) -> tuple[str, tuple[Mapping[str, Any], ...]]:
    """The kind of a set and its items, at least one. Raises InputError."""
    items = []
    kinds = set()
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if line.strip():
            item = as_object(json_of(line, f"{path}, line {number}"), f"{path}, line {number}")
            fields = frozenset(item) - {"id", "lang"}
            kind = next((kind for kind, expected in KINDS.items() if expected == fields), None)
            if kind is None:
                refuse(f"{path}, line {number}", f"the fields are {', '.join(sorted(item))}; known kinds: {KINDS}")
            kinds.add(kind)
            items.append(item)
    if len(kinds) != 1:
        refuse(str(path), f"a set has items of one kind, this one of {len(kinds)}")
    return kinds.pop(), tuple(items)


def run_items(
    path: Path,
    folder: Path,
    *,
    lives: Sequence[Dataset] = (),
    preset: str | None = None,
    limit: int | None = None,
    told: ProgressFn = lambda what, done, total: None,
) -> Report:
    """The counts of an item set. Messages that need no memory are asked of one memory of all these `lives`."""
    from embermem.memory import Memory

    kind, items = load_items(path)
    counts: Counter[str] = Counter(items=len(items[:limit]))
    with Memory(folder / "bench.db", preset=preset, background=False) as memory:
        life = _life(memory, lives) if kind == "no memory needed" else None
        for number, item in enumerate(items[:limit], 1):
            told(f"{path.stem}: asking", number, len(items[:limit]))
            if life is not None:
                owner, at = life
                told_any = bool(owner.recall(item["text"], budget=ITEM_BUDGET, at=at, mode="inject").text)
                counts["injected"] += told_any
                counts["injected_near"] += told_any and bool(item["near"])
            else:
                counts.update(_of_history(memory, kind, item, f"{path}: {item['id']}"))
        name, embedder = memory.settings.preset, memory.embedder_name
    return Report(name=path.stem, preset=name, embedder=embedder, counts=counts)


def is_notes(path: Path) -> bool:
    """Whether a file has notes and questions on them."""
    document = json_of(read_text(path), str(path))
    return isinstance(document, dict) and set(document) == {"notes", "questions"}


def run_notes(
    path: Path,
    folder: Path,
    *,
    preset: str | None = None,
    limit: int | None = None,
    told: ProgressFn = lambda what, done, total: None,
) -> Report:
    """The counts of notes, each stored as a document, and of the first `limit` questions on them."""
    from embermem.memory import Memory

    document, where = as_object(json_of(read_text(path), str(path)), str(path)), str(path)
    questions = [one for one, _ in objects(document["questions"], where, "question")][:limit]
    counts: Counter[str] = Counter(questions=len(questions))
    with Memory(folder / "bench.db", preset=preset, background=False) as memory:
        owner = memory.of("notes", agent="bench", timezone="UTC")
        for note, place in objects(document["notes"], where, "note"):
            owner.add_document(
                text_of(note, "text", place), title=text_of(note, "title", place), source=text_of(note, "id", place)
            )
        owner.settle()
        for number, question in enumerate(questions, 1):
            told(f"{path.stem}: asking", number, len(questions))
            context = owner.recall(question["text"], budget=ITEM_BUDGET)
            counts["answered"] += " ".join(question["quote"].split()) in context.text
            counts["tokens"] += context.tokens
            counts["passages"] += len(context.packed)
        name, embedder = memory.settings.preset, memory.embedder_name
    return Report(name=path.stem, preset=name, embedder=embedder, counts=counts)


def _life(memory: Memory, lives: Sequence[Dataset]) -> tuple[OwnerMemory, datetime | None]:
    """One memory of all that was said in these lives, and when it ended."""
    owner, ends = memory.of("lives", agent="bench", timezone="UTC"), []
    for life in lives:
        for conversation in life.conversations:
            add_conversation(owner, conversation)
            ends += [turn.at for _, turn in conversation.turns()]
    owner.settle()
    return owner, max(ends, default=None)


def _of_history(memory: Memory, kind: str, item: Mapping[str, Any], where: str) -> Counter[str]:
    owner = memory.of(text_of(item, "id", where), agent="bench", timezone="UTC")
    messages = [message_of(*one) for one in objects(item["messages"], where, "message")]
    tell(owner, messages)
    context = owner.recall(text_of(item, "query", where), budget=ITEM_BUDGET, at=messages[-1][0] + _LATER)
    lines = context.text.split("\n")
    if kind == "both hold":
        told = [[line for line in lines if value in line] for value in item["values"]]
        marked = any(OLDER in line for some in told for line in some)
        return Counter(both_told=all(told), marked_or_left_out=marked or not all(told))
    old, new = text_of(item, "old", where), text_of(item, "new", where)
    ranks = [next((hit.rank for hit in context.hits if words in hit.utterance.text), _ALL) for words in (new, old)]
    unmarked = any(old in line and OLDER not in line for line in lines)
    return Counter(new_first=ranks[0] < ranks[1], new_told=any(new in line for line in lines), old_unmarked=unmarked)
