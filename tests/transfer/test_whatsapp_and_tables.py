"""WhatsApp's chats and tables: what is written in any of their forms is read as it was meant."""

from __future__ import annotations

import csv
import io
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from embermem.core.errors import InputError
from embermem.transfer.files import Files
from embermem.transfer.formats import Options, found
from embermem.transfer.items import BadLine, Entry, Found, LeftOut

LRM = "\u200e"
DELETED = (
    "Dit bericht is verwijderd", "Данное сообщение удалено", "Bu mesaj silindi", "تم حذف هذه الرسالة",
    "این پیام حذف شد", "Αυτό το μήνυμα διαγράφηκε", "Това съобщение беше изтрито", "Tin nhắn này đã bị xóa",
    "Mesej ini telah dipadamkan",
)  # fmt: skip
EDITED = (
    f"{LRM}<This message was edited>", "<Diese Nachricht wurde bearbeitet>", "<Bu mesaj düzenlendi>",
    "<تم تعديل هذه الرسالة>", "<این پیام ویرایش شد>", "<Αυτό το μήνυμα έχει υποστεί επεξεργασία>",
    "<Това съобщение беше редактирано>", "<Tin nhắn này đã được chỉnh sửa>", "<Mesej ini telah disunting>",
)  # fmt: skip


def read(path: Path, form: str | None = None, **options: Any) -> list[Found]:
    files, told = Files(path), Options(**options)
    return list(found(files, form, told).read(files, told))


def chat(path: Path, *lines: str, **options: Any) -> list[Found]:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read(path, "whatsapp", **options)


def said(items: list[Found]) -> list[tuple[str | None, object, datetime | None]]:
    return [(one.name, one.content, one.at) for one in items if isinstance(one, Entry)]


def test_a_line_of_any_locale_is_read(tmp_path: Path) -> None:
    cases = [
        "13/05/2024, 21:45 - Ana: Hello", "5/13/24, 9:45 PM - Ana: Hello", "5/13/24, 9:45\u202fPM - Ana: Hello",
        "13/5/24, 9:45 p.\xa0m. - Ana: Hello", "13.05.24, 21:45 - Ana: Hello", "13/05/2024 21:45 - Ana: Hello",
        "13.05.24 um 21:45 - Ana: Hello", "2024/5/13 下午9:45 - Ana: Hello", "2024年5月13日 下午9:45 - Ana: Hello",
        "2024년 5월 13일 오후 9:45, Ana : Hello", "2024-05-13, 21.45 - Ana: Hello", "[13.05.24, 21:45:00] Ana: Hello",
        "[5/13/24, 9:45:00\u202fPM] Ana: Hello", f"{LRM}[13/05/2024, 21:45:00] ~\u202fAna: Hello",
        "\ufeff[2024/5/13 晚上9:45:00] Ana: Hello", "[13.05.24, 21:45:00] \u202aAna\u202c: Hello",
        "\u200f١٣\u200f/٥\u200f/٢٠٢٤، ٩:٤٥ م - Ana: Hello", "[١٣\u200f/٥\u200f/٢٠٢٤، ٩:٤٥:٠٠ م] Ana: Hello",
        "۲۰۲۴/۵/۱۳،\u200f ۹:۴۵ ب.ظ. - Ana: Hello", "13/5/24, 9:45 μ.μ. - Ana: Hello",
        "13.05.24 г., 21:45 ч. - Ana: Hello", "13/5/24, 9:45 CH - Ana: Hello", "21:45, 13/5/2024 - Ana: Hello",
        "13/05/2024, 9:45 PTG - Ana: Hello", "13.05.2024 9:45 ÖS - Ana: Hello", "13/05/2024 21:45:00: Ana: Hello",
    ]  # fmt: skip
    assert {
        line: got
        for line in cases
        if (got := said(chat(tmp_path / "_chat.txt", line))) != [("Ana", "Hello", datetime(2024, 5, 13, 21, 45))]
    } == {}


def test_twelve_hours_have_their_noon_and_midnight(tmp_path: Path) -> None:
    cases = [("12:05 AM", 0), ("12:05 PM", 12), ("1:05 a.m.", 1), ("1:05 pm", 13)]
    assert {
        written: got
        for written, hour in cases
        if (got := said(chat(tmp_path / "c", f"5/13/24, {written} - Ana: Hello"))[0][2])
        != datetime(2024, 5, 13, hour, 5)
    } == {}


def test_a_message_goes_on_over_lines_and_what_whatsapp_says_is_left_out(tmp_path: Path) -> None:
    items = chat(
        tmp_path / "c",
        "13/05/2024, 21:45 - Messages and calls are end-to-end encrypted.",
        '13/05/2024, 21:45 - Ben changed the subject from "Trip: Rome" to "Rome"',
        "13/05/2024, 21:45 - Ana: One",
        "",
        "three: four",
        "13/05/2024, 21:46 - Ben: <Media omitted>",
        "13/05/2024, 21:46 - Ben: IMG-2024.jpg (file attached)",
        "my garden",
        f"13/05/2024, 21:47 - Ben: {LRM}image omitted",
        f"13/05/2024, 21:47 - Garden: {LRM}Ben added Ana",
        "13/05/2024, 21:48 - Ben: This message was deleted",
        "13/05/2024, 21:48 - Ben: I omitted the salt from that long recipe of ours",
        *(f"13/05/2024, 21:48 - Ben: {text}" for text in DELETED),
        "13/05/2024, 21:49 - Ben: He was absent today",
        *(f"13/05/2024, 21:49 - Ben: Hello {mark}" for mark in EDITED),
    )
    assert [(name, text) for name, text, _ in said(items)] == [
        ("Ana", "One\n\nthree: four"), ("Ben", "[Media omitted]"), ("Ben", "[IMG-2024.jpg (file attached)]\nmy garden"),
        ("Ben", "[image omitted]"), ("Ben", "I omitted the salt from that long recipe of ours"),
        ("Ben", "He was absent today"), *[("Ben", "Hello")] * len(EDITED),
    ]  # fmt: skip
    places = [one.place for one in items if isinstance(one, Entry)]
    assert places[:5] == ["line 3", "line 6", "line 7", "line 9", "line 12"]
    assert len([one for one in items if isinstance(one, LeftOut)]) == 4 + len(DELETED)


def test_a_chat_in_utf_16_is_the_chat_in_utf_8(tmp_path: Path) -> None:
    first = "13/05/2024, 21:45 - Ana: First\u2028still first\r\nsecond\r\n\r\nfourth\r\n"
    lines = f"{first}13/05/2024, 21:46 - Ben: Fine\r\n"
    in_8, in_16 = tmp_path / "in_8.txt", tmp_path / "in_16.txt"
    in_8.write_bytes(lines.encode())
    in_16.write_bytes(lines.encode("utf-16"))
    assert said(read(in_16)) == said(read(in_8))


def test_a_table_that_is_no_utf_16_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "chat.csv"
    path.write_bytes(("speaker,text\n" + "Ana,Hello\n" * 40_000).encode("utf-16") + b"A\x00\x00\xd8B\x00")
    with pytest.raises(InputError, match=r"after line \d+: it is not UTF-16"):
        read(path)


def test_the_order_of_dates_is_found_from_the_whole_file(tmp_path: Path) -> None:
    lines: tuple[str, ...] = ("03/04/2024, 10:00 - Ana: One", "25/04/2024, 10:00 - Ana: Two")
    assert said(chat(tmp_path / "c", *lines))[0][2] == datetime(2024, 4, 3, 10)
    lines = ("03/04/2024, 10:00 - Ana: One", "04/25/2024, 10:00 - Ana: Two")
    assert said(chat(tmp_path / "c", *lines))[0][2] == datetime(2024, 3, 4, 10)
    lines = ("11/01/2024, 10:00 - Ana: One", "12/01/2024, 10:00 - Ana: Two", "01/02/2024, 10:00 - Ana: Three")
    assert said(chat(tmp_path / "c", *lines))[2][2] == datetime(2024, 2, 1, 10)


def test_dates_in_no_certain_order_are_refused_and_may_be_told(tmp_path: Path) -> None:
    line = "03/04/2024, 10:00 - Ana: One"
    with pytest.raises(InputError, match=r"03/04/2024.*--dates dmy or --dates mdy"):
        chat(tmp_path / "c", line)
    assert said(chat(tmp_path / "c", line, dates="mdy"))[0][2] == datetime(2024, 3, 4, 10)
    assert said(chat(tmp_path / "c", line, dates="dmy"))[0][2] == datetime(2024, 4, 3, 10)
    with pytest.raises(InputError, match="cannot be in the order mdy"):
        chat(tmp_path / "c", "25/04/2024, 10:00 - Ana: One", dates="mdy")
    with pytest.raises(InputError, match="no one order"):
        chat(tmp_path / "c", "25/04/2024, 10:00 - Ana: One", "04/25/2024, 10:00 - Ana: Two")


def test_a_time_that_does_not_exist_is_told_with_its_line(tmp_path: Path) -> None:
    items = chat(tmp_path / "c", "25/04/2024, 10:00 - Ana: One", "31/04/2024, 10:00 - Ana: Two", "and more")
    assert [str(one)[:8] for one in items if isinstance(one, BadLine)] == ["line 2: "]
    assert [text for _, text, _ in said(items)] == ["One"]


def test_a_second_download_of_a_chat_is_the_same_thread(tmp_path: Path) -> None:
    for name in ["WhatsApp Chat with Ben.txt", "WhatsApp Chat with Ben (2).txt"]:
        (entry,) = chat(tmp_path / name, "25/04/2024, 10:00 - Ana: One")
        assert isinstance(entry, Entry)
        assert entry.thread == "whatsapp:Ben"


_WORDS = st.text(
    st.characters(exclude_categories=["C", "Z"], exclude_characters=':[]<>"“”„«»~'), min_size=1, max_size=12
)
_LINES = st.lists(_WORDS.map(lambda word: f"a {word}"), min_size=1, max_size=3)
_TIMES = st.datetimes(datetime(2014, 1, 13), datetime(2030, 1, 1)).map(lambda at: at.replace(second=0, microsecond=0))
_NAMES = st.sampled_from(["Ana", "Ben de Wit", "王芳", "+32 470 12 34 56"])
_STYLES = (
    ("{d:02}/{m:02}/{y}, {H:02}:{M:02} - {who}: {text}", "dmy"),
    ("{m}/{d}/{yy:02}, {h}:{M:02} {half} - {who}: {text}", "mdy"),
    ("[{d:02}.{m:02}.{yy:02}, {H:02}:{M:02}:00] {who}: {text}", "dmy"),
    ("{y}/{m}/{d} {H}:{M:02} - {who}: {text}", "ymd"),
)


def written(style: str, at: datetime, who: str, text: str) -> str:
    half, hour = "AM" if at.hour < 12 else "PM", at.hour % 12 or 12
    numbers = {"d": at.day, "m": at.month, "y": at.year, "yy": at.year % 100, "H": at.hour, "M": at.minute}
    return style.format(**numbers, h=hour, half=half, who=who, text=text)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    style=st.sampled_from(_STYLES),
    talk=st.lists(st.tuples(_TIMES, _NAMES, _LINES.map("\n".join)), min_size=1, max_size=8),
)
def test_what_is_written_as_a_chat_is_read_again(
    style: tuple[str, str], talk: list[tuple[datetime, str, str]], tmp_path: Path
) -> None:
    lines = [written(style[0], at, who, text) for at, who, text in talk]
    items = chat(tmp_path / "c", *lines, dates=style[1])
    assert said(items) == [(who, text, at) for at, who, text in talk]


# ------------------------------------------------------------------------------------------------------------- tables


def table(path: Path, text: str, **options: Any) -> list[Found]:
    path.write_text(text, encoding="utf-8")
    return read(path, **options)


def test_columns_are_known_by_their_names_or_told(tmp_path: Path) -> None:
    text = "when,who,what,room,ticket\n2024-05-13T10:00:00Z,Ana,Hello,r1,T-1\n1715594401,bot,Hi,r1,\n"
    told = {"text": "what", "time": "when", "speaker": "who", "thread": "room", "ticket": "ticket"}
    ana, bot = (one for one in table(tmp_path / "t.csv", text, columns=told) if isinstance(one, Entry))
    assert (ana.role, ana.name, ana.content, ana.thread, ana.metadata) == (
        "user", "Ana", "Hello", "r1", {"ticket": "T-1"},
    )  # fmt: skip
    assert (bot.role, bot.name, bot.metadata) == ("assistant", None, {})
    known = table(tmp_path / "t.csv", "timestamp\tauthor\tmessage\n2024-05-13 10:00\tAna\tHello\n")
    assert said(known) == [("Ana", "Hello", datetime(2024, 5, 13, 10))]


def test_rows_that_cannot_be_read_are_told_with_their_lines(tmp_path: Path) -> None:
    text = 'time,text\n2024-01-01,"two\nlines"\nyesterday,Hello\n2024-01-02\n2024-01-03,Bye\n'
    items = table(tmp_path / "t.csv", text)
    assert [text for _, text, _ in said(items)] == ["two\nlines", "Bye"]
    assert [one.place for one in items if isinstance(one, BadLine)] == ["line 4", "line 5"]


def test_a_table_without_a_text_says_which_columns_it_has(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="the columns are a, b: give --map text=COLUMN"):
        read(tmp_path / "t.csv", "csv")
    with pytest.raises(InputError, match="there is no column 'c'; there are: a, b"):
        read(tmp_path / "t.csv", columns={"text": "c"})
    with pytest.raises(InputError, match=r"line 2: no row of a table .*quote"):
        table(tmp_path / "t.csv", 'time,text\n2024-01-01,"open\n')


def test_json_lines_of_any_keys_are_read_by_their_paths(tmp_path: Path) -> None:
    text = '{"payload": {"body": "Hello"}, "by": "Ana"}\nnot json\n'
    items = table(tmp_path / "t", text, columns={"text": "payload.body", "speaker": "by"})
    assert [(name, text) for name, text, _ in said(items)] == [("Ana", "Hello")]
    assert [one.place for one in items if isinstance(one, BadLine)] == ["line 2"]


_CELLS = st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from(',;"\t\n'), min_size=1, max_size=20)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    delimiter=st.sampled_from(",;\t|"),
    rows=st.lists(st.tuples(_TIMES, _NAMES, _CELLS.filter(str.strip)), min_size=1, max_size=8),
)
def test_what_is_written_as_a_table_is_read_again(
    delimiter: str, rows: list[tuple[datetime, str, str]], tmp_path: Path
) -> None:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerow(("time", "speaker", "text"))
    writer.writerows((at.isoformat(), who, text) for at, who, text in rows)
    items = table(tmp_path / "t.csv", out.getvalue())
    assert said(items) == [(who, text, at) for at, who, text in rows]
