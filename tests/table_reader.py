"""A fixed reader, which asserts what a table says, and a memory that reads with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from embermem import Memory
from embermem.analysts import ExtractiveAnalyst
from embermem.core.types import Utterance, Vector
from embermem.memoryos.system import MemoryOS
from embermem.protocols import Assertion, Needs

PLAIN = Assertion(
    attribute="lives_in",
    start=0,
    end=0,
    of_other=False,
    person="",
    relation="",
    time=None,
    tense="now",
    negated=False,
    change="none",
    event=False,
    confidence=0.97,
)


def at(text: str, words: str, **more: object) -> Assertion:
    """An assertion whose value is these words of a text."""
    start = text.index(words)
    return replace(PLAIN, start=start, end=start + len(words), **more)  # type: ignore[arg-type]


@dataclass(frozen=True)
class TableReader:
    """Asserts of a text that it knows the attribute and the words that the table has."""

    name: str
    table: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def read(self, utterance: Utterance, before: Utterance | None) -> tuple[Assertion, ...]:
        attribute, words = self.table.get(utterance.text, ("", ""))
        return (at(utterance.text, words, attribute=attribute, confidence=0.99),) if words else ()

    def needs(self, query: str) -> Needs:
        return Needs(advice=0.0, now=0.0, several=0.0, past=1.0, nothing=0.0, tells=0.0)

    def wishes(self, request: Vector, embedder: str) -> Vector | None:
        return None


def reading_with(memory: Memory, reader: TableReader) -> Memory:
    """The memory, which now reads with this trained reader."""
    parts = memory._parts.system._parts
    extractive = ExtractiveAnalyst(known=memory.settings.attributes, reader=reader)
    memory._parts.system = MemoryOS(replace(parts, analyst=extractive, extractive=extractive, reader=reader))
    return memory
