"""The TypeScript client of `clients/typescript`: its types are those of the service, and its own tests pass."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def npm(folder: str, *command: str) -> str:
    """What npm prints in a folder; its packages are those of the lock. Fails with all that it printed."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("EMBERMEM_")}
    environment["EMBERMEM_COMMAND"] = json.dumps([sys.executable, "-m", "embermem.cli.main"])
    done = subprocess.run(
        ["npm", *command], cwd=ROOT / folder, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_types_of_the_client_are_those_that_the_service_describes() -> None:
    script = runpy.run_path(str(ROOT / "scripts" / "write_typescript.py"))
    assert script["written"]() == script["digest"](script["described"]()), (
        "run: python scripts/write_typescript.py (it needs Node; make typescript installs the rest)"
    )


def test_the_guide_shows_the_examples_as_they_are() -> None:
    for name in ["ai-sdk-tools", "ai-sdk-middleware", "openai-chat"]:
        guide = (ROOT / "docs" / "guides" / "typescript.md").read_text(encoding="utf-8")
        example = (ROOT / "examples" / "typescript" / "src" / f"{name}.ts").read_text(encoding="utf-8")
        assert f"```ts {name}\n{example}```\n" in guide


@pytest.mark.proof
def test_the_client_passes_its_tests_against_the_real_service_and_its_package_is_complete() -> None:
    npm("clients/typescript", "ci")
    said = npm("clients/typescript", "test")
    assert "# fail 0" in said
    packed = json.loads(npm("clients/typescript", "pack", "--json", "--dry-run"))[0]
    names = {one["path"] for one in packed["files"]}
    assert {"dist/index.js", "dist/index.d.ts", "LICENSE", "README.md", "package.json"} <= names
    assert not {name for name in names if name.startswith(("test", "build", "node_modules"))}
    npm("clients/typescript", "run", "check:pack")


@pytest.mark.proof
def test_the_examples_run_with_the_agent_sdks_themselves() -> None:
    npm("clients/typescript", "ci")
    npm("clients/typescript", "run", "build")
    npm("examples/typescript", "ci")
    assert "# fail 0" in npm("examples/typescript", "test")
