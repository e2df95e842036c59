from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from embermem.embedders.hashed import HashedNgrams
from embermem.embedders.minilm import MiniLM
from embermem.memoryos.recall.theme_vectors import EXAMPLES, VECTORS, ThemeVectors, examples, key_of

if TYPE_CHECKING:
    from embermem.core.types import Vectors


def test_the_vectors_that_come_with_ember_are_those_of_todays_examples() -> None:
    """Where this fails, run scripts/build_theme_vectors.py."""
    embedder = MiniLM()
    with (files("embermem.memoryos.recall") / VECTORS).open("rb") as file, np.load(file) as stored:
        shapes = {key: stored[key].shape for key in stored.files}
    texts = [examples(one)[1] for one in EXAMPLES]
    assert shapes == {key_of(embedder.name, one): (len(one), embedder.dim) for one in texts}


def test_what_no_file_holds_is_embedded_and_what_it_holds_is_not() -> None:
    embedder = HashedNgrams()
    names, texts = examples(EXAMPLES[0])
    themes = ThemeVectors(embedder)
    assert names[3] in themes.near(embedder.embed([texts[3]])[0])

    class Refuses(HashedNgrams):
        """Called as the embedder of the file is."""

        @property
        def name(self) -> str:
            return MiniLM().name

        @property
        def dim(self) -> int:
            return MiniLM().dim

        def embed(self, texts: Sequence[str]) -> Vectors:
            raise AssertionError("nothing is to be embedded")

    assert ThemeVectors(Refuses()).preferences(["food"]) is not None
