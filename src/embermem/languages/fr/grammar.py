"""What the reader of statements needs to know of French: clauses, doubts, relatives, and how dates read."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from datetime import date
from typing import Final

from embermem.core.patterns import regex
from embermem.languages.facts.clause_reader import Grammar
from embermem.languages.facts.clause_values import CAP
from embermem.languages.fr.facts import FRAMES, NO_NAMES, OF_KIN, PHRASES
from embermem.languages.fr.vocabulary import MONTH_NAMES
from embermem.languages.language import kin_of
from embermem.languages.parts import NEVER

_I: Final = re.IGNORECASE
_KIN: Final = kin_of("fr")
_WORDS: Final = "|".join(re.escape(word) for word in sorted(_KIN, key=len, reverse=True))


def label(day: date, grain: str) -> str:
    """ "12 mars 2024", "mars 2024", "2024"."""
    if grain == "year":
        return str(day.year)
    month = f"{MONTH_NAMES[day.month - 1]} {day.year}"
    return month if grain == "month" else f"{'semaine du ' if grain == 'week' else ''}{day.day} {month}"


GRAMMAR: Final = Grammar(
    phrases=PHRASES,
    frames=FRAMES,
    of_kin=OF_KIN,
    cut=regex(
        r"\s*[;:–—]\s+|\s+-\s+|\s*[()]\s*|,\s+(?=(?!(?:qui|nommée?|appelée?)\b)\w)(?!(?:le|la|les|l'|un|une|des|du|de|d')(?:\s|\w)[^,]{0,25}(?:,| et ))"
        r"|\s+(?:et|mais|donc|alors|car|parce que?|vu que|puisque?|sachant que|sauf que|d'ailleurs|du coup|et du coup)\s+(?=(?:je|j'|on|nous|il|elle|mon|ma|notre|mes|depuis|maintenant|en plus|aussi)\b)"
        r"|\s+et\s+(?=(?:habite|travaille|vit|adore|aime|étudie|fait|joue|est|a)\s)",
        _I,
    ),
    joins=regex(
        r"\s(?:et|mais|puis|ni)\s(?!(?:le|la|les|l['’]|un|une|des|du|de|d['’]|mon|ma|mes|son|sa|ses|notre|nos|en|à|au|aux|avec|pour|sans|dans|chez|depuis|deux|trois|aussi|ce|cet|cette)(?:\b|\s)|\d|(?-i:[A-ZÀ-Ý]))"
        r"|\s(?:et|mais)\s(?=(?:en|le|à|depuis|ce|cet|cette)\s[^,.;]{3,24}\s(?:je|il|elle|on|se|me|vien\w+|part|va)\b)|\s(?:parce qu|puisqu|quand|lorsqu|où|qui|tandis qu|alors qu)(?:e|['’]|\b)",
        _I,
    ),
    unreal_sentence=regex(
        r"\b(?:imagin(?:e|ons|ez)|suppos(?:e|ons|ez)|admettons|mettons que|rêvé|dans (?:mon|un) rêve|dans (?:le|ce|un|mon) (?:film|livre|jeu|roman|sketch)|mon personnage|mon héros|mon héroïne|jeu de rôle|joue(?:r)? le rôle"
        r"|fais(?:ons)? semblant|fais comme si|poisson d'avril|il était une fois|traduis|traduction|comment (?:dit|dirait|écrit)-on|la phrase|cette phrase|par exemple,? (?:je|j')|tu es (?:un|une) (?:expert|assistant|professeur))\b",
        _I,
    ),
    unreal=regex(
        r"(?:^|\s)(?:si|s'il|s'ils|au cas où|à condition que|à moins que|comme si|même si je (?:n'|ne )?\w+ais)\s|\b(?:on dirait que|il paraît que|(?:m'a|m'ont|a|ont) (?:dit|raconté|demandé|écrit|répondu)|(?:dit|disait|disent|disaient|raconte|pense|croit|prétend|demande|écrit) (?:que|qu'|:)|comme (?:le )?(?:disait|dit)|selon|d'après|je me demande)\b"
        r"|\bj'(?:aurais|avais) (?:dit|cru|pensé|voulu)\b|\b(?:tu|vous) (?:pens|cro|sa|conna|dir|veu)\w+",
        _I,
    ),
    doubtful=regex(
        r"\b(?:peut-être|sans doute|probablement|j'hésite|je ne sais pas (?:si|encore)|j'sais pas|je crois (?:que|avoir)|je pense (?:que|qu')|j'ai l'impression|il me semble|presque|failli|soi-disant|genre je|comme quoi|à un moment|quand j'(?:étais|avais)|j'ai l'air|est-ce que"
        r"|je (?:plaisante|rigole|blague)|mdr non|ou pas)\b",
        _I,
    ),
    blocked=regex(
        r"\b(?:que|qu'|si|où|quand|lorsque|dont|qui(?! vient)|avant|après que|sans|jusqu'à ce|comme|dès|tu|vous|il|elle|ils|elles|quel|quelle|pourquoi|comment|combien|n'est pas|pas|dit|disait|jamais)(?:\b|$)",
        _I,
    ),
    withdrawn=regex(r"\W*(?:(?:non,? )?je (?:plaisante|rigole|blague|déconne)|(?:c'est|c'était) (?:une blague|pour rire)|mais non,? je|enfin non|non,? (?:en fait,? )?c'est (?:ma|mon|faux|pas))", _I),
    tag=regex(r"^\W*(?:non|hein|n'est-ce pas|pas vrai|c'est ça|c'est bien ça|si|ou pas|d'accord|vrai|correct|je me trompe)\W*$", _I),
    kin_words=_KIN,
    kin_forms={},
    kin=regex(
        rf"\b(?:m(?:on|a)|notre) (?:(?:très |plus |autre |chère? |futur[e]? |nouvelle |nouveau )+)?(?P<kin>{_WORDS})(?: (?:aînée?|cadette?|jumelle|jumeau|benjamine?|préférée?|adorée?))?(?![\w-])(?:,? (?:s'appelle |nommée? |appelée? |qui s'appelle |c'est )?(?P<who>(?-i:{CAP})(?![\w'])))?,?",
        _I,
    ),
    subject_open=regex(
        r"\s*(?:(?:et|mais|donc|alors|car|parce que?|du coup|en fait|d'ailleurs|sinon|au fait|bref|ah|oh|oui|bon|ben|puis|ensuite|maintenant|aujourd'hui|hier|aussi|en plus|ce week-end|cette année|enfin|heureusement|malheureusement|bonne nouvelle)[,\s]+)*",
        _I,
    ),
    and_me=regex(r"\s*et moi,?(?: (?:on|nous)(?= ))?", _I),
    we="nous",
    elided=regex(NEVER),
    speaker="",
    pronoun=regex(r"(?:(?P<she>elle)|(?P<he>il))\b", _I),
    no_names=NO_NAMES,
    label=label,
    list_cut=regex(r"(?:,? et|,| ainsi que) (?:à la |à l'|au |aux |à )", _I),
    between=regex(r"\s*\b(?:le|la|l'|en|au mois de|depuis|dès|pour|vers|à partir d[eu']|au|du|de|d'|à|cet|cette|ce|pendant|durant|avant|après|jusqu'(?:en|au|à)|fin|début)?\s*(?:le |la |l')?$", _I),
    of_agent=(
        ("name", regex(rf"(?:^|(?<=[.!,] ))[Jj]e m'appelle (?P<v>{CAP})(?=\s*(?:[.,!]|$|et\b))")),
        ("role", regex(r"(?:^|(?<=[.!,] )|(?<=et ))[Jj]e suis (?P<v>(?:ton|ta|votre) (?:[a-zà-ÿ-]+ ){0,2}?(?:tuteur|tutrice|prof|professeure?|coach|assistante?|guide|conseill[eè]re?|compagnon|aide))(?=\s*(?:[.,!]|$|et\b|pour\b|de\b))")),
        ("cannot", regex(r"(?:^|(?<=[.!] ))[Ee]n tant qu'(?:IA|intelligence artificielle),? je ne peux pas (?P<v>[a-zà-ÿ][^,.;!?\n*]{2,60})(?=[,.;!]|$)")),
    ),
)  # fmt: skip
