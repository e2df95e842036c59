"""Draws small mistakes at random over all rooms of the code, plants them one at a time, and counts the tests' catches.

    python scripts/mutants.py                                  300 mutants of this tree, with the committed seed
    python scripts/mutants.py --list                           where they are, and what they change
    python scripts/mutants.py --tree ../older --record FILE    in another checkout, with its own tests

A mutant inverts a condition, moves a bound or a number by one, swaps an operator, or leaves a statement out. Each
candidate has a hash of the seed, its file, its function and its text, and the candidates with the smallest hashes are
drawn, in each room in proportion to its lines. So two versions of the code have the same mutants wherever they have the
same code. All tests run once without a mutant, in several processes, to record which test reaches which mutant. Then
each mutant is planted, and the tests that reached it run, the quickest first, until one fails.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import itertools
import json
import shutil
import sys
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fault_list import Fault
from faults import Copy, FaultError, Limits, Record, Result, Site, copies_of, planted, recorded

SEED = "ember 0.1.0"
COUNT = 300
LEAST_A_ROOM = 3
STARTED_S = 30.0
"""What the tests of a mutant may take besides four times the seconds that they took without it."""
SOURCE = Path("src") / "embermem"
_COMPARED = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
_CALCULATED = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "*", ast.Mod: "*"}


# ---------------------------------------------------------------------------------------------------------- candidates


class _Finder(ast.NodeVisitor):
    """Collects the changes that can be made inside the functions of one module."""

    def __init__(self, text: str) -> None:
        self.encoded = text.encode()
        self.found: list[tuple[str, int, int, str]] = []
        """The function's qualified name, the first and the last offset of what is replaced, and the replacement."""
        self._names: list[str] = []
        self._function = 0
        self._starts = [0]
        for line in self.encoded.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def _span(self, node: ast.AST) -> tuple[int, int]:
        first = self._starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]
        last = self._starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]
        return first, last

    def _source(self, node: ast.AST) -> str:
        first, last = self._span(node)
        return self.encoded[first:last].decode()

    def _replace(self, node: ast.AST, text: str) -> None:
        if self._function:
            self.found.append((".".join(self._names), *self._span(node), text))

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._names.append(node.name)
        for child in node.body:
            self.visit(child)
        self._names.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._names.append(node.name)
        self._function += 1
        for child in node.body:  # neither decorators nor annotations nor defaults
            self.visit(child)
        self._function -= 1
        self._names.pop()

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.visit_FunctionDef(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Raise(self, node: ast.Raise) -> None:
        """The words of an error are no behaviour."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Positions inside of an f-string are not exact."""

    def visit_Assert(self, node: ast.Assert) -> None:
        """An assertion documents what cannot be otherwise."""

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return
        if isinstance(node.value, ast.Call):
            called = self._source(node.value.func)
            if called.partition(".")[0] in ("logger", "_logger", "log", "_log", "warnings"):
                return
            self._replace(node, "pass")
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        other = _COMPARED.get(type(node.ops[0])) if len(node.ops) == 1 else None
        if other is not None:
            left, right = self._span(node.left), self._span(node.comparators[0])
            between = self.encoded[left[1] : right[0]].decode()
            # What stands around the operator may be a closing or an opening parenthesis, or the end of a line.
            was = {"<=": "<", "<": "<=", ">=": ">", ">": ">=", "!=": "==", "==": "!="}.get(other) or (
                {"is not": "is", "is": "is not", "not in": "in", "in": "not in"}[other]
            )
            if between.count(was) == 1 and self._function:
                offset = left[1] + between.encode().index(was.encode())
                self.found.append((".".join(self._names), offset, offset + len(was), other))
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        first, second = self._span(node.values[0]), self._span(node.values[1])
        between = self.encoded[first[1] : second[0]].decode()
        was, other = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        if len(node.values) == 2 and between.count(was) == 1 and self._function:
            offset = first[1] + between.encode().index(was.encode())
            self.found.append((".".join(self._names), offset, offset + len(was), other))
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        other = _CALCULATED.get(type(node.op))
        text = any(isinstance(one, ast.Constant) and isinstance(one.value, str) for one in (node.left, node.right))
        if other is not None and not text:
            left, right = self._span(node.left), self._span(node.right)
            between = self.encoded[left[1] : right[0]].decode()
            was = between.strip().strip("()").strip()
            if was in ("+", "-", "*", "/", "//", "%") and self._function:
                offset = left[1] + between.encode().index(was.encode())
                self.found.append((".".join(self._names), offset, offset + len(was), other))
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        self._replace(node.test, f"not ({self._source(node.test)})")
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._replace(node.test, f"not ({self._source(node.test)})")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self._replace(node, f"bool({self._source(node.operand)})")
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None and not isinstance(node.value, ast.Constant):
            self._replace(node.value, "None")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._replace(node, str(not node.value))
        elif isinstance(node.value, int):
            self._replace(node, str(node.value + 1))


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class _Candidate:
    """A change that could be made, and the hash by which it is drawn."""

    hash: str
    path: str
    function: str
    span: tuple[int, int]
    replacement: str


def _candidates(path: str, text: str) -> Iterator[_Candidate]:
    """The changes that can be made in a file."""
    finder = _Finder(text)
    finder.visit(ast.parse(text))
    encoded = finder.encoded
    for function, first, last, replacement in finder.found:
        begin = encoded.rfind(b"\n", 0, first) + 1
        end = (encoded.find(b"\n", last) + 1) or len(encoded)
        key = f"{SEED} {path} {function} {encoded[begin:end].decode().strip()} {first - begin} {replacement}"
        name = hashlib.sha256(key.encode()).hexdigest()[:16]
        yield _Candidate(hash=name, path=path, function=function, span=(first, last), replacement=replacement)


def _fault(text: bytes, one: _Candidate) -> Fault | None:
    """A mutant as a fault, with as many lines around it as make its text unique; None where it does not compile."""
    first, last = one.span
    begin = text.rfind(b"\n", 0, first) + 1
    end = (text.find(b"\n", last) + 1) or len(text)
    while text.count(text[begin:end]) > 1:
        if begin == 0:
            return None
        begin = text.rfind(b"\n", 0, begin - 1) + 1
    old = text[begin:end].decode()
    new = (text[begin:first] + one.replacement.encode() + text[last:end]).decode()
    try:
        ast.parse(text[:first] + one.replacement.encode() + text[last:])
    except SyntaxError:
        return None
    shown = text[first:last].decode().splitlines()[0][:50]
    breaks = f"{one.path}, {one.function}: `{shown}` becomes `{one.replacement.splitlines()[0][:50]}`"
    return Fault(name=one.hash, breaks=breaks, file=one.path, old=old, new=new, tests=("test_*.py",))


def drawn(tree: Path, count: int) -> list[Fault]:
    """The mutants of a tree: in each room as many as its lines ask for, those with the smallest hashes."""
    rooms: dict[str, list[_Candidate]] = {}
    lines: Counter[str] = Counter()
    texts: dict[str, str] = {}
    for file in sorted((tree / SOURCE).rglob("*.py")):
        path = file.relative_to(tree / SOURCE)
        texts[str(path)] = text = file.read_text(encoding="utf-8")
        room = _room(path)
        lines[room] += text.count("\n")
        rooms.setdefault(room, []).extend(_candidates(str(path), text))
    rooms = {room: found for room, found in rooms.items() if found}
    total = sum(lines[room] for room in rooms)
    shares = {room: max(LEAST_A_ROOM, round(count * lines[room] / total)) for room in rooms}
    while sum(shares.values()) > count:
        shares[max(shares, key=lambda room: shares[room])] -= 1
    while sum(shares.values()) < count:
        shares[max(shares, key=lambda room: lines[room] / shares[room])] += 1
    chosen: list[Fault] = []
    for room, share in sorted(shares.items()):
        made = (_fault(texts[one.path].encode(), one) for one in sorted(rooms[room]))
        chosen += itertools.islice(
            {fault.name: fault for fault in filter(None, itertools.islice(made, 2 * share))}.values(), share
        )
    return chosen


def _room(path: Path) -> str:
    return path.parts[0] if len(path.parts) > 1 else "."


# ------------------------------------------------------------------------------------------------------------ planting


def tests_of(fault: Fault, record: Record, limits: Limits) -> list[str]:
    """The tests that reach a mutant, the quickest first, as many as the limits allow."""
    known = {*record.reached.get(fault.name, ())} & record.seconds.keys()
    quickest = sorted(known, key=lambda test: (record.seconds[test], test))[: limits.tests]
    ends = itertools.accumulate(record.seconds[test] for test in quickest)
    return [test for test, end in zip(quickest, ends, strict=True) if end <= limits.seconds] or quickest[:1]


def run(tree: Path, faults: Sequence[Fault], file: Path | None, limits: Limits, workers: int) -> list[Result]:
    """Record, unless it was recorded before, and plant every mutant; half of them in each of two processes. A test that
    caught one and fails without it too is left out, and its mutants are planted again."""
    placed = [Site(fault=fault, path=SOURCE / fault.file) for fault in faults]
    with copies_of(tree, workers) as copies:
        if file is not None and file.exists():
            record = Record(**json.loads(file.read_text()))
        else:
            record = recorded(copies[0], tree, placed, "sqlite", workers)
            if file is not None:
                file.write_text(json.dumps(asdict(record)))
        found: dict[str, Result] = {}
        unsteady: set[str] = set()
        while placed:
            shares = [placed[at::workers] for at in range(workers)]
            plans = [
                [_planned(tree, copy, site, record, limits, unsteady) for site in share]
                for copy, share in zip(copies, shares, strict=True)
            ]
            with ThreadPoolExecutor(workers) as pool:
                for results in pool.map(_planted, copies, plans):
                    found |= {one.fault: one for one in results}
            last = [found[site.fault.name] for site in placed]
            caught = sorted({one.test for one in last if one.outcome == "caught"})
            alone = [{"id": test, "file": __file__, "text": "", "tests": [test], "seconds": 120.0} for test in caught]
            failing = {one.fault for one in _planted(copies[0], alone) if one.outcome != "missed"}
            unsteady |= failing
            placed = [
                site
                for site in placed
                if found[site.fault.name].test in failing and found[site.fault.name].outcome == "caught"
            ]
    return [found[fault.name] for fault in faults]


def _planned(
    tree: Path, copy: Copy, site: Site, record: Record, limits: Limits, without: Collection[str]
) -> dict[str, Any]:
    """A mutant as `scripts/mutant_runner.py` reads it."""
    tests = [test for test in tests_of(site.fault, record, limits) if test not in without]
    return {
        "id": site.fault.name,
        "file": str(copy.root / site.path),
        "text": planted((tree / site.path).read_text(encoding="utf-8"), site.fault),
        "tests": tests,
        "seconds": STARTED_S + 4 * sum(record.seconds[test] for test in tests),
    }


def _planted(copy: Copy, plan: Sequence[Mapping[str, Any]]) -> list[Result]:
    """What becomes of the mutants of one copy."""
    source = copy.root / "src"
    for name in ("mutant_runner.py",):
        shutil.copy(Path(__file__).with_name(name), source)
    log = source / "mutant_runner.log"
    log.unlink(missing_ok=True)
    (source / "mutant_runner.json").write_text(json.dumps(plan), encoding="utf-8")
    files = sorted({test.partition("::")[0] for one in plan for test in one["tests"]})
    _, said, _ = copy.run(files, "sqlite", None, plugins=("mutant_runner",))
    if not log.exists():
        raise FaultError(f"no mutant was planted:\n{said[-2000:]}")
    tests = {str(one["id"]): len(one["tests"]) for one in plan}
    return [
        Result(fault=fault, outcome=outcome, test=test, tests=tests[fault], seconds=seconds)
        for fault, outcome, test, seconds in map(json.loads, log.read_text(encoding="utf-8").splitlines())
    ]


def table(results: Sequence[Result], faults: Sequence[Fault]) -> str:
    """How many mutants of each room were caught, and those that were not, in Markdown."""
    known = {fault.name: fault for fault in faults}
    rooms: dict[str, Counter[str]] = {}
    for one in results:
        rooms.setdefault(_room(Path(known[one.fault].file)), Counter())[one.outcome] += 1
    lines = ["| room | mutants | caught | missed | not run by a test |", "|---|---|---|---|---|"]
    for room, sums in sorted(rooms.items()):
        missed = sums.total() - sums["caught"] - sums["no test runs it"]
        lines.append(f"| {room} | {sums.total()} | {sums['caught']} | {missed} | {sums['no test runs it']} |")
    lines += ["", *(f"- {one.outcome}: {known[one.fault].breaks}" for one in results if one.outcome != "caught")]
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """The exit code: 0 once all mutants were tried."""
    parser = argparse.ArgumentParser(description="Plant mutants drawn at random, and count those that tests catch.")
    parser.add_argument("--list", action="store_true", help="print the mutants, and do nothing")
    parser.add_argument("--tree", type=Path, default=Path(__file__).parents[1], help="the checkout that is attacked")
    parser.add_argument("--count", type=int, default=COUNT, help="how many mutants are drawn")
    parser.add_argument(
        "--record", type=Path, metavar="FILE", help="keep what reaches which mutant, or take it from it"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results as JSON too")
    parser.add_argument("--most", type=int, default=150, help="tests that run for one mutant")
    parser.add_argument("--limit", type=float, default=30.0, metavar="SECONDS", help="spent on the tests of one mutant")
    parser.add_argument("--workers", type=int, default=2, help="mutants planted at the same time")
    asked = parser.parse_args(argv)
    tree = asked.tree.resolve()
    faults = drawn(tree, asked.count)
    if asked.list:
        print("\n".join(f"{fault.name}: {fault.breaks}" for fault in faults))
        return 0
    began = time.monotonic()
    limits = Limits(tests=asked.most, seconds=asked.limit)
    try:
        results = run(tree, faults, asked.record, limits, asked.workers)
    except FaultError as error:
        raise SystemExit(str(error)) from error
    if asked.json is not None:
        asked.json.write_text(json.dumps([asdict(one) for one in results], indent=1) + "\n")
    caught = sum(one.outcome == "caught" for one in results)
    print(f"{table(results, faults)}\n\n{caught} of {len(results)} caught in {time.monotonic() - began:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
