"""A memory on a store of the test's own, with the embedder that needs no weights and a clock that the test moves."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest

from embermem import Memory, OwnerMemory
from scripted import SMALL, Clock, Opener, Place

if TYPE_CHECKING:
    import httpx2
    from serving import Server

# No test is timed: this machine's cores are noisy. Under CI the same examples are drawn every time, so that a red run
# is the change's doing; everywhere else they are new ones, and what they find is pinned with @example.
hypothesis.settings.register_profile("here", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "here")

TESTS = Path(__file__).parent
ENGINES = ("sqlite", "postgresql")
APPLICATIONS = ("apps", "bench", "client", "inspector", "mcp_server", "service")


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
    """`--engine postgresql`: the tests that ask something of a store, on a real PostgreSQL."""
    parser.addoption("--engine", choices=ENGINES, default="sqlite", help="what memories are kept in")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is another engine's own. With PostgreSQL, leave out what asks no store too, and the applications,
    for which every store is the same: SQLite's run has them."""
    engine = config.getoption("--engine")
    others = [other for other in ENGINES if other != engine]
    kept: list[pytest.Item] = []
    left: list[pytest.Item] = []
    for item in items:
        foreign = any(item.get_closest_marker(other) for other in others)
        elsewhere = engine != "sqlite" and not (asks_a_store(item) or item.get_closest_marker(engine))
        (left if foreign or elsewhere else kept).append(item)
    config.hook.pytest_deselected(items=left)
    items[:] = kept


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Of the tests that were named none may ask a store: nothing is wrong then."""
    if session.config.getoption("--engine") != "sqlite" and exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        session.exitstatus = pytest.ExitCode.OK


def asks_a_store(item: pytest.Item) -> bool:
    """Whether a test's memory is in a store of the run's engine."""
    folder = item.path.relative_to(TESTS).parts[0]
    return "engine" in getattr(item, "fixturenames", ()) and folder not in APPLICATIONS


@pytest.fixture(scope="session")
def engine(request: pytest.FixtureRequest) -> str:
    """What memories are kept in."""
    return str(request.config.getoption("--engine"))


@pytest.fixture(scope="session")
def server_folder(request: pytest.FixtureRequest) -> Iterator[Path]:
    """Where the data of this run's PostgreSQL lie; the processes of one run share it, and the last one out stops it.
    Not below pytest's own folder, which is shut to the server's user."""
    run = request.getfixturevalue("testrun_uid") if "PYTEST_XDIST_WORKER" in os.environ else str(os.getpid())
    folder = Path(tempfile.gettempdir()) / f"embermem-postgresql-{run}"
    yield folder
    import postgres

    postgres.left(folder)


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
            import postgres

            if file not in made:
                monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))  # where the key of forgotten values is kept
                folder = request.getfixturevalue("server_folder")
                made[file] = stack.enter_context(postgres.database(folder, template=postgres.MADE))
            return made[file]

        yield named


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
