"""Answers to the questions of systems/amem.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

ANSWERS: Mapping[str, Callable[[str], dict[str, Any]]] = {}
