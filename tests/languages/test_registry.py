"""Which languages there are, and which of them a text is written in."""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embermem import languages
from embermem.languages import Language
from embermem.languages.dates.engine import date_spans
from embermem.languages.parts import NEVER
from embermem.languages.words import (
    content_words,
    date_words,
    has_content_words,
    name_of,
    runs,
    terms,
    words_to_match,
)

SAID = datetime(2026, 11, 21, 9, tzinfo=UTC)


def test_english_is_the_default_and_comes_first() -> None:
    codes = [language.code for language in languages.all()]
    assert codes[0] == "en"
    assert codes[1:] == sorted(set(codes[1:]))
    assert languages.default() is languages.named("en")


def test_a_language_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(LookupError, match="no language 'xx'; known: en, "):
        languages.named("xx")


def test_a_text_is_of_the_language_that_most_of_it_is_written_in() -> None:
    cases = [
        ("I met her in Lyon", "en", "en"), ("I met 王小明 in Lyon and we talked", "en", "zh"),
        ("我在 Lyon 见过王小明", "zh", "zh"), ("Straße, naïve", "en", "en"), ("Где ты?", "en", "en"),
        ("東京へ行きます", "ja", "ja"), ("東京", "zh", "zh"), ("我最近在看鬼灭の刃特别好看", "zh", "zh"),
        ("어제 정원에 갔어요", "zh", "zh"), ("", "en", "en"),
    ]  # fmt: skip
    for text, mostly, anywhere in cases:
        assert languages.of(text).code == mostly
        assert languages.by_signs(text).code == anywhere


def test_a_model_is_told_which_language_to_answer_in() -> None:
    cases: list[tuple[str, str | None]] = [
        ("What did I tell you about the garden?", "English"), ("我昨天去了花园", "Chinese"),
        ("昨日は庭に行きました", "Japanese"), ("어제 정원에 갔어요", "Korean"), ("Ich war gestern im Garten", "German"),
        ("J'étais hier dans le jardin", "French"), ("Ayer estuve en el jardín", "Spanish"), ("", None),
    ]  # fmt: skip
    assert {text: got for text, name in cases if (got := name_of(text)) != name} == {}


SHORT = {
    "fr": """J'ai faim.|Où habite ma sœur ?|C'est quoi son prénom ?|Merci beaucoup !|Je pars demain.|Quel âge a-t-il ?
        On se voit lundi ?|Mon frère est malade.|Il y a trois ans.|Pas encore.|Tu te souviens de Paul ?|Ça va mieux.
        Les enfants dorment.|Comment va Léa ?|Bonne nuit !|Je n'aime pas ça.|Elle travaille à Nantes.|Et toi ?
        Rappelle-moi son adresse, s'il te plaît.|Qui m'a offert le vélo ?|Combien coûte le billet ?|J'adore Lyon.""",
    "es": """Tengo hambre.|¿Dónde vive mi hermana?|¿Cómo se llama?|¡Muchas gracias!|Me voy mañana.|¿Cuántos años tiene?
        ¿Nos vemos el lunes?|Mi hermano está enfermo.|Hace tres años.|Todavía no.|¿Te acuerdas de Pablo?|Ya estoy mejor.
        Los niños duermen.|¿Cómo está Lucía?|¡Buenas noches!|No me gusta eso.|Trabaja en Vigo.|¿Y tú?
        Recuérdame su dirección, por favor.|¿Quién me regaló la bici?|¿Cuánto cuesta el billete?|Me encanta Cádiz.""",
    "de": """Ich habe Hunger.|Wo wohnt meine Schwester?|Wie heißt er?|Vielen Dank!|Ich fahre morgen.|Wie alt ist sie?
        Sehen wir uns am Montag?|Mein Bruder ist krank.|Vor drei Jahren.|Noch nicht.|Erinnerst du dich an Paul?
        Mir geht es besser.|Die Kinder schlafen.|Wie geht es Lena?|Gute Nacht, bis morgen!|Das mag ich nicht.
        Sie arbeitet in Bonn.|Und du?|Sag mir bitte ihre Adresse.|Wer hat mir das Rad geschenkt?|Ich liebe Köln.""",
    "en": """I'm hungry.|Where does my sister live?|What's his name?|Thanks a lot!|I'm leaving tomorrow.|How old is he?
        See you on Monday?|My brother is ill.|Three years ago.|Not yet.|Do you remember Paul?|Feeling better.|See ya!
        The kids are asleep.|How is Lena?|Good night!|I don't like it.|She works in Leeds.|And you?|Lost my job.
        Remind me of her address, please.|Who gave me the bike?|No problem.|Los Angeles is huge.|Die Hard is on again.
        My son plays the piano.|Car insurance.|We ate pain au chocolat.|Was it a hit?|Got a tattoo in Berlin.""",
}


def test_a_short_message_tells_its_language() -> None:
    for code in SHORT:
        wrong = [text.strip() for line in SHORT[code].splitlines() for text in line.split("|")]
        assert [text for text in wrong if languages.spelled(text).code != code] == []


def test_each_part_of_a_mixed_text_is_cut_by_its_own_language() -> None:
    assert terms("I visited 王小明's gardens") == ["visit", "王小", "小明", "王", "小", "明", "s", "garden"]
    assert runs("Tea 和咖啡 with Ann") == ["Tea", "和咖啡", "with", "Ann"]


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
    assert list(bare.instructions("Réponds toujours en français.", SAID)) == []
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
        "Esperanto eo Esperanto", "['gardeno', 'amiko', '2026', '05', '02'] ['2026-05-02']", "en ['garden']",
    ]  # fmt: skip


def test_words_that_differ_by_an_accent_match() -> None:
    assert list(words_to_match("naïve")) == list(words_to_match("naive"))


_ASKED_PARTS = ("several", "advice", "past", "character")
_TEXTS = (
    "When did we go to the lake, and how many of us?",
    "what should I cook; which of them came first, the fair or the exam?",
    "Was hast du mir über die Gärten gesagt, und wann?", "¿Cuándo fue? ¿Cuántas veces? ¿Qué libros he leído?",
    "Quand est-ce que j'ai dit ça, avant ou après le mariage ?",
    "いつ会いましたか。どちらが先ですか。いくつありましたか。", "什么时候去的？哪些朋友来了？先去公园还是先去学校？",
    "somewhen another", "",
)  # fmt: skip


def test_a_pattern_of_any_of_occurs_where_that_of_either_does() -> None:
    for part in _ASKED_PARTS:

        def of(language: Language, part: str = part) -> str:
            return str(getattr(language.questions, part))

        one, other = languages.either(of), languages.any_of(of)
        for text in (*_TEXTS, *(text.upper() for text in _TEXTS)):
            assert (one.search(text) is None) == (other.search(text) is None), text


def test_alternatives_in_groups_and_sets_stay_together() -> None:
    pattern = languages.any_of(lambda one: r"\b(?:a|b|[|)]c)d|x\|y|[^]|]z" if one.code == "en" else NEVER)
    assert [text for text in ("ad", "xad", "|cd", "e|cd", "x|y", "x", "]z", "qz") if pattern.search(text)] == [
        "ad", "e|cd", "x|y", "qz",
    ]  # fmt: skip


def test_the_words_of_themes_are_in_lower_case() -> None:
    for language in languages.all():
        for words in language.themes.values():
            for pattern in (words.asked, words.told):
                letters = re.sub(r"\\.", "", pattern)
                assert letters == letters.lower()


@given(
    st.text(alphabet="abc 東京コ'é.", max_size=40),
    st.integers(0, 5),
    st.frozensets(st.sampled_from("abc東"), max_size=2),
)
def test_a_text_is_read_no_further_than_its_content_words_are_counted(
    text: str, count: int, besides: frozenset[str]
) -> None:
    assert has_content_words(text, count, besides) == (len(content_words(text) - besides) >= count)
