"""Write the table of settings in docs/reference/configuration.md from `embermem.core.config.Settings`."""

from __future__ import annotations

import sys
from dataclasses import fields
from pathlib import Path

from embermem.core.config import ENV_PREFIX, PRESETS, Settings

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "configuration.md"
BEGIN, END = "<!-- settings: made by scripts/write_configuration.py -->\n", "<!-- end of settings -->\n"


def table() -> str:
    """Every setting: its name, what it is in both presets, what is allowed, and where it comes from."""
    lines = ["| setting | `default` | `paper` | allowed | source |", "|---|---|---|---|---|"]
    for field in fields(Settings):
        if field.name == "preset":
            continue
        values = [PRESETS[preset].get(field.name, field.default) for preset in ("default", "paper")]
        none = "by embedder" if field.name == "theta" else "none"
        shown = [_shown(values[0], none), "" if values[0] == values[1] else _shown(values[1], none)]
        source = str(field.metadata["source"]).replace("|", "\\|")
        lines.append(f"| `{field.name}` | {shown[0]} | {shown[1]} | {_allowed(field.metadata)} | {source} |")
    return "\n".join(lines) + "\n"


def page(text: str) -> str:
    """The page with the table made anew."""
    head, rest = text.split(BEGIN)
    return head + BEGIN + table() + END + rest.split(END)[1]


def _shown(value: object, none: str) -> str:
    if value is None:
        return none
    if value in ("", ()):
        return "(empty)"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def _allowed(metadata: object) -> str:
    meta = dict(metadata)  # type: ignore[call-overload]
    if "allowed" in meta:
        return ", ".join(meta["allowed"])
    words = (("low", "from"), ("above", "above"), ("high", "to"))
    return " ".join(f"{word} {meta[key]:g}" for key, word in words if meta.get(key) is not None)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    sys.stdout.write(f"{PAGE.name}: {len(fields(Settings)) - 1} settings, prefix {ENV_PREFIX}\n")
