"""Whose memory a call reaches: said by what a server is made over, never by an argument of a tool."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from embermem.api_keys import Right

if TYPE_CHECKING:
    from embermem.memory import OwnerMemory

Reach = Callable[[Right], "OwnerMemory"]
"""Gives the memory that the call in hand may reach. Raises EmberError where it may not."""
