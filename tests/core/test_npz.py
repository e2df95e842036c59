"""Files of arrays that numpy wrote."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from embermem.core import npz


def test_what_numpy_wrote_is_read_as_it_was(tmp_path: Path) -> None:
    made: dict[str, NDArray[Any]] = {
        "floats": np.arange(6, dtype=np.float32).reshape(2, 3),
        "columns": np.asfortranarray(np.arange(6, dtype=np.int16).reshape(2, 3)), "bytes": np.arange(3, dtype=np.uint8),
        "words": np.array(["a", "bcd"]), "none": np.zeros((0, 4), dtype=np.int64), "one": np.array(2.5),
    }  # fmt: skip
    np.savez_compressed(tmp_path / "a.npz", **made)  # type: ignore[arg-type]
    with npz.reading(tmp_path / "a.npz") as stored:
        assert set(stored.names) == set(made)
        for name, array in made.items():
            np.testing.assert_array_equal(stored[name], array)
            assert stored[name].dtype == array.dtype


def test_what_is_no_array_of_numbers_or_words_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "o.npz", objects=np.array([{}], dtype=object))
    whole = (tmp_path / "o.npz").read_bytes()
    with pytest.raises(ValueError, match="header cannot be read"), npz.reading(tmp_path / "o.npz") as stored:
        stored["objects"]
    for length in (0, 7, len(whole) // 2):
        (tmp_path / "cut.npz").write_bytes(whole[:length])
        with pytest.raises(ValueError, match="zip"), npz.reading(tmp_path / "cut.npz"):
            pass


def test_threads_read_arrays_at_the_same_time(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", a=np.zeros((3, 4), dtype=np.float32))

    def deeper(calls: int, read: Callable[[], None]) -> None:
        if calls:
            deeper(calls - 1, read)
        else:
            read()

    def read() -> None:
        for _ in range(200):
            with npz.reading(tmp_path / "a.npz") as stored:
                assert stored["a"].shape == (3, 4)

    def others_run(phase: str, info: dict[str, int]) -> None:
        time.sleep(0)

    threshold = gc.get_threshold()
    gc.callbacks.append(others_run)
    gc.set_threshold(2)
    try:
        with ThreadPoolExecutor(3) as pool:
            for one in [pool.submit(deeper, calls, read) for calls in (0, 20, 50)]:
                one.result()
    finally:
        gc.set_threshold(*threshold)
        gc.callbacks.remove(others_run)
