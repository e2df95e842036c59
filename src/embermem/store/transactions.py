"""How the store opens, reads and writes: each call is one transaction, each error one of ours.

An interrupt (KeyboardInterrupt, or whatever the handler of a signal raises) may arrive between any two steps of Python.
None of them may leave a lock behind, so a transaction is noted before it begins, and two places end it: the end of its
`with`, and the end of the store's method, which also finds one whose `with` had not begun yet.
"""

from __future__ import annotations

import logging
import os
import struct
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import wraps
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar, cast

from sqlalchemy import Engine, exc
from sqlalchemy.engine import Connection, RootTransaction
from sqlalchemy.pool import PoolProxiedConnection

from embermem.core.errors import EmberError, StoreClosed, StoreConflict, StoreCorrupt, StoreReadOnly, StoreUnreachable
from embermem.store.engines.database import Database

logger = logging.getLogger(__name__)

Store = TypeVar("Store")

_PAUSES_S = (0.1, 0.5, 2.0)
"""Before each further try: a server that is started again is back within seconds, and so are those in the way done."""
_OF_VALUES = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, struct.error)
"""What reading a damaged value raises: an unknown member of an enumeration, a number where text must be."""
_INTERRUPTS = 100
"""So many interrupts within the end of one transaction are put off until it has ended."""


class Undo(Exception):
    """Raised within a transaction, it rolls the transaction back and goes no further."""


class _Open(threading.local):
    """The transactions that this thread has begun and not ended."""

    def __init__(self) -> None:
        self.transactions: list[Transaction] = []


_open = _Open()


class Transaction:
    """One transaction on a connection of its own, by `with`: committed at its end; rolled back by an error, and where
    it only read.

    `writes`: it holds what the database's `begin` takes for writing. A class and no generator, since a generator that
    an interrupt leaves suspended keeps its locks until it is collected.
    """

    def __init__(self, database: Database, engine: Engine, *, writes: bool, partly: bool = False) -> None:
        self._database = database
        self._engine = engine
        self._writes = writes
        self._partly = partly
        self._open = _open.transactions
        self._lent: PoolProxiedConnection | None = None
        self._raw: Any = None

    def __enter__(self) -> Connection:
        self._open.append(self)
        try:
            with self._database.errors():
                self._connection = self._engine.connect()
                self._lent = self._connection.connection
                self._raw = self._lent.dbapi_connection
                self._transaction: RootTransaction = self._database.begin(self._connection, writes=self._writes)
            return self._database.of_living(self._connection) if self._partly else self._connection
        except BaseException:
            self.undo()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        try:
            if error is None:
                self._commit()
            elif isinstance(error, (EmberError, Undo, exc.SQLAlchemyError)):
                with self._database.errors():
                    self._transaction.rollback()
                    self._give_back()
            else:
                self.undo()
        except BaseException:
            self.undo()
            raise
        self._end()
        if error is not None:
            self._raise_ours(error)
        return isinstance(error, Undo)

    def undo(self) -> None:
        """Leave nothing of it: no lock, and no connection that is used again. May be called again where an interrupt
        cut it short."""
        if self._raw is not None:
            self._database.abandon(self._raw)
        if self._lent is not None and self._lent.is_valid:
            record: Any = getattr(self._lent, "_connection_record", None)
            if record is not None:  # what it would set back when it is returned is a connection that is closed by now
                record.finalize_callback.clear()
            with suppress(exc.SQLAlchemyError):
                self._lent.invalidate()
        self._end()

    def _commit(self) -> None:
        try:
            with self._database.errors():
                if self._writes:
                    self._transaction.commit()
                else:  # where a page is damaged, SQLite refuses to commit what only read as well
                    self._transaction.rollback()
        except StoreUnreachable as error:
            error.undone = not self._writes
            raise
        self._give_back()

    def _give_back(self) -> None:
        self._lent = self._raw = None  # from here on it may be another's
        self._connection.close()

    def _end(self) -> None:
        if self._writes:
            self._database.ended()
        with suppress(ValueError):
            self._open.remove(self)

    def _raise_ours(self, error: BaseException) -> None:
        """A driver's error in our words, and, where it only read, that of a damaged value; others go on as they are."""
        try:
            with self._database.errors(), nullcontext() if self._writes else damage_told(self._database.place):
                raise error
        except BaseException as ours:
            if ours is not error:
                raise


@contextmanager
def damage_told(place: str) -> Iterator[None]:
    """What a value raises that no row of ours has becomes StoreCorrupt, without its words, which may quote the row."""
    try:
        yield
    except EmberError:
        raise
    except _OF_VALUES as error:
        raise StoreCorrupt(
            f"{place}: a row does not hold what it must; run `embermem doctor` "
            f"({type(error).__name__} in {_where(error)})"
        ) from None


def _where(error: BaseException) -> str:
    """The last of our functions that an error went through."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if os.sep + "embermem" + os.sep in frame.filename]
    last = (ours or frames)[-1]
    return f"{Path(last.filename).name}:{last.lineno}"


def end_all(left: int) -> None:
    """Undo this thread's transactions but for the first `left`. Interrupts meanwhile are put off until that is done."""
    late: BaseException | None = None
    for _ in range(_INTERRUPTS):
        try:
            while len(_open.transactions) > left:
                _open.transactions[-1].undo()
            break
        except BaseException as error:  # noqa: BLE001 - raised below
            late = error
    if late is not None:
        raise late


class _Asked(threading.local):
    """Whether this thread asks only those parts of the database that answer; and the connection of a transaction that
    it holds over several calls (`Transactions._holding`)."""

    living = False
    held: Connection | None = None


class Transactions:
    """A database and how it is read and written. Many threads and processes may use it at once."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._pid = os.getpid()
        self._closed = False
        self._asked = _Asked()
        self._engine = self._database.open()
        try:
            with self._database.errors():
                self._database.prepare(self._engine)
        except BaseException:
            self._engine.dispose()
            raise

    def _after_fork(self) -> None:
        if self._pid != os.getpid():
            self._engine.dispose(close=False)
            self._engine = self._database.open()
            self._pid = os.getpid()

    def _read(self) -> AbstractContextManager[Connection]:
        """A transaction that sees one state, whatever others write meanwhile."""
        return self._transaction(writes=False)

    def _write(self) -> AbstractContextManager[Connection]:
        """A transaction that writes. What it decides by, it reads after it holds the owner's row (`locked_owner`)."""
        if self._database.read_only:
            raise StoreReadOnly(f"{self._database.place}: the store is open read-only")
        return self._transaction(writes=True)

    @contextmanager
    def _holding(self) -> Iterator[Connection]:
        """One transaction that writes, which all calls of this thread belong to until its end."""
        with self._write() as c:
            self._asked.held = c
            try:
                yield c
            finally:
                self._asked.held = None

    def _transaction(self, *, writes: bool) -> AbstractContextManager[Connection]:
        if self._asked.held is not None:
            return nullcontext(self._asked.held)
        self._after_fork()
        if self._closed:
            raise StoreClosed(f"{self._database.place}: this memory was closed")
        return Transaction(self._database, self._engine, writes=writes, partly=self._asked.living and not writes)

    def close(self) -> None:
        """Give all connections back; the WAL of an SQLite file is folded into it by the last one out."""
        self._closed = True
        with suppress(exc.SQLAlchemyError):
            self._engine.dispose()


Method = TypeVar("Method", bound=Callable[..., Any])


def again(method: Method) -> Method:
    """A method of one transaction that is tried again, a few times, where the server broke off before it was done, or
    undid it because others wrote the same."""

    @wraps(method)
    def tried(*arguments: Any, **named: Any) -> Any:
        for pause in _PAUSES_S:
            try:
                return method(*arguments, **named)
            except StoreUnreachable as error:
                if not error.undone:
                    raise
                logger.warning("the database broke off and is asked again in %g s: %s", pause, error)
            except StoreConflict as error:
                logger.info("others wrote the same; it is tried again in %g s: %s", pause, error)
            time.sleep(pause)
        return method(*arguments, **named)

    return cast("Method", tried)


def over_owners(method: Method) -> Method:
    """A method that reads over all owners. Where a part of the database does not answer, the owners of the others are
    read; the log says so, and `missing_parts` does."""

    @wraps(method)
    def asked(self: Any, *arguments: Any, **named: Any) -> Any:
        try:
            return method(self, *arguments, **named)
        except StoreUnreachable as error:
            if self._asked.living or not self._database.has_parts:
                raise
            logger.warning("not every part of the database answers; the others are asked: %s", error)
        self._asked.living = True
        try:
            return method(self, *arguments, **named)
        finally:
            self._asked.living = False

    return cast("Method", asked)


def missing_parts(c: Connection) -> tuple[str, ...]:
    """The parts of the database that did not answer what was asked by this connection: what is theirs is left out."""
    return tuple(sorted(getattr(c, "missing", ())))


def interruptible(method: Method) -> Method:
    """A method that leaves none of its transactions open, wherever it was interrupted."""

    @wraps(method)
    def ended(*arguments: Any, **named: Any) -> Any:
        begun = len(_open.transactions)
        try:
            return method(*arguments, **named)
        except BaseException:
            end_all(begun)
            raise

    return cast("Method", ended)


def each_again(store: type[Store]) -> type[Store]:
    """Every public method of the store, each of which is one transaction, tried again."""
    for name in dir(store):
        if not name.startswith("_") and callable(getattr(store, name)) and name != "close":
            setattr(store, name, interruptible(again(getattr(store, name))))
    return store
