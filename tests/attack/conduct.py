"""A life as it is lived: its processes, the signals that they are sent, the disk below them, and their end."""

from __future__ import annotations

import os
import selectors
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from attack import actors, checks, damage
from attack.actors import Room, jump_of
from attack.apart import apart
from attack.disk import Disk
from attack.engines import Engine
from attack.journal import Journal
from attack.outcome import Outcome
from attack.plan import Action, Phase, Plan

LONGEST_S = 120.0
"""An action that takes longer hangs; so does the looking after a life."""
_DRIVER = 99
"""The number of this process among the journals."""


def lived(plan: Plan, engine: Engine, folder: Path, model_url: str) -> Outcome:
    """Live a life in an empty folder, and look at what is left."""
    folders = {name: folder / name for name in ("store", "copies", "journals", "temporary")}
    for one in folders.values():
        one.mkdir(parents=True)
    with Disk.of(folders["store"], full=plan.full) as disk, engine.store(folders["store"]) as place:
        room = Room(
            engine=engine,
            place=place,
            **folders,
            key=folder / "forgotten.key",
            model_url=model_url,
            began=time.monotonic(),
        )
        life = _Life(plan, room, disk)
        life.live()
        engine.rest(place)
        look = damage.damaged if plan.damage else lambda plan, room: checks.checked(plan, room, life.latest_s)
        life.outcome.add(apart(lambda: look(plan, room), LONGEST_S, what="looking at what is left"))
        return life.outcome


@dataclass(kw_only=True, slots=True)
class _Worker:
    """A process, and what it still has to do."""

    number: int
    pid: int
    reading: int
    left: list[Action]
    current: int = -1
    since: float
    heard: bytes = b""
    killed: bool = False
    faults: list[tuple[float, str]] = field(default_factory=list)


class _Life:
    """The process that begins all others of a life, and waits for them."""

    def __init__(self, plan: Plan, room: Room, disk: Disk) -> None:
        self.outcome = Outcome()
        self._plan = plan
        self._room = room
        self._disk = disk
        self._journal = Journal(room.journals, _DRIVER, 0)
        self._lives = 0
        self._ahead_s = dict.fromkeys(range(plan.workers), 0.0)
        self.latest_s = 0.0
        """How far the clock that is furthest ahead has ever been."""

    def live(self) -> None:
        """One phase after the other."""
        for number, phase in enumerate(self._plan.phases):
            actions = [one for one in self._plan.actions if one.phase == number]
            if phase.full and actions:
                self._disk.fill(self._plan.seed)
                self.outcome.counts["full disks"] += 1
            for group in _groups(phase, actions):
                self._together(group, quiet=phase.quiet)
            if phase.full:
                self._disk.make_room()
            self._room.engine.rest(self._room.place)
            self._journal.say(-1, "rest")
        self.outcome.counts["lives"] += 1

    def _together(self, groups: Sequence[list[Action]], *, quiet: bool) -> None:
        """Processes at work at the same time, until the last has done its part."""
        workers = [self._begin(group[0].worker, group, quiet) for group in groups]
        with selectors.DefaultSelector() as selector:
            for one in workers:
                selector.register(one.reading, selectors.EVENT_READ, one)
            while selector.get_map():
                due = [at for one in workers for at, _ in one.faults]
                wait_s = max(0.0, min([*due, time.monotonic() + 1.0]) - time.monotonic())
                for key, _ in selector.select(wait_s):
                    worker: _Worker = key.data
                    if self._hear(worker):
                        continue
                    selector.unregister(worker.reading)
                    if (next_one := self._ended(worker, quiet)) is not None:
                        workers.append(next_one)
                        selector.register(next_one.reading, selectors.EVENT_READ, next_one)
                    workers.remove(worker)
                for one in workers:
                    self._strike(one)

    def _begin(self, number: int, actions: list[Action], quiet: bool) -> _Worker:
        reading, writing = os.pipe()
        self._lives += 1
        self.outcome.counts["processes"] += 1
        pid = os.fork()
        if pid == 0:
            os.close(reading)
            self._disk.limit_this_process()
            actors.live(self._plan, self._room, number, self._lives, writing, actions, self._ahead_s[number], quiet)
        os.close(writing)
        return _Worker(number=number, pid=pid, reading=reading, left=actions, since=time.monotonic())

    def _hear(self, worker: _Worker) -> bool:
        """Take in what a process says; False once it has ended."""
        data = os.read(worker.reading, 1 << 16)
        *lines, worker.heard = (worker.heard + data).split(b"\n")
        for line in lines:
            what, _, rest = line.decode().partition(" ")
            if what == "X":
                self.outcome.fail("an error that is not ours", rest)
                continue
            worker.since = time.monotonic()
            if what == "B" and int(rest) >= 0:
                self._begun(worker, int(rest))
        return bool(data)

    def _begun(self, worker: _Worker, no: int) -> None:
        action = next(one for one in worker.left if one.no == no)
        worker.left = [one for one in worker.left if one.no > no]
        worker.current = no
        self.outcome.counts["actions"] += 1
        if action.kind == "jump":
            self._ahead_s[worker.number] += jump_of(action)
            self.latest_s = max(self.latest_s, self._ahead_s[worker.number])
            self.outcome.counts["clock jumps"] += 1
        if action.fault is not None:
            worker.faults.append((time.monotonic() + action.fault.after_s, action.fault.kind))

    def _strike(self, worker: _Worker) -> None:
        """Send the signals that are due; end what hangs."""
        now = time.monotonic()
        due = [kind for at, kind in worker.faults if at <= now]
        worker.faults = [one for one in worker.faults if one[0] > now]
        for kind in due:
            worker.killed |= kind == "kill"
            os.kill(worker.pid, signal.SIGKILL if kind == "kill" else signal.SIGINT)
            if kind == "interrupt":
                self.outcome.counts["interrupts"] += 1
        if now - worker.since > LONGEST_S and not worker.killed:
            where = self._stack(worker.pid)
            self.outcome.fail("a hang", f"action {worker.current} took longer than {LONGEST_S:g} s: {where}")
            worker.left, worker.killed = [], True
            os.kill(worker.pid, signal.SIGKILL)

    def _stack(self, pid: int) -> str:
        """Where a process is, innermost first."""
        os.kill(pid, signal.SIGUSR1)
        time.sleep(0.5)
        with suppress(OSError):
            return " < ".join((self._room.journals / f"{pid}.trace").read_text().split("\n")[:24])
        return "nobody knows where"

    def _ended(self, worker: _Worker, quiet: bool) -> _Worker | None:
        """After a process's end: another in its place, if it was killed with something left to do."""
        os.close(worker.reading)
        _, status = os.waitpid(worker.pid, 0)
        if os.WIFSIGNALED(status) and worker.killed:
            self.outcome.counts["kills"] += 1
        elif status != 0:
            self.outcome.fail("a process died", f"at action {worker.current}, with status {status}")
        if status != 0 and worker.left:
            return self._begin(worker.number, worker.left, quiet)
        return None


def _groups(phase: Phase, actions: list[Action]) -> Iterator[list[list[Action]]]:
    """What is done at the same time: all of a phase, by processes; of a quiet one, one action after the other."""
    if phase.quiet:
        yield from ([[one]] for one in actions)
        return
    numbers = sorted({one.worker for one in actions})
    if numbers:
        yield [[one for one in actions if one.worker == number] for number in numbers]
