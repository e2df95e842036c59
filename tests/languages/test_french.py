"""French: what statements say, what says nothing, dates, questions, and the language itself."""

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
"""

NOTHING = """
Tu habites à Lyon ?
Est-ce que je suis allergique aux arachides ?
Si j'habitais à Paris, je serais heureuse.
Mon frère dit que j'habite à Lille.
Il m'a dit : « je suis médecin ».
Je pense que je vais acheter une voiture.
Je ne sais pas si je vais déménager.
Quand j'étais petite, j'habitais à Tunis.
Imagine que je m'appelle Pierre et que j'habite à Rome.
Traduis : je suis boulanger et j'habite à Nice.
J'ai rêvé que j'habitais à Rome et que j'avais un chien.
Peut-être que j'ai une allergie aux noix.
Je suis à Paris pour deux jours.
Je suis fatiguée aujourd'hui.
J'aime bien ta réponse.
Je voudrais une recette de tarte aux pommes.
Appelle-moi demain.
J'habite à Lyon, non ?
J'habite sur la Lune. Je plaisante !
Ma voisine s'appelle comment déjà ?
"""


def test_a_french_statement_gives_facts() -> None:
    assert {text: got for text, expected in rows(STATED) if (got := told("fr", text)) != expected} == {}


def test_what_is_no_french_statement_of_the_speaker_gives_nothing() -> None:
    assert {text: got for text in NOTHING.strip().splitlines() if (got := told("fr", text)) != []} == {}


def test_a_french_date_is_those_days() -> None:
    cases = [
        ("On s'est vus hier.", "2026-11-20"), ("C'était avant-hier, je crois.", "2026-11-19"),
        ("Nous partons le 12 mars 2027 avec eux.", "2027-03-12"), ("C'était le 1er septembre.", "2026-09-01"),
        ("Il est né le 03/02/2019 à Brest.", "2019-02-03"),
        ("J'y étais la semaine dernière.", "2026-11-09..2026-11-15"),
        ("Je pars le mois prochain.", "2026-12-01..2026-12-31"),
        ("L'année dernière j'étais au lycée.", "2025-01-01..2025-12-31"), ("Je l'ai vue lundi dernier.", "2026-11-16"),
        ("On y va samedi prochain.", "2026-11-28"), ("Elle est partie il y a trois ans.", "2023-01-01..2023-12-31"),
        ("J'habite ici depuis deux mois.", "2026-09-01..2026-09-30"), ("Je reviens dans dix jours.", "2026-12-01"),
        ("C'était en mars 2024.", "2024-03-01..2024-03-31"),
        ("C'était début mars 2024 je crois.", "2024-03-01..2024-03-10"),
        ("C'était à la mi-mars 2024, je crois.", "2024-03-11..2024-03-20"),
        ("Nous y étions l'été dernier.", "2026-06-01..2026-08-31"),
        ("Ce week-end je reste chez moi.", "2026-11-21..2026-11-22"), ("On se voit à Noël.", "2026-12-25"),
        ("J'ai couru les trois derniers mois.", "2026-08-21..2026-11-21"),
        ("Je cours le lundi et tous les mardis.", ""), ("Demain soir je vais au cinéma.", "2026-11-22"),
        ("Je suis là du 3 au 7 mai 2027.", "2027-05-03..2027-05-07"),
    ]  # fmt: skip
    assert {text: got for text, days in cases if (got := dated(text)) != days} == {}


def test_a_query_and_a_text_match_whatever_their_endings_and_accents() -> None:
    assert set(terms("Où est-ce que je travaillais à l'époque ?")) & set(terms("Je travaille dans une école."))
    assert "ecol" in terms("C'est l'école de ma fille.")
    assert "ecol" in terms("C'est une Ecole de musique")
    assert "mang" in content_words("Qu'est-ce que j'ai mangé hier ?")


def test_a_name_matches_between_french_and_a_text_too_short_to_tell() -> None:
    for name in ("Nicolas", "Amélie", "Thomas", "Marie", "Inès"):
        assert set(terms(name)) & set(terms(f"J'ai vu {name} hier avec ma mère."))


def test_sentences_end_before_a_mark_that_stands_apart() -> None:
    text = "Tu viens ? Oui, avec M. Dupont et Mme. Roy. Merci !"
    assert [text[a:b] for a, b in sentences(text)] == ["Tu viens ?", "Oui, avec M. Dupont et Mme. Roy.", "Merci !"]


def test_what_a_french_question_asks_for() -> None:
    assert asks_for_time("Quand est-ce que j'ai déménagé ?")
    assert not asks_for_time("Qu'est-ce que je fais quand il pleut ?")
    assert asks_for_number("Combien de frères a Paul ?")
    assert asks_for_several("Quels livres ai-je lus ?")
    assert asks_for_overview("Qu'est-ce que tu sais de moi ?")
    assert not asks_for_overview("Qu'est-ce que tu sais de mon genou ?")
    assert "lives_in" in asked_attributes("Où est-ce que j'habite ?")
    assert "has_pet" in asked_attributes("Comment s'appelle mon chien ?")


def test_facts_are_told_in_french() -> None:
    french = languages.named("fr")
    assert french.statement("lives_in", "Lyon") == "habite à Lyon"
    assert french.statement("lives_in", "Italie") == "habite en Italie"
    assert french.statement("plans", "acheter un vélo") == "prévoit d'acheter un vélo"
    assert french.statement("has_relative", "sœur Ana") == "a une sœur, Ana"
    assert french.no_longer("lives_in", "Lyon") == "n'habite plus à Lyon"
    assert french.until(SAID) == " (jusqu'au 21 novembre 2026)"
    assert french.month(SAID) == "novembre 2026"
