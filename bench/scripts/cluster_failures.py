"""What machines that fail cost a store: bench/scripts/cluster_failures.sh [--part citus] [--seconds 40] [--bin FOLDER]

citus     a coordinator and two nodes; processes add and two workers settle, while a worker is killed, a node stops and
          starts again; meanwhile pages are forgotten. What was acknowledged is counted in the store afterwards.
pooler    a server behind PgBouncer in transaction mode: adds, settling and recalls.
failover  a primary and a standby, synchronous and asynchronous: the primary is killed while adds go on by a URL of both
          hosts, and the standby promoted.
rates     adds, recall, forgetting and stats on Citus and on a plain server, by turns.

Every server is started here, in a temporary folder, on loopback, and stopped at the end. Prints JSON lines.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from statistics import median
from typing import Any

import psycopg

from embermem import Memory, bootstrap, errors
from embermem.core.config import load
from embermem.store.engines.ddl import ddl
from embermem.store.sql import SqlStore

USER = "postgres"
NAME = "ember"
CLIENTS = 2
"""Processes that add to the owners of each node."""
OWNERS = 4
"""Owners of each of these processes."""
CUT_OFF_S = 1.0
"""How long before the primary fails an asynchronous standby receives nothing any more."""
PARTS = ("citus", "pooler", "failover", "rates")
SETTINGS: dict[str, Any] = {"embedder": "hashed", "background": False, "busy_timeout_s": 5.0}


def main() -> int:
    """Run the parts, and print what each found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--seconds", type=float, default=40.0, help="how long processes add, in each part")
    parser.add_argument("--bin", type=Path, default=Path("/usr/lib/postgresql/15/bin"), help="where initdb is")
    options = parser.parse_args()
    os.environ["EMBERMEM_EMBEDDER"] = "hashed"
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(1))  # servers are stopped then too
    for part in options.part or PARTS:
        began = time.monotonic()
        for row in globals()[f"{part}_part"](options.bin, options.seconds):
            print(json.dumps({"part": part, **row}), flush=True)
        print(json.dumps({"part": part, "took_s": round(time.monotonic() - began)}), flush=True)
    return 0


# ------------------------------------------------------------------------------------------------------------- servers


@dataclass(kw_only=True)
class Server:
    """A PostgreSQL in a folder, on a free port of loopback. PostgreSQL does not run as root: then as `postgres`."""

    binaries: Path
    folder: Path
    port: int = field(default_factory=lambda: free_port())

    def make(self, *settings: str) -> Server:
        self.call("initdb", "-A", "trust", "-U", USER, "-E", "UTF8", "--locale=C", "-D", str(self.folder))
        self.set(
            f"port={self.port}",
            "listen_addresses='127.0.0.1'",
            f"unix_socket_directories='{self.folder.parent}'",
            "max_connections=120",
            "max_prepared_transactions=60",
            "log_min_messages=fatal",
            *settings,
        )
        return self

    def set(self, *settings: str) -> None:
        with (self.folder / "postgresql.conf").open("a") as file:
            file.write("".join(f"{one}\n" for one in settings))

    def start(self) -> Server:
        self.call("pg_ctl", "-D", str(self.folder), "-l", f"{self.folder}.log", "-w", "start")
        return self

    def stop(self) -> None:
        """At once, as a machine that loses its power does."""
        with suppress(subprocess.CalledProcessError):
            self.call("pg_ctl", "-D", str(self.folder), "-m", "immediate", "-w", "stop")

    def call(self, name: str, *arguments: str) -> None:
        subprocess.run([self.binaries / name, *arguments], check=True, stdout=subprocess.DEVNULL, **as_user())

    def url(self, name: str = NAME) -> str:
        return f"postgresql://{USER}@127.0.0.1:{self.port}/{name}"

    def run(self, *statements: str, name: str = NAME) -> list[Any]:
        """Run statements one by one; the rows of the last."""
        with psycopg.connect(self.url(name), autocommit=True) as c:
            for statement in statements:
                done = c.execute(statement)
            return done.fetchall() if done.description else []


def as_user() -> dict[str, Any]:
    """As whom a server runs. Its nodes connect to each other: not with what root keeps in its home."""
    own = {"env": {**os.environ, "HOME": "/"}, "cwd": "/"}
    return {"user": USER, "group": USER, "extra_groups": [], **own} if os.getuid() == 0 else {}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as one:
        return int(one.getsockname()[1])


@contextmanager
def folder() -> Iterator[Path]:
    """A folder that the servers' user may write in."""
    with tempfile.TemporaryDirectory(prefix="ember-cluster-") as made:
        if os.getuid() == 0:
            shutil.chown(made, USER, USER)
        yield Path(made)


@contextmanager
def servers(binaries: Path, names: Sequence[str], *settings: str) -> Iterator[list[Server]]:
    """New servers, started; stopped at the end."""
    with folder() as place, ExitStack() as stack:
        made = []
        for name in names:
            one = Server(binaries=binaries, folder=place / name).make(*settings)
            stack.callback(one.stop)
            made.append(one.start())
        yield made


@contextmanager
def cluster(binaries: Path) -> Iterator[list[Server]]:
    """A coordinator and two nodes, with the tables of a store."""
    with servers(binaries, ("coordinator", "one", "two"), "shared_preload_libraries='citus'") as made:
        for one in made:
            one.run(f"CREATE DATABASE {NAME}", name="postgres")
            one.run("CREATE EXTENSION citus")
        first = made[0]
        first.run(f"SELECT citus_set_coordinator_host('127.0.0.1', {first.port})")
        for one in made[1:]:
            first.run(f"SELECT citus_add_node('127.0.0.1', {one.port})")
        with psycopg.connect(first.url()) as c:
            for statement in ddl("citus", halfvec=False):
                c.execute(statement)
        yield made


# --------------------------------------------------------------------------------------------------------------- adding


@dataclass(kw_only=True)
class Told:
    """What one adding process saw: (owner, text, when) of each page that was acknowledged, and (owner, kind, when) of
    each error that came to the caller."""

    acknowledged: list[tuple[str, str, float]] = field(default_factory=list)
    errors: list[tuple[str, str, float]] = field(default_factory=list)


def adding(url: str, key_file: str, owners: Sequence[str], seconds: float, pipe: Pipe) -> None:
    """Add pages to owners by turns; what fails is sent again under its key until it is acknowledged."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    told = Told()
    with Memory(url, forgotten_key_file=key_file, **SETTINGS) as memory:
        mine = [memory.of(name) for name in owners]
        pipe.send("ready")
        until = pipe.recv() + seconds
        for number in count():
            owner, text = mine[number % len(mine)], f"Page {number} of {os.getpid()}: we saw heron number {number}."
            done = False
            while not done and time.time() < until:
                try:
                    owner.add(text, "I see.", key=text)
                    told.acknowledged.append((owner.owner.user, text, time.time()))
                    done = True
                except errors.StoreError as error:
                    told.errors.append((owner.owner.user, type(error).__name__, time.time()))
            if time.time() >= until:
                break
    pipe.send(told)


class Adders:
    """Processes that add, each to owners of its own."""

    def __init__(self, url: str, key_file: Path, groups: Sequence[Sequence[str]], seconds: float) -> None:
        spawning = multiprocessing.get_context("spawn")
        self._processes = []
        for owners in groups:
            ours, theirs = spawning.Pipe()
            given = (url, str(key_file), owners, seconds, theirs)
            process = spawning.Process(target=adding, args=given, daemon=True)
            process.start()
            self._processes.append((process, ours))
        for _, pipe in self._processes:
            pipe.recv()
        self.begin_at = time.time()
        for _, pipe in self._processes:
            pipe.send(self.begin_at)

    def at(self, second: float) -> None:
        """Wait for a second of the adding."""
        time.sleep(max(0.0, self.begin_at + second - time.time()))

    def told(self) -> Told:
        """All of what they saw, once they have ended."""
        every = Told()
        for process, pipe in self._processes:
            one = pipe.recv()
            process.join(30)
            every.acknowledged += one.acknowledged
            every.errors += one.errors
        return every


def counted(memory: Memory, told: Told, forgotten: frozenset[str] = frozenset()) -> dict[str, Any]:
    """What was acknowledged, and how much of that is not stored or stored twice."""
    wanted: Counter[tuple[str, str]] = Counter(
        (user, text) for user, text, _ in told.acknowledged if text not in forgotten
    )
    found: Counter[tuple[str, str]] = Counter()
    for user in {user for user, _ in wanted}:
        found.update((user, page.query) for page in memory.of(user).pages())
    return {
        "acknowledged": len(told.acknowledged),
        "lost": sum((wanted - found).values()),
        "doubled": sum(number - 1 for number in found.values() if number > 1),
        "forgotten_again_there": sum(text in forgotten for _, text in found),
        "errors_seen": dict(Counter(kind for _, kind, _ in told.errors)),
    }


@contextmanager
def workers(url: str, key_file: Path, number: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Processes of `embermem worker`."""
    words = [sys.executable, "-m", "embermem", "--store", url, "worker"]
    own = {**os.environ, "EMBERMEM_FORGOTTEN_KEY_FILE": str(key_file)}
    made = [
        subprocess.Popen(words, env=own, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(number)
    ]
    try:
        yield made
    finally:
        for one in made:
            one.terminate()
        for one in made:
            with suppress(subprocess.TimeoutExpired):
                one.wait(20)
            one.kill()


# ---------------------------------------------------------------------------------------------------------------- parts


def citus_part(binaries: Path, seconds: float) -> Iterator[dict[str, Any]]:
    """A worker process is killed after a quarter, a node is down from three eighths to six eighths."""
    with cluster(binaries) as (first, stays, stops), tempfile.TemporaryDirectory() as keys:
        url, key_file = first.url(), Path(keys) / "key"
        with Memory(url, forgotten_key_file=str(key_file), **SETTINGS) as memory:
            of = by_node(first, memory, (stays, stops))
            for name in (of[stays.port][0], of[stops.port][0]):  # the first forgetting makes the key, on every node
                memory.of(name).forget_pages([memory.of(name).add("It rained.", at="2026-05-01T10:00:00Z")])
            groups = [some[at::CLIENTS] for some in of.values() for at in range(CLIENTS)]
            with workers(url, key_file, 2) as working:
                adders = Adders(url, key_file, groups, seconds)
                adders.at(seconds / 4)
                working[0].kill()
                adders.at(seconds * 3 / 8)
                stopped_at = time.time()
                stops.stop()
                forgotten, while_down = forgetting(memory, of[stays.port], until=adders.begin_at + seconds * 6 / 8)
                started_at = time.time()
                stops.start()
                told = adders.told()
            down = [(user, at) for user, _, at in told.acknowledged if stopped_at < at < started_at]
            errors_down = Counter(
                ("of the node that stays" if user in of[stays.port] else "of the node that is down", kind)
                for user, kind, at in told.errors
                if stopped_at <= at
            )
            settled = settled_in(memory, [*of[stays.port], *of[stops.port]])
            levels = Counter(finding.level for finding in memory.check())
            yield {
                **counted(memory, told, frozenset(forgotten)),
                "node_down_s": round(started_at - stopped_at, 1),
                "added_meanwhile_to_owners_of_the_other_node": sum(user in of[stays.port] for user, _ in down),
                "added_meanwhile_to_owners_of_the_node_that_is_down": sum(user in of[stops.port] for user, _ in down),
                "errors_by_node": {f"{who}: {kind}": number for (who, kind), number in errors_down.items()},
                **while_down,
                **settled,
                "doctor": dict(levels),
            }


def by_node(first: Server, memory: Memory, nodes: Sequence[Server]) -> dict[int, list[str]]:
    """Names of owners whose rows are on each node: as many on each."""
    found: dict[int, list[str]] = {one.port: [] for one in nodes}
    wanted = CLIENTS * OWNERS
    for number in count():
        if all(len(names) >= wanted for names in found.values()):
            return {port: names[:wanted] for port, names in found.items()}
        owner = memory.of(f"owner {number}").owner
        ((port,),) = first.run(
            f"""SELECT nodeport FROM pg_dist_placement JOIN pg_dist_node USING (groupid)
            WHERE shardid = get_shard_id_for_distribution_column('owner', '{owner.id}') AND noderole = 'primary'"""
        )
        found[port].append(owner.user)
    raise AssertionError


def opened_again(memory: Memory) -> SqlStore:
    """The store of a memory, as workers ask it."""
    return bootstrap.open_store(memory.stats().path, load())


def forgetting(memory: Memory, owners: Sequence[str], until: float) -> tuple[list[str], dict[str, Any]]:
    """Forget pages of owners of the node that stays, and read over all owners, while the other one is down."""
    forgotten: list[str] = []
    refused: Counter[str] = Counter()
    store = opened_again(memory)
    for number in count():
        if time.time() > until:
            break
        mine = memory.of(owners[number % len(owners)])
        pages = mine.pages(limit=1)
        try:
            mine.forget_pages([pages[0].id])
            forgotten.append(pages[0].query)
        except errors.StoreError as error:
            refused[type(error).__name__] += 1
        time.sleep(0.3)
    due = store.due(memory.now(), 100)
    stats = memory.stats()
    return forgotten, {
        "forgotten_meanwhile": len(forgotten),
        "forgettings_refused": dict(refused),
        "due_owners_told": len(due),
        "due_owners_of_the_node_that_is_down": sum(one.user not in owners for one in due),
        "stats_unreachable": len(stats.unreachable),
    }


def settled_in(memory: Memory, owners: Sequence[str]) -> dict[str, Any]:
    """Settle what the workers left."""
    began = time.monotonic()
    for name in owners:
        memory.of(name).settle()
    left = sum(memory.of(name).stats().without_vector for name in owners)
    return {"settled_afterwards_s": round(time.monotonic() - began, 1), "without_vector": left}


def pooler_part(binaries: Path, seconds: float) -> Iterator[dict[str, Any]]:
    """PgBouncer in transaction mode, with fewer connections to the server than clients have."""
    with servers(binaries, ("plain",)) as (server,), tempfile.TemporaryDirectory() as keys, bouncer(server) as port:
        server.run(f"CREATE DATABASE {NAME}", name="postgres")
        url = f"postgresql://{USER}@127.0.0.1:{port}/{NAME}"
        try:
            Memory(url, **SETTINGS).close()
            plain = "accepted"
        except errors.StoreError as error:
            plain = str(error).partition(": ")[2][:160]
        url, key_file = f"{url}?pool_mode=transaction", Path(keys) / "key"
        with Memory(url, forgotten_key_file=str(key_file), **SETTINGS) as memory:
            names = [f"owner {number}" for number in range(4 * OWNERS)]
            adders = Adders(url, key_file, [names[at::4] for at in range(4)], seconds / 2)
            told = adders.told()
            recalled = sum(bool(memory.of(name).recall("heron").hits) for name in names)
            yield {
                "a_url_without_pool_mode": plain,
                **counted(memory, told),
                "owners_recalled": f"{recalled} of {len(names)}",
                **settled_in(memory, names[:4]),
            }


@contextmanager
def bouncer(server: Server) -> Iterator[int]:
    """PgBouncer before a server; its port."""
    port, place = free_port(), server.folder.parent
    (place / "users.txt").write_text(f'"{USER}" ""\n')
    (place / "bouncer.ini").write_text(
        f"[databases]\n* = host=127.0.0.1 port={server.port} user={USER}\n[pgbouncer]\nlisten_addr=127.0.0.1\n"
        f"listen_port={port}\nauth_type=trust\nauth_file={place}/users.txt\npool_mode=transaction\n"
        "default_pool_size=4\nmax_client_conn=200\nunix_socket_dir=\n"
    )
    words = [shutil.which("pgbouncer") or "/usr/sbin/pgbouncer", str(place / "bouncer.ini")]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **as_user())
    try:
        reached(lambda: socket.create_connection(("127.0.0.1", port), 1).close())
        yield port
    finally:
        process.terminate()
        process.wait(20)


def reached(what: Callable[[], object]) -> None:
    """Wait until something answers."""
    for _ in range(100):
        with suppress(OSError):
            what()
            return
        time.sleep(0.1)
    raise TimeoutError


def failover_part(binaries: Path, seconds: float) -> Iterator[dict[str, Any]]:
    """The primary is killed after half of the time."""
    for synchronous in (True, False):
        with servers(binaries, ("primary",), "wal_level=replica", "hot_standby=on") as (primary,), ExitStack() as stack:
            keys = stack.enter_context(tempfile.TemporaryDirectory())
            primary.run(f"CREATE DATABASE {NAME}", name="postgres")
            standby = Server(binaries=binaries, folder=primary.folder.parent / "standby")
            source = f"host=127.0.0.1 port={primary.port} user={USER} application_name=standby"
            standby.call("pg_basebackup", "-D", str(standby.folder), "-R", "-X", "stream", "-d", source)
            standby.set(f"port={standby.port}")
            stack.callback(standby.stop)
            standby.start()
            if synchronous:
                primary.set("synchronous_standby_names='standby'", "synchronous_commit=on")
                primary.call("pg_ctl", "-D", str(primary.folder), "reload")
            key_file = Path(keys) / "key"
            hosts = f"127.0.0.1:{primary.port},127.0.0.1:{standby.port}"
            url = f"postgresql://{USER}@{hosts}/{NAME}?target_session_attrs=read-write"
            with Memory(url, forgotten_key_file=str(key_file), **SETTINGS) as memory:
                names = [f"owner {number}" for number in range(4 * OWNERS)]
                adders = Adders(url, key_file, [names[at::4] for at in range(4)], seconds / 2)
                if not synchronous:  # the network between the two fails first: the standby looks where nobody is
                    adders.at(seconds / 4 - CUT_OFF_S)
                    nobody = f"host=127.0.0.1 port={free_port()} user={USER}"
                    standby.run(f"ALTER SYSTEM SET primary_conninfo = '{nobody}'", name="postgres")
                    standby.run("SELECT pg_reload_conf()", name="postgres")
                adders.at(seconds / 4)
                primary.stop()
                killed_at = time.time()
                standby.call("pg_ctl", "-D", str(standby.folder), "-w", "promote")
                promoted_s = time.time() - killed_at
                told = adders.told()
                after = [at for _, _, at in told.acknowledged if at > killed_at]
                yield {
                    "standby": "synchronous" if synchronous else f"asynchronous, cut off {CUT_OFF_S:g} s before",
                    **counted(memory, told),
                    "promoted_after_s": round(promoted_s, 1),
                    "first_acknowledged_after_s": round(min(after) - killed_at, 1) if after else None,
                    "acknowledged_after_it": len(after),
                }


def rates_part(binaries: Path, seconds: float) -> Iterator[dict[str, Any]]:
    """Milliseconds of a call, by one process: Citus, plain, and again."""
    with cluster(binaries) as nodes, servers(binaries, ("plain",)) as (plain,), ExitStack() as stack:
        plain.run(f"CREATE DATABASE {NAME}", name="postgres")
        keys = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        took: dict[str, dict[str, list[float]]] = {}
        made = {
            name: stack.enter_context(Memory(url, forgotten_key_file=str(keys / name), **SETTINGS))
            for name, url in (("citus", nodes[0].url()), ("plain", plain.url()))
        }
        until = time.monotonic() + seconds
        for turn in count():
            if time.monotonic() > until:
                break
            for name, memory in made.items():
                one_turn(memory, turn, took.setdefault(name, {}))
        for what in took["citus"]:
            citus, beside = (median(took[name][what]) for name in ("citus", "plain"))
            yield {"call": what, "citus_ms_p50": round(citus, 1), "plain_ms_p50": round(beside, 1),
                   "ratio": round(citus / beside, 1), "calls": len(took["citus"][what])}  # fmt: skip


def one_turn(memory: Memory, turn: int, times: dict[str, list[float]]) -> None:
    """Each call, some times."""
    mine = memory.of(f"owner {turn % 8}")
    for number in range(5):
        timed(times, "add", partial(mine.add, f"We saw heron {turn} {number}.", "I see."))
    mine.settle()
    mine.recall("Which bird?")
    for _ in range(3):
        timed(times, "recall", lambda: mine.recall("Which heron?"))
    timed(times, "forget", lambda: mine.forget_pages([mine.pages(limit=1)[0].id]))
    timed(times, "stats", memory.stats)
    with closing(opened_again(memory)) as store:
        timed(times, "due", lambda: store.due(memory.now(), 10))


def timed(times: dict[str, list[float]], name: str, call: Callable[[], object]) -> None:
    began = time.perf_counter()
    call()
    times.setdefault(name, []).append((time.perf_counter() - began) * 1000)


if __name__ == "__main__":
    raise SystemExit(main())
