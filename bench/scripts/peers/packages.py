"""What the comparisons with other systems say of the packages they use, and where they say what they do."""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, version

__all__ = ["tell", "version_of"]


def version_of(distribution: str) -> str | None:
    """The version that is installed; None where the package is not."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def tell(what: str) -> None:
    """Progress, on stderr: stdout has the result."""
    print(what, file=sys.stderr, flush=True)
