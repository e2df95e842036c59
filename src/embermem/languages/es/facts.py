"""Rules of facts: how a speaker states them of themselves, and of relatives."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from embermem.core.patterns import regex
from embermem.languages.es.verbs import HABITS, PARTICIPLES, PAST, TO_DO
from embermem.languages.es.vocabulary import AMOUNTS, MONTHS
from embermem.languages.facts.clause_reader import Frame
from embermem.languages.facts.clause_values import CAP, Phrases, Read, count, fixed, group, known, name, place
from embermem.languages.facts.rules import Value
from embermem.languages.language import words_of

_I: Final = re.IGNORECASE
NO_NAMES: Final = frozenset(
    "el la los las un una yo tú él ella como no muy mi solo sólo dios navidad internet hola gracias sí leo virgo aries tauro"
    " géminis cáncer libra escorpio sagitario capricornio acuario piscis español española señor señora don doña".split()
)
_NO_PLACES: Final = frozenset(
    "navidad internet facebook twitter instagram youtube whatsapp dios excel python yo él ella lunes martes erasmus".split()
)
PHRASES: Final = Phrases(
    end=regex(
        r"\s*[,;:.!?…()¿¡]|\s(?:que|quien|quienes|donde|porque|pues|pero|aunque|cuando|como|ya que|así que|si|para que|mientras|últimamente|en este momento|estos días|desde(?! siempre)|todos los|todas las|cada|gracias a|salvo|excepto|sino|e? ?y (?:yo|me|mi|nos|no|él|ella|eso|es|está|también|además|luego|ahora|quiero|tengo|soy|estoy|voy|he|vivo|trabajo|a veces)"
        r"|yo|es que|por culpa|hace|antes de|después de|de momento|por ahora|jaja\w*|jeje\w*)\b",
        _I,
    ),
    refused=regex(
        r"\b(?:eso|esto|aquello|ese|esa|esos|esas|este|esta|estos|estas|le|les|tú|te|ti|tu|tus|usted|ustedes|él|ella|ellos|ellas|mí|me|nos|conmigo|contigo|nada|algo|cosa|cosas|qué|cuál|así)\b"
        r"|^(?:no|nunca|bien|mejor|aquí|allí|como|hacerlo|lo)\b|^(?:el|la|los|las|un|una|de|del|a|al)$|\?|\b(?:de|del|a|al|y|o|el|la|los|las|un|una|con|para|en|por|muy)$",
        _I,
    ),
    spare=regex(
        r"\s+(?:también|ahora|actualmente|en general|por cierto|realmente|mucho|muchísimo|un montón|claro|de momento|por fin|recientemente|ya|todavía|finalmente|aquí|allí|y|o|pronto|para nada|por favor|gracias|la verdad|tampoco|además|en serio|mañana|últimamente)$",
        _I,
    ),
    opens=regex(r"^(?:el |la |los |las |un |una |unos |unas )", _I),
    mine=(
        (regex(r"\b(?:mi|nuestr[oa])\b", _I), "su"),
        (regex(r"\b(?:mis|nuestr[oa]s)\b", _I), "sus"),
    ),
)
_ADV: Final = r"(?:(?:realmente|todavía|aún|también|ahora|actualmente|ya|por fin|finalmente|recientemente|justo|sobre todo|mucho|muchísimo|bastante|siempre|oficialmente|muy|tan|más|solo|sola|además|hoy|casi|súper|gravemente|un poco|especialmente) )*"
_phrase, _short, _bare = PHRASES.read(7, keep_article=True), PHRASES.read(5, keep_article=True), PHRASES.read(6)
_name, _place = (
    name(NO_NAMES),
    place(_NO_PLACES, r"(?:(?:la ciudad de|un pueblo de|el pueblo de|el barrio de|el centro de|las afueras de)\s)"),
)
_END: Final = r"(?=\s*(?:[.,;!)]|$)|\s(?:y|pero|desde|así|porque|en|a|con|por|para|también|ahora|de|hace)\b)"
# A first person, which is a noun behind an article: "trabajo".
_V: Final = r"(?<!\bel )(?<!\bmi )(?<!\bun )(?<!\bsu )(?<!\btu )(?<!\bdel )(?<!\bde )(?<!\bal )(?<!\beste )(?<!\bno )(?<!\blo )\b"
_NO: Final = r"\b(?:ya )?no "


def _jobs() -> frozenset[str]:
    return words_of("es", "occupations")


_job: Final = known(
    _jobs,
    r"(?: (?:jubilad[oa]|autónom[oa]|freelance|júnior|sénior|web|industrial|informátic[oa]|civil|comercial|social|escolar|gráfic[oa]|técnic[oa]|jefe|jefa|de (?!profesión|formación|toda|noche|día)[a-záéíóúñ]+(?: de [a-záéíóúñ]+)?|en prácticas))?",
    opens=r"(?:un |una )?(?:buen |buena )?",
)
_AT_WORK: Final = regex(r"\s(?:en|para|desde|con|por)\b.*", _I)


def _until_place(read: Read) -> Read:
    """The same, without where it is."""

    def of(clause: str, pos: int) -> Value | None:
        cut = _AT_WORK.search(clause, pos)
        return read(clause if cut is None else clause[: cut.start()], pos)

    return of


_NATIONS: Final = r"español|mexican|argentin|colombian|chilen|peruan|venezolan|ecuatorian|bolivian|uruguay|paraguay|cuban|dominican|guatemaltec|hondureñ|salvadoreñ|nicaragüens|panameñ|costarricens|puertorriqueñ|portugues|portugués|frances|francés|italian|aleman|alemán|ingles|inglés|irlandes|irlandés|estadounidens|canadiens|brasileñ|rus|ucranian|ruman|polac|marroquí|chin|japones|japonés|corean"
_LANGUAGES: Final = r"español|castellano|inglés|francés|alemán|italiano|portugués|catalán|gallego|euskera|vasco|valenciano|ruso|árabe|chino|mandarín|japonés|coreano|turco|polaco|griego|sueco|neerlandés|rumano|quechua|guaraní|latín|ucraniano|hindi"
_CONDITIONS: Final = r"diabetes(?: tipo (?:1|2))?|asma|epilepsia|artrosis|artritis|migrañas?|enfermedad celíaca|enfermedad de Crohn|dislexia|acúfenos|insomnio|hipertensión|depresión|trastorno bipolar|autismo|endometriosis|eccema|psoriasis|lupus|escoliosis|esclerosis múltiple|apnea del sueño|colesterol(?: alto)?|anemia|tdah|cáncer(?: de [a-z]+)?|ciática|una hernia discal|hernia discal|fibromialgia|hipotiroidismo|glaucoma|la tensión alta"
_PETS: Final = r"perros?|perras?|perritos?|perritas?|gatos?|gatas?|gatitos?|gatitas?|cachorros?|conejos?|conejas?|hámsters?|loros?|periquitos?|canarios?|peces|pez|tortugas?|cobayas?|hurones|hurón|caballos?|yeguas?|ponis?|gallinas?|serpientes?|lagartos?|geckos?|ratones|ratón|pájaros?|burros?|cabras?|ovejas?"
_COUNT: Final = r"(?:una?|dos|tres|cuatro|cinco|seis|\d)"
_KINDS: Final = r"(?:hij[oa]s?|herman[oa]s?|niet[oa]s?|sobrin[oa]s?|prim[oa]s?|gemel[oa]s|melliz[oa]s|niñ[oa]s)"
_FOODS: Final = r"(?P<v>(?:carne(?: roja)?|cerdo|pescado|marisco|mariscos|lácteos|leche|gluten|lactosa|huevos?|azúcar|alcohol|café|refrescos?|nueces|cacahuetes|frutos secos|queso|pan|picante|chocolate|ternera|soja|harina)(?:(?:, | y | ni | o )(?:carne|cerdo|pescado|marisco|leche|gluten|lactosa|huevos|azúcar|alcohol|café|queso|pan|chocolate))*)"
_ACTIVITIES: Final = r"yoga|pilates|natación|ciclismo|escalada|senderismo|running|atletismo|danza|baile|ballet|teatro|judo|kárate|boxeo|tenis|bádminton|fútbol|baloncesto|balonmano|voleibol|vóley|rugby|esquí|snowboard|surf|vela|buceo|equitación|pesas|crossfit|gimnasia|jardinería|cerámica|costura|punto|ganchillo|fotografía|dibujo|pintura|acuarela|voluntariado|piano|guitarra|violín|batería|canto|coro|flauta|saxofón|meditación|pesca|caza|bricolaje|repostería|esgrima|remo|kayak|patinaje|golf|tiro con arco|pádel|ajedrez|triatlón|taekwondo|circo|origami|bordado|zumba|spinning|musculación"
_FEARS: Final = r"las arañas|las alturas|volar|los aviones|la oscuridad|las serpientes|los perros|las agujas|el agua|la sangre|los payasos|los ascensores|las multitudes|las tormentas|los ratones|las avispas|las abejas|los tiburones|el dentista|arañas|alturas|oscuridad|serpientes|perros|agujas"
_GOALS: Final = (
    r"perder (?:peso|unos kilos|\d+ kilos)|adelgazar|bajar de peso|dejar (?:de fumar|el tabaco|el alcohol|de beber|el azúcar)|aprender [^,.;!?]{2,30}|correr (?:un|una|el|la) (?:media )?maratón[^,.;!?]{0,15}|volver a hacer (?:deporte|ejercicio)|hacer más (?:deporte|ejercicio)|comer (?:mejor|más sano|menos [a-z]+)"
    r"|dormir (?:mejor|más)|ahorrar[^,.;!?]{0,30}|sacarme el carn[eé][^,.;!?]{0,15}|sacar el carn[eé][^,.;!?]{0,15}|comprar(?:me)? (?:una casa|un piso|un coche)|cambiar de (?:trabajo|carrera)|montar (?:mi|una) (?:empresa|propia empresa)|aprobar (?:el|la|mi|las|los) [^,.;!?]{3,25}|ser [^,.;!?]{3,20} profesional|escribir (?:un libro|una novela)|tener (?:un hijo|hijos)"
)
_A_PET: Final = regex(
    rf"(?:(?P<count>{_COUNT}) )?(?P<kind>{_PETS})"
    r"(?P<more>(?: (?:(?!llamad|que|y|pero|de |a |en |para|desde|también|se |es |está |ha |muri)[a-záéíóúñ]+))?)\b(?!-)"
    rf"(?P<named>,? (?:se llama |llamad[oa] |que se llama |de nombre )?(?P<name>(?-i:{CAP}))(?! y (?-i:[A-ZÁÉÍÓÚÑ])))?",
    _I,
)


def _pets(clause: str, pos: int) -> Value | None:
    """A pet: "perro Rex", "un gato negro", "dos gatos"."""
    match = _A_PET.match(clause, pos)
    if match is None or (match["count"] is None and match["name"] is None):
        return None
    if match["name"] and (match["count"] or "un").lower() in ("un", "una") and match["name"].lower() not in NO_NAMES:
        return f"{match['kind'].lower()} {match['name']}", match.end()
    return (clause[pos : match.end("more")], match.end("more")) if match["count"] else None


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


def _event() -> Read:
    """What was done, after its verb: nothing more, or a phrase."""
    phrase = PHRASES.read(9, keep_article=True)

    def of(clause: str, pos: int) -> Value | None:
        return ("", pos) if not clause[pos:].strip(" ,.!;…") else phrase(clause, pos)

    return of


def _third(match: re.Match[str]) -> str:
    """The verb as somebody else tells it: "compré" as "compró", "me mudé" as "se mudó", "he comprado" as "ha comprado"."""
    verb = match["verb"].lower()
    if match["perfect"]:
        return f"{'se ' if match['self'] else ''}ha {verb}"
    if f"me {verb}" in PAST and match["self"]:
        return PAST[f"me {verb}"]
    return f"{'se ' if match['self'] else ''}{PAST[verb]}"


def _to_do(match: re.Match[str]) -> str:
    return re.sub(r"(?<=r)(?:me|nos)\b", "se", match["verb"].lower())


_WITH_ME: Final = "|".join(verb[3:] for verb in PAST if verb.startswith("me ") and verb[3:] not in PAST)
"""Verbs that are known with "me" alone: "me puse", not "puse"."""
_PAST: Final = "|".join(sorted((verb.removeprefix("me ") for verb in PAST), key=len, reverse=True))
_PERFECT: Final = "|".join(sorted(PARTICIPLES, key=len, reverse=True))
_TO_DO: Final = "|".join(sorted(map(re.escape, TO_DO), key=len, reverse=True))
_THINGS: Final = {
    "color": "color", "comida": "food", "plato": "food", "película": "movie", "libro": "book", "canción": "song", "deporte": "sport",
    "animal": "animal", "estación": "season", "ciudad": "city", "grupo": "band", "juego": "game", "fruta": "fruit", "serie": "show",
    "cantante": "singer", "autor": "author", "autora": "author", "bebida": "drink", "flor": "flower",
}  # fmt: skip

_ENDED: Final = (
    _frame("lives_in", r"\bya no vivo en ", _place, ended=True),
    _frame("works_as", rf"\b(?:estoy jubilad[oa]|me (?:he )?jubil(?:é|ado)|me acabo de jubilar){_END}", fixed(""), ended=True),
    _frame("works_at", r"\bya no trabajo (?:en|para) ", _short, ended=True),
    _frame("works_at", r"\b(?:he (?:dejado|perdido)|dejé|perdí) (?:el|mi) (?:trabajo|empleo|puesto)\b", fixed(""), ended=True),
    _frame("works_at", r"\b(?:me (?:han )?(?:despedido|echado del trabajo)|me despidieron|renuncié(?! a\b)|he renunciado(?! a\b))\b", fixed(""), ended=True),
    _frame("diet", r"\bya no soy ", group(r"vegetarian[oa]|vegan[oa]"), ended=True),
    _frame("likes", r"\bya no me gustan? ", _phrase, ended=True),
    _frame("has_pet", rf"\b(?:mi|nuestr[oa]) (?=(?:{_PETS}) (?-i:{CAP}) (?:se )?(?:ha muerto|murió|ha fallecido|falleció))", group(rf"(?P<v>(?:{_PETS}) (?-i:{CAP}))"), ended=True),
    _frame("plans", r"\b(?:al final )?(?:ya )?no (?:voy|vamos|me voy|viajo) (?:al final )?(?=(?:a|al) (?-i:[A-ZÁÉÍÓÚ]))", _event(), ended=True, prefix=lambda _: "ir"),
)  # fmt: skip
_OWN: Final = (
    _frame("name", r"\b(?:me llamo|mi nombre es) ", _name),
    _frame("name", rf"^\W*(?:hola,? )?(?:yo )?soy (?=(?-i:{CAP})(?: (?-i:{CAP}))?[\s.!]*$)", _name),
    _frame("nickname", r"\b(?:(?:todos |mis amigos )?me (?:dicen|llaman)|mi apodo es|ll[aá]m[ae]n?me|puedes llamarme|me puedes llamar) (?!siempre|mañana|luego|por|cuando|al|a las|todos|mucho)", _name),
    _frame("age", rf"{_V}(?:tengo|acabo de cumplir|cumplí|he cumplido) {_ADV}", count(AMOUNTS, r"(?: años)\b(?! (?:de (?!edad)|sin|trabajando|viviendo|en))")),
    _frame("birthday", r"\b(?:mi cumpleaños (?:es|cae) (?:el )?|nací (?:en [^,]{2,20} )?el )", group(rf"(?P<v>\d{{1,2}} de (?:{'|'.join(MONTHS)}))\b")),
    _frame("birth_year", r"\bnací (?:[^,.]{0,30}? )?(?:en|de|del) (?=(?:19|20)\d\d)", group(r"(?P<v>(?:19|20)\d\d)\b")),
    _frame("born_in", r"\bnací (?:el \d{1,2} de \w+(?: del? \d{4})? |en \d{4} )?en (?=(?-i:[A-ZÁÉÍÓÚ]))", _place),
    _frame("comes_from", rf"{_V}(?:soy {_ADV}(?:originari[oa] )?de) (?=(?-i:[A-ZÁÉÍÓÚ]))", _place),
    _frame("grew_up_in", r"\b(?:crecí|me crié) en ", _place),
    _frame("nationality", rf"{_V}soy {_ADV}(?:de origen |de nacionalidad )?", group(rf"(?P<v>(?:{_NATIONS})(?:[oa]|e|es|)?)\b{_END}")),
    _frame("lives_in", rf"(?:{_V}(?:vivo|resido|vivimos|residimos) {_ADV}(?:con [^,.]{{3,25}} )?en|\b(?:me (?:he )?mud(?:é|ado)|nos (?:hemos )?mudado|me acabo de mudar|acabo de mudarme|nos acabamos de mudar|acabamos de mudarnos) a|\b(?:me (?:he )?instal(?:é|ado)|nos hemos instalado) en) ", _place),
    _frame("works_as", rf"{_V}(?:trabajo|ejerzo) {_ADV}(?:como|de) (?!noche|día|lunes|tarde|mañana)", _until_place(_bare)),
    _frame("works_as", rf"(?:{_V}soy {_ADV}|\bmi profesión es |\btrabajo de )", _job),
    _frame("works_at", rf"(?:{_V}(?:trabajo {_ADV}(?:(?:como|de) [^,]{{3,30}}? )?|empecé a trabajar |he empezado a trabajar )|\bme (?:han )?contrat(?:aron|ado) )(?:para(?= (?-i:[A-Z]))|en(?= (?:la empresa|el hospital|la universidad|el ayuntamiento|una? (?!cosa|proyecto|lugar|sitio|libro|tema)))) ", _bare),
    _frame("works_at", rf"{_V}soy [a-záéíóúñ]+(?: (?:de |en )?[a-záéíóúñ]+){{0,2}}? (?:en (?=(?:el|la|una?) (?:hospital|universidad|colegio|escuela|instituto|clínica|empresa|ayuntamiento|banco|tienda|restaurante|museo|farmacia|biblioteca|agencia|hotel|guardería|fábrica|oficina|librería|panadería))|para (?=(?-i:[A-Z])))", _bare),
    _frame("works_in", r"\bme dedico (?=(?:al|a la|a los|a las) )(?:al |a la |a los |a las )", _bare),
    _frame("studies", rf"(?:{_V}(?:estudio|estoy estudiando)|{_V}(?:hago|estoy haciendo|curso) (?:un máster|un grado|la carrera|un doctorado|una licenciatura|una carrera)(?: de| en)|{_V}soy estudiante de) {_ADV}(?!en\b|para\b|mucho\b|por\b|con\b|hasta\b|cada\b|todos\b|todas\b)", _until_place(_bare)),
    _frame("studies_at", rf"{_V}(?:estudio|estoy estudiando) (?:[^,]{{2,30}}? )?en (?=(?:la universidad|el instituto|la escuela|la facultad|el conservatorio|la (?-i:[A-Z])))", _short),
    _frame("marital_status", rf"{_V}(?:estoy|soy) {_ADV}", group(rf"(?P<v>casad[oa]|solter[oa]|divorciad[oa]|viud[oa]|prometid[oa]|separad[oa]){_END}")),
    _frame("native_language", r"\bmi (?:lengua materna|idioma materno) es (?:el )?", group(rf"(?P<v>{_LANGUAGES})\b")),
    _frame("speaks", rf"{_V}hablo {_ADV}(?:perfectamente |con fluidez )?", group(rf"(?P<v>(?:{_LANGUAGES})(?:(?:, | y | e )(?:{_LANGUAGES}))*)\b")),
    _frame("learns", rf"{_V}(?:aprendo|estoy aprendiendo) {_ADV}(?!que\b|mucho\b|cosas|algo)", PHRASES.read(5, keep_article=True)),
    _frame("diet", rf"(?:{_V}soy {_ADV}|\bme (?:he )?(?:hice|hecho) |{_V}como )", group(rf"(?P<v>vegetarian[oa]|vegan[oa]|flexitarian[oa]|halal|kosher|sin gluten){_END}")),
    _frame("allergic_to", rf"(?:{_V}soy {_ADV}al[eé]rgic[oa]|{_V}tengo (?:una )?alergia) (?:al |a la |a los |a las |a )", _bare),
    _frame("health", rf"{_V}(?:soy|estoy) {_ADV}", group(rf"(?P<v>diabétic[oa](?: tipo [12])?|asmátic[oa]|epiléptic[oa]|daltónic[oa]|celíac[oa]|intolerante (?:a la lactosa|al gluten|a la fructosa)|sord[oa]|cieg[oa]|disléxic[oa]|embarazada|hipertens[oa]|claustrofóbic[oa]|autista|en silla de ruedas){_END}")),
    _frame("has_condition", rf"(?:{_V}(?:tengo|padezco|sufro) {_ADV}(?:de )?|\bme (?:han )?diagnostic(?:aron|ado) )", group(rf"(?P<v>{_CONDITIONS})\b")),
    _frame("avoids", rf"(?:{_NO}(?:como|bebo|tomo|puedo (?:comer|beber|tomar)) (?:nada de |más )?|{_V}evito (?:el |la |los |las )?|\b(?:dejé|he dejado) (?:de (?:comer|beber|tomar) |el |la |los ))", group(_FOODS)),
    _frame("has_pet", rf"{_V}(?:tengo|tenemos|adopté|he adoptado|hemos adoptado|adoptamos) {_ADV}(?={_COUNT} )", _pets),
    _frame("has_pet", rf"\b(?:mi|nuestr[oa]) (?=(?:{_PETS})(?:,? (?:se llama |llamad[oa] |que se llama ))?,? ?(?-i:{CAP}))", _pets),
    _frame("has_relative", rf"{_V}(?:tengo|tenemos) {_ADV}(?={_COUNT} )", group(rf"(?P<v>{_COUNT} {_KINDS}(?: (?:mayor|menor|mayores|menores|pequeñ[oa]s?))?(?:(?: y|,) {_COUNT} {_KINDS}(?: (?:mayor|menor|mayores|menores))?)*)\b")),
    _frame("dislikes", rf"(?:{_V}(?:odio|detesto|aborrezco)|{_NO}me gustan?(?: nada| mucho| demasiado)?|{_NO}(?:soporto|aguanto)) (?:a (?=mis?\b))?(?!que\b|cuando\b|la idea|tener que|esperar|nada$)", _phrase),
    _frame("likes", rf"(?:(?<!no )\bme (?:gustan?|encantan?|apasionan?|fascinan?|chiflan?) {_ADV}|{_V}(?:adoro|soy (?:muy )?(?:fan|fanátic[oa]|aficionad[oa]|amante) (?:de|a)(?: la| los| las|l)?) )(?!que\b|cuando\b|la idea|saber\b|cómo\b|si\b|poder\b)", _phrase),
    _frame("prefers", rf"{_V}prefiero (?=(?:el|la|los|las|mi|mis)\b)", _phrase),
    _frame("plays", rf"{_V}(?:toco|juego (?=al? ))", PHRASES.read(4, keep_article=True)),
    _frame("hobby", rf"(?:{_V}(?:practico|hago) {_ADV}|\bmi (?:afición|hobby|pasión)(?: favorita)? (?:es|son) (?:el |la |los |las )?)", group(rf"(?P<v>{_ACTIVITIES})\b")),
    _frame("collects", rf"{_V}colecciono ", _phrase),
    _frame("drives", rf"{_V}(?:conduzco|manejo) (?:un |una )?", group(r"(?P<v>[A-Z][\w-]+(?: [A-Z0-9][\w-]*){0,2}|moto|camión|autobús)", flags=re.NOFLAG)),
    _frame("temperament", rf"{_V}soy {_ADV}(?:una persona )?(?:bastante |muy )?", group(rf"(?P<v>introvertid[oa]|extrovertid[oa]|extravertid[oa]){_END}")),
    _frame("afraid_of", rf"(?:{_V}tengo {_ADV}(?:mucho )?(?:miedo|pánico|fobia|terror) (?:a |de )|\bme dan? (?:mucho )?(?:miedo|pánico|terror) )", group(rf"(?P<v>{_FEARS})\b")),
    _frame("cannot", rf"{_NO}sé ", group(rf"(?P<v>nadar|conducir|manejar|montar en bici|cocinar){_END}")),
    _frame("religion", rf"{_V}soy {_ADV}", group(rf"(?P<v>católic[oa]|protestante|evangélic[oa]|ortodox[oa]|musulm[aá]na?|judí[oa]|budista|hindú|ate[oa]|agnóstic[oa]){_END}")),
    _frame("height", rf"{_V}mido ", group(r"(?P<v>(?:1|un)(?: ?(?:m|,|\.|metro) ?)\d{2}(?: ?m)?|\d{3} ?cm)\b")),
    _frame("phone", r"\bmi (?:número(?: de (?:teléfono|móvil|celular))?|teléfono|móvil|celular) es (?:el )?", group(r"(?P<v>\+?\d[\d .-]{6,17}\d)")),
    _frame("email", r"\bmi (?:correo(?: electrónico)?|e-?mail|mail) es ", group(r"(?P<v>[\w.+-]+@[\w-]+\.[\w.]*\w)")),
    _frame("budget", r"\b(?:mi|nuestro) presupuesto es(?: de)? ", group(r"(?P<v>[^,;.!?]{2,30})")),
    _frame("gives_up", rf"{_V}(?:intento|estoy intentando|trato de|estoy tratando de) dejar ", group(rf"(?P<v>(?:de fumar|el tabaco|el alcohol|de beber|el azúcar|el café)){_END}")),
    _frame("prepares_for", r"\b(?:me estoy preparando para|estoy preparando|me preparo para|preparo|estoy opositando a) (?=(?:el|la|mi|mis|un|una|unas|las|los)\s(?:media )?(?:maratón|oposici[oó]n|oposiciones|examen|exámenes|entrevista|selectividad|exposición|tesis|triatlón|boda|mudanza|concierto|audición)\b)", _phrase),
    _frame("saves_for", rf"{_V}(?:ahorro|estoy ahorrando|estamos ahorrando) para ", _phrase),
    _frame("wants_to", rf"(?:{_V}(?:quiero|intento|trato de|he decidido)|\bmi (?:objetivo|meta) es) (?={_GOALS})", PHRASES.read(8, keep_article=True)),
)  # fmt: skip
_FAVORITES: Final = tuple(
    _frame(f"favorite_{english}", rf"\bmi {word} (?:favorit[oa]|preferid[oa]) (?:es|son|sigue siendo) ", _phrase)
    for word, english in _THINGS.items()
)
_DONE: Final = (
    _frame("did", rf"\b(?P<self>me )?(?P<perfect>he )(?:por fin |ya |recién )?(?P<verb>{_PERFECT})\b", _event(), prefix=_third),
    _frame("did", rf"\b(?P<self>nos )?(?P<perfect>hemos )(?:por fin |ya )?(?P<verb>{_PERFECT})\b", _event(), prefix=_third),
    _frame("did", rf"(?<!no )(?<!lo )(?<!la )(?<!te )(?<!le )\b(?P<self>me )?(?P<perfect>(?!))?(?!(?<!\bme )(?:{_WITH_ME})(?!\w))(?P<verb>{_PAST})(?!\w)", _event(), prefix=_third),
    _frame("plans", rf"(?<!no )\b(?:(?:me |nos )?(?:voy|vamos) a|pienso|planeo|planeamos|tengo pensado|tengo previsto|tenemos previsto|he decidido|hemos decidido) (?P<verb>(?:{_TO_DO}))(?!\w)", _event(), prefix=_to_do),
    _frame("plans", r"(?<!no )\b(?:me voy|nos vamos|viajo|viajamos) (?:de viaje |de vacaciones )?(?=(?:a|al) )", _event(), prefix=lambda _: "ir"),
    _frame("plans", r"(?<!no )\b(?:voy|vamos) (?=(?:a|al) (?!\w+[aei]r(?:me|nos|se|lo|la)?\b))", _event(), prefix=lambda _: "ir", needs_date=True),
    _frame("plans", rf"{_V}(?:tengo|tenemos) (?=(?:un |una |mi |el |la )?(?:entrevista|cita|examen|concierto|reunión|vuelo|tren|boda|defensa|operación|audición|partido|carrera|torneo|curso|revisión|parcial)\b)", _event(), prefix=lambda _: "tener", needs_date=True),
    _frame("would_like_to", rf"(?<!no )\b(?:me gustaría|querría|quisiera|me encantaría|sueño con|tengo ganas de) (?:algún día |mucho )?(?P<verb>(?:{_TO_DO}))(?!\w)", _event(), prefix=_to_do),
    _frame("does", rf"{_V}(?P<verb>{'|'.join(HABITS)}) (?=[^,;.!?]*\b(?:todos los|todas las|cada|\w+ (?:vez|veces) (?:por|a la|al)|los (?:lunes|martes|miércoles|jueves|viernes|sábados|domingos)))", PHRASES.read(9, keep_article=True), prefix=lambda m: HABITS[m["verb"].lower()]),
)  # fmt: skip
FRAMES: Final = (*_ENDED, *_FAVORITES, *_OWN, *_DONE)

_S: Final = rf"[ ,]*(?:,? que )?{_ADV}"
OF_KIN: Final = (
    _frame("name", rf"{_S}se llama ", _name),
    _frame("age", rf"{_S}(?:tiene|acaba de cumplir|cumplió|ha cumplido) {_ADV}", count(AMOUNTS, r" años\b(?! (?:de (?!edad)|sin|trabajando))", least=1)),
    _frame("lives_in", rf"{_S}(?:vive|reside) {_ADV}en ", _place),
    _frame("lives_in", rf"{_S}(?:se (?:ha )?mud(?:ó|ado) a) ", _place),
    _frame("works_as", rf"{_S}trabaja {_ADV}(?:como|de) ", _until_place(_bare)),
    _frame("works_as", rf"{_S}es {_ADV}", _job),
    _frame("works_at", rf"{_S}trabaja {_ADV}(?:para(?= (?-i:[A-Z]))|en(?= (?:la empresa|el hospital|la universidad|el ayuntamiento|una? ))) ", _bare),
    _frame("studies", rf"{_S}(?:estudia|está estudiando|es estudiante de) {_ADV}(?!en\b|mucho\b|para\b)", _until_place(_bare)),
    _frame("marital_status", rf"{_S}(?:está|es) {_ADV}", group(rf"(?P<v>casad[oa]|solter[oa]|divorciad[oa]|viud[oa]|prometid[oa]){_END}")),
    _frame("diet", rf"{_S}(?:es|se (?:ha )?(?:hizo|hecho)) {_ADV}", group(rf"(?P<v>vegetarian[oa]|vegan[oa]){_END}")),
    _frame("allergic_to", rf"{_S}(?:es {_ADV}al[eé]rgic[oa]|tiene alergia) (?:al |a la |a los |a las |a )", _bare),
    _frame("health", rf"{_S}(?:es|está) {_ADV}", group(rf"(?P<v>diabétic[oa](?: tipo [12])?|asmátic[oa]|epiléptic[oa]|daltónic[oa]|celíac[oa]|sord[oa]|cieg[oa]|disléxic[oa]|embarazada){_END}")),
    _frame("has_condition", rf"{_S}(?:tiene|padece|sufre) (?:de )?", group(rf"(?P<v>{_CONDITIONS})\b")),
    _frame("dislikes", rf"{_S}(?:odia|detesta|no le gustan?) ", _phrase),
    _frame("likes", rf"{_S}(?:adora|le (?:gustan?|encantan?)) {_ADV}", _phrase),
    _frame("plays", rf"{_S}(?:toca |juega (?=al? ))", PHRASES.read(4, keep_article=True)),
    _frame("did", rf"{_S}(?P<verb>(?:se )?(?:murió|falleció|ha muerto|ha fallecido)|se (?:casó|jubiló|divorció|mudó|graduó)|se ha (?:casado|jubilado|divorciado|graduado|mudado)|nació|acaba de (?:casarse|nacer|jubilarse|dar a luz))(?!\w)", _event(), prefix=lambda m: m["verb"].lower()),
)  # fmt: skip
