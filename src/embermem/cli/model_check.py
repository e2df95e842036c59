"""`embermem model check`: what it prints and writes."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from embermem.reports.model_check import ModelCheck

__all__ = ["run"]


def run(preset: str | None, *, within_s: float, write: bool, as_json: bool) -> None:
    """Try the model, and print what was found. With `write` the settings to take go into the settings file, with the
    model's name and address, never its key. Raises ModelError, ConfigError."""
    from embermem.core import config, settings_file
    from embermem.reports import model_check, render

    settings = config.load(preset)
    model = model_check.make_model(settings)
    render.note(f"asking {settings.model}, for {within_s:g} s at most")
    reading = logging.getLogger("embermem.memoryos")
    level = reading.level
    reading.setLevel(logging.ERROR)  # the report says what the model could not do
    try:
        found = model_check.check(model, settings, within_s)
    finally:
        reading.setLevel(level)
    taken = {name: value for name in ("model", "model_url") if (value := getattr(settings, name))} | dict(
        found.settings
    )
    file = settings_file.write(taken) if write else None
    if as_json:
        render.print_json({"check": found, "settings": taken, "written": None if file is None else str(file)})
        return
    render.records("model", _rows(found))
    render.print_text("\n".join(found.notes))
    if file is not None:
        render.print_text(f"Written to {file}: {', '.join(taken)}.")
    elif found.settings:
        render.print_text("Settings to take (embermem.toml, or --write):")
        render.print_text("\n".join(settings_file.as_toml(found.settings)))


def _rows(found: ModelCheck) -> list[tuple[str, Any]]:
    speed, context = found.speed, found.context_tokens
    return [
        ("model", found.model),
        ("first token", f"{found.first_token_s:g} s"),
        ("prompt", f"{_known(speed.prompt)} tokens a second"),
        ("answer", f"{_known(speed.answer)} tokens a second"),
        ("context", "not told" if context is None else f"{context:,} tokens"),
        ("form of answers", found.form or "unknown"),
        ("thinks", "unknown" if found.thinks is None else found.thinks),
        ("understands pages", "not tried" if found.understands is None else found.understands),
        ("requests for two pages", ", ".join(found.outcomes) or "none"),
        ("a page", f"about {found.page_tokens:,} tokens, {_known(found.page_s)} s"),
        ("this check", f"{found.seconds:g} s"),
    ]


def _known(number: float | None) -> str:
    return "?" if number is None else f"{number:g}"
