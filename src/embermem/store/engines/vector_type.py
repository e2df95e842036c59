"""How a vector stands in a column: as bytes, or as a type of the engine's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, Dialect, LargeBinary, TypeDecorator, and_, func, or_, text
from sqlalchemy.engine import Connection
from sqlalchemy.types import TypeEngine, UserDefinedType

from embermem.core import vector_codes


class Vectors(TypeDecorator[bytes]):
    """A vector's bytes, as core/vector_codes.py makes them: BLOB, bytea, or pgvector's `halfvec` where a PostgreSQL has
    it, so that SQL can compare vectors: with the same numbers. Of any length: each row names its embedder."""

    impl = LargeBinary
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """`halfvec`, if the database has it."""
        return dialect.type_descriptor(_HalfVec() if getattr(dialect, "ember_halfvec", False) else LargeBinary())


_HEAD = 4
"""Bytes before a halfvec's numbers: how many there are, and two that are not used."""


class _HalfVec(UserDefinedType[bytes]):
    cache_ok = True

    def get_col_spec(self, **words: object) -> str:
        return "halfvec"

    def bind_processor(self, dialect: Dialect) -> Callable[[bytes | None], Any]:
        from pgvector import HalfVector

        return lambda data: (
            None if data is None else HalfVector(np.frombuffer(vector_codes.halves_of(data), dtype="<f2"))
        )

    def column_expression(self, column: ColumnElement[Any]) -> ColumnElement[Any]:
        """Read as the bytes that the server holds: as text, most of the time would go into numbers."""
        return func.halfvec_send(column, type_=self)

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[bytes | None], bytes | None]:
        return lambda sent: (
            None if sent is None else vector_codes.stored(np.frombuffer(sent, ">f2", offset=_HEAD).astype(np.float32))
        )


def are_halves(c: Connection) -> bool:
    """Whether the database's vectors are of pgvector's type."""
    return bool(getattr(c.dialect, "ember_halfvec", False))


def column_is_halfvec(c: Connection, table: str) -> bool:
    """The same by the column `data` of a table, of a database that is not yet open as a store."""
    if c.dialect.name == "sqlite":
        return False
    query = "SELECT format_type(atttypid, NULL) FROM pg_attribute WHERE attrelid = to_regclass(:t) AND attname = 'data'"
    return str(c.execute(text(query), {"t": table}).scalar()).rpartition(".")[2] == "halfvec"


def has_numbers(data: ColumnElement[bytes], dim: Any, halves: bool) -> ColumnElement[bool]:
    """Whether each vector of a column has so many numbers, as its length says."""
    if halves:
        fits: ColumnElement[bool] = func.vector_dims(data) == dim
        return fits
    exact: ColumnElement[bool] = func.length(data) == dim + vector_codes.TAIL
    return exact


def is_sum(data: ColumnElement[bytes], dim: Any) -> ColumnElement[bool]:
    """Whether the sums of vectors in a column may have so many numbers, as their length says (core/vector_sums.py)."""
    length = func.length(data)
    return or_(length == dim * 4, and_(length % 4 != 0, length.between(dim // 2, dim * 2 + dim // 64 + 8)))
