"""The wheel in an environment of its own: with the packages that it declares, without make, weights or a network."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from test_documents import ROOT, python_of
from test_package import wheel_of

from embermem.embedders.e5 import NAME
from embermem.embedders.weights import SHARE, find_weights

pytestmark = pytest.mark.proof
QUESTION = "What must I not eat?"


class Environment:
    """A virtual environment, and a folder that its programs run in."""

    def __init__(self, folder: Path) -> None:
        self.prefix, self.home = folder / "environment", folder / "home"
        self.home.mkdir()
        venv.create(self.prefix, symlinks=True)
        self.python = self.prefix / "bin" / "python"
        (self.site,) = self.prefix.glob("lib/python*/site-packages")

    def pip(self, *words: str | Path) -> str:
        """Ours, working on this environment."""
        asked = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(self.python)]
        return ended([*asked, *words], self.home)

    def run(self, *words: str | Path) -> str:
        """What a program of this environment printed."""
        return ended([self.python.with_name(str(words[0])), *words[1:]], self.home)


def ended(command: list[str | Path], home: Path) -> str:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("EMBERMEM_", "PYTHON", "VIRTUAL_ENV"))}
    done = subprocess.run(
        command,
        cwd=home,
        env={**kept, "HOME": str(home), "PIP_NO_INDEX": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout + done.stderr


def declared(name: str, extras: frozenset[str] = frozenset()) -> Iterator[str]:
    """The distributions that one needs, and what these need; those that are installed here."""
    for line in distribution(name).requires or ():
        wanted = Requirement(line)
        if wanted.marker is None or any(wanted.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield wanted.name
            yield from declared(wanted.name, frozenset(wanted.extras))


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Our wheel, and links to the packages that it declares."""
    folder = tmp_path_factory.mktemp("alone")
    made = Environment(folder)
    for name in {*declared("embermem")}:
        found = distribution(name)
        for top in {file.parts[0] for file in found.files or () if ".." not in file.parts}:
            source, link = Path(str(found.locate_file(top))), made.site / top
            if source.exists() and not link.exists() and top != "__pycache__":
                link.symlink_to(source)
    made.pip("install", "--quiet", "--no-deps", wheel_of(ROOT, folder / "wheels"))
    return made


def test_what_is_declared_is_all_that_is_needed(alone: Environment) -> None:
    assert "No broken requirements found." in alone.pip("check")
    assert not (alone.site / "embermem_bench").exists()
    assert alone.run("python", "-m", "embermem", "--version") == alone.run("embermem", "--version")
    assert " bench " not in alone.run("embermem", "--help")
    assert "the hashed embedder is used" in " ".join(alone.run("embermem", "--store", "new.db", "doctor").split())


def test_the_readmes_first_example_works_and_the_weights_make_it_better_when_they_come(alone: Environment) -> None:
    example = next(python_of(ROOT / "README.md")).body
    said = alone.run("python", "-c", example)
    assert "I'm allergic to walnuts" in said
    assert said.count("`embermem model install` adds") == 1
    ours = find_weights()
    if ours is None:
        pytest.skip("the weights of multilingual-e5-small are not installed")
    (alone.prefix / SHARE).parent.mkdir(parents=True)
    (alone.prefix / SHARE).symlink_to(ours.parent)
    again = alone.run("python", "-c", example)
    assert "I'm allergic to walnuts" in again
    assert f"{NAME} is now available" in " ".join(again.split())
    script = "from embermem import Memory; print(Memory('memory.db').embedder_name)"
    assert alone.run("python", "-c", script) == f"{NAME}\n"


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (("embermem", "serve"), "embermem[server]"),
        (("embermem", "mcp"), "embermem[server]"),
        (("python", "-c", "from embermem.client import Client; Client('http://127.0.0.1:1')"), "embermem[client]"),
        (("python", "-c", "from embermem import Memory; Memory('x.db', model='gpt-5')"), "embermem[openai]"),
        (
            ("python", "-c", "from embermem import Memory; Memory('x', model='anthropic:x')"),
            "embermem[anthropic-google]",
        ),
        (("python", "-c", "from embermem import Memory; Memory('postgresql://h/d')"), "embermem[postgres]"),
    ],
)
def test_what_needs_more_names_the_extra_that_brings_it(alone: Environment, words: tuple[str, ...], extra: str) -> None:
    with pytest.raises(AssertionError, match=re.escape(f"pip install '{extra}'")):
        alone.run(*words)
