"""Word lists of the package's data folder, read once when first needed."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def words(name: str) -> frozenset[str]:
    """The words of data/<name>.txt: separated by white space, `_` for a space within one; `#` begins a comment."""
    lines = read(f"{name}.txt").splitlines()
    return frozenset(w.replace("_", " ") for line in lines for w in line.partition("#")[0].split())


def read(name: str) -> str:
    """The text of a file in the package's data folder."""
    return files("embermem").joinpath("data", name).read_text(encoding="utf-8")
