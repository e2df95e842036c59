"""`embermem bench scale`: its figures, the owners that it copies, and that nothing is left of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from running import run as run_command

from embermem import Memory
from embermem.core.errors import ConfigError, StoreError
from embermem.core.types import Owner
from embermem_bench import places
from embermem_bench.places import Copies, Place, copying
from embermem_bench.scale import AGENT, COPIES, Plan, ScaleReport, run
from embermem_bench.synthetic import exchanges
from proofs import bounded

SHORT = Plan(
    processes=(2,),
    add_seconds=0.2,
    understand_seconds=0.1,
    owners=60,
    pages=10,
    fill_seconds=60.0,
    resident_share=0.2,
    ask_seconds=0.5,
)


@pytest.fixture
def file(tmp_path: Path) -> Place:
    """A new SQLite file."""
    return places.file(tmp_path)


@pytest.fixture
def url(server_folder: Path) -> Iterator[str]:
    """The server of this run, in which nothing may be left behind."""
    import postgres

    made = postgres.server(server_folder)
    yield made.get_uri()
    with postgres._admin(made) as connection:
        left = connection.execute("SELECT datname FROM pg_database WHERE datname LIKE 'embermem_bench_%'").fetchall()
    assert left == []


def opened(place: Place) -> Memory:
    return Memory(place.where, background=False, embedder="hashed")


def copied(place: Place, pages: int = 12) -> Owner:
    """A store with one owner who was read as always, and two who are copies; the one."""
    with opened(place) as memory:
        first = memory.of("first", agent=AGENT)
        for one, _ in zip(exchanges(0), range(pages), strict=False):
            first.add(one.query, one.response)
        first.settle()
        others = [memory.of(f"copy {n}", agent=AGENT).owner for n in range(2)]
    with Copies(place, first.owner, copying(place)) as copies:
        copies.add(others)
    return first.owner


def says_the_same(place: Place) -> None:
    with opened(place) as memory:
        first, copy = (memory.of(user, agent=AGENT) for user in ("first", "copy 1"))
        assert copy.recall("What about the kiln?").text == first.recall("What about the kiln?").text
        assert copy.stats() == first.stats()
        assert [segment.id for segment in copy.segments()] == [segment.id for segment in first.segments()]
        assert all(difference.same for difference in memory.rebuild())
        assert {finding.level for finding in memory.check()} == {"ok"}
        copy.add("The kiln is broken.", "Again?")
        copy.settle()
        assert len(copy.pages()) == len(first.pages()) + 1
        assert "The kiln is broken." in copy.recall("What about the kiln?").text
        assert "The kiln is broken." not in first.recall("What about the kiln?").text


def is_whole(report: ScaleReport, engines: tuple[str, ...]) -> None:
    assert {(p.engine, p.processes, p.spread) for p in report.adds} == {
        (engine, 2, spread) for engine in engines for spread in (True, False)
    }
    for added in report.adds:
        assert added.adds > 0
        assert (added.lost, added.refused) == (0, 0)
        assert added.ms_p50 is not None
        assert 0.0 < added.ms_p50 <= (added.ms_p95 or 0.0)
        assert added.sync_ms > 0.0
    assert [(p.engine, p.embedder) for p in report.understanding] == [(one, "hashed-ngram-v1") for one in engines]
    assert all(p.pages_per_s > 0 and p.pages_per_cpu_s > 0 for p in report.understanding)
    assert [p.engine for p in report.sizes] == list(engines)
    assert all(p.complete and p.bytes_each > 10_000 and p.chars_per_page > 100 for p in report.sizes)
    assert [p.choice for p in report.recall] == ["uniform", "zipf"]
    uniform, zipf = report.recall
    assert uniform.owners == zipf.owners == 60
    assert uniform.cold == uniform.warm > 0
    assert zipf.cold + zipf.warm > 0
    for point in report.recall:
        assert point.resident_bytes_each <= point.resident_limit
        assert point.resident_bytes <= point.resident_limit
    for name in ("cold_ms_p50", "cold_ms_p95", "warm_ms_p50", "warm_ms_p95", "embed_ms_p50"):
        assert getattr(uniform, name) > 0.0


def test_a_copied_owner_is_a_whole_owner_of_its_own(file: Place) -> None:
    first = copied(file)
    with Copies(file, first, copying(file)) as copies, pytest.raises(StoreError, match="refused"):
        copies.add([first])  # it is there already
    says_the_same(file)


@pytest.mark.proof
def test_without_a_server_all_is_measured_on_a_file(tmp_path: Path) -> None:
    report = run(tmp_path, SHORT)
    is_whole(report, ("sqlite",))
    assert report.server == {}
    assert [one for one in tmp_path.rglob("*") if one.is_file()] == []


def test_owners_are_made_as_long_as_there_is_time_and_room(tmp_path: Path) -> None:
    for name, plan in (
        ("time", Plan(parts=("recall",), owners=500, pages=10, fill_seconds=0.0, ask_seconds=0.1)),
        ("room", Plan(parts=("recall",), owners=500, pages=10, fill_bytes=1, ask_seconds=0.1)),
    ):
        (tmp_path / name).mkdir()
        (size,) = run(tmp_path / name, plan).sizes
        assert (size.owners, size.complete) == (1 + COPIES, False)


def test_what_cannot_be_measured_is_refused_before_anything_begins(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no part luck; one of: adds, understanding, recall"):
        Plan(parts=("luck",))
    with pytest.raises(ConfigError, match="at least one"):
        Plan(processes=(0,))
    with pytest.raises(ConfigError, match="a server's URL"):
        run(tmp_path, SHORT, url="memory.db")
    with pytest.raises(StoreError, match="the bench's database refused"):
        run(tmp_path, SHORT, url="postgresql://nobody:secret@127.0.0.1:1/none")


def test_the_command_prints_what_was_measured(tmp_path: Path) -> None:
    quick = ("--understand-seconds", "0.1", "--owners", "3", "--pages", "5", "--ask-seconds", "0.1")
    done = run_command(tmp_path / "none.db", "bench", "scale", "--part", "recall", *quick, "--json")
    assert done.code == 0, done.err
    assert [point["engine"] for point in done.json["sizes"]] == ["sqlite"]
    assert not (tmp_path / "none.db").exists()
    assert [done.json[part] for part in ("adds", "understanding")] == [[], []], "one part alone is measured alone"
    for wrong in (("--store", "postgresql://localhost/x", "--embedded-postgres"), ("--processes", "many")):
        assert run_command(tmp_path / "none.db", "bench", "scale", *wrong).code == 2
    if bounded(False, proofs=True):
        shown = run_command(tmp_path / "none.db", "bench", "scale", "--part", "understanding", *quick)
        assert shown.code == 0, shown.err
        assert "pages per CPU second" in " ".join(shown.out.split())


@pytest.mark.postgresql
def test_a_copied_owner_is_a_whole_owner_of_its_own_on_a_server(url: str) -> None:
    with places.database(url) as place:
        copied(place)
        places.rest(place)
        places.analyse(place)
        says_the_same(place)
        assert {table.name for table in places.table_sizes(place)} >= {"owner", "utterance", "embedding"}


@pytest.mark.postgresql
@pytest.mark.proof
def test_with_a_server_both_engines_are_measured_and_its_settings_told(url: str, tmp_path: Path) -> None:
    report = run(tmp_path, SHORT, url=url)
    is_whole(report, ("sqlite", "postgresql"))
    assert report.server["server_version"]
    assert report.recall[0].engine == "postgresql"
    assert [one for one in tmp_path.rglob("*") if one.is_file()] == []


@pytest.mark.postgresql
def test_a_database_is_dropped_where_the_bench_breaks_off(url: str) -> None:
    with pytest.raises(KeyboardInterrupt), places.database(url) as place, opened(place):
        raise KeyboardInterrupt


@pytest.mark.postgresql
def test_the_server_that_it_starts_syncs_what_it_commits_and_is_gone_afterwards() -> None:
    with places.embedded() as made, places.database(made) as place:
        assert places.server_settings(place)["fsync"] == "on"
        with opened(place) as memory:
            memory.of("ada").add("I live in Oban.", "I see.")
    with pytest.raises(StoreError), places.database(made):
        pass
