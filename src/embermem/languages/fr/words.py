"""Words: function words, the singular."""

from __future__ import annotations

from typing import Final

from embermem.languages.inflected_words import InflectedWords
from embermem.languages.language import words_of

# They carry grammar, not topic. Written for this project; negations are kept out of the list.
STOP_WORDS: Final = frozenset(
    """
    le la les l' un une des du de d' au aux ce cet cette ces ça c' cela ceci celui celle ceux celles
    je j' tu il elle on nous vous ils elles me m' te t' se s' lui leur leurs eux moi toi soi y en
    mon ma mes ton ta tes son sa ses notre nos votre vos mien mienne tien tienne sien sienne
    et ou où mais donc or ni car que qu' qui quoi dont quel quelle quels quelles lequel laquelle quand comment
    pourquoi combien si comme parce puisque lorsque lorsqu' quoique afin ainsi alors aussi
    à a dans par pour sur sous avec sans chez vers entre depuis pendant avant après contre dès jusque jusqu' selon
    suis es est sommes êtes sont étais était étions étiez étaient été être serai sera serait seront soit sois
    ai as avons avez ont avais avait avions aviez avaient eu avoir aurai aura aurait aurais auront
    vais vas va allons allez vont aller fais fait faisons faites font faire
    peux peut pouvez peuvent pouvoir veux veut voulez veulent vouloir dois doit devez doivent devoir
    très trop plus moins peu beaucoup bien tout toute tous toutes même mêmes autre autres quelque quelques chaque
    ici là là-bas encore déjà toujours souvent parfois enfin puis ensuite presque surtout vraiment
    oui ouais ok okay salut bonjour bonsoir coucou merci svp stp hein bah euh bref voilà voici
    chose choses truc trucs c'est j'ai n' qu'est-ce est-ce
    """.split()
)
TELLING: Final = (STOP_WORDS | frozenset(
    """
    pas ne jamais rien personne plusieurs aujourd'hui hier demain maintenant
    habite habites habitons travaille travailles aime aimes adore déteste préfère s'appelle m'appelle appelle
    vit née né mère père sœur frère fille fils mari femme enfants ans mois semaine année jour jours
    noël pâques pentecôte toussaint
    lundi mardi mercredi jeudi vendredi samedi dimanche
    janvier février mars avril mai juin juillet août septembre octobre novembre décembre
    comptes prévoit prévois voudrais aimerais étudie apprends apprend joue joues dernier dernière prochain prochaine
    souviens rappelle rappelles allergique beau belle petit petite grand grande nouveau nouvelle bon bonne mieux
    longtemps semaines heure heures fois génial d'accord désolé où
    """.split()
)) - frozenset("or car main mine mars pendant grand petite grande".split())  # fmt: skip
"""Words by which a text is known to be French: not those that another language's texts are full of."""
ELIDED: Final = r"(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|quoiqu)'"
_SAME: Final = frozenset(
    "fois mois bras pays temps corps cours choix voix prix noix croix paix souris ananas jus bus avis tennis repas bois"
    " dos fils gens os radis permis progrès succès procès accès anglais français japonais portugais polonais irlandais"
    " cas pois ours virus campus paris londres nantes cannes tours reims deux trois six dix plus moins dessous très"
    " toujours jamais univers concours discours secours parcours velours relais palais marais mauvais épais frais"
    " heureux sérieux délicieux vieux faux doux roux jaloux nerveux curieux gros gras bas las suis vais fais sais"
    " gâteau".split()
)


def singular(word: str) -> str:
    """The singular of a lower-cased noun by rule; words that are no plural pass unchanged."""
    if word in _SAME or len(word) < 4:
        return word
    if word.endswith(("eaux", "eux", "oux")):
        return word[:-1]
    if word.endswith("aux") and len(word) > 5:
        return word[:-3] + "al"
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is", "as", "os", "ès")) else word


WORDS: Final = InflectedWords(
    "french", STOP_WORDS, fillers=lambda: words_of("fr", "fillers"), elided=ELIDED, singular=singular
)
