"""Sessions of onnxruntime over graphs that ship with Ember without their weights; one thread a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from embermem.core.errors import EmbedderError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["run", "session"]


def session(package: str, name: str, weights: Mapping[str, NDArray[Any]], path: Path) -> Any:
    """The graph of this name, of a package, with the weights (of `path`) in it, one thread a run. They must live as
    long as the session, which copies only what it packs. Raises EmbedderError if they do not fit."""
    import onnxruntime
    from onnxruntime.capi import onnxruntime_pybind11_state as ort

    options = onnxruntime.SessionOptions()
    # Calls of many texts run several texts at once instead: as fast as two threads in a run, with one session,
    # and nobody waits spinning (which made a busy machine collapse).
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # A pattern is kept for every shape seen, and ours are many.
    options.enable_mem_pattern = False
    values = [onnxruntime.OrtValue.ortvalue_from_numpy(weight) for weight in weights.values()]
    try:
        options.add_external_initializers(list(weights), values)
        graph = (files(package) / name).read_bytes()
        return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    except (ort.Fail, ort.RuntimeException, ort.InvalidArgument, ort.InvalidGraph, RuntimeError) as error:
        raise EmbedderError(f"{path} does not fit the graph: {error}; run `embermem model install`") from error


def run(model: Any, outputs: Sequence[str], inputs: Mapping[str, NDArray[Any]], name: str) -> list[NDArray[Any]]:
    """These outputs of a run. Raises EmbedderError that names the model and the shapes."""
    from onnxruntime.capi import onnxruntime_pybind11_state as ort

    try:
        found: list[NDArray[Any]] = model.run(list(outputs), dict(inputs))
    except (ort.Fail, ort.RuntimeException, ort.InvalidArgument, RuntimeError) as error:
        shapes = ", ".join(f"{one} {array.shape}" for one, array in inputs.items())
        raise EmbedderError(f"{name} failed on {shapes}: {error}") from error
    return found
