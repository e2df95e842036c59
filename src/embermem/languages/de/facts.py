"""Rules of facts: how a speaker states them of themselves, and of relatives."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from embermem.core.patterns import regex
from embermem.languages.de.verbs import GLADLY, HABITS, INFINITIVES, PARTICIPLES
from embermem.languages.de.vocabulary import AMOUNTS, MONTHS
from embermem.languages.facts.clause_reader import Frame
from embermem.languages.facts.clause_values import CAP, Phrases, Read, count, fixed, group, known, name, place
from embermem.languages.facts.rules import Value
from embermem.languages.language import words_of

_I: Final = re.IGNORECASE
NO_NAMES: Final = frozenset(
    "der die das ein eine ich du er sie es wir ihr nicht sehr so gott weihnachten internet hallo danke ja nein mein meine und oder frau herr"
    " auch noch schon immer ist hat war wie".split()
)
_NO_PLACES: Final = frozenset(
    "weihnachten internet facebook twitter instagram youtube whatsapp gott excel python ich er sie teilzeit vollzeit rente elternzeit angst"
    " ruhe frieden miete untermiete wg trennung scheidung ordnung urlaub mutterschutz beziehung partnerschaft montag dienstag mittwoch"
    " donnerstag freitag samstag sonntag versehen erfahrung armut saus zukunft gedanken wirklichkeit einsamkeit scherben hause haus".split()
)
PHRASES: Final = Phrases(
    end=regex(
        r"\s*[,;:.!?…()]|\s(?:weil|dass|aber|denn|sondern|obwohl|wenn|falls|damit|zurzeit|im moment|momentan|derzeit|seit(?! langem)|jeden|jede|dank|außer|trotz|und (?:ich|wir|es|das|sie|er|mein|meine|habe|bin|mag|liebe|wohne|arbeite|bald|jetzt|außerdem|dann)"
        r"|ich|haha\w*|lol|bevor|nachdem|wegen)\b",
        _I,
    ),
    refused=regex(
        r"\b(?:das hier|dies|dieses|diese|diesen|dieser|du|dich|dir|dein\w*|ihr|ihm|ihn|ihnen|euch|euer|eure|er|sie|es|mich|mir|uns|nichts|etwas|alles|sache|sachen|ding|dinge|so|man|davon|daran|damit|dazu|darauf)\b"
        r"|^(?:nicht|nie|gut|besser|hier|dort|da|wie|kein\w*)\b|^(?:der|die|das|den|dem|ein|eine|einen|von|zu|an|in)$|\?|\b(?:der|die|das|den|dem|ein|eine|einen|einem|einer|von|zu|an|in|mit|und|oder|für|auf|bei|sehr)$",
        _I,
    ),
    spare=regex(
        r"\s+(?:auch|jetzt|momentan|derzeit|übrigens|wirklich|sehr|total|natürlich|schon|noch|endlich|neulich|hier|dort|und|oder|bald|überhaupt|bitte|danke|ehrlich gesagt|eben|halt|ja|gerade|unheimlich|über alles|am liebsten|gern|gerne)$",
        _I,
    ),
    opens=regex(r"^(?:der |die |das |den |dem |ein |eine |einen |einem |einer )", _I),
    mine=(
        (regex(r"\b(?:meinen|unseren)\b"), "den"),
        (regex(r"\b(?:meinem|unserem)\b"), "dem"),
        (regex(r"\b(?:meiner|unserer)\b"), "der"),
        (regex(r"\b(?:meines|unseres)\b"), "des"),
        (regex(r"\b(?:meine|unsere)\b"), "die"),
        (regex(r"\b(?:mein|unser)\b"), "das"),
        (regex(r"\b(?:mich|mir|uns)\b"), "sich"),
    ),
)
_ADV: Final = r"(?:(?:wirklich|immer|noch|noch immer|auch|jetzt|derzeit|aktuell|momentan|gerade|schon|endlich|vor kurzem|kürzlich|eben|vor allem|sehr|ziemlich|total|ganz|ebenfalls|selbst|selber|offiziell|leider|übrigens|eigentlich|inzwischen|mittlerweile|ja|nun|allein|alleine|zusammen|gemeinsam|stark|schwer|leicht|extrem|halt|echt|super|aber|seitdem|hauptberuflich|dort|hier|ursprünglich|gebürtig) )*"
_phrase, _short, _bare = PHRASES.read(7, keep_article=True), PHRASES.read(5, keep_article=True), PHRASES.read(6)
_event: Final = PHRASES.read(8, keep_article=True)
_name, _place = name(NO_NAMES), place(_NO_PLACES, r"(?:(?:der Nähe von|die Nähe von|der Stadt|der|die|den|dem)\s)")
_END: Final = r"(?=\s*(?:[.,;!)]|$)|\s(?:und|aber|seit|weil|in|im|bei|mit|für|auch|jetzt|von|geworden|als)\b)"


def _v(verb: str) -> str:
    """The speaker and a verb, in either order."""
    return rf"(?:\bich {_ADV}(?:{verb})|\b(?:{verb}) ich)\b {_ADV}"


def _we(verb: str, plural: str) -> str:
    return rf"(?:{_v(verb)}|\b(?:wir {_ADV}{plural}|{plural} wir) {_ADV})"


def _jobs() -> frozenset[str]:
    return words_of("de", "occupations")


_job: Final = known(
    _jobs,
    r"(?: (?:für [A-ZÄÖÜ][a-zäöüß]+(?: und [A-ZÄÖÜ][a-zäöüß]+)?|in Rente))?",
    opens=r"(?:ein |eine )?(?:gelernter? |ausgebildeter? |selbstständiger? |angehender? )?",
)
_AT_WORK: Final = regex(r"\s(?:bei|beim|in|im|an|am|für|auf|von)\b.*", _I)


def _until_place(read: Read) -> Read:
    """The same, without where it is."""

    def of(clause: str, pos: int) -> Value | None:
        cut = _AT_WORK.search(clause, pos)
        return read(clause if cut is None else clause[: cut.start()], pos)

    return of


_NATIONS: Final = r"Deutscher?|Österreicher(?:in)?|Schweizer(?:in)?|Franzose|Französin|Italiener(?:in)?|Spanier(?:in)?|Portugies(?:e|in)|Pol(?:e|in)|Russ(?:e|in)|Ukrainer(?:in)?|Türk(?:e|in)|Griech(?:e|in)|Kroat(?:e|in)|Serb(?:e|in)|Syrer(?:in)?|Iraner(?:in)?|Afghan(?:e|in)|Engländer(?:in)?|Brit(?:e|in)|Ir(?:e|in)|Amerikaner(?:in)?|Kanadier(?:in)?|Brasilianer(?:in)?|Mexikaner(?:in)?|Chines(?:e|in)|Japaner(?:in)?|Koreaner(?:in)?|Vietnames(?:e|in)|Inder(?:in)?|Niederländer(?:in)?|Belgier(?:in)?|Däne|Dänin|Schwed(?:e|in)|Norweger(?:in)?|Finn(?:e|in)|Ungar(?:in)?|Rumän(?:e|in)|Bulgar(?:e|in)|Tschech(?:e|in)"
_LANGUAGES: Final = r"Deutsch|Englisch|Französisch|Spanisch|Italienisch|Portugiesisch|Niederländisch|Russisch|Ukrainisch|Polnisch|Türkisch|Arabisch|Chinesisch|Mandarin|Japanisch|Koreanisch|Griechisch|Kroatisch|Serbisch|Schwedisch|Norwegisch|Dänisch|Finnisch|Ungarisch|Tschechisch|Rumänisch|Latein|Persisch|Farsi|Kurdisch|Hindi|Vietnamesisch"
_CONDITIONS: Final = r"Diabetes(?: Typ (?:1|2))?|Asthma|Epilepsie|Arthrose|Arthritis|Migräne|Zöliakie|Morbus Crohn|Legasthenie|Tinnitus|Schlafstörungen|Bluthochdruck|Depressionen|eine bipolare Störung|Autismus|Endometriose|Neurodermitis|Schuppenflechte|Lupus|Skoliose|Multiple Sklerose|Schlafapnoe|Anämie|ADHS|Krebs|Rheuma|einen Bandscheibenvorfall|Fibromyalgie|Heuschnupfen|eine Schilddrüsenunterfunktion|Gicht|Parkinson"
_PETS: Final = r"Hund|Hunde|Hündin|Katze|Katzen|Kater|Kätzchen|Welpen?|Hamster|Papagei(?:en)?|Wellensittiche?|Kanarienv[oö]gel|Fische?|Goldfische?|Schildkröten?|Kaninchen|Meerschweinchen|Frettchen|Pferde?|Ponys?|Hühner|Huhn|Schlangen?|Echsen?|Geckos?|Mäuse|Maus|Ratten?|Vögel|Vogel|Esel|Ziegen?|Schafe?"
_COUNT: Final = r"(?:einen|eine|ein|zwei|drei|vier|fünf|sechs|\d)"
_KINDS: Final = r"(?:Kinder|Kind|Söhne|Sohn|Töchter|Tochter|Brüder|Bruder|Schwestern|Schwester|Geschwister|Enkelkinder|Enkel|Enkelin|Zwillinge|Neffen|Nichten|Nichte|Cousins|Cousinen)"
_FOODS: Final = r"(?P<v>(?:Fleisch|rotes Fleisch|Schweinefleisch|Fisch|Meeresfrüchte|Milchprodukte|Milch|Gluten|Laktose|Eier|Zucker|Alkohol|Kaffee|Cola|Nüsse|Erdnüsse|Käse|Brot|Weizen|Schokolade|Rindfleisch|Soja)(?:(?:, | und | oder )(?:Fleisch|Schweinefleisch|Fisch|Milch|Gluten|Laktose|Eier|Zucker|Alkohol|Kaffee|Käse|Brot|Schokolade))*)"
_PLAYED: Final = r"Klavier|Gitarre|Geige|Cello|Schlagzeug|Flöte|Querflöte|Saxofon|Saxophon|Trompete|Akkordeon|Orgel|Bass|E-Gitarre|Ukulele|Fußball|Tennis|Tischtennis|Badminton|Handball|Volleyball|Basketball|Golf|Hockey|Schach|Theater|Rugby"
_ACTIVITIES: Final = r"Yoga|Pilates|Judo|Karate|Kampfsport|Crossfit|Krafttraining|Ballett|Triathlon|Leichtathletik|Gymnastik|Aikido|Taekwondo|Zumba|Töpfern|Stricken|Nähen|Malen|Zeichnen|Fotografieren|Fotografie|Lesen|Kochen|Backen|Gärtnern|Gartenarbeit|Angeln|Wandern|Klettern|Radfahren|Schwimmen|Reiten|Tanzen|Singen|Joggen|Laufen|Segeln|Tauchen|Rudern|Skifahren|Geocaching|Imkern|Modellbau|Häkeln"
_GOING: Final = r"schwimmen|joggen|laufen|klettern|bouldern|wandern|reiten|tanzen|angeln|rudern|segeln|tauchen|surfen|ins Fitnessstudio|zum Yoga|zum Chor|in den Chor|zum Fußball|zum Tanzen"
_FEARS: Final = r"Spinnen|Höhe|der Höhe|Hunden|Schlangen|Nadeln|Spritzen|dem Fliegen|Flugzeugen|der Dunkelheit|Dunkelheit|Wasser|tiefem Wasser|Blut|Clowns|Aufzügen|engen Räumen|Menschenmengen|Gewittern?|Mäusen|Wespen|Bienen|Haien|dem Zahnarzt|Pferden"
_GOALS: Final = (
    r"(?:\d+ Kilo |ein paar Kilo |etwas )?abnehmen|mit dem (?:Rauchen|Trinken) aufhören|(?:fließend |besser )?(?:[A-ZÄÖÜ][a-zäöüß]+) lernen|(?:einen|den) (?:Halb)?[Mm]arathon laufen|(?:wieder )?mehr Sport (?:machen|treiben)|gesünder (?:essen|leben)|besser schlafen|mehr schlafen|weniger [A-ZÄÖÜ]?[a-zäöüß]+ (?:essen|trinken)"
    r"|(?:Geld |mehr )?sparen|(?:den|meinen) Führerschein machen|(?:ein Haus|eine Wohnung|ein Auto) kaufen|den (?:Job|Beruf) wechseln|(?:mich selbstständig|ein Unternehmen|eine Firma) (?:machen|gründen)|(?:die|meine) Prüfung (?:bestehen|schaffen)|ein Buch schreiben|ein Kind bekommen"
)
_A_PET: Final = regex(
    rf"(?:(?P<count>{_COUNT}) )?(?P<more>(?:(?:kleinen?|alten?|alte|großen?|große|jungen?|junge|süßen?|süße|schwarzen?|schwarze|weißen?|weiße|braunen?|braune) )?)(?P<kind>{_PETS})\b(?!-)"
    rf"(?P<named>,? (?:heißt |namens |(?:der|die|das) (?=(?-i:{CAP}) heißt))?(?P<name>(?-i:{CAP}))(?! und (?-i:[A-ZÄÖÜ])))?"
)


_TAKEN_IN: Final = frozenset({"adoptiert", "gekauft", "bekommen", "aufgenommen", "geholt", "zugelegt", "gestorben"})


def _pets(clause: str, pos: int) -> Value | None:
    """A pet: "Hund Rex", "eine schwarze Katze", "zwei Katzen"."""
    match = _A_PET.match(clause, pos)
    if match is None or (match["count"] is None and match["name"] is None):
        return None
    last = re.search(r"(\w+)[\s.!]*$", clause[match.end() :])
    if (
        last
        and re.match(r"(?:ge\w+(?:t|en)|\w+iert|be\w+en|ver\w+(?:t|en)|\w+ge\w+(?:t|en))$", last[1])
        and last[1] not in _TAKEN_IN
    ):
        return None
    if (
        match["name"]
        and (match["count"] or "ein").lower() in ("ein", "eine", "einen")
        and match["name"].lower() not in NO_NAMES
    ):
        return f"{match['kind']} {match['name']}", match.end()
    return (clause[pos : match.end("kind")], match.end("kind")) if match["count"] else None


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


_rest: Final = PHRASES.read(10, keep_article=True, told=False)
_REFLEXIVE: Final = regex(r"^(?:mich|mir|uns) ")


def _ending_in(verbs: frozenset[str], *, zu: bool = False) -> Read:
    """What a clause says up to one of these verbs, which ends it."""

    def of(clause: str, pos: int) -> Value | None:
        rest = " ".join(clause[pos:].strip(" ,.!;…").split())
        itself = _REFLEXIVE.match(rest)
        found = _rest(rest[itself.end() :] if itself else rest, 0)
        if found is None or found[1] < len(rest) - (itself.end() if itself else 0):
            return None
        words = found[0].split()
        if (
            words[-1] not in verbs
            or (zu and "zu" not in words)
            or re.search(r"\b(?:nicht|nie|kein\w*|noch nie|mal)\b", found[0])
        ):
            return None
        told = PHRASES.told(found[0])
        return (f"sich {told}" if itself else told), len(clause)

    return of


def _gladly(clause: str, pos: int) -> Value | None:
    """ "trinke gern Tee": "Tee trinken"."""
    match = re.compile(
        r"(?P<verb>\w+)(?: ich)? (?:sehr |unheimlich |total |am liebsten |auch |besonders )*(?:gern|gerne)\b ?"
    ).match(clause, pos)
    if match is None or match["verb"].lower() not in GLADLY:
        return None
    rest = clause[match.end() :].strip(" .!,")
    said = "" if not rest else (PHRASES.read(6, keep_article=True)(clause, match.end()) or (None, 0))[0]
    return None if said is None else (f"{said} {GLADLY[match['verb'].lower()]}".strip(), len(clause))


def _without_not(read: Read, ending: str) -> Read:
    """A phrase before a word that ends the clause: "Kaffee nicht"."""
    end = re.compile(rf"\s(?:{ending})(?!\w)", _I)

    def of(clause: str, pos: int) -> Value | None:
        found = end.search(clause, pos)
        return None if found is None else read(clause[: found.start()], pos)

    return of


def _unless(read: Read, word: str) -> Read:
    """A phrase, unless the clause goes on with such a word."""
    pattern = re.compile(rf"\b(?:{word})\b", _I)

    def of(clause: str, pos: int) -> Value | None:
        return None if pattern.search(clause, pos) else read(clause, pos)

    return of


def _before(tail: str) -> Read:
    """A phrase, without such a tail."""

    def of(clause: str, pos: int) -> Value | None:
        found = PHRASES.read(6, keep_article=True)(clause, pos)
        return None if found is None else (found[0].removesuffix(tail), found[1])

    return of


_THINGS: Final = {
    "farbe": "color", "essen": "food", "gericht": "food", "film": "movie", "buch": "book", "lied": "song", "song": "song", "sport": "sport",
    "sportart": "sport", "tier": "animal", "jahreszeit": "season", "stadt": "city", "band": "band", "spiel": "game", "obst": "fruit",
    "serie": "show", "sänger": "singer", "sängerin": "singer", "autor": "author", "autorin": "author", "getränk": "drink", "blume": "flower",
}  # fmt: skip
_NOT: Final = r"nicht|kein\w*|nie|niemals"

_ENDED: Final = (
    _frame("lives_in", rf"{_v('wohne|lebe')}nicht mehr in ", _place, ended=True),
    _frame("works_as", rf"{_v('bin')}(?:in Rente(?: gegangen)?|im Ruhestand|pensioniert|Rentner(?:in)?){_END}", fixed(""), ended=True),
    _frame("works_at", rf"{_v('arbeite')}nicht mehr bei ", _short, ended=True),
    _frame("works_at", rf"(?:{_v('habe')}(?:gekündigt|(?:meinen (?:Job|Arbeitsplatz)|meine (?:Arbeit|Stelle)) (?:verloren|gekündigt|aufgegeben))|{_v('wurde')}(?:entlassen|gekündigt)|mir wurde gekündigt)", fixed(""), ended=True),
    _frame("diet", rf"{_v('bin')}(?:kein|keine|nicht mehr) ", group(r"Vegetarier(?:in)?|Veganer(?:in)?|vegan|vegetarisch(?= |$)"), ended=True),
    _frame("likes", rf"{_v('mag')}", _without_not(_phrase, "nicht mehr"), ended=True),
    _frame("has_pet", rf"\b(?:mein|meine|unser|unsere) (?=(?:{_PETS}) (?-i:{CAP}) ist (?:[^,.]{{0,25}} )?(?:gestorben|tot|eingeschläfert))", group(rf"(?P<v>(?:{_PETS}) (?-i:{CAP}))"), ended=True),
    _frame("plans", rf"{_v('fahre|fliege|reise')}(?:doch |jetzt )?(?:nicht(?: mehr)?|doch nicht) (?=nach |in den |in die |ans |an die )", _event, ended=True, prefix=lambda _: "Reise"),
)  # fmt: skip
_OWN: Final = (
    _frame("name", rf"(?:{_v('heiße|heisse')}|\bmein Name ist )", _name),
    _frame("nickname", r"\b(?:(?:alle|meine Freunde) nennen mich|nenn mich|nennen Sie mich|mein Spitzname ist) ", _name),
    _frame("nickname", rf"\b(?:du kannst|ihr könnt|Sie können) mich (?=(?-i:{CAP}) nennen)", _name),
    _frame("age", _v("bin|werde"), count(AMOUNTS, r"(?: Jahre(?: alt)?| geworden| Jahre alt geworden)?(?=\s*(?:[.,;!)]|$|und\b|aber\b))(?! (?:groß|cm|m)\b)", least=8)),
    _frame("birthday", rf"(?:\bmein Geburtstag ist (?:am|der) |{_v('habe')}am (?=[^,.]{{3,20}} Geburtstag)|{_v('bin|wurde')}am (?=[^!?]{{3,60}} geboren))", group(rf"(?P<v>\d{{1,2}}\. (?:{'|'.join(MONTHS)}))\b")),
    _frame("birth_year", rf"{_v('bin|wurde')}(?:am [^,.]{{1,4}}\. ?\w+ |im Jahr |in \w+ |Jahrgang )?(?=(?:19|20)\d\d[^.]{{0,40}}(?:geboren|$))", group(r"(?P<v>(?:19|20)\d\d)\b")),
    _frame("born_in", rf"{_v('bin|wurde')}(?:am [^,]{{3,22}} |(?:im Jahr )?\d{{4}} )?in (?=[^,.]{{2,30}} geboren)", _place),
    _frame("comes_from", rf"{_v('komme|stamme')}aus ", _place),
    _frame("grew_up_in", rf"{_v('bin')}in (?=[^,.]{{2,30}} aufgewachsen)", _place),
    _frame("nationality", rf"{_v('bin')}(?:gebürtiger? )?", group(rf"(?P<v>{_NATIONS})\b{_END}", flags=re.NOFLAG)),
    _frame("lives_in", rf"(?:{_we('wohne|lebe', '(?:wohnen|leben)')}(?:mit [^,.]{{3,30}} )?in ) ?", _place),
    _frame("lives_in", rf"(?:{_v('bin')}|\bwir sind {_ADV})(?:mit [^,.]{{3,30}} )?nach (?=[^,.]{{2,40}} (?:gezogen|umgezogen))", _place),
    _frame("works_as", rf"{_v('arbeite|jobbe')}(?:in Teilzeit |in Vollzeit )?als ", _until_place(_bare)),
    _frame("works_as", rf"{_v('bin')}(?:von Beruf )?", _job),
    _frame("works_at", rf"{_v('arbeite|jobbe')}(?:in Teilzeit |in Vollzeit )?(?:als [^,]{{3,30}} )?bei (?:der |dem )?", _short),
    _frame("works_at", rf"{_v('arbeite|jobbe')}(?:in Teilzeit |in Vollzeit )?(?:als [^,]{{3,30}} )?(?:im|am|an der|in einem|in einer|auf einem) (?!Homeoffice|Moment|Garten|Schichtdienst|Büro|Sommer|Winter|Wochenende|Computer|Freien|Ausland|Projekt|Augenblick|Rahmen)(?=(?-i:[A-ZÄÖÜa-zäöü]))", _bare),
    _frame("works_at", rf"{_v('bin')}(?-i:[A-ZÄÖÜ])[\w-]+ (?:für [^,]{{3,30}} )?(?:bei |an der |am |im (?=Krankenhaus|Klinikum|Kindergarten|Museum|Hotel|Rathaus)|an einer? |an einem |in einem? |in einer )", _bare),
    _frame("works_in", rf"{_v('arbeite')}in der (?=(?-i:[A-ZÄÖÜ]))(?!Nacht|Früh|Stadt|Nähe|Regel|Woche|Küche|Schweiz|Türkei)", _bare),
    _frame("studies", rf"(?:{_v('studiere')}(?=(?-i:[A-ZÄÖÜ]))|{_v('mache')}(?:meinen|einen) (?:Bachelor|Master|Doktor) in )", _until_place(_bare)),
    _frame("education", rf"{_v('mache')}(?:gerade )?eine Ausbildung (?:zum|zur|als) ", _until_place(_bare)),
    _frame("studies_at", rf"{_v('studiere')}(?:[^,]{{2,30}} )?(?:an der |am |in (?=(?-i:[A-ZÄÖÜ])))", _short),
    _frame("marital_status", _v("bin"), group(rf"(?P<v>verheiratet|ledig|Single|geschieden|verwitwet|verlobt){_END}")),
    _frame("native_language", r"\bmeine Muttersprache ist ", group(rf"(?P<v>{_LANGUAGES})\b")),
    _frame("speaks", rf"{_v('spreche')}(?:fließend |gut |sehr gut )?", group(rf"(?P<v>(?:{_LANGUAGES})(?:(?:, | und )(?:fließend )?(?:{_LANGUAGES}))*)\b")),
    _frame("learns", rf"{_v('lerne')}(?=(?:{_LANGUAGES}|Klavier|Gitarre|Geige|schwimmen|tanzen|Gebärdensprache)\b)", PHRASES.read(4, keep_article=True)),
    _frame("diet", rf"(?:{_v('bin')}|{_v('ernähre')}mich |{_v('esse|lebe')})", group(rf"(?P<v>vegetarisch|vegan|glutenfrei|halal|koscher|Vegetarier(?:in)?|Veganer(?:in)?){_END}")),
    _frame("allergic_to", rf"{_v('bin')}allergisch (?:gegen|auf) ", _bare),
    _frame("allergic_to", rf"{_v('habe')}eine (?:starke |schwere )?", group(r"(?P<v>[A-ZÄÖÜ][a-zäöüß]+?)-?[Aa]llergie\b", flags=re.NOFLAG)),
    _frame("health", _v("bin"), group(rf"(?P<v>Diabetiker(?:in)?|Asthmatiker(?:in)?|Epileptiker(?:in)?|schwanger|laktoseintolerant|glutenintolerant|farbenblind|sehbehindert|schwerhörig|gehörlos|taub|blind|Autist(?:in)?|Legasthenik\w+|im Rollstuhl){_END}")),
    _frame("has_condition", rf"(?:{_v('habe')}|{_v('leide')}(?:an|unter) |\bbei mir wurde )", group(rf"(?P<v>{_CONDITIONS})\b")),
    _frame("avoids", rf"(?:{_v('esse|trinke|vertrage|nehme')}(?:kein|keine|keinen)(?: mehr)? |{_v('verzichte')}auf |{_v('meide')})", group(_FOODS)),
    _frame("has_pet", rf"(?:{_we('habe', 'haben')}(?:mir |uns )?)(?={_COUNT} )", _pets),
    _frame("has_pet", rf"\b(?:mein|meine|meinen|meinem|meiner|unser|unsere|unseren|unserem|unserer) (?=(?:{_PETS})(?:,? (?:heißt |namens ))?,? ?(?-i:{CAP}))", _pets),
    _frame("has_relative", rf"{_we('habe', 'haben')}(?={_COUNT} )", group(rf"(?P<v>{_COUNT} (?:(?:kleinen?|kleine|große|großen|ältere|älteren|jüngere|jüngeren) )?{_KINDS}(?:(?: und|,) {_COUNT} (?:(?:kleine|große|ältere|jüngere)n? )?{_KINDS})*)\b")),
    _frame("dislikes", rf"(?:{_v('hasse|verabscheue')}|{_v('mag')}(?:kein|keine|keinen) )(?!wenn\b|dass\b)", _phrase),
    _frame("dislikes", rf"(?:{_v('mag')}|{_v('kann')})", _without_not(_phrase, r"(?:überhaupt |gar |absolut )?nicht(?! mehr)(?: (?:leiden|ausstehen|ertragen|so gern|besonders))?\s*[.!]?$")),
    _frame("likes", rf"(?:{_v('mag|liebe')}|{_v('bin')}(?:ein |eine )?(?:großer |große |riesiger )?Fan (?:von |der |des )|{_v('stehe')}(?:total |sehr )?auf )(?!wenn\b|dass\b|wie\b|so\b)", _unless(_phrase, _NOT)),
    _frame("likes", r"\b(?:ich (?=\w+ [^,.]{0,14}gerne?\b)|(?=\w+ ich [^,.]{0,14}gerne?\b))", _gladly),
    _frame("prefers", rf"{_v('bevorzuge')}", _phrase),
    _frame("plays", rf"{_v('spiele')}(?:gern |gerne |seit [^,]{{2,20}} )?", group(rf"(?P<v>{_PLAYED})\b")),
    _frame("hobby", rf"(?:{_v('mache|betreibe')}(?:gern |gerne |viel |regelmäßig )?|\b(?:mein Hobby|meine Leidenschaft|mein größtes Hobby) ist (?:das )?)", group(rf"(?P<v>{_ACTIVITIES})\b")),
    _frame("hobby", rf"{_v('gehe')}(?:gern |gerne |regelmäßig |oft |viel )", group(rf"(?P<v>{_GOING})\b")),
    _frame("collects", rf"{_v('sammle|sammele')}", _phrase),
    _frame("drives", rf"{_v('fahre')}(?:einen |eine |ein )", group(r"(?P<v>[A-ZÄÖÜ][\w-]+(?: [A-Z0-9][\w-]*){0,2})", flags=re.NOFLAG)),
    _frame("temperament", rf"{_v('bin')}(?:eher |ein |eine )*(?:sehr |ziemlich )?", group(r"(?P<v>introvertierte?r?|extrovertierte?r?|extravertierte?r?)\b(?= |[.,!]|$)")),
    _frame("afraid_of", rf"{_v('habe')}(?:große |totale |panische |wahnsinnige )?Angst vor ", group(rf"(?P<v>{_FEARS})\b")),
    _frame("afraid_of", rf"{_v('habe')}(?:große |starke |ziemliche )?", group(r"(?P<v>Höhen|Flug|Platz)angst\b", told={"höhen": "Höhe", "flug": "dem Fliegen", "platz": "engen Räumen"})),
    _frame("cannot", rf"{_v('kann')}(?:noch )?nicht ", group(rf"(?P<v>schwimmen|Auto fahren|Fahrrad fahren|Rad fahren|kochen){_END}")),
    _frame("religion", _v("bin"), group(rf"(?P<v>katholisch|evangelisch|orthodox|Muslima?|muslimisch|jüdisch|Jude|Jüdin|Buddhist(?:in)?|Hindu|Atheist(?:in)?|atheistisch|Agnostiker(?:in)?){_END}")),
    _frame("height", _v("bin"), group(r"(?P<v>(?:1[,.]\d{2}(?: ?m| Meter)?|\d{3} ?cm))(?= groß)")),
    _frame("phone", r"\bmeine (?:Telefonnummer|Handynummer|Nummer) (?:ist|lautet) (?:die )?", group(r"(?P<v>\+?\d[\d ./-]{6,17}\d)")),
    _frame("email", r"\bmeine (?:E-?Mail(?:-Adresse|adresse)?|Mailadresse|Mail) (?:ist|lautet) ", group(r"(?P<v>[\w.+-]+@[\w-]+\.[\w.]*\w)")),
    _frame("budget", r"\b(?:mein|unser) Budget (?:ist|liegt bei|beträgt) ", group(r"(?P<v>[^,;!?]{2,30}?)(?=[.,;!?]|$)")),
    _frame("gives_up", r"\b(?:ich versuche|versuche ich),? ", group(r"(?P<v>mit dem (?:Rauchen|Trinken)|auf Zucker|auf Alkohol)(?= (?:aufzuhören|zu verzichten))")),
    _frame("prepares_for", rf"(?:{_v('bereite')}mich auf (?=[^,]{{3,40}} vor\b)|{_v('lerne|trainiere|übe')}für )", _before(" vor")),
    _frame("saves_for", rf"{_we('spare', 'sparen')}(?:auf|für) ", _phrase),
    _frame("wants_to", rf"(?:{_v('will|möchte')}(?:endlich |unbedingt |wieder )?|\bmein Ziel ist,? (?:es )?)(?={_GOALS})", group(rf"(?P<v>{_GOALS})\b")),
)  # fmt: skip
_FAVORITES: Final = tuple(
    _frame(f"favorite_{english}", rf"\b(?:mein|meine) Lieblings-?{word} (?:ist|bleibt|sind) (?:immer noch )?", _phrase)
    for word, english in _THINGS.items()
)
_HAVE: Final = r"(?:\bich (?P<aux>habe|bin|wurde)|\b(?P<turned>habe|bin|wurde) ich|\bwir (?P<we>haben|sind)|\b(?P<we_turned>haben|sind) wir)\b "
_AUX: Final = {"habe": "hat", "haben": "hat", "bin": "ist", "sind": "ist", "wurde": "wurde"}


def _third(match: re.Match[str]) -> str:
    return _AUX[(match["aux"] or match["turned"] or match["we"] or match["we_turned"]).lower()]


def _then(verb: str) -> Read:
    """A phrase, with a verb behind it."""

    def of(clause: str, pos: int) -> Value | None:
        found = PHRASES.read(9, keep_article=True)(clause, pos)
        return None if found is None else (f"{found[0]} {verb}", found[1])

    return of


_DONE: Final = (
    _frame("did", _HAVE, _ending_in(PARTICIPLES), prefix=_third),
    _frame("plans", rf"(?:{_we('werde|will', '(?:werden|wollen)')})", _ending_in(INFINITIVES)),
    _frame("plans", r"\b(?:ich habe|habe ich|wir haben|haben wir) (?:auch |fest )?vor,? ", _ending_in(INFINITIVES, zu=True)),
    _frame("plans", r"\b(?:ich plane|plane ich|wir planen|planen wir),? ", _ending_in(INFINITIVES, zu=True)),
    _frame("plans", rf"{_we('fahre|fliege|reise', '(?:fahren|fliegen|reisen)')}(?:mit [^,]{{3,30}} )?(?=nach |in den |in die |ans |an die )", _unless(_event, _NOT), prefix=lambda _: "Reise", needs_date=True),
    _frame("plans", rf"{_we('ziehe', 'ziehen')}nach ", _unless(place(_NO_PLACES), _NOT), prefix=lambda _: "Umzug nach", needs_date=True),
    _frame("plans", rf"{_we('gehe', 'gehen')}(?=(?:ins|in den|in die|zum|zur|auf) )", _unless(_then("gehen"), _NOT), needs_date=True),
    _frame("plans", rf"{_we('habe', 'haben')}(?=(?:um \w+(?: Uhr)? )?(?:ein |eine |einen |mein |meine |meinen )(?:Termin|Zahnarzttermin|Arzttermin|Vorstellungsgespräch|Prüfung|Klausur|Konzert|Besprechung|Flug|Operation|OP|Auftritt|Vorspiel|Wettkampf|Turnier|Kurs|Untersuchung)\b)", _event, needs_date=True),
    _frame("would_like_to", rf"(?:{_we('würde', 'würden')}(?:sehr |total |wirklich |irgendwann )*gerne? |{_we('möchte', 'möchten')}(?:irgendwann |einmal |gerne? |unbedingt )+)", _ending_in(INFINITIVES)),
    _frame("does", rf"(?:\bich (?P<verb>{'|'.join(HABITS)})|\b(?P<turned>{'|'.join(HABITS)}) ich) (?=[^,;.!?]*\b(?:jeden|jede|jedes|\w+mal (?:pro|die|in der)|(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|morgen|abend)s)\b)", group(r"(?P<v>[^,;.!?]{4,70})"), prefix=lambda m: HABITS[(m["verb"] or m["turned"]).lower()]),
)  # fmt: skip
FRAMES: Final = (*_ENDED, *_FAVORITES, *_OWN, *_DONE)

_S: Final = r"[ ,]*"
OF_KIN: Final = (
    _frame("name", rf"{_S}heißt ", _name),
    _frame("age", rf"{_S}(?:ist|wird) {_ADV}", count(AMOUNTS, r"(?: Jahre(?: alt)?| geworden)?(?=\s*(?:[.,;!)]|$|und\b|aber\b))", least=1)),
    _frame("lives_in", rf"{_S}(?:wohnt|lebt|wohnen|leben) {_ADV}in ", _place),
    _frame("lives_in", rf"{_S}ist {_ADV}nach (?=[^,.]{{2,40}} (?:gezogen|umgezogen))", _place),
    _frame("works_as", rf"{_S}arbeitet {_ADV}als ", _until_place(_bare)),
    _frame("works_as", rf"{_S}ist {_ADV}(?:von Beruf )?", _job),
    _frame("works_at", rf"{_S}arbeitet {_ADV}(?:als [^,]{{3,30}} )?bei (?:der |dem )?", _short),
    _frame("works_at", rf"{_S}arbeitet {_ADV}(?:im|am|an der|in einem|in einer) (?!Homeoffice|Moment|Garten|Büro|Ausland)", _bare),
    _frame("studies", rf"{_S}studiert {_ADV}(?=(?-i:[A-ZÄÖÜ]))", _until_place(_bare)),
    _frame("marital_status", rf"{_S}ist {_ADV}", group(rf"(?P<v>verheiratet|ledig|Single|geschieden|verwitwet|verlobt){_END}")),
    _frame("diet", rf"{_S}(?:ist|isst|ernährt sich|lebt) {_ADV}", group(rf"(?P<v>vegetarisch|vegan|Vegetarier(?:in)?|Veganer(?:in)?){_END}")),
    _frame("allergic_to", rf"{_S}ist {_ADV}allergisch (?:gegen|auf) ", _bare),
    _frame("health", rf"{_S}ist {_ADV}", group(rf"(?P<v>Diabetiker(?:in)?|Asthmatiker(?:in)?|schwanger|farbenblind|schwerhörig|gehörlos|blind|laktoseintolerant){_END}")),
    _frame("has_condition", rf"{_S}(?:hat|leidet (?:an|unter)) ", group(rf"(?P<v>{_CONDITIONS})\b")),
    _frame("dislikes", rf"{_S}(?:hasst |mag (?:kein|keine|keinen) )", _phrase),
    _frame("likes", rf"{_S}(?:liebt|mag) ", _unless(_phrase, _NOT)),
    _frame("plays", rf"{_S}spielt {_ADV}", group(rf"(?P<v>{_PLAYED})\b")),
    _frame("did", rf"{_S}(?P<verb>hat|ist) ", _ending_in(PARTICIPLES | frozenset({"gestorben", "verstorben"})), prefix=lambda m: m["verb"].lower()),
)  # fmt: skip
