"""Names that stand in thousands of rows of an SQLite file: two bytes for each. PostgreSQL's tables hold the names.

What has no short form here, such as another embedder, stands there as it is.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Dialect, Text, TypeDecorator

from embermem.core.vectors import of_summaries

__all__ = ["ShortName"]

_E5 = "multilingual-e5-small+ember-1"
_SHORT: Mapping[str, str] = {
    _E5: "~e",
    of_summaries(_E5): "~E",
    "extractive-v1": "~x",
    "extractive-v1+reader-2": "~r",
    "extractive-v1+reader-3": "~s",
    "extractive-v1+reader-4": "~t",
    "extractive-v1+reader-5": "~u",
}
"""What stands in files. A short form never changes; a new name may get one that no other has, with a step in
`store/migrations.py` that rewrites the rows of older files."""
_NAMES = {short: name for name, short in _SHORT.items()}


class ShortName(TypeDecorator[str]):
    """The name of an embedder or of an analyst."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """What the column holds."""
        return value if value is None or dialect.name != "sqlite" else _SHORT.get(value, value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        """The name."""
        return value if value is None or dialect.name != "sqlite" else _NAMES.get(value, value)
