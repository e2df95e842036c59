"""Words: function words. Plurals are left as they are: no rule tells them from singulars."""

# ruff: noqa: E501  (a table is read in one piece)

from __future__ import annotations

from typing import Final

from embermem.languages.inflected_words import InflectedWords
from embermem.languages.language import words_of

# They carry grammar, not topic. Written for this project; negations are kept out of the list.
STOP_WORDS: Final = frozenset(
    """
    der die das den dem des ein eine einen einem einer eines und oder aber doch denn sondern als wie wenn ob dass weil
    damit obwohl während bevor nachdem bis seit sobald an am auf aus bei beim durch für gegen hinter in im ins mit nach
    neben ohne über um unter von vom vor zu zum zur zwischen wegen trotz
    ich du er sie es wir ihr mich dich sich uns euch mir dir ihm ihn ihnen man
    mein meine meinen meinem meiner meines dein deine deinen deinem deiner sein seine seinen seinem seiner ihre ihren
    ihrem ihrer unser unsere unseren unserem unserer euer eure
    dieser diese dieses diesen diesem jener jene jedes jeder jede jeden jedem welche welcher welches welchen welchem
    was wer wen wem wann wo wohin woher warum wieso wie viel viele vieles
    bin bist ist sind seid war warst waren wart gewesen sei wäre wären sein habe hast hat haben habt hatte hatten hättest
    hätte hätten gehabt werde wirst wird werden werdet wurde wurden worden geworden würde würden
    kann kannst können könnt konnte könnte muss musst müssen soll sollst sollte will willst wollen wollte darf dürfen mag
    möchte möchten lass machen mache machst macht gemacht tun tue gehen gehe geht ging
    sehr mehr weniger auch noch schon nur so da dort hier dann jetzt nun immer wieder mal ja eben halt eigentlich etwa
    ganz gar etwas alle alles allem allen andere anderen anderer selbst beide beiden also dabei dazu davon darauf daran
    damals heute gestern morgen
    hallo hi hey danke bitte ok okay gut klar
    ding dinge sache sachen
    """.split()
)
TELLING: Final = (
    STOP_WORDS
    | frozenset(
        """
    nicht kein keine keinen keinem keiner nie niemals nichts niemand vorgestern übermorgen
    heiße heißt heisse wohne wohnst wohnt lebe lebt arbeite arbeitest arbeitet studiere studiert liebe liebt hasse mag gern
    gerne spiele spielt spreche lerne fahre trinke esse sammle geboren jahre alt jahr woche monat tag tage monate wochen
    montag dienstag mittwoch donnerstag freitag samstag sonntag januar februar märz mai juni juli oktober dezember
    pfingstsonntag pfingstmontag himmelfahrt fronleichnam gründonnerstag karsamstag rosenmontag aschermittwoch
    allerheiligen heiligabend
    wochenende vorletzte vorletzten vorletztes vorletzter ostern ostersonntag ostermontag karfreitag pfingsten weihnachten silvester
    mutter vater schwester bruder tochter sohn kinder oma opa frau freundin freund ehemann ehefrau
    letzte letzten letztes letzter nächste nächsten nächstes nächster vergangenen guten tschüss natürlich bestimmt
    vielen weißt glaube denke finde gekauft gezogen allergisch verheiratet antworte duze nenn sag schreib vegetarierin rente
    verwende sieze benutze meist ziemlich schön tolle neue neuen alten kleinen
    """.split()
    )
) - frozenset("hi hey ok okay man war mag alt den tag gut halt".split())  # fmt: skip
"""Words by which a text is known to be German: not those that another language's texts are full of."""

WORDS: Final = InflectedWords("german", STOP_WORDS, fillers=lambda: words_of("de", "fillers"))
