"""What the documents say holds: code runs as printed, commands and links exist, tables agree with the code."""

from __future__ import annotations

import inspect
import itertools
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from document_names import pages_that_are_gone, problems

from embermem import Context, Memory, OwnerMemory

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "embermem"
PAGES = tuple(sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*.md")]))
COMMANDS_RUN_IN = (
    "README.md",
    "README.zh.md",
    "docs/reference/api.md",
    "docs/reference/configuration.md",
    "docs/operations/storage.md",
)

FENCE = re.compile(r"^```(?P<info>[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")
HEADING = re.compile(r"^#+ (?P<text>.+)$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Block:
    """A fenced block. `language` is the first word after the fence, `note` what follows it."""

    language: str
    note: str
    body: str
    line: int


def named(page: Path) -> str:
    """The page's path from the root."""
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> Iterator[Block]:
    """The page's fenced blocks in order."""
    text = page.read_text(encoding="utf-8")
    for found in FENCE.finditer(text):
        language, _, note = found["info"].strip().partition(" ")
        yield Block(language=language, note=note, body=found["body"], line=text[: found.start()].count("\n") + 2)


def python_of(page: Path) -> Iterator[Block]:
    """Its Python, but for blocks marked `no-run`."""
    return (block for block in blocks(page) if block.language == "python" and not block.note.startswith("no-run"))


def commands_of(page: Path) -> list[str]:
    """Its calls of `embermem`, as printed, but for blocks marked `no-run`."""
    shown = [b.body for b in blocks(page) if b.language == "console" and not b.note.startswith("no-run")]
    return [line[2:] for body in shown for line in body.splitlines() if line.startswith("$ embermem ")]


def some(pages: list[Path], *quick: str) -> list[Any]:
    """Pages as parameters of a test; those that are not named run in `make proofs` only."""
    marks = ((() if named(page) in quick else pytest.mark.proof) for page in pages)
    return [pytest.param(page, id=named(page), marks=one) for page, one in zip(pages, marks, strict=True)]


def prose(page: Path) -> str:
    """The page without its fenced blocks."""
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def environment(home: Path) -> dict[str, str]:
    """Ours without any setting of Ember, at home in a temporary folder, with this interpreter's scripts first."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("EMBERMEM_")}
    path = os.pathsep.join([str(Path(sys.executable).parent), kept.get("PATH", "")])
    return {**kept, "HOME": str(home), "PATH": path, "PYTHONUTF8": "1", "NO_COLOR": "1"}


def test_every_page_is_found() -> None:
    assert {"README.md", "docs/index.md", "docs/reference/api.md", "docs/concepts/how-it-works.md"} <= {
        named(page) for page in PAGES
    }


@pytest.mark.parametrize(
    "page", some([page for page in PAGES if any(python_of(page))], "README.md", "docs/reference/api.md")
)
def test_python_runs_as_printed(page: Path, tmp_path: Path) -> None:
    script = tmp_path / "page.py"
    lines: list[str] = []
    for block in python_of(page):  # each line keeps its number, so that a traceback points into the page
        lines += [""] * (block.line - 1 - len(lines)) + block.body.splitlines()
    script.write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, env=environment(tmp_path), capture_output=True, timeout=120
    )
    assert done.returncode == 0, done.stderr.decode()
    printed = iter(done.stdout.decode().splitlines())
    for line in _expected(page):
        assert line in printed, f"not printed, or not in this order: {line}"


def _expected(page: Path) -> list[str]:
    """The lines of each text block that directly follows a Python block."""
    ordered = list(blocks(page))
    return [
        line
        for before, after in itertools.pairwise(ordered)
        if before.language == "python" and after.language == "text"
        for line in after.body.splitlines()
    ]


def test_every_name_in_the_documents_exists() -> None:
    pages = [page for page in PAGES if page.name != "CHANGELOG.md"]
    pages += [ROOT / one for one in ("bench/README.md", "bench/sets/README.md", "clients/typescript/README.md")]
    wrong = {named(page): sorted(found) for page in pages if (found := set(problems(page.read_text(encoding="utf-8"))))}
    assert wrong == {}
    assert pages_that_are_gone() == set()


def test_a_wrong_name_of_each_kind_is_found() -> None:
    for planted, told in {
        "```console\n$ embermem recal Lyon\n```": "embermem has no command recal",
        "`embermem bench recalls FILE`": "embermem bench has no command recalls",
        "`embermem keys add phone --owners alice`": "embermem keys add has no --owners",
        "`--estimates`": "no option --estimates",
        "| command | does |\n|---|---|\n| `keys add\\|lists` | |\n": "embermem keys has no command lists",
        "```bash\nmake tests ARGS=-x\n```": "no target tests of make",
        "`bench/scripts/recalls.sh`": "no file bench/scripts/recalls.sh",
        "`bench/scripts/backup.sh --way`": "bench/scripts/backup.sh has no --way",
        "`memoryos/recall/packed.py`": "no file memoryos/recall/packed.py",
        "`packings.py`": "no file packings.py",
        "`tests/recalls/`": "no folder tests/recalls/",
        "`GET /v1/memory`": "no route /v1/memory",
        "```console\n$ curl localhost:8765/v1/contexts\n```": "no route /v1/contexts",
        "`EMBERMEM_MODELS`": "no environment variable EMBERMEM_MODELS",
        "`pack_least_lines_of`": "`pack_least_lines_of` occurs nowhere in the code",
        "```toml\nmodels = 1\n```": "no setting models",
        "`memory.scrubs()`": "no memory.scrubs",
        "```python no-run\nalice.recalls(1)\n```": "no alice.recalls",
        "`embermem.protocols.Embedders`": "no embermem.protocols.Embedders",
        "```python\nfrom embermem.errors import (EmberError, Errors)\n```": "no Errors in embermem.errors",
        "`pip install 'embermem[servers]'`": "no extra servers",
    }.items():
        assert list(problems(f"# Page\n\n{planted}\n")) == [told]


@pytest.mark.parametrize(
    "page",
    some(
        [page for page in map(ROOT.joinpath, COMMANDS_RUN_IN) if commands_of(page)], "docs/reference/configuration.md"
    ),
)
def test_embermem_commands_run_as_printed(page: Path, tmp_path: Path) -> None:
    lines = commands_of(page)
    if named(page) != "README.md":
        lines.insert(0, "embermem add 'I moved to Lyon.' 'Since when?'")
    for line in lines:
        done = subprocess.run(
            ["bash", "-ec", line], cwd=ROOT, env=environment(tmp_path), capture_output=True, timeout=120
        )
        assert done.returncode == 0, f"{line}\n{done.stderr.decode()}"
        assert done.stdout.strip(), f"{line} printed nothing"


def test_links_resolve() -> None:
    texts = {page: prose(page) for page in PAGES}
    for page, text in texts.items():
        for found in LINK.finditer(text):
            target, _, anchor = found["target"].partition("#")
            if "://" in target:
                continue
            file = (page.parent / target).resolve() if target else page
            assert file.exists(), f"{named(page)}: {found['target']}"
            if anchor:
                headings = HEADING.findall(texts.get(file) or prose(file))
                assert anchor in {_slug(heading) for heading in headings}, f"{named(page)}: {found['target']}"


def _slug(heading: str) -> str:
    kept = re.sub(r"[^\w\- ]", "", heading.lower())
    return kept.replace(" ", "-")


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached, waiting = set[Path](), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in reached or page.suffix != ".md":
            continue
        reached.add(page)
        targets = (found["target"].partition("#")[0] for found in LINK.finditer(prose(page)))
        waiting += [(page.parent / target).resolve() for target in targets if target and "://" not in target]
    assert {named(page) for page in PAGES} == {named(page) for page in reached}


def test_every_public_call_is_on_the_api_page() -> None:
    text = (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
    for kind in (Memory, OwnerMemory, Context):
        for name, _ in inspect.getmembers(kind, callable):
            if not name.startswith("_"):
                assert f"{name}(" in text, f"{kind.__name__}.{name}"


def test_the_settings_are_those_of_the_code() -> None:
    made = runpy.run_path(str(ROOT / "scripts" / "write_configuration.py"))
    text = (ROOT / "docs" / "reference" / "configuration.md").read_text(encoding="utf-8")
    assert text == made["page"](text), "run `python scripts/write_configuration.py`"


def test_the_tree_on_the_architecture_page_is_the_tree() -> None:
    """Rooms, and the folders in them; not the modules of a folder."""
    page = ROOT / "docs" / "concepts" / "architecture.md"
    tree = next(block for block in blocks(page) if block.body.startswith("src/embermem/"))
    drawn, folders = set[str](), {2: ""}
    for line in tree.body.splitlines()[1:]:
        found = re.match(r"^(?P<indent> +)(?P<name>\S+) +\S", line)
        assert found is not None, line
        one = folders[len(found["indent"])] + found["name"]
        drawn.add(one)
        folders[len(found["indent"]) + 2] = one
    rooms = {path.name for path in SOURCE.glob("*.py") if not path.name.startswith("__")} | {"data/"}
    below = {f"{path.parent.relative_to(SOURCE).as_posix()}/" for path in SOURCE.rglob("__init__.py")} - {"./"}
    assert drawn == rooms | below
