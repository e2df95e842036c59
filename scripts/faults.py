"""Plants deliberate faults, one at a time, and runs the tests that execute the changed lines.

    python scripts/faults.py                          all faults of scripts/fault_list.py
    python scripts/faults.py no-wal heat-sign         these
    python scripts/faults.py --list                   their names, and what they break
    python scripts/faults.py --tree ../older ...      in another checkout, with its own tests

First the tests that the list names for the faults are run without any, each fault's function noting who calls it. Then
each fault is planted in a copy of the tree, and the tests that reached it and passed run until one fails: those of the
fault's own files first, the quickest first. A failure counts if the same test passes without the fault, which is seen
at the end. The result is a table on stdout. Nothing is written into the tree, and the copies are removed.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import itertools
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from fault_list import FAULTS, Fault

HERE = Path(__file__).parent
PROBE = "fault_probe"
_LEFT_BEHIND = (".git", ".venv*", "__pycache__", ".*_cache", ".hypothesis", "build", "dist")
_A_TEST_S = 60
_END_S = 30.0
"""How long an interrupted run may take to stop the servers that it started."""


class FaultError(Exception):
    """The list does not fit the tree."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Site:
    """Where a fault is planted in a tree."""

    fault: Fault
    path: Path


@dataclass(kw_only=True, slots=True)
class Record:
    """What the tests did without a fault: who reached which fault, and how long each test that passed took."""

    reached: dict[str, list[str]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    files: dict[str, list[str]] = field(default_factory=dict)
    """The test files that each fault named."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """What became of a fault: `caught` or not, by which test, of how many, after how long."""

    fault: str
    outcome: str
    test: str
    tests: int
    seconds: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """Tests and seconds that are spent on one fault."""

    tests: int
    seconds: float


# ------------------------------------------------------------------------------------------------------ where they are


def sites(tree: Path, faults: Iterable[Fault]) -> list[Site]:
    """The places of the faults that a tree has. Raises FaultError where a fault's text is not there just once."""
    found: list[Site] = []
    for fault in faults:
        path = Path("src") / "embermem" / fault.file
        if not (tree / path).exists():
            print(f"{fault.name}: not in this tree", file=sys.stderr)
            continue
        count = (tree / path).read_text(encoding="utf-8").count(fault.old)
        if count != 1:
            raise FaultError(f"{fault.name}: its text occurs {count} times in {path}")
        found.append(Site(fault=fault, path=path))
    return found


def planted(text: str, fault: Fault) -> str:
    """A file's text with the fault in it."""
    return text.replace(fault.old, fault.new)


def probed(text: str, faults: Iterable[Fault]) -> tuple[str, set[str]]:
    """A file's text with a probe at the start of the function that encloses each fault, and the names of those that no
    function encloses, or one that runs once."""
    lines, module = text.splitlines(keepends=True), ast.parse(text)
    probes: dict[int, str] = {}
    outside: set[str] = set()
    for fault in faults:
        first = _first_statement(module, _line_of(text, fault))
        if first is None or fault.once:
            outside.add(fault.name)
        else:
            line, indent = first
            probe = f'{" " * indent}__import__("{PROBE}").reached("{fault.name}")\n'
            probes[line] = probes.get(line, "") + probe
    for line, probe in probes.items():
        lines[line - 1] = probe + lines[line - 1]
    return "".join(lines), outside


def _line_of(text: str, fault: Fault) -> int:
    """The first line that the fault changes, from 1."""
    same = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(fault.old, fault.new, strict=False)))
    return text[: text.index(fault.old) + same].count("\n") + 1


def _first_statement(module: ast.Module, line: int) -> tuple[int, int] | None:
    """The line and the indentation of the first statement of the innermost function around a line, after its docstring;
    None outside of all functions."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    around = [
        node
        for node in ast.walk(module)
        if isinstance(node, kinds) and node.body[0].lineno <= line <= (node.end_lineno or 0)
    ]
    if not around:
        return None
    body = max(around, key=lambda node: node.lineno).body
    told = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) and len(body) > 1
    first = body[told]
    decorators = getattr(first, "decorator_list", [])
    return min([first.lineno, *(one.lineno for one in decorators)]), first.col_offset


# ----------------------------------------------------------------------------------------------------- a copy of a tree


class Copy:
    """A copy of a tree in which faults are planted and tests run."""

    def __init__(self, tree: Path, folder: Path) -> None:
        self._tree = tree
        self.root = folder / "tree"
        self._process: subprocess.Popen[bytes] | None = None
        self._said = folder / "said.txt"
        self._passing = folder / "tmp"
        self._passing.mkdir()
        self._passing.chmod(0o777)  # a PostgreSQL server that root starts is another user's
        shutil.copytree(tree, self.root, ignore=shutil.ignore_patterns(*_LEFT_BEHIND))
        shutil.copy(HERE / f"{PROBE}.py", self.root / "src")

    def write(self, path: Path, text: str) -> None:
        """Give a file another text."""
        file = self.root / path
        file.write_text(text, encoding="utf-8")
        # What was compiled is known by a time in whole seconds and by a length: both may be the same.
        Path(importlib.util.cache_from_source(str(file))).unlink(missing_ok=True)

    def restore(self, path: Path) -> None:
        """Give a file its own text again."""
        self.write(path, (self._tree / path).read_text(encoding="utf-8"))

    def run(
        self,
        files: Sequence[str],
        engine: str,
        limit_s: float | None,
        tests: Sequence[str] | None = None,
        *,
        stop: bool = False,
        workers: int = 0,
        plugins: Sequence[str] = (),
    ) -> tuple[int | None, str, list[list[str | float]]]:
        """Run test files, or of these some tests in order; with `stop` until one fails. pytest's exit code (None: the
        time ran out), what it printed, and what the probe noted."""
        log, chosen = (self.root / "src" / f"{PROBE}.{suffix}" for suffix in ("log", "json"))
        log.unlink(missing_ok=True)
        chosen.unlink(missing_ok=True)
        command = [sys.executable, "-m", "pytest", "-q", "-n", str(workers), "-p", PROBE]
        # The plugin of schemathesis takes longer to load than most tests take to run.
        command += ["-p", "no:cacheprovider", "-p", "no:schemathesis"]
        command += [part for plugin in plugins for part in ("-p", plugin)]
        command += ["--timeout", str(_A_TEST_S), "--engine", engine]
        if tests is not None:
            chosen.write_text(json.dumps(tests))
        command += ["-x"] if stop else []
        path = os.pathsep.join(str(self.root / name) for name in ("src", "bench/src", "tests"))
        environment = {**os.environ, "PYTHONPATH": path, "TMPDIR": str(self._passing), "CI": "1"}
        environment["FAULT_PROBE"] = str(self.root / "src")  # tests have another one on their path
        code, said = self._ended([*command, *files], environment, limit_s)
        noted = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        return code, said, noted

    def _ended(
        self, command: Sequence[str], environment: Mapping[str, str], limit_s: float | None
    ) -> tuple[int | None, str]:
        """A command in a process group of its own, of which nothing is left."""
        with self._said.open("wb") as said:
            self._process = process = subprocess.Popen(
                command,
                cwd=self.root,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        code: int | None = None
        try:
            code = process.wait(limit_s)
        except subprocess.TimeoutExpired:
            pass
        finally:
            self.stop()
        return code, self._said.read_text(encoding="utf-8", errors="replace")

    def stop(self) -> None:
        """End what runs here: first by an interrupt, after which tests stop the servers that they started."""
        process = self._process
        for number in (signal.SIGINT, signal.SIGKILL):
            if process is None or process.poll() is not None:
                return
            with suppress(ProcessLookupError, subprocess.TimeoutExpired):
                os.killpg(process.pid, number)
                process.wait(_END_S)

    def files(self, patterns: Iterable[str]) -> list[str]:
        """The test files that patterns name."""
        tests = self.root / "tests"
        return sorted({str(file.relative_to(self.root)) for one in patterns for file in tests.rglob(one)})


@contextmanager
def copy_of(tree: Path) -> Iterator[Copy]:
    """A copy that is gone in the end."""
    with tempfile.TemporaryDirectory(prefix="faults-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        yield Copy(tree, Path(folder))


# ---------------------------------------------------------------------------------------------------- what reaches it


def recorded(copy: Copy, tree: Path, placed: Sequence[Site], engine: str, workers: int = 0) -> Record:
    """Run the tests that the faults name, with a probe in the place of each, in so many processes besides this one."""
    record = Record(files={site.fault.name: copy.files(site.fault.tests) for site in placed})
    outside: set[str] = set()
    paths = sorted({site.path for site in placed})
    for path in paths:
        text = (tree / path).read_text(encoding="utf-8")
        made, alone = probed(text, [site.fault for site in placed if site.path == path])
        outside |= alone
        copy.write(path, made)
    files = sorted({file for some in record.files.values() for file in some})
    if not files:
        raise FaultError(f"no test file has one of the names that the list gives ({engine})")
    print(f"running {len(files)} test files on {engine} without a fault …", file=sys.stderr)
    _, said, noted = copy.run(files, engine, None, workers=workers)
    for path in paths:
        copy.restore(path)
    failed: set[str] = set()
    for kind, first, second, *rest in noted:
        if kind == "reached":
            record.reached.setdefault(str(first), []).append(str(second))
        else:
            test = str(first)
            record.seconds[test] = record.seconds.get(test, 0.0) + float(rest[0])
            if second != "passed":
                failed.add(test)
            if second == "failed":
                print(f"does not pass without a fault, and is left out: {test}", file=sys.stderr)
    for test in failed:
        del record.seconds[test]
    if not record.seconds:
        raise FaultError(f"no test passed on {engine}:\n{said[-2000:]}")
    for name in outside:  # nobody can say who reads it
        record.reached[name] = [test for test in record.seconds if _file(test) in record.files[name]]
    return record


def tests_of(fault: Fault, record: Record, most: int) -> list[str]:
    """The tests that run the place of a fault: those of its own files, and of the others `most` at most."""
    own = set(record.files[fault.name])
    known = sorted({*record.reached.get(fault.name, ())} & record.seconds.keys(), key=lambda one: record.seconds[one])
    near = [test for test in known if _file(test) in own]
    return near + [test for test in known if _file(test) not in own][:most]


# ---------------------------------------------------------------------------------------------------------- planting


def plant(copy: Copy, tree: Path, site: Site, tests: Sequence[str], limit_s: float) -> Result:
    """Plant one fault, and run tests until one fails."""
    fault, began = site.fault, time.monotonic()

    def result(outcome: str, test: str = "") -> Result:
        seconds = round(time.monotonic() - began, 1)
        return Result(fault=fault.name, outcome=outcome, test=test, tests=len(tests), seconds=seconds)

    if not tests:
        return result("no test runs it")
    copy.write(site.path, planted((tree / site.path).read_text(encoding="utf-8"), fault))
    try:
        near = {*copy.files(fault.tests)}
        parts = [[test for test in tests if (_file(test) in near) is own] for own in (True, False)]
        for part in filter(None, parts):  # few files are read sooner than many
            code, said, noted = copy.run(_files(part), fault.engine, limit_s, part, stop=True)
            ended = ((str(test), outcome) for kind, test, outcome, *_ in noted if kind == "ended")
            failed = next((test for test, outcome in ended if outcome == "failed"), None)
            if failed is not None:
                return result("caught", failed)
            if code != 0:
                return result("time ran out") if code is None else result("broken", said[-500:])
    finally:
        copy.restore(site.path)
    return result("missed")


def _files(tests: Iterable[str]) -> list[str]:
    return sorted({_file(test) for test in tests})


def _file(test: str) -> str:
    return test.partition("::")[0]


def run(tree: Path, faults: Sequence[Fault], known: Path | None, limits: Limits, workers: int) -> list[Result]:
    """Record where nothing is known yet, and plant every fault."""
    placed = sites(tree, faults)
    records = _read(known)
    results: dict[str, Result] = {}
    with copies_of(tree, workers) as copies:
        for engine in sorted({site.fault.engine for site in placed}):
            mine = [site for site in placed if site.fault.engine == engine]
            missing = [site for site in mine if site.fault.name not in records]
            if missing:
                record = recorded(copies[0], tree, missing, engine)
                records |= {site.fault.name: record for site in missing}
                _write(known, records)
            chosen = {site.fault.name: tests_of(site.fault, records[site.fault.name], limits.tests) for site in mine}
            results |= plant_all(copies, tree, mine, chosen, limits.seconds)
    return [results[site.fault.name] for site in placed]


def plant_all(
    copies: Sequence[Copy],
    tree: Path,
    placed: Sequence[Site],
    tests: Mapping[str, Sequence[str]],
    limit_s: float,
) -> dict[str, Result]:
    """Plant every fault of one engine. What failed is then run without any fault: a test that fails there too is left
    out, and its faults are planted again."""
    results: dict[str, Result] = {}
    unsteady: set[str] = set()
    while placed:
        chosen = {site.fault.name: [one for one in tests[site.fault.name] if one not in unsteady] for site in placed}
        found = _planted(copies, tree, placed, chosen, limit_s)
        results |= found
        unsteady |= _unsteady(copies[0], placed[0].fault.engine, found.values())
        placed = [site for site in placed if results[site.fault.name].test in unsteady]
    return results


def _planted(
    copies: Sequence[Copy], tree: Path, placed: Sequence[Site], tests: Mapping[str, Sequence[str]], limit_s: float
) -> dict[str, Result]:
    """What becomes of each fault; as many are planted at the same time as there are copies."""
    free: queue.SimpleQueue[Copy] = queue.SimpleQueue()
    for copy in copies:
        free.put(copy)

    def one(site: Site) -> Result:
        copy = free.get()
        try:
            result = plant(copy, tree, site, tests[site.fault.name], limit_s)
        finally:
            free.put(copy)
        print(f"{result.fault}: {result.outcome} {result.test} ({result.seconds} s)", file=sys.stderr, flush=True)
        return result

    pool = ThreadPoolExecutor(len(copies))
    try:
        return {result.fault: result for result in pool.map(one, placed)}
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for copy in copies:
            copy.stop()
        raise
    finally:
        pool.shutdown()


def _unsteady(copy: Copy, engine: str, results: Iterable[Result]) -> set[str]:
    """Of the tests that caught something, those that do not pass without a fault."""
    tests = sorted({one.test for one in results if one.outcome == "caught"})
    if not tests:
        return set()
    _, _, noted = copy.run(_files(tests), engine, None, tests)
    passed, failed = ({str(test) for kind, test, end, *_ in noted if end == told} for told in ("passed", "failed"))
    return {test for test in tests if test in failed or test not in passed}


@contextmanager
def copies_of(tree: Path, count: int) -> Iterator[list[Copy]]:
    with ExitStack() as stack:
        yield [stack.enter_context(copy_of(tree)) for _ in range(count)]


def _read(file: Path | None) -> dict[str, Record]:
    """What was recorded before, by fault."""
    if file is None or not file.exists():
        return {}
    return {name: Record(**one) for one in json.loads(file.read_text()) for name in one["files"]}


def _write(file: Path | None, records: Mapping[str, Record]) -> None:
    if file is not None:
        file.write_text(json.dumps([asdict(one) for one in {id(one): one for one in records.values()}.values()]))


# --------------------------------------------------------------------------------------------------------- the answer


def table(results: Iterable[Result]) -> str:
    """The results in Markdown."""
    breaks = {fault.name: fault.breaks for fault in FAULTS}
    lines = ["| fault | what it breaks | caught by | after |", "|---|---|---|---|"]
    for one in results:
        by = f"`{one.test}`" if one.outcome == "caught" else f"**{one.outcome}** ({one.tests} tests)"
        lines.append(f"| `{one.fault}` | {breaks[one.fault]} | {by} | {one.seconds:g} s |")
    return "\n".join(lines)


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Plant deliberate faults, and see which tests catch them.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="faults; all if none is named")
    parser.add_argument("--list", action="store_true", help="print the faults, and do nothing")
    parser.add_argument("--tree", type=Path, default=HERE.parent, help="the checkout that is attacked")
    parser.add_argument("--record", type=Path, metavar="FILE", help="keep what reaches which fault, or take it from it")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results as JSON too")
    parser.add_argument("--most", type=int, default=150, help="tests of other files that run for one fault")
    parser.add_argument("--limit", type=float, default=240.0, metavar="SECONDS", help="spent on one fault")
    parser.add_argument("--workers", type=int, default=1, help="faults planted at the same time")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """The exit code: 1 if any fault was not caught."""
    asked = _arguments(argv)
    unknown = {*asked.names} - {fault.name for fault in FAULTS}
    if unknown:
        raise SystemExit(f"no such fault: {', '.join(sorted(unknown))}")
    faults = [fault for fault in FAULTS if not asked.names or fault.name in asked.names]
    if asked.list:
        print("\n".join(f"{fault.name}: {fault.breaks}" for fault in faults))
        return 0
    limits = Limits(tests=asked.most, seconds=asked.limit)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that the copies are removed
    try:
        results = run(asked.tree.resolve(), faults, asked.record, limits, asked.workers)
    except FaultError as error:
        raise SystemExit(str(error)) from error
    if asked.json is not None:
        asked.json.write_text(json.dumps([asdict(one) for one in results], indent=1) + "\n")
    caught = sum(one.outcome == "caught" for one in results)
    print(f"{table(results)}\n\n{caught} of {len(results)} caught")
    return int(caught < len(results))


if __name__ == "__main__":
    sys.exit(main())
