"""What people ask, say and write: questions, openings, quotations, orders, themes, values."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

from typing import Final

from embermem.core.sensitive import SecretWords
from embermem.core.types import Role
from embermem.languages.parts import Guards, Questions, Screening, Talk, ThemeWords, Values

QUESTIONS: Final = Questions(
    continues=r"^\W*(?:und|aber|oder|dann|also|außerdem)\b|^\W*(?:warum|wieso|weshalb|wann|wo|wer|wen|wem|wie viele?"
    r"|wie lange|wie oft|wohin|woher|seit wann|bis wann|welche[rsnm]?|mit wem)\W*$",
    points_back=r"\b(?:dort|dorthin|davon|damit|dafür|daran|darauf|darüber|derselbe|dieselbe|dasselbe|diese[rsmn]?)\b",
    pronoun=r"\b(?:er|ihn|ihm|ihr|ihre[rsmn]?|sein|seine[rsmn]?|(?-i:sie))\b",
    marks=("?",),
    several=r"\bwie ?viele\b|\b(?:welche|was für) (?:\w+ ){0,2}?\w{3,}(?:en|er|e|s)\b|\balle (?:meine|seine|ihre|die)\b|\balles,? was\b|^\W*(?:liste|nenne|zähle)\b|\bbeide[ns]?\b|\bwas\b.{0,30}\b(?:dir (?:\w+ )?(?:gesagt|erzählt)|erwähnt)\b",
    past=r"\b(?:gestern|vorgestern|damals|früher|erinnerst|vorhin)\b|\bletzte[nsrm]? (?:mal|woche|monat|jahr|nacht|sommer|winter|herbst|frühling)\b|\bvor (?:\w+ ){1,2}(?:tagen?|wochen?|monaten?|jahren?)\b|\b(?:habe|hatte|hast|hatten) (?:ich|du|wir)\b|\b(?:bin|war|waren) (?:ich|wir) \w+\b",
    overview=r"\b(?:überblick|zusammenfass\w*|zusammengefasst|rückblick|biografie|porträt|profil|leben|geschichte|werdegang|wer (?:ist|bin|sind)|was gibt's neues|neuigkeiten|auf den (?:neuesten )?stand)\b|\b(?:weißt|erinnerst|gelernt|erzähl\w*|sag|sagen)\b.{0,30}\b(?:über|von)\b"
    r"|\bwas\b.{0,30}\b(?:passiert|geschehen|geändert|verändert|gemacht|weißt|los)\b|\bwie geht(?:'s| es)\b|\bbeschreibe?\b",
    overview_words=r"\b(?:der|die|das|den|dem|des|ein|eine|einen|einem|einer|von|vom|zu|zum|zur|in|im|an|am|auf|mit|für|über|seit|während|bis|und|oder|dass|was|wer|wie|welche|welcher|welches|ist|sind|bin|war|waren|hat|haben|hast|habe|wurde|wird|sein|werden|ich|du|er|sie|es|wir|ihr|mir|mich|dir|dich|uns|ihm|ihn|mein|meine|meinem|meinen|meiner|dein|deine|sein|seine|ihre|ihrem|ihren"
    r"|alles|alle|allem|etwas|ding|dinge|sachen|wichtig|wichtige|wichtigste|wichtigsten|neu|neue|neues|neueste|neuesten|neuigkeiten|letzte|letzten|letzter|letztes|aktuell|aktuelle|heute|jetzt|gerade|zuletzt|kürzlich|tag|tage|tagen|woche|wochen|monat|monate|monaten|jahr|jahre|jahren|zeit|mal|passiert|geschehen|geändert|verändert|gemacht|los|weißt|weiß|wissen|erinnerst|gelernt|erzähl|erzähle|sag|sagen|gib|fass|fasse|zusammen|zusammenfassung|zusammengefasst|überblick|rückblick|biografie|porträt|profil"
    r"|leben|geschichte|werdegang|beschreib|beschreibe|kurz|kurzer|kurzen|ereignisse|ereignis|momente|große|großen|allgemein|situation|stand|person|leute|gespräche|gespräch|gedächtnis|nutzer|bitte|kannst|könntest|so|geht|frühling|sommer|herbst|winter|den|gibt's|gibt)\b",
    days_words=r"\b(?:gesprochen|sprachen|geredet|redeten|reden|besprochen|erwähnt|geschrieben|unterhalten|gesagt|sagte|sagten|erzählt|geplant|vor|verbracht|worüber|wovon|woran|tun|tat|mache|machen|machte|machten|getan|unternommen|noch|da|denn|eigentlich|genau|abend|nachmittag|vormittag|nacht|früh|steht|ansteht|passierte|geschah|gab|es|wir|uns|hatten|hatte|hattest|thema|themen|plan|pläne)\b",
    beside_day=r"\b(?:für|vor|bis|seit|nach|ab)\s(?:(?:zum|den|dem|der|die)\s)?(?:\w+,?\s)?§",
    character=r"\b(?:persönlichkeit|charakter|temperament|eigenschaften|was für (?:ein mensch|eine person)|interessen|hobbys|leidenschaften|empfiehl\w*|empfehl\w*|vorschlag\w*|vorschläge|schlag\w* .{0,20}vor)\b",
)

TALK: Final = Talk(
    shift=r"(?:(?:ach|oh|na|ok|gut|und|aber|du)\W+)?(?:übrigens|apropos|anderes thema|themenwechsel|was anderes|andere frage|neue frage|ganz was anderes|mal was anderes|guten (?:morgen|tag|abend)|hallo nochmal)\b",
    back=r"(?:(?:und|aber|ja|nein|ok|ach|oh|gut|danke|wirklich|klar)\W+){0,2}(?:das|dies|dieser|diese|dort|warum|wieso|wie das|und (?:er|sie|du)|welche[rs]?|beide|ebenso|ich auch|genau|einverstanden|dann|erzähl mehr|weiter|weil)\b",
    small_talk=r"(?:hallo|guten (?:morgen|tag|abend)|gute nacht|danke|bitte|gern geschehen|toll|prima|klasse|tschüss|bis (?:bald|dann|morgen|später)|natürlich|klar|kein problem|herzlichen glückwunsch|glückwunsch|entschuldigung|tut mir leid)\b",
    leads=r"(?:allerdings|außerdem|zudem|schließlich|daher|deshalb|also|na ja|naja|ja|oh|ach|tatsächlich|ehrlich gesagt|jedenfalls|übrigens), |(?:und|aber|also) ",
    me=r"\b(?:ich|mich|mir|mein|meine|meinen|meinem|meiner|wir|uns|unser|unsere|unseren|unserem|unserer)\b",
    you=r"\b(?:du|dich|dir|dein|deine|deinen|deinem|deiner|euch|euer|eure)\b",
    you_signs=("du", "di", "dein", "eu"),
    my_words=r"\b(?:ich|mein|meine|meinen|meinem|meiner|wir|unser|unsere)\b",
    courtesy=frozenset(
        "danke dank bitte hallo guten gute abend nacht toll prima klasse glückwunsch herzlichen viel spaß erfolg grüße gruß liebe freut freue schön natürlich klar genau"
        " wunderbar großartig entschuldigung leid tschüss gern gerne".split()
    ),
    parts={"nutzer": Role.USER, "nutzerin": Role.USER, "benutzer": Role.USER, "assistent": Role.ASSISTANT, "system": Role.SYSTEM, "werkzeug": Role.TOOL},
    nobody=frozenset("nutzer nutzerin benutzer benutzerin ich kunde kundin assistent assistentin agent bot system werkzeug".split()),
)  # fmt: skip

SCREENING: Final = Screening(
    quoted_speaker=r"\b(?:ich|mein|meine|mir|mich|wir)\b",
    whole=r"\b(?:übersetz\w*|korrigiere? (?:diesen|diese|dieses|meinen|meine|den|das)|korrigiere?(?: mal| bitte)*\s*:|formuliere?\b.{0,20}\bum|umformulieren|schreibe? .{0,20}\bum\b|überarbeite? (?:diesen|meinen|den)|verbessere? (?:diesen|meinen|den) (?:text|satz|brief|aufsatz)|fasse? (?:diesen|den) (?:text|artikel)|rollenspiel|bewerbungsschreiben|sehr geehrte\w*|mit freundlichen grüßen|hochachtungsvoll|viele grüße\s*\n|es war einmal"
    r"|du bist (?:ein|eine) (?:\w+ ){0,2}(?:experte|expertin|assistent|assistentin|lehrer|lehrerin|redakteur|redakteurin|autor|chatbot|bot)|(?:antworte|verhalte dich|handle|tu) (?:als|so,? als)|liedtext|songtext|(?:für|in) (?:meinen|meinem) roman|für meine geschichte|meine figur|(?:nur|war (?:nur )?ein) (?:spaß|scherz|witz)|aprilscherz|wie (?:sagt|schreibt) man )",
    from_here=r"\b(?:(?:schreibe?|verfasse?|entwirf|generiere?|erfinde?)(?: mir)? (?:einen|eine|ein|das|den|meinen|meine)\b|stell dir vor|nehmen wir an|tu so|(?:hier|das) ist (?:der|die|das|mein|meine) (?:text|brief|e-?mail|nachricht|artikel|gedicht|entwurf)|der folgende text|zitat ?:)",
    lasting=r"\b(?:immer|stets|nie|niemals|nicht mehr|ab jetzt|ab sofort|ab heute|von (?:jetzt|nun) an|künftig|zukunft|jede[snr]?|antworte\w*|antworten|sprich|nenne?n?|duze?n?|sieze?n?|vermeide|emojis?|smileys?|bis|standardmäßig|grundsätzlich|verwende|benutze)\b",
)

_STATING: Final = {
    "name": r"\b(?:heiße|heißt|name|bin)\b", "nickname": r"\b(?:nennen|nenn|spitzname|genannt)\b", "age": r"\b(?:jahre|alt|alter|geboren|geworden|bin|ist)\b", "birth_year": r"\b(?:geboren|jahrgang)\b",
    "birthday": r"\b(?:geburtstag|geboren)\b", "born_in": r"\bgeboren\b", "comes_from": r"\b(?:komme|kommt|stamme|stammt|aus|geboren|heimat)\b", "grew_up_in": r"\b(?:aufgewachsen|kindheit)\b", "nationality": r"\b(?:bin|ist|staatsangehörigkeit)\b",
    "lives_in": r"\b(?:wohn\w+|leb\w+|gezogen|umgezogen|ziehe|haus|wohnung|miete\w*)\b", "works_as": r"\b(?:arbeit\w+|bin|ist|beruf|job|stelle|als)\b", "works_at": r"\b(?:arbeit\w+|job|stelle|firma|angestellt|bei)\b", "works_in": r"\b(?:arbeit\w+|branche|bereich)\b",
    "studies": r"\b(?:studi\w+|ausbildung|bachelor|master|kurs)\b", "studies_at": r"\b(?:studi\w+|uni\w*|hochschule|schule)\b", "marital_status": r"\b(?:verheiratet|ledig|single|geschieden|verwitwet|verlobt|getrennt|mann|frau|geheiratet)\b", "speaks": r"\b(?:spreche|spricht|sprache\w*)\b", "native_language": r"\b(?:muttersprache|spreche|spricht)\b",
    "diet": r"\b(?:ess\w+|isst|ernähr\w+|vege?tar\w*|vegan\w*|fleisch|gluten\w*)\b", "allergic_to": r"\b(?:allerg\w+|\w+allergie|vertrag\w+|intoleran\w+)\b", "has_condition": r"\b(?:habe|hat|leide|leidet|diagnos\w+|bin|ist|krankheit)\b", "health": r"\b(?:bin|ist|habe|hat|gesund\w*)\b",
    "has_pet": r"\b(?:hund\w*|katze\w*|kater|haustier\w*|tier\w*|kaninchen|adoptiert|mein\w*|unser\w*)\b", "religion": r"\b(?:bin|ist|religi\w+|glaub\w+|bete)\b", "height": r"\b(?:groß|cm|meter|größe)\b", "phone": r"\b(?:nummer|telefon\w*|handy\w*|anruf\w*)\b",
    "budget": r"\b(?:budget|euro|ausgeb\w+|kost\w+|höchstens|€)", "drives": r"\b(?:fahre|fährt|auto|wagen|motorrad)\b", "dislikes": r"\b(?:nicht|kein\w*|nie|hass\w+|ungern|langweil\w+|nerv\w+|leiden|ausstehen)\b",
}  # fmt: skip

GUARDS: Final = Guards(
        supposing=r"\b(?:wenn|falls|angenommen|träum\w*|geträumt)\b",
    order=r"\b(?:ignoriere?|vergiss|missachte|übergehe)\s+(?:(?:alles|alle|die|das|deine|diese|sämtliche)\s+){0,3}(?:obige\w*|vorherige\w*|bisherige\w*|anweisung\w*|regeln|vorgaben|zuvor)\b"
    r"|\b(?:ändere?|lösche?|speichere?|ersetze?|aktualisiere?|setze?)\b[^.!?\n]{0,40}\b(?:des (?:be)?nutzers|dein gedächtnis|(?:im|aus dem|in deinem) gedächtnis|das profil)\b|\bsystem(?:nachricht|prompt|anweisung)\b|\bneue anweisungen\b"
    r"|\bdu (?:musst|sollst) (?:jetzt )?(?:nur|ausschließlich|genau) (?:mit|folgendes)\b",
    error=r"fehler\s*:|(?:es )?tut mir leid\b[^.]{0,20}\b(?:ich kann|nicht|leider)\b|ich kann (?:dabei |das |diese )?(?:leider )?nicht (?:helfen|beantworten|generieren)\b|als (?:ki|künstliche intelligenz|sprachmodell)\b",
    nothing=r"keine?|nichts|unbekannt|nicht (?:angegeben|erwähnt|bekannt|verfügbar|genannt)|keine angabe",
    genders={"frau": "female", "weiblich": "female", "mädchen": "female", "mann": "male", "männlich": "male", "junge": "male"},
    female=r"\b(?:frau|mädchen|mutter|mama|ehefrau)\b",
    male=r"\b(?:mann|junge|vater|papa|ehemann)\b",
    reporting="sagt sagen sagte spricht sprechen erzählt erzählen fragt fragen antwortet antworten erklärt erklären erwähnt gespräch nachricht thema zusammenfassung schlägt rät empfiehlt",
    stating=_STATING,
    denying=r"\b(?:nicht|nie|niemals|kein\w*|weder|ohne|hasse|früher|ehemalig\w*|wenn|falls)\b",
    ending=r"\b(?:nicht mehr|nie mehr|kein\w*|früher|ehemalig\w*|gekündigt|verlassen|aufgehört|aufgegeben|verkauft|verloren|gestorben|tot|getrennt|geschieden|rente|abgesagt|beendet|vorbei|umgezogen|gewechselt|falsch|irrtum)\b",
    dwelling=r"\b(?:\w*wohnung|\w*familienhaus|haus|\w*zimmer|stock|etage|balkon|keller|dachgeschoss|wg|alleine?)",
    no_allergy=r"\b(?:nicht|nie)\s+(?:\w+\s+){0,3}allergisch|\bkeine\s+(?:\w+)?allergie",
    own=r"\b(?:ich|mich|mir|wir|uns)\b|\bmeine? (?:name|adresse|arbeit|beruf|stelle|nummer|telefonnummer|handynummer|mail|e-?mail\w*|geburtstag|alter|diät|budget|arbeitgeber|muttersprache)\b",
)  # fmt: skip

TEMPERAMENTS: Final = {
    "introvertiert": -1.0, "introvertierter": -1.0, "introvertierte": -1.0, "extrovertiert": 1.0, "extrovertierter": 1.0, "extrovertierte": 1.0, "extravertiert": 1.0,
}  # fmt: skip


def _theme(asked: str, told: str) -> ThemeWords:
    return ThemeWords(asked=rf"\b(?:{'|'.join(asked.split())})\b", told=rf"\b(?:{'|'.join(told.split())})\b")


THEMES: Final = {
    "food": _theme(
        "essen esse hunger frühstück(?:en)? mittagessen abendessen snacks? mahlzeit gerichte? kochen rezepte? restaurants? speisekarte lieferdienst picknick grillen burger pizzas? pommes nudeln reis sushi hähnchen rindfleisch schwein salate? suppen? käse brot pfannkuchen kuchen torten? kekse nachtisch dessert eis schokolade getränke? bier wein cocktails? kaffee café einkaufen",
        "gewicht kilos? kg abnehmen essen trinken alkohol zucker salz fleisch muskeln diabet\\w+ zöliakie cholesterin intolerant\\w* laktose\\w* gluten\\w* koffein",
    ),
    "money": _theme(
        "kaufen kauf preise? kostet kosten billig günstig\\w* teuer bezahlen geschenke? angebote? laptop handy kamera schuhe kleid hotels? flüge? tickets? reisen? urlaub miete abos?",
        "geld schulden kredit hypothek ausgaben ausgeben haus wohnung sparen budget",
    ),
    "body": _theme(
        "fitnessstudio sport training laufen joggen wandern wanderung klettern schwimmen schwimmbad strand see meer boot kajak skifahren fahrrad radfahren tanzen yoga fallschirm flug fliegen turm brücke balkon müde krank arzt ärztin medikamente? tabletten?",
        "marathon triathlon gewicht form fit muskeln sport training aktiv",
    ),
    "smoke": _theme("rauchen rauche zigaretten? tabak vapen zigarren? party kneipe", "rauchen zigaretten nikotin tabak asthma"),
    "time": _theme("wochenende samstag sonntag pläne party filme? serien? spiele langweilig freizeit stundenplan aufbleiben", "lernen bestehen prüfung abschluss doktorarbeit schlafen lesen schreiben bildschirm\\w*"),
}  # fmt: skip

VALUES: Final = Values(
    leading=r"(?:(?:ich|er|sie|wir|die person) )(?:mag|liebe|liebt|lieben|mögen) (?:sehr )?(?=\S)",
    subject=r"(?:ich bin|er ist|sie ist|die person ist) (?!nicht\b)(?=\S)",
    infinitive="zu ",
    articles=frozenset({"ein", "eine", "einen", "einem", "einer"}),
    dropped=frozenset(
        "der das den dem des mein meine meinen seine seinen ihre ihren unser unsere sehr ziemlich".split()
    ),
    conjunctions=frozenset({"und"}),
    yes=frozenset({"ja", "wahr", "stimmt"}),
    no=frozenset({"nein", "falsch"}),
    naming=frozenset({"namens"}),
)

SECRETS: Final = SecretWords(
    password=r"passw[oö]rter | passwort | kennwort",
    key=r"(?: api | zugriffs | geheim | privater )[ _-]?schlüssel | zugriffstoken",
    equals=r"\s{1,4} (?: ist | lautet | war ) \s{1,4}",
    hints=("passwort", "kennwort", "schlüssel"),
)
