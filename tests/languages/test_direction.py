"""Whether a date lies ahead or behind, and which statement it belongs to, in each language that has dates.

Said on Thursday, 26 November 2026, unless a row says otherwise.
"""

from __future__ import annotations

from datetime import UTC, date, datetime

from embermem.analysts.screening import screen
from embermem.languages.dates.engine import date_spans
from embermem.languages.en import LANGUAGE as ENGLISH

SAID = datetime(2026, 11, 26, 10, tzinfo=UTC)
JUNE = datetime(2026, 6, 15, 10, tzinfo=UTC)

WEEKDAYS = {
    "She needs the draft by {}.": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
    "Il lui faut le brouillon pour {}.": "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "Necesita el borrador para el {}.": "lunes martes miércoles jueves viernes sábado domingo",
    "Sie braucht den Entwurf bis {}.": "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag",
    "{}までに原稿が必要です。": "月曜日 火曜日 水曜日 木曜日 金曜日 土曜日 日曜日",
    "她{}之前需要草稿。": "周一 周二 周三 周四 周五 周六 周日",
}


def test_a_weekday_that_something_is_due_by_is_the_next() -> None:
    for sentence, names in WEEKDAYS.items():
        for weekday, name in enumerate(names.split()):
            (span,) = date_spans(sentence.format(name), SAID)
            assert span.first.weekday() == weekday, name
            assert 0 < (span.first - SAID.date()).days <= 7, sentence.format(name)


def test_words_before_and_after_a_date_and_the_tense_of_its_clause_say_on_which_side_it_lies() -> None:
    cases = [
        # ahead whatever the tense
        (JUNE, "I've already negotiated a cut starting July 1.", date(2026, 7, 1)),
        (SAID, "I booked a table for Tuesday.", date(2026, 12, 1)),
        (SAID, "J'ai négocié une baisse à partir de lundi.", date(2026, 11, 30)),
        (SAID, "He negociado una rebaja a partir del lunes.", date(2026, 11, 30)),
        (SAID, "Ich habe es spätestens am Montag gebraucht.", date(2026, 11, 30)),
        (SAID, "最晚周二交了就行。", date(2026, 12, 1)),
        # ahead unless the clause is in the past
        (SAID, "The contract is due in April.", date(2027, 4, 1)), (SAID, "I need it by September.", date(2027, 9, 1)),
        (SAID, "I needed to hand it in by Tuesday, and did.", date(2026, 12, 1)),
        (SAID, "I had lived there until August.", date(2026, 8, 1)),
        (SAID, "Il faut le rendre avant juillet.", date(2027, 7, 1)),
        (SAID, "J'ai habité là jusqu'en août.", date(2026, 8, 1)), (SAID, "Lo necesito para julio.", date(2027, 7, 1)),
        (SAID, "Viví allí hasta agosto, y trabajé mucho.", date(2026, 8, 1)),
        (SAID, "Ich brauche es bis Juli.", date(2027, 7, 1)), (SAID, "Ich war dort bis Juli.", date(2026, 7, 1)),
        (SAID, "7月までに必要です。", date(2027, 7, 1)), (SAID, "7月まで住んでいました。", date(2026, 7, 1)),
        (SAID, "七月之前需要。", date(2027, 7, 1)), (SAID, "七月之前交了。", date(2026, 7, 1)),
        # behind whatever else the clause says
        (JUNE, "She has needed it since August.", date(2025, 8, 1)),
        (JUNE, "Elle en a besoin depuis août.", date(2025, 8, 1)),
        (JUNE, "La necesita desde agosto.", date(2025, 8, 1)), (JUNE, "Sie braucht es seit August.", date(2025, 8, 1)),
        (JUNE, "8月から住んでいる。", date(2025, 8, 1)), (JUNE, "八月以来一直在这。", date(2025, 8, 1)),
        # by the tense
        (SAID, "My sister arrives on Tuesday.", date(2026, 12, 1)),
        (SAID, "I was ill but will be back on Tuesday.", date(2026, 12, 1)),
        (SAID, "My sister arrived on Tuesday.", date(2026, 11, 24)), (JUNE, "We met in September.", date(2025, 9, 1)),
        (SAID, "Ma sœur est arrivée mardi.", date(2026, 11, 24)),
        (JUNE, "Nous sommes allés à Rome en août.", date(2025, 8, 1)),
        (JUNE, "Fuimos a Roma en agosto.", date(2025, 8, 1)),
        (JUNE, "Wir sind im August nach Rom gefahren.", date(2025, 8, 1)),
        (JUNE, "8月にローマに行きました。", date(2025, 8, 1)), (JUNE, "八月去了罗马。", date(2025, 8, 1)),
        # the nearest where nothing says so
        (SAID, "May 2 is a holiday.", date(2027, 5, 2)),
    ]  # fmt: skip
    for said, text, first in cases:
        spans = date_spans(text, said)
        assert [span.first for span in spans] == [first], text


def test_a_range_of_weekdays_is_no_deadline() -> None:
    for text in ("We work from Monday until Friday.", "Wir arbeiten von Montag bis Freitag."):
        assert all(span.first < SAID.date() for span in date_spans(text, SAID)), text


def told(text: str, said: datetime) -> list[tuple[str, str, str | None]]:
    screened = screen(text)
    assert screened is not None
    found = ENGLISH.facts(screened, said)
    return [(one.attribute, one.value, None if one.when is None else one.when.label) for one in found]


def test_a_date_belongs_to_the_statement_of_its_clause() -> None:
    for text, expected in (
        ("My sister lives in Seville and came in April.", ("lives_in", "Seville", None)),
        ("My laptop crashed last week and I lost my work.", ("did", "lost their work", "8–14 June 2026")),
        ("It is going to snow tomorrow, and I enjoy cold weather.", ("likes", "cold weather", None)),
        ("I moved to Berlin in September.", ("lives_in", "Berlin", "September 2025")),
        ("I've negotiated a cut starting July 1.", ("did", "negotiated a cut starting 1 July 2026", None)),
    ):
        assert expected in told(text, JUNE), (text, told(text, JUNE))


def test_a_holiday_that_says_which_things_are_meant_is_no_time_of_a_statement() -> None:
    for text in ("I've learned a lot about Halloween traditions.", "I bought new Christmas decorations."):
        found = told(text, JUNE)
        assert found, text
        assert all(when is None for _, _, when in found), text
