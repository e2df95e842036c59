"""Data sets into conversations and questions; metrics; runners on the public face."""

from __future__ import annotations

from collections.abc import Callable

__version__ = "0.1.0"
"""That of the embermem it goes with."""
ProgressFn = Callable[[str, int, int], None]
"""Called with (what, done, total) as a run goes on."""
