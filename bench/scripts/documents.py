"""Documents, measured: questions with known places over this project's own documentation, and one large text.

questions   40 questions of users (embermem_bench/data/documents_questions.csv), each with the file and the heading
            where its answer stands: how often a passage from there is among the first five, by words alone and
            with vectors
size        a text of so many megabytes added in one call: how long that takes, how long until it is found, and
            until every passage has a vector; processor times, since the machine may be busy
"""

from __future__ import annotations

import argparse
import csv
import random
import resource
import tempfile
import time
from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path

from embermem import Memory
from embermem.core.types import Passage
from embermem.owner_memory import OwnerMemory

ROOT = Path(__file__).parents[2]
FIRST = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("questions", "size"))
    parser.add_argument("--mb", type=float, default=10.0, help="megabytes of Markdown")
    parser.add_argument("--embedder", default="auto")
    parser.add_argument("--no-vectors", action="store_true", help="do not wait for vectors")
    parser.add_argument("--show", action="store_true", help="print the contexts")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Memory(Path(folder) / "memory.db", embedder=asked.embedder) as memory:
        alice = memory.of("alice")
        if asked.what == "questions":
            questions(alice, show=asked.show)
        else:
            size(alice, Path(folder), asked.mb, vectors=not asked.no_vectors)


def questions(alice: OwnerMemory, *, show: bool) -> None:
    files = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md"]
    passages = sum(
        alice.add_document(file, source=str(file.relative_to(ROOT)), at="2026-01-01").added for file in files
    )
    print(f"{len(files)} files, {passages} passages")
    text = resources.files("embermem_bench").joinpath("data/documents_questions.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    report(alice, rows, "by words alone")
    alice.settle()
    missed = report(alice, rows, "with vectors")
    for row, found in missed:
        print(f"\nmissed: {row['question']}\n  wanted: {row['file']}, {row['heading']}")
        print("\n".join(f"  found: {one.source}, {one.place}" for one in found))
    if show:
        for row in rows:
            context = alice.recall(row["question"])
            print(f"\n=== {row['question']} ({context.tokens} tokens, confidence {context.confidence:.2f})")
            print(context.text)


def report(alice: OwnerMemory, rows: Sequence[dict[str, str]], how: str) -> list[tuple[dict[str, str], list[Passage]]]:
    """Print how often the passage is found, and how often it is in the context; the questions that missed it."""
    ranks: list[int] = []
    told = 0
    missed: list[tuple[dict[str, str], list[Passage]]] = []
    for row in rows:
        found = [hit.passage for hit in alice.search(row["question"], k=20) if hit.passage is not None]
        rank = next((place for place, one in enumerate(found, 1) if is_there(one, row)), 0)
        ranks.append(rank)
        packed = [hit.passage for hit in alice.recall(row["question"]).packed]
        told += any(one is not None and is_there(one, row) for one in packed)
        if not 0 < rank <= FIRST:
            missed.append((row, found[:FIRST]))
    n = len(rows)
    first, few = sum(rank == 1 for rank in ranks) / n, sum(0 < rank <= FIRST for rank in ranks) / n
    mean = sum(1 / rank for rank in ranks if rank) / n
    print(f"{how}: first {first:.3f}, among the first {FIRST} {few:.3f}, MRR {mean:.3f}, in the context {told / n:.3f}")
    return missed


def is_there(passage: Passage, row: dict[str, str]) -> bool:
    """Whether a passage stands under the heading in the file; under a page's title, before its first heading."""
    if passage.source != row["file"]:
        return False
    return row["heading"] in passage.place.split(" > ") or (row["heading"] == passage.title and not passage.place)


def size(alice: OwnerMemory, folder: Path, megabytes: float, *, vectors: bool) -> None:
    file = folder / "book.md"
    file.write_text("".join(book(int(megabytes * 1_000_000))), encoding="utf-8")
    with timed(f"add {file.stat().st_size / 1e6:.1f} MB"):
        done = alice.add_document(file, source="book.md", title="Book")
    print(f"{done.added} passages")
    query = "How deep is the harbour of section 17?"
    with timed("first recall, by words"):
        context = alice.recall(query)
    print(context.text[:300])
    with timed("second recall"):
        alice.recall("Where do the pilots of section 4242 meet?")
    with timed("add again, unchanged"):
        alice.add_document(file, source="book.md", title="Book")
    if vectors:
        with timed("all vectors"):
            alice.settle()
        with timed("first recall with vectors"):
            alice.recall(query)
        with timed("second recall"):
            alice.recall("Where do the pilots of section 4243 meet?")
    text = file.read_text(encoding="utf-8")
    middle = text.index("\n\n", len(text) // 2)
    file.write_text(f"{text[:middle]}\n\nA paragraph is new here.{text[middle:]}", encoding="utf-8")
    with timed("add again, one paragraph more"):
        print(alice.add_document(file, source="book.md", title="Book"))
    with timed("recall after that"):
        alice.recall(query)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


class timed:  # noqa: N801 - used as a word
    """Prints the seconds that a block takes: of the clock, and of the processor."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def __exit__(self, *_: object) -> None:
        wall, cpu = time.perf_counter() - self._wall, time.process_time() - self._cpu
        print(f"{self._what}: {wall:.2f} s ({cpu:.2f} s of processor time)", flush=True)


_NOUNS = "harbour lantern ledger orchard meadow pilot rope anchor cargo signal tower market bridge river mill".split()
_VERBS = "carries records guards repairs measures counts keeps lends moves watches".split()
_ADJECTIVES = "old narrow quiet broken painted heavy northern early spare hidden".split()


def book(chars: int) -> Iterator[str]:
    """A made-up handbook in Markdown, with sections of some paragraphs; the same each time."""
    chance, written, number = random.Random(0), 0, 0
    head = "# Book\n\n"
    yield head
    while written < chars:
        number += 1
        lines = [f"## Section {number}\n"]
        for _ in range(chance.randint(2, 6)):
            words = [
                f"The {chance.choice(_ADJECTIVES)} {chance.choice(_NOUNS)} of section {number} "
                f"{chance.choice(_VERBS)} {chance.randint(2, 900)} {chance.choice(_NOUNS)}s near the "
                f"{chance.choice(_ADJECTIVES)} {chance.choice(_NOUNS)}."
                for _ in range(chance.randint(3, 8))
            ]
            lines.append(" ".join(words) + "\n")
        part = "\n".join(lines) + "\n"
        written += len(part)
        yield part


if __name__ == "__main__":
    main()
