"""What a real model makes of the pages of a conversation, with the settings as they are.

    bench/scripts/model_settle.sh http://127.0.0.1:8090/v1 DATA [--conversation ID] [--pages 60] [--chats 3]

The pages are added and settled once. It prints how many were placed and promoted, by whom, the time that it took
against the time of the model's requests, how these ended, and what is known by whom. Then it stores the same pages
without a model, and prints the figures of `embermem bench understanding` of both. Last, chat is asked `--chats` times
alone, and as often while a second thread settles further pages: seconds to the first token.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from embermem import Memory, OwnerMemory
from embermem.core.errors import EmberError
from embermem_bench.cost import Said, chosen, pages_of
from embermem_bench.datasets import Conversation
from embermem_bench.load_conversation import message
from embermem_bench.understanding.gold import Gold, load_with_gold
from embermem_bench.understanding.rows import ROWS
from embermem_bench.understanding.run import AGENT, TIMEZONE, run

QUESTION = "What did we talk about last?"


def add(owner: OwnerMemory, pages: tuple[Said, ...]) -> None:
    """Add pages, each in its thread."""
    for page in pages:
        owner.add_messages([message(turn) for turn in page.turns], thread=page.thread)


def settle_until_closed(owner: OwnerMemory) -> None:
    """Settle; what is not placed when the memory is closed is left."""
    with suppress(EmberError):
        owner.settle()


def chats(owner: OwnerMemory, count: int) -> list[float]:
    """Seconds to the first token of each of some questions."""
    found = []
    for number in range(count):
        begun = time.perf_counter()
        stream = owner.chat(f"{QUESTION} ({number})", thread="asked", stream=True)
        next(stream)
        found.append(round(time.perf_counter() - begun, 2))
        stream.close()
    return found


def main() -> None:
    """Measure, and print one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("url", help="the model's server, such as http://127.0.0.1:8090/v1")
    parser.add_argument("data", type=Path)
    parser.add_argument("--conversation")
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--pages", type=int, default=60)
    parser.add_argument("--chats", type=int, default=3)
    given = parser.parse_args()
    dataset, gold = load_with_gold(given.data)
    talk = chosen(dataset.conversations, given.conversation)
    pages = pages_of(talk)
    talk, of_talk = first_pages(talk, gold[talk.id], pages[: given.pages])
    part = replace(dataset, conversations=(talk,))
    model = {"model": given.model, "model_url": given.url}
    found: dict[str, Any] = {"model": given.model, "pages": given.pages, "load": round(os.getloadavg()[0], 1)}
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
        since = datetime.now(UTC)
        report = run(part, {talk.id: of_talk}, Path(folder), **model)
        found["settle_s"] = round(report.figures["pages_per_s"][1], 1)
        with Memory(Path(folder) / "bench.db", background=False, **model) as memory:
            owner = memory.of(talk.id, agent=AGENT, timezone=TIMEZONE)
            print(json.dumps(found | told(memory, owner, since), indent=2), flush=True)
            alone = run(part, {talk.id: of_talk}, Path(other), model=None)
            figures = {row.key: [report.figure(row.key), alone.figure(row.key)] for row in ROWS}
            print(json.dumps({"with and without the model": figures}, indent=2), flush=True)
            if given.chats:
                measure_chats(owner, given.chats, pages[given.pages : given.pages + 40])


def measure_chats(owner: OwnerMemory, count: int, more: tuple[Said, ...]) -> None:
    """Ask alone, then while more pages are settled, and print the seconds."""
    alone = chats(owner, count)
    add(owner, more)
    behind = threading.Thread(target=settle_until_closed, args=(owner,), daemon=True)
    behind.start()
    time.sleep(5)
    beside = chats(owner, count)
    print(json.dumps({"first_token_s": {"alone": alone, "beside": beside, "settling": behind.is_alive()}}), flush=True)


def first_pages(talk: Conversation, gold: Gold, pages: tuple[Said, ...]) -> tuple[Conversation, Gold]:
    """A conversation as far as these pages, with the questions and notes whose evidence is there; events stay whole."""
    kept = {turn.id for page in pages for turn in page.turns}
    threads = [replace(one, turns=tuple(t for t in one.turns if t.id in kept)) for one in talk.threads]
    threads = [one for one in threads if one.turns]
    names = {one.id for one in threads}
    asked = [
        one
        for one in talk.questions
        if one.has_evidence
        and one.evidence <= kept
        and one.evidence_threads <= names
        and one.after_turn in {None, *kept}
    ]
    notes = [note for note in gold.notes if kept.issuperset(note.turns)]
    return replace(talk, threads=tuple(threads), questions=tuple(asked)), replace(gold, notes=tuple(notes))


def told(memory: Memory, owner: OwnerMemory, since: datetime) -> dict[str, Any]:
    """What came of it."""
    calls, stats, segments = memory.calls(since), owner.stats(), owner.segments()
    changes = [change for change in owner.changes() if change.analyst]
    by = {change.no: change.analyst for change in changes}
    persona = owner.persona()
    known = {
        "facts": [(fact.change_no, fact.text) for fact in owner.facts()],
        "traits": [(trait.change_no, f"{trait.dimension} {trait.level:+.2f}") for trait in persona.traits],
        "profile": [(one.change_no, f"{one.name}={one.value}") for one in persona.profile],
        "titles": [(one.change_no, one.title) for one in segments],
        "summaries": [(one.change_no, one.summary) for one in segments],
    }
    return {
        "placed": sum(len(one.page_ids) for one in segments),
        "promoted": sum(len(one.page_ids) - one.unanalysed for one in segments),
        "in_segments": [f"{len(one.page_ids)} pages, {one.unanalysed} not promoted" for one in segments],
        "pending": stats.pending,
        "failed": stats.failed,
        "waiting": [f"{one.pages} {one.waits_for}: {one.reason}" for one in stats.waiting],
        "changes_by": dict(Counter(f"{change.cause.value}: {change.analyst}" for change in changes)),
        "calls": dict(Counter(f"{call.purpose.value}: {call.outcome}" for call in calls)),
        "prompt_tokens": sum(call.prompt_tokens for call in calls),
        "cached_tokens": sum(call.cached_tokens for call in calls),
        "answer_tokens": sum(call.completion_tokens for call in calls),
        "model_s": round(sum(call.ms for call in calls) / 1000, 1),
        "by": {kind: dict(Counter(by.get(no, "") for no, _ in items)) for kind, items in known.items()},
        **{kind: [f"{text} [{by.get(no, '')}]" for no, text in items] for kind, items in known.items()},
    }


if __name__ == "__main__":
    main()
