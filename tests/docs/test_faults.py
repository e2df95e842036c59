"""The deliberate faults: their list fits the tree and the documentation, and the script tells caught from missed."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]

MODULE = '''"""Sums."""


class Sum:
    """A sum."""

    @property
    def total(self) -> int:
        """Of all."""

        def plus(a: int, b: int) -> int:
            return a + b

        return plus(1, 2)


LIMIT = 3


def halved(n: int) -> int:
    return n // 2


def unused() -> int:
    return 1
'''
TESTS = """
import os

from embermem.sums import LIMIT, Sum, halved


def test_a_total():
    assert Sum().total == 3


def test_a_limit():
    assert LIMIT > 1


def test_half_of_nothing():
    assert halved(0) == 0
"""
OPTIONS = """
def pytest_addoption(parser):
    parser.addoption("--engine")
"""


@pytest.fixture(scope="module")
def faults() -> Iterator[Any]:
    """The script."""
    yield from script("faults")


@pytest.fixture(scope="module")
def mutants() -> Iterator[Any]:
    """The script that draws them."""
    yield from script("mutants")


def script(name: str) -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "scripts")
        yield importlib.import_module(name)


def fault(faults: Any, name: str, old: str, new: str) -> Any:
    return faults.Fault(name=name, breaks="", file="sums.py", old=old, new=new, tests=("test_sums.py",))


def test_each_fault_stands_once_in_the_tree_and_leaves_code_that_can_be_read(faults: Any) -> None:
    sites = faults.sites(ROOT, faults.FAULTS)
    assert [site.fault for site in sites] == list(faults.FAULTS)
    for site in sites:
        text = (ROOT / site.path).read_text(encoding="utf-8")
        made = faults.planted(text, site.fault)
        assert made != text
        ast.parse(made)


def test_each_fault_has_a_name_of_its_own_and_names_tests_that_are_there(faults: Any) -> None:
    assert len({fault.name for fault in faults.FAULTS}) == len(faults.FAULTS) >= 40
    named = {pattern for fault in faults.FAULTS for pattern in fault.tests}
    assert not [pattern for pattern in named if not any((ROOT / "tests").rglob(pattern))]


def test_a_fault_that_is_not_there_or_there_twice_is_an_error(faults: Any, tmp_path: Path) -> None:
    package = tmp_path / "src" / "embermem"
    package.mkdir(parents=True)
    (package / "sums.py").write_text(MODULE)
    for old in ("return a - b", "-> int"):
        with pytest.raises(faults.FaultError, match="occurs"):
            faults.sites(tmp_path, [fault(faults, "one", old, "")])


def test_a_probe_stands_in_the_innermost_function_behind_its_docstring(faults: Any) -> None:
    inner = fault(faults, "inner", "return a + b", "return a - b")
    outer = fault(faults, "outer", "plus(1, 2)", "plus(1, 1)")
    module = fault(faults, "module", "LIMIT = 3", "LIMIT = 2")
    made, outside = faults.probed(MODULE, [inner, outer, module])
    assert '    """Of all."""\n\n        __import__("fault_probe").reached("outer")\n        def plus' in made
    assert '            __import__("fault_probe").reached("inner")\n            return a + b' in made
    assert outside == {"module"}


def test_one_seed_draws_the_same_mutants_each_of_which_stands_once_and_can_be_read(
    faults: Any, mutants: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for tree in ("one", "other"):
        package = tmp_path / tree / "src" / "embermem" / "store"
        package.mkdir(parents=True)
        for name in ("sums.py", "more.py"):
            (package / name).write_text(MODULE)
    drawn = mutants.drawn(tmp_path / "one", 6)
    assert drawn == mutants.drawn(tmp_path / "other", 6)
    assert len({one.name for one in drawn}) == len(drawn) == 6
    for site in faults.sites(tmp_path / "one", drawn):
        text = (tmp_path / "one" / site.path).read_text()
        assert text.count(site.fault.old) == 1
        made = faults.planted(text, site.fault)
        assert made != text
        ast.parse(made)
    monkeypatch.setattr(mutants, "SEED", "another")
    assert mutants.drawn(tmp_path / "one", 6) != drawn


@pytest.mark.proof
def test_what_a_test_catches_what_none_does_and_what_none_runs(faults: Any, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    for name, text in (
        ("src/embermem/__init__.py", ""),
        ("src/embermem/sums.py", MODULE),
        ("tests/conftest.py", OPTIONS),
        ("tests/test_sums.py", TESTS),
    ):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    listed = [
        fault(faults, "sign", "return a + b", "return a - b"),
        fault(faults, "limit", "LIMIT = 3", "LIMIT = 0"),
        fault(faults, "thirds", "return n // 2", "return n // 3"),
        fault(faults, "alone", "return 1\n", "return 2\n"),
    ]
    results = faults.run(tree, listed, None, faults.Limits(tests=10, seconds=60.0), 2)
    assert [(one.fault, one.outcome, one.test.partition("::")[2], one.tests) for one in results] == [
        ("sign", "caught", "test_a_total", 1),
        ("limit", "caught", "test_a_limit", 3),
        ("thirds", "missed", "", 1),
        ("alone", "no test runs it", "", 0),
    ]
    assert (tree / "src/embermem/sums.py").read_text() == MODULE
    assert sorted(path.name for path in tree.rglob("*") if path.is_file()) == [
        "__init__.py",
        "conftest.py",
        "sums.py",
        "test_sums.py",
    ]
