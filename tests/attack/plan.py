"""What is to be done in a life, made from its seed: nothing of it depends on what happens when it is lived."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import count
from random import Random
from typing import Any

from attack import words

FAULTS = ("kill", "interrupt", "full", "damage", "clock")
"""What may go wrong in a life, beside forgetting and undoing."""
NAMES: tuple[tuple[str, str], ...] = (
    ("alice", "default"),
    ("alice", "default "),
    ("Alice", "default"),
    ("al%ce", "def_ult"),
    ("'; DROP TABLE page; --", "default"),
    ("../../alice", "default/alice"),
    ("用户\u202e", "默认"),
    ("a" * 200, "\U0001d51eger"),
)
"""Users and agents, some of which look like others, or like something else than a name."""
_BUSY: dict[str, float] = {
    "add": 20,
    "batch": 12,
    "retry": 5,
    "document": 5,
    "settle": 10,
    "recall": 4,
    "read_past": 2,
    "learn": 3,
    "correct": 3,
    "rule": 3,
    "undo": 3,
    "forget": 14,
    "forget_owner": 0.6,
    "copy": 1.2,
    "export": 1,
    "dry_run": 0.7,
    "rebuild": 0.7,
    "scrub": 1,
    "reopen": 1,
}
_HOW = {"page": 5, "pages": 9, "thread": 3, "matching": 3, "segment": 2, "before": 1, "fact": 4}


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """A signal, so many seconds after an action began: SIGKILL or SIGINT, whatever the process does by then."""

    kind: str
    after_s: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Action:
    """One thing that one process does. `seed` decides what the plan cannot know, such as which page of those that are
    there; `of` is the number of the earlier action that is done again."""

    no: int
    phase: int
    worker: int
    owner: int
    kind: str
    seed: int
    how: str = ""
    of: int = -1
    keyed: bool = False
    thread: int = 0
    count: int = 1
    long: bool = False
    fault: Fault | None = None

    @property
    def content(self) -> int:
        """The number of the action that said first what this one says."""
        return self.no if self.of < 0 else self.of

    @property
    def adds(self) -> bool:
        """Whether it stores messages."""
        return self.kind in ("add", "batch", "retry")

    def __str__(self) -> str:
        told = [f"{self.no:3} phase {self.phase} process {self.worker} owner {self.owner}: {self.kind}", self.how]
        told += [f"of {self.of}"] * (self.of >= 0) + [f"{self.count} messages"] * self.adds
        told += [f"thread {self.thread}"] * self.adds + ["with a key"] * self.keyed
        told += ["long"] * self.long
        told += [] if self.fault is None else [f"({self.fault.kind} after {self.fault.after_s * 1000:.1f} ms)"]
        return " ".join(part for part in told if part)


@dataclass(frozen=True, kw_only=True, slots=True)
class Phase:
    """Actions between two moments at which all processes are at rest. In a `quiet` one a single process forgets, and
    all rows are compared before and after; in a `full` one the disk has no room left."""

    quiet: bool = False
    full: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """A life. `damage` bytes of the file are changed at its end."""

    seed: int
    owners: int
    workers: int
    model: bool
    settings: dict[str, Any]
    phases: tuple[Phase, ...]
    actions: tuple[Action, ...]
    damage: int = 0

    @property
    def full(self) -> bool:
        """Whether it needs a disk that can be filled."""
        return any(phase.full for phase in self.phases)

    def only(self, numbers: Collection[int]) -> Plan:
        """The same life with these actions alone."""
        return replace(self, actions=tuple(one for one in self.actions if one.no in numbers))

    def calm(self) -> Plan:
        """The same life without a signal."""
        return replace(self, actions=tuple(replace(one, fault=None) for one in self.actions))

    def serial(self) -> Plan:
        """The same life in one process."""
        return replace(self, actions=tuple(replace(one, worker=0) for one in self.actions))

    def action(self, no: int) -> Action:
        """The action of a number."""
        return next(one for one in self.actions if one.no == no)


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """A message of an action, and the cores of its rare words."""

    role: str
    text: str
    name: str | None = None

    @property
    def cores(self) -> set[str]:
        """Its rare words."""
        return words.found_in(self.text)


def made(seed: int, faults: Collection[str] = FAULTS, *, small: bool = False) -> Plan:
    """The life of a seed. A small one has few actions."""
    random = Random(f"life {seed}")
    owners, workers = random.randint(2, 5), random.randint(1 if small else 2, 3)
    special = random.random()
    damage = random.randint(1, 3) if "damage" in faults and special < 0.12 else 0
    full = "full" in faults and 0.12 <= special < 0.27
    phases = [Phase(), Phase(quiet=True), Phase(full=full), Phase(quiet=True)]
    phases += [] if small else [Phase(), Phase(quiet=True)]
    numbers = count()
    actions: list[Action] = []
    for number, phase in enumerate(phases):
        if phase.quiet:
            for _ in range(random.randint(1, 2)):
                actions.append(_forgetting(random, next(numbers), number, random.randrange(owners)))
            continue
        first = number == 0
        for worker in range(workers):
            for _ in range(random.randint(3, 6) if small else random.randint(8, 18)):
                own = random.randrange(owners)
                actions.append(_busy(random, next(numbers), number, worker, own, actions, faults, first=first))
    return Plan(
        seed=seed,
        owners=owners,
        workers=workers,
        model=random.random() < (0.1 if small else 0.3),
        settings=_settings(random),
        phases=tuple(phases),
        actions=tuple(actions),
        damage=damage,
    )


def said_by(plan: Plan, action: Action) -> list[Said]:
    """What an adding action says, word for word; one that is done again says what it said then."""
    number = action.content
    random, seed = Random(f"said {plan.seed} {number}"), f"{plan.seed}/{number}"
    western = (words.rare(seed, action.owner, place) for place in count())
    eastern = (words.rare(seed, action.owner, place, chinese=True) for place in count())
    if (action.how or action.kind) == "add":
        said = [Said(role="user", text=words.line(random, western, eastern, long=action.long))]
        return [*said, Said(role="assistant", text=words.reply(random, next(western)))][: action.count]
    group = random.random() < 0.25
    told: list[Said] = []
    for place in range(action.count):
        if place % 2 and not group:
            told.append(Said(role="assistant", text=words.reply(random, next(western))))
        else:
            name = random.choice(("Bob", "Ann", "李雷")) if group else None
            text = words.line(random, western, eastern, long=action.long and place == 0)
            told.append(Said(role="user", name=name, text=text))
    return told


def own_word(plan: Plan, action: Action) -> str:
    """The rare word of an action that is no adding: of a document, of a fact that is brought or corrected."""
    return words.rare(f"{plan.seed}/{action.no}", action.owner, 0)


def _busy(
    random: Random,
    no: int,
    phase: int,
    worker: int,
    owner: int,
    before: Sequence[Action],
    faults: Collection[str],
    *,
    first: bool,
) -> Action:
    kinds = {**_BUSY, **({"jump": 1.5} if "clock" in faults else {})}
    if first:  # there is little to forget yet
        kinds |= {"add": 40, "batch": 25, "forget": 3, "forget_owner": 0}
    kind = random.choices([*kinds], [*kinds.values()])[0]
    fault = _fault(random, kind, faults)
    made = Action(
        no=no,
        phase=phase,
        worker=worker,
        owner=owner,
        kind=kind,
        seed=random.getrandbits(32),
        thread=random.randrange(4),
    )
    keyed = [one for one in before if one.keyed and one.kind != "retry"]
    if kind == "retry" and keyed:
        old = random.choice(keyed)
        return replace(old, no=no, phase=phase, worker=worker, kind="retry", how=old.kind, of=old.no, fault=fault)
    if kind in ("add", "retry"):
        size, long = random.randint(1, 2), random.random() < 0.08
        return replace(made, kind="add", count=size, long=long, keyed=random.random() < 0.5, fault=fault)
    if kind == "batch":
        size, long = random.randint(1, 10), random.random() < 0.1
        return replace(made, count=size, long=long, keyed=random.random() < 0.5, fault=fault)
    if kind == "forget":
        return replace(made, how=random.choices([*_HOW], [*_HOW.values()])[0], fault=fault)
    if kind == "rule":
        return replace(made, how=random.choice(("pin", "retire", "set_profile", "settle_conflict")), fault=fault)
    return replace(made, fault=fault)


def _forgetting(random: Random, no: int, phase: int, owner: int) -> Action:
    how = random.choices([*_HOW], [*_HOW.values()])[0]
    seed = random.getrandbits(32)
    return Action(no=no, phase=phase, worker=0, owner=owner, kind="forget", how=how, seed=seed)


def _fault(random: Random, kind: str, faults: Collection[str]) -> Fault | None:
    """Signals come at random moments of an action, or of those after it; forgetting and copying meet more of them."""
    chance = random.random()
    often = 0.16 if kind in ("forget", "forget_owner", "copy", "dry_run", "scrub", "batch") else 0.06
    after_s = 10 ** random.uniform(-3.3, -0.7)
    if chance < often:
        return Fault(kind="kill", after_s=after_s) if "kill" in faults else None
    if chance < 1.5 * often:
        return Fault(kind="interrupt", after_s=after_s) if "interrupt" in faults else None
    return None


def _settings(random: Random) -> dict[str, Any]:
    return {
        "embedder": "hashed",
        "background": random.random() < 0.2,
        "poll_s": 0.05,
        "pause_s": 0.0,
        "lease_s": random.choice((0.05, 2.0)),
        "short_term_pages": random.choice((2, 3, 5)),
        "mid_term_segments": random.choice((4, 50)),
        "user_facts": random.choice((5, 100)),
        "agent_facts": 5,
        "batch_pages": random.choice((1, 2, 6)),
        "batch_wait_s": 0.0,
        "busy_timeout_s": 8.0,
        "theta": random.choice((0.3, 0.5, 0.8)),
        "placed_by": random.choice(("chain", "page")),
        "topic_linkage": random.choice((0.01, 0.3, 2.0)),
        "topic_looked_back": random.choice((2, 64)),
        "facts_when": random.choice(("read", "promoted")),
        "tau": 0.5,
        "min_new": 1,
    }
