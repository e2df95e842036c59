"""Standing instructions to the agent: "réponds-moi toujours en français", "ne m'appelle plus Bob"."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from typing import Final

from embermem.core.patterns import regex
from embermem.languages.facts.order_reader import Orders

_I: Final = re.IGNORECASE
_ANSWER: Final = r"(?:(?:répond(?:s|re|ez)|écri(?:s|re|vez)|parle[rz]?|explique[rz]?|communique[rz]?)(?:-(?:moi|nous))?|me répond(?:re|es|iez)|me parle[rs]?|m'écri(?:re|ves)|m'explique[rs]?)"
_NOT: Final = r"(?:ne |n'|pas |plus |jamais |arrête(?:z|r)? d(?:e |')|évite(?:z|r)? (?:de |d')?)*"
_LANGS: Final = r"(?:français|anglais|espagnol|allemand|italien|portugais|néerlandais|russe|arabe|chinois|japonais|coréen|turc|polonais|catalan)"
_SHORT: Final = r"(?:plus |très |assez |le plus )?(?:court(?:e|es|s)?|brièvement|brefs?|brèves?|bref|concis(?:e|es)?|succincte?s?|concise|de (?:façon|manière) (?:plus )?(?:concise|brève|courte|détaillée)|en (?:une|deux|trois|quelques|\d+) (?:phrases?|mots|lignes)|en détail|longuement|détaillée?s?)"

ORDERS: Final = Orders(
    not_own=regex(
        r"\b(?:disait|a dit|m'a dit|ont dit|dit toujours|répète toujours|écrit|règlement|devise|proverbe|paroles|affiche|panneau|système|prompt|jeu de rôle|histoire|roman|personnage|imagine|mon (?:chef|patron|prof|père|coach|médecin|mari|fils|frère|ami|client)|ma (?:cheffe|prof|mère|femme|fille|sœur|amie|cliente))\b|https?://|\{|\}|\btu es (?:un|une) \w+",
        _I,
    ),
    once=regex(
        r"\b(?:aujourd'hui|demain|ce soir|maintenant|cette fois|pour une fois|ce|cet|cette|ces|ça|cela|celui|celle|il|elle|le texte|la lettre|le mail|l'article|le code|la recette|la liste|le document|lui|leur|les enfants|attends|une minute|un instant|deux minutes)\b",
        _I,
    ),
    cut=regex(r"\s*[,;:()–—]\s+|\s+-\s+|[.!?…]+\s*$|\s+(?:et|mais|car|parce que?|sinon|donc)\s+(?=(?:ne|n'|pas|évite|utilise|réponds|parle|appelle|tutoie|arrête|merci|c'est|je|j'|ça|toujours|jamais|donne|mets)\b)", _I),
    filler=regex(r"^(?:(?:et|mais|alors|donc|ok|d'accord|oui|non|bon|ben|au fait|sinon|bonjour|salut|merci|stp|svp|s'il te plaît|s'il vous plaît|petite (?:demande|précision)|une (?:chose|demande)|aussi|note|dorénavant|désormais)\b[\s,:]*)+", _I),
    asks=regex(
        r"^(?:(?:peux|pourrais)-tu|(?:pouvez|pourriez)-vous|tu (?:peux|pourrais|dois)|vous (?:pouvez|pourriez|devez)|est-ce que tu (?:peux|pourrais)|(?:j'aimerais|je voudrais|je veux|je préfère|je préférerais|j'apprécierais|il faut|ce serait bien) que (?:tu|vous)|(?:merci|prière) de|pense(?:z)? à|n'oublie(?:z)? pas de|essaie(?:z)? de)\s+",
        _I,
    ),
    lasting=regex(
        r"\b(?:toujours|jamais|à l'avenir|dorénavant|désormais|à partir de (?:maintenant|aujourd'hui)|d[eé]s (?:maintenant|à présent)|à chaque (?:fois|réponse|message)|chaque fois|par défaut|en permanence|systématiquement|dans (?:toutes )?(?:tes|vos) (?:futures |prochaines )?réponses|tout le temps|plus jamais|ne [\w'-]+ plus|n'\w+ plus|arrête(?:z)? d(?:e|'))\b",
        _I,
    ),
    kept=regex(r"toujours|jamais|systématiquement|plus|arrête|chaque|réponses", _I),
    verbs=regex(
        r"(?:toujours |systématiquement )?(?:m'|me )?(?:répond|écri|parl|expliqu|donn|utilis|emplo|propos|recommand|suggèr|suggér|commenc|termin|finis|finir|cit|indiqu|mets|mett|rappel|demand|évit|appell|tutoie|tutoy|vouvo|corrig|ajout|convert|vérif|arrêt|dis|dire|dites|mentionn|montr|fais|faire|faites|tiens|tenir|sois|être|soyez|garde|pos|signal|adress|salu|résum|aborde)\w*",
        _I,
    ),
    never=regex(r"\b(?:ne |n'|pas |plus |jamais )+", _I),
    standing=(
        ("language", regex(rf"{_NOT}(?:toujours )?(?:{_ANSWER}|réponses|on parle|parlons|passe|reste)(?: toujours| plus| pas| jamais| uniquement| seulement)*(?: (?:à nouveau|avec moi))? (?:en|au) {_LANGS}(?: (?:uniquement|seulement|avec moi|plutôt))?", _I), ""),
        ("length", regex(rf"{_NOT}(?:(?:toujours )?{_ANSWER}(?: toujours)?|(?:fais|donne|garde|préfère)(?:-moi)? (?:moi )?(?:toujours )?(?:des |tes |les )?(?:réponses|messages|explications)(?: toujours)?|(?:sois|reste|soyez)|des réponses|(?:je (?:préfère|veux)|j'(?:aime|aimerais)) (?:avoir )?(?:des |les )?réponses) {_SHORT}(?: (?:et|mais) (?:{_SHORT}|clair\w*|simple\w*|direct\w*))?", _I), ""),
        ("length", regex(r"(?:pas de|évite les) (?:longues réponses|réponses (?:trop )?longues|pavés|longs textes)", _I), ""),
        ("formality", regex(r"(?:(?:tutoie[sz]?|tutoyez|tutoyer)(?:-moi)?|on (?:peut )?se (?:tutoie|tutoyer)|me (?:tutoyer|tutoies?)|(?:ne |n')?(?:me )?vouvoie[sz]?(?:-moi)? (?:plus|pas))(?: toujours)?", _I), "tutoie-moi"),
        ("formality", regex(r"(?:(?:vouvoie[sz]?|vouvoyez|vouvoyer)(?:-moi)?|on (?:peut )?se (?:vouvoie|vouvoyer)|me (?:vouvoyer|vouvoies?)|(?:ne |n')?(?:me )?tutoie[sz]?(?:-moi)? (?:plus|pas))(?: toujours)?", _I), "vouvoie-moi"),
        ("emojis", regex(rf"(?:{_NOT}(?:mets|mettre|mettes|utilise[rsz]?|emploie|ajoute[rsz]?)(?: plus| pas| jamais| toujours)*(?: d'| des | d’)?\s?(?:émojis?|emojis?|smileys?|émoticônes?)|(?:pas|plus|jamais|sans|zéro) (?:d'|de )?(?:émojis?|emojis?|smileys?)|évite[rz]? les (?:émojis?|emojis?|smileys?))(?: (?:dans|avec) (?:tes|vos|les) (?:réponses|messages))?", _I), ""),
        ("units", regex(r"(?:utilise[rsz]?|donne[rsz]?|emploie|reste)(?:-moi)?(?: toujours)? .{0,30}(?:système métrique|unités métriques|système impérial|kilomètres|mètres|kilos)(?: .{0,20})?", _I), ""),
        ("temperature", regex(r"(?:utilise[rsz]?|donne[rsz]?)(?:-moi)?(?: toujours)? .{0,25}(?:celsius|fahrenheit)", _I), ""),
        ("wording", regex(rf"{_ANSWER}(?:-moi)?(?: toujours)? (?:avec des mots simples|simplement|en langage simple|sans jargon)", _I), ""),
        ("bullets", regex(r"(?:utilise|réponds|fais|évite|pas de)(?:-moi)?(?: toujours| avec| sous forme de)*(?: des| les| de)? (?:listes? à puces|puces)", _I), ""),
        ("", regex(r"(?:ne )?(?:m'appelle[sz]?|me surnomme[sz]?) (?:plus|pas|jamais) .{2,20}", _I), ""),
        ("", regex(r"(?:appelle|appelez)-moi (?!quand|dès|si|à|au|ce|plus|demain|sur|pour|un|une)\w[\w '-]{1,20}", _I), ""),
        ("", regex(r"(?:ne (?:me )?|n')(?:parle|demande|mentionne|évoque|reparle|rappelle)[sz]?(?:-moi)? (?:plus|jamais) .{3,40}", _I), ""),
    ),
    back=(
        ("length", regex(r"(?:tu peux|vous pouvez)?\s*(?:à nouveau |de nouveau )?(?:faire|répondre|me faire)(?: à nouveau| de nouveau)? (?:plus |des réponses (?:plus )?)?(?:longuement|longues|normalement)(?: maintenant)?", _I)),
        ("emojis", regex(r"(?:re)?mettre (?:à nouveau )?des (?:émojis|emojis|smileys)", _I)),
        ("language", regex(rf"(?:plus besoin|pas besoin|inutile) de (?:me )?(?:répondre|parler|écrire) en {_LANGS}", _I)),
    ),
    no_name="ne m'appelle plus ",
    until=regex(r"\bjusqu'(?:à |au |en )(?P<t>(?:la fin (?:du mois|de la semaine|de l'année)|[^,.;!?]{3,25}))", _I),
    until_label="jusqu'au {}",
    spare=regex(r"[\s,]+(?:s'il te plaît|s'il vous plaît|stp|svp|merci(?: d'avance)?|ok|d'accord|hein|si possible|quand tu me réponds|avec moi|à moi|pour moi)$", _I),
)  # fmt: skip
