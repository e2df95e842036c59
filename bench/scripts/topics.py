"""How segments part marked talk: segments of one page, purity, and B-cubed of pages by segment against the matters.

    bench/scripts/topics.sh [FILE…] [--limit N] [--titles]

Each line of a file (default: bench/sets/topics.jsonl) is a conversation whose exchanges are marked with the matter that
they are of. Exchanges marked as asides count as matters of their own, and not in B-cubed. `--titles` prints the title
of each segment beside its matters, to be judged by a reader.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from embermem.memory import Memory

SETS = Path(__file__).parent.parent / "sets"
ASIDE = "aside"

Pages = dict[str, tuple[str, str]]
"""By page its segment and its matter."""


def stored(memory: Memory, conversation: dict[str, Any], *, titles: bool) -> Pages:
    """Store a conversation, a thread a day."""
    owner, matters = memory.of(conversation["id"], agent="Assistant"), {}
    for number, one in enumerate(conversation["exchanges"]):
        said = [("user", one["user"], conversation["speaker"]), ("assistant", one["assistant"], "Assistant")]
        messages = [{"role": r, "content": text, "name": who, "at": one["at"] + "+00:00"} for r, text, who in said]
        matter = one["matter"] if one["matter"] != ASIDE else f"{ASIDE} {number}"
        for name in owner.add_messages(messages, thread=one["at"][:10]).utterance_ids:
            matters[name] = matter
    owner.settle()
    matter_of = {page.id: matters[page.utterances[0].id] for page in owner.pages()}
    pages: Pages = {}
    for segment in owner.segments():
        if titles:
            print(f"{conversation['lang']}\t{segment.title}\t{Counter(matter_of[page] for page in segment.page_ids)}")
        for page in segment.page_ids:
            pages[page] = segment.id, matter_of[page]
    return pages


def b_cubed(pages: Pages) -> tuple[float, float]:
    """Precision and recall, the sums over pages; asides left out."""
    kept = [pair for pair in pages.values() if not pair[1].startswith(ASIDE)]
    both, segments, matters = Counter(kept), Counter(one for one, _ in kept), Counter(one for _, one in kept)
    return sum(both[one] / segments[one[0]] for one in kept), sum(both[one] / matters[one[1]] for one in kept)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="*", default=[SETS / "topics.jsonl"])
    parser.add_argument("--limit", type=int, help="so many conversations of each file only")
    parser.add_argument("--titles", action="store_true")
    given = parser.parse_args()
    for path in given.files:
        sizes: list[int] = []
        pure = total = kept = 0
        precision = recall = 0.0
        with tempfile.TemporaryDirectory() as folder, Memory(Path(folder) / "m.db", background=False) as memory:
            for line in path.read_text(encoding="utf-8").splitlines()[: given.limit]:
                pages = stored(memory, json.loads(line), titles=given.titles)
                segments = Counter(segment for segment, _ in pages.values())
                sizes += segments.values()
                for segment in segments:
                    own = Counter(matter for at, matter in pages.values() if at == segment)
                    pure += own.most_common(1)[0][1]
                p, r = b_cubed(pages)
                precision, recall = precision + p, recall + r
                kept += sum(not matter.startswith(ASIDE) for _, matter in pages.values())
                total += len(pages)
        p, r = precision / kept, recall / kept
        print(
            f"{path.name}: {len(sizes)} segments, of one page {sizes.count(1) / len(sizes):.3f}, purity "
            f"{pure / total:.3f}, B-cubed {2 * p * r / (p + r):.3f} (precision {p:.3f}, recall {r:.3f})"
        )


if __name__ == "__main__":
    main()
