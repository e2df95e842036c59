"""A memory on a store of the test's own, with the embedder that needs no weights and a clock that the test moves."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest

from embermem import Memory, OwnerMemory
from proofs import PROOFS
from scripted import SMALL, Clock, Life, Opener, Place

if TYPE_CHECKING:
    import httpx2
    from serving import Server

# No example is timed: the machine may be busy. Under CI the same examples are drawn every time, so that a red run is
# the change's doing; everywhere else they are new ones, and what they find is pinned with @example.
hypothesis.settings.register_profile("here", deadline=None, max_examples=20, derandomize=bool(os.environ.get("CI")))
hypothesis.settings.register_profile(PROOFS, deadline=None, max_examples=400)

TESTS = Path(__file__).parent
ENGINES = ("sqlite", "postgresql", "citus")
PROOF_TIMEOUT_S = 3600
"""The limit of a test with `--proofs`, which does up to ten times as much; it only ends what hangs."""
ALONE = {"real_model": "--real-model", "frameworks": "--frameworks"}
"""Rooms whose tests run by themselves, each with its option."""
CONTRACT = ("test_store_suite.py", "test_statements.py")
"""The tests that run on every engine in `make test`: what a store must do, and every statement that it sends."""
ON_CITUS = ("test_workers.py", "test_processes.py")
"""What runs on Citus besides the tests of the store."""
APPLICATIONS = ("bench", "cli", "client", "http", "mcp_server")


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """No EMBERMEM_* variable of the machine reaches a test."""
    for key in [key for key in os.environ if key.startswith("EMBERMEM_")]:
        monkeypatch.delenv(key)


@pytest.fixture
def clock() -> Clock:
    """A clock that stands still until it is told to go."""
    return Clock()


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--engine postgresql` runs the tests on a real PostgreSQL, `--engine citus` those of the store and of workers on
    the cluster that EMBERMEM_TEST_CITUS names; `--proofs` runs all of them, with more examples;
    `--real-model` runs those against a real language model, and no others (`make model-test`); `--frameworks` those of
    agent frameworks that have an environment of their own, and no others (`make frameworks`)."""
    parser.addoption("--engine", choices=ENGINES, default="sqlite", help="what memories are kept in")
    parser.addoption("--proofs", action="store_true", help="also run what is marked `proof`, with more examples")
    parser.addoption("--real-model", action="store_true", help="run the tests against a real model, and no others")
    parser.addoption("--frameworks", action="store_true", help="run the tests of the agent frameworks, and no others")


def pytest_configure(config: pytest.Config) -> None:
    """The number of examples is known before any test module is imported."""
    hypothesis.settings.load_profile(PROOFS if config.getoption("--proofs") else "here")
    if config.getoption("--engine") == "citus":
        import citus

        if not citus.URL:
            raise pytest.UsageError(f"--engine citus needs {citus.VARIABLE}: the URL of a coordinator; tests/citus.py")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A file of which no test would be selected is not imported: on PostgreSQL that is most of them."""
    if not collection_path.match("test_*.py"):
        return None
    if any(collection_path.match(f"{room}/test_*.py") != config.getoption(only) for room, only in ALONE.items()):
        return True
    if config.getoption("--engine") == "citus":
        return not on_citus(collection_path) or None
    quick_on_a_server = config.getoption("--engine") == "postgresql" and not config.getoption("--proofs")
    if not quick_on_a_server or of_the_store(collection_path):
        return None
    text = collection_path.read_text(encoding="utf-8")
    return not any(f"pytest.mark.{marker}" in text for marker in ("engines", "postgresql")) or None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Select the tests of this run."""
    engine, proofs = config.getoption("--engine"), config.getoption("--proofs")
    kept: list[pytest.Item] = []
    left: list[pytest.Item] = []
    for item in items:
        if proofs and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(PROOF_TIMEOUT_S))
        (kept if is_selected(item, engine, proofs=proofs) else left).append(item)
    config.hook.pytest_deselected(items=left)
    items[:] = kept


def is_selected(item: pytest.Item, engine: str, *, proofs: bool) -> bool:
    """Whether a test runs on an engine. On PostgreSQL these are the contract of the store and what is marked
    `engines`; with `--proofs` all tests that open a store, but not those of the applications, for which every store is
    the same."""
    if any(item.get_closest_marker(other) for other in ENGINES if other != engine):
        return False
    if item.get_closest_marker("proof") and not proofs:
        return False
    if engine == "sqlite" or item.get_closest_marker(engine):
        return True
    room = item.path.relative_to(TESTS).parts[0]
    opens_a_store = "engine" in getattr(item, "fixturenames", ()) and room not in APPLICATIONS
    if engine == "citus":
        return opens_a_store and on_citus(item.path)
    return opens_a_store and (proofs or of_the_store(item.path) or item.get_closest_marker("engines") is not None)


def of_the_store(path: Path) -> bool:
    """Whether a file's tests are those of the store itself, which run on every engine."""
    return path.parent == TESTS / "store" and path.name in CONTRACT


def on_citus(path: Path) -> bool:
    """Whether a file's tests run on Citus: those of the store, its administration included, and of workers."""
    room = path.relative_to(TESTS).parts[0]
    return room == "store" or room in ON_CITUS


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Of the tests that were named none may ask a store: nothing is wrong then."""
    if session.config.getoption("--engine") != "sqlite" and exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        session.exitstatus = pytest.ExitCode.OK


@pytest.fixture(scope="session")
def engine(request: pytest.FixtureRequest) -> str:
    """What memories are kept in."""
    return str(request.config.getoption("--engine"))


@pytest.fixture(scope="session")
def server_folder(request: pytest.FixtureRequest) -> Iterator[Path]:
    """Where the data of this run's PostgreSQL lie; the processes of one run share it, and the last one out stops it.
    Not below pytest's own folder, which is shut to the server's user."""
    run = request.getfixturevalue("testrun_uid") if "PYTEST_XDIST_WORKER" in os.environ else str(os.getpid())
    folder = memory_or_disk() / f"embermem-postgresql-{run}"
    yield folder
    import postgres

    postgres.left(folder)


def memory_or_disk() -> Path:
    """Where a server's data lie: in memory where there are 4 GB of it, for no machine loses power in a test."""
    memory = Path("/dev/shm")
    with suppress(OSError):
        if os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 4_000_000_000:
            return memory
    return Path(tempfile.gettempdir())


@pytest.fixture
def place(
    tmp_path: Path, engine: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Place]:
    """Where a store of a name lies in this test: a file in its folder, or a database of its own."""
    with ExitStack() as stack:
        made: dict[str, str] = {}

        def named(file: str = "memory.db") -> str | Path:
            if engine == "sqlite":
                (tmp_path / file).parent.mkdir(exist_ok=True)
                return tmp_path / file
            if file not in made:
                monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))  # where the key of forgotten values is kept
                made[file] = stack.enter_context(database(request))
            return made[file]

        yield named


def database(request: pytest.FixtureRequest) -> AbstractContextManager[str]:
    """A database with an empty store, on this run's PostgreSQL or on the Citus cluster."""
    if request.getfixturevalue("engine") == "citus":
        import citus

        request.getfixturevalue("cluster")
        return citus.database()
    import postgres

    return postgres.database(request.getfixturevalue("server_folder"), template=postgres.MADE)


@pytest.fixture(scope="session")
def cluster() -> Iterator[None]:
    """The databases that tests make on the Citus cluster are dropped at the end."""
    import citus

    yield
    citus.dropped()


@pytest.fixture
def opened(place: Place, tmp_path: Path, clock: Clock) -> Iterator[Opener]:
    """Opens memories with small capacities, on the test's store or one named, and closes them."""
    memories: list[Memory] = []

    def open_one(file: str = "memory.db", **settings: Any) -> Memory:
        own = {"clock": clock, "forgotten_key_file": str(tmp_path / f"{file}.key"), **SMALL, **settings}
        memory = Memory(place(file), **own)
        memories.append(memory)
        return memory

    yield open_one
    for memory in memories:
        memory.close()


@pytest.fixture(scope="session")
def lived_once(
    tmp_path_factory: pytest.TempPathFactory, engine: str, request: pytest.FixtureRequest
) -> Iterator[Callable[..., tuple[str | Path, Path, datetime]]]:
    """Stores that tests begin with, each made once a run: where it lies, closed, its key, and the time at its end."""
    had: dict[tuple[Life, str], tuple[str | Path, Path, datetime]] = {}
    if engine != "sqlite":  # asked for now, so that it outlives the databases that are given back at the end
        request.getfixturevalue("cluster" if engine == "citus" else "server_folder")
    with ExitStack() as stack:

        def once(life: Life, **settings: Any) -> tuple[str | Path, Path, datetime]:
            if (life, repr(settings)) not in had:
                folder, clock = tmp_path_factory.mktemp("lived"), Clock()
                place: str | Path = folder / "memory.db"
                if engine != "sqlite":
                    place = stack.enter_context(database(request))
                own = {"clock": clock, "forgotten_key_file": str(folder / "memory.db.key"), **SMALL, **settings}
                with Memory(place, **own) as memory:
                    life(memory, clock)
                had[life, repr(settings)] = place, folder / "memory.db.key", clock.now
            return had[life, repr(settings)]

        yield once


@pytest.fixture
def lived_in(
    lived_once: Callable[..., tuple[str | Path, Path, datetime]],
    engine: str,
    place: Place,
    tmp_path: Path,
    clock: Clock,
) -> Callable[..., str | Path]:
    """A store of the test's own that a life has filled already, with small capacities or settings of its own; the clock
    is at the life's end."""

    def filled(life: Life, file: str = "memory.db", **settings: Any) -> str | Path:
        if engine == "citus":  # a database cannot be made like another: it lives anew
            own = {"clock": clock, "forgotten_key_file": str(tmp_path / f"{file}.key"), **SMALL, **settings}
            with Memory(place(file), **own) as memory:
                life(memory, clock)
            return place(file)
        made, key, clock.now = lived_once(life, **settings)
        if isinstance(made, Path):
            shutil.copyfile(made, place(file))
        else:
            import postgres

            postgres.refill(str(place(file)), made)
        if key.exists():
            shutil.copyfile(key, tmp_path / f"{file}.key")
        return place(file)

    return filled


@pytest.fixture
def memory(opened: Opener) -> Memory:
    """An empty memory with small capacities."""
    return opened()


@pytest.fixture
def alice(memory: Memory) -> OwnerMemory:
    """One owner of it."""
    return memory.of("alice")


@pytest.fixture
def server(memory: Memory) -> Iterator[Server]:
    """A real server on loopback over `memory`, which needs no keys."""
    from serving import Server, running

    with running(memory) as url:
        yield Server(url=url, memory=memory)


@pytest.fixture
def http(server: Server) -> Iterator[httpx2.Client]:
    """A client of `server`, without a key."""
    from serving import client

    with client(server.url) as made:
        yield made
