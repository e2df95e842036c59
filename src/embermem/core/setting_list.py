"""Every setting as it is in use: its value, where it comes from, and what it means."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields

from embermem.core.config import PRESETS, SECRETS, Settings
from embermem.core.fields import Field
from embermem.core.record import Record

__all__ = ["SettingInUse", "in_use"]

_FIRST_OF: Mapping[str, str] = {
    "preset": "Preset",
    "short_term_pages": "Short-term memory",
    "mid_term_segments": "Mid-term memory",
    "user_facts": "Long-term memory",
    "batch_pages": "Consolidation",
    "top_m": "Recall",
    "pack_candidates": "Packing",
    "without": "Ablation",
    "timezone": "Input",
    "fields": "What is remembered",
    "retention": "Retention",
    "embedder": "Embedder, model and store",
    "http_body_bytes": "Server",
}
"""The groups, by the first setting of each."""
_USER_INFO = re.compile(r"(?<=://)[^/@\s]*@")
"""A user and a password in an address."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SettingInUse(Record):
    """A setting: its value and that of the preset `default`, as they would be written; of a secret, only "(set)" or "".
    `origin` is "argument", "environment variable NAME", "file PATH, line N", "the store" (the fields that it
    remembers), "preset paper" or "default"."""

    name: str
    value: str
    default: str
    origin: str
    meaning: str
    group: str

    @property
    def changed(self) -> bool:
        """Whether it was given, or is another preset's."""
        return self.origin != "default"


def in_use(settings: Settings, origins: Mapping[str, str]) -> tuple[SettingInUse, ...]:
    """All settings, group by group. `origins` are those of `config.load_with_origins`."""
    return tuple(_told(settings, origins))


def _told(settings: Settings, origins: Mapping[str, str]) -> Iterator[SettingInUse]:
    group = ""
    for one in fields(settings):
        group = _FIRST_OF.get(one.name, group)
        value = getattr(settings, one.name)
        yield SettingInUse(
            name=one.name,
            value=_written(one.name, value),
            default=_written(one.name, one.default),
            origin=origins.get(one.name) or _unnamed(settings, one.name, value == one.default),
            meaning=str(one.metadata.get("source", "the steps and constants of `default`, or those of the `paper`")),
            group=group,
        )


def _unnamed(settings: Settings, name: str, is_default: bool) -> str:
    """Where a value comes from that nobody gave."""
    if is_default:
        return "default"
    return f"preset {settings.preset}" if name in PRESETS[settings.preset] else "the store"


def _written(name: str, value: object) -> str:
    if name in SECRETS:
        return "(set)" if value else ""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple):
        return ", ".join(one.name if isinstance(one, Field) else str(one) for one in value)
    return _USER_INFO.sub("…@", str(value))
