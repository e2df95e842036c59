"""Makes `theme_vectors.npz`: what the embedder that a new store gets makes of the themes' examples, in half precision.

They are the same in every process, and embedding them took a third of the first recall. Run it again where an example
changes (a test says so); until then they are embedded.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from embermem.embedders.e5 import E5
from embermem.memoryos.recall import theme_vectors
from embermem.memoryos.recall.theme_vectors import EXAMPLES, VECTORS, examples, key_of


def main() -> None:
    """Write the file beside the module that reads it."""
    embedder = E5()
    found = {}
    for texts in (examples(one)[1] for one in EXAMPLES):
        found[key_of(embedder.name, texts)] = embedder.embed(texts).astype(np.float16)
    np.savez_compressed(Path(theme_vectors.__file__).with_name(VECTORS), allow_pickle=False, **found)


if __name__ == "__main__":
    main()
