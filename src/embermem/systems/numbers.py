"""The numbers of the papers' other systems, with their sources. MemoryOS's stand in config.py.

k = 10 where a paper leaves it open: so many memories each system gave on LoCoMo in the MemoryOS paper, §4.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from embermem.errors import ConfigError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Numbers = TypeVar("Numbers", bound=DataclassInstance)


@dataclass(frozen=True, kw_only=True, slots=True)
class FullContextNumbers:
    """LoCoMo (arXiv 2402.17753), the long-context baselines."""

    window_tokens: int = 16_000
    """The largest window there; what does not fit is left out from the oldest on."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadAgentNumbers:
    """ReadAgent (arXiv 2402.09727)."""

    page_words_least: int = 280
    page_words_most: int = 600
    """Words of an episode between which the pause is chosen; QuALITY, §4."""
    lookup: int = 5
    """Episodes that are looked up at most, ReadAgent-P."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryBankNumbers:
    """MemoryBank (arXiv 2305.10250)."""

    top_k: int = 10
    strength: float = 1.0
    """S when a memory is first kept, §2.3; each recall adds 1 and sets t to 0."""
    day_s: float = 86_400.0
    """t is counted in days."""
    forgetting: bool = True
    """Whether the curve decides what is still recalled."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TimNumbers:
    """Think-in-Memory (arXiv 2311.08719)."""

    top_k: int = 10
    buckets: int = 8
    """b of the random projection, §3: F(x) = argmax([xR; −xR]), R of shape (d, b/2)."""
    seed: int = 0
    """Of the projection."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MemGptNumbers:
    """MemGPT (arXiv 2310.08560)."""

    window_tokens: int = 8_192
    """GPT-4's window there."""
    warning_share: float = 0.7
    """Of the window: memory pressure, §2.2."""
    flush_share: float = 1.0
    evicted_share: float = 0.5
    """Of the queue, at a flush."""
    block_chars: int = 2_000
    """Limit of a memory block, as the published code has it."""
    page_size: int = 5
    """Results of a search that are shown at once."""
    steps: int = 8
    """Calls of functions that heartbeats may chain (ours)."""
    passage_chars: int = 1_000
    """Of a file that goes into archival storage (ours)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AMemNumbers:
    """A-MEM (arXiv 2502.12110)."""

    near_k: int = 10
    """Nearest notes among which links are looked for, §3.2."""
    recall_k: int = 10
    links: bool = True
    """Link generation; False is "w/o LG" of Table 2."""
    evolution: bool = True
    """Evolution of neighbours; False is "w/o ME"."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Mem0Numbers:
    """Mem0 (arXiv 2504.19413)."""

    recent: int = 10
    """m, messages that extraction is shown beside the summary, §2.1."""
    near: int = 10
    """s, memories that an update is decided against."""
    recall_k: int = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class Mem0GraphNumbers:
    """Mem0g (arXiv 2504.19413, §2.2)."""

    same_entity: float = 0.9
    """Cosine above which two names are one entity (t in the paper, which gives no number; ours)."""
    recall_k: int = 10
    """Triples, entity-centred and by their text, that are recalled."""


def altered(numbers: Numbers, options: Mapping[str, object]) -> Numbers:
    """The numbers with some of them changed; a value may be a text, as a command line gives it.

    Raises ConfigError that names the option, and what is allowed.
    """
    known = {field.name: field.type for field in fields(numbers)}
    for name in options:
        if name not in known:
            raise ConfigError(f"unknown option {name!r} of {type(numbers).__name__}; known: {', '.join(known)}")
    return replace(numbers, **{name: _value(name, str(known[name]), value) for name, value in options.items()})


def _value(name: str, kind: str, value: object) -> Any:
    """A number or truth value of the kind; a number may not be below zero."""
    text = str(value).strip().lower()
    if kind == "bool":
        if text in ("true", "false", "1", "0", "yes", "no", "on", "off"):
            return text in ("true", "1", "yes", "on")
        raise ConfigError(f"{name} = {value!r} is not allowed; true or false")
    try:
        number = int(text) if kind == "int" else float(text)
    except ValueError:
        number = -1
    if not 0 <= number < float("inf"):
        raise ConfigError(f"{name} = {value!r} is not allowed; a {'whole ' * (kind == 'int')}number from 0")
    return number
