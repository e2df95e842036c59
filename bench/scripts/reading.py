"""What a memory without a model notes of the sets in `bench/sets/reading` (or of FOLDER).

    python bench/scripts/reading.py [FOLDER]

Each history is an owner of its own. A value counts as noted if a fact that holds has its words, whatever the case.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from embermem import Memory
from embermem.types import Fact

SETS = Path(__file__).parents[1] / "sets" / "reading"
AT = "2026-05-04"


def noted(facts: Iterable[Fact], words: str) -> bool:
    """Whether a fact has these words."""
    return any(words.casefold() in f"{fact.value}\n{fact.text}".casefold() for fact in facts)


def figures(name: str, line: Mapping[str, Any], memory: Memory) -> dict[str, int]:
    """What counts of one line of a set."""
    owner = memory.of(f"{name}-{line['id']}", agent="bench", timezone="UTC")
    said = line.get("messages") or [{"at": AT, "text": line["text"]}]
    for number, one in enumerate(said):
        messages = [{"role": "user", "content": one["text"]}]
        owner.add_messages(messages, at=f"{one['at']}T10:00:00+00:00", thread=f"t{number}")
    owner.settle()
    facts, past = owner.facts(), owner.past_facts()
    if name == "changes":
        old, new = noted(facts, line["old"]), bool(line["new"]) and noted(facts, line["new"])
        return {"old is current": old, "new is noted": new, "both right": not old and (new or not line["new"])}
    if name == "near_misses":
        holds = noted(facts, line["holds"])
        return {"still noted": holds, "ended": not holds and noted(past, line["holds"])}
    if "value" in line:
        return {"noted": noted(facts, line["value"])}
    return {"with a fact": bool(facts or past)}


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else SETS
    with tempfile.TemporaryDirectory() as made, Memory(Path(made) / "memory.db", background=False) as memory:
        for path in sorted(folder.glob("*.jsonl")):
            sums: Counter[str] = Counter()
            for text in path.read_text(encoding="utf-8").splitlines():
                line = json.loads(text)
                found = figures(path.stem, line, memory)
                sums.update({"items": 1} | found)
                if found.get("noted"):
                    sums[f"in {line['lang']}"] += 1
            print(f"{path.stem}: " + ", ".join(f"{name} {count}" for name, count in sums.items()), flush=True)


if __name__ == "__main__":
    main()
