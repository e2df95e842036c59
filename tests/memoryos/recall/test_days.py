"""Questions about days: what was said on them, or speaks of them, comes first."""

from __future__ import annotations

from datetime import timedelta
from itertools import islice
from pathlib import Path

from talking import START, Line, fact, snapshot

from embermem import Memory
from embermem.core.config import load
from embermem.core.types import Owner, OwnerId, Persona
from embermem.index.query_context import Query
from embermem.memoryos.people import People
from embermem.memoryos.recall.retrieval import rank

ASKED_AT = START + timedelta(days=18)
"""Wednesday 20 May 2026."""
LIVES = {
    "en": [
        (6, "Cooked pumpkin curry"), (0, "On 19 May we move out"), (6, "Grandma called"), (13, "The plumber called"),
        (14, "We hiked to the ruin"), (17, "Cooked an omelette with chives"), (17, "Tomorrow I see the dentist"),
        (17, "Ran six miles to the river"), (18, "Yesterday I argued with the landlord"),
        (17, "Did you cook the omelette?"),
    ],
    "de": [
        (6, "Kürbiscurry gekocht"), (0, "Am 19. Mai ziehen wir um"), (6, "Oma hat angerufen"),
        (13, "Der Klempner hat angerufen"), (14, "Wir sind zur Ruine gewandert"),
        (17, "Ein Omelett mit Schnittlauch und Käse gekocht"),
        (17, "Morgen muss ich zum Zahnarzt"), (17, "Ich bin sechs Meilen am Fluss entlang gelaufen"),
        (18, "Gestern habe ich mit der Vermieterin gestritten"), (17, "Hast du das Omelett gekocht?"),
    ],
    "es": [
        (6, "Cociné curry de calabaza"), (0, "El 19 de mayo nos mudamos"), (6, "Llamó la abuela"),
        (13, "Llamó el fontanero"), (14, "Subimos a la ruina"), (17, "Cociné una tortilla con cebolla y queso"),
        (17, "Mañana voy al dentista"), (17, "Corrí seis millas por el río y volví"),
        (18, "Ayer discutí con la casera"),
        (17, "¿Cocinaste la tortilla?"),
    ],
    "zh": [
        (6, "做了南瓜咖喱"), (0, "5月19日我们搬家"), (6, "奶奶打电话来"), (13, "水管工打电话来"),
        (14, "我们爬山去了古堡"), (17, "做了洋葱奶酪煎蛋和吐司"), (17, "明天要去看牙医"),
        (17, "跑了六公里到河边再回来"),
        (18, "昨天和房东吵架了"), (17, "你做了煎蛋吗？"),
    ],
}  # fmt: skip
"""The days from 2 May, and what was said."""
CASES = {
    "en": {
        "What did I do yesterday?": [{5, 7, 8}, {1, 6}, {9}], "What did I cook yesterday?": [{5}],
        "Who called on Friday two weeks ago?": [{2}], "What did we do last weekend?": [{4}],
        "Who called on 15 May?": [{3}],
        "what happened on 2026-05-16": [{4}], "When do we move, as we planned for 19 May?": [{1}],
    },
    "de": {
        "Was habe ich gestern gemacht?": [{5, 7, 8}, {1, 6}, {9}], "Was habe ich gestern gekocht?": [{5}],
        "Wer hat am Freitag vor zwei Wochen angerufen?": [{2}], "Was haben wir letztes Wochenende gemacht?": [{4}],
        "Wer hat am 15.5. angerufen?": [{3}],
    },
    "es": {
        "¿Qué hice ayer?": [{5, 7, 8}, {1, 6}, {9}], "¿Qué cociné ayer?": [{5}], "¿Quién llamó el 15/5/2026?": [{3}],
        "¿Quién llamó el viernes de hace dos semanas?": [{2}], "¿Qué hicimos el fin de semana pasado?": [{4}],
    },
    "zh": {
        "我昨天做了什么？": [{5, 7, 8}, {1, 6}, {9}], "两周前的星期五谁打了电话？": [{2}],
        "上周末我们做了什么？": [{4}],
        "5月15日谁打了电话？": [{3}],
    },
}  # fmt: skip
"""Which of them come first, in this order of groups. What tells of a day comes before plans for it, what was said on it
of other days, and questions."""


def test_what_was_said_on_the_days_asked_for_or_speaks_of_them_comes_first() -> None:
    wrong: dict[str, object] = {}
    for code, said in LIVES.items():
        order = sorted(range(len(said)), key=lambda place: said[place][0])
        memory = snapshot([Line(said[place][1], thread=f"t{place}", day=said[place][0]) for place in order])
        for query, first in CASES[code].items():
            hits = rank(memory, Query(text=query, at=ASKED_AT), load()).hits
            places = iter(order[hit.utterance.seq - 1] for hit in hits)
            got = [set(islice(places, len(group))) for group in first]
            wrong |= {} if got == first else {query: got}
    assert wrong == {}


def test_a_fact_of_the_days_asked_for_or_of_what_was_said_on_them_comes_first_among_facts() -> None:
    said = ["I cooked curry", "I cooked an omelette", "I have been cooking at the school kitchen since 19 May"]
    lines = [Line(text, thread=f"t{day}", day=day) for day, text in zip((6, 17, 18), said, strict=True)]
    facts = (
        fact("curry", "Alice cooked curry", 1),
        fact("omelette", "Alice cooked an omelette", 2),
        fact("school", "Alice cooked at the school", 3, since=START + timedelta(days=17)),
    )
    memory = snapshot(lines, persona=Persona(facts=facts))
    people = People(Owner(id=OwnerId("o"), user="alice", agent="a"), memory.persona)
    for query, first in (("What did I do yesterday?", 2), ("What did I cook yesterday?", 2)):
        told = rank(memory, Query(text=query, at=ASKED_AT), load()).facts(people)
        assert {one.id for one, _ in told[:first]} == {"omelette", "school"}, query
    told = rank(memory, Query(text="What did I cook on 8 May?", at=ASKED_AT), load()).facts(people)
    assert told[0][0].id == "curry"


def test_a_question_about_a_day_before_anything_was_said_is_answered_with_nothing(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", embedder="hashed", background=False) as memory:
        assert memory.of("ann").recall("What did I do yesterday?").hits == ()
