"""Write `src/embermem/reader/reader.safetensors` of what training left: layers as int8 in 7 bits, heads in float16.

    python reader/write_reader.py MODEL TUNED.npz READER.pt [--talk FOLDER] [--out FILE]

MODEL, TUNED.npz and READER.pt as for `train_reader.py`. The largest inputs of the layers' channels, from which their
factors are made (as in `encoder/export.py`), are measured on some of the labelled messages.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from export import smoothing
from heads import LINEAR, Reader, weights_of
from labelled import labelled
from torch import Tensor, distributed, nn
from train_reader import SHARED, Read, Shared

from embermem.embedders.convert import DENSE, quantized
from embermem.embedders.tensors import write_tensors
from embermem.reader.labels import JUDGED

TARGET = Path(__file__).parents[1] / "src" / "embermem" / "reader" / "reader.safetensors"
MEASURED = 400


def maxima(reader: Reader, messages: list[Read]) -> dict[tuple[int, str], Any]:
    """The largest input of each channel of each dense layer."""
    found: dict[tuple[int, str], Any] = {}

    def seen(number: int, name: str) -> Callable[[nn.Module, tuple[Tensor, ...], Tensor], None]:
        def see(_: nn.Module, given: tuple[Tensor, ...], __: Tensor) -> None:
            largest = given[0].float().abs().flatten(0, -2).amax(0).numpy()
            found[number, name] = np.maximum(found.get((number, name), 0.0), largest)

        return see

    for number, layer in enumerate(reader.above):
        for name in DENSE:
            getattr(layer, name).register_forward_hook(seen(number, name))
    with torch.no_grad():
        for one in messages:
            kinds = torch.ones(1, len(one.rows), dtype=torch.long)
            kinds[:, : one.ahead] = 0
            reader.states(one.rows[None].float(), kinds, torch.ones(1, len(one.rows), dtype=torch.bool))
    return found


def written(reader: Reader, largest: dict[tuple[int, str], Any]) -> dict[str, Any]:
    """The arrays of the file."""
    arrays: dict[str, Any] = {}
    for number, layer in enumerate(reader.above):
        head, weights = f"layer.{SHARED + number}", {name: one.numpy() for name, one in layer.state_dict().items()}
        for name in DENSE:
            smooth = smoothing(largest[number, name], weights[f"{name}.weight"]).astype(np.float32)
            codes, scales = quantized(weights[f"{name}.weight"] * smooth)
            arrays |= {f"{head}.{name}.inverse": 1.0 / smooth, f"{head}.{name}.codes": np.ascontiguousarray(codes.T)}
            arrays |= {f"{head}.{name}.scales": scales, f"{head}.{name}.bias": weights[f"{name}.bias"]}
        arrays |= {f"{head}.{name}": one for name, one in weights.items() if name.startswith("n")}
    heads = {name: one.numpy() for name, one in reader.state_dict().items() if not name.startswith("above.")}
    judges = [f"judges.{name}" for name in JUDGED]
    found = {
        "kinds": heads["kinds"],
        "groups": heads["groups.weight"],
        **{f"{name}.weight": heads[f"{known}.weight"].T for name, known in LINEAR.items()},
        **{f"{name}.bias": heads[f"{known}.bias"] for name, known in LINEAR.items()},
        "judges.weight": np.concatenate([heads[f"{name}.weight"] for name in judges]).T,
        "judges.bias": np.concatenate([heads[f"{name}.bias"] for name in judges]),
    }
    return arrays | {name: np.ascontiguousarray(one, dtype=np.float16) for name, one in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("tuned", type=Path)
    parser.add_argument("reader", type=Path)
    parser.add_argument("--talk", type=Path, help="the folder with talk of other sources")
    parser.add_argument("--out", type=Path, default=TARGET)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        distributed.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=0, world_size=1)
        shared = Shared(given.model, given.tuned)
        some = random.Random(0).sample(labelled(given.talk), MEASURED)
        messages = shared.messages(some, random.Random(0), 0, 1)
    reader = Reader(shared.network.above, 0.0).eval()
    reader.load_state_dict(weights_of(given.reader))
    write_tensors(given.out, written(reader, maxima(reader, messages)), {})
    print(f"{given.out}: {given.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
