"""Outside of `languages` no module knows how Chinese is written."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import embermem

ROOT = Path(embermem.__file__).parent
SIGNS = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
THEIR_OWN = {"languages", "bench", "testing", "demo.py", "data"}
"""What holds text to be read: conversations, scripted models, phrases by which an answer is judged."""
OF_A_FILE = {"transfer/formats/dates.py", "transfer/formats/whatsapp.py"}
"""What other programs write around a message in each language that they have, such as the half of the day."""
OF_A_MODEL = {"embedders/hashed.py", "embedders/e5.py"}
"""How a text is cut for stored vectors, which must stay as it is."""


def constants(tree: ast.Module) -> Iterator[ast.Constant]:
    """The strings of a module, without its docstrings."""
    told = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            yield node


def test_no_module_outside_of_languages_holds_a_word_or_a_sign_of_chinese() -> None:
    found = [
        f"{path}:{node.lineno}"
        for file in sorted(ROOT.rglob("*.py"))
        if (path := file.relative_to(ROOT)).parts[0] not in THEIR_OWN and path.as_posix() not in OF_A_MODEL | OF_A_FILE
        if SIGNS.search(text := file.read_text(encoding="utf-8")) or "\\u" in text or "\\N{" in text
        for node in constants(ast.parse(text))
        if SIGNS.search(str(node.value)) or r"\u4e00" in str(node.value)
    ]
    assert found == []
