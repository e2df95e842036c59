"""What a configuration of mem0 says to Ember: where the store lies, and which model and embedder it works with."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from embermem.core.errors import ConfigError
from embermem.memory import Memory as Ember

logger = logging.getLogger(__name__)

_URLS = ("openai_base_url", "base_url", "lmstudio_base_url", "vllm_base_url", "deepseek_base_url", "ollama_base_url")
_COMPATIBLE = ("openai", "openai_structured", "lmstudio", "vllm", "deepseek", "ollama", "together", "groq", "xai")
"""Providers whose servers speak OpenAI's protocol, if their address is given; of OpenAI itself none is needed."""


def opened(config: object) -> Ember:
    """The memory that a configuration of mem0 describes: a dict, or an object of its class `MemoryConfig`.

    Its entry `ember` holds `place` and settings of Ember, which come before all else. Raises ConfigError, StoreError.
    """
    given = _as_dict(config)
    own = given.get("ember", {})
    if not isinstance(own, Mapping):
        raise ConfigError(f"config['ember'] is {type(own).__name__}; give a dict such as {{'place': 'memory.db'}}")
    settings = {**_model(_part(given, "llm")), **_embedder(_part(given, "embedder")), **own}
    place = settings.pop("place", None) or _place(given)
    if isinstance(place, Path):
        place.parent.mkdir(parents=True, exist_ok=True)
    return Ember(place, **settings)


def _as_dict(config: object) -> Mapping[str, Any]:
    if config is None:
        return {}
    dumped = config.model_dump() if hasattr(config, "model_dump") else config
    if not isinstance(dumped, Mapping):
        raise ConfigError(f"config is {type(config).__name__}; give a dict, as mem0's `Memory.from_config` takes it")
    return dumped


def _part(config: Mapping[str, Any], name: str) -> tuple[str, Mapping[str, Any]]:
    """The provider of a part, and its own configuration; empty where it is not given."""
    part = config.get(name) or {}
    if not isinstance(part, Mapping):
        raise ConfigError(f"config[{name!r}] is {type(part).__name__}; give a dict with provider and config")
    inner = part.get("config") or {}
    if not isinstance(inner, Mapping):
        raise ConfigError(f"config[{name!r}]['config'] is {type(inner).__name__}; give a dict")
    return str(part.get("provider") or ""), inner


def _place(config: Mapping[str, Any]) -> Path | str:
    """The store's file: where the vector store has a path, in that folder; else beside the history; else at home."""
    provider, store = _part(config, "vector_store")
    if isinstance(url := store.get("connection_string"), str) and provider == "pgvector":
        return url
    if isinstance(folder := store.get("path"), str):
        return Path(folder) / "ember.db"
    if isinstance(history := config.get("history_db_path"), str):
        return history if history == ":memory:" else Path(history).parent / "ember.db"
    return Path(os.environ.get("MEM0_DIR") or Path.home() / ".mem0") / "ember.db"


def _url(config: Mapping[str, Any]) -> str:
    return next((str(config[name]) for name in _URLS if config.get(name)), "")


def _model(part: tuple[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The settings of a language model. A provider that speaks no protocol of Ember's is left out: none is used."""
    provider, config = part
    name, url, key = config.get("model"), _url(config), config.get("api_key")
    if not provider or not name:
        return {}
    if provider in ("anthropic", "gemini"):
        own = "google" if provider == "gemini" else provider
        return {"model": f"{own}:{name}", **({"model_key": key} if key else {})}
    if provider not in _COMPATIBLE or not (url or provider == "openai"):
        logger.warning("no language model is used: Ember has none for mem0's provider %r", provider)
        return {}
    return {"model": name, **({"model_url": url} if url else {}), **({"model_key": key} if key else {})}


def _embedder(part: tuple[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The settings of an embedder; Ember's own is used where the provider speaks no protocol of its."""
    provider, config = part
    name, url, key = config.get("model"), _url(config), config.get("api_key")
    if provider not in _COMPATIBLE or not name or not (url or provider == "openai"):
        return {}
    told = {"embedder_url": url or os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1"}
    return {"embedder": f"openai:{name}", **told, **({"embedder_key": key} if key else {})}
