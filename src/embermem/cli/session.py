"""What every command shares: which store, whose memory, how to open it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from embermem.core.errors import ConfigError, InputError, NotFound, StoreError

if TYPE_CHECKING:
    from embermem.core.types import Owner
    from embermem.memory import Memory, OwnerMemory


@dataclass(frozen=True, kw_only=True, slots=True)
class Session:
    """The global options. A store is a path, a URL where it has `://`, or `:memory:`."""

    store: str
    user: str
    agent: str
    preset: str | None
    space: str | None = None

    @property
    def path(self) -> Path | None:
        """The store's file, or None for a URL and for a store in memory."""
        return None if "://" in self.store or self.store == ":memory:" else Path(self.store).expanduser()

    @property
    def exists(self) -> bool:
        """Whether there is a store to read."""
        if self.path is not None:
            return self.path.exists()
        from embermem.bootstrap import store_exists
        from embermem.core import config

        return store_exists(self.store, config.load(self.preset))

    def for_writing(self, *, background: bool = False) -> Memory:
        """Opens the store, made with its folder if it is not there; `background` understands meanwhile. Raises
        ConfigError for a store in memory where nothing would come of what is written: without `background`."""
        self._refuse_memory(used=background)
        if self.path is not None:
            try:
                self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            except OSError as error:
                raise StoreError(f"cannot make the folder {self.path.parent}: {error.strerror}") from error
        return self._open(background=background)

    def for_reading(self, *, model: str | None = None, read_only: bool = False) -> Memory:
        """Opens the store; a `model` named goes before the setting. With `read_only` nothing can be written. Raises
        NotFound if there is none: reading makes nothing."""
        self._refuse_memory()
        if not self.exists:
            raise self._missing()
        return self._open(model=model, read_only=read_only)

    def for_reindexing(self) -> Memory:
        """Opens the store, whichever embedder its vectors are of. Raises NotFound if there is none."""
        self._refuse_memory()
        if not self.exists:
            raise self._missing()
        return self._open(reindex=True)

    def owner(self, memory: Memory, shares: Sequence[str] = (), person_from: str | None = None) -> OwnerMemory:
        """The memory that the global options name; a user's is bound with spaces and another agent. Raises
        InputError where a space is to be bound with others."""
        if self.space is None:
            return memory.of(self.user, self.agent, shares=shares, person_from=person_from)
        if shares or person_from is not None:
            raise InputError("--space works on a space alone: leave --share and --person-from out")
        return memory.space(self.space)

    def known_owner(self, memory: Memory, shares: Sequence[str] = (), person_from: str | None = None) -> OwnerMemory:
        """The same, to be read. Raises NotFound that names the owners of the nearest names if the store holds nothing
        of it; a user who is bound with spaces or another agent need not have a memory."""
        owner = self.owner(memory, shares, person_from)
        if shares or person_from is not None or owner.state() is not None:
            return owner
        others = memory.owners(partly=True)
        if owner.owner in others:  # nothing was said yet
            return owner
        raise no_memory_of(str(owner.owner), others)

    def _refuse_memory(self, *, used: bool = False) -> None:
        from embermem.bootstrap import in_memory

        if not used and in_memory(self.store):
            raise ConfigError(
                f"--store {self.store} lives only as long as one command: `embermem serve`, `mcp` and `chat` can work "
                "on it; here give a file"
            )

    def _missing(self) -> NotFound:
        return NotFound(
            f"there is no store at {self.path or self.store}; `embermem add` or `embermem ingest` makes one"
        )

    def _open(
        self, *, reindex: bool = False, background: bool = False, model: str | None = None, read_only: bool = False
    ) -> Memory:
        from embermem.memory import Memory

        place = self.store if self.path is None else self.path
        # Most commands are short: they do their own work, and leave no thread behind.
        return Memory(
            place, preset=self.preset, background=background, reindex=reindex, model=model, read_only=read_only
        )


_NEAR = 5
"""Owners named where there is none of a name."""


def no_memory_of(named: str, others: Sequence[Owner]) -> NotFound:
    """There is no owner of this name (user/agent, or "space NAME"); those whose user has the same or a near name are
    named."""
    by_user: dict[str, list[Owner]] = {}
    for one in others:
        by_user.setdefault(str(one).partition("/")[0].casefold(), []).append(one)
    users = get_close_matches(named.partition("/")[0].casefold(), by_user, _NEAR)
    near = [_options(one) for user in users for one in by_user[user]][:_NEAR]
    advice = f"near names: {', '.join(near)}" if near else f"`embermem stats` lists the {len(others)} of this store"
    return NotFound(f"there is no memory of {named}; {advice}")


def _options(owner: Owner) -> str:
    """The global options that name an owner."""
    if owner.space is not None:
        return f"--space {shlex.quote(owner.space)}"
    return f"--user {shlex.quote(owner.user)} --agent {shlex.quote(owner.agent)}"
