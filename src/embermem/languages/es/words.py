"""Words: function words, the singular."""

# ruff: noqa: E501  (a table is read in one piece)

from __future__ import annotations

from typing import Final

from embermem.languages.inflected_words import InflectedWords
from embermem.languages.language import words_of

# They carry grammar, not topic. Written for this project; negations are kept out of the list.
STOP_WORDS: Final = frozenset(
    """
    el la los las lo un una unos unas al del de a ante bajo con contra desde durante en entre hacia hasta para por según
    sin sobre tras y e o u pero mas sino porque pues aunque si como cuando donde mientras que
    yo tú tu él ella ello nosotros nosotras vosotros vosotras ellos ellas usted ustedes me te se nos os le les mí ti
    conmigo contigo consigo mi mis tus su sus nuestro nuestra nuestros nuestras vuestro vuestra vuestros vuestras
    mío mía míos mías tuyo tuya suyo suya
    este esta esto estos estas ese esa eso esos esas aquel aquella aquello aquellos aquellas
    qué quién quiénes cuál cuáles cuándo dónde cómo cuánto cuánta cuántos cuántas quien quienes cual cuales cuanto
    soy eres es somos sois son era eras éramos eran fui fue fueron ser sido siendo sería será seré
    estoy estás está estamos están estaba estaban estuve estuvo estar estado
    he has ha hemos habéis han había habían haber hay hubo haya
    tengo tienes tiene tenemos tienen tenía tener voy vas va vamos van ir iba hago hace hacen hacer
    puedo puedes puede podemos pueden poder quiero quieres quiere querer debo debes debe deber
    muy más menos poco mucho mucha muchos muchas bastante todo toda todos todas mismo misma mismos otra otro otros otras
    algo alguien algún alguna alguno algunos algunas cada ya aún todavía siempre también tampoco así entonces luego
    aquí allí ahí allá ahora solo sólo casi quizá quizás bien
    sí vale ok okay hola gracias por favor bueno buenas buenos pues vaya oye eh ah ay
    cosa cosas etc
    """.split()
)
TELLING: Final = (
    STOP_WORDS
    | frozenset(
        """
    no nunca jamás nada nadie ayer hoy mañana anteayer anoche llamo llamas llama vivo vives vive vivimos trabajo trabajas
    trabaja gusta gustan encanta encantan odio estudio estudia años año meses semana semanas día días
    navidad nochebuena nochevieja finde
    lunes martes miércoles jueves viernes sábado domingo
    enero febrero marzo abril mayo junio julio agosto septiembre setiembre octubre noviembre diciembre
    hermana hermano padre madre hijo hija mujer marido esposa esposo novia novio abuela abuelo
    pasada pasado próximo próxima último última nuevo nueva mejor grande pequeño pequeña buen buena
    tutéame llámame respóndeme háblame trátame dicen llaman mido hablo español inglés llames uses responde
    casé mudé compré murió tuve hice dejado casado casada jubilada jubilado quería gustaría prefiero creo sabes recuerdas dijo dije compré fuimos nací alérgica alérgico
    """.split()
    )
) - frozenset("u mas vale son ok okay etc eh ah ay no ya oh".split())  # fmt: skip
"""Words by which a text is known to be Spanish: not those that another language's texts are full of."""
_SAME: Final = frozenset(
    "lunes martes miércoles jueves viernes crisis tesis dosis análisis oasis paraguas cumpleaños gas mes país inglés francés"
    " portugués japonés interés estrés bus virus campus tenis atlas carlos lucas tomás andrés inés jesús dios luis parís"
    " londres buenos aires honduras burgos caracas además después tres seis dos más menos jamás atrás detrás quizás ajedrez"
    " gracias vacaciones gafas".split()
)


def singular(word: str) -> str:
    """The singular of a lower-cased noun by rule; words that are no plural pass unchanged."""
    if word in _SAME or len(word) < 4 or not word.endswith("s"):
        return word
    if word.endswith("ces"):
        return word[:-3] + "z"
    if word.endswith(("ones", "anes", "enes", "ines")) and len(word) > 5:
        return word[:-4] + {"o": "ó", "a": "á", "e": "é", "i": "í"}[word[-4]] + "n" if word[-5] in "ijc" else word[:-2]
    if word.endswith(("res", "les", "des", "jes", "yes")) and len(word) > 5 and word[-4] in "aeiouáéíóú":
        return word[:-2]
    return word[:-1] if word[-2] in "aeo" else word


WORDS: Final = InflectedWords("spanish", STOP_WORDS, fillers=lambda: words_of("es", "fillers"), singular=singular)
