"""A life of which one page is to be forgotten, and whether words of it are left anywhere in the store."""

from __future__ import annotations

from pathlib import Path

from embermem import OwnerMemory
from embermem.bootstrap import on_a_server
from embermem.core.types import Forgotten
from embermem.store import schema
from embermem.store.engines.packed_text import unpacked_within
from soundness import looking

SECRET = "Quuxville"
"""Stands in one page only."""
WORDS = (SECRET, "zyxglorp", "Wrenfield", "orchestra")


def tell(alice: OwnerMemory, *lines: str, thread: str = "main") -> list[str]:
    return [
        alice.add(line, f"I see, {n}.", thread=thread, metadata={"words": line.split()[:8], "n": n})
        for n, line in enumerate(lines)
    ]


def assert_gone(mine: OwnerMemory, receipt: Forgotten, engine: str) -> None:
    """Nothing that the receipt names is left. The nodes of Citus keep its bytes until VACUUM, so nobody can say there
    that all is well."""
    verified = mine.verify(receipt)
    assert verified.found == ()
    assert verified.ok or (engine == "citus" and not verified.scrubbed)


def lived(alice: OwnerMemory) -> dict[str, str]:
    """A small life, of which one page says where; understood. Pages by name."""
    lines = {
        "tea": "I like green tea with my breakfast on the balcony.",
        "secret": f"I live in {SECRET}. The zyxglorp orchestra plays there. Call me Wrenfield.",
        "heron": "We saw a purple heron on the lake near the old balcony.",
        "sister": "My sister Ana is a nurse. She came by train.",
        "train": "The train to Bordeaux was late again this morning.",
        "figs": "I like figs. I bought some for my sister Ana.",
        "rain": "It rained all day while the purple heron sat there.",
        "walk": "A walk around the lake in the evening.",
    }
    pages = dict(zip(lines, tell(alice, *lines.values()), strict=True))
    alice.settle()
    return pages


def kept(place: str | Path) -> bytes:
    """All bytes of all files in the store's folder, and what is packed in them; or every row of every table as its
    server writes it, and what the server's statistics tell of columns."""
    if on_a_server(place):
        with looking(place) as look:
            tables = [f'SELECT t::text AS row FROM "{table.name}" t' for table in schema.metadata.sorted_tables]
            tables.append("SELECT t::text AS row FROM pg_stats t WHERE schemaname = current_schema()")
            return "\n".join(row["row"] for table in tables for row in look(table)).encode()
    files = [path.read_bytes() for path in sorted(Path(place).parent.rglob("*")) if path.is_file()]
    return b"\n".join(told for file in files for told in (file, *unpacked_within(file)))


def holds(place: str | Path, *words: str) -> list[str]:
    """Those of the words that stand anywhere in the store, in whatever case."""
    found = kept(place).lower()
    return [word for word in words if word.lower().encode() in found]


def found_by(alice: OwnerMemory, *queries: str) -> str:
    """All that recall and search say to the queries, in one text."""
    return "\n".join(
        text
        for query in queries
        for context in (alice.recall(query, budget=4000),)
        for text in (
            context.text,
            repr(context.persona),
            *(fact.text for fact in context.facts),
            *(hit.utterance.text for hit in (*context.hits, *alice.search(query, k=50))),
        )
    )
