"""What the reader of statements needs to know of German: clauses, doubts, relatives, and how dates read."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from datetime import date
from typing import Final

from embermem.core.patterns import regex
from embermem.languages.de.facts import FRAMES, NO_NAMES, OF_KIN, PHRASES
from embermem.languages.de.vocabulary import MONTH_NAMES
from embermem.languages.facts.clause_reader import Grammar
from embermem.languages.facts.clause_values import CAP
from embermem.languages.language import kin_of

_I: Final = re.IGNORECASE
_KIN: Final = kin_of("de")
_FORMS: Final = {
    "frau": "Ehefrau", "mann": "Ehemann", "neffen": "Neffe", "kollegen": "Kollege", "nachbarn": "Nachbar", "verlobten": "Verlobter",
    "besten freund": "bester Freund", "bestem freund": "bester Freund", "bester freundin": "beste Freundin", "besten freundin": "beste Freundin",
    "kindern": "Kinder", "schwiegereltern": "Eltern",
}  # fmt: skip
_WORDS: Final = "|".join(
    re.escape(word) for word in sorted((*_KIN, *_FORMS), key=len, reverse=True) if word != "schwiegereltern"
)


def label(day: date, grain: str) -> str:
    """ "12. März 2024", "März 2024", "2024"."""
    if grain == "year":
        return str(day.year)
    month = f"{MONTH_NAMES[day.month - 1]} {day.year}"
    return month if grain == "month" else f"{'Woche vom ' if grain == 'week' else ''}{day.day}. {month}"


GRAMMAR: Final = Grammar(
    phrases=PHRASES,
    frames=FRAMES,
    of_kin=OF_KIN,
    cut=regex(
        r"\s*[;:–—]\s+|\s+-\s+|\s*[()]\s*|,\s+(?=\w)(?!(?:der|die|das) (?-i:[A-ZÄÖÜ])\w+ heißt)(?!namens)(?![^,.]{0,60}\b(?:zu \w+en|\w+zu\w+en)\b)(?!(?-i:[A-ZÄÖÜ])[^,]{0,25}(?:,| und ))"
        r"|\s+(?:und|aber|denn|oder)\s+(?!ich \w+en\b)(?=(?:ich|wir|er|sie|es|mein|meine|meinen|unser|unsere|habe|bin|wohne|arbeite|mag|liebe|spiele|lerne|studiere|hasse|esse|trinke|lese|höre|koche|mache|sammle|spreche|gehe|fahre|seit|jetzt|außerdem|wohnt|arbeitet|ist|hat|mag|liebt|spielt|studiert|lebt)\b)",
        _I,
    ),
    joins=regex(
        r"\s(?:und|aber|sondern|oder)\s(?!(?:der|die|das|den|dem|des|ein\w{0,2}|mein\w{0,2}|sein\w{0,2}|ihr\w{0,2}|unser\w{0,2}|in|im|an|am|auf|aus|bei|mit|nach|von|vom|zu|zum|zur|für|ohne|seit|bis|zwei|drei|auch|noch)\b|\d|(?-i:[A-ZÄÖÜ]))"
        r"|\s(?:und|aber)\s(?=(?:im|am|seit|ab|in)\s\S+\s(?:komm\w+|zieh\w+|fang\w+|fähr\w+|geh\w+|beginn\w+|mach\w+)\b)|,\s(?:weil|wo|wenn|als|da|der|die|das|obwohl|während)\s",
        _I,
    ),
    unreal_sentence=regex(
        r"\b(?:stell dir vor|stellt euch vor|stellen wir uns vor|angenommen|nehmen wir an|geträumt|in meinem Traum|im Traum|mein Charakter|meine Figur|Rollenspiel|spiele die Rolle|tu so|tue so|Aprilscherz|es war einmal|übersetze?|Übersetzung|wie (?:sagt|schreibt) man|der Satz|diesen? Satz|zum Beispiel:? ich|du bist (?:ein|eine) (?:Experte|Expertin|Assistent|Lehrer))\b"
        r"|\bim (?:Film|Buch|Spiel|Roman)\b[^.]{0,20}\bich\b",
        _I,
    ),
    unreal=regex(
        r"(?:^|\s)(?:wenn|falls|ob|als ob|als wäre|sofern)\s|\b(?:anscheinend|angeblich|(?:hat|haben) (?:mir |uns |ihm |ihr )?(?:gesagt|erzählt|gefragt|geschrieben|gemeint|behauptet)|(?:sagt|sagte|meint|meinte|behauptet|glaubt|erzählt|fragt|schreibt|schrieb|denkt)(?:e)?\b(?=[,:]|$)|laut|ich frage mich|wie \w+ \w+ (?:sagte|sagt|immer sagt))\b"
        r"|\b(?:hätte|wäre|würdest|wüsste|könnte ich|würde ich(?! (?:gern|sehr|irgendwann|total)))\b|\b(?:denkst|glaubst|weißt|kennst|willst|magst) du\b",
        _I,
    ),
    doubtful=regex(
        r"\b(?:vielleicht|wahrscheinlich|eventuell|möglicherweise|vermutlich|ich weiß nicht|bin (?:mir )?nicht sicher|ich (?:glaube|denke|meine|überlege)|überlege|fast (?!immer|alle|jeden)|beinahe|quasi|als (?:ich|Kind)|früher|damals|Spaß beiseite|nur Spaß|oder (?:auch )?nicht)\b",
        _I,
    ),
    blocked=regex(
        r"\b(?:dass|wenn|ob|wo|wann|wer|wie|was|welche\w*|bevor|nachdem|bis ich|ohne|du|er|sie|ihr|warum|wieso|nicht|nie|niemals|kein\w*|sagt|sagte|meinte)(?:\b|$)",
        _I,
    ),
    withdrawn=regex(r"\W*(?:(?:nein,? )?(?:nur |kleiner )?(?:Spaß|Scherz|Witz)\b|(?:das )?war (?:nur )?ein (?:Spaß|Scherz|Witz)|Quatsch|ich mache? nur Spaß|nein,? (?:stimmt nicht|das ist (?:mein|meine|falsch)))", _I),
    tag=regex(r"^\W*(?:oder|nicht wahr|stimmt's|richtig|gell|ne|nicht|ja|oder nicht|oder so|ok|okay)\W*$", _I),
    kin_words=_KIN,
    kin_forms=_FORMS,
    kin=regex(
        rf"\b(?:mein|meine|meinen|meinem|meiner|meines|unser|unsere|unseren|unserem|unserer) (?:(?:liebe[rn]?|kleine[rn]?|große[rn]?|ältere[rn]?|jüngere[rn]?|älteste[rn]?|jüngste[rn]?|neue[rn]?|zukünftige[rn]?|alte[rn]?) )?(?P<kin>{_WORDS})(?![\w-])(?:,? (?:heißt |namens |(?:der|die) )?(?P<who>(?-i:{CAP})(?!\w)))?,?",
        _I,
    ),
    subject_open=regex(
        r"\s*(?:(?:und|aber|denn|also|ja|nein|ach|oh|naja|übrigens|außerdem|dann|jetzt|heute|gestern|auch|dieses Jahr|endlich|zum Glück|leider|gute Nachrichten|tatsächlich)[,\s]+)*",
        _I,
    ),
    and_me=regex(r"\s*und ich\b,?", _I),
    we="wir",
    elided=regex(
        r"(?:bin|habe|wohne|lebe|arbeite|spiele|lerne|studiere|mag|liebe|hasse|esse|trinke|lese|höre|koche|mache|sammle|spreche|komme|fahre|gehe|spare|werde|heiße|leide|verzichte|jogge|schwimme)\b(?! (?:ich|du|wir)\b)",
        _I,
    ),
    speaker="ich ",
    pronoun=regex(r"(?:(?P<she>sie)|(?P<he>er))\b", _I),
    no_names=NO_NAMES,
    label=label,
    list_cut=regex(r"(?:,? und|,| sowie) (?:gegen |auf )?(?=(?-i:[A-ZÄÖÜ]))", _I),
    between=regex(r"\s*\b(?:am|im|in|seit|ab|bis|zum|vom|für|den|dem|der|die|das|um|gegen|Anfang|Ende|von|zu|nach)?\s*(?:dem |den |der )?$", _I),
    of_agent=(
        ("name", regex(rf"(?:^|(?<=[.!,] ))[Ii]ch heiße (?P<v>{CAP})(?=\s*(?:[.,!]|$|und\b))")),
        ("role", regex(r"(?:^|(?<=[.!,] )|(?<=und ))[Ii]ch bin (?P<v>(?:dein|deine|Ihr|Ihre) (?:[A-Za-zÄÖÜäöüß-]+ ){0,2}?(?:Tutor(?:in)?|[A-ZÄÖÜa-zäöüß]*[Ll]ehrer(?:in)?|Coach|Assistent(?:in)?|Begleiter(?:in)?|Berater(?:in)?|Trainer(?:in)?|Helfer(?:in)?))(?=\s*(?:[.,!]|$|und\b|für\b))")),
        ("cannot", regex(r"(?:^|(?<=[.!] ))[Aa]ls (?:KI|künstliche Intelligenz) kann ich (?P<v>[a-zA-ZÄÖÜäöüß][^,.;!?\n*]{2,60}?)(?= nicht[,.;!]| nicht [a-zäöüß]+[,.;!])")),
    ),
)  # fmt: skip
