"""Rules of facts: how a speaker states them of themselves, and of relatives."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from embermem.core.patterns import regex
from embermem.languages.facts.clause_reader import Frame
from embermem.languages.facts.clause_values import CAP, Phrases, Read, count, fixed, group, known, name, place
from embermem.languages.facts.rules import Value
from embermem.languages.fr.vocabulary import AMOUNTS, MONTHS
from embermem.languages.language import words_of

_I: Final = re.IGNORECASE
NO_NAMES: Final = frozenset(
    "le la les un une je tu il elle on nous vous comme pas ma mon mes vraiment juste noël dieu paris internet"
    " bonjour merci oui non et mais aussi alors seule seul madame monsieur".split()
)
_NO_PLACES: Final = frozenset(
    "noël internet facebook twitter instagram youtube whatsapp dieu je il elle cdi cdd cm1 cm2 ce1 ce2 cp excel python"
    " lundi mardi mercredi jeudi vendredi samedi dimanche".split()
)
PHRASES: Final = Phrases(
    end=regex(
        r"\s*[,;:.!?…()]|\s(?:qui|que|qu'|dont|où|parce|car|mais|donc|alors|quand|lorsque?|comme|puisque?|si|s'il|pour que|afin|même si"
        r"|en ce moment|ces temps-ci|ces derniers temps|du coup|depuis(?! toujours)|tous les|toutes les|chaque|malgré|grâce|sauf|sinon|et (?:je|j'|on|il|elle|nous|ça|c'|mon|ma|puis|du coup|aussi)"
        r"|je|j'|c'est|ce qui|à cause|il y a|avant de|après avoir|pour le moment|pour l'instant|lol|mdr)\b",
        _I,
    ),
    refused=regex(
        r"\b(?:ça|cela|ceci|celui|celle|ceux|celles|lui|leur|eux|tu|te|toi|ton|ta|tes|(?<!-)vous|votre|vos|il|elle|ils|elles|moi|me|nous|rien|tout ce|chose|truc|trucs|quoi|y|en(?= (?:ai|est|fais|parle)))\b"
        r"|\b(?:t'|m'|d'y|l'(?:ai|avoir|ont))|^(?:pas|plus|jamais|le faire|la faire|bien|mieux|là|ici|comme)\b|^(?:le|la|les|l'|un|une|des|de|du|d'|à|au|aux)$|\?|\b(?:de|du|des|à|au|aux|et|ou|le|la|les|un|une|avec|pour|dans|sur|chez|en)$",
        _I,
    ),
    spare=regex(
        r"\s+(?:aussi|maintenant|actuellement|désormais|en général|d'ailleurs|vraiment|beaucoup|énormément|bien sûr|quand même|pour l'instant|enfin|récemment|déjà|encore|finalement|moi|hein|voilà|ici|là|là-bas|tout court|et|ou|bientôt|du tout|svp|s'il te plaît|merci)$",
        _I,
    ),
    opens=regex(r"^(?:le |la |les |l'|un |une |des |du |de la |de l'|de |d')", _I),
    mine=(
        (regex(r"\b(?:mon|notre)\b", _I), "son"),
        (regex(r"\bma\b", _I), "sa"),
        (regex(r"\b(?:mes|nos)\b", _I), "ses"),
    ),
)
_WORKPLACE: Final = r"(?:à l'|au |à la |dans une? )(?=(?:hôpital|école|université|usine|agence|lycée|collège|chu|cabinet|musée|restaurant|ministère|mairie|clinique|bibliothèque|banque|sncf|ratp|poste|crèche|maternelle|petite|grande|entreprise|boulangerie|pharmacie|hôtel|start-up|librairie)\b)"
_ADV: Final = (
    r"(?:(?:vraiment|toujours|encore|aussi|maintenant|désormais|actuellement|déjà|enfin|finalement|récemment|juste|tout juste|surtout|beaucoup|bien|tellement|énormément"
    r"|souvent|également|tout|officiellement|seule?|plutôt|trop|très|vite|hier|aujourd'hui|par contre|en fait|moi-même|fortement|gravement|légèrement|assez|profondément) )*"
)
_WE: Final = r"(?:nous|on)"
_phrase, _short = PHRASES.read(7, keep_article=True), PHRASES.read(5, keep_article=True)
_bare: Final = PHRASES.read(6)
_AT_WORK: Final = regex(r"\s(?:chez|à|au|aux|dans|pour|en (?=CDI|CDD|intérim|alternance))\b.*", _I)


def _until_place(read: Read) -> Read:
    """The same, without where it is."""

    def of(clause: str, pos: int) -> Value | None:
        cut = _AT_WORK.search(clause, pos)
        return read(clause if cut is None else clause[: cut.start()], pos)

    return of


_name, _place = (
    name(NO_NAMES),
    place(
        _NO_PLACES,
        r"(?:(?:à|en|au|aux|dans|près de|sur|vers|du côté de|dans la ville de|le|la|les|l')\s?(?:la |le |l')?)",
    ),
)
_IN: Final = r"(?=(?:à|en|au|aux|près d|du côté)\b)"
_A: Final = r"(?:à la |à l'|à |au |aux )"
_OF: Final = r"(?:de la |de l'|du |des |de |d')"
_END: Final = r"(?=\s*(?:[.,;!)]|$)|\s(?:et|mais|depuis|donc|car|à|en|chez|dans|avec|pour|par|aussi|maintenant|de)\b)"


def _jobs() -> frozenset[str]:
    return words_of("fr", "occupations")


_job: Final = known(
    _jobs,
    rf"(?: (?:indépendante?|libérale?|scolaire|retraitée?|junior|senior|freelance|en chef|adjointe?|{_OF}(?!métier|profession|formation|nuit\b)[a-zà-ÿœ]+|en (?:pédiatrie|psychiatrie|chef|informatique|libéral|marketing|communication|bâtiment|formation)|web|logiciel|commerciale?|social(?:e)?))?",
    opens=r"(?:une? )?(?:ancienne? (?!.)|jeune |futur(?!e?) )?",
)
_NATIONS: Final = (
    r"français|belge|suisse|canadien|québécois|algérien|marocain|tunisien|sénégalais|ivoirien|camerounais|malien|espagnol|italien|portugais|allemand|anglais|britannique|irlandais|écossais"
    r"|américain|mexicain|brésilien|argentin|chilien|colombien|polonais|russe|ukrainien|roumain|bulgare|grec|turc|libanais|syrien|iranien|chinois|japonais|coréen|vietnamien|indien|australien|néerlandais|luxembourgeois|suédois|norvégien|danois|finlandais|haïtien|congolais"
)
_LANGUAGES: Final = r"français|anglais|espagnol|allemand|italien|portugais|néerlandais|russe|arabe|chinois|mandarin|japonais|coréen|turc|polonais|grec|hébreu|suédois|norvégien|danois|finnois|hindi|vietnamien|roumain|hongrois|tchèque|ukrainien|catalan|breton|basque|créole|kabyle|wolof|latin"
_CONDITIONS: Final = r"diabète(?: de type (?:1|2))?|asthme|épilepsie|arthrose|arthrite|migraines?|maladie c(?:œ|oe)liaque|maladie de Crohn|dyslexie|acouphènes|insomnies?|hypertension|dépression|trouble bipolaire|autisme|endométriose|eczéma|psoriasis|lupus|scoliose|sclérose en plaques|apnée du sommeil|cholestérol|anémie|rhume des foins|tdah|cancer|sciatique|hernie discale|fibromyalgie|hypothyroïdie|glaucome"
_PETS: Final = r"chiens?|chiennes?|chats?|chattes?|chatons?|chiots?|lapins?|hamsters?|perroquets?|perruches?|canaris?|poissons?(?: rouges?)?|tortues?|cochons? d'inde|furets?|chevaux|cheval|jument|poneys?|poules?|serpents?|lézards?|geckos?|souris|rats?|oiseaux?|âne|chèvres?|gerbilles?"
_MALE_PETS: Final = "chien chat chaton chiot lapin hamster perroquet canari poisson furet cheval poney serpent lézard gecko rat oiseau âne".split()
_COUNT: Final = r"(?:une?|deux|trois|quatre|cinq|six|\d)"
_KINDS: Final = r"(?:enfants?|fils|filles?|frères?|s(?:œ|oe)urs?|jumeaux|jumelles|petits-enfants|petite-fille|petit-fils|neveux?|nièces?|demi-frères?|demi-s(?:œ|oe)urs?|cousins?|cousines?)"
_FOODS: Final = r"(?P<v>(?:viande|viande rouge|porc|poisson|fruits de mer|crustacés|(?:produits laitiers|lait)|gluten|lactose|œufs?|oeufs?|sucre|alcool|café|soda|sodas|noix|arachides?|cacahuètes|fromage|pain|épicé|piment|chocolat|bœuf|boeuf|soja)(?: rouge)?(?:(?:, | et | ni | ou )(?:de |d'|du )?(?:viande|porc|poisson|fruits de mer|lait|gluten|lactose|œufs|sucre|alcool|café|noix|fromage|pain|chocolat))*)"
_ACTIVITIES: Final = r"yoga|pilates|natation|vélo|VTT|escalade|randonnée|course à pied|footing|jogging|danse(?: [a-zà-ÿ]+)?|théâtre|judo|karaté|boxe|tennis|badminton|football|foot|basket|handball|volley|rugby|ski|snowboard|surf|voile|plongée|équitation|musculation|fitness|crossfit|gym(?:nastique)?|jardinage|poterie|couture|tricot|photo(?:graphie)?|dessin|peinture|aquarelle|bénévolat|piano|guitare|violon|violoncelle|batterie|chant|chorale|flûte|saxophone|méditation|pêche|chasse|bricolage|pâtisserie|escrime|aviron|kayak|patinage|golf|tir à l'arc|marche(?: nordique)?|échecs|trail|triathlon|taekwondo|aïkido|cirque|impro|origami|céramique|broderie"
_FEARS: Final = r"araignées|vide|avion|prendre l'avion|noir|serpents|chiens|aiguilles|eau|sang|clowns|ascenseurs|foule|hauteurs?|orages?|souris|guêpes|abeilles|requins|dentiste|piqûres"
_GOALS: Final = (
    r"perdre (?:du poids|quelques kilos|\d+ kilos|\d+ kg)|maigrir|arrêter (?:de fumer|la cigarette|l'alcool|de boire|le sucre)|apprendre (?:le|la|l'|à) ?[^,.;!?]{2,30}|courir (?:un|le) (?:semi-)?marathon[^,.;!?]{0,15}"
    r"|(?:me remettre|reprendre) (?:au|le) sport|faire plus de sport|manger (?:mieux|plus sainement|équilibré|moins de [a-z]+)|mieux dormir|dormir plus|économiser[^,.;!?]{0,30}|passer (?:le|mon) permis|acheter (?:une maison|un appartement|une voiture)|changer de (?:travail|métier|carrière)|monter (?:ma|une) (?:boîte|entreprise)|créer (?:ma|mon|une) entreprise|réussir (?:mon|le|mes) [^,.;!?]{3,25}|devenir [^,.;!?]{3,25}|écrire un (?:livre|roman)|avoir un enfant"
)
_goal: Final = PHRASES.read(8, keep_article=True)

_A_PET: Final = regex(
    rf"(?:(?P<count>{_COUNT}) )?(?P<kind>(?:petite?s? |vieux |vieille |gros |grosse |jeunes? |adorables? )?(?:{_PETS}))"
    r"(?P<more>(?: (?:(?!nommé|appelé|qui|et|mais|de |à |dans |pour|depuis|aussi|chez|hier|très|s'appelle|est|a |ne |vient)[a-zà-ÿœ]+))?)\b(?!-)"
    rf"(?P<named>,? (?:s'appelle |nommée? |appelée? |qui s'appelle |du nom de )?(?P<name>(?-i:{CAP}))(?! et (?-i:[A-ZÀ-Þ])))?",
    _I,
)


def _pets(clause: str, pos: int) -> Value | None:
    """A pet: "chien Rex", "un chat noir", "deux chats"."""
    match = _A_PET.match(clause, pos)
    if match is None or (match["count"] is None and match["name"] is None):
        return None
    if match["name"] and (match["count"] or "un").lower() in ("un", "une") and match["name"].lower() not in NO_NAMES:
        return f"{match['kind'].lower()} {match['name']}", match.end()
    return (clause[pos : match.end("more")], match.end("more")) if match["count"] else None


# ---------------------------------------------------------------------------------------------------------- events

_AVOIR: Final = (
    r"(?:acheté|vendu|adopté|perdu|trouvé|obtenu|décroché|réussi|raté|passé|commencé|terminé|fini|quitté|déménagé|rencontré|visité|couru|gagné|reçu|signé|loué|réservé|construit|rénové|repeint|planté|cuisiné|organisé|fêté|célébré|participé|postulé|démissionné|emménagé|accouché"
    r"|cassé|réparé|lancé|créé|ouvert|publié|écrit|lu|appris|repris|arrêté|rejoint|assisté|escaladé|traversé|voyagé|campé|emprunté|remboursé|été (?:embauchée?|promue?|licenciée?|opérée?|hospitalisée?|acceptée?|admise?|augmentée?|mutée?|diagnostiquée?)|eu (?:mon|ma|un|une|le|la|notre) |eu (?:[A-Z]|\d)|fait (?:une?|le|la|mon|ma|du|de la) |vu (?!que)|pris (?:un|une|des|mes) )"
)
_ETRE: Final = r"(?:allée?s?|partie?s?|arrivée?s?|revenue?s?|rentrée?s?|retournée?s?|devenue?s?|tombée? (?:malade|enceinte|amoureux|amoureuse)|montée?s?|descendue?s?|passée?s? (?:chef|responsable|manager))"
_SOI: Final = r"(?:mariée?s?|fiancée?s?|pacsée?s?|installée?s?|inscrite?s?|blessée?|cassé|foulée?|séparée?s?|remise?s?|mise?s? (?:au|à la|à l'|à)|acheté|offert|rencontrée?s?)"
_PRESENT: Final = {
    "vais": "va", "cours": "court", "fais": "fait", "bois": "boit", "lis": "lit", "écris": "écrit", "prends": "prend",
    "sors": "sort", "dors": "dort", "suis": "suit",
} | {w: w for w in "nage mange joue marche chante danse cuisine médite travaille pédale regarde donne visite appelle jardine dessine promène garde".split()}  # fmt: skip
_TO_DO: Final = (
    r"(?:acheter|vendre|adopter|déménager|emménager|m'installer|visiter|partir|aller (?:à|au|en|aux|chez|voir|dans)|courir|passer (?:mon|le|mes|un|l'|une?|les|noël|quelques|deux|trois)|me marier|nous marier|se marier|m'inscrire|commencer|reprendre|changer de|quitter|apprendre|construire|rénover|organiser|fêter|participer|postuler"
    r"|prendre (?:des|mes|un|une|l'avion|le train)|monter|lancer|ouvrir|créer|écrire|suivre|faire (?:un|une|le|la|du|de la)|voyager|rendre visite|rejoindre|repeindre|planter|arrêter|louer|réserver|accoucher|rentrer|retourner|m'occuper|me faire opérer|me lancer|publier|terminer|finir)"
)


_AUX: Final = {
    "ai": "a", "suis": "est", "me suis": "s'est", "a": "a", "est": "est", "s'est": "s'est", "avons": "a", "sommes": "est",
    "nous sommes": "s'est",
}  # fmt: skip


def _third(match: re.Match[str]) -> str:
    """The verb as somebody else tells it: "j'ai acheté" as "a acheté", "je me suis mariée" as "s'est mariée"."""
    said = re.sub(r"\b(?:m'|me )", lambda m: "s'" if m.group()[1] == "'" else "se ", match["verb"])
    aux = (match["aux"] or match["a"] or match["we"]).lower()
    return f"{_AUX[aux]} {PHRASES.told(said.strip())}"


def _to_do(match: re.Match[str]) -> str:
    said = re.sub(r"\bm'", "s'", re.sub(r"\b(?:me|nous) ", "se ", match["verb"]))
    return PHRASES.told(said.strip())


def _habit(match: re.Match[str]) -> str:
    return _PRESENT[match["verb"].lower()]


def _frame(
    attribute: str,
    pattern: str,
    read: Read,
    *,
    ended: bool = False,
    prefix: Callable[[re.Match[str]], str] | None = None,
    needs_date: bool = False,
) -> Frame:
    return Frame(attribute, re.compile(pattern, _I), read, ended, prefix, needs_date)


def _event() -> Read:
    """What was done, after its verb: nothing more, or a phrase."""
    phrase = PHRASES.read(9, keep_article=True)

    def of(clause: str, pos: int) -> Value | None:
        rest = clause[pos:]
        if not rest.strip(" ,.!;…"):
            return "", pos
        return phrase(clause, pos)

    return of


_J: Final = r"\bj'"
_JE: Final = r"\bje "
_THINGS: Final = {
    "couleur": "color", "plat": "food", "film": "movie", "livre": "book", "chanson": "song", "sport": "sport", "animal": "animal",
    "saison": "season", "ville": "city", "groupe": "band", "jeu": "game", "fruit": "fruit", "dessert": "dessert", "série": "show",
    "chanteur": "singer", "chanteuse": "singer", "auteur": "author", "boisson": "drink", "fleur": "flower", "restaurant": "restaurant",
}  # fmt: skip
THINGS: Final = {english: word for word, english in reversed(_THINGS.items())}

_ENDED: Final = (
    _frame("lives_in", rf"(?:\bje n'|{_J})habite plus (?=à|en|au|aux)", _place, ended=True),
    _frame("lives_in", rf"{_J}ai {_ADV}quitté (?=[A-ZÀ-Þ])(?-i:(?=[A-ZÀ-Þ]))", _place, ended=True),
    _frame("works_as", rf"{_JE}(?:suis|viens de partir|pars) {_ADV}(?:à la retraite|en retraite|retraitée?\b)", fixed(""), ended=True),
    _frame("works_at", rf"{_JE}(?:ne )?travaille plus (?:chez|pour|à|au) (?:la |l')?", _short, ended=True),
    _frame("works_at", rf"{_J}ai {_ADV}(?:démissionné|(?:quitté|perdu|plaqué) mon (?:travail|emploi|boulot|poste|job))", fixed(""), ended=True),
    _frame("works_at", rf"{_J}ai {_ADV}été {_ADV}(?:licenciée?|virée?)", fixed(""), ended=True),
    _frame("diet", r"\bje ne suis plus ", group(r"végétarien(?:ne)?|végane?|vegan"), ended=True),
    _frame("likes", rf"(?:\bje n'|{_J})aime plus (?:du tout |trop )?", _phrase, ended=True),
    _frame("has_pet", rf"\b(?:mon|ma|notre) (?=(?:{_PETS}) (?-i:{CAP}) (?:est mort|est décédé|nous a quitté|vient de mourir))", group(rf"(?P<v>(?:{_PETS}) (?-i:{CAP}))"), ended=True),
    _frame("plans", rf"(?:\bje n(?:e |'){_ADV}|{_J}|{_JE})(?:vais|pars|irai) (?:finalement )?(?:plus|pas|finalement pas) (?=(?:à|en|au|aux|chez)\b)", _event(), ended=True, prefix=lambda _: "aller"),
)  # fmt: skip
_OWN: Final = (
    _frame("name", r"\b(?:je m'appelle|je me prénomme|mon (?:pré)?nom (?:est|c'est)|moi,? c'est(?= (?-i:[A-ZÀ-Þ]))) ?", _name),
    _frame("nickname", r"\b(?:(?:on|tout le monde|mes amis|mes proches|mes copains) m'appelle(?:nt)?|mon surnom (?:est|c'est)|appelle[sz]?-moi|tu peux m'appeler|vous pouvez m'appeler) ", _name),
    _frame("age", rf"(?:{_J}ai {_ADV}(?:eu )?|\bje viens d'avoir |{_J}ai fêté mes )", count(AMOUNTS, r" ans\b(?! (?:d'|de (?!mariage)))(?= ?(?:[.,;!)]|$|et\b|mais\b|maintenant|depuis|aujourd))")),
    _frame("birthday", r"\b(?:mon anniversaire,? (?:est|c'est|tombe)(?: le)? |je suis née? le )", group(rf"(?P<v>\d{{1,2}}(?:er)? (?:{'|'.join(MONTHS)}))\b")),
    _frame("birth_year", r"\bje suis née? (?:le \d{1,2}(?:er)? \w+|en) ", group(r"(?P<v>(?:19|20)\d\d)\b")),
    _frame("born_in", rf"\bje suis née? (?:le \d{{1,2}}(?:er)? \w+(?: \d{{4}})? |en \d{{4}} )?{_IN}", _place),
    _frame("comes_from", rf"\bje (?:viens|suis originaire) {_OF}(?-i:(?=[A-ZÀ-Þ]))", _place),
    _frame("grew_up_in", rf"{_J}ai grandi {_IN}", _place),
    _frame("nationality", rf"{_JE}suis {_ADV}(?:d'origine |de nationalité )?", group(rf"(?P<v>(?:{_NATIONS})(?:ne|e)?)\b{_END}")),
    _frame("lives_in", rf"(?:{_J}habite|{_JE}vis|{_JE}réside|\bnous (?:habitons|vivons)|\bon (?:habite|vit)|{_J}ai {_ADV}(?:déménagé|emménagé)|{_JE}viens (?:de (?:déménager|m'installer)|d'emménager)|{_JE}me suis {_ADV}installée?|\b(?:on s'est|nous nous sommes) {_ADV}installé\w*) {_ADV}(?:avec [^,.]{{3,25}} )?{_IN}", _place),
    _frame("works_as", rf"{_JE}(?:travaille|bosse|exerce) {_ADV}(?:comme|en tant que?) ", _until_place(_bare)),
    _frame("works_as", rf"(?:{_JE}(?:suis|suis devenue?|vais devenir) {_ADV}|\bmon (?:métier|travail),? (?:c'est|est) (?:d'être )?)", _job),
    _frame("works_at", rf"(?:{_JE}(?:travaille|bosse) {_ADV}|{_J}ai {_ADV}(?:été embauchée?|commencé(?: à travailler)?|trouvé un (?:poste|travail|emploi)|décroché un (?:poste|travail|emploi|cdi)) )(?:chez|pour(?= (?-i:[A-ZÀ-Þ]))) ", _short),
    _frame("works_at", rf"{_JE}(?:travaille|bosse) {_ADV}(?:à la |à l'|au |dans (?:un|une) )(?!maison|temps|mi-temps|plein|domicile|distance|noir|étranger)", _bare),
    _frame("works_at", rf"{_JE}(?:suis|(?:travaille|bosse) {_ADV}comme) {_ADV}(?:une? )?[a-zà-ÿœ-]+(?: (?:de |d'|en )?[a-zà-ÿœ-]+){{0,2}}? (?:chez |{_WORKPLACE})", _short),
    _frame("works_in", rf"{_JE}(?:travaille|bosse) {_ADV}dans (?=le |la |les |l')(?!(?:la|le|les|l') ?(?:maison|rue|même|centre|quartier|chambre|salon|bureau|jardin|train))", _short),
    _frame("studies", rf"(?:{_J}étudie|{_JE}fais (?:des études|mes études|un master|une licence|un doctorat|une thèse|un BTS|un DUT) (?:de |d'|en )|{_JE}suis {_ADV}(?:étudiante?|doctorante?|en (?:licence|master|première année|deuxième année|troisième année|L[123]|M[12])(?: de| d'| en)?) (?:en )?) ?(?!à\b|pour\b|pas\b|beaucoup\b|tard\b|dans\b)", _until_place(_bare)),
    _frame("studies_at", rf"(?:{_J}étudie [^,]{{2,30}}?|{_JE}suis étudiante? en [^,]{{2,30}}?) (?=(?:à l'(?:université|école|iut)|à la fac|à (?-i:[A-ZÀ-Þ])))(?:à )", _short),
    _frame("studies_at", rf"(?:{_J}étudie|{_JE}fais mes études|{_JE}suis {_ADV}(?:étudiante?|inscrite?)) {_ADV}(?=(?:à l'|à la fac|à (?-i:[A-ZÀ-Þ])))(?:à )", _short),
    _frame("marital_status", rf"{_JE}suis {_ADV}", group(rf"(?P<v>mariée?|célibataire|divorcée?|veuf|veuve|fiancée?|pacsée?|en couple|séparée?)\b{_END}")),
    _frame("native_language", r"\bma langue maternelle,? (?:est|c'est) (?:le |l')?", group(rf"(?P<v>{_LANGUAGES})\b")),
    _frame("speaks", rf"{_JE}parle {_ADV}(?:couramment )?(?:le |l')?", group(rf"(?P<v>(?:{_LANGUAGES})(?:(?:, | et )(?:le |l')?(?:{_LANGUAGES}))*)\b")),
    _frame("learns", rf"{_J}apprends {_ADV}(?!que\b|des choses|beaucoup|pas\b)", PHRASES.read(5, keep_article=True)),
    _frame("diet", rf"(?:{_JE}suis {_ADV}(?:devenue? )?|{_JE}mange )", group(rf"(?P<v>végétarien(?:ne)?|végétalien(?:ne)?|végane?|vegan|flexitarien(?:ne)?|pesc[oé]-?tarien(?:ne)?|halal|casher|sans gluten)\b{_END}")),
    _frame("allergic_to", rf"(?:{_JE}suis {_ADV}allergique|{_J}ai une (?:grave |forte )?allergie) {_A}", _bare),
    _frame("health", rf"{_JE}suis {_ADV}", group(rf"(?P<v>intolérante? au (?:lactose|gluten|fructose)|diabétique(?: de type [12])?|asthmatique|épileptique|daltonien(?:ne)?|malvoyante?|malentendante?|sourde?|aveugle|dyslexique|enceinte|hypertendue?|claustrophobe|insomniaque|bipolaire|autiste|en fauteuil roulant)\b{_END}")),
    _frame("has_condition", rf"(?:{_J}ai {_ADV}(?:du |de l'|le |la |un |une |des |de la )?|{_JE}souffre {_ADV}{_OF}|\bon m'a (?:diagnostiqué|découvert) (?:du |de l'|le |la |un |une |des )?)", group(rf"(?P<v>{_CONDITIONS})\b(?! de rire)")),
    _frame("avoids", rf"(?:{_JE}(?:ne )?(?:mange|bois|consomme|prends) (?:pas|plus|jamais) (?:de |d')|{_J}évite (?:le |la |les |l')|{_J}ai arrêté (?:de (?:manger|boire) (?:de la |du |des |de l')?|le |la |l'|les ))", group(_FOODS)),
    _frame("has_pet", rf"(?:{_J}ai {_ADV}(?:adopté |pris |recueilli )?|\b(?:nous avons|on a) {_ADV}(?:adopté |pris |recueilli )?)(?={_COUNT} )", _pets),
    _frame("has_pet", rf"\b(?:mon|ma|notre) (?=(?:{_PETS})(?:,? (?:s'appelle |nommée? |appelée? |qui s'appelle ))?,? ?(?-i:{CAP}))", _pets),
    _frame("has_relative", rf"(?:{_J}ai|\b(?:nous avons|on a)) {_ADV}(?={_COUNT} )", group(rf"(?P<v>{_COUNT} (?:grande?s? |petite?s? )?{_KINDS}(?: (?:et|et aussi|,) {_COUNT} (?:grande?s? |petite?s? )?{_KINDS})*)\b(?! (?:à|de) (?:garder|cours))")),
    _frame("dislikes", rf"(?:{_JE}déteste|{_J}ai horreur (?:de|du|des)|{_JE}hais|{_J}exècre|(?:\bje n'|{_J})aime (?:vraiment |toujours )?pas(?: du tout| trop| beaucoup| vraiment| tellement)?|{_JE}(?:ne )?supporte (?:vraiment )?(?:pas|plus)|{_J}ai du mal avec) (?!quand\b|que\b|qu'|l'idée|attendre|devoir|être|avoir|me\b|faire ça)", _phrase),
    _frame("likes", rf"(?:{_J}(?:aime|adore) {_ADV}|{_JE}suis {_ADV}(?:fan|accro|passionnée?|dingue|folle|fou|amateur) (?=(?:de|d'|du|des|au|aux|à|par)\b)(?:de |d'|du |des |au |aux |à la |à l'|à |par )|{_JE}raffole (?:de |du |des ))(?!quand\b|que\b|qu'|l'idée|savoir|pas\b|plus\b|pouvoir|être\b|avoir\b|te\b)", _phrase),
    _frame("prefers", rf"{_JE}préfère (?=(?:le|la|les|l'|mon|ma|mes)\b)", _phrase),
    _frame("plays", rf"{_JE}joue {_ADV}(?=(?:du|de la|de l'|au|aux|à la) )(?!au (?:con|plus|moins)|à la (?:maison|console)$)", PHRASES.read(4, keep_article=True)),
    _frame("hobby", rf"(?:{_JE}(?:fais|pratique) {_ADV}(?:du |de la |de l'|le |la |l'|des )|{_JE}me suis mise? {_A}(?:la |le |l')?|\bma passion,? (?:c'est|est) (?:le |la |l')?)", group(rf"(?P<v>{_ACTIVITIES})\b")),
    _frame("collects", rf"{_JE}collectionne ", _phrase),
    _frame("drives", rf"{_JE}(?:conduis|roule en) (?:une? )?", group(r"(?P<v>[A-Z][\w-]+(?: [A-Z0-9][\w-]*){0,2}|moto|scooter|camion|voiture électrique)", flags=re.NOFLAG)),
    _frame("temperament", rf"{_JE}suis {_ADV}(?:quelqu'un d'|de nature |d'un naturel )?(?:plutôt |assez |très )?", group(rf"(?P<v>introvertie?|extravertie?)\b{_END}")),
    _frame("afraid_of", rf"{_J}ai {_ADV}(?:une )?(?:peur|phobie|la phobie) (?:bleue )?(?:de la |de l'|du |des |de |d'|en )", group(rf"(?P<v>{_FEARS})\b(?! et)")),
    _frame("cannot", rf"{_JE}(?:ne )?sais (?:toujours )?pas ", group(rf"(?P<v>nager|conduire|faire du vélo|cuisiner|lire l'heure)\b{_END}")),
    _frame("religion", rf"{_JE}suis {_ADV}", group(rf"(?P<v>catholique|protestante?|orthodoxe|musulmane?|juive?|juif|bouddhiste|hindoue?|athée|agnostique)\b{_END}")),
    _frame("height", rf"(?:{_JE}mesure|{_JE}fais) ", group(r"(?P<v>1 ?(?:m|,|\.) ?\d{2}(?: ?m)?|\d{3} ?cm)\b")),
    _frame("phone", r"\bmon numéro(?: de (?:téléphone|portable))?,? (?:est|c'est) (?:le )?", group(r"(?P<v>\+?\d[\d .-]{7,17}\d)")),
    _frame("email", r"\bmon (?:adresse )?(?:e-?mail|mail|courriel),? (?:est|c'est) ", group(r"(?P<v>[\w.+-]+@[\w-]+\.[\w.]*\w)")),
    _frame("budget", r"\b(?:mon|notre) budget,? (?:est|c'est)(?: de)? ", group(r"(?P<v>[^,;.!?]{2,30})")),
    _frame("gives_up", rf"{_J}(?:essaie|essaye) d'arrêter ", group(rf"(?P<v>(?:de fumer|la cigarette|l'alcool|de boire|le sucre|le café)){_END}")),
    _frame("prepares_for", rf"{_JE}prépare {_ADV}(?=(?:le|la|mon|ma|mes|un|une|l')\s?(?:semi-)?(?:marathon|concours|examen|bac|permis|entretien|agrégation|capes|exposition|thèse|soutenance|partiels|triathlon|mariage|déménagement|concert|audition)\b)", _phrase),
    _frame("saves_for", rf"(?:{_J}économise|{_JE}mets de (?:l'argent|côté)(?: de l'argent)?(?: de côté)?) pour ", _phrase),
    _frame("wants_to", rf"(?:{_JE}veux|{_J}essaie de|{_J}essaye de|{_J}ai décidé de|\bmon (?:objectif|but),? (?:est|c'est) de|{_J}ai pour objectif de|{_JE}cherche à) (?={_GOALS})", _goal),
)  # fmt: skip
_FAVORITES: Final = tuple(
    _frame(
        f"favorite_{english}", rf"\b(?:mon|ma) {word} (?:préférée?|favorite?) (?:est|c'est|reste|,? c'est) ", _phrase
    )
    for word, english in _THINGS.items()
)
_DONE: Final = (
    _frame("did", rf"(?:{_J}(?P<aux>ai)|\b(?:on (?P<a>a)|nous (?P<we>avons))) {_ADV}(?P<verb>{_AVOIR})(?!\w)", _event(), prefix=_third),
    _frame("did", rf"(?:{_JE}(?P<aux>suis)|\b(?:on (?P<a>est)|nous (?P<we>sommes))) {_ADV}(?P<verb>{_ETRE})(?!\w)", _event(), prefix=_third),
    _frame("did", rf"(?:{_JE}(?P<aux>me suis)|\b(?:on (?P<a>s'est)|nous (?P<we>nous sommes))) {_ADV}(?P<verb>{_SOI})(?!\w)", _event(), prefix=_third),
    _frame("plans", rf"(?:{_JE}(?:vais|compte|prévois|pense)|\bon va|\bnous allons|{_J}ai (?:prévu|l'intention|décidé)|{_J}envisage) (?:bientôt |enfin |sûrement )?(?:de |d')?(?P<verb>{_TO_DO})(?!\w)", _event(), prefix=_to_do),
    _frame("plans", rf"(?:{_JE}pars|\bon part|\bnous partons) (?:pour )?(?=(?:à|en|au|aux|chez)\b)", _event(), prefix=lambda _: "aller"),
    _frame("plans", rf"(?:{_JE}vais|\bon va|\bnous allons) (?=(?:à|en|au|aux|chez|voir)\b)", _event(), prefix=lambda _: "aller", needs_date=True),
    _frame("plans", rf"(?:{_J}ai|\bon a|\bnous avons) (?=(?:un |une |mon |ma |des )?(?:entretien|rendez-vous|rdv|examen|partiel|concert|réunion|vol|train|mariage|soutenance|opération|audition|match|course|tournoi|visite|formation)\b)", _event(), prefix=lambda _: "avoir", needs_date=True),
    _frame("would_like_to", rf"(?:{_J}aimerais|{_JE}voudrais|{_JE}rêve|{_J}ai (?:très )?envie) (?:bien |beaucoup |vraiment |un jour )*(?:de |d')?(?P<verb>{_TO_DO})(?!\w)", _event(), prefix=_to_do),
    _frame("does", rf"{_JE}(?P<verb>{'|'.join(_PRESENT)}) (?=[^,;.!?]*\b(?:tous les|toutes les|chaque|\w+ fois par|le (?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)))", PHRASES.read(9, keep_article=True), prefix=_habit),
)  # fmt: skip
FRAMES: Final = (*_ENDED, *_FAVORITES, *_OWN, *_DONE)

_S: Final = rf"[ ,]*(?:,? qui )?{_ADV}"
OF_KIN: Final = (
    _frame("name", rf"{_S}s'appelle ", _name),
    _frame("age", rf"{_S}(?:a|vient d'avoir|fête ses|a fêté ses) {_ADV}", count(AMOUNTS, r" ans\b(?! (?:d'|de))", least=1)),
    _frame("lives_in", rf"{_S}(?:habite|vit|a (?:déménagé|emménagé)|s'est installée?) {_ADV}{_IN}", _place),
    _frame("works_as", rf"{_S}(?:travaille|bosse) {_ADV}(?:comme|en tant que?) ", _until_place(_bare)),
    _frame("works_as", rf"{_S}(?:est|est devenue?) {_ADV}", _job),
    _frame("works_at", rf"{_S}(?:travaille|bosse) {_ADV}(?:chez|pour(?= (?-i:[A-ZÀ-Þ]))) ", _short),
    _frame("works_at", rf"{_S}(?:travaille|bosse) {_ADV}(?:à la |à l'|au |dans (?:un|une) )(?!maison|temps|mi-temps|plein|domicile|distance)", _bare),
    _frame("works_in", rf"{_S}travaille {_ADV}dans (?=le |la |les |l')", _short),
    _frame("studies", rf"{_S}(?:étudie|fait (?:des études|un master|une licence|un doctorat) (?:de |d'|en )|est étudiante? en) ?(?!à\b)", _until_place(_bare)),
    _frame("marital_status", rf"{_S}est {_ADV}", group(rf"(?P<v>mariée?|célibataire|divorcée?|veuf|veuve|fiancée?|en couple)\b{_END}")),
    _frame("diet", rf"{_S}est {_ADV}(?:devenue? )?", group(rf"(?P<v>végétarien(?:ne)?|végétalien(?:ne)?|végane?|vegan)\b{_END}")),
    _frame("allergic_to", rf"{_S}est {_ADV}allergique {_A}", _bare),
    _frame("health", rf"{_S}est {_ADV}", group(rf"(?P<v>diabétique(?: de type [12])?|asthmatique|épileptique|daltonien(?:ne)?|sourde?|aveugle|dyslexique|enceinte)\b{_END}")),
    _frame("has_condition", rf"{_S}(?:a (?:du |de l'|un |une |des |le |la )?|souffre {_OF})", group(rf"(?P<v>{_CONDITIONS})\b")),
    _frame("dislikes", rf"{_S}(?:déteste|n'aime pas) ", _phrase),
    _frame("likes", rf"{_S}(?:aime|adore) {_ADV}", _phrase),
    _frame("plays", rf"{_S}joue (?=(?:du|de la|de l'|au|aux) )", PHRASES.read(4, keep_article=True)),
    _frame("did", rf"{_S}(?P<aux>a) {_ADV}(?P<verb>{_AVOIR})(?!\w)", _event(), prefix=lambda m: f"a {PHRASES.told(m['verb'].strip())}"),
    _frame("did", rf"{_S}(?P<verb>est (?:morte?|décédée?)|nous a quittés)\b", _event(), prefix=lambda m: m["verb"]),
    _frame("did", rf"{_S}(?:vient de (?P<verb>se marier|déménager|accoucher|naître)|(?P<was>s'est (?:mariée?|fiancée?|cassé|blessée?|inscrite?)|est (?:née?|partie?|tombée malade|tombé malade)))\b", _event(), prefix=lambda m: m["was"] or f"vient de {m['verb']}"),
)  # fmt: skip
