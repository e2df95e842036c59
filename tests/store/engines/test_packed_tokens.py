"""Token vectors are packed in SQLite's file: each code comes back."""

from __future__ import annotations

import zlib

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.dialects import postgresql

from embermem.store.engines.packed_tokens import PackedTokens
from embermem.store.engines.sqlite_file import AnyFile


@given(codes=st.binary())
def test_codes_come_back_as_they_were(codes: bytes) -> None:
    held = PackedTokens().process_bind_param(codes, AnyFile())
    assert PackedTokens().process_result_value(held, AnyFile()) == codes


def test_that_there_are_none_stays_told() -> None:
    cases: list[bytes | None] = [None, b""]
    assert [none for none in cases if PackedTokens().process_bind_param(none, AnyFile()) != none] == []


def test_codes_near_the_middle_take_less_and_older_ones_are_read() -> None:
    drawn = np.clip(np.rint(np.random.default_rng(1).standard_normal((14, 128)) * 2.2), -7, 7) + 8
    codes = (drawn[:, :64].astype(np.uint8) | drawn[:, 64:].astype(np.uint8) << 4).tobytes()
    held = PackedTokens().process_bind_param(codes, AnyFile())
    assert held is not None
    assert len(held) < 0.88 * len(codes)
    assert PackedTokens().process_result_value(codes, AnyFile()) == codes
    assert PackedTokens().process_bind_param(codes, postgresql.dialect()) == codes  # type: ignore[no-untyped-call]


def test_codes_that_are_all_the_same_come_back() -> None:
    codes = b"\x77" * 100_000
    held = PackedTokens().process_bind_param(codes, AnyFile())
    assert PackedTokens().process_result_value(held, AnyFile()) == codes


def test_what_is_cut_off_or_would_unpack_to_more_than_codes_do_is_not_taken_for_codes() -> None:
    held = PackedTokens().process_bind_param(bytes(range(256)) * 40, AnyFile())
    assert held is not None
    cut = held[: len(held) // 2 // 2 * 2 + 1]
    assert PackedTokens().process_result_value(cut, AnyFile()) == cut
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    bomb = b"\xe5\x02" + packer.compress(bytes(10_000_000)) + packer.flush()
    bomb += bytes(1 - len(bomb) % 2)
    assert len(PackedTokens().process_result_value(bomb, AnyFile()) or b"") == len(bomb)
