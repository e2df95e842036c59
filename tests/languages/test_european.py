"""French, Spanish and German: what statements say, what says nothing, dates, questions, and the languages themselves."""

# ruff: noqa: E501  (a row is read in one piece)

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

from embermem import Memory, languages
from embermem.analysts.screening import screen
from embermem.languages import named
from embermem.languages.dates.engine import date_spans
from embermem.languages.questions import (
    asked_attributes,
    asks_for_overview,
    asks_for_several,
)
from embermem.languages.words import content_words, sentences, terms

SAID = datetime(2026, 11, 21, 9, tzinfo=UTC)
"""A Saturday."""

STATED = {
    "fr": """
Bonjour, je m'appelle Claire Dumont et j'ai 34 ans. | name: Claire Dumont; age: 34
J'habite à Lyon depuis trois ans avec mon mari Paul. | has_relative: mari Paul; lives_in: Lyon
J'habite à Lyon, tu connais un bon restaurant ? | lives_in: Lyon
Je viens de déménager à Grenoble. | lives_in: Grenoble
Je n'habite plus à Lyon. | -lives_in: Lyon
Je suis né à Casablanca mais j'ai grandi à Montpellier. | born_in: Casablanca; grew_up_in: Montpellier
Je suis née le 12 mars 1990 à Rennes. | birthday: 12 mars; birth_year: 1990; born_in: Rennes
Je suis infirmière à l'hôpital Saint-Joseph. | works_as: infirmière; works_at: hôpital Saint-Joseph
Je bosse comme développeur web chez Ubisoft. | works_as: développeur web; works_at: Ubisoft
J'ai démissionné. | -works_at:
Je suis à la retraite. | -works_as: ; -works_at:
J'étudie la biologie à l'université de Strasbourg. | studies: biologie; studies_at: l'université de Strasbourg
Ma sœur Ana est infirmière, elle habite à Nantes. | has_relative: sœur Ana; sœur Ana works_as: infirmière; sœur Ana lives_in: Nantes
Mon fils Hugo a 5 ans. | has_relative: fils Hugo; fils Hugo age: 5
Ma mère s'appelle Monique. | has_relative: mère Monique
J'ai deux frères et une sœur. | has_relative: deux frères et une sœur
J'ai un chien qui s'appelle Rex. | has_pet: chien Rex
Mon chien Rex est mort. | -has_pet: chien Rex
Je suis allergique aux noix et aux crevettes. | allergic_to: noix; allergic_to: crevettes
Je suis diabétique. | health: diabétique
Je ne mange pas de porc. | avoids: porc
Je n'aime pas le café mais j'adore le thé vert. | dislikes: le café; likes: le thé vert
Mon film préféré est Le Grand Bleu. | favorite_movie: Le Grand Bleu
Je fais du yoga et je joue du piano. | hobby: yoga; plays: du piano
J'ai acheté un vélo électrique hier. | did: a acheté un vélo électrique
Je me suis mariée en juin 2020. | did: s'est mariée
J'ai réussi mon examen de conduite ! | did: a réussi son examen de conduite
La semaine prochaine je vais déménager à Bordeaux. | plans: déménager à Bordeaux
J'aimerais visiter le Japon. | would_like_to: visiter le Japon
Je veux perdre du poids. | wants_to: perdre du poids
Réponds-moi toujours en français s'il te plaît. | instruction_language: réponds-moi toujours en français
Tutoie-moi. | instruction_formality: tutoie-moi
À partir de maintenant, réponds brièvement. | instruction_length: réponds brièvement
Ne m'appelle plus Bob. | instruction: ne m'appelle plus Bob; -nickname: Bob
""",
    "es": """
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
Ya puse la ofrenda y me puse el vestido. | did: se puso el vestido
Mi marido y yo hemos comprado una casa. | has_relative: marido; did: ha comprado una casa
La semana que viene voy a mudarme a Valencia. | plans: mudarse a Valencia
Me gustaría visitar Japón. | would_like_to: visitar Japón
Quiero perder peso. | wants_to: perder peso
Respóndeme siempre en español, por favor. | instruction_language: respóndeme siempre en español
Tutéame. | instruction_formality: tutéame
A partir de ahora responde brevemente. | instruction_length: responde brevemente
No me llames más Bob. | instruction: no me llames más Bob; -nickname: Bob
""",
    "de": """
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
""",
}
"""Messages, and behind ` | ` what they say, parted by `; `."""

NOTHING = {
    "fr": """
Tu habites à Lyon ? | Est-ce que je suis allergique aux arachides ? | Si j'habitais à Paris, je serais heureuse.
Mon frère dit que j'habite à Lille. | Il m'a dit : « je suis médecin ». | Je pense que je vais acheter une voiture.
Je ne sais pas si je vais déménager. | Quand j'étais petite, j'habitais à Tunis.
Imagine que je m'appelle Pierre et que j'habite à Rome. | Traduis : je suis boulanger et j'habite à Nice.
J'ai rêvé que j'habitais à Rome et que j'avais un chien. | Peut-être que j'ai une allergie aux noix.
Je suis à Paris pour deux jours. | Je suis fatiguée aujourd'hui. | J'aime bien ta réponse.
Je voudrais une recette de tarte aux pommes. | Appelle-moi demain. | J'habite à Lyon, non ?
J'habite sur la Lune. Je plaisante ! | Ma voisine s'appelle comment déjà ?
""",
    "es": """
¿Vives en Sevilla? | ¿Soy alérgica a las nueces? | Si viviera en Madrid, sería feliz.
Mi hermano dice que vivo en Lille. | Me dijo: «soy médico». | Creo que voy a comprar un coche.
Cuando era niña vivía en Túnez. | Imagina que me llamo Pedro y que vivo en Roma.
Traduce: soy panadero y vivo en Niza. | Soñé que vivía en Roma y tenía un perro.
A lo mejor tengo alergia a las nueces. | Estoy cocinando en casa. | Mi trabajo es aburrido.
El trabajo como camarera me cansa. | Me encanta tu respuesta. | Quiero una receta de tortilla. | Llámame mañana.
Vivo en Sevilla, ¿no? | Vivo en la Luna. ¡Es broma!
""",
    "de": """
Wohnst du in Köln? | Bin ich allergisch gegen Nüsse? | Wenn ich in Berlin wohnen würde, wäre ich glücklich.
Mein Bruder sagt, ich wohne in Lille. | Er hat mir gesagt: „Ich bin Arzt." | Ich glaube, ich kaufe mir ein Auto.
Als ich klein war, habe ich in Tunis gewohnt. | Stell dir vor, ich heiße Peter und wohne in Rom.
Übersetze: Ich bin Bäcker und wohne in Nizza. | Ich habe geträumt, dass ich in Rom wohne und einen Hund habe.
Vielleicht habe ich eine Nussallergie. | Ich koche gerade. | Ich lebe in Scheidung. | Ich bin müde.
Ich liebe deine Antwort. | Ich hätte gern ein Rezept für Kartoffelsuppe. | Wir haben einen Hund gesehen.
Ich wohne in Köln, oder? | Ich wohne auf dem Mond. War nur Spaß!
""",
}

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


def told(code: str, text: str) -> list[str]:
    """What a message says of its speaker: "name: Ana", "sœur Ana lives_in: Lyon"; "-" before what is no longer so."""
    screened = screen(text)
    found = [] if screened is None else [*named(code).facts(screened, SAID), *named(code).instructions(screened, SAID)]
    return [
        f"{'' if one.subject == 'user' else one.subject + ' '}{'-' * one.retracts}{one.attribute}: {one.value}".strip()
        for one in found
        if not (one.retracts and one.attribute in ("likes", "dislikes"))
    ]


def dated(text: str) -> str:
    """The dates of a text: "2026-11-20", "2026-11-09..2026-11-15"."""
    spans = date_spans(text, SAID)
    return " ".join(f"{one.first}" if one.first == one.last else f"{one.first}..{one.last}" for one in spans)


def test_a_statement_gives_facts() -> None:
    for code, table in STATED.items():
        for row in table.strip().splitlines():
            text, _, expected = row.partition(" | ")
            assert told(code, text) == [one.strip() for one in expected.split(";")], text


def test_what_is_no_statement_of_the_speaker_gives_nothing() -> None:
    for code, table in NOTHING.items():
        assert {text: got for text in re.split(r" \| |\n", table.strip()) if (got := told(code, text)) != []} == {}


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


def test_what_is_said_is_learnt_and_told_in_its_language(tmp_path: Path) -> None:
    cases = [
        (
            ("J'habite à Nantes avec mon mari Paul.", "Hier j'ai acheté un vélo électrique."),
            ("habite à Nantes", "a un mari, Paul", "a acheté un vélo électrique (20 novembre 2026)"),
            ("Quand est-ce que j'ai acheté mon vélo ?", "vélo électrique"),
        ),
        (
            ("Vivo en Sevilla con mi marido Pablo.", "Ayer compré una bicicleta eléctrica."),
            ("vive en Sevilla", "tiene un marido, Pablo", "compró una bicicleta eléctrica (20 de noviembre de 2026)"),
            ("¿Cuándo compré la bicicleta?", "bicicleta eléctrica"),
        ),
        (
            ("Ich wohne mit meinem Mann Paul in Köln.", "Gestern habe ich ein E-Bike gekauft."),
            ("wohnt in Köln", "hat einen Ehemann, Paul", "hat ein E-Bike gekauft (20. November 2026)"),
            ("Wann habe ich das E-Bike gekauft?", "E-Bike"),
        ),
    ]
    with Memory(tmp_path / "memory.db", embedder="hashed") as memory:
        for number, (said, learnt, (query, found)) in enumerate(cases):
            alice = memory.of(f"alice {number}")
            for text in said:
                alice.add(text, "Ok.", at=SAID)
            alice.settle()
            facts = [fact.text for fact in alice.facts()]
            for sentence in learnt:
                assert any(sentence in text for text in facts), (sentence, facts)
            assert found in alice.recall(query, at=SAID).text
