"""Packages that an extra of Ember brings, and what is said where one is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from embermem.core.errors import ConfigError

__all__ = ["needing"]


@contextmanager
def needing(extra: str, what: str) -> Iterator[None]:
    """Around the imports of packages that the extra brings, for `what` ("the client"). Raises ConfigError, which names
    the package and the extra, where one cannot be imported."""
    try:
        yield
    except ImportError as error:
        raise ConfigError(f"{what} needs the package {error.name}: pip install 'embermem[{extra}]'") from error
