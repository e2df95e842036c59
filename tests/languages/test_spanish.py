"""Spanish: what statements say, what says nothing, dates, questions, and the language itself."""

# ruff: noqa: E501  (a row is read in one piece)

from __future__ import annotations

from embermem import languages
from embermem.languages.questions import (
    asked_attributes,
    asks_for_number,
    asks_for_overview,
    asks_for_several,
    asks_for_time,
)
from embermem.languages.words import content_words, sentences, terms
from languages.european import SAID, dated, rows, told

STATED = """
Hola, me llamo Carmen Ruiz y tengo 41 años. | name: Carmen Ruiz; age: 41
Soy Marta. | name: Marta
Vivo en Sevilla desde hace diez años con mi marido Pablo. | has_relative: marido Pablo; lives_in: Sevilla
Vivo en Sevilla, ¿conoces algún restaurante? | lives_in: Sevilla
Ya no vivo en Sevilla. | -lives_in: Sevilla
Soy de Buenos Aires pero crecí en Montevideo. | comes_from: Buenos Aires; grew_up_in: Montevideo
Nací el 12 de marzo de 1985 en Cádiz. | birthday: 12 de marzo; birth_year: 1985; born_in: Cádiz
Soy enfermera en el hospital Virgen del Rocío. | works_as: enfermera; works_at: hospital Virgen del Rocío
Trabajo para Iberdrola. | works_at: Iberdrola
Renuncié ayer. | -works_at:
Estoy jubilada. | -works_as: ; -works_at:
Estudio biología en la universidad de Salamanca. | studies: biología; studies_at: la universidad de Salamanca
Mi hermana Lucía es abogada, vive en Bilbao y tiene 30 años. | has_relative: hermana Lucía; hermana Lucía works_as: abogada; hermana Lucía lives_in: Bilbao; hermana Lucía age: 30
Mi madre se llama Rosa. | has_relative: madre Rosa
Tengo dos hermanos y una hermana. | has_relative: dos hermanos y una hermana
Tengo un perro que se llama Rex. | has_pet: perro Rex
Mi perro Rex murió. | -has_pet: perro Rex
Soy alérgica a las nueces y a los mariscos. | allergic_to: nueces; allergic_to: mariscos
Soy diabético. | health: diabético
No como cerdo. | avoids: cerdo
No me gusta el café pero me encanta el té verde. | dislikes: el café; likes: el té verde
Mi película favorita es El Sur. | favorite_movie: El Sur
Hago yoga y toco el piano. | hobby: yoga; plays: el piano
Ayer compré una bicicleta eléctrica. | did: compró una bicicleta eléctrica
Me casé en junio de 2020. | did: se casó
Mi marido y yo hemos comprado una casa. | has_relative: marido; did: ha comprado una casa
La semana que viene voy a mudarme a Valencia. | plans: mudarse a Valencia
Me gustaría visitar Japón. | would_like_to: visitar Japón
Quiero perder peso. | wants_to: perder peso
Respóndeme siempre en español, por favor. | instruction_language: respóndeme siempre en español
Tutéame. | instruction_formality: tutéame
A partir de ahora responde brevemente. | instruction_length: responde brevemente
No me llames más Bob. | instruction: no me llames más Bob; -nickname: Bob
"""

NOTHING = """
¿Vives en Sevilla?
¿Soy alérgica a las nueces?
Si viviera en Madrid, sería feliz.
Mi hermano dice que vivo en Lille.
Me dijo: «soy médico».
Creo que voy a comprar un coche.
Cuando era niña vivía en Túnez.
Imagina que me llamo Pedro y que vivo en Roma.
Traduce: soy panadero y vivo en Niza.
Soñé que vivía en Roma y tenía un perro.
A lo mejor tengo alergia a las nueces.
Estoy cocinando en casa.
Mi trabajo es aburrido.
El trabajo como camarera me cansa.
Me encanta tu respuesta.
Quiero una receta de tortilla.
Llámame mañana.
Vivo en Sevilla, ¿no?
Vivo en la Luna. ¡Es broma!
"""


def test_a_spanish_statement_gives_facts() -> None:
    assert {text: got for text, expected in rows(STATED) if (got := told("es", text)) != expected} == {}


def test_what_is_no_spanish_statement_of_the_speaker_gives_nothing() -> None:
    assert {text: got for text in NOTHING.strip().splitlines() if (got := told("es", text)) != []} == {}


def test_a_spanish_date_is_those_days() -> None:
    cases = [
        ("Nos vimos ayer.", "2026-11-20"), ("Fue anteayer, creo.", "2026-11-19"),
        ("Nos vamos el 12 de marzo de 2027 con ellos.", "2027-03-12"), ("Fue el 1 de septiembre.", "2026-09-01"),
        ("Estuve allí la semana pasada.", "2026-11-09..2026-11-15"),
        ("Me voy el mes que viene.", "2026-12-01..2026-12-31"),
        ("El año pasado estaba en el instituto.", "2025-01-01..2025-12-31"), ("La vi el lunes pasado.", "2026-11-16"),
        ("Vamos el próximo sábado.", "2026-11-28"), ("Se fue hace tres años.", "2023-01-01..2023-12-31"),
        ("Vivo aquí desde hace dos meses.", "2026-09-01..2026-09-30"), ("Vuelvo dentro de diez días.", "2026-12-01"),
        ("Fue en marzo de 2024.", "2024-03-01..2024-03-31"),
        ("Fue a principios de marzo de 2024, creo.", "2024-03-01..2024-03-10"),
        ("Estuvimos allí el verano pasado.", "2026-06-01..2026-08-31"),
        ("Este fin de semana me quedo en casa.", "2026-11-21..2026-11-22"),
        ("Mañana por la noche voy al cine.", "2026-11-22"), ("Corro por la mañana y todos los martes.", ""),
        ("Estoy allí del 3 al 7 de mayo de 2027.", "2027-05-03..2027-05-07"),
    ]  # fmt: skip
    assert {text: got for text, days in cases if (got := dated(text)) != days} == {}


def test_spanish_words_match_whatever_their_endings_and_accents() -> None:
    assert set(terms("¿Dónde trabajaba yo antes?")) & set(terms("Trabajo en una escuela."))
    assert set(terms("¿Qué canciones me gustan?")) & set(terms("Esa cancion me encanta, la canción del verano"))
    assert "perr" in content_words("¿Cómo se llama mi perra?")


def test_a_name_matches_between_spanish_and_a_text_too_short_to_tell() -> None:
    for name in ("Nicolás", "Lucía", "Carmen", "Marcos", "Inés"):
        assert set(terms(name)) & set(terms(f"Ayer vi a {name} con mi madre."))


def test_spanish_sentences_do_not_end_behind_an_abbreviation() -> None:
    text = "¿Vienes? Sí, con el Sr. Díaz y la Dra. Gil. ¡Gracias!"
    assert [text[a:b] for a, b in sentences(text)] == ["¿Vienes?", "Sí, con el Sr. Díaz y la Dra. Gil.", "¡Gracias!"]


def test_what_a_spanish_question_asks_for() -> None:
    assert asks_for_time("¿Cuándo me mudé?")
    assert not asks_for_time("¿Qué hago cuando llueve?")
    assert asks_for_number("¿Cuántos hermanos tiene Pablo?")
    assert asks_for_several("¿Qué libros he leído?")
    assert asks_for_overview("¿Qué sabes de mí?")
    assert not asks_for_overview("¿Qué sabes de mi rodilla?")
    assert "lives_in" in asked_attributes("¿Dónde vivo?")
    assert "has_pet" in asked_attributes("¿Cómo se llama mi perro?")


def test_facts_are_told_in_spanish() -> None:
    spanish = languages.named("es")
    assert spanish.statement("lives_in", "Sevilla") == "vive en Sevilla"
    assert spanish.statement("likes", "el café") == "disfruta del café"
    assert spanish.statement("has_relative", "hermana Ana") == "tiene una hermana, Ana"
    assert spanish.no_longer("lives_in", "Sevilla") == "ya no vive en Sevilla"
    assert spanish.until(SAID) == " (hasta el 21 de noviembre de 2026)"
    assert spanish.month(SAID) == "noviembre de 2026"
