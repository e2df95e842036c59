"""Message sets: single messages and short histories, each with what a memory is to note of it, one JSON object a line.

bench/sets/reading/README.md describes the kinds. All lines of a file are of one kind, recognised by their fields.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from embermem.core.types import Fact
from embermem.transfer.datasets.reading import as_object, json_of, objects, read_text, refuse, text_of
from embermem_bench import ProgressFn

if TYPE_CHECKING:
    from embermem.memory import OwnerMemory

KINDS: Mapping[str, tuple[str, ...]] = {
    "changes": ("messages", "old", "new"),
    "near misses": ("messages", "holds"),
    "statements": ("text", "value"),
    "nothing to note": ("text",),
}
"""The kinds of items, and their fields beside `id` and `lang`: what is said, then what is expected."""
SAID_ON = "2026-05-04"
"""The day of a message without one."""
_HOUR = time(10, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """A line of a set: what one person says, and the words that the facts are to have. `expected` has the fields of
    its kind."""

    id: str
    kind: str
    language: str
    messages: tuple[tuple[datetime, str], ...]
    expected: Mapping[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """The counts of one file. `reader`: whether the trained reader read it, or rules alone."""

    name: str
    kind: str
    preset: str
    embedder: str
    reader: bool
    items: int
    counts: Mapping[str, int]
    by_language: Mapping[str, tuple[int, int]]
    """Of statements: how many are noted, and how many there are."""

    def as_json(self) -> dict[str, Any]:
        """The keys that docs/research/understanding.md lists."""
        languages = {lang: {"noted": some, "items": of} for lang, (some, of) in self.by_language.items()}
        return {
            **{key: getattr(self, key) for key in ("name", "kind", "preset", "embedder", "reader", "items")},
            **self.counts,
            **({"by_language": languages} if languages else {}),
        }


def is_one(path: Path) -> bool:
    """Whether a file is a message set: data sets of conversations are one JSON document, not lines."""
    return path.suffix == ".jsonl"


def load(path: Path) -> tuple[Item, ...]:
    """The items of a set, at least one. Raises InputError."""
    items: dict[str, Item] = {}
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        item = _item(as_object(json_of(line, where), where), where)
        if item.id in items:
            refuse(where, f"the id {item.id!r} stands there twice")
        if items and item.kind != (first := next(iter(items.values()))).kind:
            refuse(where, f"the fields are those of {item.kind!r}, the first line's those of {first.kind!r}")
        items[item.id] = item
    if not items:
        refuse(str(path), "there is no line in it")
    return tuple(items.values())


def _item(line: Mapping[str, Any], where: str) -> Item:
    kind = next((kind for kind, fields in KINDS.items() if {"id", "lang", *fields} == set(line)), None)
    if kind is None:
        known = "; ".join(f"{', '.join(fields)} ({kind})" for kind, fields in KINDS.items())
        refuse(where, f"the fields are {', '.join(line) or 'none'}; expected id, lang, and one of: {known}")
    said = line.get("messages", [{"at": SAID_ON, "text": line.get("text")}])
    messages = tuple(message_of(*one) for one in objects(said, where, "message"))
    return Item(
        id=text_of(line, "id", where),
        kind=kind,
        language=text_of(line, "lang", where),
        messages=messages or refuse(where, "there is no message in it"),
        expected={key: text_of(line, key, where, empty=key == "new") for key in KINDS[kind][1:]},
    )


def message_of(message: Mapping[str, Any], where: str) -> tuple[datetime, str]:
    """When a message was said, and its text. Raises InputError."""
    if set(message) != {"at", "text"}:
        refuse(where, f"the fields are {', '.join(message) or 'none'}; expected at, text")
    given = text_of(message, "at", where)
    try:
        day = date.fromisoformat(given)
    except ValueError:
        refuse(where, f"at = {given!r} is not a day; expected one such as {SAID_ON}")
    return datetime.combine(day, _HOUR), text_of(message, "text", where)


def tell(owner: OwnerMemory, messages: Iterable[tuple[datetime, str]]) -> None:
    """Add the messages of one person, each to a thread of its own, and settle."""
    for place, (at, text) in enumerate(messages):
        owner.add_messages([{"role": "user", "content": text}], at=at, thread=f"t{place}")
    owner.settle()


def run(
    name: str,
    items: Collection[Item],
    folder: Path,
    *,
    preset: str | None = None,
    told: ProgressFn = lambda what, done, total: None,
    **settings: Any,
) -> Report:
    """Store each item as the memory of one owner in `folder`, settle it, and count what was noted."""
    from embermem.memory import Memory

    counts: Counter[str] = Counter()
    noted: Counter[str] = Counter()
    with Memory(folder / "bench.db", preset=preset, background=False, **settings) as memory:
        for number, item in enumerate(items, 1):
            told(name, number, len(items))
            owner = memory.of(f"{name}-{item.id}", agent="bench", timezone="UTC")
            tell(owner, item.messages)
            found = counted(item, owner.facts(), owner.past_facts())
            counts.update({key: int(holds) for key, holds in found.items()})
            noted[item.language] += found.get("noted", False)
        kind = next(iter(items)).kind
        of = Counter(item.language for item in items)
        return Report(
            name=name,
            kind=kind,
            preset=memory.settings.preset,
            embedder=memory.embedder_name,
            reader=all(one.reader for some in memory.outdated().values() for one in some),
            items=len(items),
            counts=counts,
            by_language={lang: (noted[lang], of[lang]) for lang in sorted(of)} if kind == "statements" else {},
        )


def counted(item: Item, facts: Collection[Fact], past: Collection[Fact]) -> dict[str, bool]:
    """What counts of one item, from its current and past facts."""
    words = item.expected
    if item.kind == "changes":
        expected = bool(words["new"])
        old, new = _noted(facts, words["old"]), expected and _noted(facts, words["new"])
        return {
            "old_current": old,
            "new_expected": expected,
            "new_noted": new,
            "both_right": not old and new == expected,
        }
    if item.kind == "near misses":
        holds = _noted(facts, words["holds"])
        return {"still_noted": holds, "ended": not holds and _noted(past, words["holds"])}
    if item.kind == "statements":
        return {"noted": _noted(facts, words["value"])}
    return {"with_fact": bool(facts or past)}


def _noted(facts: Collection[Fact], words: str) -> bool:
    """Whether a fact has these words in its value or its text, whatever the case."""
    return any(words.casefold() in f"{fact.value}\n{fact.text}".casefold() for fact in facts)
