"""Files of named arrays."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from embermem.embedders.tensors import DIGEST, digest_of, read_tensors, write_tensors

if TYPE_CHECKING:
    from numpy.typing import NDArray

ARRAYS: dict[str, NDArray[Any]] = {
    "codes": np.arange(-6, 6, dtype=np.int8).reshape(3, 4),
    "scales": np.linspace(0.0, 1.0, 7, dtype=np.float16),
    "begins": np.array([0, 2**32 - 1], dtype=np.uint32),
    "vectors": np.linspace(-1.0, 1.0, 6, dtype=np.float32).reshape(2, 3),
}


def test_arrays_come_back_as_they_were_with_their_digest_and_replace_the_file_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "arrays.safetensors"
    path.write_bytes(b"what was there before")
    write_tensors(path, ARRAYS, {"layout": "1"})
    found, metadata = read_tensors(path)
    assert found.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(found[name], array, strict=True)
        assert not found[name].flags.writeable
    assert metadata == {"layout": "1", DIGEST: digest_of(found)}
    assert digest_of(found | {"codes": ARRAYS["codes"] + 1}) != metadata[DIGEST]
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_is_not_one_is_a_value_error(tmp_path: Path) -> None:
    header = json.dumps({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
    cases = [
        b"", b"\x10", struct.pack("<Q", 2**40) + b"{}", struct.pack("<Q", 2) + b"[]", struct.pack("<Q", 4) + b"nope",
        struct.pack("<Q", len(header)) + header + bytes(4),
    ]  # fmt: skip
    for number, damaged in enumerate(cases):
        path = tmp_path / str(number)
        path.write_bytes(damaged)
        with pytest.raises(ValueError):  # noqa: PT011 - which words is the matter of whoever reads
            read_tensors(path)
