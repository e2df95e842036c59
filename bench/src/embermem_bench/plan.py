"""What a run of the bench is to do: which data, which systems, which seeds, how long, judged by whom."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, get_args

from embermem.core.errors import ConfigError
from embermem_bench.systems.registry import SYSTEMS

JUDGES: Final = ("strict", "lenient", "gvd")
"""The judges, by the prompts `prompts/judge_*.md`. `gvd` judges answers that have no gold one."""

Replies = Literal["short", "choice", "chat"]
"""How a question is answered: in few words; the same, but one that has no answer as LoCoMo and A-MEM ask it, by two
answers to choose from, the wrong one of the data and that it is not mentioned; or with the prompt of `chat`, as a
companion replies."""

Mode = Literal["frozen", "live", "unvisited"]
"""When questions are asked: all at the end, by a memory that counts none of them; or (`live.py`) each when it comes,
and what it was given is counted; or so, but not counted."""

_OPTION = re.compile(r"[a-z_][a-z0-9_]*")


@dataclass(frozen=True, kw_only=True, slots=True)
class SystemSpec:
    """A memory system, and the numbers of it that are changed: `amem`, `amem:recall_k=20,links=false`,
    `memoryos:preset=paper`, or `module:Class` of one's own."""

    name: str
    options: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> SystemSpec:
        """Raises ConfigError that says what is allowed. Names of options are checked when the system is opened."""
        name, colon, rest = text.strip().partition(":")
        if colon and "=" not in rest and name not in SYSTEMS:
            return cls(name=text.strip())
        if name not in SYSTEMS:
            raise ConfigError(f"no memory system {text!r}; one of: {', '.join(SYSTEMS)}, or module:Class of your own")
        options: dict[str, str] = {}
        for part in rest.split(",") if colon else ():
            key, equals, value = (piece.strip() for piece in part.partition("="))
            if not (equals and value and _OPTION.fullmatch(key)) or key in options:
                raise ConfigError(f"system {text!r}: write its options as name=value,name=value, each once")
            options[key] = value
        return cls(name=name, options=dict(sorted(options.items())))

    @property
    def label(self) -> str:
        """Its name in results: as `parse` reads it, options in the order of the alphabet."""
        options = ",".join(f"{key}={value}" for key, value in sorted(self.options.items()))
        return f"{self.name}:{options}" if options else self.name


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """What is asked for. Raises ConfigError for what cannot be run.

    `limit` questions of each conversation are drawn by the seed; None: all of them. `conversations`: only those ids.
    `budget` in tokens of the run's counter; None: each system's own. A model's replies are recorded for each seed
    apart. `mode`: when questions are asked.
    """

    data: tuple[Path, ...]
    systems: tuple[SystemSpec, ...]
    seeds: tuple[int, ...] = (0,)
    limit: int | None = None
    conversations: tuple[str, ...] = ()
    budget: int | None = None
    judges: tuple[str, ...] = ()
    replies: Replies = "short"
    mode: Mode = "frozen"

    def __post_init__(self) -> None:
        for what, given in (
            ("data set", [str(path) for path in self.data]),
            ("system", [system.label for system in self.systems]),
            ("seed", [str(seed) for seed in self.seeds]),
        ):
            if not given:
                raise ConfigError(f"a run needs at least one {what}")
            _once(what, given)
        _once("judge", list(self.judges))
        _once("conversation", list(self.conversations))
        if unknown := [name for name in self.judges if name not in JUDGES]:
            raise ConfigError(f"no judge {unknown[0]!r}; known: {', '.join(JUDGES)}")
        if self.replies not in get_args(Replies):
            raise ConfigError(f"no replies {self.replies!r}; known: {', '.join(get_args(Replies))}")
        for what, number in (("limit", self.limit), ("budget", self.budget)):
            if number is not None and number < 1:
                raise ConfigError(f"{what} = {number}: at least 1")


def _once(what: str, given: list[str]) -> None:
    if twice := [one for one in given if given.count(one) > 1]:
        raise ConfigError(f"the {what} {twice[0]} is named twice")
