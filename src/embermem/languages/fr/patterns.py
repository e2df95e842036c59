"""What people ask, say and write: questions, openings, quotations, orders, themes, values."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

from typing import Final

from embermem.core.sensitive import SecretWords
from embermem.core.types import Role
from embermem.languages.parts import Guards, Questions, Screening, Talk, ThemeWords, Values

QUESTIONS: Final = Questions(
    continues=r"^\W*(?:et|mais|alors|donc|ou|puis|sinon)\b|^\W*(?:pourquoi|quand|où|qui|combien|comment|depuis quand"
    r"|jusqu'à quand|lequel|laquelle|lesquels|lesquelles|avec qui|à quelle heure)\W*$",
    points_back=r"\b(?:ça|cela|ceci|là|là-bas|y|celui|celle|ceux|celles|le même|la même|les mêmes|l'autre|les autres)\b",
    pronoun=r"\b(?:il(?! y a\b)|elle|ils|elles|lui|leurs?|son|sa|ses|eux)\b",
    marks=("?",),
    several=r"\b(?:quels|quelles|lesquels|lesquelles)\b|\bcombien de\b|\btou(?:s|tes) (?:les|mes|ses|ce)\b|\btout ce (?:que|qu'|dont)\b|^\W*(?:liste|énumère|cite)\b|\bles deux\b"
    r"|\b(?:qu'est-ce que|que|quoi)\b.{0,30}\b(?:dit|raconté|mentionné|parlé)\b",
    past=r"\b(?:hier|avant-hier|autrefois|auparavant|jadis|rappelles?|souviens|il y a)\b|\bderni[eè]re? (?:fois|semaine|mois|année|nuit|été|hiver)\b|\b(?:semaine|mois|année|an|été|hiver|printemps|automne) (?:derni[eè]re?|passée?)\b"
    r"|\b(?:ai-je|as-tu|avais|avait|étais|était|avons-nous)\b|\bj'ai (?:\w+ )?(?:dit|fait|eu|vu|raconté|mentionné|acheté|mangé|été|allée?|visité|\w+é)\b|\bje (?:suis|t'ai|vous ai) (?:\w+ )?(?:allée?|partie?|dit|parlé|raconté)\b",
    overview=r"\b(?:résum\w+|récapitul\w+|bilan|aperçu|biographie|portrait|profil|vie|histoire|parcours|qui (?:est|suis|sont)|quoi de neuf|des nouvelles|où en (?:est|suis|sont)|passé)\b|\b(?:sais|savez|rappelles|souviens|retenu|appris|dire|dis|parle)\b.{0,30}\b(?:sur|de|d'|à propos)\b"
    r"|\bque (?:s'est|sais|savez)\b|\bqu'est-ce (?:que|qu'|qui)\b.{0,30}\b(?:passé|arrivé|changé|fait|sais|devient|devenue?)\b|\bcomment va\b|\bdécri[st]\b",
    overview_words=r"\b(?:[lmtsdjcn]'|qu'|le|la|les|un|une|des|du|de|d|l|m|s|au|aux|ce|cet|cette|ces|ça|cela|en|dans|sur|à|pour|avec|par|depuis|pendant|jusqu'à|et|ou|mais|que|qui|quoi|quel|quelle|quels|quelles|est|suis|sont|était|été|être|a|ai|as|avons|avez|ont|avait|fait|faire|fais|est-ce|qu'est-ce"
    r"|je|j|tu|il|elle|on|nous|vous|ils|elles|me|moi|te|toi|lui|se|mon|ma|mes|ton|ta|tes|son|sa|ses|leur|leurs|y|ne|pas|tout|toute|tous|toutes|chose|choses|important|importante|importants|importantes|principal|principaux|principales|récent|récents|récente|récemment|dernier|dernière|derniers|dernières|nouveau|nouvelles|neuf|actuel|actuellement|aujourd'hui|maintenant"
    r"|jour|jours|semaine|semaines|mois|an|ans|année|années|temps|fois|passe|passé|passés|passées|arrivé|changé|changements|change|devient|devenu|devenue|sais|savez|savoir|rappelles|rappelle|souviens|retenu|appris|dire|dis|dit|parle|raconte|donne|fais-moi|dis-moi|donne-moi|parle-moi|propos|sujet|résume|résumé|résumer|récapitule|récapitulatif|bilan|aperçu|biographie|portrait|profil|vie|histoire|parcours|décris|décrire|bref|brièvement|court|petit"
    r"|événements|événement|moments|grands|grandes|lignes|situation|nouvelles|comment|va|vais|où|printemps|été|automne|hiver|personne|gens|conversations?|mémoire|utilisateur|s'il|plaît|peux|peux-tu|pourrais-tu)\b",
    days_words=r"\b(?:parlé|parlions|discuté|mentionné|raconté|écrit|évoqué|prévu|prévus|prévue|matin|soir|après-midi|nuit|s'est-il|a-t-il|a-t-on|eu|fîmes|fait|lieu|occupé|exactement|sujet|sujets|programme|n'avons|c'était|était-ce)\b",
    beside_day=r"\b(?:pour|avant|jusqu['’]au?|depuis|après|dès|d['’]ici)\s(?:(?:le|la|au|à)\s)?(?:\w+\s)?§",
    character=r"\b(?:personnalité|caractère|tempérament|traits|quel (?:genre|type) de personne|centres d'intérêt|loisirs|passions|recommande\w*|conseille\w*|suggère\w*)\b",
)

TALK: Final = Talk(
    shift=r"(?:(?:ah|oh|bon|ok|et|mais|alors|tiens)\W+)?(?:au fait|à propos|sinon|autre chose|changement de sujet|rien à voir|changeons de sujet|nouvelle question|autre question|par ailleurs|bonjour|bonsoir|rebonjour|re-bonjour|coucou)\b",
    back=r"(?:(?:et|mais|oui|non|ok|ah|oh|bon|merci|vraiment|d'accord)\W+){0,2}(?:ça|cela|c'est|c'était|celui-ci|celle-là|ils|elles|il|elle|là-bas|pourquoi|comment ça|et (?:lui|elle|toi)|lequel|laquelle|les deux|pareil|moi aussi|exactement|d'accord|alors|dis-m'en plus|continue|parce que)\b",
    small_talk=r"(?:salut|bonjour|bonsoir|coucou|merci|de rien|je t'en prie|je vous en prie|super|génial|d'accord|bonne (?:nuit|journée|soirée|chance)|au revoir|à bientôt|bien sûr|ok|pas de souci|pas de problème|avec plaisir|félicitations|bravo|désolée?)\b",
    leads=r"(?:cependant|de plus|en outre|par ailleurs|aussi|finalement|donc|ainsi|alors|bon|ben|mais|oui|ouais|en plus|oh|ah|en fait|honnêtement|bref|du coup|par contre|d'ailleurs), |(?:et|mais|donc|du coup) ",
    me=r"\b(?:je|j'|moi|mon|mes|notre|nos)\b|\bj'",
    you=r"\b(?:tu|toi|ton|tes|vous|votre|vos)\b",
    you_signs=("tu", "toi", "ton", "tes", "vous", "vo"),
    my_words=r"\b(?:je|j'|mon|ma|mes|notre|nos|nous)\b|\bj'",
    courtesy=frozenset(
        "merci beaucoup bonjour bonsoir salut coucou génial super parfait bravo félicitations bonne journée soirée nuit bientôt plaisir ravie contente"
        " heureux heureuse gentil gentille adore cool excellent formidable magnifique d'accord exactement tout fait bien sûr désolé désolée courage bisous bise".split()
    ),
    parts={"utilisateur": Role.USER, "utilisatrice": Role.USER, "système": Role.SYSTEM, "outil": Role.TOOL},
    nobody=frozenset("utilisateur utilisatrice moi client cliente assistant assistante agent bot système outil".split()),
)  # fmt: skip

SCREENING: Final = Screening(
    quoted_speaker=r"\b(?:je|moi|mon|ma|mes|nous)\b|\bj['’]",
    whole=r"\b(?:tradui[st]|traduire|traduction|corrige (?:ce|cette|mon|ma|le|la)|reformule|relis (?:ce|mon)|réécri[st]|améliore (?:ce|mon|cette)|résume (?:ce|cette|le|la) (?:texte|article|passage)|jeu de rôle|lettre de motivation|madame, monsieur|cordialement|veuillez (?:agréer|recevoir)|sincères salutations|bien à vous|il était une fois"
    r"|tu es (?:un|une) (?:\w+ ){0,2}(?:expert|experte|assistant|assistante|professeur|rédacteur|rédactrice|coach|chatbot|bot)|(?:réponds|agis|comporte-toi) comme si|fais comme si|paroles de|(?:pour|dans) mon (?:roman|histoire|livre)|mon personnage|je (?:plaisante|rigole|blague|déconne)|poisson d'avril|comment (?:dit-on|dire) )",
    from_here=r"\b(?:(?:écris|rédige|compose|génère|invente)(?:-moi)? (?:un|une|le|la|mon|ma)\b|imagin(?:e (?:que (?!tu)|qu'|une?\b)|ez\b|ons\b)|supposons|fais semblant|voici (?:le|la|mon|ma|un|une) (?:texte|lettre|mail|message|article|poème|extrait)|le texte suivant|ci-dessous|citation ?:)",
    lasting=r"\b(?:toujours|jamais|désormais|dorénavant|avenir|à partir|chaque|(?:ne |n['’])\w+(?:-\w+)? plus|plus (?:d['’]|de )|arrête|réponds|répondre|répondez|réponses|parle|appelle|appelez|tutoie\w*|tutoyer|vouvoie\w*|vouvoyer|évite|émojis?|emojis?|smileys?|jusqu'|par défaut|préfère|systématiquement|utilise\w*)\b",
)

_STATING: Final = {
    "name": r"\b(?:m'appelle|nom|prénom|appelle|moi c'est)\b", "nickname": r"\b(?:surnom\w*|appelle\w*|appelez)\b",
    "age": r"\b(?:ans|âge|née?)\b", "birth_year": r"\bnée?\b", "birthday": r"\b(?:anniversaire|née?)\b", "born_in": r"\bnée?\b",
    "comes_from": r"\b(?:viens|vient|originaire|née?|grandi|racines)\b", "grew_up_in": r"\b(?:grandi|enfance)\b", "nationality": r"\b(?:suis|est|nationalité|origine)\b",
    "lives_in": r"\b(?:habit\w*|vis|vit|vivons|install\w*|déménag\w*|emménag\w*|maison|appart\w*|résid\w*|chez moi|logement|loue)\b",
    "works_as": r"\b(?:travaill\w*|bosse|métier|profession|poste|suis|est|emploi|boulot|comme)\b", "works_at": r"\b(?:travaill\w*|bosse|emploi|embauch\w*|poste|boulot|chez)\b",
    "works_in": r"\b(?:travaill\w*|bosse|secteur|domaine)\b", "studies": r"\b(?:étud\w*|licence|master|fac|cours|formation|thèse)\b", "studies_at": r"\b(?:étud\w*|université|fac|école|lycée)\b",
    "marital_status": r"\b(?:mari\w*|célibataire|divorc\w*|veuf|veuve|fianc\w*|couple|pacs\w*|femme|époux|épouse)\b", "speaks": r"\b(?:parle\w*|langue\w*|bilingue)\b", "native_language": r"\b(?:langue|maternelle|parle)\b",
    "diet": r"\b(?:mange\w*|régime|végé\w*|végane?|viande|gluten)\b", "allergic_to": r"\b(?:allergi\w*|intoléran\w*)\b", "has_condition": r"\b(?:ai|a|souffr\w*|diagnosti\w*|maladie|suis|est)\b", "health": r"\b(?:ai|a|souffr\w*|suis|est|santé)\b",
    "has_pet": r"\b(?:chien\w*|chat\w*|animal|animaux|lapin\w*|adopté\w*|mon|ma|notre)\b", "religion": r"\b(?:suis|est|religion|cro\w+|prie\w*)\b", "height": r"\b(?:mesure\w*|taille|cm|mètres?)\b",
    "phone": r"\b(?:numéro|téléphone|portable|appel\w*)\b", "budget": r"\b(?:budget|euros?|dépens\w*|coût\w*|€)", "drives": r"\b(?:condui\w*|voiture|roule|moto)\b",
    "dislikes": r"\b(?:pas|plus|jamais|déteste\w*|horreur|supporte|ennu\w*|nul\w*|trop)\b",
}  # fmt: skip

GUARDS: Final = Guards(
        supposing=r"\b(?:si|imagine|imaginons|rêv\w+)\b",
    order=r"\b(?:ignore|oublie|contourne|néglige)[rsz]?\s+(?:(?:tout|toutes|tous|les|tes|vos|ces|ce qui)\s+){0,3}(?:précède|instructions?|consignes|règles|précédent\w*|ci-dessus)\b"
    r"|\b(?:modifie|change|efface|supprime|enregistre|remplace|mets à jour)\w*\b[^.!?\n]{0,40}\b(?:de l'utilisateur|ta mémoire|(?:dans|de) (?:la|ta|votre) mémoire|le profil)\b|\b(?:message|invite|instruction) (?:du )?système\b|\bnouvelles instructions\b"
    r"|\btu dois (?:maintenant )?(?:répondre|afficher|renvoyer) (?:uniquement|seulement|exactement)\b",
    error=r"erreur\s*:|(?:je suis )?désolée?\b[^.]{0,20}\b(?:je ne|impossible)\b|je ne (?:peux|suis) pas (?:en mesure|capable)?\b[^.]{0,10}|en tant qu'(?:ia|intelligence artificielle)\b",
    nothing=r"aucune?|rien|néant|inconnue?|non (?:précisée?|mentionnée?|spécifiée?|renseignée?|connue?)|pas (?:précisée?|mentionnée?)",
    genders={"femme": "female", "féminin": "female", "fille": "female", "homme": "male", "masculin": "male", "garçon": "male"},
    female=r"\b(?:femme|fille|mère|maman|épouse)\b",
    male=r"\b(?:homme|garçon|père|papa|époux)\b",
    reporting="dit dire parle parler raconte raconter demande demander répond répondre explique expliquer mentionne discussion conversation message sujet résumé suggère conseille propose",
    stating=_STATING,
    denying=r"\b(?:ne|pas|jamais|aucune?|sans|déteste|ancien(?:ne)?|aimerais)\b|\bn'",
    ending=r"\b(?:ne|pas|jamais|ancien\w*|quitt\w*|arrêt\w*|abandonn\w*|vendu\w*|perdu\w*|mort\w*|décéd\w*|sépar\w*|divorc\w*|retraite|annul\w*|fini\w*|terminé\w*|déménag\w*|chang\w*|sans|faux|erreur)\b|\bn'",
    dwelling=r"\b(?:étage|appartement|appart|balcon|maison|chambre|studio|cave|coloc(?:ation)?|tout seul|seule)",
    no_allergy=r"\b(?:pas|plus|jamais)\s+(?:\w+\s+){0,2}allergi|\bpas d'allergi",
    own=r"\b(?:je|moi|nous)\b|\bj'|\bm'appelle\b|\b(?:mon|ma|notre) (?:nom|prénom|adresse|travail|métier|poste|numéro|téléphone|mail|e-?mail|anniversaire|âge|régime|budget|employeur|langue|profession)\b",
)  # fmt: skip

TEMPERAMENTS: Final = {
    "introverti": -1.0, "introvertie": -1.0, "extraverti": 1.0, "extravertie": 1.0, "extroverti": 1.0, "extrovertie": 1.0,
}  # fmt: skip


def _theme(asked: str, told: str) -> ThemeWords:
    return ThemeWords(asked=rf"\b(?:{'|'.join(asked.split())})\b", told=rf"\b(?:{'|'.join(told.split())})\b")


THEMES: Final = {
    "food": _theme(
        "manger mange faim petit-déjeuner déjeuner dîner goûter souper repas plats? cuisiner? recettes? restaurants? resto menu carte traiteur pique-nique burger pizzas? frites pâtes riz sushis? poulet bœuf porc salades? soupes? fromages? pain crêpes? gâteaux? biscuits? desserts? glaces? chocolat boissons? bière vin cocktails? café apéro courses",
        "poids kilos kg maigrir mincir régime manger boire alcool sucre sel viande muscle diabète diabétique cœliaque coeliaque cholestérol intolérante? tension lactose gluten caféine",
    ),
    "money": _theme(
        "acheter achat prix coûte coût cher chère pas\\scher abordable payer cadeaux? soldes promo ordinateur téléphone appareil chaussures robe hôtels? vols? billets? voyages? vacances loyer abonnements?",
        "argent dettes? prêt crédit emprunt dépenses? dépenser maison appartement économies économiser épargner budget",
    ),
    "body": _theme(
        "sport gym salle exercice courir course footing randonnée marche grimper escalade nager piscine plage mer lac bateau kayak ski vélo danse yoga parachute vol avion tour pont balcon fatiguée? malade médecin médicaments? comprimés?",
        "marathon triathlon poids forme muscle sport exercice actif",
    ),
    "smoke": _theme("fumer fume cigarettes? tabac vapoter cigare soirée fête", "fumer cigarettes? nicotine tabac asthme"),
    "time": _theme(
        "week-end weekend samedi dimanche plans? soirée fête films? séries? jeux ennuie temps\\slibre programme veiller",
        "apprendre réussir examen diplôme thèse mémoire dormir lire écrire écrans",
    ),
}  # fmt: skip

VALUES: Final = Values(
    leading=r"(?:j'|(?:je|il|elle|on|nous|l'utilisateur) )?(?:aimes?|aimons|adores?|raffole de|est fan d[eu]|suis fan d[eu]) (?:vraiment |beaucoup |bien )?(?=\S)",
    subject=r"(?:je suis|il est|elle est|l'utilisateur est) (?!pas\b)(?=\S)",
    articles=frozenset({"un", "une"}),
    dropped=frozenset("le les l' sa ses mes notre nos du très vraiment assez".split()),
    conjunctions=frozenset({"et"}),
    yes=frozenset({"oui", "ouais", "vrai", "exact"}),
    no=frozenset({"non", "faux"}),
    naming=frozenset({"nommé", "nommée", "appelé", "appelée"}),
)

SECRETS: Final = SecretWords(
    password=r"mots?\ de\ passe | mdp",
    key=r"(?: clé | cle )(?: \ d['’]api | \ api | \ secrète | \ privée | \ d['’]accès ) | jeton(?: \ d['’]accès )?",
    equals=r"\s{1,4} (?: est | était | c['’]est ) \s{1,4}",
    hints=("passe", "mdp", "clé", "cle", "jeton"),
)
