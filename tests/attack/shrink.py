"""A failing life made shorter: actions are left out for as long as it fails in the same way."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from attack.plan import Plan

_AGAIN = 3
"""How often a life with signals is tried before it counts as one that does not fail: its moments are never the same."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Excerpt:
    """A part of a life: some of its actions, perhaps without signals and in one process."""

    numbers: tuple[int, ...]
    calm: bool = False
    serial: bool = False

    def of(self, plan: Plan) -> Plan:
        """That part of a life."""
        made = plan.only(self.numbers)
        made = made.calm() if self.calm else made
        return made.serial() if self.serial else made

    @property
    def arguments(self) -> str:
        """What names it on the command line."""
        return f"--keep {_ranges(self.numbers)}" + " --calm" * self.calm + " --serial" * self.serial


def whole(plan: Plan) -> Excerpt:
    """All of it."""
    return Excerpt(numbers=tuple(one.no for one in plan.actions))


def shrunk(plan: Plan, fails: Callable[[Plan], bool], *, tries: int, seconds: float) -> Excerpt:
    """The shortest excerpt that was found to fail, by delta debugging, within so many tries and seconds."""
    until = time.monotonic() + seconds
    left = tries

    def still(one: Excerpt) -> bool:
        nonlocal left
        made = one.of(plan)
        sure = not any(action.fault for action in made.actions) and len({a.worker for a in made.actions}) < 2
        for _ in range(1 if sure else _AGAIN):
            if left <= 0 or time.monotonic() > until:
                return False
            left -= 1
            if fails(made):
                return True
        return False

    best = whole(plan)
    for simpler in (replace(best, calm=True, serial=True), replace(best, calm=True)):
        if still(simpler):
            best = simpler
            break
    parts = 2
    while len(best.numbers) > 1 and left > 0 and time.monotonic() < until:
        size = -(-len(best.numbers) // parts)
        for begin in range(0, len(best.numbers), size):
            fewer = replace(best, numbers=best.numbers[:begin] + best.numbers[begin + size :])
            if fewer.numbers and still(fewer):
                best, parts = fewer, max(2, parts - 1)
                break
        else:
            if size == 1:
                break
            parts = min(len(best.numbers), 2 * parts)
    return best


def _ranges(numbers: Sequence[int]) -> str:
    """Numbers as 3,5-9."""
    told: list[str] = []
    for number in numbers:
        first, _, last = told[-1].partition("-") if told else ("", "", "")
        if told and int(last or first) == number - 1:
            told[-1] = f"{first}-{number}"
        else:
            told.append(str(number))
    return ",".join(told)


def numbers_of(text: str) -> tuple[int, ...]:
    """The numbers of 3,5-9. Raises ValueError."""
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return tuple(found)
