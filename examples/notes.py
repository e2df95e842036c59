"""An assistant for notes: Markdown files and PDFs, found by what they say, with their place.

Run it: `pip install 'embermem[documents]'`, then `python examples/notes.py [FOLDER]`. Without a folder it writes two
notes of its own into a temporary one.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from embermem import Memory, OwnerMemory, Scope

LEASE = """# Lease of the flat

## Rent

The rent is 940 euros a month, paid by the third working day.

## Notice

Either side may end the lease with three months' notice.
"""
GARDEN = """# Garden

- The tomatoes were planted on 4 May.
- The roses need water twice a week.
"""
ENDINGS = {".md", ".txt", ".pdf", ".docx", ".html"}


def read_folder(notes: OwnerMemory, folder: Path) -> Iterator[str]:
    """Store every note of a folder. Those that did not change since the last time cost nothing; says what changed."""
    for file in sorted(folder.rglob("*")):
        if file.suffix.lower() in ENDINGS:
            kind = "pdf" if file.suffix.lower() == ".pdf" else "note"
            done = notes.add_document(file, source=str(file.relative_to(folder)), metadata={"kind": kind})
            yield f"{done.source}: {done.added} new, {done.kept} kept, {done.removed} removed"


def ask(notes: OwnerMemory, question: str, scope: Scope | None = None) -> str:
    """The passage that says most about a question, with where it stands."""
    hits = notes.search(question, 1, scope=scope)
    if not hits or hits[0].passage is None:
        return "nothing"
    passage = hits[0].passage
    place = ", ".join(part for part in (passage.title, passage.place) if part)
    return f"[{place}] {' '.join(hits[0].utterance.text.split())}"


def run(folder: Path) -> None:
    with Memory(":memory:", background=False) as memory:
        notes = memory.of("me", agent="notes")
        for line in read_folder(notes, folder):
            print(line)
        print(ask(notes, "How much is the rent?"))
        print(ask(notes, "When were the tomatoes planted?", Scope(metadata={"kind": "note"})))

        (folder / "lease.md").write_text(LEASE.replace("940", "980"))
        for line in read_folder(notes, folder):
            print(line)
        print(ask(notes, "How much is the rent?"))
        print("The old rent:", ask(notes, "940 euros").count("940"))


def main() -> None:
    if len(sys.argv) > 1:
        with Memory(":memory:", background=False) as memory:
            notes = memory.of("me", agent="notes")
            for line in read_folder(notes, Path(sys.argv[1])):
                print(line)
            while question := input("? "):
                print(ask(notes, question))
        return
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "lease.md").write_text(LEASE)
        (place / "garden.md").write_text(GARDEN)
        run(place)


if __name__ == "__main__":
    main()
