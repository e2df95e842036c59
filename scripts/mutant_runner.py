"""What `scripts/mutants.py` puts into a copy of the tree: a plugin of pytest that runs each mutant's tests in a child.

The tests are collected once. A child is a copy of the process by fork. It replaces the code of the function that holds
the mutant, wherever that function is known, and runs the tests in order until one fails. The mutated file lies on the
disk meanwhile, for the processes that tests start. What a module computed while it was imported stays as it was.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

_FOLDER = Path(os.environ.get("FAULT_PROBE") or Path(__file__).parent)
PLAN = _FOLDER / "mutant_runner.json"
"""A list of objects: `id`, `file`, `text` (with the mutant; empty: none is planted), `tests` in order and `seconds`."""
RESULTS = _FOLDER / "mutant_runner.log"
"""One line of JSON for each: its id, an outcome, the test that decided it, and the seconds that it took."""
A_TEST_S = 40
_functions_of: dict[str, list[FunctionType]] = {}
"""The functions that are known in this process, by the file that they come from."""
_OPTIMIZED = 0x1
"""The flag of a function's code, which the body of a class has not."""


def pytest_runtestloop(session: Any) -> bool:
    """Run the plan in place of the tests."""
    known = {item.nodeid: item for item in session.items}
    gc.collect()
    for one in gc.get_objects():  # those that are frozen are not listed any more
        if isinstance(one, FunctionType):
            _functions_of.setdefault(one.__code__.co_filename, []).append(one)
    gc.freeze()
    for one in json.loads(PLAN.read_text(encoding="utf-8")):
        began = time.monotonic()
        items = [known[test] for test in one["tests"] if test in known]
        outcome, test = _in_a_child(one, items) if items else ("no test runs it", "")
        with RESULTS.open("a", encoding="utf-8") as log:
            log.write(json.dumps([one["id"], outcome, test, round(time.monotonic() - began, 2)]) + "\n")
    return True


def _in_a_child(one: dict[str, Any], items: Sequence[Any]) -> tuple[str, str]:
    """How a mutant's tests ended, and the test that ended them."""
    file, text = Path(one["file"]), one["text"]
    was = file.read_text(encoding="utf-8")
    if text:
        file.write_text(text, encoding="utf-8")
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        told = ("broken", "")
        try:
            if text:
                _replace(file, was, text)
            told = _run(items, sink)
        except BaseException as error:  # noqa: BLE001  the child says what it can, and ends
            told = ("broken", f"{type(error).__name__}: {error}")
        finally:
            with suppress(OSError):
                os.write(sink, (json.dumps(told) + "\n").encode())
            os._exit(0)
    os.close(sink)
    try:
        return _heard(child, source, one["seconds"])
    finally:
        os.close(source)
        if text:
            file.write_text(was, encoding="utf-8")


def _heard(child: int, source: int, seconds: float) -> tuple[str, str]:
    """What a child says: the tests that it begins, and its last word; after `seconds` it is ended."""
    end, said = time.monotonic() + seconds, b""
    while (left := end - time.monotonic()) > 0:
        if not select.select([source], [], [], left)[0]:
            break
        part = os.read(source, 65536)
        if not part:
            break
        said += part
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    lines = [json.loads(line) for line in said.decode().splitlines() if line]
    if lines and isinstance(lines[-1], list):
        return str(lines[-1][0]), str(lines[-1][1])
    return "caught", str(lines[-1]) if lines else ""  # it hung, or the process died


def _run(items: Sequence[Any], sink: int) -> tuple[str, str]:
    from _pytest.runner import runtestprotocol

    def late(*_: object) -> None:
        raise TimeoutError(f"the test took more than {A_TEST_S} s")

    signal.signal(signal.SIGALRM, late)
    for at, item in enumerate(items):
        os.write(sink, (json.dumps(item.nodeid) + "\n").encode())
        signal.alarm(A_TEST_S)
        following = items[at + 1] if at + 1 < len(items) else None
        reports = runtestprotocol(item, log=False, nextitem=following)
        signal.alarm(0)
        if any(report.failed for report in reports):
            return "caught", item.nodeid
    return "missed", ""


def _replace(file: Path, was: str, text: str) -> None:
    """Give the functions of a file that differ the code that they have in the text. Raises ValueError if none does."""
    old, new = (dict(_functions(compile(one, str(file), "exec"))) for one in (was, text))
    changed = {name: new[name] for name, code in old.items() if name in new and _differs(code, new[name])}
    if not changed:
        raise ValueError("no function differs")
    for function in _functions_of.get(str(file), ()):
        made = changed.get(function.__code__.co_qualname)
        if made is not None:
            function.__code__ = made


def _functions(code: CodeType) -> Iterator[tuple[str, CodeType]]:
    """The functions of a module and of its classes, not those inside of functions."""
    for one in code.co_consts:
        if isinstance(one, CodeType):
            if one.co_flags & _OPTIMIZED:
                yield one.co_qualname, one
            else:
                yield from _functions(one)


def _differs(one: CodeType, other: CodeType) -> bool:
    if one.co_code != other.co_code or one.co_names != other.co_names or len(one.co_consts) != len(other.co_consts):
        return True
    for mine, yours in zip(one.co_consts, other.co_consts, strict=True):
        both = isinstance(mine, CodeType) and isinstance(yours, CodeType)
        if _differs(mine, yours) if both else (type(mine), repr(mine)) != (type(yours), repr(yours)):
            return True
    return False
