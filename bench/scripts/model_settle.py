"""What a real model makes of the pages of a conversation, with the settings as they are.

    bench/scripts/model_settle.sh http://127.0.0.1:8090/v1 DATA [--conversation ID] [--pages 60] [--chats 3]

The pages are added and settled once. It prints how many were placed, by whom they were read, the time that it took
against the time of the model's requests, and how these ended. Then chat is asked `--chats` times alone, and as often
while a second thread settles further pages: seconds to the first token.
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
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from embermem import Memory, OwnerMemory
from embermem.core.errors import EmberError
from embermem_bench.cost import Said, chosen, pages_of
from embermem_bench.datasets import load
from embermem_bench.load_conversation import message

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
    pages = pages_of(chosen(load(given.data).conversations, given.conversation))
    found: dict[str, Any] = {"model": given.model, "pages": given.pages, "load": round(os.getloadavg()[0], 1)}
    with (
        tempfile.TemporaryDirectory() as folder,
        Memory(Path(folder) / "memory.db", background=False, model=given.model, model_url=given.url) as memory,
    ):
        owner, since = memory.of("someone"), datetime.now(UTC)
        add(owner, pages[: given.pages])
        begun = time.perf_counter()
        placed = owner.settle()
        found["settle_s"] = round(time.perf_counter() - begun, 1)
        found |= told(memory, owner, since, placed)
        print(json.dumps(found, indent=2), flush=True)
        alone = chats(owner, given.chats)
        add(owner, pages[given.pages : given.pages + 40])
        behind = threading.Thread(target=settle_until_closed, args=(owner,), daemon=True)
        behind.start()
        time.sleep(5)
        beside = chats(owner, given.chats)
        print(
            json.dumps({"first_token_s": {"alone": alone, "beside": beside, "settling": behind.is_alive()}}), flush=True
        )


def told(memory: Memory, owner: OwnerMemory, since: datetime, placed: int) -> dict[str, Any]:
    """What came of it."""
    calls, stats = memory.calls(since), owner.stats()
    model_s = sum(call.ms for call in calls) / 1000
    return {
        "placed": placed,
        "pending": stats.pending,
        "failed": stats.failed,
        "waiting": [f"{one.pages} {one.waits_for}: {one.reason}" for one in stats.waiting],
        "changes_by": dict(Counter(change.analyst for change in owner.changes() if change.analyst)),
        "calls": dict(Counter(f"{call.purpose.value}: {call.outcome}" for call in calls)),
        "prompt_tokens": sum(call.prompt_tokens for call in calls),
        "cached_tokens": sum(call.cached_tokens for call in calls),
        "answer_tokens": sum(call.completion_tokens for call in calls),
        "model_s": round(model_s, 1),
        "facts": [fact.text for fact in owner.facts()],
        "traits": [f"{trait.dimension} {trait.level:+.2f}" for trait in owner.persona().traits],
        "profile": [f"{one.name}={one.value}" for one in owner.persona().profile],
    }


if __name__ == "__main__":
    main()
