from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from embermem.embedders.e5 import DIM, E5, NAME
from embermem.embedders.hashed import HashedNgrams
from embermem.embedders.weights import find_weights
from embermem.memoryos.recall.theme_vectors import EXAMPLES, VECTORS, ThemeVectors, examples, key_of

if TYPE_CHECKING:
    from embermem.core.types import Vectors


def test_the_vectors_that_come_with_ember_are_those_of_todays_examples() -> None:
    """Where this fails, run scripts/build_theme_vectors.py."""
    with (files("embermem.memoryos.recall") / VECTORS).open("rb") as file, np.load(file) as opened:
        stored = {key: opened[key] for key in opened.files}
    texts = [examples(one)[1] for one in EXAMPLES]
    assert {key: one.shape for key, one in stored.items()} == {key_of(NAME, one): (len(one), DIM) for one in texts}
    if find_weights() is not None:
        for some in texts:
            np.testing.assert_allclose(stored[key_of(NAME, some)][:3], E5().embed(some[:3]), atol=2e-2)


def test_what_no_file_holds_is_embedded_and_what_it_holds_is_not() -> None:
    embedder = HashedNgrams()
    names, texts = examples(EXAMPLES[0])
    themes = ThemeVectors(embedder)
    assert names[3] in themes.near(embedder.embed([texts[3]])[0])

    class Refuses(HashedNgrams):
        """Called as the embedder of the file is."""

        @property
        def name(self) -> str:
            return NAME

        @property
        def dim(self) -> int:
            return DIM

        def embed(self, texts: Sequence[str]) -> Vectors:
            raise AssertionError("nothing is to be embedded")

    assert ThemeVectors(Refuses()).preferences(["food"]) is not None
