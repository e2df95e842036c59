"""Standing instructions to the agent: "antworte mir immer auf Deutsch", "nenn mich nicht mehr Bob"."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from typing import Final

from embermem.core.patterns import regex
from embermem.languages.facts.order_reader import Orders

_I: Final = re.IGNORECASE
_ANSWER: Final = r"(?:(?:antworte[nt]?|schreibe?n?|spr[ei]ch|sprechen|rede[nt]?|erkläre?n?)(?: Sie)?(?: (?:mir|mit mir|uns|es mir))?)"
_LANGS: Final = r"(?:Deutsch|Englisch|Französisch|Spanisch|Italienisch|Portugiesisch|Niederländisch|Russisch|Polnisch|Türkisch|Arabisch|Chinesisch|Japanisch|Koreanisch)"
_LASTS: Final = r"(?: (?:immer|nur|nur noch|stets|nicht mehr|nie|nie mehr|nicht|ausschließlich|künftig|weiterhin|ab jetzt|lieber|wieder|bitte))*"
_SHORT: Final = r"(?:(?:sehr |etwas |möglichst |ganz |so )?(?:kurz|kürzer|knapp|knapper|ausführlich|ausführlicher|präzise|prägnant|detailliert)(?:e|er|en)?(?: und (?:knapp|präzise|klar|einfach|bündig)\w*)?|in (?:einem|zwei|drei|wenigen|\d+) (?:Sätzen?|Satz|Worten|Zeilen)|im Detail)"

ORDERS: Final = Orders(
    not_own=regex(
        r"\b(?:sagte|hat (?:mir )?gesagt|haben gesagt|sagt immer|meinte|schrieb|Hausordnung|Motto|Sprichwort|Liedtext|Schild|Plakat|System(?:nachricht|prompt)|Prompt|Rollenspiel|Geschichte|Roman|Figur|stell dir vor|(?:mein|meine) (?:Chef|Chefin|Lehrer|Lehrerin|Vater|Mutter|Arzt|Ärztin|Mann|Frau|Sohn|Tochter|Bruder|Schwester|Freund|Freundin|Kunde|Kundin))\b|https?://|\{|\}|\bdu bist (?:ein|eine) \w+",
        _I,
    ),
    once=regex(
        r"\b(?:heute|morgen|heute abend|jetzt gleich|diesmal|ausnahmsweise|dieser|diese|dieses|diesen|das hier|er|es|ihn|ihm|der Text|den Text|der Brief|den Brief|die Mail|der Artikel|der Code|das Rezept|die Liste|das Dokument|ihnen|den Kindern|warte|eine Minute|einen Moment)\b",
        _I,
    ),
    cut=regex(r"\s*[,;:()–—]\s+|\s+-\s+|[.!?…]+\s*$|\s+(?:und|aber|weil|denn|sonst)\s+(?=(?:nicht|keine|vermeide|benutze|verwende|antworte|sprich|nenn|duze|sieze|hör|danke|das|ich|immer|nie|gib|mach)\b)", _I),
    filler=regex(r"^(?:(?:und|aber|also|ok|okay|ja|nein,|gut|na|ach|übrigens|hallo|hey|danke|bitte|eine (?:bitte|sache)|auch|hinweis)\b[\s,:]*)+", _I),
    asks=regex(
        r"^(?:(?:kannst|könntest) du(?: bitte)?|(?:können|könnten) Sie(?: bitte)?|du (?:kannst|sollst|darfst|könntest)|ich (?:möchte|will|hätte gern|würde mir wünschen|bevorzuge)(?: es)?,? (?:dass|wenn) du|es wäre (?:gut|schön|toll),? wenn du|denk daran|vergiss nicht|versuche?,?)\s+",
        _I,
    ),
    lasting=regex(
        r"\b(?:immer|stets|nie(?: mehr| wieder)?|niemals|künftig|in Zukunft|zukünftig|ab (?:jetzt|sofort|heute)|von (?:jetzt|nun) an|von nun ab|jedes Mal|bei jeder Antwort|in (?:jeder|allen|deinen) (?:Antworten?|Nachrichten?)|standardmäßig|grundsätzlich|die ganze Zeit|nicht mehr|keine mehr)\b",
        _I,
    ),
    kept=regex(r"immer|stets|nie|jede|allen|deinen|nicht mehr|grundsätzlich", _I),
    verbs=regex(
        r"(?:immer |stets )?(?:antwort|schreib|sprich|sprech|red|erklär|gib|geb|benutz|verwend|nutz|schlag|empfiehl|empfehl|beginn|fang|beend|nenn|zitier|setz|stell|erinner|frag|vermeid|duz|siez|korrigier|füg|rechn|prüf|hör|sag|erwähn|zeig|mach|halt|sei\b|bleib|begrüß|fass|verzicht|sprech)\w*",
        _I,
    ),
    never=regex(r"^(?:nie |niemals |nicht )+", _I),
    standing=(
        ("language", regex(rf"(?:(?:immer |nie )?{_ANSWER}{_LASTS} (?:auf |in )?{_LANGS}(?: (?:mit mir|nur|bitte|antworten))?|(?:lass uns|wir) {_LANGS} (?:sprechen|reden)|(?:mir )?(?:immer |nur )?auf {_LANGS} (?:antworten|antwortest|schreiben|schreibst|sprechen))", _I), ""),
        ("length", regex(rf"(?:(?:immer |nie )?{_ANSWER}{_LASTS} {_SHORT}|(?:halte|fass)(?: dich| deine Antworten)?{_LASTS} {_SHORT}|(?:mir )?(?:immer )?{_SHORT} (?:antworten|antwortest|schreiben)|(?:gib|gib mir|mach|ich (?:mag|will|möchte)){_LASTS} {_SHORT} (?:Antworten|Erklärungen)|fasse? dich{_LASTS} {_SHORT}|sei{_LASTS} {_SHORT})", _I), ""),
        ("length", regex(r"keine (?:so )?(?:langen (?:Antworten|Texte)|Romane)(?: mehr)?", _I), ""),
        ("formality", regex(r"(?:duze? mich|duzen Sie mich|wir können uns duzen|lass uns duzen|(?:mich )?duzen|du kannst mich duzen|sag(?: bitte)? du zu mir|siez mich nicht(?: mehr)?)(?: immer| ruhig| bitte)*", _I), "duze mich"),
        ("formality", regex(r"(?:sieze? mich|siezen Sie mich|(?:mich )?siezen|bleib beim Sie|duz mich nicht(?: mehr)?)(?: immer| bitte)*", _I), "sieze mich"),
        ("emojis", regex(r"(?:(?:bitte )?(?:keine|ohne|nie) (?:Emojis?|Smileys?)(?: mehr)?|(?:verwende?|benutze?|nutze?|setze?|schreibe?|vermeide?)(?: Sie)?(?: (?:immer|nie|bitte|mehr|gern))* ?(?:keine |nie )?(?:Emojis?|Smileys?)(?: mehr)?|verzichte auf (?:Emojis?|Smileys?)|hör auf,? (?:Emojis?|Smileys?) zu (?:verwenden|benutzen))(?: in (?:deinen|den) (?:Antworten|Nachrichten))?(?: (?:verwenden|benutzen))?", _I), ""),
        ("units", regex(r"(?:verwende?|benutze?|nutze?|gib)(?: mir)?(?: immer)? .{0,30}(?:metrisch\w* (?:System|Einheiten)|Kilometer[n]?|Meter[n]?|Kilogramm|imperial\w*)(?: .{0,15})?", _I), ""),
        ("temperature", regex(r"(?:verwende?|benutze?|gib)(?: mir)?(?: immer)? .{0,25}(?:Celsius|Fahrenheit)(?: .{0,10})?", _I), ""),
        ("wording", regex(rf"{_ANSWER}{_LASTS} (?:in einfachen Worten|in einfacher Sprache|einfach|ohne Fachbegriffe)", _I), ""),
        ("bullets", regex(r"(?:verwende?|benutze?|antworte|keine)(?: immer| in| mit)*(?: keine)? (?:Stichpunkten?|Stichpunkte|Aufzählungen|Bulletpoints)(?: mehr)?", _I), ""),
        ("", regex(r"(?:nenne?|nennen Sie) mich (?:bitte )?(?:nicht|nie)(?: mehr| wieder)? .{2,20}", _I), ""),
        ("", regex(r"(?:nenne?|nennen Sie) mich (?!nicht|nie|so|wenn|bei|einen?\b|eine\b)(?:bitte |einfach |ab jetzt )*\w[\w '-]{1,20}", _I), ""),
        ("", regex(r"(?:sprich|frag|erwähne?|erinnere?)(?: mich| mir)? (?:nicht|nie)(?: mehr| wieder)? (?:über|nach|auf|von|an) .{3,40}(?: an)?", _I), ""),
        ("", regex(r"(?:sprich|frag) mich (?:nicht|nie)(?: mehr| wieder)? (?:auf|nach) .{3,40}", _I), ""),
    ),
    back=(
        ("emojis", regex(r"(?:du kannst |darfst )?(?:wieder|ruhig wieder) (?:Emojis?|Smileys?) (?:verwenden|benutzen)", _I)),
        ("language", regex(rf"(?:du )?(?:musst|brauchst) (?:mir )?nicht mehr auf {_LANGS} (?:zu )?(?:antworten|schreiben)", _I)),
        ("length", regex(r"(?:wieder )?(?:normal|länger) (?:antworten|schreiben)", _I)),
    ),
    no_name="nenn mich nicht mehr ",
    until=regex(r"\bbis (?:zum |zur |Ende )?(?P<t>[^,.;!?]{3,25})", _I),
    until_label="bis {}",
    spare=regex(r"[\s,]+(?:bitte|danke(?: im Voraus)?|ok|okay|ja|wenn möglich|wenn es geht|für mich)$", _I),
)  # fmt: skip
