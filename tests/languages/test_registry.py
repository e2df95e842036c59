"""Which languages there are, and which of them a text is written in."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from embermem import languages
from embermem.languages import Language
from embermem.languages.dates.engine import date_spans
from embermem.languages.words import date_words, name_of, runs, terms, words_to_match

SAID = datetime(2026, 11, 21, 9, tzinfo=UTC)


def test_english_is_the_default_and_comes_first() -> None:
    codes = [language.code for language in languages.all()]
    assert codes[0] == "en"
    assert codes[1:] == sorted(set(codes[1:]))
    assert languages.default() is languages.named("en")


def test_a_language_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(LookupError, match="no language 'xx'; known: en, "):
        languages.named("xx")


@pytest.mark.parametrize(
    ("text", "mostly", "anywhere"),
    [
        ("I met her in Lyon", "en", "en"),
        ("I met 王小明 in Lyon and we talked", "en", "zh"),
        ("我在 Lyon 见过王小明", "zh", "zh"),
        ("Straße, naïve", "en", "en"),
        ("Где ты?", "en", "en"),
        ("東京へ行きます", "ja", "ja"),
        ("東京", "zh", "zh"),
        ("我最近在看鬼灭の刃特别好看", "zh", "zh"),
        ("어제 정원에 갔어요", "zh", "zh"),
        ("", "en", "en"),
    ],
)
def test_a_text_is_of_the_language_that_most_of_it_is_written_in(text: str, mostly: str, anywhere: str) -> None:
    assert languages.of(text).code == mostly
    assert languages.by_signs(text).code == anywhere


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("What did I tell you about the garden?", "English"),
        ("我昨天去了花园", "Chinese"),
        ("昨日は庭に行きました", "Japanese"),
        ("어제 정원에 갔어요", "Korean"),
        ("Ich war gestern im Garten", None),
        ("", None),
    ],
)
def test_a_model_is_told_which_language_to_answer_in(text: str, name: str | None) -> None:
    assert name_of(text) == name


def test_each_part_of_a_mixed_text_is_cut_by_its_own_language() -> None:
    assert terms("I visited 王小明's gardens") == ["visit", "王小", "小明", "王", "小", "明", "s", "garden"]
    assert [run for run, _, _ in runs("Tea 和咖啡 with Ann")] == ["Tea", "和咖啡", "with", "Ann"]


def test_the_day_of_a_text_is_written_as_its_languages_write_it() -> None:
    assert date_words("hello", SAID) == "21 November 2026"
    assert date_words("hello 你好", SAID) == "21 November 2026 11月21日"


def test_dates_of_two_languages_stand_in_one_text() -> None:
    found = date_spans("下周一 or next month", SAID)
    assert [(str(one.first), str(one.last)) for one in found] == [
        ("2026-11-23", "2026-11-23"),
        ("2026-12-01", "2026-12-31"),
    ]


class Bare(Language):
    """A language of which nothing is known but its name."""

    code = "qq"
    name = "Bare"


def test_without_knowing_a_language_its_words_are_compared_without_accents() -> None:
    bare = Bare()
    assert bare.terms_of("réunion") == ("reunion",)
    assert bare.terms_to_match("straße") == ("strasse",)
    assert bare.stem("réunions") == "réunions"
    assert list(bare.facts("J'habite à Lyon.", SAID)) == []
    assert bare.statement("lives_in", "Lyon") == "lives in: Lyon"
    assert bare.until(SAID) == " (until 2026-11-21)"


_FOLDER = """
from embermem.languages.language import Language


class Esperanto(Language):
    code = "eo"
    name = "Esperanto"
    stop_words = frozenset("la kaj en mi estas ne kun al por vi".split())


LANGUAGE = Esperanto()
"""
_ASKED = """
import sys
import embermem.languages as languages
languages.__path__.append(sys.argv[1])
from datetime import UTC, datetime
from embermem.languages.dates.engine import date_spans
from embermem.languages.words import name_of, terms
text = "Mi estas en la ĝardeno kun mi amiko, 2026-05-02."
print(languages.named("eo").name, languages.of(text).code, name_of(text))
print(terms(text), [str(span.first) for span in date_spans(text, datetime(2026, 11, 21, tzinfo=UTC))])
print(languages.of("The garden is in the town, and I like it.").code, terms("The gardens"))
"""


def test_a_folder_is_a_language_and_nothing_else_lists_it(tmp_path: Path) -> None:
    (tmp_path / "eo").mkdir()
    (tmp_path / "eo" / "__init__.py").write_text(_FOLDER, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-c", _ASKED, str(tmp_path)], capture_output=True, text=True, check=True, encoding="utf-8"
    )
    assert run.stdout.splitlines() == [
        "Esperanto eo Esperanto",
        "['gardeno', 'amiko', '2026', '05', '02'] ['2026-05-02']",
        "en ['garden']",
    ]


def test_words_that_differ_by_an_accent_match() -> None:
    assert list(words_to_match("naïve")) == list(words_to_match("naive"))
