"""Imports point one way: a room imports only rooms that stand above it here, and no file is in a circle of imports.

What a type checker alone reads counts too, as does what a function imports when it is called.
"""

from __future__ import annotations

import ast
import gc
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import embermem
import embermem_bench

ROOT = Path(embermem.__file__).parent

ROOMS = (
    ("core", "telemetry"), ("changes", "errors", "types"), ("protocols", "wire"), ("languages",), ("documents",),
    ("prompts",), ("index",), ("memoryos",), ("analysts", "embedders", "llms"), ("reader",), ("store",),
    ("bootstrap",), ("arguments", "background", "chat", "api_keys", "pulse", "webhooks"), ("owner_memory",),
    ("memory",), ("aio", "client"), ("__init__",), ("demo", "testing"), ("transfer",),
    ("compat", "integrations"), ("reports",), ("mcp",), ("http",), ("cli",), ("__main__",),
)  # fmt: skip
"""Rooms on one line stand side by side, and do not import each other."""
CLIENT = {"core", "wire", "client"}
"""The client needs no store, no index and no model."""


def files() -> dict[str, Path]:
    """Every module below `embermem` by its dotted name; a package by its own."""
    found = {}
    for file in sorted(ROOT.rglob("*.py")):
        parts = file.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts) or "__init__"] = file
    return found


def statements(tree: ast.Module) -> Iterator[ast.AST]:
    """Every statement of a file, at whatever depth; expressions hold no imports."""
    left: list[ast.AST] = [tree]
    while left:
        node = left.pop()
        yield node
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            left += getattr(node, part, ())


def imported(tree: ast.Module, known: Mapping[str, Path]) -> Iterator[str]:
    """The modules below `embermem` that a file imports, anywhere in it."""
    for node in statements(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.removeprefix("embermem.") for alias in node.names if "embermem." in alias.name)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and (node.module or "").split(".")[0] == "embermem":
            package = (node.module or "").removeprefix("embermem").removeprefix(".")
            for alias in node.names:
                module = f"{package}.{alias.name}".removeprefix(".")
                yield module if module in known else package or "__init__"


@pytest.fixture(scope="module")
def trees() -> dict[str, ast.Module]:
    gc.disable()  # which would look through millions of nodes again and again
    try:
        return {name: ast.parse(file.read_text(encoding="utf-8")) for name, file in files().items()}
    finally:
        gc.enable()


@pytest.fixture(scope="module")
def arrows(trees: Mapping[str, ast.Module]) -> dict[str, set[str]]:
    known = files()
    return {name: {one for one in imported(tree, known) if one != name} for name, tree in trees.items()}


def room_of(module: str) -> str:
    return module.split(".")[0]


def test_every_room_stands_in_the_list(arrows: Mapping[str, set[str]]) -> None:
    assert {room_of(name) for name in arrows} == {room for floor in ROOMS for room in floor}


def test_no_file_imports_what_stands_below_its_room(arrows: Mapping[str, set[str]]) -> None:
    floors = {room: floor for floor, rooms in enumerate(ROOMS) for room in rooms}
    wrong = [
        f"{name} imports {one}"
        for name, found in arrows.items()
        for one in sorted(found)
        if room_of(one) != room_of(name) and floors[room_of(one)] >= floors[room_of(name)]
    ]
    assert wrong == []


def test_there_is_no_circle_of_files(arrows: Mapping[str, set[str]]) -> None:
    left = {name: {one for one in found if one in arrows} for name, found in arrows.items()}
    while free := [name for name, found in left.items() if not found & left.keys()]:
        for name in free:
            del left[name]
    assert sorted(left) == []


def test_the_client_stands_on_the_core_alone(arrows: Mapping[str, set[str]]) -> None:
    assert {room_of(one) for name in arrows if room_of(name) == "client" for one in arrows[name]} <= CLIENT


def test_no_name_of_a_module_or_a_class_is_assigned_twice(trees: Mapping[str, ast.Module]) -> None:
    """The second value would hold for what was written for the first."""
    for module, tree in trees.items():
        scopes: list[ast.Module | ast.ClassDef] = [tree, *(one for one in tree.body if isinstance(one, ast.ClassDef))]
        for scope in scopes:
            targets = [
                target
                for node in scope.body
                if isinstance(node, (ast.Assign, ast.AnnAssign))
                for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            ]
            named = [node for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]
            counts = Counter(node.id for node in named if isinstance(node.ctx, ast.Store))
            assert [name for name, times in counts.items() if times > 1] == [], module


def test_what_decides_knows_no_store_no_model_and_no_application(arrows: Mapping[str, set[str]]) -> None:
    for room in ("memoryos", "index", "analysts"):
        found = {room_of(one) for name in arrows if room_of(name) == room for one in arrows[name]}
        assert not found & {"store", "embedders", "llms", "bootstrap", "memory", "http", "mcp", "cli"}


def test_the_core_and_the_protocols_import_numpy_for_type_checkers_only(trees: Mapping[str, ast.Module]) -> None:
    free = {name: tree.body for name, tree in trees.items() if room_of(name) in ("core", "protocols")}
    for name in ("vectors", "vector_codes", "vector_sums", "packed_ids", "state.topics", "state.visits"):
        del free[f"core.{name}"]
    for name, body in free.items():
        modules = [n.module for n in body if isinstance(n, ast.ImportFrom)]
        modules += [alias.name for n in body if isinstance(n, ast.Import) for alias in n.names]
        assert not [module for module in modules if module and module.startswith("numpy")], name


def test_the_bench_names_nothing_private_of_ember() -> None:
    bench = Path(embermem_bench.__file__).parent
    wrong = [
        f"{file.name}:{line} names {name}"
        for file in (*bench.rglob("*.py"), *bench.parents[1].joinpath("scripts").rglob("*.py"))
        if MAY_BE_PRIVATE.search(text := file.read_text(encoding="utf-8"))
        for line, name in private_names(ast.parse(text))
    ]
    assert wrong == []


def test_ember_imports_nothing_of_its_bench() -> None:
    for file in files().values():
        assert not re.search(r"^\s*(from|import) embermem_bench", file.read_text(encoding="utf-8"), re.MULTILINE)


MAY_BE_PRIVATE = re.compile(
    r"(?<!\bself)(?<!\bcls)\._[^\W_]|import\b.*\b_[^\W_]|^\s+_[^\W_]\w*( as \w+)?,", re.MULTILINE
)
"""What a file without such a text has no need to be parsed for."""


def private_names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Names with one underscore that a file imports, or reads of anything but `self` and `cls`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names = [*(node.module or "").split("."), *(alias.name for alias in node.names)]
        elif isinstance(node, ast.Attribute) and not (
            isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
        ):
            names = [node.attr]
        else:
            continue
        yield from ((node.lineno, name) for name in names if name.startswith("_") and not name.startswith("__"))


OF_ONE_ENGINE = {"sqlite3", "psycopg", "psycopg_pool", "pgvector", "asyncpg"}
"""Packages that speak to one engine."""
NEUTRAL = {
    *("backup_pages", "copies", "database", "owner_alias", "packed_text", "packed_tokens"),
    *("short_names", "vector_type", "words"),
}
"""Modules of `store/engines/` that say the same on each engine."""


def named(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """What a file imports, anywhere in it: the module, and a name out of it."""
    for node in statements(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", alias.name) for alias in node.names)


def test_the_base_of_the_store_knows_no_engine(trees: Mapping[str, ast.Module]) -> None:
    """But for `store/engines/`, nothing of the store imports what speaks to one engine, or asks which one it is."""
    wrong = []
    base = {name: tree for name, tree in trees.items() if room_of(name) == "store"}
    for file in [name for name in base if not f"{name}.".startswith("store.engines.")]:
        for module, name in named(base[file]):
            of_ours = f"{module}.{name}".removeprefix("embermem.store.engines.").split(".")[0]
            if module.startswith("embermem.store.engines") and of_ours not in NEUTRAL:
                wrong.append(f"{file} imports {module} {name}")
            if module.split(".")[0] in OF_ONE_ENGINE or module.startswith("sqlalchemy.dialects"):
                wrong.append(f"{file} imports {module}")
        for node in ast.walk(base[file]):
            if isinstance(node, ast.Attribute) and node.attr == "dialect":
                wrong.append(f"{file}, line {node.lineno}, asks for the dialect")
    assert wrong == []
    assert {name.removeprefix("store.engines.") for name in base} >= NEUTRAL
