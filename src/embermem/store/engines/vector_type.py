"""How a vector stands in a column: as bytes, or as a type of the engine's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, Dialect, LargeBinary, TypeDecorator, func
from sqlalchemy.engine import Connection
from sqlalchemy.types import TypeEngine, UserDefinedType


class Vectors(TypeDecorator[bytes]):
    """A vector in half precision, little-endian, as codec.vector_bytes makes it: BLOB, bytea, or pgvector's `halfvec`
    where a PostgreSQL has it, so that SQL can compare vectors. Of any length: each row names its embedder."""

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

        return lambda data: None if data is None else HalfVector(np.frombuffer(data, dtype="<f2"))

    def column_expression(self, column: ColumnElement[Any]) -> ColumnElement[Any]:
        """Read as the bytes that the server holds: as text, most of the time would go into numbers."""
        return func.halfvec_send(column, type_=self)

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[bytes | None], bytes | None]:
        return lambda sent: None if sent is None else np.frombuffer(sent, ">f2", offset=_HEAD).astype("<f2").tobytes()


def are_halves(c: Connection) -> bool:
    """Whether the database's vectors are of pgvector's type."""
    return bool(getattr(c.dialect, "ember_halfvec", False))


def vector_length(data: ColumnElement[bytes], halves: bool) -> ColumnElement[int]:
    """Of each vector of a column, in bytes: two a number."""
    return func.vector_dims(data) * 2 if halves else func.length(data)
