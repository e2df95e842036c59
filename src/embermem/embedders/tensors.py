"""Files of named arrays in the format safetensors, of which readers map the bytes.

Format: 8 bytes little-endian length, a JSON header, the data; https://github.com/huggingface/safetensors.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from embermem.core.errors import EmbedderError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["read_safetensors", "read_tensors", "write_tensors"]

_TYPES: Mapping[str, np.dtype[Any]] = {"F32": np.dtype("<f4"), "U8": np.dtype("u1"), "I64": np.dtype("<i8")}
"""The types of numbers that are read; arrays of others are left out."""
_ALIGNED = 64
"""Bytes between whose multiples each array begins."""


def read_safetensors(path: Path) -> dict[str, NDArray[np.float32]]:
    """The float32 tensors of a safetensors file by name: read-only views into the mapped file, nothing copied.

    Raises EmbedderError if the file cannot be read or is damaged.
    """
    try:
        tensors, _ = read_tensors(path)
    except (OSError, ValueError) as error:
        raise EmbedderError(f"{path} is damaged or cannot be read: {error}; run `embermem model install`") from error
    return {name: tensor for name, tensor in tensors.items() if tensor.dtype == np.float32}


def read_tensors(path: Path) -> tuple[dict[str, NDArray[Any]], Mapping[str, str]]:
    """The arrays of a file by name, as such views, and what its writer noted. Raises OSError, ValueError."""
    with path.open("rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    try:
        (size,) = struct.unpack_from("<Q", data)
        header: dict[str, Any] = json.loads(data[8 : 8 + size])
        noted = header.pop("__metadata__", {})
        return {
            name: np.frombuffer(
                data,
                dtype=_TYPES[entry["dtype"]],
                count=(entry["data_offsets"][1] - entry["data_offsets"][0]) // _TYPES[entry["dtype"]].itemsize,
                offset=8 + size + entry["data_offsets"][0],
            ).reshape(entry["shape"])
            for name, entry in header.items()
            if entry["dtype"] in _TYPES
        }, noted
    except (KeyError, TypeError, AttributeError, IndexError, struct.error) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error


def write_tensors(path: Path, tensors: Mapping[str, NDArray[Any]], noted: Mapping[str, str]) -> None:
    """Write such a file whole, or leave what is there. Raises OSError."""
    names = {kind: name for name, kind in _TYPES.items()}
    header: dict[str, Any] = {"__metadata__": dict(noted)}
    end = 0
    for name, tensor in tensors.items():
        begin = -(-end // _ALIGNED) * _ALIGNED
        end = begin + tensor.nbytes
        header[name] = {"dtype": names[tensor.dtype], "shape": tensor.shape, "data_offsets": [begin, end]}
    told = json.dumps(header).encode()
    told += b" " * (-(8 + len(told)) % _ALIGNED)
    made = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        with made.open("wb") as file:
            file.write(struct.pack("<Q", len(told)) + told)
            for name, tensor in tensors.items():
                file.seek(8 + len(told) + header[name]["data_offsets"][0])
                file.write(np.ascontiguousarray(tensor).data)
            file.flush()
            os.fsync(file.fileno())
        made.replace(path)
    finally:
        made.unlink(missing_ok=True)
