"""Every error that Ember raises.

EmberError
├── ConfigError            a setting is unknown or out of range (also a ValueError)
├── InputError             invalid input from the caller (also a ValueError)
│   ├── KeyReused          an idempotency key was used again with other content
│   └── Unchangeable       an item that cannot be changed or forgotten in this way; the message says what can be done
├── NotFound               this owner has no such page, segment or fact (also a LookupError)
├── NotGranted             a shared memory that was not granted, or no longer
├── StoreError             a database operation failed
│   ├── StoreBusy          other processes held the store for longer than `busy_timeout_s`
│   │   └── StoreConflict      concurrent writes conflicted, also when retried
│   ├── StoreFull          the disk is full
│   ├── StoreReadOnly      the store cannot be written
│   ├── StoreCorrupt       not an Ember store, or damaged
│   ├── StoreMoved         the file was deleted, renamed or replaced while it was open
│   ├── StoreUnreachable   the database server cannot be reached, or the connection was lost
│   ├── StoreClosed        used after close()
│   ├── ForgottenKeyLost   the key of forgotten values is missing, or belongs to another store
│   ├── SchemaMismatch     made by a newer Ember
│   ├── StaleLease         another worker took over; this result is refused
│   └── RevisionMoved      another change was applied first; read and decide again
├── EmbedderError          an embedder failed
│   ├── EmbedderMissing    its weights or endpoint are missing
│   └── EmbedderMismatch   the store's vectors are from another embedder
├── ServerError            an Ember server did not complete a client's request
│   ├── ServerUnreachable  it cannot be reached, or the connection was lost
│   ├── ServerTimeout      it did not answer in time
│   ├── ServerBusy         it asks to wait (429, 503); `retry_after_s` is the time, if given
│   └── AccessRefused      the key is missing, invalid or not sufficient (401, 403)
└── AnalystError           an analyst failed; its pages are retried
    ├── ModelError         a language model gave no usable answer
    │   ├── ModelMissing       no model is set, or its package is not installed (also a ConfigError)
    │   ├── ModelTimeout       it did not answer in time
    │   ├── ModelUnreachable   the server cannot be reached, or failed (5xx)
    │   ├── ModelBusy          the server asks to wait (429); `retry_after_s` is the time, if given
    │   ├── ModelRefused       the server refuses the request: key, name, size (4xx)
    │   │   └── ModelTooLong       the prompt does not fit the server's context
    │   └── ModelReplyError    the answer is invalid, also after a repair round; `raw` contains it
    └── ModelWait          the work waits until `retry_at`; not counted as an attempt
        ├── BudgetSpent        a limit on calls or tokens is reached
        ├── ModelResting       the circuit breaker is open after repeated failures
        └── ModelGaveWay       the request was broken off for a chat
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar


class EmberError(Exception):
    """The base class of all errors of Ember. Errors can be pickled, so they can be passed between processes.

    `tag` is the name of the error over HTTP. A class without a tag has its parent's.
    """

    tag: ClassVar[str] = "ember-error"

    def __reduce__(self) -> tuple[Callable[..., EmberError], tuple[Any, ...], dict[str, Any]]:
        """Rebuild without calling `__init__`, whose parameters differ from class to class."""
        return _made_again, (type(self), *self.args), self.__dict__


def kind(error: BaseException) -> str:
    """What a log may contain of an error: its class and where it was raised. Its message may quote a conversation."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}{where}"


def _made_again(kind: type[EmberError], *args: object) -> EmberError:
    return kind.__new__(kind, *args)


class ConfigError(EmberError, ValueError):
    """A setting is unknown or out of range; the message names it, the allowed values and its origin."""

    tag = "config-error"


class InputError(EmberError, ValueError):
    """The caller's input is invalid; the message says where, and what to do."""

    tag = "input-error"


class KeyReused(InputError):
    """An idempotency key was used before with other content; nothing was stored."""

    tag = "key-reused"


class Unchangeable(InputError):
    """The item is there, but cannot be changed or forgotten in this way; the message says what can be done."""

    tag = "conflict"


class NotFound(EmberError, LookupError):
    """This owner has no such item."""

    tag = "not-found"


class NotGranted(EmberError):
    """A space, or what another agent knows of the user, that was not granted, or no longer; or it is not there."""

    tag = "not-granted"


class StoreError(EmberError):
    """A database operation failed; it was not partly applied."""

    tag = "store-error"


class StoreBusy(StoreError):
    """Other processes held the store for longer than `busy_timeout_s`."""

    tag = "store-busy"


class StoreConflict(StoreBusy):
    """The database server rolled this transaction back because of concurrent writes, also when it was retried."""

    tag = "store-conflict"


class StoreFull(StoreError):
    """The disk is full; acknowledged content is kept."""

    tag = "store-full"


class StoreReadOnly(StoreError):
    """The store's file or folder cannot be written."""

    tag = "store-read-only"


class StoreCorrupt(StoreError):
    """The file is not an Ember store, or is damaged."""

    tag = "store-corrupt"


class StoreMoved(StoreError):
    """The store's file, or its WAL, was deleted, renamed or replaced while it was open; nothing was written.

    The memory keeps raising it until the file is back; otherwise open a new memory on the right file.
    """

    tag = "store-moved"


class StoreUnreachable(StoreError):
    """The database server cannot be reached, or the connection was lost.

    `undone`: nothing was written. Otherwise the connection was lost during the commit, and the content may be stored or
    not: repeat the call with the same key.
    """

    tag = "store-unreachable"
    undone = True


class StoreClosed(StoreError):
    """The memory was used after close()."""

    tag = "store-closed"


class ForgottenKeyLost(StoreError):
    """The key of the store's hashes of forgotten values is missing, or was replaced by another. Calls that need it are
    refused; reads and `add` still work."""

    tag = "forgotten-key-lost"


class SchemaMismatch(StoreError):
    """The store was made by a newer Ember than this one."""

    tag = "schema-mismatch"


class StaleLease(StoreError):
    """Another worker claimed the owner; this result is refused."""

    tag = "stale-lease"


class RevisionMoved(StoreError):
    """Another change of this owner was applied first; the caller reads and decides again."""

    tag = "revision-moved"


class EmbedderError(EmberError):
    """An embedder failed; its texts can still be found by words."""

    tag = "embedder-error"


class EmbedderMissing(EmbedderError):
    """The embedder's weights or endpoint are missing."""

    tag = "embedder-missing"


class EmbedderMismatch(EmbedderError):
    """The store's vectors were made by another embedder; the message names the reindex command."""

    tag = "embedder-mismatch"


class ServerError(EmberError):
    """An Ember server did not complete a client's request. `status` is the HTTP status, None without an answer."""

    tag = "server-error"

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class ServerUnreachable(ServerError):
    """The server cannot be reached, or the connection was lost; then the request may have been completed."""

    tag = "server-unreachable"


class ServerTimeout(ServerError):
    """The server did not answer in time; the request may have been completed."""

    tag = "server-timeout"


class ServerBusy(ServerError):
    """The server asks to wait (HTTP 429, 503). `retry_after_s` is the time, None if not given."""

    tag = "server-busy"

    def __init__(self, message: str, status: int | None = None, retry_after_s: float | None = None) -> None:
        super().__init__(message, status)
        self.retry_after_s = retry_after_s


class AccessRefused(ServerError):
    """The key is missing or invalid (HTTP 401), or does not permit this owner or operation (403)."""

    tag = "access-refused"


class AnalystError(EmberError):
    """An analyst failed; its pages wait, or stand as extraction read them, and are retried.

    Messages of this error and its subclasses never contain text from a server: they are stored and shown to users. The
    log has what a model's server said (embermem.llms.refusals).
    """

    tag = "analyst-error"


class ModelError(AnalystError):
    """A language model gave no usable answer. `outcome` is its value in the usage log."""

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
    """The model's server cannot be reached, or failed: `status` is the HTTP status (5xx), None without an answer."""

    tag = "model-unreachable"
    outcome = "unreachable"

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        if status is not None:
            self.outcome = f"HTTP {status}"


class ModelBusy(ModelError):
    """The model's server asks to wait (HTTP 429). `retry_after_s` is the time, None if not given."""

    tag = "model-busy"
    outcome = "busy"

    def __init__(self, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class ModelRefused(ModelError):
    """The model's server refuses the request (another HTTP 4xx), for example for a wrong key, model name or size."""

    tag = "model-refused"
    outcome = "refused"


class ModelTooLong(ModelRefused):
    """The prompt does not fit the context of the model's server."""

    tag = "model-too-long"
    outcome = "too long"


class ModelReplyError(ModelError):
    """The model's answer is invalid, also after a repair round. `raw` is the last answer, unchanged."""

    tag = "model-reply-error"
    outcome = "bad reply"

    def __init__(self, message: str, raw: str) -> None:
        super().__init__(message)
        self.raw = raw


class ModelWait(AnalystError):
    """No answer was asked for to its end. The work waits until `retry_at`; this does not count as an attempt."""

    tag = "model-wait"

    def __init__(self, message: str, retry_at: datetime) -> None:
        super().__init__(message)
        self.retry_at = retry_at


class BudgetSpent(ModelWait):
    """A limit on calls or tokens is reached; work that needs the model waits until the next day (UTC)."""

    tag = "budget-spent"


class ModelResting(ModelWait):
    """The model's server failed repeatedly; requests are paused and resume later."""

    tag = "model-resting"


class ModelGaveWay(ModelWait):
    """The request was broken off, because a chat needed the model's server; it is made again soon."""

    tag = "model-gave-way"
