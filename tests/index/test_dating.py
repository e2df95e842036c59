from __future__ import annotations

from datetime import UTC, datetime

from embermem.index.dating import DateTable, asked_of, met, without_days
from embermem.languages.dates.engine import date_spans

ASKED_AT = datetime(2026, 8, 1, 12, tzinfo=UTC)


def table(*said: tuple[str, datetime]) -> DateTable:
    dates = DateTable()
    dates.add_all((text, at, True) for text, at in said)
    return dates


def day(month: int, number: int, year: int = 2026) -> datetime:
    return datetime(year, month, number, 12, tzinfo=UTC)


def on_days(dates: DateTable, query: str, n: int | None = None, *, spoken_of: bool = False) -> list[float]:
    rows = dates.said.length if n is None else n
    found = dates.on_days(date_spans(query, ASKED_AT), rows, ASKED_AT, spoken_of=spoken_of)
    return [round(float(value), 2) for value in found]


def test_what_was_said_on_the_days_asked_for_or_speaks_of_them_counts_and_all_of_their_days_are_alike() -> None:
    cases: list[tuple[str, list[tuple[str, datetime]], list[float]]] = [
        ("on 6 June 2026", [("We walked last weekend.", day(6, 10)), ("We walked.", day(7, 20))], [1.0, 0.0]),
        ("on 6 June 2026", [("We walked.", day(6, 6)), ("We slept.", day(6, 7)), ("We ran.", day(6, 5))], [1, 0, 0]),
        # Said on the day, but of another one only.
        ("on 3 May 2026", [("On 18 May we move.", day(5, 3)), ("Ran.", day(5, 3)), ("Ran.", day(5, 4))], [0.75, 1, 0]),
        ("on 3 May 2026", [("Today I ran, on 18 May we move.", day(5, 3))], [1.0]),
        # A plan for a day that is past, and for one that is not.
        ("on 6 June 2026", [("On 6 June we move.", day(5, 1)), ("We moved.", day(6, 6))], [0.75, 1.0]),
        ("on 9 August 2026", [("On 9 August we move.", day(5, 1))], [1.0]),
        ("in March 2026", [("I ran.", day(3, 1)), ("I ran.", day(3, 31)), ("I ran.", day(4, 1))], [1, 1, 0]),
        # Where nothing lies on the days, those right before and after them count.
        ("on 6 June 2026", [("It rained.", day(6, 5)), ("Snow.", day(6, 9)), ("Sun.", day(7, 20))], [0.39, 0.24, 0]),
        # A wide span says little of a day.
        ("on 5 March 2025", [("Last year was hard.", day(8, 1)), ("On 5 March 2025 I moved.", day(8, 1))], [0.02, 1.0]),
        # Without a year: the one that is meant, then the others.
        ("in May", [("Beans.", day(5, 10, 2024)), ("Peas.", day(5, 10)), ("Corn.", day(9, 10, 2025))], [0.4, 1.0, 0.0]),
        ("2026年6月6日", [("上周末去了湿地公园。", day(6, 10)), ("今天下雨。", day(7, 20))], [1.0, 0.0]),
        ("who", [("Hello", day(5, 1))], [0.0]),
        ("in May 2026", [], []),
    ]  # fmt: skip
    for query, said, expected in cases:
        assert on_days(table(*said), query) == expected, query

    beside = ("It rained.", day(6, 6)), ("On 6 June we move.", day(5, 1))
    assert on_days(table(*beside), "on 6 June 2026", spoken_of=True) == [0.0, 1.0]


def test_the_first_rows_alone_are_looked_at() -> None:
    dates = table(("Hello", day(5, 1)), ("It was on 6 June 2026.", day(7, 1)))
    assert on_days(dates, "1 May 2026", n=1) == [1.0]
    assert dates.dated(2).tolist() == [False, True]
    assert dates.dated(1).tolist() == [False]


def test_a_day_is_asked_for_unless_the_query_names_it_for_something_else() -> None:
    cases = {
        "What did I cook yesterday?": "What did I cook ?", "the trip we planned for 18 May": None,
        "What did I do since March?": None, "What should I cook today?": None,
        "Who lives there today?": None, "What is the Friday dessert?": None,
        "What did I eat today?": "What did I eat ?",
        "what did I eat on 3 May": "what did I eat on",
        "I was ill yesterday. Where did we eat on Friday?": "I was ill yesterday. Where did we eat on ?",
        "die Reise, die wir für den 18. Mai geplant haben": None, "¿Qué cociné ayer?": "¿Qué cociné ?",
        "el viaje que planeamos para el 18 de mayo": None, "le voyage prévu pour le 18 mai": None,
        "5月18日に予定していた旅行": None, "昨天我做了什么菜？": " 我做了什么菜？",
        "今天我做了什么菜？": " 我做了什么菜？", "5月18号计划的旅行": None,
    }  # fmt: skip
    for query, rest in cases.items():
        asked = asked_of(query, date_spans(query, ASKED_AT), ASKED_AT)
        assert (without_days(query, asked).rstrip() if asked else None) == rest, query


def test_what_ended_is_met_by_past_days_on_which_it_was_so() -> None:
    cases: list[tuple[str, str | None, str, bool]] = [
        ("in March 2026", "2026-01-10", "2026-06-03", True), ("in March", "2026-01-10", "2026-06-03", True),
        ("in March", "2026-04-10", "2026-06-03", False), ("in March", None, "2026-02-01", True),
        ("in March 2026", "2026-01-10", "2026-01-10", False), ("on 29 February", "2023-05-01", "2023-06-01", False),
        ("next week", "2026-01-10", "2026-12-01", False), ("today", "2026-01-10", "2026-11-02", False),
        ("yesterday", "2026-01-10", "2026-11-02", True),
    ]  # fmt: skip
    for asked, since, until, was in cases:
        now = datetime(2026, 11, 2, 10, tzinfo=UTC)
        begin, end = (
            None if day is None else datetime.fromisoformat(f"{day}T10:00:00+00:00") for day in (since, until)
        )
        assert end is not None
        assert met(date_spans(f"Where was I {asked}?", now), begin, end, now) == was
