"""What a document names, and whether it exists: commands and their options, targets of make, files, routes, environment
variables, and names of Python, in code spans and in fenced blocks."""

from __future__ import annotations

import ast
import re
import shlex
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from typer.main import get_command, get_group

from embermem import AsyncMemory, AsyncOwnerMemory, Context, Memory, OwnerMemory
from embermem.cli.main import app
from embermem.client import AsyncClient, Client
from embermem.compat.mem0 import Memory as Mem0Memory
from embermem.core.config import Settings
from embermem_bench.commands.main import app as bench
from embermem_bench.systems import SystemMemory

ROOT = Path(__file__).parents[2]
PLACES = tuple(ROOT / one for one in (".", "src/embermem", "bench/src/embermem_bench", "tests", "bench"))

FENCE = re.compile(r"^ *```(?P<info>[^\n]*)\n(?P<body>.*?)^ *```$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"(?<!`)`(?P<code>[^`\n]+)`(?!`)")
FILE = re.compile(
    r"(?<![\w/.…-])(?P<path>(?:[\w-]+/)*[\w-]+(?:\.[\w-]+)*\.(?:py|sh|md|toml|yml|yaml|csv|npz|service))(?![\w/-])"
)
FOLDER = re.compile(r"^(?:bench|clients|deploy|docs|examples|locks|scripts|src|tests)/(?:[\w.-]+/)*$")
ROUTE = re.compile(r"(?<![A-Za-z_.-])(?P<path>/(?:v1|mem0|operations|playground)(?:/[\w{}-]+)*)")
COMMANDS = re.compile(r"^\| command \| does \|\n\|[-|]+\|\n(?P<rows>(?:\|.*\n)+)", re.MULTILINE)
VARIABLE = re.compile(r"\bEMBERMEM_[A-Z0-9_]+\b")
OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z0-9-]+)")
DOTTED = re.compile(
    r"(?<![\w./@-])(?P<first>embermem|embermem_bench|memory|alice|owner|context)(?P<rest>(?:\.(?![A-Z]+\b)[A-Za-z_]\w*)+)"
)
IMPORT = re.compile(r"^ *from (?P<module>embermem[\w.]*) import (?:\((?P<many>[^)]*)\)|(?P<one>[^\n#]+))", re.MULTILINE)
WORD = re.compile(r"(?<![\w/.%-])[a-z][a-z0-9]*(?:_[a-z0-9]+)+(?![\w/%-]|\.(?:py|sh|md|csv|json)\b)")
EXTRA = re.compile(r"embermem(?:-bench)?\[(?P<names>[\w,-]+)\]")

FOREIGN = frozenset(
    "awrap_model_call citus_create_restore_point create_agent graph_store keyword_similarity_alpha "
    "log_min_duration_statement log_parameter_max_length_on_error log_statement meta_information omit_expired "
    "pg_stat_replication raw_representation sweep_interval_minutes tau_hours evaluate-v1.1.py evalution_loco.py "
    "yb_enable_read_committed_isolation --batch-size --cli --max-model-len --ubatch-size".split()
)
"""Names of other programs."""

OURS = frozenset({"python", "typescript", "ts"})
"""Languages of blocks that define names of their own."""

ENDINGS = frozenset({"commands", "db", "ember", "env", "json", "jsonl", "key", "py", "safetensors", "service", "toml"})
"""What follows `memory.` and `embermem.` in the names of files, and names that no class shows."""

FACES = {
    "memory": (
        Memory,
        AsyncMemory,
        SystemMemory,
        Client,
        AsyncClient,
        Mem0Memory,
        OwnerMemory,
    ),  # in TypeScript an owner's
    "alice": (OwnerMemory, AsyncOwnerMemory),
    "owner": (OwnerMemory, AsyncOwnerMemory),
    "context": (Context,),
}


def problems(text: str) -> Iterator[str]:
    """Each name in the page's code that does not exist."""
    prose = FENCE.sub("", text)
    own = set(re.findall(r"file=(\S+)", text))  # files that a page shows
    pieces = [found["code"] for found in SPAN.finditer(prose)]
    blocks = [(found["info"].partition(" ")[0], found["body"]) for found in FENCE.finditer(text)]
    shown = {word for language, body in blocks if language in OURS for word in re.findall(r"\w+", body)}
    for code in pieces:
        yield from (one for one in _names(code) if one.removeprefix("no file ") not in own)
        yield from _calls(code)
        for word in WORD.findall(code):
            plain = re.sub(r"_(?:total|trap|refusal|\d+)$", "", word)  # the code puts these behind a name
            if not any(one in known for one in (word, plain) for known in (words(), shown, FOREIGN)):
                yield f"`{word}` occurs nowhere in the code"
    for table in COMMANDS.finditer(prose):
        for row in table["rows"].splitlines():
            for found in SPAN.finditer(row.replace("\\|", "|").split(" | ")[0]):
                yield from _command(re.sub(r"[\[\]…]", " ", found["code"]).split())
    for language, body in blocks:
        yield from _names(body)
        if language in {"console", "bash", "sh", ""}:
            for line in re.sub(r"\\\n\s*", "", body).splitlines():
                yield from _calls(line.removeprefix("$ "))
        if language == "toml":
            keys = re.findall(r"^(\w+) =", re.split(r"^\[", body, flags=re.MULTILINE)[0], re.MULTILINE)
            yield from (f"no setting {key}" for key in keys if key not in settings())


def _names(code: str) -> Iterator[str]:
    for found in FILE.finditer(code):
        path = found["path"]
        if "/" in path:
            wrong = _ours(path) and not any((place / path).exists() for place in PLACES)
        else:
            wrong = path.endswith((".py", ".sh")) and path not in files() | FOREIGN
        if wrong:
            yield f"no file {path}"
    if FOLDER.match(code) and not (ROOT / code).exists():
        yield f"no folder {code}"
    for found in ROUTE.finditer(code):
        if not any(_is_route(found["path"], route) for route in routes()):
            yield f"no route {found['path']}"
    for name in VARIABLE.findall(code):
        if name.removeprefix("EMBERMEM_").lower() not in settings() and name not in words():
            yield f"no environment variable {name}"
    for found in EXTRA.finditer(code):
        yield from (f"no extra {name}" for name in found["names"].split(",") if name not in extras())
    for found in DOTTED.finditer(code):
        yield from _dotted(found["first"], found["rest"][1:].split("."))
    for found in IMPORT.finditer(code):
        for name in re.split(r"[,\s]+", (found["many"] or found["one"]).strip(" ,")):
            if name and name != "as" and not defined([*found["module"].split("."), name]):
                yield f"no {name} in {found['module']}"


def _ours(path: str) -> bool:
    """Whether a path begins with a folder that we have."""
    return any((place / path.split("/")[0]).is_dir() for place in PLACES)


def _is_route(path: str, route: str) -> bool:
    """Whether a path, or the beginning of one, is of a route, whatever its parameters are called."""
    said, known = path.strip("/").split("/"), route.strip("/").split("/")
    return len(said) <= len(known) and all(a == b or b.startswith("{") for a, b in zip(said, known, strict=False))


def _dotted(first: str, names: list[str]) -> Iterator[str]:
    if first in FACES:
        known = names[0] in ENDINGS or any(hasattr(face, names[0]) for face in FACES[first])
        if not known and not names[0].startswith("_"):
            yield f"no {first}.{names[0]}"
    elif not defined([first, *names]) and names[0] not in ENDINGS:
        yield f"no {first}.{'.'.join(names)}"


@cache
def _top_level(path: Path) -> frozenset[str]:
    found = set[str]()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.ImportFrom) and node.module and node.names[0].name == "*":
            folder = (ROOT / "src").joinpath(*node.module.split("."))
            found |= _top_level(folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py"))
            found |= {name for one in folder.glob("*.py") for name in _top_level(one)} if folder.is_dir() else set()
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {one.id for one in targets if isinstance(one, ast.Name)}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)  # names that a package imports when they are asked for
    return frozenset(found)


def defined(names: list[str]) -> bool:
    """Whether a dotted name leads to a module, or to a name in one."""
    at = (ROOT / "bench" / "src" if names[0] == "embermem_bench" else ROOT / "src") / names[0]
    for place, name in enumerate(names[1:], 1):
        if (at / name).is_dir():
            at = at / name
            continue
        if (module := at / f"{name}.py").exists():
            return place + 1 == len(names) or names[place + 1] in _top_level(module)
        return name in _top_level(at / "__init__.py")
    return at.is_dir()


# -------------------------------------------------------------------------------------------------------- commands


def _calls(line: str) -> Iterator[str]:
    """What is wrong with the calls in a line of a shell, or in a code span."""
    for piece in re.split(r"\s(?:\||&&|;|>)\s|\$\(", line):
        try:
            given = shlex.split(piece.replace("…", " … ").replace("[", " ").replace("]", " "), comments=True)
        except ValueError:
            continue
        while given and re.match(r"^[A-Z_]+=", given[0]):
            given.pop(0)
        if not given:
            continue
        if "embermem[" in piece:
            continue
        program, rest = given[0].rsplit("/", 1)[-1], given[1:]
        if program == "embermem" and "/embermem" not in given[0].removesuffix(".venv/bin/embermem"):
            yield from _command(rest)
        elif program == "make":
            targets = [one for one in rest if re.match(r"^[a-z][\w-]*$", one)]
            yield from (f"no target {one} of make" for one in targets[:1] if one not in make_targets())
        elif program.endswith((".sh", ".py")) and "/" in given[0] and (ROOT / given[0]).exists():
            known = script_options(given[0])
            yield from (f"{given[0]} has no {one}" for one in _options(rest) if one not in known)
        elif given[0].startswith("--"):
            yield from (f"no option {one}" for one in _options(given) if one not in all_options() | FOREIGN)


def _options(given: list[str]) -> list[str]:
    return [one.partition("=")[0] for one in given if OPTION.match(one)]


def _command(given: list[str]) -> Iterator[str]:
    """What is wrong with a call of `embermem`."""
    command: Any = root()
    path, skip = ["embermem"], False
    accepted = {name for one in command.params for name in one.opts} | {"--help", "-h"}
    for one in (part for word in given for part in (word.split("|") if word.startswith("-") else [word])):
        if skip:
            skip = False
        elif one.startswith("-") and len(one) > 1 and not one[1:2].isdigit():
            name, _, value = one.partition("=")
            parameter = next((p for p in command.params if name in (*p.opts, *p.secondary_opts)), None)
            if parameter is None and name not in accepted:
                yield f"{' '.join(path)} has no {name}"
                return
            flag = parameter is None or parameter.is_flag or parameter.count
            skip = not flag and not value
        elif below_of(command):
            if not re.match(r"^[a-z][a-z|-]*$", one):
                return
            if unknown := [name for name in one.split("|") if name not in below_of(command)]:
                yield f"{' '.join(path)} has no command {unknown[0]}"
                return
            below, one = below_of(command)[one.split("|")[0]], one.split("|")[0]
            command, path = below, [*path, one]
            accepted |= {name for p in command.params for name in p.opts}


@cache
def root() -> Any:
    """`embermem`."""
    return get_command(app)


@cache
def below_of(command: Any) -> dict[str, Any]:
    """The commands of a group; empty for a command."""
    if not hasattr(command, "list_commands"):
        return {}
    context = command.context_class(command)
    found = {name: command.get_command(context, name) for name in command.list_commands(context)}
    return {**found, "bench": get_group(bench)} if command is root() else found


@cache
def all_options() -> frozenset[str]:
    """Every option of every command, script and tool of the repository."""
    found = set(OPTION.findall("".join(path.read_text(encoding="utf-8") for path in _tools())))
    waiting: list[Any] = [root()]
    while waiting:
        command = waiting.pop()
        found |= {name for one in command.params for name in (*one.opts, *one.secondary_opts)}
        waiting += below_of(command).values()
    return frozenset(found)


def _tools() -> Iterator[Path]:
    for pattern in ("bench/scripts/**/*.py", "bench/scripts/*.sh", "scripts/*.py", "tests/conftest.py", "Makefile"):
        yield from ROOT.glob(pattern)
    yield from ROOT.glob("tests/attack/*.py")


@cache
def script_options(script: str) -> frozenset[str]:
    """The options that a script names, with those of the command of the bench that it runs."""
    path = ROOT / script
    texts = [path.read_text(encoding="utf-8")]
    beside = (path.with_suffix(".py"), *path.with_suffix("").glob("*.py"))
    texts += [one.read_text(encoding="utf-8") for one in beside if one.exists()]
    found = set(OPTION.findall("\n".join(texts)))
    for words_ in re.findall(r"\bbench ([a-z]+)(?: ([a-z-]+))?", texts[0]):
        if (command := below_of(below_of(root())["bench"]).get(words_[0])) is not None:
            found |= {name for one in command.params for name in (*one.opts, *one.secondary_opts)}
    return frozenset(found)


@cache
def make_targets() -> frozenset[str]:
    """The targets of the Makefile."""
    return frozenset(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


@cache
def routes() -> frozenset[str]:
    """The paths that the server answers."""
    found = set[str]()
    for path in (ROOT / "src" / "embermem" / "http").rglob("*.py"):
        below = "/v1" if path.parent.name == "api" else "/mem0" if path.name == "mem0.py" else ""
        for said in re.findall(r"""[f]?"(/[\w{}:/.-]*)\"""", path.read_text(encoding="utf-8")):
            if "{_" not in said:  # part of an address that is put together
                found |= {said.replace(":path", ""), below + said.replace(":path", "")}
    return frozenset(found)


@cache
def files() -> frozenset[str]:
    """The names of all our files of code."""
    folders = ("bench", "examples", "scripts", "src", "tests")
    return frozenset(path.name for one in folders for path in (ROOT / one).rglob("*.[ps][yh]"))


@cache
def extras() -> frozenset[str]:
    """The extras of both distributions."""
    found = [tomllib.loads((ROOT / one / "pyproject.toml").read_text(encoding="utf-8")) for one in (".", "bench")]
    return frozenset(name for one in found for name in one["project"].get("optional-dependencies", {}))


@cache
def settings() -> frozenset[str]:
    """The names of all settings."""
    return frozenset(Settings.__dataclass_fields__)


@cache
def words() -> frozenset[str]:
    """Every word of the code."""
    return frozenset(re.findall(r"\w+", code()))


def pages_that_are_gone() -> set[str]:
    """Pages of the documents that the code names, and that are not there."""
    return {page for page in re.findall(r"\bdocs/[\w/-]+\.md\b", code()) if not (ROOT / page).exists()}


@cache
def code() -> str:
    """The text of all code."""
    endings = {".py", ".sh", ".ts", ".sql", ".yml", ".html", ".js", ".toml"}
    folders = ("src", "bench", "scripts", "tests", "clients/typescript/src", "deploy", "examples")
    every = (path for folder in folders for path in (ROOT / folder).rglob("*"))
    paths = (path for path in every if path.suffix in endings and path.is_file())
    return "\n".join(path.read_text(encoding="utf-8") for path in paths if not {"docs", "node_modules"} & {*path.parts})
