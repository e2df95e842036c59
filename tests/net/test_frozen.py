"""The frozen stores, also the one that was migrated, open, hold what they held, and work as one that is made today."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from running import run

from embermem import Memory, OwnerMemory
from embermem.bootstrap import migrate_store
from embermem.core.changes import Cause, Decision
from embermem.core.config import load
from embermem.core.errors import InputError
from embermem.store import migrations, schema
from net import outputs, stores
from net.golden import compare
from net.life import MIDDLE, QUESTIONS, said
from net.outputs import owners_of
from proofs import bounded
from readings import assert_folded_alike
from soundness import assert_sound, assert_tiers, rows

SAID = "SELECT owner_id, seq, id, page_id, thread, role, speaker, text, said_at FROM utterance ORDER BY owner_id, seq"


@pytest.fixture(scope="module", params=(*stores.SCHEMAS, stores.MIGRATED))
def frozen(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Memory]]:
    """A frozen store on a copy, opened; sound at the end. Tests share it, and change nothing in it."""
    with thawed(str(request.param), tmp_path_factory.mktemp("frozen")) as opened:
        yield opened


@contextmanager
def thawed(name: str, folder: Path) -> Iterator[tuple[Path, Memory]]:
    """The copy of a frozen store, and a memory on it."""
    file = stores.thaw(name, folder)
    with stores.opened(file, embedder="auto") as memory:
        yield file, memory
    assert_sound(file)


def decided(place: str | Path) -> list[tuple[str, str]]:
    """The cause of each change and the stored tag of each of its decisions, in order."""
    found = rows(place, "SELECT owner_id, no, cause, decisions FROM change ORDER BY owner_id, no")
    return [(row["cause"], tag) for row in found for tag, _ in json.loads(row["decisions"])]


# ------------------------------------------------------------------------------------------------------- what is there


def test_the_frozen_stores_are_of_every_schema_that_can_be_opened_and_small(tmp_path: Path) -> None:
    assert (*migrations.STEPS, schema.HEAD) == stores.SCHEMAS
    for name in (*stores.SCHEMAS, stores.MIGRATED):
        assert sum(file.stat().st_size for file in stores.FROZEN.glob(f"{name}*")) < 600_000
        file = stores.thaw(name, tmp_path)
        assert rows(file, f"SELECT * FROM {migrations.VERSION_TABLE}") == [{"version_num": name[:4]}]
        assert 20 <= rows(file, "SELECT count(*) AS n FROM page")[0]["n"] <= 80


def test_the_store_of_today_holds_every_kind_of_decision_and_every_cause(tmp_path: Path) -> None:
    file = stores.thaw(stores.TODAY, tmp_path)
    causes = {cause.value for cause in Cause}
    assert {row["cause"] for row in rows(file, "SELECT cause FROM change")} == causes
    assert {tag for _, tag in decided(file)} == TAGS
    assert len(Decision.__args__) == len(TAGS)


TAGS = frozenset(
    """
    Embedded Noted ChainSummarised Placed SegmentWritten SegmentGrew Analysed FactAdded FactStrengthened FactRetired
    FactArchived FactRestored FactPinned FactExpires ConflictSettled FactAffirmed FactDenied FactBarred
    TextsBarred Erased TraitCleared Undone BegunAnew TraitSet ProfileSet PersonRelated Evicted SegmentEnded
    Visited
    """.split()
)
"""The tags under which decisions are stored, written out: no class may give another one."""


# ----------------------------------------------------------------------------------------------------- what it holds


def test_it_holds_what_it_held_and_every_read_answers(frozen: tuple[Path, Memory], tmp_path: Path) -> None:
    file, memory = frozen
    name = file.stem
    before = rows(stores.thaw(name, tmp_path), SAID)
    found = {(one.id, one.text) for mine in owners_of(memory).values() for one in mine.utterances()}
    assert rows(file, SAID) == before
    assert found == {(row["id"], row["text"]) for row in before}
    texts = {row["text"] for row in before}
    assert {text for _, text in said() if text not in texts} == FORGOTTEN

    if file.stem == stores.TODAY:  # of that there is more in test_golden.py
        for mine in owners_of(memory).values():
            assert_folded_alike(mine, file)
    else:
        compare(f"store-{file.stem}", outputs.brief(memory))

    every = bounded(8, proofs=1)
    known = () if file.stem == stores.TODAY else OF_A_MIGRATION
    assert [what for what in wrong(memory) if not what.endswith(known)] == []
    assert_tiers(memory)
    for user, mine in [*owners_of(memory).items()][:: bounded(2, proofs=1)]:
        everything_answers(user, mine, every)
    the_middle_stands(memory.of("alice", "tutor"))


FORGOTTEN = frozenset(
    {
        "The spare key lies under the blue flower pot by the cellar door.",
        "I will keep that to myself.",
    }
)
"""What the owners forget."""


def wrong(memory: Memory, *, deep: bool = True) -> list[str]:
    """What the doctor, who looks at every row, does not find as it must be."""
    found = [one.what for one in memory.check(deep=deep) if one.level != "ok"]
    return [what for what in found if "facts that have expired" not in what]  # a plan of which the day has gone by


OF_A_MIGRATION = ("a scrub is due", "differs from the log: fact_state")
"""What the doctor finds in a migrated store until `scrub` and `rebuild`."""


def everything_answers(user: str, mine: OwnerMemory, every: int = 1) -> None:
    """All reads; of items and changes, of which there are many, only so many."""
    for preset in ("default", "paper"):
        context = mine.recall(QUESTIONS[user][0], preset=preset)
        assert context.hits
        assert context.text
        assert str(context.explain())
    facts = (*mine.facts(), *mine.facts(archived=True), *mine.past_facts())
    segments = (*mine.segments(), *mine.segments(archived=True))
    items = [*(fact.id for fact in facts), *(segment.id for segment in segments)]
    assert mine.pages()
    assert facts
    for item in items[:: 2 * every]:
        assert mine.history(item)
        assert str(mine.why(item)).startswith(("fact ", "segment "))
    refused = 0
    for change in mine.changes()[::every]:
        try:
            assert mine.undo_plan(change.no)
        except InputError:
            refused += 1  # it taught nothing, or is undone
    assert refused < len(mine.changes())


def the_middle_stands(alice: OwnerMemory) -> None:
    assert [line.value for line in alice.profile() if line.name == "home"] == ["Nantes"]
    assert [line.value for line in alice.profile(as_of=MIDDLE) if line.name == "home"] == ["Lyon"]
    facts = (*alice.facts(as_of=MIDDLE), *alice.facts(archived=True, as_of=MIDDLE))
    assert "Lyon" in {fact.value for fact in facts}
    assert "Nantes" not in {fact.value for fact in facts}
    assert "Nantes" not in alice.recall(QUESTIONS["alice"][0], as_of=MIDDLE).text
    threads = {page.thread for page in alice.pages(as_of=MIDDLE)}
    assert "garden" in threads
    assert "moving" not in threads
    assert alice.segments(as_of=MIDDLE)
    assert "Nantes" in str(alice.diff(MIDDLE))


@pytest.mark.parametrize("name", bounded([stores.MIGRATED], proofs=[*stores.SCHEMAS, stores.MIGRATED]))
def test_its_log_gives_the_same_again_life_goes_on_and_a_page_is_forgotten(tmp_path: Path, name: str) -> None:
    with thawed(name, tmp_path) as (_, memory):
        assert [one.same for one in memory.rebuild()] == [True] * len(memory.owners())
        life_goes_on(memory.of("alice", "tutor"))
        assert memory.scrub()
        assert wrong(memory) == []


def life_goes_on(mine: OwnerMemory) -> None:
    new = mine.add("I moved to Oslo. I keep a parrot called Quirin.", "Quirin!", thread="new")
    mine.settle()
    assert new in [hit.utterance.page_id for hit in mine.recall("What is the parrot called?").hits[:3]]
    (oslo,) = [fact for fact in mine.facts() if fact.value == "Oslo"]
    assert mine.undo(oslo.change_no)
    page = mine.pages()[1]
    receipt = mine.forget(page=page.id)
    assert receipt.pages == (page.id,)
    found = mine.verify(receipt.to_json())
    assert (found.found, found.unchecked) == ((), "")
    assert page.id not in [one.id for one in mine.pages()]


@pytest.mark.proof  # tests/cli/test_moving_cli.py moves a life of today
def test_an_export_is_imported_elsewhere_as_the_same_memory(tmp_path: Path) -> None:
    file, out, other = stores.thaw(stores.TODAY, tmp_path), tmp_path / "out.jsonl", tmp_path / "other.db"
    with stores.opened(file) as memory:
        before = told(memory)
    assert run(file, "export", str(out)).code == 0
    done = run(other, "import", str(out), "--json")
    assert done.code == 0, done.err
    with stores.opened(other) as there:
        assert told(there) == before


def told(memory: Memory) -> dict[str, list[tuple[str, str]]]:
    """Ids and words of what each owner said and knows."""
    return {
        user: [(one.id, one.text) for one in (*mine.utterances(), *mine.facts(), *mine.facts(archived=True))]
        for user, mine in owners_of(memory).items()
    }


# -------------------------------------------------------------------------------------------------------- on a server


@pytest.mark.proof
@pytest.mark.postgresql
@pytest.mark.parametrize("name", stores.SCHEMAS)
def test_the_dump_of_a_server_is_the_same_store_and_works(tmp_path: Path, server_folder: Path, name: str) -> None:
    on_file = stores.thaw(name, tmp_path)
    with stores.thawed_on_a_server(tmp_path, server_folder, name) as (url, key_file):
        assert sorted(map(str, rows(url, SAID))) == sorted(map(str, rows(on_file, SAID)))
        assert sorted(decided(url)) == sorted(decided(on_file))
        assert migrate_store(url, load()) == (name, schema.HEAD)
        with stores.opened(url, forgotten_key_file=str(key_file)) as memory:
            if name != stores.TODAY:
                compare(f"store-{name}", outputs.brief(memory))
                assert memory.scrub()
            assert wrong(memory) == []
            assert [one.same for one in memory.rebuild()] == [True] * len(memory.owners())
            assert_tiers(memory)
            for user, mine in owners_of(memory).items():
                everything_answers(user, mine)
            the_middle_stands(memory.of("alice", "tutor"))
            life_goes_on(memory.of("alice", "tutor"))
            assert wrong(memory) == []
        assert_sound(url)
