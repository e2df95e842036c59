"""Every error that Ember raises.

EmberError
├── ConfigError            a setting is unknown or out of range (also a ValueError)
├── InputError             what the caller gave cannot be stored or asked (also a ValueError)
│   └── KeyReused          an idempotency key came back with other content
├── NotFound               no such page, segment or fact of this owner (also a LookupError)
├── StoreError             the database could not do what it was asked
│   ├── StoreBusy          others held the store longer than we wait
│   ├── StoreFull          no room left on the disk
│   ├── StoreReadOnly      the file or folder may not be written
│   ├── StoreCorrupt       not a database of ours, or damaged
│   ├── StoreClosed        used after close()
│   ├── SchemaMismatch     made by a newer Ember
│   ├── StaleLease         the work was taken over by another worker; its result is refused
│   └── RevisionMoved      another change came first; read again and decide again
├── EmbedderError          an embedder failed
│   ├── EmbedderMissing    its weights or endpoint are not there
│   └── EmbedderMismatch   the store's vectors are of another embedder
└── AnalystError           an analyst failed; the pages stay pending
"""


class EmberError(Exception):
    """The root: catch this to catch all of ours."""


class ConfigError(EmberError, ValueError):
    """A setting is unknown or out of range; the message names it, what is allowed, and where it came from."""


class InputError(EmberError, ValueError):
    """The caller's input cannot be stored or asked; the message says where and what to do."""


class KeyReused(InputError):
    """An idempotency key was used before with other content; nothing was stored."""


class NotFound(EmberError, LookupError):
    """This owner has no such item."""


class StoreError(EmberError):
    """The database could not do what it was asked; nothing was half done."""


class StoreBusy(StoreError):
    """Other processes held the store longer than `busy_timeout_s`."""


class StoreFull(StoreError):
    """There is no room left on the disk; what was acknowledged is kept."""


class StoreReadOnly(StoreError):
    """The store's file or folder may not be written."""


class StoreCorrupt(StoreError):
    """The file is not an Ember store, or is damaged."""


class StoreClosed(StoreError):
    """The memory was used after close()."""


class SchemaMismatch(StoreError):
    """The store was made by a newer Ember than this one."""


class StaleLease(StoreError):
    """Another worker took the owner over; this result is refused."""


class RevisionMoved(StoreError):
    """Another change of this owner came first; the caller reads again and decides again."""


class EmbedderError(EmberError):
    """An embedder failed; the texts stay searchable by words."""


class EmbedderMissing(EmbedderError):
    """The embedder's weights or endpoint are not there."""


class EmbedderMismatch(EmbedderError):
    """The store's vectors were made by another embedder; the message names the reindex command."""


class AnalystError(EmberError):
    """An analyst failed; its pages stay pending and are tried again."""
