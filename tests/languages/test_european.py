"""French, Spanish and German: dates, words, questions, and how a fact is worded."""

# ruff: noqa: E501  (a row is read in one piece)

from __future__ import annotations

from datetime import UTC, datetime

from embermem import languages
from embermem.languages.dates.engine import date_spans
from embermem.languages.questions import (
    asked_attributes,
    asks_for_overview,
    asks_for_several,
)
from embermem.languages.words import content_words, sentences, terms

SAID = datetime(2026, 11, 21, 9, tzinfo=UTC)
"""A Saturday."""

DATES = {
    "fr": [
        ("On s'est vus hier.", "2026-11-20"), ("C'était avant-hier, je crois.", "2026-11-19"),
        ("Nous partons le 12 mars 2027 avec eux.", "2027-03-12"), ("C'était le 1er septembre.", "2026-09-01"),
        ("Il est né le 03/02/2019 à Brest.", "2019-02-03"),
        ("J'y étais la semaine dernière.", "2026-11-09..2026-11-15"),
        ("Je pars le mois prochain.", "2026-12-01..2026-12-31"),
        ("L'année dernière j'étais au lycée.", "2025-01-01..2025-12-31"), ("Je l'ai vue lundi dernier.", "2026-11-16"),
        ("On y va samedi prochain.", "2026-11-28"), ("Elle est partie il y a trois ans.", "2023-01-01..2023-12-31"),
        ("J'habite ici depuis deux mois.", "2026-09-01..2026-09-30"), ("Je reviens dans dix jours.", "2026-12-01"),
        ("Il a appelé le vendredi d'il y a deux semaines.", "2026-11-06"),
        ("C'était la semaine avant Pâques 2026.", "2026-03-29..2026-04-04"), ("Elle travaillait le 18/05.", "2026-05-18"),
        ("Il a appelé le mardi de la semaine dernière.", "2026-11-10"),
        ("C'était entre le 3 et le 5 mai.", "2026-05-03..2026-05-05"),
        ("C'était en mars 2024.", "2024-03-01..2024-03-31"),
        ("C'était début mars 2024 je crois.", "2024-03-01..2024-03-10"),
        ("C'était à la mi-mars 2024, je crois.", "2024-03-11..2024-03-20"),
        ("Nous y étions l'été dernier.", "2026-06-01..2026-08-31"),
        ("Ce week-end je reste chez moi.", "2026-11-21..2026-11-22"), ("On se voit à Noël.", "2026-12-25"),
        ("J'ai couru les trois derniers mois.", "2026-08-21..2026-11-21"),
        ("Je cours le lundi et tous les mardis.", ""), ("Demain soir je vais au cinéma.", "2026-11-22"),
        ("Je suis là du 3 au 7 mai 2027.", "2027-05-03..2027-05-07"),
    ],
    "es": [
        ("Nos vimos ayer.", "2026-11-20"), ("Fue anteayer, creo.", "2026-11-19"),
        ("Nos vamos el 12 de marzo de 2027 con ellos.", "2027-03-12"), ("Fue el 1 de septiembre.", "2026-09-01"),
        ("Estuve allí la semana pasada.", "2026-11-09..2026-11-15"),
        ("Me voy el mes que viene.", "2026-12-01..2026-12-31"),
        ("Llamó el viernes de hace dos semanas.", "2026-11-06"), ("Fue el 18/5, creo.", "2026-05-18"),
        ("Fue la semana antes de Pascua.", "2026-03-29..2026-04-04"),
        ("¿Qué hice el martes de la semana pasada?", "2026-11-10"), ("¿Qué hice el finde?", "2026-11-21..2026-11-22"),
        ("Fue entre el 3 y el 5 de mayo.", "2026-05-03..2026-05-05"), ("Fue el Domingo de Resurrección.", "2026-04-05"),
        ("El año pasado estaba en el instituto.", "2025-01-01..2025-12-31"), ("La vi el lunes pasado.", "2026-11-16"),
        ("Vamos el próximo sábado.", "2026-11-28"), ("Se fue hace tres años.", "2023-01-01..2023-12-31"),
        ("Vivo aquí desde hace dos meses.", "2026-09-01..2026-09-30"), ("Vuelvo dentro de diez días.", "2026-12-01"),
        ("Fue en marzo de 2024.", "2024-03-01..2024-03-31"),
        ("Fue a principios de marzo de 2024, creo.", "2024-03-01..2024-03-10"),
        ("Estuvimos allí el verano pasado.", "2026-06-01..2026-08-31"),
        ("Este fin de semana me quedo en casa.", "2026-11-21..2026-11-22"),
        ("Mañana por la noche voy al cine.", "2026-11-22"), ("Corro por la mañana y todos los martes.", ""),
        ("Estoy allí del 3 al 7 de mayo de 2027.", "2027-05-03..2027-05-07"),
    ],
    "de": [
        ("Wir haben uns gestern gesehen.", "2026-11-20"), ("Das war vorgestern, glaube ich.", "2026-11-19"),
        ("Wir fahren am 12. März 2027 mit ihnen.", "2027-03-12"), ("Das war am 1. September.", "2026-09-01"),
        ("Er ist am 3.2.2019 geboren.", "2019-02-03"), ("Ich war letzte Woche dort.", "2026-11-09..2026-11-15"),
        ("Er hat am Freitag vor zwei Wochen angerufen.", "2026-11-06"), ("Was war an Ostern?", "2026-04-03..2026-04-06"),
        ("Was war an Christi Himmelfahrt?", "2026-05-14"), ("Was war am Pfingstmontag?", "2026-05-25"),
        ("In der Woche vor Ostern war ich krank.", "2026-03-29..2026-04-04"), ("Ich war am 18.5. dort.", "2026-05-18"),
        ("Am Montagabend war ich müde.", "2026-11-16"), ("Ich fahre nächsten Monat.", "2026-12-01..2026-12-31"),
        ("Letztes Jahr war ich noch in der Schule.", "2025-01-01..2025-12-31"),
        ("Ich habe sie letzten Montag gesehen.", "2026-11-16"), ("Wir gehen nächsten Samstag hin.", "2026-11-28"),
        ("Sie ist vor drei Jahren weggezogen.", "2023-01-01..2023-12-31"),
        ("Ich wohne hier seit zwei Monaten.", "2026-09-01..2026-09-30"),
        ("Ich komme in zehn Tagen zurück.", "2026-12-01"), ("Das war im März 2024.", "2024-03-01..2024-03-31"),
        ("Das war Anfang März 2024, glaube ich.", "2024-03-01..2024-03-10"),
        ("Wir waren letzten Sommer dort.", "2026-06-01..2026-08-31"),
        ("Dieses Wochenende bleibe ich zu Hause.", "2026-11-21..2026-11-22"),
        ("Morgen Abend gehe ich ins Kino.", "2026-11-22"), ("Guten Morgen, ich laufe jeden Montag.", ""),
        ("Ich bin vom 3. bis 7. Mai 2027 dort.", "2027-05-03..2027-05-07"),
    ],
}  # fmt: skip


def dated(text: str) -> str:
    """The dates of a text: "2026-11-20", "2026-11-09..2026-11-15"."""
    spans = date_spans(text, SAID)
    return " ".join(f"{one.first}" if one.first == one.last else f"{one.first}..{one.last}" for one in spans)


def test_a_date_is_those_days() -> None:
    for cases in DATES.values():
        assert {text: got for text, days in cases if (got := dated(text)) != days} == {}


def test_a_query_and_a_text_match_whatever_their_endings_accents_and_umlauts() -> None:
    assert set(terms("Où est-ce que je travaillais à l'époque ?")) & set(terms("Je travaille dans une école."))
    assert "ecol" in terms("C'est l'école de ma fille.")
    assert "ecol" in terms("C'est une Ecole de musique")
    assert "mang" in content_words("Qu'est-ce que j'ai mangé hier ?")
    assert set(terms("¿Dónde trabajaba yo antes?")) & set(terms("Trabajo en una escuela."))
    assert set(terms("¿Qué canciones me gustan?")) & set(terms("Esa cancion me encanta, la canción del verano"))
    assert "perr" in content_words("¿Cómo se llama mi perra?")
    assert set(terms("Wo habe ich damals gearbeitet?")) | set(terms("arbeite"))
    assert set(terms("Welche Bücher mag ich?")) & set(terms("Das Buch gefällt mir sehr."))
    assert set(terms("Wie heißt die Straße?")) & set(terms("Wir wohnen in der Bahnhofstrasse, also an der Strasse."))
    assert "katz" in content_words("Wie heißen meine Katzen?")


def test_a_name_matches_between_a_language_and_a_text_too_short_to_tell() -> None:
    for said, names in {
        "J'ai vu {} hier avec ma mère.": "Nicolas Amélie Thomas Marie Inès",
        "Ayer vi a {} con mi madre.": "Nicolás Lucía Carmen Marcos Inés",
        "Gestern habe ich {} mit meiner Mutter gesehen.": "Niklas Jürgen Lukas Marie Heike",
    }.items():
        assert [name for name in names.split() if not set(terms(name)) & set(terms(said.format(name)))] == []


def test_sentences_end_before_a_mark_that_stands_apart_and_not_behind_an_abbreviation_or_an_ordinal() -> None:
    for parts in (
        ["Tu viens ?", "Oui, avec M. Dupont et Mme. Roy.", "Merci !"],
        ["¿Vienes?", "Sí, con el Sr. Díaz y la Dra. Gil.", "¡Gracias!"],
        ["Kommst du?", "Ja, z. B. am 12. März mit Dr. Roth.", "Danke!"],
    ):
        text = " ".join(parts)
        assert [text[a:b] for a, b in sentences(text)] == parts


def test_what_a_question_asks_for() -> None:
    assert asks_for_several("Quels livres ai-je lus ?")
    assert asks_for_overview("Qu'est-ce que tu sais de moi ?")
    assert not asks_for_overview("Qu'est-ce que tu sais de mon genou ?")
    assert "lives_in" in asked_attributes("Où est-ce que j'habite ?")
    assert "has_pet" in asked_attributes("Comment s'appelle mon chien ?")
    assert asks_for_several("¿Qué libros he leído?")
    assert asks_for_overview("¿Qué sabes de mí?")
    assert not asks_for_overview("¿Qué sabes de mi rodilla?")
    assert "lives_in" in asked_attributes("¿Dónde vivo?")
    assert "has_pet" in asked_attributes("¿Cómo se llama mi perro?")
    assert asks_for_several("Welche Bücher habe ich gelesen?")
    assert asks_for_overview("Was weißt du über mich?")
    assert not asks_for_overview("Was weißt du über mein Knie?")
    assert "lives_in" in asked_attributes("Wo wohne ich?")
    assert "has_pet" in asked_attributes("Wie heißt mein Hund?") or "has_pet" in asked_attributes("Habe ich Haustiere?")


def test_facts_are_told_in_the_language_that_was_spoken() -> None:
    french = languages.named("fr")
    assert french.statement("lives_in", "Lyon") == "habite à Lyon"
    assert french.statement("lives_in", "Italie") == "habite en Italie"
    assert french.statement("plans", "acheter un vélo") == "prévoit d'acheter un vélo"
    assert french.statement("has_relative", "sœur Ana") == "a une sœur, Ana"
    assert french.no_longer("lives_in", "Lyon") == "n'habite plus à Lyon"
    assert french.until(SAID) == " (jusqu'au 21 novembre 2026)"
    assert french.month(SAID) == "novembre 2026"
    spanish = languages.named("es")
    assert spanish.statement("lives_in", "Sevilla") == "vive en Sevilla"
    assert spanish.statement("likes", "el café") == "disfruta del café"
    assert spanish.statement("has_relative", "hermana Ana") == "tiene una hermana, Ana"
    assert spanish.no_longer("lives_in", "Sevilla") == "ya no vive en Sevilla"
    assert spanish.until(SAID) == " (hasta el 21 de noviembre de 2026)"
    assert spanish.month(SAID) == "noviembre de 2026"
    german = languages.named("de")
    assert german.statement("lives_in", "Köln") == "wohnt in Köln"
    assert german.statement("has_relative", "Schwester Ana") == "hat eine Schwester, Ana"
    assert german.no_longer("lives_in", "Köln") == "wohnt nicht mehr in Köln"
    assert german.until(SAID) == " (bis 21. November 2026)"
    assert german.month(SAID) == "November 2026"
