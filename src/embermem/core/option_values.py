"""Values of settings and options, as a file, the environment or a command line gives them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from embermem.core.errors import ConfigError


def checked_value(
    name: str, kind: str, value: object, meta: Mapping[str, Any], *, origin: str = "", secret: bool = False
) -> Any:
    """The value of a setting or an option, of the type that its annotation `kind` begins with; a number or a truth
    value may be a text. `meta` has the bounds of a number (`low`, `high`, `above`) or the texts `allowed`.

    Raises ConfigError that names it, its value if that is no secret, its origin, and what is allowed.
    """

    def refuse() -> ConfigError:
        given = "…" if secret else repr(value)
        return ConfigError(f"{name} = {given}{origin} is not allowed; {_allowed(kind, meta)}")

    if kind.startswith("bool"):
        if isinstance(value, bool):
            return value
        text = str(value).strip().lower()
        if text in ("1", "true", "yes", "on"):
            return True
        if text in ("0", "false", "no", "off"):
            return False
        raise refuse()
    if kind.startswith(("int", "float")):
        return _number(kind, meta, value, refuse)
    if not isinstance(value, str):
        raise refuse()
    if "allowed" in meta and value not in meta["allowed"]:
        raise refuse()
    if name == "timezone":
        try:
            ZoneInfo(value)
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise refuse() from error
    return value


def _number(kind: str, meta: Mapping[str, Any], value: object, refuse: Callable[[], ConfigError]) -> float | int:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise refuse()
    try:
        number = int(value) if kind.startswith("int") else float(value)
    except (ValueError, OverflowError) as error:
        raise refuse() from error
    if isinstance(value, float) and number != value:
        raise refuse()
    low, high, above = meta.get("low"), meta.get("high"), meta.get("above")
    inside = (low is None or number >= low) and (high is None or number <= high) and (above is None or number > above)
    if not inside or number != number or number in (float("inf"), float("-inf")):
        raise refuse()
    return number


def _allowed(kind: str, meta: Mapping[str, Any]) -> str:
    if "allowed" in meta:
        return "one of: " + ", ".join(meta["allowed"])
    if kind.startswith("bool"):
        return "true or false"
    if kind.startswith(("int", "float")):
        noun = "a whole number" if kind.startswith("int") else "a number"
        bounds = [
            f"{word} {meta[key]:g}"
            for key, word in (("low", "from"), ("above", "above"), ("high", "to"))
            if meta.get(key) is not None
        ]
        return " ".join([noun, *bounds])
    return "an IANA time zone such as Europe/Paris" if "zone" in meta.get("source", "") else "a text"
