"""Every error that Ember raises.

EmberError
├── ConfigError            a setting is unknown or out of range (also a ValueError)
├── InputError             what the caller gave cannot be stored or asked (also a ValueError)
│   └── KeyReused          an idempotency key came back with other content
├── NotFound               no such page, segment or fact of this owner (also a LookupError)
├── StoreError             the database could not do what it was asked
│   ├── StoreBusy          others held the store longer than we wait
│   │   └── StoreConflict      others wrote the same at the same time, again and again
│   ├── StoreFull          no room left on the disk
│   ├── StoreReadOnly      the file or folder may not be written
│   ├── StoreCorrupt       not a database of ours, or damaged
│   ├── StoreMoved         the file was deleted, renamed or replaced while it was open
│   ├── StoreUnreachable   the database server cannot be reached, or broke off
│   ├── StoreClosed        used after close()
│   ├── ForgottenKeyLost   the key of what was forgotten is missing, or is another one's
│   ├── SchemaMismatch     made by a newer Ember
│   ├── StaleLease         the work was taken over by another worker; its result is refused
│   └── RevisionMoved      another change came first; read again and decide again
├── EmbedderError          an embedder failed
│   ├── EmbedderMissing    its weights or endpoint are not there
│   └── EmbedderMismatch   the store's vectors are of another embedder
├── ServerError            a server of Ember, asked by its client, did not do it
│   ├── ServerUnreachable  it cannot be reached, or broke off
│   ├── ServerTimeout      no answer in time
│   ├── ServerBusy         it asks to wait (429, 503); `retry_after_s` says how long, if it did
│   └── AccessRefused      the key is missing, does not hold, or does not reach so far (401, 403)
└── AnalystError           an analyst failed; the pages stay pending
    ├── ModelError         a language model gave no usable answer
    │   ├── ModelMissing       no model is set, or its package is not installed (also a ConfigError)
    │   ├── ModelTimeout       no answer in time
    │   ├── ModelUnreachable   the server cannot be reached, or failed (5xx)
    │   ├── ModelBusy          the server asks to wait (429); `retry_after_s` says how long, if it did
    │   ├── ModelRefused       the server refuses the request: key, name, size (4xx)
    │   └── ModelReplyError    the answer cannot be read, after a repair round; `raw` keeps it
    └── ModelWait          not asked: the work waits until `retry_at`, and no try is counted
        ├── BudgetSpent        a limit on calls or tokens is reached
        └── ModelResting       the breaker is open: the server failed too often just now
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar


class EmberError(Exception):
    """The root: catch this to catch all of ours. Errors can be pickled, and so cross from one process to another.

    `tag` is what an error is called over HTTP, where its class is not known; one that has none has its parent's.
    """

    tag: ClassVar[str] = "ember-error"

    def __reduce__(self) -> tuple[Callable[..., EmberError], tuple[Any, ...], dict[str, Any]]:
        """Made again without calling `__init__`, whose parameters differ from class to class."""
        return _made_again, (type(self), *self.args), self.__dict__


def kind(error: BaseException) -> str:
    """What a log may hold of an error: its kind, and the place that raised it. Its words may quote what was said."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}{where}"


def _made_again(kind: type[EmberError], *args: object) -> EmberError:
    return kind.__new__(kind, *args)


class ConfigError(EmberError, ValueError):
    """A setting is unknown or out of range; the message names it, what is allowed, and where it came from."""

    tag = "config-error"


class InputError(EmberError, ValueError):
    """The caller's input cannot be stored or asked; the message says where and what to do."""

    tag = "input-error"


class KeyReused(InputError):
    """An idempotency key was used before with other content; nothing was stored."""

    tag = "key-reused"


class NotFound(EmberError, LookupError):
    """This owner has no such item."""

    tag = "not-found"


class StoreError(EmberError):
    """The database could not do what it was asked; nothing was half done."""

    tag = "store-error"


class StoreBusy(StoreError):
    """Other processes held the store longer than `busy_timeout_s`."""

    tag = "store-busy"


class StoreConflict(StoreBusy):
    """Others wrote the same at the same time, and the database server undid this one; also when it was tried again."""

    tag = "store-conflict"


class StoreFull(StoreError):
    """There is no room left on the disk; what was acknowledged is kept."""

    tag = "store-full"


class StoreReadOnly(StoreError):
    """The store's file or folder may not be written."""

    tag = "store-read-only"


class StoreCorrupt(StoreError):
    """The file is not an Ember store, or is damaged."""

    tag = "store-corrupt"


class StoreMoved(StoreError):
    """The store's file, or its WAL, was deleted, renamed or replaced while it was open; nothing was written.

    The memory that raised it goes on raising it, unless the file comes back; open a new one on the file that is meant.
    """

    tag = "store-moved"


class StoreUnreachable(StoreError):
    """The database server cannot be reached, or broke off.

    `undone`: nothing was written. Else it broke off at the very end, and what was sent may be there or not: send it
    again under its key.
    """

    tag = "store-unreachable"
    undone = True


class StoreClosed(StoreError):
    """The memory was used after close()."""

    tag = "store-closed"


class ForgottenKeyLost(StoreError):
    """The key that the store's hashes of forgotten values were made with is missing, or another lies in its place. What
    needs it is refused; reading and adding go on."""

    tag = "forgotten-key-lost"


class SchemaMismatch(StoreError):
    """The store was made by a newer Ember than this one."""

    tag = "schema-mismatch"


class StaleLease(StoreError):
    """Another worker took the owner over; this result is refused."""

    tag = "stale-lease"


class RevisionMoved(StoreError):
    """Another change of this owner came first; the caller reads again and decides again."""

    tag = "revision-moved"


class EmbedderError(EmberError):
    """An embedder failed; the texts stay searchable by words."""

    tag = "embedder-error"


class EmbedderMissing(EmbedderError):
    """The embedder's weights or endpoint are not there."""

    tag = "embedder-missing"


class EmbedderMismatch(EmbedderError):
    """The store's vectors were made by another embedder; the message names the reindex command."""

    tag = "embedder-mismatch"


class ServerError(EmberError):
    """A server of Ember did not do what its client asked. `status` is its HTTP status, None if it did not answer."""

    tag = "server-error"

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class ServerUnreachable(ServerError):
    """The server cannot be reached, or broke off; where it broke off, what was asked may have been done."""

    tag = "server-unreachable"


class ServerTimeout(ServerError):
    """The server did not answer in time; what was asked may have been done."""

    tag = "server-timeout"


class ServerBusy(ServerError):
    """The server asks to wait (HTTP 429, 503). `retry_after_s` is how long, None if it did not say."""

    tag = "server-busy"

    def __init__(self, message: str, status: int | None = None, retry_after_s: float | None = None) -> None:
        super().__init__(message, status)
        self.retry_after_s = retry_after_s


class AccessRefused(ServerError):
    """The key is missing or does not hold (HTTP 401), or does not reach this owner or allow this (403)."""

    tag = "access-refused"


class AnalystError(EmberError):
    """An analyst failed; its pages stay pending and are tried again.

    Messages of this error and of those below are our own words: a server's text never stands in them.
    """

    tag = "analyst-error"


class ModelError(AnalystError):
    """A language model gave no usable answer. `outcome` is its word in the ledger."""

    tag = "model-error"
    outcome = "failed"


class ModelMissing(ModelError, ConfigError):
    """No language model is set, or the package for it is not installed; the message says what to do."""

    tag = "model-missing"
    outcome = "missing"


class ModelTimeout(ModelError):
    """The model did not answer in time."""

    tag = "model-timeout"
    outcome = "timeout"


class ModelUnreachable(ModelError):
    """The model's server cannot be reached, or failed (HTTP 5xx)."""

    tag = "model-unreachable"
    outcome = "unreachable"


class ModelBusy(ModelError):
    """The model's server asks to wait (HTTP 429). `retry_after_s` is how long, None if it did not say."""

    tag = "model-busy"
    outcome = "busy"

    def __init__(self, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class ModelRefused(ModelError):
    """The model's server refuses the request (another HTTP 4xx): a wrong key, model name or size."""

    tag = "model-refused"
    outcome = "refused"


class ModelReplyError(ModelError):
    """The model's answer cannot be read, after a repair round too. `raw` is the last answer, as it came."""

    tag = "model-reply-error"
    outcome = "bad reply"

    def __init__(self, message: str, raw: str) -> None:
        super().__init__(message)
        self.raw = raw


class ModelWait(AnalystError):
    """The model was not asked. The work waits until `retry_at`; this counts as no try."""

    tag = "model-wait"

    def __init__(self, message: str, retry_at: datetime) -> None:
        super().__init__(message)
        self.retry_at = retry_at


class BudgetSpent(ModelWait):
    """A limit on calls or tokens is reached; work that needs the model waits for the next day (UTC)."""

    tag = "budget-spent"


class ModelResting(ModelWait):
    """The model's server failed too often just now; it is asked again later."""

    tag = "model-resting"
