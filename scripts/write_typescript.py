"""Write the types of the TypeScript client (`clients/typescript/src/schema.ts`) from the service's OpenAPI description.

    python scripts/write_typescript.py            # needs Node: `npm ci` in clients/typescript first
    python scripts/write_typescript.py --check    # says whether they are stale; needs no Node

The file names the digest of what it was made from: paths, parameters and schemas, without prose and examples, so that a
better sentence in a description makes nothing stale.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from embermem import Memory
from embermem.http.app import create_app

CLIENT = Path(__file__).parents[1] / "clients" / "typescript"
SCHEMA = CLIENT / "src" / "schema.ts"
_PROSE: Mapping[str, type] = {"title": str, "description": str, "summary": str, "examples": list}
_DIGEST = "// Digest of the description: "


def described() -> dict[str, Any]:
    """The description of the routes that the client calls: those under /v1 with their good answers. Failures are the
    same for all of them, and headers are the client's own affair."""
    with tempfile.TemporaryDirectory() as folder, Memory(Path(folder) / "m.db", embedder="hashed") as memory:
        whole = create_app(memory).openapi()
    paths = {path: _trimmed(methods) for path, methods in whole["paths"].items() if path.startswith("/v1/")}
    schemas = whole["components"]["schemas"]
    info = {"title": "Ember", "version": "1"}
    return {"openapi": whole["openapi"], "info": info, "paths": paths, "components": {"schemas": schemas}}


def digest(description: Mapping[str, Any]) -> str:
    """What a description says to a type checker, in 64 letters."""
    return hashlib.sha256(json.dumps(_without_prose(description), sort_keys=True).encode()).hexdigest()


def written() -> str:
    """The digest that the file names; empty if there is none."""
    lines = SCHEMA.read_text(encoding="utf-8").splitlines() if SCHEMA.exists() else []
    return next((line.removeprefix(_DIGEST) for line in lines if line.startswith(_DIGEST)), "")


def generated(description: Mapping[str, Any]) -> str:
    """The file, made by openapi-typescript. Raises CalledProcessError, or FileNotFoundError without Node."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "openapi.json", Path(folder) / "schema.ts"
        source.write_text(json.dumps(description), encoding="utf-8")
        program = CLIENT / "node_modules" / ".bin" / "openapi-typescript"
        options = ["--default-non-nullable", "false", "--output", str(target)]
        subprocess.run([program, source, *options], check=True, capture_output=True)
        made = target.read_text(encoding="utf-8")
    return f"// Made by scripts/write_typescript.py; do not edit.\n{_DIGEST}{digest(description)}\n{made}"


def main() -> int:
    """The command."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--check", action="store_true", help="only say whether the file is stale")
    description = described()
    if options.parse_args().check:
        stale = written() != digest(description)
        print(f"{SCHEMA} is {'stale: run python scripts/write_typescript.py' if stale else 'up to date'}")
        return int(stale)
    SCHEMA.write_text(generated(description), encoding="utf-8")
    return 0


def _trimmed(methods: Mapping[str, Any]) -> dict[str, Any]:
    return {
        method: {
            **said,
            "parameters": [one for one in said.get("parameters", ()) if one["in"] != "header"],
            "responses": {code: answer for code, answer in said["responses"].items() if code.startswith("2")},
        }
        for method, said in methods.items()
    }


def _without_prose(value: Any) -> Any:
    if isinstance(value, dict):
        prose = {name for name, kind in _PROSE.items() if isinstance(value.get(name), kind)}
        return {name: _without_prose(one) for name, one in value.items() if name not in prose}
    return [_without_prose(one) for one in value] if isinstance(value, list) else value


if __name__ == "__main__":
    sys.exit(main())
