"""A memory of somebody who speaks French, Spanish or German: what is said is learnt, and told in that language."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from embermem import Memory

AT = datetime(2026, 11, 21, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "told", "query", "found"),
    [
        (
            ("J'habite à Nantes avec mon mari Paul.", "Hier j'ai acheté un vélo électrique."),
            ("habite à Nantes", "a un mari, Paul", "a acheté un vélo électrique (20 novembre 2026)"),
            "Quand est-ce que j'ai acheté mon vélo ?",
            "vélo électrique",
        ),
        (
            ("Vivo en Sevilla con mi marido Pablo.", "Ayer compré una bicicleta eléctrica."),
            ("vive en Sevilla", "tiene un marido, Pablo", "compró una bicicleta eléctrica (20 de noviembre de 2026)"),
            "¿Cuándo compré la bicicleta?",
            "bicicleta eléctrica",
        ),
        (
            ("Ich wohne mit meinem Mann Paul in Köln.", "Gestern habe ich ein E-Bike gekauft."),
            ("wohnt in Köln", "hat einen Ehemann, Paul", "hat ein E-Bike gekauft (20. November 2026)"),
            "Wann habe ich das E-Bike gekauft?",
            "E-Bike",
        ),
    ],
)
def test_what_is_said_is_learnt_and_told_in_its_language(
    tmp_path: Path, said: Sequence[str], told: Sequence[str], query: str, found: str
) -> None:
    with Memory(tmp_path / "memory.db", embedder="hashed") as memory:
        alice = memory.of("alice")
        for text in said:
            alice.add(text, "Ok.", at=AT)
        alice.settle()
        facts = [fact.text for fact in alice.facts()]
        for sentence in told:
            assert any(sentence in text for text in facts), (sentence, facts)
        context = alice.recall(query, at=AT)
    assert found in context.text
