"""Prompts are data: one file each in this folder, with a header that is not sent and named variables.

    version: 1
    source: where the question comes from
    ---
    The text that is sent. {{name}} stands for a value.

A change of the text is a new version, since the version stands in all that rests on an answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from embermem.core.errors import InputError

_VARIABLE = re.compile(r"\{\{([a-z][a-z0-9_]*)\}\}")
_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True, kw_only=True, slots=True)
class Prompt:
    """One prompt: `text` as it stands in its file, without the header."""

    name: str
    version: str
    source: str
    text: str

    @property
    def variables(self) -> frozenset[str]:
        """The names that `fill` asks for."""
        return frozenset(_VARIABLE.findall(self.text))

    def fill(self, **variables: str) -> str:
        """The text with each `{{name}}` replaced. What a value holds is never read as a variable.

        Raises InputError if a variable is missing, or given and not used.
        """
        missing, unused = self.variables - variables.keys(), variables.keys() - self.variables
        if missing or unused:
            said = [f"missing: {', '.join(sorted(missing))}"] if missing else []
            said += [f"not used: {', '.join(sorted(unused))}"] if unused else []
            raise InputError(f"prompt {self.name!r}: variables {'; '.join(said)}")
        return _VARIABLE.sub(lambda match: variables[match[1]], self.text)


@cache
def load(name: str, package: str = __name__) -> Prompt:
    """The prompt in `<name>.md` of a package's folder, by default this one. Raises InputError if there is none or its
    header is incomplete."""
    file = files(package).joinpath(f"{name}.md")
    if not _NAME.fullmatch(name) or not file.is_file():
        raise InputError(f"there is no prompt {name!r}")
    head, found, text = file.read_text(encoding="utf-8").partition("\n---\n")
    header = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in head.splitlines())}
    if not found or not header.get("version") or not header.get("source"):
        raise InputError(f"prompt {name!r} must begin with `version:`, `source:` and a line `---`")
    return Prompt(name=name, version=header["version"], source=header["source"], text=text.strip())
