"""`Memoryos` of the published code: one user and one assistant, over a store of Ember in the folder it is given."""

from __future__ import annotations

import json
import shlex
import warnings
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from embermem.compat.memoryos.retriever import Retriever, ShortTermMemory
from embermem.core.errors import ConfigError
from embermem.core.types import Persona
from embermem.memory import Memory, OwnerMemory

__all__ = ["Memoryos"]

_FILE = "ember.db"
"""The store's file below `data_storage_path`."""
_MINILM = ("all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2")
_OWN = ("auto", "e5", "hashed")
_ROLE = "You are {assistant}, and the user's {relationship}. Reply in the user's language."


class Memoryos:
    """A user's memory with an assistant, by the steps and numbers of the paper (preset `paper`).

    Without `openai_api_key` no model is used: memory is derived by extraction, and `get_response` raises ModelMissing.
    A model of a server without keys needs any text as its key. Raises ConfigError, which says what of an argument has
    no meaning here, InputError for a name that cannot be used, ModelMissing without the package for models, StoreError.
    """

    def __init__(
        self,
        user_id: str,
        openai_api_key: str,
        data_storage_path: str,
        openai_base_url: str | None = None,
        assistant_id: str = "default_assistant_profile",
        short_term_capacity: int = 10,
        mid_term_capacity: int = 2000,
        long_term_knowledge_capacity: int = 100,
        retrieval_queue_capacity: int = 7,
        mid_term_heat_threshold: float = 5.0,
        mid_term_similarity_threshold: float = 0.6,
        llm_model: str = "gpt-4o-mini",
        embedding_model_name: str = "all-MiniLM-L6-v2",
        embedding_model_kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        if embedding_model_kwargs:
            raise ConfigError(f"embedding_model_kwargs = {embedding_model_kwargs!r} has no meaning here; leave it out")
        self.user_id, self.assistant_id = user_id, assistant_id
        self.data_storage_path = str(Path(data_storage_path).absolute())
        self.llm_model = llm_model
        folder = Path(self.data_storage_path)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.ember = Memory(
            folder / _FILE,
            preset="paper",
            short_term_pages=short_term_capacity,
            mid_term_segments=mid_term_capacity,
            user_facts=long_term_knowledge_capacity,
            agent_facts=long_term_knowledge_capacity,
            top_k=retrieval_queue_capacity,
            top_facts=Retriever.KNOWLEDGE,
            tau=mid_term_heat_threshold,
            theta=mid_term_similarity_threshold,
            **_model(llm_model, openai_api_key, openai_base_url),
            **_embedder(embedding_model_name, openai_api_key, openai_base_url),
        )
        try:
            self.owner = self.ember.of(user_id, assistant_id)
            _tell_of_files(folder / _FILE, self.owner)
        except BaseException:
            self.ember.close()
            raise
        self.short_term_memory = ShortTermMemory(self.owner, short_term_capacity)
        self.retriever = Retriever(self.owner, retrieval_queue_capacity)

    def add_memory(
        self,
        user_input: str,
        agent_response: str,
        timestamp: str | None = None,
        meta_data: Mapping[str, Any] | None = None,
    ) -> None:
        """Store an exchange; it is on disk when this returns, and analysed in the background. A time without a zone is
        this machine's. `meta_data` is stored with it. Raises InputError, StoreError."""
        self.owner.add(user_input or None, agent_response or None, at=_when(timestamp), metadata=meta_data)

    def get_response(
        self,
        query: str,
        relationship_with_user: str = "friend",
        style_hint: str = "",
        user_conversation_meta_data: Mapping[str, Any] | None = None,
    ) -> str:
        """Return the model's reply, with what memory holds; both are stored. Raises ModelMissing, InputError,
        ModelError, ModelWait: an error is never a reply."""
        system = _ROLE.format(assistant=self.assistant_id, relationship=relationship_with_user)
        if user_conversation_meta_data:
            told = json.dumps(user_conversation_meta_data, ensure_ascii=False, default=str)
            system += f"\nAbout this conversation: {told}"
        return self.owner.chat(query, system=system, style=style_hint or None).text

    def get_user_profile_summary(self) -> str:
        """Return the user's profile and traits, one a line; "None" if nothing is known."""
        return _profile(self.owner.persona()) or "None"

    def get_assistant_knowledge_summary(self) -> list[dict[str, Any]]:
        """Return what is known of the assistant, oldest first: `knowledge`, `timestamp`, `knowledge_embedding`. Raises
        EmbedderError."""
        facts = self.owner.persona().agent_facts
        vectors = self.ember.embed([fact.text for fact in facts]).tolist() if facts else []
        return [
            {**self.retriever.knowledge(fact), "knowledge_embedding": vector}
            for fact, vector in zip(facts, vectors, strict=True)
        ]

    def force_mid_term_analysis(self) -> None:
        """Analyse all of mid-term memory now, whatever its heat; see `OwnerMemory.analyse`."""
        self.owner.analyse()

    def get_memory_stats(self) -> dict[str, Any]:
        """Return `user_id`, `short_term_count`, `mid_term_sessions_count`, `has_user_profile` and
        `assistant_knowledge_count`."""
        counts, persona = self.owner.stats(), self.owner.persona()
        return {
            "user_id": self.user_id,
            "short_term_count": counts.short,
            "mid_term_sessions_count": counts.segments,
            "has_user_profile": bool(_profile(persona)),
            "assistant_knowledge_count": len(persona.agent_facts),
        }

    def close(self) -> None:
        """Close the store."""
        self.ember.close()

    def __enter__(self) -> Memoryos:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Memoryos user_id={self.user_id!r} assistant_id={self.assistant_id!r} in {self.data_storage_path!r}>"


def _model(name: str, key: str, url: str | None) -> dict[str, Any]:
    """The settings of the model; without a key none is used."""
    if not key:
        return {"model": ""}
    return {"model": name, "model_key": key, "model_url": url or "https://api.openai.com/v1"}


def _embedder(name: str, key: str, url: str | None) -> dict[str, Any]:
    """The settings of the embedder. Raises ConfigError for a model that Ember cannot run."""
    if name in _MINILM:
        return {"embedder": "auto"}
    if name.startswith("openai:"):
        return {"embedder": name, "embedder_key": key, "embedder_url": url or "https://api.openai.com/v1"}
    if name in _OWN:
        return {"embedder": name}
    raise ConfigError(
        f"embedding_model_name = {name!r} is not available here; one of: {_MINILM[0]}, {', '.join(_OWN)}, or "
        "openai:MODEL for a model that the server at openai_base_url embeds with"
    )


def _tell_of_files(store: Path, owner: OwnerMemory) -> None:
    """Warn of memory in the published code's files, which is not read here."""
    user, agent = owner.owner.user, owner.owner.agent
    files = store.parent / "users" / user
    if user not in (".", "..") and files.is_dir() and owner.state() is None:
        command = ("embermem", "--store", str(store), "--user", user, "--agent", agent, "import", str(files))
        warnings.warn(
            f"the memory in {files} is of the published code and is not read: bring it in with `{shlex.join(command)}`",
            UserWarning,
            stacklevel=3,
        )


def _when(timestamp: str | None) -> datetime | str | None:
    """A time as Ember takes it. What is no ISO 8601 is left as it is: `add` says what is wrong."""
    if not isinstance(timestamp, str):
        return timestamp
    try:
        read = datetime.fromisoformat(timestamp)
    except ValueError:
        return timestamp
    return read if read.tzinfo is not None else read.astimezone()


def _profile(persona: Persona) -> str:
    lines = [f"{line.name.replace('_', ' ')}: {line.value}" for line in persona.profile]
    return "\n".join(lines + [f"{trait.dimension}: {trait.pole} ({trait.level:+.1f})" for trait in persona.traits])
