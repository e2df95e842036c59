"""What the page of recipes shows is what is run: its programs are files of examples/, its settings those of MCP."""

from __future__ import annotations

from test_documents import ROOT, blocks

RECIPES = ROOT / "docs" / "guides" / "recipes.md"
MCP = ROOT / "docs" / "guides" / "mcp.md"


def test_what_the_page_shows_is_what_is_run() -> None:
    programs = [block for block in blocks(RECIPES) if block.language == "python"]
    assert len(programs) >= 5
    for block in programs:
        mark, _, path = block.note.partition(" ")
        assert mark == "no-run"
        assert path.startswith("examples/")
        assert block.body == (ROOT / path).read_text(encoding="utf-8"), f"recipes.md:{block.line} is not {path}"

    settings = [(block.language, block.note, block.body) for block in blocks(RECIPES) if block.language != "python"]
    given = {(block.language, block.note, block.body) for block in blocks(MCP)}
    assert settings
    assert set(settings) <= given
