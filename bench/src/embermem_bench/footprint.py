"""`embermem bench footprint`: bytes and milliseconds, of one version of Ember or of two beside each other.

Each measurement is a process of its own (`footprint_worker.py`) that has one of the versions on its PYTHONPATH. Where
there are two, their processes take turns, so that both see the same load of the machine. Results and rules:
docs/research/footprint.md.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import chain, count, cycle, islice
from pathlib import Path
from typing import Any

from embermem.core.errors import ConfigError, StoreError
from embermem_bench import places
from embermem_bench.datasets import load
from embermem_bench.metrics import percentile
from embermem_bench.search import made_up_words
from embermem_bench.synthetic import questions, talk

PARTS = ("bytes", "wake", "adds", "settle", "cli", "past")
"""What may be measured alone."""
BEFORE, AFTER = "before", "after"
AGENT, USER, WARM = "bench", "one", "warm"
"""`warm` is a small memory beside the one that is measured, in every store that is filled here."""
WARM_UTTERANCES = 20
WORDS = (20, 20)
"""Words of every generated text."""
E5, HASHED, DRAWN = "e5", "hashed", "drawn"
QUESTIONS = 40
"""Questions that are asked again and again, and as many that are asked once."""
FILL_STEPS, LEAST_STEP = 10, 1000
"""Each version fills so much of a store, a tenth, but not less than so many utterances, between two looks at the clock.
"""
READS, FORGOTTEN = 60, 8
"""Pages that are read, and pages that are forgotten."""
PAST_UTTERANCES = 10_000
"""The store in which pages are read as of a time and forgotten; else the largest below it."""
START_S = 120.0
"""A process that is not ready after so long has failed."""
OWNERS_EACH = 10
"""Owners to whom each process adds."""
QUICK: Mapping[str, Any] = {
    "corpus_utterances": 40,
    "sizes": (40,),
    "settled": 20,
    "rounds": 1,
    "cold_runs": 1,
    "seconds": 0.1,
    "processes": (2,),
    "add_seconds": 0.2,
    "settle_seconds": 0.1,
}
"""A plan that only shows that all runs."""

ProgressFn = Callable[[str], None]
Timed = Sequence[Sequence[float]]
"""Milliseconds of wall and of processor time, of each call."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Version:
    """One version of Ember: what it is called, and the folders of its packages."""

    label: str
    paths: tuple[Path, ...]

    @property
    def source(self) -> Path:
        """The folder of the package `embermem`."""
        return next(path / "embermem" for path in self.paths if (path / "embermem").is_dir())

    @property
    def fingerprint(self) -> str:
        """A hash of the source."""
        told = hashlib.sha256()
        for file in sorted(self.source.rglob("*.py")):
            told.update(file.read_bytes())
        return told.hexdigest()[:16]

    @property
    def commit(self) -> str:
        """The commit that is checked out, or the fingerprint."""
        told = subprocess.run(
            ["git", "-C", str(self.source), "describe", "--always", "--dirty", "--exclude=*"],
            capture_output=True,
            text=True,
            check=False,
        )
        return told.stdout.strip() or self.fingerprint


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """What is measured, and how long.

    `corpora` are files beside the generated talk, by name; of each at most `corpus_utterances` are stored, with
    `embedder`. Stores of `sizes` utterances of one owner are filled with vectors that are drawn (with the embedder, if
    that is not e5), the first `settled` utterances understood, the others only embedded; each version has
    `fill_seconds` for each store. `keep`: stores that other states of the same checkout filled are used too.
    `rounds` processes are started for each figure, each warm one for `seconds`; the command line `cold_runs` times.
    """

    parts: tuple[str, ...] = PARTS
    corpora: Mapping[str, Path] = field(default_factory=dict)
    corpus_utterances: int = 1000
    embedder: str = E5
    sizes: tuple[int, ...] = (1000, 10_000, 100_000)
    settled: int = 4000
    fill_seconds: float = 240.0
    keep: bool = False
    rounds: int = 2
    cold_runs: int = 5
    seconds: float = 4.0
    processes: tuple[int, ...] = (1, 2, 4, 8)
    add_seconds: float = 2.0
    settle_seconds: float = 8.0
    seed: int = 0

    def __post_init__(self) -> None:
        if unknown := set(self.parts) - set(PARTS):
            raise ConfigError(f"no part {', '.join(sorted(unknown))}; one of: {', '.join(PARTS)}")
        if min((self.corpus_utterances, self.rounds, *self.sizes, *self.processes)) < 1:
            raise ConfigError("sizes, rounds and processes are at least one")

    @property
    def filler(self) -> str:
        """The embedder that large stores are filled with."""
        return DRAWN if self.embedder == E5 else self.embedder


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """One line of the table: a value of each version, and the processor's milliseconds where they were measured too.
    `more`: more is better."""

    group: str
    name: str
    unit: str
    values: Mapping[str, float]
    cpu: Mapping[str, float] = field(default_factory=dict)
    more: bool = False

    @property
    def ratio(self) -> float | None:
        """After over before."""
        return _ratio(self.values)

    @property
    def cpu_ratio(self) -> float | None:
        """The same of the processor's time."""
        return _ratio(self.cpu)

    def as_json(self) -> dict[str, Any]:
        """One object."""
        return {
            "group": self.group,
            "name": self.name,
            "unit": self.unit,
            **self.values,
            "ratio": self.ratio,
            **{f"{label}_cpu_ms": value for label, value in self.cpu.items()},
            "cpu_ratio": self.cpu_ratio,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class FootprintReport:
    """`versions` are their commits, `filled` what each store holds, `seconds` those of the whole run. `failed`: a part
    did not come to its end, and `notes` say which and why."""

    versions: Mapping[str, str]
    machine: str
    embedder: str
    figures: tuple[Figure, ...]
    filled: Mapping[str, Mapping[str, Any]]
    notes: tuple[str, ...]
    failed: bool
    seconds: float

    def as_json(self) -> dict[str, Any]:
        """One object."""
        return {
            "versions": dict(self.versions),
            "machine": self.machine,
            "embedder": self.embedder,
            "figures": [figure.as_json() for figure in self.figures],
            "filled": {name: dict(one) for name, one in self.filled.items()},
            "notes": list(self.notes),
            "failed": self.failed,
            "seconds": self.seconds,
        }


def version_of(label: str, named: str) -> Version:
    """A version by its checkout, or by folders as PYTHONPATH names them. Raises ConfigError."""
    paths = [Path(part).resolve() for part in named.split(os.pathsep) if part]
    paths = [path / "src" if (path / "src" / "embermem").is_dir() else path for path in paths]
    if not any((path / "embermem").is_dir() for path in paths):
        raise ConfigError(f"{named!r} has no package embermem: name a checkout, or the folders of a PYTHONPATH")
    return Version(label=label, paths=tuple(paths))


def this_version() -> Version:
    """The version that runs."""
    import embermem

    return Version(label=AFTER, paths=(Path(embermem.__file__).resolve().parents[1],))


def run(
    folder: Path,
    plan: Plan,
    *,
    against: Version | None = None,
    vocabulary: Sequence[str] = (),
    told: ProgressFn = lambda what: None,
) -> FootprintReport:
    """Fill stores in `folder`, or take those that are there, and measure. Raises ConfigError."""
    began = time.monotonic()
    versions = (*((against,) if against is not None else ()), this_version())
    bench = _Bench(folder=folder, plan=plan, versions=versions, vocabulary=vocabulary or made_up_words(), told=told)
    failed = False
    for part in plan.parts:
        try:
            getattr(bench, part)()
        except StoreError as error:  # what the other parts find is not lost
            bench.notes.append(f"Part {part} failed: {error}")
            failed = True
    return FootprintReport(
        versions={version.label: version.commit for version in versions},
        machine=_machine(),
        embedder=plan.embedder,
        figures=tuple(bench.figures),
        filled=bench.filled,
        notes=tuple(bench.notes),
        failed=failed,
        seconds=round(time.monotonic() - began, 1),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Corpus:
    """Messages in a file, one a line; those of `warm` come first."""

    name: str
    file: Path
    users: tuple[str, ...]
    utterances: int
    letters: int


@dataclass(kw_only=True, slots=True)
class _Bench:
    folder: Path
    plan: Plan
    versions: Sequence[Version]
    vocabulary: Sequence[str]
    told: ProgressFn
    figures: list[Figure] = field(default_factory=list)
    filled: dict[str, dict[str, Any]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    # -------------------------------------------------------------------------------------------------------- parts

    def bytes(self) -> None:
        """On disk and in memory, for each corpus, with the embedder."""
        plan = self.plan
        corpora = [self._generated(plan.corpus_utterances)]
        corpora += [self._loaded(name, file, plan.corpus_utterances) for name, file in plan.corpora.items()]
        for corpus in corpora:
            name = f"{corpus.name}-{corpus.utterances}"
            self._fill(name, corpus, corpus.utterances, plan.embedder, settled=corpus.utterances)
            group = f"{corpus.name}: {corpus.utterances} utterances of {corpus.letters} letters, {plan.embedder}"
            self._sizes(name, corpus.users, plan.embedder, group)

    def wake(self) -> None:
        """Open, first and warm recall at each size, and what each takes."""
        for size in sorted(self.plan.sizes):
            name = self._large(size)
            group = f"{size:,} utterances of one owner"
            self._sizes(name, (USER,), self.plan.embedder, group)
            self._timings(name, group)

    def adds(self) -> None:
        """Durable adds by one process and by several."""
        plan, corpus = self.plan, self._generated(2000)
        with self._scratch() as scratch, ExitStack() as stack:
            self.told("adds: starting processes")
            crews = {
                version.label: stack.enter_context(_crew(self, version, scratch / f"{version.label}.db", corpus))
                for version in self.versions
            }
            sync_ms = places.sync_ms(scratch)
            for processes in plan.processes:
                found: dict[str, list[dict[str, Any]]] = {version.label: [] for version in self.versions}
                for version in self._turns():
                    self.told(f"adds: {processes} processes, {version.label}")
                    found[version.label] += crews[version.label](processes, plan.add_seconds)
                rates = {
                    label: sum(len(one["taken"]) / one["seconds"] for one in parts) / plan.rounds
                    for label, parts in found.items()
                }
                taken = {label: [t for one in parts for t in one["taken"]] for label, parts in found.items()}
                self._add("add", f"{processes} processes", "adds/s", rates, more=True)
                self._add_times("add", f"{processes} processes, p50", taken, 0.5)
            self.notes.append(f"The disk took {sync_ms:.2f} ms to keep a block for good.")

    def settle(self) -> None:
        """Pages settled by one process."""
        corpus = self._generated(20_000)
        for embedder in dict.fromkeys((HASHED, self.plan.embedder)):
            found: dict[str, dict[str, Any]] = {}
            for version in self.versions:
                self.told(f"settle: {embedder}, {version.label}")
                with self._scratch() as scratch:
                    found[version.label] = self.ask(
                        version,
                        "settle",
                        store=str(scratch / "settle.db"),
                        corpus=str(corpus.file),
                        embedder=embedder,
                        seconds=self.plan.settle_seconds,
                    )
            for key, what, unit in (
                ("pages_per_s", "pages", "pages/s"),
                ("pages_per_cpu_s", "pages by processor time", "pages/s"),
                ("of_embedder_cpu", "rate of the embedder alone that is reached, by processor time", ""),
            ):
                values = {label: one[key] for label, one in found.items()}
                self._add("settle", f"{embedder}: {what}", unit, values, more=True)

    def cli(self) -> None:
        """The command line from cold."""
        asked = questions(self.plan.seed, self.vocabulary, 1)[0]
        sizes = [size for size in sorted(self.plan.sizes) if size <= PAST_UTTERANCES] or [min(self.plan.sizes)]
        stores = {f"recall, {size:,} utterances": self._large(size) for size in sizes}
        for what, name in {"--version": None, **stores}.items():
            taken: dict[str, list[tuple[float, float]]] = {version.label: [] for version in self.versions}
            for version in self._turns(self.plan.cold_runs):
                self.told(f"cli: {what}, {version.label}")
                command = ["--version"]
                if name is not None:
                    store = str(self._store(version, name))
                    command = ["--store", store, "--user", USER, "--agent", AGENT, "recall", asked]
                taken[version.label].append(self._command(version, command))
            self._add_times("command line, from cold", what, taken, 0.0)

    def past(self) -> None:
        """One page as of a time, and one page forgotten."""
        sizes = [size for size in sorted(self.plan.sizes) if size <= PAST_UTTERANCES] or [min(self.plan.sizes)]
        name = self._large(sizes[-1])
        found: dict[str, dict[str, Any]] = {}
        for version in self.versions:
            self.told(f"past: {version.label}")
            with self._scratch() as scratch:
                store = self._store(version, name)
                shutil.copytree(store.parent, scratch / "past")
                found[version.label] = self.ask(
                    version,
                    "past",
                    store=str(scratch / "past" / store.name),
                    user=USER,
                    embedder=self.plan.filler,
                    as_of=_late(self.filled[name][version.label]["ended"]),
                    pages=READS,
                    forgotten=FORGOTTEN,
                )
        pages = max(one["pages"] for one in found.values())
        group = f"one page of {pages:,}"
        for key, what in (("plain", "read"), ("as_of", "read as of a time"), ("forget", "forget, with the scrub")):
            self._add_times(group, what, {label: one[key] for label, one in found.items()}, 0.5)
        self._add_times(group, "first read as of a time", {label: [one["first_as_of"]] for label, one in found.items()})
        self._add_times(group, "a scrub that finds nothing", {label: [one["scrub"]] for label, one in found.items()})

    # ------------------------------------------------------------------------------------------------ what parts share

    def _sizes(self, name: str, users: Sequence[str], embedder: str, group: str) -> None:
        """Bytes an utterance on disk and in memory."""
        ever: dict[str, list[list[float]]] = {}
        found: dict[str, dict[str, Any]] = {}
        store: dict[str, int] = {}
        beside: dict[str, int] = {}
        for version in self.versions:
            self.told(f"memory: {name}, {version.label}")
            held, place = self.filled[name][version.label], self._store(version, name)
            if "ever" not in held:  # the first reader may leave behind what makes the next one quicker
                held["ever"] = self._resident(version, name, users, embedder)["first"]
                self._note(version, name, held)
            ever[version.label] = held["ever"]
            found[version.label] = self._resident(version, name, users, embedder)
            whole = sum(one.stat().st_size for one in place.parent.rglob("*") if one.is_file())
            store[version.label] = place.stat().st_size // held["utterances"]
            beside[version.label] = (whole - place.stat().st_size) // held["utterances"]
        self._add(group, "on disk, the store", "bytes each", store)
        self._add(group, "on disk, files beside it", "bytes each", beside)
        for key, what in (("anon", "private"), ("file", "mapped from files"), ("peak", "at the peak")):
            if all(key in one["grown"] for one in found.values()):
                grown = {label: one["grown"][key] // one["utterances"] for label, one in found.items()}
                self._add(group, f"in memory, {what}", "bytes each", grown)
        estimate = {label: one["estimate"] // one["utterances"] for label, one in found.items()}
        self._add(group, "in memory, by its own estimate", "bytes each", estimate)
        if len(users) == 1:
            self._add_times(group, "first recall ever", ever)

    def _resident(self, version: Version, name: str, users: Sequence[str], embedder: str) -> dict[str, Any]:
        question = questions(self.plan.seed, self.vocabulary, 1)[0]
        store = str(self._store(version, name))
        return self.ask(
            version, "resident", store=store, users=list(users), warm=WARM, embedder=embedder, question=question
        )

    def _timings(self, name: str, group: str) -> None:
        asked = questions(self.plan.seed, self.vocabulary, 2 * QUESTIONS)
        keys = ("open", "first", "recall", "search", "query", "embed")
        taken: dict[str, dict[str, list[list[float]]]] = {
            key: {version.label: [] for version in self.versions} for key in keys
        }
        for version in self._turns():
            self.told(f"recall: {name}, {version.label}")
            found = self.ask(
                version,
                "wake",
                store=str(self._store(version, name)),
                user=USER,
                embedder=self.plan.embedder,
                asked=asked,
                seconds=self.plan.seconds,
            )
            for key in keys:
                taken[key][version.label] += found[key]
        self._add_times(group, "open", taken["open"])
        self._add_times(group, "first recall of a process", taken["first"])
        for key, what in (
            ("recall", "recall"),
            ("search", "search"),
            ("query", "search of a new question, with its vector"),
        ):
            for share in (0.5, 0.95):
                self._add_times(group, f"{what}, p{100 * share:.0f}", taken[key], share)
        self._add_times(group, "a question's vector, p50", taken["embed"], 0.5)

    def _turns(self, rounds: int | None = None) -> Iterator[Version]:
        """The versions, first the one, then the other, then the other way round."""
        for number in range(self.plan.rounds if rounds is None else rounds):
            yield from reversed(self.versions) if number % 2 else self.versions

    def _add(self, group: str, name: str, unit: str, values: Mapping[str, float], *, more: bool = False) -> None:
        rounded = {label: float(f"{value:.4g}") if value < 1000 else round(value) for label, value in values.items()}
        self.figures.append(Figure(group=group, name=name, unit=unit, values=rounded, more=more))

    def _add_times(self, group: str, name: str, taken: Mapping[str, Timed], share: float = 0.0) -> None:
        """The `share` of the wall and of the processor's times; 0: the least."""
        both = [
            {
                label: float(f"{percentile([one[place] for one in times], share) or 0.0:.4g}")
                for label, times in taken.items()
            }
            for place in (0, 1)
        ]
        self.figures.append(Figure(group=group, name=name, unit="ms", values=both[0], cpu=both[1]))

    # ------------------------------------------------------------------------------------------------------- processes

    def ask(self, version: Version, task: str, **arguments: Any) -> dict[str, Any]:
        """What one task found, done by a version in a process of its own. Raises StoreError."""
        done = subprocess.run(
            _python(_WORKER),
            input=json.dumps({"task": task, **arguments}) + "\n",
            capture_output=True,
            text=True,
            env=environment(version),
            check=False,
        )
        return _found(version, task, done.returncode, done.stdout, done.stderr)

    def _command(self, version: Version, arguments: Sequence[str]) -> tuple[float, float]:
        """Wall and processor milliseconds of `embermem …` from start to end. Raises StoreError."""
        began = time.perf_counter()
        with tempfile.TemporaryFile() as out:
            process = subprocess.Popen(
                _python("-m", "embermem", *arguments), stdout=out, stderr=out, env=environment(version)
            )
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            wall = 1000 * (time.perf_counter() - began)
            if process.returncode != 0:
                out.seek(0)
                raise StoreError(f"embermem {arguments[0]} of {version.label} failed:\n{out.read().decode()[-2000:]}")
        return wall, 1000 * (used.ru_utime + used.ru_stime)

    # --------------------------------------------------------------------------------------------------------- stores

    def _large(self, size: int) -> str:
        """The store of so many utterances of one owner, which begins as a copy of the next smaller one."""
        name = f"{USER}-{size}"
        if name not in self.filled:
            smaller = [one for one in sorted(self.plan.sizes) if one < size]
            base = self._large(smaller[-1]) if smaller else None
            settled = min(self.plan.settled, size) + WARM_UTTERANCES
            corpus = self._generated(max(self.plan.sizes))
            self._fill(name, corpus, size + WARM_UTTERANCES, self.plan.filler, settled=settled, base=base)
        return name

    def _fill(
        self, name: str, corpus: _Corpus, utterances: int, embedder: str, *, settled: int, base: str | None = None
    ) -> None:
        """Each version's own store, all to the same size, as far as the time allows."""
        if name in self.filled:
            return
        wanted = {"corpus": _hash_of(corpus.file, utterances), "embedder": embedder, "settled": settled}
        held: dict[str, dict[str, Any]] = {}
        for version in self.versions:
            store = self._store(version, name)
            known = self._known(version, name, wanted)
            if known is None:
                shutil.rmtree(store.parent, ignore_errors=True)
                known = {"utterances": 0, "ended": [], "cpu_s": 0.0}
                if base is not None:
                    shutil.copytree(self._store(version, base).parent, store.parent, ignore=_folders)
                    known = {key: value for key, value in self.filled[base][version.label].items() if key != "ever"}
                store.parent.mkdir(parents=True, exist_ok=True)
            held[version.label] = {**known, **wanted, "fingerprint": version.fingerprint}
        at = min(one["utterances"] for one in held.values())
        until = time.monotonic() + self.plan.fill_seconds
        while at < utterances and (time.monotonic() < until or at == 0):
            at = min(utterances, at + max(LEAST_STEP, utterances // FILL_STEPS))
            self.told(f"filling {name}: {at:,} of {utterances:,}")
            self._fill_to(name, corpus, at, embedder, settled, held)
        if at < utterances:
            self.notes.append(
                f"{name}: filled with {at:,} of {utterances:,} utterances in {self.plan.fill_seconds:g} s."
            )
        self.filled[name] = held

    def _fill_to(
        self, name: str, corpus: _Corpus, at: int, embedder: str, settled: int, held: dict[str, dict[str, Any]]
    ) -> None:
        """One step of every version that is behind, side by side: this is not measured."""
        started = []
        for version in self.versions:
            if held[version.label]["utterances"] < at:
                task = {
                    "task": "fill",
                    "store": str(self._store(version, name)),
                    "corpus": str(corpus.file),
                    "utterances": at,
                    "embedder": embedder,
                    "settled": settled,
                }
                started.append((version, _started(version, task)))
        for version, process in started:
            out, err = process.communicate()
            found = _found(version, "fill", process.returncode, out, err)
            known = held[version.label]
            known.update(
                utterances=found["utterances"],
                pages=found["pages"],
                ended=[*known["ended"], *found["ended"]],
                cpu_s=round(known["cpu_s"] + found["cpu_s"], 1),
            )
            self._note(version, name, known)

    def _note(self, version: Version, name: str, known: Mapping[str, Any]) -> None:
        """Keep what is known of a store beside its folder."""
        self._store(version, name).parent.with_suffix(".json").write_text(json.dumps(known), encoding="utf-8")

    def _known(self, version: Version, name: str, wanted: Mapping[str, Any]) -> dict[str, Any] | None:
        """What is said of a store that stands there; None if it is another."""
        told = self._store(version, name).parent.with_suffix(".json")
        if not told.exists():
            return None
        known: dict[str, Any] = json.loads(told.read_text(encoding="utf-8"))
        same = all(known[key] == value for key, value in wanted.items())
        return known if same and (self.plan.keep or known["fingerprint"] == version.fingerprint) else None

    def _store(self, version: Version, name: str) -> Path:
        """A folder for each store, so that all that lies in it belongs to it."""
        where = hashlib.sha256(str(version.source).encode()).hexdigest()[:8]
        return self.folder / f"{version.label}-{where}" / name / "memory.db"

    @contextmanager
    def _scratch(self) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(prefix="scratch-", dir=self.folder) as folder:
            yield Path(folder)

    # -------------------------------------------------------------------------------------------------------- corpora

    def _generated(self, utterances: int) -> _Corpus:
        """Generated talk of 20 words a text."""
        told = talk(self.plan.seed, self.vocabulary, words=WORDS, answer_words=WORDS)
        lines = (
            _line(USER, said.thread, {"role": role, "content": text, "at": said.at.isoformat()})
            for said in told
            for role, text in (("user", said.query), ("assistant", said.response))
        )
        return self._written("generated", lines, utterances, (USER,))

    def _loaded(self, name: str, file: Path, utterances: int) -> _Corpus:
        """The first utterances of a data set, an owner for each conversation."""
        lines, users, left = [], [], utterances
        for talk_ in load(file).conversations:
            if left <= 0:
                break
            users.append(talk_.id)
            for thread, turn in islice(talk_.turns(), left):
                message = {
                    "role": str(turn.role),
                    "content": turn.text,
                    "name": turn.speaker,
                    "at": turn.at.isoformat(),
                }
                lines.append(_line(talk_.id, thread.id, message))
                left -= 1
        return self._written(name, lines, len(lines), users)

    def _written(self, name: str, lines: Iterable[str], utterances: int, users: Sequence[str]) -> _Corpus:
        file = self.folder / f"{name}-{self.plan.seed}-{utterances}.jsonl"
        warm = talk(self.plan.seed + 1, self.vocabulary, words=WORDS, answer_words=WORDS)
        first = (
            _line(WARM, "warm", {"role": role, "content": said.query})
            for said, role in zip(islice(warm, WARM_UTTERANCES), cycle(("user", "assistant")), strict=False)
        )
        if not file.exists():
            made = file.with_suffix(".part")
            with made.open("w", encoding="utf-8") as out:
                out.writelines(chain(first, islice(lines, utterances)))
            made.rename(file)
        with file.open(encoding="utf-8") as written:
            some = [len(json.loads(line)["message"]["content"]) for line in islice(written, WARM_UTTERANCES, 5000)]
        return _Corpus(
            name=name,
            file=file,
            users=tuple(users),
            utterances=utterances + WARM_UTTERANCES,
            letters=round(statistics.mean(some)),
        )


def _folders(where: str, names: Sequence[str]) -> list[str]:
    """Folders beside a store: what was left behind for the next reader of a smaller one."""
    return [name for name in names if (Path(where) / name).is_dir()]


def _late(times: Sequence[str]) -> str:
    """One in the last quarter."""
    return times[-1 - len(times) // 4]


def _line(user: str, thread: str, message: Mapping[str, str]) -> str:
    return json.dumps({"owner": user, "thread": thread, "message": message}, ensure_ascii=False) + "\n"


def _hash_of(file: Path, lines: int) -> str:
    told = hashlib.sha256()
    with file.open("rb") as written:
        for line in islice(written, lines):
            told.update(line)
    return told.hexdigest()[:16]


# ----------------------------------------------------------------------------------------------------------- processes

_WORKER = str(Path(__file__).with_name("footprint_worker.py"))


def environment(version: Version) -> dict[str, str]:
    """Ours with this version's packages first, and without settings of Ember."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("EMBERMEM_")}
    return {**kept, "PYTHONPATH": os.pathsep.join(map(str, version.paths))}


def _python(*arguments: str) -> list[str]:
    return [sys.executable, "-P", *arguments]


def _started(version: Version, task: Mapping[str, Any]) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        _python(_WORKER),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(version),
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps(task) + "\n")
    process.stdin.flush()
    return process


def _found(version: Version, task: str, status: int, out: str, err: str) -> dict[str, Any]:
    if status != 0 or not out.strip():
        raise StoreError(f"{task} of {version.label} ({version.source}) ended with status {status}:\n{err[-3000:]}")
    found: dict[str, Any] = json.loads(out.strip().splitlines()[-1])
    return found


@contextmanager
def _crew(
    bench: _Bench, version: Version, store: Path, corpus: _Corpus
) -> Iterator[Callable[[int, float], list[dict[str, Any]]]]:
    """Processes that stand ready to add to one store: a call lets so many add for so long, to owners of their own."""
    numbers = count()
    members: list[subprocess.Popen[str]] = []
    bench.ask(version, "fill", store=str(store), corpus=str(corpus.file), utterances=2, embedder=HASHED, settled=2)
    try:
        for number in range(max(bench.plan.processes)):
            task = {"task": "add", "store": str(store), "number": number, "corpus": str(corpus.file)}
            members.append(_started(version, task))

        def add(processes: int, seconds: float) -> list[dict[str, Any]]:
            at, busy = next(numbers), members[:processes]
            for number, member in enumerate(busy):
                users = [f"{at}-{number}-{n}" for n in range(OWNERS_EACH)]
                _say(member, json.dumps({"users": users, "seconds": seconds}))
            for member in busy:
                _heard(version, member)
            for member in busy:
                _say(member, "")
            return [json.loads(_heard(version, member)) for member in busy]

        yield add
    finally:
        for member in members:
            assert member.stdin is not None
            member.stdin.close()
        for member in members:
            try:
                member.wait(START_S)
            except subprocess.TimeoutExpired:
                member.kill()
                member.wait()
            for pipe in (member.stdout, member.stderr):
                assert pipe is not None
                pipe.close()


def _say(member: subprocess.Popen[str], line: str) -> None:
    assert member.stdin is not None
    member.stdin.write(line + "\n")
    member.stdin.flush()


def _heard(version: Version, member: subprocess.Popen[str]) -> str:
    assert member.stdout is not None
    if line := member.stdout.readline():
        return line
    assert member.stderr is not None
    raise StoreError(f"a process of {version.label} that adds failed:\n{member.stderr.read()[-3000:]}")


def _ratio(values: Mapping[str, float]) -> float | None:
    before, after = values.get(BEFORE), values.get(AFTER)
    return None if not before or after is None else round(after / before, 3)


def _machine() -> str:
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.partition(":")[2].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        model = names[0] if names else model
    return f"{os.cpu_count()} cores ({model}), {platform.system()}, Python {platform.python_version()}"


# ------------------------------------------------------------------------------------------------------------ Markdown


def markdown(report: FootprintReport) -> str:
    """The table, to be pasted into a page."""
    labels = [label for label in (BEFORE, AFTER) if label in report.versions]
    both = len(labels) == 2
    heads = ["", *labels, *(["ratio", "ratio of processor time"] if both else ["processor ms"])]
    lines = []
    for group in dict.fromkeys(figure.group for figure in report.figures):
        lines += [f"**{group}**", "", _row(heads), _row(["---", *["--:"] * (len(heads) - 1)])]
        for figure in (one for one in report.figures if one.group == group):
            name = f"{figure.name}, {figure.unit}" if figure.unit else figure.name
            values = [_shown(figure.values.get(label)) for label in labels]
            tail = [_times(figure.ratio), _times(figure.cpu_ratio)] if both else [_shown(figure.cpu.get(labels[0]))]
            lines.append(_row([name, *values, *tail]))
        lines.append("")
    made = ", ".join(f"{label} {commit}" for label, commit in report.versions.items())
    lines.append(f"{report.machine}; {made}; embedder {report.embedder}; {report.seconds:.0f} s.")
    return "\n".join([*lines, *report.notes])


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _times(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
