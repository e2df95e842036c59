"""Files of named arrays in the format safetensors, of which readers map the bytes.

Format: 8 bytes little-endian length, a JSON header, the data; https://github.com/huggingface/safetensors.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["DIGEST", "digest_of", "read_tensors", "write_tensors"]

DIGEST = "digest"
"""The entry of the metadata with the digest of all arrays, which `write_tensors` adds."""

_TYPES: Mapping[str, np.dtype[Any]] = {
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "U32": np.dtype("<u4"),
    "U8": np.dtype("u1"),
    "I8": np.dtype("i1"),
}
_ALIGNED = 64
"""Each array begins at a multiple of this many bytes."""


def read_tensors(path: Path) -> tuple[dict[str, NDArray[Any]], Mapping[str, str]]:
    """The arrays of a file by name, as read-only views into the mapped file, and its metadata.

    Raises OSError, and ValueError for a file that is damaged or cut off.
    """
    with path.open("rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    try:
        (size,) = struct.unpack_from("<Q", data)
        if size > len(data) - 8:
            raise ValueError("the header is cut off")
        header: dict[str, Any] = json.loads(data[8 : 8 + size])
        metadata = header.pop("__metadata__", {})
        tensors: dict[str, NDArray[Any]] = {}
        for name, entry in header.items():
            dtype = _TYPES[entry["dtype"]]
            first, last = entry["data_offsets"]
            count = (last - first) // dtype.itemsize
            tensors[name] = np.frombuffer(data, dtype, count, 8 + size + first).reshape(entry["shape"])
    except (KeyError, TypeError, AttributeError, IndexError, struct.error) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error
    return tensors, metadata


def digest_of(tensors: Mapping[str, NDArray[Any]]) -> str:
    """A digest of the arrays' names, types, shapes and bytes, in the order of their names."""
    digest = hashlib.blake2b(digest_size=16)
    for name in sorted(tensors):
        tensor = np.ascontiguousarray(tensors[name])
        digest.update(f"{name} {tensor.dtype} {tensor.shape}\n".encode())
        digest.update(tensor.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def write_tensors(path: Path, tensors: Mapping[str, NDArray[Any]], metadata: Mapping[str, str]) -> None:
    """Write such a file whole, or leave the existing one. The metadata get the digest of the arrays. Raises OSError."""
    names = {kind: name for name, kind in _TYPES.items()}
    header: dict[str, Any] = {"__metadata__": {**metadata, DIGEST: digest_of(tensors)}}
    end = 0
    for name, tensor in tensors.items():
        begin = -(-end // _ALIGNED) * _ALIGNED
        end = begin + tensor.nbytes
        header[name] = {"dtype": names[tensor.dtype], "shape": tensor.shape, "data_offsets": [begin, end]}
    encoded = json.dumps(header).encode()
    encoded += b" " * (-(8 + len(encoded)) % _ALIGNED)
    made = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        with made.open("wb") as file:
            file.write(struct.pack("<Q", len(encoded)) + encoded)
            for name, tensor in tensors.items():
                file.seek(8 + len(encoded) + header[name]["data_offsets"][0])
                file.write(np.ascontiguousarray(tensor).data)
            file.flush()
            os.fsync(file.fileno())
        made.replace(path)
    finally:
        made.unlink(missing_ok=True)
