"""Chroma in a folder, given vectors that are made elsewhere. Nothing of Ember is imported."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["chroma"]


def chroma(folder: Path, embed: Callable[[Any], Any], named: str) -> tuple[Any, Any]:
    """A client that keeps its collections in a folder and sends nothing, and the function that embeds for them."""
    import chromadb

    class Ours(chromadb.EmbeddingFunction[Any]):
        def __init__(self) -> None:
            pass

        def __call__(self, input: Any) -> Any:
            return list(embed(input))

        @staticmethod
        def name() -> str:
            return named

        @staticmethod
        def build_from_config(config: dict[str, Any]) -> Ours:
            return Ours()

        def get_config(self) -> dict[str, Any]:
            return {}

    return chromadb.PersistentClient(str(folder), chromadb.Settings(anonymized_telemetry=False)), Ours()
