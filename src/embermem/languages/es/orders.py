"""Standing instructions to the agent: "respóndeme siempre en español", "no me llames más Bob"."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from typing import Final

from embermem.core.patterns import regex
from embermem.languages.facts.order_reader import Orders

_I: Final = re.IGNORECASE
_ANSWER: Final = r"(?:(?:respond(?:e|a|as|er|an|eme)|respónde(?:me|nos)|respóndame|contest(?:a|e|es|ar|en|ame)|contésta(?:me|nos)|contésteme|escrib(?:e|a|as|ir|eme)|escríbeme|habl(?:a|e|es|ar|ame)|háblame|explic(?:a|ame)|explícame|expliques|explicar)(?:me|nos)?)"
_NOT: Final = r"(?:no |nunca |jamás |deja de |evita )*(?:me |nos )?"
_LANGS: Final = r"(?:español|castellano|inglés|francés|alemán|italiano|portugués|catalán|gallego|euskera|ruso|árabe|chino|japonés|coreano)"
_SHORT: Final = r"(?:más |muy |bastante |lo más )?(?:cort[oa]s?|breves?|brevemente|concis[oa]s?|escuet[oa]s?|de forma (?:más )?(?:breve|concisa|corta|detallada)|en (?:una|dos|tres|pocas|\d+) (?:frases?|palabras|líneas)|en detalle|con detalle|detallad[oa]s?|resumid[oa]s?)"

ORDERS: Final = Orders(
    not_own=regex(
        r"\b(?:decía|me dijo|dijeron|dice siempre|siempre dice|siempre me dice|escribió|reglamento|lema|refrán|proverbio|letra de|cartel|sistema|prompt|juego de rol|historia|novela|cuento|personaje|imagina|mi (?:jefe|jefa|profesor|profesora|padre|madre|médico|médica|marido|mujer|hijo|hija|hermano|hermana|amigo|amiga|cliente|novio|novia))\b|https?://|\{|\}|\beres (?:un|una) \w+",
        _I,
    ),
    once=regex(
        r"\b(?:hoy|mañana|esta noche|ahora mismo|esta vez|por una vez|este|esta|estos|estas|eso|esto|ese|esa|él|ella|el texto|la carta|el correo|el artículo|el código|la receta|la lista|el documento|le|les|los niños|espera|un minuto|un momento)\b",
        _I,
    ),
    cut=regex(r"\s*[,;:()–—]\s+|\s+-\s+|[.!?…¡¿]+\s*$|\s+(?:y|pero|porque|ya que|así que)\s+(?=(?:no|nunca|evita|usa|utiliza|responde|contesta|habla|llámame|tutéame|trátame|deja|gracias|es|yo|me|siempre|da|pon)\b)", _I),
    filler=regex(r"^[¡¿]?(?:(?:y|pero|entonces|vale|ok|de acuerdo|sí|no,|bueno|oye|por cierto|hola|gracias|por favor|porfa|una cosa|también|nota)\b[\s,:]*)+", _I),
    asks=regex(
        r"^(?:¿?(?:puedes|podrías|podría|puede)|(?:me gustaría|quisiera|quiero|prefiero|preferiría|agradecería|te pido|necesito) que(?: me)?(?= )|acuérdate de|recuerda|procura|intenta|asegúrate de|haz el favor de)\s+",
        _I,
    ),
    lasting=regex(
        r"\b(?:siempre|nunca(?: más)?|jamás|en el futuro|de ahora en adelante|a partir de (?:ahora|hoy|este momento)|desde ahora|en adelante|cada vez|en cada (?:respuesta|mensaje)|por defecto|en todo momento|en (?:todas )?tus (?:futuras |próximas )?respuestas|todo el tiempo|más|deja de)\b",
        _I,
    ),
    kept=regex(r"siempre|nunca|jamás|más|deja|cada|respuestas|todo momento", _I),
    verbs=regex(
        r"(?:siempre )?(?:me |nos )?(?:respond|respónd|contest|contést|escrib|escríb|habl|hábl|explic|explíc|da|dame|dé|des|us[ae]|utilic|utiliz|propon|propón|recomiend|recomend|sugier|sugér|empie|empez|termin|acab|cit|indic|indíc|pon|recuerd|recuérd|pregunt|pregúnt|evit|llam|llám|tutea|tuté|trat|trát|corrig|corríg|añad|conviert|convert|comprueb|deja|dej[ae]|di|dim|menci|muestr|muéstr|haz|hag|mantén|sé|se[aá]s?\b|avis|avís|salud|salúd|resum|toqu)\w*",
        _I,
    ),
    never=regex(r"^(?:no |nunca |jamás )+", _I),
    standing=(
        ("language", regex(rf"{_NOT}(?:siempre )?(?:{_ANSWER}|respuestas|hablemos|hablamos|cambia|pasa)(?: siempre| más| nunca| solo| únicamente| solamente| conmigo)* (?:en|al) {_LANGS}(?: (?:solo|únicamente|solamente|conmigo|mejor))?", _I), ""),
        ("length", regex(rf"{_NOT}(?:(?:siempre )?{_ANSWER}(?: siempre)?|(?:da|dame|haz|prefiero|quiero)(?:me)? (?:siempre )?(?:unas |tus |las )?(?:respuestas|mensajes|explicaciones)(?: siempre)?|(?:sé|seas|sea)|respuestas) {_SHORT}(?: (?:y|pero) (?:{_SHORT}|clar\w*|simple\w*|direct\w*))?", _I), ""),
        ("length", regex(r"(?:nada de|sin|evita las) (?:respuestas (?:muy )?largas|parrafadas|textos largos)", _I), ""),
        ("formality", regex(r"(?:tutéame|tutearme|tutees|tutéeme|trátame de tú|tratarme de tú|trates de tú|háblame de tú|nos tuteamos|podemos tutearnos|no me (?:trates|hables|llames) (?:más )?de usted)(?: siempre)?", _I), "tutéame"),
        ("formality", regex(r"(?:trátame|tráteme|háblame|trates|tratarme|hables) (?:siempre )?de usted(?: siempre)?|no me tutees(?: más)?", _I), "trátame de usted"),
        ("emojis", regex(r"(?:(?:no |nunca |jamás )?(?:us[ae]s?|utilices|utiliza|pongas|pon|añadas|metas|usar|poner|dejar? de usar|dejar? de poner|deja de poner|evita)(?: más| nunca| siempre| usar)*(?: los| tantos)?|(?:sin|nada de|cero|ni un)) (?:emojis?|emoticonos?|caritas)(?: (?:en|con) (?:tus|las) (?:respuestas|mensajes))?", _I), ""),
        ("units", regex(r"(?:usa|utiliza|da|dame|uses)(?:me)?(?: siempre)? .{0,30}(?:sistema métrico|unidades métricas|sistema imperial|kilómetros|metros|kilos)(?: .{0,20})?", _I), ""),
        ("temperature", regex(r"(?:usa|utiliza|da|dame)(?: siempre)? .{0,25}(?:celsius|fahrenheit)", _I), ""),
        ("wording", regex(rf"{_ANSWER}(?: siempre)? (?:con palabras sencillas|de forma sencilla|en lenguaje sencillo|sin tecnicismos)", _I), ""),
        ("", regex(r"(?:no |nunca )(?:me )(?:llames|llame|digas|diga) (?:más |nunca |nunca más )?.{2,20}", _I), ""),
        ("", regex(r"ll[aá]ma?(?:me|dme) (?!cuando|si|a|al|luego|mañana|más|por|el|en|un|una|para)\w[\w '-]{1,20}", _I), ""),
        ("", regex(r"(?:no |nunca )(?:me |vuelvas a )?(?:hables|preguntes|menciones|recuerdes|hablarme|preguntarme|mencionar)(?: más| nunca más)? .{3,40}", _I), ""),
    ),
    back=(
        ("emojis", regex(r"(?:ya )?(?:puedes )?(?:volver a )?(?:usar|poner) (?:otra vez |de nuevo )?emojis", _I)),
        ("language", regex(rf"ya no (?:hace falta|es necesario) (?:que (?:me )?(?:respondas|hables|contestes)|(?:responder|hablar)(?:me)?) en {_LANGS}", _I)),
        ("length", regex(r"(?:ya )?(?:puedes )?(?:volver a )?(?:responder|contestar)(?:me)? (?:con normalidad|más largo|normal)", _I)),
    ),
    no_name="no me llames más ",
    until=regex(r"\bhasta (?:el |la )?(?P<t>(?:final de (?:mes|semana|año)|[^,.;!?]{3,25}))", _I),
    until_label="hasta el {}",
    spare=regex(r"[\s,]+(?:por favor|porfa|gracias(?: de antemano)?|ok|vale|de acuerdo|si es posible|si puedes|conmigo|a mí|para mí)$", _I),
)  # fmt: skip
