"""What surrounds a system that is measured: no network, no telemetry, an empty home, one core for arithmetic."""

from __future__ import annotations

import os
import sys
from pathlib import Path

CORES = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"), "1")
SILENT = {
    "MEM0_TELEMETRY": "False",
    "ANONYMIZED_TELEMETRY": "False",
    "HF_HUB_OFFLINE": "1",
    "LANGSMITH_TRACING": "false",
}
NOT_PASSED_ON = ("EMBERMEM_", "MEM0_", "CHROMA_", "OPENAI_", "OPENROUTER_", "LANGCHAIN_", "LANGSMITH_", "OTEL_")
_REACHES_OUT = frozenset({"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"})


def environment(home: Path) -> dict[str, str]:
    """Ours without settings of any system, with one core for arithmetic, no telemetry and an empty home."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(NOT_PASSED_ON)}
    return {**kept, **CORES, **SILENT, "HOME": str(home), "MEM0_DIR": str(home / "mem0")}


def refuse_network() -> list[str]:
    """From now on every connection and every look-up of a name in this process fails; the list fills with them."""
    refused: list[str] = []

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event in _REACHES_OUT:
            refused.append(f"{event} {arguments[-1] if event == 'socket.connect' else arguments[0]}")
            raise ConnectionRefusedError(f"the benchmark uses no network: {refused[-1]}")

    sys.addaudithook(hook)
    return refused
