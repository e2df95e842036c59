"""What reaches the terminal, and what reaches JSON."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embermem.core.types import About, Page, PageId, ProfileField, Role, ThreadId, Tier, Utterance, UtteranceId
from embermem.reports import render

NOON = datetime(2026, 5, 2, 12, tzinfo=UTC)


def test_text_from_outside_cannot_steer_the_terminal() -> None:
    cases: list[tuple[str, str]] = [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x9b31mred", "red"),
        ("\x1b]0;a title\x07rest", "rest"),
        ("\x1b]8;;http://a.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b[2J\x1b[Hgone", "gone"),
        ("\x1bcreset", "reset"),
        ("bell\x07 back\x08 null\x00 return\r", "bell back null return"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("left \u202eright\u202c \u2066inside\u2069", "left right inside"),
        ("[red]markup[/red] :smile:", "[red]markup[/red] :smile:"),
        ("你好，世界 🎉 مرحبا", "你好，世界 🎉 مرحبا"),
    ]
    assert [(given_text, shown) for given_text, shown in cases if render.plain(given_text) != shown] == []


@given(st.text())
def test_no_control_character_survives_cleaning(text: str) -> None:
    cleaned = render.plain(text)
    assert not [c for c in cleaned if (ord(c) < 32 and c not in "\n\t") or 0x7F <= ord(c) <= 0x9F]


@given(st.text(), st.integers(2, 50))
def test_a_cut_text_is_one_line_no_longer_than_asked(text: str, length: int) -> None:
    line = render.cut(text, length)
    assert len(line) <= length
    assert "\n" not in line


def test_a_record_becomes_json_with_times_enums_and_the_sides_of_its_page(capsys: pytest.CaptureFixture[str]) -> None:
    utterance = Utterance(
        id=UtteranceId("u"),
        seq=1,
        page_id=PageId("p"),
        thread=ThreadId("t"),
        role=Role.USER,
        origin=Role.USER.origin,
        speaker="Ana",
        text="long " * 200 + "\x9b31m",
        said_at=NOON,
        recorded_at=NOON,
    )
    page = Page(id=PageId("p"), no=1, thread=ThreadId("t"), utterances=(utterance,), tier=Tier.SHORT)
    render.print_json({"page": page, "ratio": float("nan"), "set": frozenset({"b", "a"})})
    out = capsys.readouterr().out
    read = json.loads(out)
    assert "\x9b" not in out
    assert read["page"]["utterances"][0]["text"] == utterance.text
    assert read["page"]["query"] == utterance.text
    assert read["page"]["tier"] == "short"
    assert read["page"]["said_at"] == "2026-05-02T12:00:00+00:00"
    assert read["ratio"] is None
    assert read["set"] == ["a", "b"]


def test_a_table_shows_markup_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    field = ProfileField(whose=About.USER, name="name", value="[bold]Ana[/bold]", sources=(), recorded_at=NOON)
    render.table("profile [x]", ("field", "value"), [(field.name, field.value)])
    out = capsys.readouterr().out
    assert "[bold]Ana[/bold]" in out
    assert "profile [x]" in out
