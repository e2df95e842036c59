"""The file that settings are read from, written: settings are set in it, and all else stays as it is."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from embermem.core.config import CONFIG_FILE, ENV_PREFIX
from embermem.core.errors import ConfigError

__all__ = ["as_toml", "write"]


def write(values: Mapping[str, object]) -> Path:
    """Set these settings in the file that `config.load` reads, which is made where it is missing.

    The environment and arguments go before the file. Raises ConfigError; then the file is as it was.
    """
    path = Path(os.environ.get(ENV_PREFIX + "CONFIG") or CONFIG_FILE)
    try:
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        made = _with(text, values)
        if tomllib.loads(made) != {**tomllib.loads(text), **values}:
            raise ConfigError(f"{path} cannot be changed without loss; set these by hand: {', '.join(values)}")
        beside = path.with_name(f"{path.name}.new")
        beside.touch(mode=0o600)  # it may hold a key
        beside.write_text(made, encoding="utf-8")
        if path.is_file():
            beside.chmod(path.stat().st_mode)
        beside.replace(path)
    except OSError as error:
        raise ConfigError(f"cannot write the configuration file {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"the configuration file {path} is not valid TOML: {error}") from error
    return path


def as_toml(values: Mapping[str, object]) -> list[str]:
    """A line of the file for each setting: texts, numbers and truth values."""
    return [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in values.items()]


def _with(text: str, values: Mapping[str, object]) -> str:
    lines = text.splitlines()
    for name, line in zip(values, as_toml(values), strict=True):
        found = (at for at, old in enumerate(lines) if re.match(rf"\s*{re.escape(name)}\s*=", old))
        tables = (at for at, old in enumerate(lines) if old.lstrip().startswith("["))
        end = next(tables, len(lines))
        at = next((at for at in found if at < end), None)
        lines[end if at is None else at : end if at is None else at + 1] = [line]
    return "\n".join(lines) + "\n"
