"""What understanding costs: model calls and prompt tokens a page, as a model's server counts them.

    bench/scripts/model_cost.sh DATA [--conversation conv-26] [--pages 200] [--preset default]

The first pages of one conversation are added to a fresh store whose model is a scripted server on loopback, in three
ways: all pages and then one `settle`; a `settle` after every page; and `work` after every page with the clock at the
time when it was said, which is what the background thread does. The newest pages (short-term memory) are not read yet
when it ends: `placed` says how many were; the published code leaves its newest ten out too.

Counted is what a hosted server is sent, and charges. A server on this machine is sent schemas with the ids and lengths
of the question, for its grammar: the column `grammar` has what these add. llama.cpp makes a grammar of it and does
not read it, so that it costs no tokens there.

The server answers every question in the right form (`embermem.testing.answers`). So the calls that depend on answers,
and the length of answers, are those of the script. Prompts are the real ones.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from embermem import Memory
from embermem.core.errors import EmberError
from embermem.testing import wire
from embermem.testing.answers import answer
from embermem.testing.model_server import ModelServer
from embermem_bench.cost import WAYS, Clock, Said, Way, chosen, live, pages_of
from embermem_bench.datasets import load
from embermem_bench.hosted import as_hosted, kind_of

PAGES = 200
CHARS_A_TOKEN = 4
"""How the published figures count: characters of the prompt, by this."""

PUBLISHED = (
    ("MemoryOS, reference code", "3.3-3.5", "1,120"),
    ("A-MEM", "1-2", "1,250-1,817"),
    ("Mem0", "1", "9,369"),
)
"""Calls and prompt tokens a page (a pair of turns) of conv-26, 209 pairs, counted as characters / 4: runs of the
published code with its own prompts against a server of fixed answers."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """Requests of one kind, or all of one way, as a hosted server is sent them. `tokens` are of the counter `approx`,
    `schema` those of the schema; `grammar` are those that the schema for a server on this machine has more."""

    calls: int
    tokens: int
    schema: int
    grammar: int
    chars: int

    @classmethod
    def of(cls, requests: Sequence[wire.Request]) -> Cost:
        """The cost of these requests."""
        hosted = [as_hosted(one) for one in requests]
        tokens = sum(map(wire.prompt_tokens, hosted))
        bare = sum(wire.prompt_tokens({**one, "response_format": None}) for one in requests)
        chars = sum(len(text) for one in hosted for text in wire.prompt_texts(one))
        grammar = sum(map(wire.prompt_tokens, requests)) - tokens
        return cls(calls=len(requests), tokens=tokens, schema=tokens - bare, grammar=grammar, chars=chars)


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """One way: what the server saw, and what became of the pages."""

    requests: tuple[wire.Request, ...]
    answer_tokens: int
    pages: int
    placed: int
    failed: int
    embedder: str


def main() -> int:
    """Measure, and print one table."""
    options = arguments()
    try:
        talk = chosen(load(options.data).conversations, options.conversation)
        pages = pages_of(talk)[: options.pages]
        if not pages:
            print(f"{talk.id} has no pages", file=sys.stderr)
            return 2
        outcomes = {way.name: run(way, pages, options.preset) for way in WAYS}
    except EmberError as error:
        print(error, file=sys.stderr)
        return 2
    first = next(iter(outcomes.values()))
    print(f"{talk.id}, {first.pages} pages; preset {options.preset}; embedder {first.embedder}")
    print("all figures but the last two are a page; tokens by the counter approx; a call is one request")
    print()
    show(outcomes)
    idle = [name for name, outcome in outcomes.items() if not outcome.requests]
    if idle:
        print(f"the model was not asked: {', '.join(idle)}", file=sys.stderr)
    return 1 if idle else 0


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="a file in LoCoMo's format")
    parser.add_argument("--conversation", help="its id; the first of the file by default")
    parser.add_argument("--pages", type=int, default=PAGES)
    parser.add_argument("--preset", default="default", choices=("default", "paper"))
    return parser.parse_args()


def run(way: Way, pages: Sequence[Said], preset: str) -> Outcome:
    """One way, on a store and a server of its own."""
    clock = Clock(pages[0].turns[0].at)
    settings: dict[str, Any] = {"model": "scripted", "model_key": "none", "background": False}
    with tempfile.TemporaryDirectory() as folder, ModelServer(answer) as server:
        with Memory(Path(folder) / "cost.db", preset=preset, clock=clock, model_url=server.url, **settings) as memory:
            owner = memory.of("user")
            live(way, owner, memory, pages, clock)
            stats, embedder = owner.stats(), memory.embedder_name
        return Outcome(
            requests=tuple(server.requests),
            answer_tokens=server.completion_tokens,
            pages=stats.pages,
            placed=stats.mid + stats.archive,
            failed=stats.failed,
            embedder=embedder,
        )


# ----------------------------------------------------------------------------------------------------------- the table


def show(outcomes: Mapping[str, Outcome]) -> None:
    """One block a way: the whole, then each kind of question; then what is published of others."""
    print(
        f"{'':34}{'calls':>8}{'tokens':>9}{'schema':>8}{'grammar':>9}{'chars/4':>9}{'answer':>8}{'placed':>8}{'failed':>8}"
    )
    for name, outcome in outcomes.items():
        whole = line(f"Ember, {name}", Cost.of(outcome.requests), outcome.pages)
        print(f"{whole}{outcome.answer_tokens / outcome.pages:8.0f}{outcome.placed:8}{outcome.failed:8}")
        for kind in sorted({kind_of(one) for one in outcome.requests}):
            asked = [one for one in outcome.requests if kind_of(one) == kind]
            print(line(f"  {kind}", Cost.of(asked), outcome.pages))
    print()
    for name, calls, tokens in PUBLISHED:
        print(f"{name:34}{calls:>8}{tokens:>35}")


def line(name: str, cost: Cost, pages: int) -> str:
    """A row: what it costs, a page."""
    return (
        f"{name:34}{cost.calls / pages:8.2f}{cost.tokens / pages:9.0f}{cost.schema / pages:8.0f}"
        f"{cost.grammar / pages:9.0f}{cost.chars / CHARS_A_TOKEN / pages:9.0f}"
    )


if __name__ == "__main__":
    raise SystemExit(main())
