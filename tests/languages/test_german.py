"""German: what statements say, what says nothing, dates, questions, and the language itself."""

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
Hallo, ich heiße Anna Weber und bin 34 Jahre alt. | name: Anna Weber; age: 34
Ich wohne seit drei Jahren mit meinem Mann Paul in Köln. | has_relative: Ehemann Paul; lives_in: Köln
Ich wohne in Köln, kennst du ein gutes Restaurant? | lives_in: Köln
Ich wohne nicht mehr in Köln. | -lives_in: Köln
Ich komme aus Wien, bin aber in Graz aufgewachsen. | comes_from: Wien; grew_up_in: Graz
Ich bin am 12. März 1990 in Bremen geboren. | birthday: 12. März; birth_year: 1990; born_in: Bremen
Ich bin Krankenschwester im Krankenhaus Sankt Josef. | works_as: Krankenschwester; works_at: Krankenhaus Sankt Josef
Ich arbeite seit 2019 bei Siemens. | works_at: Siemens
Ich bin seit zwei Jahren in Rente. | -works_as: ; -works_at:
Ich studiere Biologie an der Uni Freiburg. | studies: Biologie; studies_at: Uni Freiburg
Meine Schwester Lena ist Anwältin, wohnt in Hamburg und ist 28. | has_relative: Schwester Lena; Schwester Lena works_as: Anwältin; Schwester Lena lives_in: Hamburg; Schwester Lena age: 28
Meine Mutter heißt Monika. | has_relative: Mutter Monika
Ich habe zwei Brüder und eine Schwester. | has_relative: zwei Brüder und eine Schwester
Ich habe einen Hund namens Rex. | has_pet: Hund Rex
Mein Hund Rex ist letzte Woche gestorben. | -has_pet: Hund Rex
Wir haben im Mai ein Kätzchen adoptiert. | has_pet: ein Kätzchen
Ich bin allergisch gegen Nüsse und Krabben. | allergic_to: Nüsse; allergic_to: Krabben
Ich habe eine Nussallergie. | allergic_to: Nuss
Ich bin Diabetiker und habe Bluthochdruck. | health: Diabetiker; has_condition: Bluthochdruck
Ich esse kein Schweinefleisch. | avoids: Schweinefleisch
Ich mag keinen Kaffee, aber ich liebe grünen Tee. | dislikes: Kaffee; likes: grünen Tee
Ich mag Kaffee überhaupt nicht. | dislikes: Kaffee
Ich trinke gern Tee und lese gerne Krimis. | likes: Tee trinken; likes: Krimis lesen
Mein Lieblingsfilm ist Das Boot. | favorite_movie: Das Boot
Ich mache Yoga und spiele Klavier. | hobby: Yoga; plays: Klavier
Gestern habe ich ein E-Bike gekauft. | did: hat ein E-Bike gekauft
Ich habe im Juni 2020 geheiratet. | did: hat geheiratet
Mein Mann und ich haben ein Haus gekauft. | has_relative: Ehemann; did: hat ein Haus gekauft
Nächste Woche ziehe ich nach Leipzig. | plans: Umzug nach Leipzig
Am Dienstag habe ich ein Vorstellungsgespräch bei Bosch. | plans: ein Vorstellungsgespräch bei Bosch
Ich würde gern Japan besuchen. | would_like_to: Japan besuchen
Ich will abnehmen. | wants_to: abnehmen
Ich versuche, mit dem Rauchen aufzuhören. | gives_up: mit dem Rauchen
Antworte mir bitte immer auf Deutsch. | instruction_language: antworte mir bitte immer auf Deutsch
Bitte duze mich. | instruction_formality: duze mich
Antworte ab jetzt kurz. | instruction_length: antworte kurz
Nenn mich nicht mehr Bob. | instruction: nenn mich nicht mehr Bob; -nickname: Bob
"""

NOTHING = """
Wohnst du in Köln?
Bin ich allergisch gegen Nüsse?
Wenn ich in Berlin wohnen würde, wäre ich glücklich.
Mein Bruder sagt, ich wohne in Lille.
Er hat mir gesagt: „Ich bin Arzt."
Ich glaube, ich kaufe mir ein Auto.
Als ich klein war, habe ich in Tunis gewohnt.
Stell dir vor, ich heiße Peter und wohne in Rom.
Übersetze: Ich bin Bäcker und wohne in Nizza.
Ich habe geträumt, dass ich in Rom wohne und einen Hund habe.
Vielleicht habe ich eine Nussallergie.
Ich koche gerade.
Ich lebe in Scheidung.
Ich bin müde.
Ich liebe deine Antwort.
Ich hätte gern ein Rezept für Kartoffelsuppe.
Wir haben einen Hund gesehen.
Ich wohne in Köln, oder?
Ich wohne auf dem Mond. War nur Spaß!
"""


def test_a_german_statement_gives_facts() -> None:
    assert {text: got for text, expected in rows(STATED) if (got := told("de", text)) != expected} == {}


def test_what_is_no_german_statement_of_the_speaker_gives_nothing() -> None:
    assert {text: got for text in NOTHING.strip().splitlines() if (got := told("de", text)) != []} == {}


def test_a_german_date_is_those_days() -> None:
    cases = [
        ("Wir haben uns gestern gesehen.", "2026-11-20"), ("Das war vorgestern, glaube ich.", "2026-11-19"),
        ("Wir fahren am 12. März 2027 mit ihnen.", "2027-03-12"), ("Das war am 1. September.", "2026-09-01"),
        ("Er ist am 3.2.2019 geboren.", "2019-02-03"), ("Ich war letzte Woche dort.", "2026-11-09..2026-11-15"),
        ("Ich fahre nächsten Monat.", "2026-12-01..2026-12-31"),
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
    ]  # fmt: skip
    assert {text: got for text, days in cases if (got := dated(text)) != days} == {}


def test_german_words_match_whatever_their_endings_and_umlauts() -> None:
    assert set(terms("Wo habe ich damals gearbeitet?")) | set(terms("arbeite"))
    assert set(terms("Welche Bücher mag ich?")) & set(terms("Das Buch gefällt mir sehr."))
    assert set(terms("Wie heißt die Straße?")) & set(terms("Wir wohnen in der Bahnhofstrasse, also an der Strasse."))
    assert "katz" in content_words("Wie heißen meine Katzen?")


def test_a_name_matches_between_german_and_a_text_too_short_to_tell() -> None:
    for name in ("Niklas", "Jürgen", "Lukas", "Marie", "Heike"):
        assert set(terms(name)) & set(terms(f"Gestern habe ich {name} mit meiner Mutter gesehen."))


def test_german_sentences_do_not_end_behind_an_abbreviation_or_an_ordinal() -> None:
    text = "Kommst du? Ja, z. B. am 12. März mit Dr. Roth. Danke!"
    assert [text[a:b] for a, b in sentences(text)] == ["Kommst du?", "Ja, z. B. am 12. März mit Dr. Roth.", "Danke!"]


def test_what_a_german_question_asks_for() -> None:
    assert asks_for_time("Wann bin ich umgezogen?")
    assert asks_for_number("Wie viele Brüder hat Paul?")
    assert asks_for_several("Welche Bücher habe ich gelesen?")
    assert asks_for_overview("Was weißt du über mich?")
    assert not asks_for_overview("Was weißt du über mein Knie?")
    assert "lives_in" in asked_attributes("Wo wohne ich?")
    assert "has_pet" in asked_attributes("Wie heißt mein Hund?") or "has_pet" in asked_attributes("Habe ich Haustiere?")


def test_facts_are_told_in_german() -> None:
    german = languages.named("de")
    assert german.statement("lives_in", "Köln") == "wohnt in Köln"
    assert german.statement("has_relative", "Schwester Ana") == "hat eine Schwester, Ana"
    assert german.no_longer("lives_in", "Köln") == "wohnt nicht mehr in Köln"
    assert german.until(SAID) == " (bis 21. November 2026)"
    assert german.month(SAID) == "November 2026"
