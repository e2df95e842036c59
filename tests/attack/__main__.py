"""`python -m attack`: attack the memory for some minutes, and say what was found. See docs/reference/testing.md."""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import postgres
from attack import shrink
from attack.engines import engine_of
from attack.outcome import COUNTED, Failure, Outcome
from attack.plan import FAULTS, Plan, made
from attack.run import Lives, lives

_SEEDS = 1_000_000
"""Lives of one run; so many lie between the lives of two seeds."""
_SHOWN = 40
"""Actions of a shortest life that are shown; a longer one is shown by the command that lives it again."""
_TOLD = 600
"""Characters of what was found that are shown of each."""


@dataclass(kw_only=True, slots=True)
class Run:
    """What was found so far."""

    asked: argparse.Namespace
    began: float = field(default_factory=time.monotonic)
    total: Outcome = field(default_factory=Outcome)
    failing: Counter[str] = field(default_factory=Counter)
    failed_lives: list[int] = field(default_factory=list)

    def over(self, number: int) -> bool:
        """Whether enough lives were lived, or the time is up."""
        if self.asked.lives is not None and number >= self.asked.lives:
            return True
        limit = self.asked.minutes if self.asked.minutes is not None else (None if self.asked.lives else 2.0)
        return limit is not None and time.monotonic() - self.began > 60 * limit

    def command(self, seed: int, excerpt: str = "") -> str:
        """What lives a life again."""
        asked = self.asked
        told = f"--engine {asked.engine} --life {seed}"
        told += f" --faults={asked.faults}" if asked.faults != ",".join(FAULTS) else ""
        told += " --small" if asked.small else ""
        return f"make attack ARGS='{told}{' ' * bool(excerpt)}{excerpt}'"


def main(arguments: list[str] | None = None) -> int:
    """Exit code 0 if nothing was found, 1 if a life failed."""
    asked = _parser().parse_args(arguments)
    faults = [one for one in asked.faults.split(",") if one]
    if unknown := {*faults} - {*FAULTS}:
        _parser().error(f"unknown faults: {', '.join(sorted(unknown))}; known are {', '.join(FAULTS)}")
    run = Run(asked=asked)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    server = Path(tempfile.mkdtemp(prefix="embermem-attack-server-", dir=None)) / "data"
    server.parent.chmod(0o755)
    print(f"seed {asked.seed}, engine {asked.engine}, faults {asked.faults}", flush=True)
    try:
        if asked.engine == "postgresql":
            postgres.server(server)
        with lives(engine_of(asked.engine, server), asked.folder) as ready:
            if asked.life is not None:
                _live_one(run, ready, asked.life, faults)
            else:
                _live_many(run, ready, faults)
    except KeyboardInterrupt:
        print("stopped", flush=True)
    finally:
        postgres.left(server)
        shutil.rmtree(server.parent, ignore_errors=True)
    _tell_end(run)
    return 1 if run.failed_lives else 0


def _live_many(run: Run, ready: Lives, faults: list[str]) -> None:
    number = 0
    told = time.monotonic()
    while not run.over(number):
        seed = run.asked.seed * _SEEDS + number
        _live(run, ready, made(seed, _possible(run, faults), small=run.asked.small))
        number += 1
        if time.monotonic() - told > 60:
            told = time.monotonic()
            counts = run.total.counts
            words, kills = counts["forgotten words looked for"], counts["kills"]
            failed = len(run.failed_lives)
            print(f"  {number} lives, {words} forgotten words, {kills} kills, {failed} failing", flush=True)


def _live_one(run: Run, ready: Lives, seed: int, faults: list[str]) -> None:
    plan = made(seed, _possible(run, faults), small=run.asked.small)
    excerpt = shrink.whole(plan) if run.asked.keep is None else shrink.Excerpt(numbers=run.asked.keep)
    part = shrink.Excerpt(numbers=excerpt.numbers, calm=run.asked.calm, serial=run.asked.serial).of(plan)
    for action in part.actions:
        print(f"  {action}")
    for _ in range(run.asked.lives or 1):
        outcome = ready.live(part)
        run.total.add(outcome)
        if outcome.failures:
            run.failed_lives.append(seed)
            run.failing.update(outcome.kinds)
            _tell_failures(outcome.failures)


def _possible(run: Run, faults: list[str]) -> list[str]:
    """A server's files and its disk are its own affair."""
    return [one for one in faults if run.asked.engine == "sqlite" or one not in ("full", "damage")]


def _live(run: Run, ready: Lives, plan: Plan) -> None:
    outcome = ready.live(plan)
    run.total.add(outcome)
    if not outcome.failures:
        return
    run.failed_lives.append(plan.seed)
    new = outcome.kinds - {*run.failing}
    run.failing.update(outcome.kinds)
    if not new:
        return
    print(f"life {plan.seed} failed after {time.monotonic() - run.began:.0f} s", flush=True)
    _tell_failures(outcome.failures)
    if run.asked.tries:
        for kind in sorted(new):
            _shrink(run, ready, plan, kind)


def _shrink(run: Run, ready: Lives, plan: Plan, kind: str) -> None:
    asked = run.asked
    found: dict[int, list[Failure]] = {}

    def fails(part: Plan) -> bool:
        outcome = ready.live(part)
        run.total.counts["kills"] += outcome.counts["kills"]
        if kind in outcome.kinds:
            found[len(part.actions)] = [one for one in outcome.failures if one.kind == kind]
        return kind in outcome.kinds

    best = shrink.shrunk(plan, fails, tries=asked.tries, seconds=asked.shrink_s)
    part = best.of(plan)
    print(f"the shortest life in which {kind!r} was found has {len(part.actions)} of {len(plan.actions)} actions:")
    for action in part.actions if len(part.actions) < _SHOWN else ():
        print(f"  {action}")
    _tell_failures(found.get(len(part.actions), []))
    print(f"again: {run.command(plan.seed, best.arguments)}", flush=True)


def _tell_failures(failures: list[Failure]) -> None:
    for one in failures[:12]:
        text = str(one)
        print(f"  ! {text if len(text) <= _TOLD else text[:200] + ' … ' + text[200 - _TOLD :]}", flush=True)


def _tell_end(run: Run) -> None:
    print(f"seed {run.asked.seed}, engine {run.asked.engine}, {time.monotonic() - run.began:.0f} s")
    for name in COUNTED:
        print(f"{run.total.counts[name]:>14,} {name}")
    print(f"{len(run.failed_lives):>14,} failing lives")
    for kind, number in run.failing.most_common():
        print(f"{number:>14,} lives with: {kind}")
    for seed in run.failed_lives[:10]:
        print(f"again: {run.command(seed)}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="attack", description=__doc__)
    add = parser.add_argument
    add("--engine", choices=("sqlite", "postgresql"), default="sqlite", help="what memories are kept in")
    add("--minutes", type=float, help="how long; 2 if no number of lives is given")
    add("--lives", type=int, help="how many lives")
    add("--seed", type=int, default=1, help="the run's seed: the same lives for the same seed")
    add("--faults", default=",".join(FAULTS), help="what may go wrong, of %(default)s; '' for none")
    add("--small", action="store_true", help="short lives, as in `make test`")
    add("--tries", type=int, default=60, help="lives lived to find a shorter one that fails; 0: none")
    add("--shrink-s", type=float, default=120.0, help="and seconds for it")
    add("--life", type=int, help="live this life only")
    add("--keep", type=shrink.numbers_of, help="of it these actions only, such as 3,5-9")
    add("--calm", action="store_true", help="of it nothing is killed or interrupted")
    add("--serial", action="store_true", help="of it all is done by one process")
    add("--folder", type=Path, help="where the lives' folders are made; the system's for temporary files by default")
    return parser


if __name__ == "__main__":
    sys.exit(main())
