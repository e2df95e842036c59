"""Commands that other distributions add: imported when they are called, and harmless when they are broken."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

import embermem
from embermem.cli.main import app


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of distributions on the import path."""
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def installed(site: Path, name: str, code: str, *, entry: str | None = None) -> None:
    """A distribution with one module, which adds the command of that name."""
    (site / f"plug_{name}.py").write_text(code, encoding="utf-8")
    info = site / f"ember_{name}-1.0.dist-info"
    info.mkdir()
    about = f"Metadata-Version: 2.1\nName: ember-{name}\nVersion: 1.0\nSummary: What {name} does.\n"
    (info / "METADATA").write_text(about, encoding="utf-8")
    points = f"[embermem.commands]\n{name} = {entry or f'plug_{name}:app'}\n"
    (info / "entry_points.txt").write_text(points, encoding="utf-8")


def run(*words: str) -> Result:
    return CliRunner().invoke(app, words)


GREETS = """
import typer
from embermem.cli.commands.common import session_of

app = typer.Typer(no_args_is_help=True)

@app.command()
def hello(ctx: typer.Context, name: str) -> None:
    print(f"hello {name}, {session_of(ctx).user}")

@app.command()
def bye() -> None:
    print("bye")
"""


def test_a_command_of_another_distribution_runs_with_the_global_options(site: Path) -> None:
    installed(site, "greet", GREETS)
    done = run("--user", "alice", "greet", "hello", "Bob")
    assert (done.exit_code, done.stdout) == (0, "hello Bob, alice\n")
    assert "bye" in run("greet", "--help").stdout


def test_help_lists_it_by_its_summary_without_importing_it(site: Path) -> None:
    installed(site, "unread", "raise RuntimeError('imported')")
    done = run("--help")
    assert done.exit_code == 0
    assert "What unread does." in done.stdout


def test_one_that_cannot_be_loaded_says_so_in_one_line_and_others_run(site: Path) -> None:
    installed(site, "broken", "import a_package_that_is_not_there")
    installed(site, "other", GREETS)
    done = run("broken", "hello")
    assert done.exit_code == 1, done.output
    assert "`embermem broken` of ember-broken cannot be loaded: ModuleNotFoundError" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert run("other", "bye").stdout == "bye\n"
    assert run("--version").exit_code == 0


def test_what_is_left_of_one_that_was_half_uninstalled_adds_nothing(site: Path) -> None:
    installed(site, "greet", GREETS)
    (site / "ember_greet-1.0.dist-info" / "METADATA").unlink()
    assert run("greet").exit_code == 2
    assert run("--help").exit_code == 0


def test_one_that_is_no_application_is_refused(site: Path) -> None:
    installed(site, "odd", "app = 1")
    done = run("odd")
    assert done.exit_code == 1, done.output
    assert "is not a typer.Typer: plug_odd:app" in " ".join(done.stderr.split())


def test_a_command_of_ours_stands_before_one_of_the_same_name(site: Path) -> None:
    installed(site, "doctor", GREETS)
    assert "Check the store and the machine" in run("doctor", "--help").stdout


def test_without_the_bench_its_command_says_where_it_is(tmp_path: Path) -> None:
    """In an interpreter that sees all that is installed here but the bench."""
    for entry in Path(typer.__file__).parents[1].iterdir():
        if not entry.name.startswith("embermem_bench"):
            (tmp_path / entry.name).symlink_to(entry)
    path = os.pathsep.join([str(tmp_path), str(Path(embermem.__file__).parents[1])])
    done = subprocess.run(
        [sys.executable, "-S", "-m", "embermem", "bench", "recall"],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1, done.stderr
    assert "is in the distribution embermem-bench, which is not installed" in " ".join(done.stderr.split())
