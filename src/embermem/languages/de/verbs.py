"""Verbs of events, plans and habits."""

# ruff: noqa: E501  (a table is read in one piece)

from __future__ import annotations

from typing import Final

PARTICIPLES: Final = frozenset(
    """
    gekauft verkauft adoptiert gemietet abgeschlossen beendet begonnen angefangen verloren gefunden gewonnen bestanden
    bekommen unterschrieben gebucht reserviert gebaut renoviert gestrichen gepflanzt gekocht gebacken organisiert gefeiert
    teilgenommen beworben gekündigt geheiratet verlobt getrennt scheiden operiert gebrochen verletzt verstaucht repariert
    gegründet eröffnet veröffentlicht geschrieben gelesen gelernt aufgehört wiedergetroffen kennengelernt getroffen besucht
    bestiegen gewandert gelaufen geschwommen gefahren gereist geflogen umgezogen eingezogen ausgezogen gezogen angekommen
    zurückgekommen geworden befördert eingestellt entlassen aufgenommen angenommen angemeldet eingeschrieben gespendet
    geschenkt gespielt gemalt genäht gestrickt gebastelt erhalten verpasst verschoben aufgegeben
    abgegeben eingeladen vorgestellt verteidigt verliehen zurückgezahlt gespart geboren gezeltet übernachtet
    """.split()
)
INFINITIVES: Final = frozenset(
    """
    kaufen verkaufen adoptieren mieten anfangen beginnen beenden abschließen buchen reservieren bauen renovieren streichen
    pflanzen organisieren feiern teilnehmen bewerben kündigen heiraten umziehen einziehen ziehen fahren fliegen reisen
    wandern laufen besuchen lernen machen schreiben lesen eröffnen gründen veröffentlichen treffen gehen studieren
    operieren anmelden einladen backen kochen malen nähen stricken ansehen anschauen aufhören wechseln verbringen
    übernachten zelten segeln klettern werden verreisen abgeben ausziehen tauchen surfen spielen arbeiten
    """.split()
)
HABITS: Final = {
    "gehe": "geht", "laufe": "läuft", "jogge": "joggt", "schwimme": "schwimmt", "fahre": "fährt", "spiele": "spielt",
    "singe": "singt", "tanze": "tanzt", "koche": "kocht", "meditiere": "meditiert", "arbeite": "arbeitet", "lese": "liest",
    "schreibe": "schreibt", "mache": "macht", "trainiere": "trainiert", "besuche": "besucht", "gebe": "gibt",
    "trinke": "trinkt", "esse": "isst", "übe": "übt", "telefoniere": "telefoniert", "wandere": "wandert", "backe": "backt",
}  # fmt: skip
"""What somebody does again and again, in the first person, with the third."""
GLADLY: Final = {
    "trinke": "trinken", "esse": "essen", "höre": "hören", "lese": "lesen", "koche": "kochen", "spiele": "spielen", "male": "malen",
    "tanze": "tanzen", "singe": "singen", "wandere": "wandern", "schwimme": "schwimmen", "reise": "reisen", "backe": "backen",
    "fotografiere": "fotografieren", "stricke": "stricken", "nähe": "nähen", "jogge": "joggen", "laufe": "laufen",
    "schaue": "schauen", "gucke": "gucken", "zeichne": "zeichnen", "klettere": "klettern", "fahre": "fahren", "gehe": "gehen",
}  # fmt: skip
"""What somebody likes to do, in the first person, with the infinitive."""
