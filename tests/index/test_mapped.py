"""A snapshot from a file that was mapped, and what came since, is the one that is made of the store."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from growing import DIM, TOKEN_DIM, delta, empty, said
from hypothesis import given
from hypothesis import strategies as st
from test_snapshot import both_for, conversations, picture, tokens_for

from embermem.core.types import OwnerId, Utterance
from embermem.index import mapped
from embermem.index.blocks import BLOCK, Blocks, DamagedBlock, sums_of
from embermem.index.growable_array import Column
from embermem.index.snapshot import Snapshot

OWNER = OwnerId("owner")


def kept(snapshot: Snapshot, file: Path, embedder: str = "made-up") -> None:
    held = snapshot.held(embedder)
    assert held is not None
    with file.open("wb") as out:
        mapped.write(held, out)


def opened(file: Path, embedder: str = "made-up", dim: int = DIM, owner: OwnerId = OWNER) -> Snapshot | None:
    held = mapped.read(file, owner, embedder, dim, TOKEN_DIM)
    return None if held is None else Snapshot.of_held(held)


@given(conversations(), st.integers(0, 14), st.sets(st.integers(1, 14)))
def test_a_file_and_what_came_since_make_the_same_snapshot(talk: list[Utterance], cut: int, embedded: set[int]) -> None:
    def of(some: list[Utterance], before: Snapshot) -> Snapshot:
        seqs = [one.seq for one in some if one.seq in embedded]
        return before.extended(delta(some, *both_for(seqs), tokens=tokens_for(seqs)))

    whole, first = of(talk, empty()), of(talk[:cut], empty())
    with TemporaryDirectory() as folder:
        file = Path(folder) / "owner.index"
        kept(first, file)
        content = file.read_bytes()
        read = opened(file)
        assert read is not None
        assert picture(read) == picture(first)
        assert picture(of(talk[cut:], read)) == picture(whole)
        assert picture(read) == picture(first)
        late = [one.seq for one in talk[:cut] if one.seq not in embedded]  # vectors that come later than their rows
        again = opened(file)
        assert again is not None
        of_late = delta([], *both_for(late))
        assert picture(again.extended(of_late)) == picture(first.extended(of_late))
        assert file.read_bytes() == content


def test_where_a_mapped_file_could_not_be_removed_its_contents_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mapped, "_MAPS", False)
    first, file = (
        empty().extended(delta([said(1, "tea")], *both_for([1]), tokens=tokens_for([1]))),
        tmp_path / "o.index",
    )
    kept(first, file)
    content = file.read_bytes()
    read = opened(file)
    assert read is not None
    if (maps := Path("/proc/self/maps")).exists():
        assert str(file) not in maps.read_text()
    later = delta([said(2, "figs")], *both_for([2]), tokens=tokens_for([2]))
    assert picture(read.extended(later)) == picture(first.extended(later))
    assert file.read_bytes() == content


def test_a_file_of_another_owner_embedder_or_length_of_vectors_is_not_used(tmp_path: Path) -> None:
    file = tmp_path / "owner.index"
    kept(empty().extended(delta([said(1, "tea")])), file)
    assert opened(file) is not None
    assert opened(file, embedder="another") is None
    assert opened(file, dim=DIM + 4) is None
    assert opened(file, owner=OwnerId("another")) is None
    assert opened(tmp_path / "none.index") is None


def test_a_file_whose_head_is_damaged_is_not_used(tmp_path: Path) -> None:
    for at in [0, 9, 14, 40, 200]:
        file = tmp_path / "owner.index"
        kept(empty().extended(delta([said(1, "tea")])), file)
        content = bytearray(file.read_bytes())
        content[-1 - at] ^= 0x55
        file.write_bytes(content)
        assert opened(file) is None


def test_a_file_that_was_cut_off_is_not_used(tmp_path: Path) -> None:
    for length in [0, 3, 100, 5000]:
        file = tmp_path / "owner.index"
        kept(empty().extended(delta([said(1, "tea")])), file)
        file.write_bytes(file.read_bytes()[:length])
        assert opened(file) is None


def test_a_process_that_may_open_few_more_files_reads_them_and_keeps_none_open(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    file = tmp_path / "owner.index"
    built = empty().extended(delta([said(1, "tea")]))
    kept(built, file)
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (128, before[1]))
    try:
        read = [opened(file) for _ in range(150)]
        file.read_bytes()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert None not in read
    grown = built.extended(delta([said(2, "more tea")]))
    for one in (read[0], read[-1]):
        assert one is not None
        assert picture(one) == picture(built)
        assert picture(one.extended(delta([said(2, "more tea")]))) == picture(grown)


def test_a_file_tells_which_utterances_are_in_it(tmp_path: Path) -> None:
    file = tmp_path / "owner.index"
    kept(empty().extended(delta([said(1, "tea"), said(3, "figs")])), file)
    content = file.read_bytes()
    assert mapped.utterance_ids(content) == {"u1", "u3"}
    for length in range(0, len(content), 1000):
        assert mapped.utterance_ids(content[:length]) in (frozenset(), {"u1", "u3"})


def test_what_is_mapped_counts_apart_from_what_a_process_holds_alone(tmp_path: Path) -> None:
    file, talk = tmp_path / "owner.index", [said(seq, f"tea and {seq} figs") for seq in range(1, 300)]
    built = empty().extended(delta(talk))
    kept(built, file)
    read = opened(file)
    assert built.mapped_bytes == 0
    assert read is not None
    assert read.mapped_bytes > 100 * len(talk)
    assert read.nbytes < built.nbytes - read.mapped_bytes
    before = read.nbytes
    grown = read.extended(delta([said(300, "one more")]))
    assert before < grown.nbytes < before + 10_000


def test_a_column_on_a_file_grows_in_the_room_behind_it_and_then_in_a_copy() -> None:
    data = np.arange(10, dtype=np.int32)
    column = Column.on(data, 4, Blocks(sums_of(data[:4])))
    assert (column.nbytes, column.mapped_bytes) == (0, 16)
    column.extend([7, 8])
    assert (column.nbytes, column.mapped_bytes) == (8, 16)
    column.extend(range(20))
    assert column.mapped_bytes == 0
    assert column.first(6).tolist() == [0, 1, 2, 3, 7, 8]


def test_a_block_is_checked_when_it_is_first_read_and_those_that_nobody_reads_are_not() -> None:
    rows = BLOCK // 64
    data = np.random.default_rng(1).integers(0, 255, (4 * rows, 64), dtype=np.uint8)
    sums = sums_of(data[: 3 * rows + 1])
    data[rows + 3, 5] ^= 1
    column = Column.on(data, 3 * rows + 1, Blocks(sums))
    column.extend(np.zeros((1, 64), dtype=np.uint8))
    for good in ([0, rows - 1], [2 * rows, 3 * rows + 1], []):
        places = np.array(good, dtype=np.int64)
        np.testing.assert_array_equal(column.take(places), data[places])
    np.testing.assert_array_equal(column.part(2 * rows, 3 * rows), data[2 * rows : 3 * rows])
    for _ in range(2):
        with pytest.raises(DamagedBlock):
            column.take(np.array([0, rows]))
        with pytest.raises(DamagedBlock):
            column.part(0, rows + 1)
        with pytest.raises(DamagedBlock):
            column.first(1)
