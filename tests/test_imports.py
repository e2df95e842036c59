"""Imports point one way. Each part names here what it may import; whoever wants another must change this table.

errors · types · text · traits · equations · config · changes · protocols     the base
embedders · llms · prompts · analysts · index · stores · systems              parts: they know the base
bootstrap · memory                                                            where parts are wired
apps · bench · demo                                                           users of the public face
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import embermem

ROOT = Path(embermem.__file__).parent

BASE = {
    "changes",
    "config",
    "dates",
    "equations",
    "errors",
    "expiry",
    "ids",
    "messages",
    "nonces",
    "paging",
    "protocols",
    "records",
    "retry_after",
    "probes",
    "rulings",
    "sensitive",
    "text",
    "traits",
    "types",
    "vectors",
}
MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "text": set(),
    "traits": set(),
    "types": {"errors"},
    "vectors": {"types"},
    "background": {"errors"},
    "retry_after": set(),
    "dates": set(),
    "changes": {"types"},
    "config": {"errors"},
    "equations": {"types"},
    "expiry": {"types"},
    "ids": {"types"},
    "paging": {"types"},
    "nonces": set(),
    "arguments": {"errors", "messages", "protocols", "types"},
    "messages": {"errors", "nonces", "sensitive", "types"},
    "sensitive": {"errors"},
    "rulings": {"changes", "text", "types"},
    "probes": {"text"},
    "protocols": {"changes", "types"},
    "records": {"protocols", "types"},
    "embedders": {"errors", "types", "protocols", "retry_after"},
    "llms": BASE,
    "prompts": {"errors", "types"},
    "analysts": BASE | {"prompts"},
    "chat": BASE | {"prompts", "index.tokens"},
    "testing": BASE | {"index.tokens"},
    "index": BASE,
    "stores": BASE,
    "systems": BASE | {"index", "analysts.attributes", "prompts"},
    "differing": {"protocols", "types"},
    "rebuilding": BASE | {"differing"},
    "bootstrap": BASE | {"embedders", "llms", "analysts", "stores", "systems"},
    "memory": BASE | {"arguments", "background", "bootstrap", "owner_memory", "rebuilding", "systems", "telemetry"},
    "system_memory": BASE | {"arguments", "bootstrap"},
    "owner_memory": BASE
    | {"arguments", "bootstrap", "chat", "differing", "memory", "rebuilding", "systems", "telemetry"},
    "apps": BASE
    | {"aio", "memory", "bootstrap", "bench", "chat", "embedders.weights", "index.tokens", "prompts", "rebuilding"}
    | {"telemetry", "index.projection", "transfer", "stores.copying", "stores.ddl"},
    "bench": BASE
    | {
        "index.projection",
        "index.tokens",
        "memory",
        "bootstrap",
        "prompts",
        "system_memory",
        "systems.amem",
        "testing",
    },
    "demo": BASE | {"memory", "bootstrap"},
    "aio": BASE | {"arguments", "chat", "memory", "telemetry"},
    "client": {"changes", "errors", "ids", "protocols", "retry_after", "types"},
    "telemetry": set(),
    "transfer": BASE | {"stores"},
    "__main__": {"apps"},
    "__init__": {"aio", "errors", "memory", "protocols", "system_memory", "types"},
}


def imported(file: Path) -> Iterator[str]:
    """Dotted names below `embermem` that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (
                alias.name.removeprefix("embermem.") for alias in node.names if alias.name.startswith("embermem.")
            )
        elif isinstance(node, ast.ImportFrom) and node.module is not None and node.level == 0:
            if node.module == "embermem":
                yield from (alias.name for alias in node.names)
            elif node.module.startswith("embermem."):
                yield node.module.removeprefix("embermem.")


def allowed(name: str, part: str) -> bool:
    if part in ("apps", "bench", "demo") and name in embermem.__all__:
        return True
    return any(name == one or name.startswith(f"{one}.") for one in (*MAY_IMPORT[part], part))


def test_no_module_imports_what_stands_above_it() -> None:
    wrong, seen = [], set()
    for file in sorted(ROOT.rglob("*.py")):
        part = file.relative_to(ROOT).parts[0].removesuffix(".py")
        seen.add(part)
        wrong += [f"{file.relative_to(ROOT)} imports {name}" for name in imported(file) if not allowed(name, part)]
    assert wrong == []
    assert seen == set(MAY_IMPORT)


def test_what_decides_knows_no_store_no_model_and_no_app() -> None:
    for part in ("systems", "index", "analysts"):
        assert not MAY_IMPORT[part] & {"stores", "embedders", "apps", "bench", "memory", "bootstrap"}


def test_the_equations_and_the_types_import_numpy_for_type_checkers_only() -> None:
    for name in ("equations.py", "types.py", "changes/decisions.py", "changes/table.py", "protocols.py"):
        body = ast.parse((ROOT / name).read_text(encoding="utf-8")).body
        modules = [n.module for n in body if isinstance(n, ast.ImportFrom)]
        modules += [alias.name for n in body if isinstance(n, ast.Import) for alias in n.names]
        assert not [module for module in modules if module and module.startswith("numpy")]
