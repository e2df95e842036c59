"""The only module that names concrete stores, embedders and analysts."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Unpack
from urllib.parse import unquote, urlsplit

from embermem import languages
from embermem.core import injected_blocks, sensitive
from embermem.core.attributes import Attributes
from embermem.core.config import Settings
from embermem.core.errors import ConfigError, EmbedderMismatch, EmbedderMissing, NotFound, StoreError
from embermem.core.fields import fields_as_json, fields_from_json
from embermem.core.sensitive import Finder
from embermem.core.types import Page, Source
from embermem.memoryos.ingest.claim import Clock, Parts
from embermem.memoryos.system import MemoryOS
from embermem.protocols import (
    Analyst,
    Asker,
    Embedder,
    LanguageModel,
    Reader,
    SegmentWriter,
    StoredSettings,
    UsageLog,
)

if TYPE_CHECKING:
    from embermem.core.types import Backup, Restored
    from embermem.store.admin.backup import How
    from embermem.store.admin.copying import Copied, Progress
    from embermem.store.cache_folder import CacheFolder
    from embermem.store.engines.database import Database
    from embermem.store.engines.postgres import Postgres
    from embermem.store.sql import SqlStore

logger = logging.getLogger(__name__)

E5 = "e5"
HASHED = "hashed"
OPENAI = "openai:"
AUTO = "auto"
IN_MEMORY = ":memory:"
"""The place of a store in this process's memory, in place of a file."""


def wall_clock() -> datetime:
    """Now, in UTC."""
    return datetime.now(UTC)


def open_store(place: str | Path, settings: Settings, *, read_only: bool = False) -> SqlStore:
    """The store at a path or URL, or in memory; made, or migrated, unless it is to be read only. Raises ConfigError,
    StoreError."""
    from embermem.store.admin import copying
    from embermem.store.sql import SqlStore

    database = _database(place, settings, read_only=read_only)
    database.cache = _index_folder(database, settings)
    store = SqlStore(database)
    try:
        copying.refuse_unfinished(store.setting(copying.UNFINISHED), database.place)
    except BaseException:
        store.close()
        raise
    return store


def _index_folder(database: Database, settings: Settings) -> CacheFolder | None:
    """Where files of indexes are kept: in a folder that a setting names, each store has one of its own."""
    from embermem.store.cache_folder import CacheFolder

    beside = database.cache_beside
    if settings.index_cache == "auto" or (beside is None and not on_a_server(database.place)):
        return beside
    if settings.index_cache == "off":
        return None
    place = database.place if on_a_server(database.place) else str(Path(database.place).resolve())
    named = hashlib.blake2b(place.encode(), digest_size=8).hexdigest()
    return CacheFolder(Path(settings.index_cache).expanduser().resolve() / named)


def store_exists(place: str | Path, settings: Settings) -> bool:
    """Whether there is a store to read; nothing is made. Raises ConfigError, StoreError."""
    if in_memory(place):
        return False
    return _postgres(str(place), settings).exists() if on_a_server(place) else store_path(place).exists()


def migrate_store(place: str | Path, settings: Settings) -> tuple[str, str]:
    """Bring an older store's schema up to date: the schema before and after. Raises ConfigError, StoreError."""
    if on_a_server(place):
        return _postgres(str(place), settings).migrate()
    from embermem.store.engines.sqlite import Sqlite

    return Sqlite(store_path(place), settings.busy_timeout_s).migrate()


def copy_store(
    source: str | Path, target: str | Path, settings: Settings, now: datetime, told: Callable[[Progress], None]
) -> Copied:
    """A whole store in another place, which holds nothing or an unfinished copy of it; see store/admin/copying.py.

    Raises NotFound where there is no store to copy, ConfigError, StoreError.
    """
    from embermem.store.admin import copying

    if not store_exists(source, settings):
        raise NotFound(f"there is no store at {source}")
    ends = [place if on_a_server(place) else store_path(place).resolve() for place in (source, target)]

    def remembered(*, whole: bool) -> None:
        if isinstance(ends[1], Path):
            with suppress(StoreError), closing(open_store(source, settings)) as store:  # not one that is read only
                store.remember_copy(ends[1], whole=whole)

    begun = partial(remembered, whole=False)
    done = copying.copy(_database(ends[0], settings, read_only=True), _database(ends[1], settings), now, told, begun)
    remembered(whole=True)
    return done


def back_up_store(
    place: str | Path,
    target: Path,
    settings: Settings,
    now: datetime,
    told: Callable[[str, int, int], None],
    **how: Unpack[How],
) -> Backup:
    """A backup of a store, which is neither migrated nor otherwise changed, and remembers it where it can; see
    store/admin/backup.py, which has what `how` may be. Raises NotFound where there is no store, ConfigError,
    InputError, StoreError."""
    from embermem.store.admin.backup import back_up, remember_begun
    from embermem.store.schema import HEAD

    if not store_exists(place, settings):
        raise NotFound(f"there is no store at {place}")
    database = _database(place, settings)
    made = back_up(database, target, now=now, told=told, begun=partial(remember_begun, database), **how)
    if made.schema == HEAD:
        with suppress(StoreError), closing(open_store(place, settings)) as store:  # not one that may not be written
            store.remember_backup(made)
    return made


def remember_begun(place: str | Path, part: Path, settings: Settings) -> None:
    """Let a store remember a file that is begun now, and will hold words of it. Raises ConfigError."""
    from embermem.store.admin.backup import remember_begun

    remember_begun(_database(place, settings), part)


def own_backup(place: str | Path, target: Path, settings: Settings) -> tuple[str, ...]:
    """The commands of a server's own programs that back a store up to a place; none for a file. Raises ConfigError."""
    return tuple(_database(place, settings).own_backup(str(target)))


def restore_store(
    backup: Path,
    target: Path,
    settings: Settings,
    now: datetime,
    told: Callable[[str, int, int], None],
    *,
    at: datetime | None = None,
    replace: bool = False,
) -> Restored:
    """A store made from a backup; see store/admin/restore.py."""
    from embermem.store.admin.restore import restore

    def opened(place: Path) -> Database:
        database = _database(place, settings)
        database.cache = _index_folder(database, settings)
        return database

    return restore(backup, target, opened=opened, now=now, told=told, at=at, replace=replace)


def on_a_server(place: object) -> bool:
    """Whether a place is the URL of a PostgreSQL server."""
    return isinstance(place, str) and place.lower().startswith(("postgresql://", "postgres://"))


def in_memory(place: object) -> bool:
    """Whether a place names a store in this process's memory: `:memory:`, also as the path of a URL."""
    return isinstance(place, (str, os.PathLike)) and not on_a_server(place) and _file_name(place) == IN_MEMORY


def _database(place: str | Path, settings: Settings, *, read_only: bool = False) -> Database:
    """What is at a path or URL. Raises ConfigError, and StoreError for a folder, or a file in one that is not there."""
    from embermem.store.engines.sqlite import Sqlite

    if on_a_server(place):
        return _postgres(str(place), settings, read_only=read_only)
    if in_memory(place):
        from embermem.store.engines.sqlite import InMemory

        if read_only:
            raise ConfigError(f"{place!r} is empty when it is opened: it cannot be opened with read_only=True")
        return InMemory(settings.busy_timeout_s)
    path = store_path(place)
    if path.is_dir():
        raise StoreError(f"{path} is a folder; give a file in it, such as {path / 'memory.db'}")
    if not path.parent.is_dir():
        raise StoreError(f"the folder {path.parent} does not exist; create it first")
    return Sqlite(path, settings.busy_timeout_s, read_only=read_only)


def _postgres(url: str, settings: Settings, *, read_only: bool = False) -> Postgres:
    from embermem.store.engines.postgres import Postgres

    key_file = Path(settings.forgotten_key_file).expanduser() if settings.forgotten_key_file else None
    return Postgres(url, settings.busy_timeout_s, key_file, read_only=read_only)


def store_path(place: str | Path) -> Path:
    """The file that a path or an sqlite:/// URL names. Raises ConfigError."""
    if not isinstance(place, (str, os.PathLike)):
        raise ConfigError(f"{place!r} is not a store; give a path such as memory.db")
    text = _file_name(place)
    if not text:
        raise ConfigError(f"{place!r} is not a file; give a path such as memory.db, or {IN_MEMORY}")
    if text == IN_MEMORY:
        raise ConfigError(f"{place!r} is only reached by the object that opened it; give a path such as memory.db")
    return Path(text)


def _file_name(place: str | os.PathLike[str]) -> str:
    """The path, also that of an sqlite:/// URL. Raises ConfigError."""
    text = os.fspath(place)
    if not isinstance(text, str) or "://" not in text:
        return str(text)
    parts = urlsplit(text)
    if parts.scheme != "sqlite":
        raise ConfigError(
            f"the scheme {parts.scheme}:// is not supported; give a path, sqlite:///PATH, or postgresql://HOST/DATABASE"
        )
    return unquote(parts.path)[1:]


def make_embedder(name: str, settings: Settings, known_dim: int | None = None) -> Embedder:
    """An embedder by its setting: e5, hashed, or openai:MODEL. `known_dim` is the length of the vectors that a store
    holds of it; without, an endpoint is asked. Raises ConfigError, EmbedderMissing."""
    if not isinstance(name, str) or name == OPENAI:
        raise _no_embedder(name)
    if name == E5:
        from embermem.embedders import e5

        return e5.E5()
    if name == HASHED:
        from embermem.embedders.hashed import HashedNgrams

        return HashedNgrams()
    if name.startswith(OPENAI):
        from embermem.embedders.openai_http import OpenAIEmbedder

        base_url = settings.embedder_url or os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1")
        api_key = settings.embedder_key or os.environ.get("OPENAI_API_KEY", "")
        return OpenAIEmbedder(base_url=base_url, api_key=api_key, model=name.removeprefix(OPENAI), known_dim=known_dim)
    raise _no_embedder(name)


def _no_embedder(name: object) -> ConfigError:
    return ConfigError(f"embedder = {name!r} is not allowed; one of: {AUTO}, {E5}, {HASHED}, {OPENAI}MODEL")


def embedder_setting(settings: Settings) -> str:
    """The embedder that is set; for `auto` the one that a new store gets."""
    return _best() if settings.embedder == AUTO else settings.embedder


def choose_embedder(store: SqlStore, settings: Settings, *, reindex: bool = False) -> Embedder:
    """The embedder of this store. `auto` takes the store's own; for a new store e5 if its weights are installed, else
    the hashed one. Raises EmbedderMismatch if another is asked for than the store was made with, unless the store is
    opened to `reindex` it."""
    known = store.setting("embedder")
    wanted = settings.embedder
    if wanted == AUTO:
        wanted = _setting_for(known) if known and not reindex else _best()
    known_dim = int(store.setting("dim") or 0) if wanted == known else 0
    embedder = make_embedder(wanted, settings, known_dim or None)
    if known is None:
        remember(store, embedder)
        if settings.embedder == AUTO and wanted != E5:
            store.remember({_FOR_WANT_OF_BETTER: embedder.name})
    elif reindex:
        return embedder
    elif known != embedder.name:
        other = f", or set embedder = {_setting_for(known)!r}" if _is_ours(known) else ""
        raise EmbedderMismatch(
            f"the store's vectors are of {known!r}, the embedder is {embedder.name!r}: "
            f"run `embermem reindex --embedder {wanted}`{other}"
        )
    elif (store.setting("dim") or "") != str(embedder.dim):
        raise EmbedderMismatch(
            f"the store's vectors of {known!r} have {store.setting('dim')} dimensions, the embedder's {embedder.dim}: "
            f"run `embermem reindex --embedder {wanted}`"
        )
    if wanted == HASHED and settings.embedder == AUTO and _best() == HASHED:
        logger.warning("no embedding model: the hashed n-gram embedder is used, and %s", _NO_READER)
    elif wanted.startswith(OPENAI) and _best() == HASHED:
        logger.warning(_NO_READER)
    return embedder


def better_embedder(store: SqlStore, settings: Settings) -> str | None:
    """The setting of the embedder that replaces the store's: e5, if another was chosen because its weights were missing
    that are installed now. None if a setting names an embedder or a user chose the store's."""
    if settings.embedder != AUTO:
        return None
    known = store.setting("embedder")
    if known is None or known != store.setting(_FOR_WANT_OF_BETTER):
        return None
    return E5 if _best() == E5 else None


def remember_choice(store: SqlStore) -> None:
    """Record that a user chose the store's embedder, so that it is not replaced automatically."""
    store.remember({_FOR_WANT_OF_BETTER: ""})


def remember(store: SqlStore, embedder: Embedder) -> None:
    """Keep the embedder's name and its dimension."""
    store.remember({"embedder": embedder.name, "dim": str(embedder.dim)})


def nonce_key(store: StoredSettings) -> bytes:
    """The key of the markers that a store puts around memory in prompts (core/injected_blocks.py); created on first
    use, and the same for all processes."""
    known = store.setting(_NONCE_KEY)
    return bytes.fromhex(known or store.remember_once(_NONCE_KEY, injected_blocks.new_key().hex()))


def _best() -> str:
    from embermem.embedders.weights import find_weights

    return HASHED if find_weights() is None else E5


def _is_ours(name: str) -> bool:
    """Whether a setting gives an embedder of this name."""
    from embermem.embedders import e5, hashed

    return name in (e5.NAME, hashed.NAME) or name.startswith(OPENAI)


def _setting_for(name: str) -> str:
    """The setting that gives an embedder of this name. Raises EmbedderMissing if its weights are not installed,
    EmbedderMismatch if none gives it."""
    from embermem.embedders import e5, hashed

    if not _is_ours(name):
        raise EmbedderMismatch(
            f"the store's vectors are of {name!r}, which no setting of this version gives: "
            f"run `embermem reindex --embedder {_best()}`"
        )
    if name == e5.NAME and _best() != E5:
        raise EmbedderMissing(
            f"the store's vectors are of {name!r}, whose weights are not installed: run `embermem model install`, "
            f"or `embermem reindex --embedder {HASHED}`"
        )
    return {e5.NAME: E5, hashed.NAME: HASHED}.get(name, name)


def make_model(model: str | LanguageModel | None, settings: Settings) -> LanguageModel | None:
    """The language model: an object as it is, else the one that the setting `model` names; None without.

    Raises ModelMissing if the package for it is not installed.
    """
    if model is not None and not isinstance(model, str):
        return model
    if not settings.model:
        return None
    from embermem import llms

    return llms.make_model(settings)


def recorded(model: LanguageModel | None, file: str | Path, *, name: str | None = None) -> LanguageModel:
    """The model with a file that keeps its requests and replies, and answers what it holds; without a model nobody is
    asked for the rest. Raises ConfigError if the file cannot be used, ModelMissing."""
    from embermem.llms import RecordedModel

    return RecordedModel(model, file, name=name)


def make_asker(model: LanguageModel | None, ledger: UsageLog, settings: Settings, clock: Clock) -> Asker | None:
    """The object that sends requests to the model, with its usage log; None without a model."""
    if model is None:
        return None
    from embermem.llms.asking import ModelAsker

    return ModelAsker(model, ledger, settings, clock)


def finders(settings: Settings, own: Finder | None = None) -> tuple[Finder, ...]:
    """The finders of sensitive text: those that the setting `redact` names, in all languages, and the caller's own.
    Raises InputError for a finder that is not callable."""
    built_in = sensitive.finders(settings.redact, languages.secret_words, own)
    return (*built_in, *settings.never_kept.finders(lambda: sensitive.secrets(languages.secret_words())))


def fields_of(store: StoredSettings, settings: Settings) -> Settings:
    """The settings with the fields that the store remembers, where none are set. Raises ConfigError."""
    known = store.setting(FIELDS)
    if settings.fields is not None or known is None:
        return settings
    return replace(settings, fields=fields_from_json(known))


def adopt_fields(store: SqlStore, settings: Settings, clock: Clock) -> None:
    """Bring every owner's memory in line with the fields, where they are not those that the store remembers; then it
    remembers them. What is interrupted is done when the store is opened next. Raises StoreError."""
    known, own = store.setting(FIELDS), settings.attributes.own
    wanted = fields_as_json(own)
    if settings.fields is None or wanted == (known or fields_as_json(())):
        return
    from embermem.memoryos.correct.field_changes import conform

    before = Attributes(fields_from_json(known) if known else ())
    owners = store.owners()
    changed = sum(conform(store.protocols, owner, before, settings.attributes, clock) > 0 for owner in owners)
    store.remember({FIELDS: wanted})
    if changed:
        logger.warning(
            "the fields have changed: %d of %d memories were brought in line with them", changed, len(owners)
        )


def check_instructions(settings: Settings, model: LanguageModel | None) -> None:
    """Say what of the instructions only a model can hold. Raises ConfigError for a sentence in `never` where there is
    no model: nothing would hold it."""
    never = settings.never_kept
    if never.sentences and model is None:
        raise ConfigError(
            f"never: {never.sentences[0]!r} is a sentence, which only a language model understands: set `model`, "
            'or name an attribute, a kind of sensitive content, "words" in double quotes or a /pattern/'
        )
    if never.sentences:
        logger.warning("never: %d sentences are told to the model; rules read without them", len(never.sentences))
    if settings.remember and model is None:
        logger.warning("remember: without a language model this has no effect")


def make_analyst(asker: Asker | None, settings: Settings) -> Analyst | None:
    """The analyst that asks the model; None without a model."""
    if asker is None:
        return None
    from embermem.analysts.model import ModelAnalyst

    return ModelAnalyst(asker, settings)


def make_reader(embedder: Embedder) -> Reader | None:
    """The trained reader, over the encoder: the embedder's own, or beside vectors of a server the installed one. None
    without its weights, and beside any other embedder."""
    from embermem.embedders import e5
    from embermem.embedders.openai_http import OpenAIEmbedder
    from embermem.embedders.weights import find_weights

    if isinstance(embedder, e5.E5):
        encoder = embedder
    elif isinstance(embedder, OpenAIEmbedder) and find_weights() is not None:
        encoder = e5.E5()
    else:
        return None
    from embermem.reader.trained import TrainedReader

    return TrainedReader(encoder)


def summarise(before: str, page: Page) -> tuple[str, tuple[Source, ...]]:
    """A chain's summary after a page, by extraction, and where its new sentences stand."""
    from embermem.analysts.summary import summarise as extract
    from embermem.core.config import ExtractiveSettings

    return extract(before, page, ExtractiveSettings())


def segment_writer() -> SegmentWriter:
    """What says what a segment is about, in words of its own pages."""
    from embermem.analysts.topic_text import TopicText

    return TopicText()


_NO_READER = (
    "messages are read by rules alone, without the trained reader, and scores alone decide about advice and silence; "
    "`embermem model install` adds what is missing, and `embermem rebuild --outdated` then reads again what is stored"
)
_FOR_WANT_OF_BETTER = "embedder_for_want_of_better"
"""The key in the store's settings for an embedder that was chosen because the weights were missing."""
_NONCE_KEY = "nonce_key"
"""The store's setting that holds the key of `nonce_key`, in hexadecimal."""
FIELDS = "fields"
"""The store's setting that holds the fields with which memory was worked on last, as JSON."""


def make_system(
    store: SqlStore,
    embedder: Embedder,
    settings: Settings,
    clock: Clock,
    asker: Asker | None = None,
    analyst: Analyst | None = None,
) -> MemoryOS:
    """MemoryOS with this analyst; default: the one that asks the model, or the extractive one without an asker."""
    from embermem.analysts import ExtractiveAnalyst, keywords

    reader = make_reader(embedder)
    extractive = ExtractiveAnalyst(known=settings.attributes, reader=reader)
    return MemoryOS(
        Parts(
            store=store.protocols,
            embedder=embedder,
            analyst=analyst or make_analyst(asker, settings) or extractive,
            extractive=extractive,
            keywords=keywords,
            settings=settings,
            clock=clock,
            summarise=summarise,
            writer=segment_writer(),
            reader=reader,
        )
    )
