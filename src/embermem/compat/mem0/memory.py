"""mem0's `Memory` over a store of Ember in this process."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any

from embermem.compat.mem0.config import opened
from embermem.compat.mem0.memories import Memories
from embermem.compat.mem0.reach import Shared, Whole
from embermem.memory import Memory as Ember


class Memory(Memories):
    """mem0's `Memory`. `config` is a configuration of mem0, a dict or an object of its class, or an open
    `embermem.Memory`, which the caller closes. Raises ConfigError, StoreError."""

    def __init__(self, config: Any = None) -> None:
        given = isinstance(config, Ember)
        self.ember = config if given else opened(config)
        self._owns = not given
        super().__init__(Whole(self.ember), Shared(self.ember))

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Memory:
        """The memory that a configuration of mem0 describes; its entry `ember` holds `place` and settings of Ember."""
        return cls(config_dict)

    def close(self) -> None:
        """Close the store, if this object opened it."""
        if self._owns:
            self.ember.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def chat(self, query: str) -> None:
        """Not implemented, as in mem0; `embermem.Memory` has a `chat`."""
        raise NotImplementedError("Chat function not implemented yet.")
