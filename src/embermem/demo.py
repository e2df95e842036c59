"""A conversation of four months goes in; its three tiers, and what they answer, come out.

    python -m embermem.demo [--store PATH] [--preset paper]

Works offline. Every time it prints was measured in this run.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from importlib.resources import files
from pathlib import Path

from rich.console import Console
from rich.text import Text

from embermem import Context, EmberError, Fact, Memory, OwnerMemory, Segment, Tier
from embermem.core.types import Person, Source

CONVERSATION = "data/demo_conversation.jsonl"
USER, AGENT = "mei", "companion"
TIMEZONE = "Europe/Paris"
WIDEST = 100
BUDGET = 280
QUERIES = (
    "Where do I live, and where did I live before?",
    "What am I allergic to?",
    "Who is my cello teacher in Grenoble?",
    "On which day is Lian's wedding?",
    "我妈妈什么时候来？",
    "What happened in May?",
)
SEGMENTS_SHOWN = 6
_INDENT = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class Exchange:
    """One line of the conversation."""

    thread: str
    at: str
    query: str
    response: str


@dataclass(slots=True)
class Stopwatch:
    """Seconds of a block, measured."""

    seconds: float = 0.0
    _began: float = field(default_factory=time.perf_counter)

    @classmethod
    @contextmanager
    def running(cls) -> Iterator[Stopwatch]:
        watch = cls()
        yield watch
        watch.seconds = time.perf_counter() - watch._began


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m embermem.demo", description="Show Ember on a conversation.")
    parser.add_argument("--store", metavar="PATH", help="keep the memory in this file (else it is thrown away)")
    parser.add_argument("--preset", choices=["default", "paper"], default="default")
    asked = parser.parse_args(argv)
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")
    console = Console(highlight=False, soft_wrap=False)
    console.width = min(console.width, WIDEST)
    try:
        if asked.store:
            show(console, Path(asked.store), asked.preset)
            console.print(Text(f"\nThe memory is kept in {asked.store}", style="bold"))
        else:
            with tempfile.TemporaryDirectory(prefix="embermem-demo-") as folder:
                show(console, Path(folder) / "demo.db", asked.preset)
    except EmberError as error:
        Console(stderr=True, highlight=False).print(Text(f"error: {error}", style="red"))
        return 1
    return 0


def conversation() -> tuple[Exchange, ...]:
    """The bundled conversation, in order."""
    lines = files("embermem").joinpath(CONVERSATION).read_text(encoding="utf-8").splitlines()
    return tuple(Exchange(**json.loads(line)) for line in lines)


def show(console: Console, store: Path, preset: str) -> None:
    """Fill the store, and print what became of it."""
    said = conversation()
    with Memory(store, preset=preset, background=False) as memory:
        owner = memory.of(USER, AGENT, timezone=TIMEZONE)
        _heading(console, "A conversation goes in")
        if owner.stats().pages:
            _line(console, "This store holds it already: each exchange has a key, so nothing is stored twice.")
        with Stopwatch.running() as adding:
            for number, one in enumerate(said, 1):
                owner.add(one.query, one.response, at=one.at, thread=one.thread, key=f"demo {number}")
        with Stopwatch.running() as settling:
            owner.settle()
        threads = len({one.thread for one in said})
        _line(console, f"{len(said)} exchanges in {threads} conversations, {said[0].at[:10]} to {said[-1].at[:10]}.")
        _line(console, f"Stored in {adding.seconds:.2f} s: each was on disk when `add` returned.")
        _line(console, f"Understood in {settling.seconds:.2f} s, with no language model ({memory.embedder_name}).")
        _short_term(console, owner)
        _mid_term(console, owner)
        _long_term(console, owner)
        _answers(console, owner)


def _short_term(console: Console, owner: OwnerMemory) -> None:
    pages = owner.pages(Tier.SHORT)
    _heading(console, f"Short-term memory: the {len(pages)} newest pages, word for word")
    for page in pages:
        _line(console, _when(page.said_at), style="dim", after=f"  {_cut(page.query, console.width - 16)}")


def _mid_term(console: Console, owner: OwnerMemory) -> None:
    segments = sorted(((owner.heat(one), one) for one in owner.segments()), key=lambda pair: (-pair[0], pair[1].id))
    numbers = {page.id: page.no for page in owner.pages()}
    pages = sum(len(one.page_ids) for _, one in segments)
    _heading(console, f"Mid-term memory: {pages} pages in {len(segments)} segments, one a topic")
    room = console.width - _INDENT - len("heat  0.0  ")
    for heat, one in _largest(segments):
        held = " ".join(f"p{numbers[page]}" for page in one.page_ids)
        topic = f"{_when(one.said_from)} to {_when(one.said_to)}  {one.title or ', '.join(one.keywords)}"
        _line(console, f"heat {heat:4.1f}", style="bold", after=f"  {_cut(topic, room)}")
        _line(console, f"           {_cut(held, room)}", style="dim")
        _line(console, f"           {_cut(one.summary, room)}")
    if len(segments) > SEGMENTS_SHOWN:
        _line(console, f"… and {len(segments) - SEGMENTS_SHOWN} more, of fewer pages.", style="dim")


def _largest(segments: Sequence[tuple[float, Segment]]) -> list[tuple[float, Segment]]:
    """The segments of most pages, the hottest first."""
    most = sorted(segments, key=lambda pair: -len(pair[1].page_ids))[:SEGMENTS_SHOWN]
    return sorted(most, key=lambda pair: -pair[0])


def _long_term(console: Console, owner: OwnerMemory) -> None:
    _heading(console, "Long-term memory: the persona, each line with the utterance it rests on")
    profile = "; ".join(f"{one.name.replace('_', ' ')} {one.value}" for one in owner.profile())
    _line(console, "profile   ", style="bold", after=profile or "-")
    for trait in owner.traits():
        what = (
            f"{trait.dimension.replace('_', ' ')}: {trait.pole}, {trait.level:+.1f}, confidence {trait.confidence:.2f}"
        )
        _line(console, "trait     ", style="bold", after=f"{what} {_sources(trait.sources)}")
    wishes = owner.instructions()
    for wish in wishes:
        _line(console, "wish      ", style="bold", after=f"{wish.text} {_sources(wish.sources)}")
    for person in owner.people():
        if person.facts:
            _line(console, person.name, style="bold", after=_also(person))
        for fact in owner.facts(person=person.id):
            if fact not in wishes:
                _line(console, f"  {fact.text}", after=f" {_sources(fact.sources)}")
        for fact in owner.past_facts(person=person.id):
            _line(console, "  no longer: ", style="dim", after=f"{fact.text}, {_span(fact)} {_sources(fact.sources)}")


def _also(person: Person) -> str:
    """What else a person is called, and whether they are the user or the agent."""
    told = [*((f"the {person.id}",) if person.id in ("user", "agent") else ()), *person.names]
    return "".join(f", {name}" for name in told if name.casefold() != person.name.casefold())


def _answers(console: Console, owner: OwnerMemory) -> None:
    _heading(console, f"Recall: what goes into a prompt, within {BUDGET} tokens (#n is the utterance)")
    first: Context | None = None
    before = {one.id: owner.heat(one) for one in owner.segments()}
    for query in QUERIES:
        with Stopwatch.running() as watch:
            context = owner.recall(query, budget=BUDGET)
        console.print(Text(f"\n» {query}", style="bold cyan"))
        _block(console, Text(context.text))
        measured = f"{context.tokens} tokens, {watch.seconds * 1000:.0f} ms, confidence {context.confidence:.2f}"
        _line(console, measured, style="dim")
        owner.visit(context.packed)
        first = first or context
    warmer = max(owner.segments(), key=lambda one: owner.heat(one) - before[one.id], default=None)
    if warmer is not None:
        after = f"{before[warmer.id]:.1f} to {owner.heat(warmer):.1f}"
        console.print()
        _line(
            console,
            f"What was used grows warmer: {_cut(warmer.title or ', '.join(warmer.keywords[:3]), 40)}, heat {after}.",
        )
    if first is None or not first.hits:
        return
    _heading(console, "Why the first hit of the first query was recalled")
    _block(console, Text(str(first.explain(first.hits[0]))))
    _line(
        console, f"{len(first.left_out)} others were looked at and left out: context.explain() names them.", style="dim"
    )


def _heading(console: Console, text: str) -> None:
    console.print()
    console.rule(Text(text, style="bold"), align="left", style="dim")


def _line(console: Console, text: str, *, style: str = "", after: str = "") -> None:
    _block(console, Text.assemble((text, style), after))


def _block(console: Console, text: Text) -> None:
    """The text, wrapped and indented, with no spaces at the ends of lines."""
    for line in text.wrap(console, console.width - _INDENT):
        line.rstrip()
        console.print(Text.assemble(" " * _INDENT if line else "", line))


def _when(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d}"


def _span(fact: Fact) -> str:
    since = _when(fact.valid_from) if fact.valid_from else "?"
    return f"{since} to {_when(fact.valid_to) if fact.valid_to else '?'}"


def _sources(sources: Sequence[Source]) -> str:
    return "[" + " ".join(f"#{one.seq}" for one in sources[:3]) + "]"


def _cut(text: str, cells: int) -> str:
    """One line of at most so many columns (a Chinese character takes two)."""
    line = Text(" ".join(text.split()))
    line.truncate(max(8, cells), overflow="ellipsis")
    return line.plain


if __name__ == "__main__":
    sys.exit(main())
