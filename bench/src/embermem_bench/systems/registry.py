"""The nine memory systems by name, and whose store it is."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from embermem import bootstrap
from embermem.core.errors import ConfigError
from embermem.core.ids import new_id
from embermem_bench.systems import numbers
from embermem_bench.systems.record_file import RecordFile
from embermem_bench.systems.recorded import Kit, RecordedSystem

if TYPE_CHECKING:
    from embermem.store.sql import SqlStore

__all__ = ["MEMORYOS", "SYSTEMS", "claim", "maker", "open_records", "records_path"]

MEMORYOS = "memoryos"
SYSTEMS: Mapping[str, tuple[str, str, str]] = {
    MEMORYOS: ("embermem.memoryos.system", "MemoryOS", ""),
    "full_context": ("embermem_bench.systems.full_context", "FullContext", "FullContextNumbers"),
    "readagent": ("embermem_bench.systems.readagent", "ReadAgent", "ReadAgentNumbers"),
    "memorybank": ("embermem_bench.systems.memorybank", "MemoryBank", "MemoryBankNumbers"),
    "tim": ("embermem_bench.systems.tim", "ThinkInMemory", "TimNumbers"),
    "memgpt": ("embermem_bench.systems.memgpt.system", "MemGpt", "MemGptNumbers"),
    "amem": ("embermem_bench.systems.amem", "AMem", "AMemNumbers"),
    "mem0": ("embermem_bench.systems.mem0", "Mem0", "Mem0Numbers"),
    "mem0g": ("embermem_bench.systems.mem0g", "Mem0Graph", "Mem0GraphNumbers"),
}
"""Module, class, and its numbers in numbers.py (MemoryOS's are settings)."""
_CLAIM = "bench_system"
"""The store's setting that names the system and its file of records; a store of MemoryOS has none."""


def claim(store: SqlStore, name: str) -> str:
    """What marks the store, and the file of its records, as this system's from now on; "" for MemoryOS. Raises
    ConfigError if another system made the store."""
    known = store.setting(_CLAIM)
    if known is None and name != MEMORYOS and not store.owners():
        known = store.remember_once(_CLAIM, f"{name} {new_id('s')}")
    made_by = known.partition(" ")[0] if known else MEMORYOS
    if made_by != name:
        raise ConfigError(
            f"the store was made by the memory system {made_by!r}, not {name!r}: open it with "
            f"open_system({made_by!r}, …), or give another place"
        )
    return known or ""


def records_path(place: str | Path) -> Path | None:
    """The file of records beside a store: its path and `.records`; None for a store in memory. Raises ConfigError for a
    store on a server."""
    if bootstrap.in_memory(place):
        return None
    if bootstrap.on_a_server(place):
        raise ConfigError(f"only {MEMORYOS} works on a server; records are in a file beside the store: give a path")
    path = bootstrap.store_path(place)
    return path.with_name(f"{path.name}.records")


def open_records(file: Path | None, claimed: str, busy_timeout_s: float) -> RecordFile:
    """The records of the store that is claimed so. Raises ConfigError for a file of another store; StoreError."""
    records = RecordFile(file, busy_timeout_s)
    if records.remember_once(_CLAIM, claimed) != claimed:
        records.close()
        raise ConfigError(f"{file} has the records of another store, which is not there any more: remove the file")
    return records


def maker(name: str, options: Mapping[str, object]) -> Callable[[Kit], RecordedSystem]:
    """What makes a system by its name in SYSTEMS, or `module:Class` of a RecordedSystem of your own. Raises ConfigError
    for an unknown name or option."""
    module, kind, numbers_kind = SYSTEMS[name] if name in SYSTEMS else (*_own(name), "")
    try:
        made = getattr(importlib.import_module(module), kind)
    except (ImportError, AttributeError) as error:
        raise ConfigError(f"the memory system {name!r} cannot be imported: {error}") from error
    if not (isinstance(made, type) and issubclass(made, RecordedSystem)):
        raise ConfigError(f"{name} is not an embermem_bench.systems.recorded.RecordedSystem")
    if numbers_kind:
        altered = numbers.altered(getattr(numbers, numbers_kind)(), options)
        return partial(made, numbers=altered)  # type: ignore[call-arg]
    if options:
        raise ConfigError(f"{name} takes no options; given: {', '.join(options)}")
    return made


def _own(name: str) -> tuple[str, str]:
    module, found, kind = name.partition(":")
    if not (found and module and kind):
        raise ConfigError(f"no memory system {name!r}; one of: {', '.join(SYSTEMS)}, or module:Class of your own")
    return module, kind
