"""A memory on a temporary file, with the embedder that needs no weights and a clock that the test moves."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest

from embermem import Memory, OwnerMemory
from scripted import SMALL, Clock, Opener

if TYPE_CHECKING:
    import httpx2
    from serving import Server

# No test is timed: this machine's cores are noisy. Under CI the same examples are drawn every time, so that a red run
# is the change's doing; everywhere else they are new ones, and what they find is pinned with @example.
hypothesis.settings.register_profile("here", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "here")


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
    """`--engine postgresql`: the tests of what is asked of any store, on a real PostgreSQL."""
    parser.addoption("--engine", choices=("sqlite", "postgresql"), default="sqlite", help="what memories are kept in")


@pytest.fixture(scope="session")
def engine(request: pytest.FixtureRequest) -> str:
    """What memories are kept in."""
    return str(request.config.getoption("--engine"))


@pytest.fixture(scope="session")
def server_folder(request: pytest.FixtureRequest) -> Path:
    """Where the data of this run's PostgreSQL lie; the processes of one run share it. Not below pytest's own folder,
    which is shut to the server's user."""
    run = request.getfixturevalue("testrun_uid") if "PYTEST_XDIST_WORKER" in os.environ else str(os.getpid())
    return Path(tempfile.gettempdir()) / f"embermem-postgresql-{run}"


@pytest.fixture
def place(tmp_path: Path, engine: str, request: pytest.FixtureRequest) -> Iterator[Callable[[str], str | Path]]:
    """Where a store of a name lies in this test: a file in its folder, or a database of its own."""
    with ExitStack() as stack:
        made: dict[str, str] = {}

        def named(file: str = "memory.db") -> str | Path:
            if engine == "sqlite":
                return tmp_path / file
            import postgres

            if file not in made:
                folder = request.getfixturevalue("server_folder")
                made[file] = stack.enter_context(postgres.database(folder))
            return made[file]

        yield named


@pytest.fixture
def opened(place: Callable[[str], str | Path], tmp_path: Path, clock: Clock) -> Iterator[Opener]:
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
