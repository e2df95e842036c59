"""What people ask, say and write: questions, openings, quotations, orders, themes, values."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

from typing import Final

from embermem.core.sensitive import SecretWords
from embermem.core.types import Role
from embermem.languages.parts import Guards, Questions, Screening, Talk, ThemeWords, Values

QUESTIONS: Final = Questions(
    continues=r"^\W*(?:y|pero|o|entonces|pues|además)\b|^\W*(?:por qué|cuándo|dónde|quién|quiénes|cuánt[oa]s?|cómo|cuál"
    r"|cuáles|desde cuándo|hasta cuándo|con quién)\W*$",
    points_back=r"\b(?:eso|esto|aquello|allí|allá|ahí|lo mismo|l[ao]s? mism[ao]s?|el mismo|el otro|la otra|los otros|las otras"
    r"|es[eao]s?)\b",
    pronoun=r"\b(?:él|ella|ellos|ellas|sus?|suy[oa]s?)\b",
    marks=("?",),
    several=r"\bcuáles\b|\bquiénes\b|\bcuánt[oa]s\b|\b(?:todos|todas) (?:los|las|mis|sus)\b|\btodo lo que\b|^\W*(?:enumera|lista|nombra)\b|\b(?:ambos|ambas)\b|\bqué (?:cosas|actividades|tipos|libros|películas|lugares|\w{3,}(?:os|as|es)(?! (?:el|la|lo|un|una)\b))\b"
    r"|\bqué\b.{0,30}\b(?:te (?:he dicho|dije|conté|he contado)|mencion\w*)\b",
    past=r"\b(?:ayer|anteayer|anoche|recuerdas?|acuerdas?|antes)\b|\b(?:última vez|(?:semana|noche|primavera) pasada|(?:mes|año|verano|otoño|invierno) pasado)\b|\bhace (?:\w+ ){1,2}(?:días?|semanas?|mes|meses|años?)\b"
    r"|\b(?:hice|hizo|fui|fue|fuimos|estaba|estuve|tuve|tenía|dije|conté|compré|comí|había|he (?:\w+ado|\w+ido|dicho|hecho|visto))\b",
    overview=r"\b(?:resum\w+|recapitul\w+|repaso|biografía|perfil|vida|historia|trayectoria|quién (?:es|soy)|quiénes son|qué hay de nuevo|novedades|al día|ponme al)\b|\b(?:sabes|recuerdas|acuerdas|aprendido|cuéntame|dime|háblame)\b.{0,30}\b(?:sobre|de|acerca)\b"
    r"|\bqué\b.{0,30}\b(?:ha pasado|pasó|sucedió|cambiado|hecho|sabes|sido de)\b|\bcómo le va\b|\bdescríbe\w*\b",
    overview_words=r"\b(?:el|la|los|las|lo|un|una|unos|unas|de|del|al|a|en|con|por|para|sobre|acerca|desde|durante|hasta|y|o|que|qué|quién|quiénes|cuál|cuáles|cómo|es|son|soy|fue|fueron|ha|han|he|hay|ser|estar|está|están|yo|tú|me|mí|te|ti|se|mi|mis|tu|tus|su|sus|nos|él|ella|ellos|ellas|todo|toda|todos|todas|más"
    r"|cosa|cosas|importante|importantes|principal|principales|reciente|recientes|recientemente|último|última|últimos|últimas|nuevo|nueva|nuevas|novedades|actual|actualmente|hoy|ahora|día|días|semana|semanas|mes|meses|año|años|tiempo|pasado|pasada|pasó|sucedió|cambiado|cambios|cambio|hecho|sabes|sabe|saber|recuerdas|recuerda|acuerdas"
    r"|aprendido|cuéntame|cuenta|dime|di|háblame|habla|hazme|dame|ponme|resume|resumen|resumir|repaso|biografía|perfil|vida|historia|trayectoria|describe|descríbeme|breve|brevemente|corto|eventos|evento|momentos|momento|grandes|general|situación|va|vida|persona|gente|conversaciones|conversación|memoria|usuario|favor|puedes|podrías|primavera|verano|otoño|invierno)\b",
    days_words=r"\b(?:hice|hicimos|hiciste|hizo|hicieron|hablamos|hablé|hablaste|habló|hablado|dije|dijiste|dijimos|dijo|dicho|conté|contaste|contó|mencioné|mencionó|comenté|comentamos|hacer|hago|hace|hacemos|tengo|tenemos|tenía|teníamos|plan|planes|planeado|previsto|mañana|tarde|noche|pasaba|ocurrió|pasando|estuve|estuvimos|nosotros|exactamente|tema|temas|esa|ese|aquel|aquella)\b",
    beside_day=r"\b(?:para|antes de|hasta|desde|después de|a partir de)(?:l| el| la)?\s(?:\w+\s)?§|\b(?:antes|después|a partir) del? §",
    character=r"\b(?:personalidad|carácter|temperamento|rasgos|qué (?:tipo|clase) de persona|intereses|aficiones|pasiones|recom[ie]\w*|aconsej\w*|sugier\w*|sugerencia\w*)\b",
)

TALK: Final = Talk(
    shift=r"(?:(?:ah|oh|bueno|vale|pues|y|pero|oye)\W+)?(?:por cierto|a propósito|cambiando de tema|otra cosa|otra pregunta|nueva pregunta|nada que ver|hablando de otra cosa|buenos días|buenas tardes|buenas noches|hola de nuevo)\b",
    back=r"(?:(?:y|pero|sí|no|vale|ah|oh|bueno|gracias|claro)\W+){0,2}(?:eso|esto|ese|esa|aquello|él|ella|ellos|allí|por qué|cómo es eso|y (?:él|ella|tú)|cuál|los dos|ambos|igual|yo también|exacto|de acuerdo|entonces|cuéntame más|sigue|porque)\b",
    small_talk=r"(?:hola|buenos días|buenas|gracias|de nada|genial|qué bien|vale|adiós|hasta (?:luego|pronto|mañana)|claro|por supuesto|ok|sin problema|con gusto|felicidades|enhorabuena|lo siento|perdón)\b",
    leads=r"(?:sin embargo|además|también|finalmente|por lo tanto|así que|entonces|bueno|pues|sí|ah|oh|la verdad|en fin|por cierto|de hecho), |(?:y|pero|pues|así que) ",
    me=r"\b(?:yo|mi|mis|mí|conmigo|nosotros|nosotras|nuestr[oa]s?|soy|estoy|tengo)\b",
    you=r"\b(?:tú|ti|tu|tus|usted|ustedes|vosotros|vosotras|contigo)\b",
    you_signs=("tú", "ti", "tu", "usted", "vosotr"),
    my_words=r"\b(?:yo|mi|mis|nuestr[oa]s?|soy|estoy|tengo|vivo|trabajo|voy|fui|hice|compré|he|hemos|nos|me)\b",
    courtesy=frozenset(
        "gracias hola buenas buenos días tardes noches genial estupendo perfecto enhorabuena felicidades suerte saludos abrazo besos encantado encantada alegro amable claro exacto acuerdo"
        " maravilloso fantástico increíble ánimo siento perdón".split()
    ),
    parts={"usuario": Role.USER, "usuaria": Role.USER, "asistente": Role.ASSISTANT, "sistema": Role.SYSTEM, "herramienta": Role.TOOL},
    nobody=frozenset("usuario usuaria yo cliente clienta asistente agente bot sistema herramienta".split()),
)  # fmt: skip

SCREENING: Final = Screening(
    quoted_speaker=r"\b(?:yo|mi|mis|me|soy|estoy|tengo|nosotros)\b",
    whole=r"\b(?:traduc\w*|tradúce\w*|corrige (?:este|esta|mi|el|la)|reformula|reescribe|revisa (?:este|mi)|mejora (?:este|mi|esta)|resume (?:este|esta|el|la) (?:texto|artículo|pasaje)|juego de rol|carta de (?:presentación|motivación)|estimad[oa]s? (?:señor|señora|señores|equipo)|atentamente|un cordial saludo|saludos cordiales|érase una vez|había una vez"
    r"|eres (?:un|una) (?:\w+ ){0,2}(?:expert[oa]|asistente|profesor[oa]?|redactor[oa]?|editor[oa]?|chatbot|bot)|(?:responde|actúa|compórtate) como si|haz como si|letra de (?:la|una) canción|(?:para|en) mi (?:novela|historia|libro|cuento)|mi personaje|(?:es|era) broma|estoy bromeando|inocente inocente|cómo se (?:dice|escribe) )",
    from_here=r"\b(?:(?:escribe|redacta|compón|genera|inventa)(?:me)? (?:un|una|el|la|mi)\b|imagina(?:d|te|mos)?\b|supongamos|finge\b|(?:este|aquí) (?:es|está|va) (?:el|la|mi) (?:texto|carta|correo|mensaje|artículo|poema)|el siguiente texto|a continuación|cita ?:)",
    lasting=r"\b(?:siempre|nunca|jamás|a partir|de ahora|en adelante|futuro|cada|más|deja|responde\w*|contesta\w*|contéstame|respóndeme|respuestas|habla\w*|háblame|llama\w*|llámame|llamarme|tutéame|tutea\w*|trátame|evita|emojis?|emoticonos?|hasta|por defecto|prefiero|utiliza\w*)\b",
)

_STATING: Final = {
    "name": r"\b(?:llamo|llama|nombre|soy)\b", "nickname": r"\b(?:llaman|dicen|apodo|llámame|llamarme)\b", "age": r"\b(?:años|edad|nac\w+|cumpl\w+)\b", "birth_year": r"\bnac\w+\b",
    "birthday": r"\b(?:cumple\w*|nac\w+)\b", "born_in": r"\bnac\w+\b", "comes_from": r"\b(?:soy|es|vengo|viene|origen|nac\w+|crec\w+)\b", "grew_up_in": r"\b(?:crec\w+|cri\w+|infancia)\b", "nationality": r"\b(?:soy|es|nacionalidad|origen)\b",
    "lives_in": r"\b(?:viv\w+|mud\w+|casa|piso|apartamento|resid\w+|instal\w+|alquil\w+)\b", "works_as": r"\b(?:trabaj\w+|soy|es|profesión|oficio|puesto|dedico|como)\b", "works_at": r"\b(?:trabaj\w+|empleo|contrat\w+|puesto|empresa)\b",
    "works_in": r"\b(?:trabaj\w+|dedic\w+|sector)\b", "studies": r"\b(?:estudi\w+|carrera|máster|grado|curso|doctorado)\b", "studies_at": r"\b(?:estudi\w+|universidad|escuela|instituto)\b",
    "marital_status": r"\b(?:casad\w+|solter\w+|divorci\w+|viud\w+|prometid\w+|separad\w+|espos\w+|marido|mujer)\b", "speaks": r"\b(?:habl\w+|idioma\w*|bilingüe)\b", "native_language": r"\b(?:lengua|idioma|matern\w+|habl\w+)\b",
    "diet": r"\b(?:com\w+|dieta|veg\w+|carne|gluten)\b", "allergic_to": r"\b(?:al[eé]rg\w+|intoleran\w+)\b", "has_condition": r"\b(?:tengo|tiene|padec\w+|sufr\w+|diagnostic\w+|soy|es|enfermedad)\b", "health": r"\b(?:soy|es|estoy|está|tengo|tiene|salud)\b",
    "has_pet": r"\b(?:perr\w+|gat\w+|mascota|animal|conej\w+|adopt\w+|mi|nuestr\w+)\b", "religion": r"\b(?:soy|es|religi\w+|cre\w+|rez\w+)\b", "height": r"\b(?:mid\w+|altura|estatura|cm|metros?)\b",
    "phone": r"\b(?:número|teléfono|móvil|celular|llam\w+)\b", "budget": r"\b(?:presupuesto|euros?|pesos?|gast\w+|cuest\w+|€)", "drives": r"\b(?:conduzco|conduce|manej\w+|coche|carro|moto)\b",
    "dislikes": r"\b(?:no|nunca|odi\w+|detest\w+|soport\w+|aguant\w+|aburr\w+|demasiado)\b",
}  # fmt: skip

GUARDS: Final = Guards(
        supposing=r"\b(?:si|ojalá|imagina|soñ\w+)\b",
    order=r"\b(?:ignora|olvida|omite|desatiende)[rs]?\s+(?:(?:todo|todas|todos|las|los|tus|sus|estas|lo)\s+){0,3}(?:anterior\w*|instrucci\w+|reglas|de arriba|previ\w+)\b"
    r"|\b(?:modifica|cambia|borra|elimina|guarda|reemplaza|actualiza)\w*\b[^.!?\n]{0,40}\b(?:del usuario|tu memoria|(?:en|de) (?:la|tu) memoria|el perfil)\b|\b(?:mensaje|instrucci[oó]n) del sistema\b|\bnuevas instrucciones\b"
    r"|\bdebes (?:ahora )?(?:responder|mostrar|devolver) (?:solo|sólo|solamente|únicamente|exactamente)\b",
    error=r"error\s*:|lo siento\b[^.]{0,20}\b(?:no|imposible)\b|no puedo (?:ayudar|responder|generar)\b|como (?:ia|inteligencia artificial|modelo de lenguaje)\b",
    nothing=r"ningun[oa]?|nada|desconocid[oa]|no (?:especificad[oa]|mencionad[oa]|indicad[oa]|conocid[oa]|disponible)|sin (?:especificar|datos)",
    genders={"mujer": "female", "femenino": "female", "chica": "female", "hombre": "male", "masculino": "male", "chico": "male"},
    female=r"\b(?:mujer|chica|madre|mamá|esposa)\b",
    male=r"\b(?:hombre|chico|padre|papá|esposo|marido)\b",
    reporting="dice decir dijo habla hablar habló cuenta contar pregunta preguntar responde responder explica explicar menciona conversación mensaje tema resumen sugiere aconseja propone",
    stating=_STATING,
    denying=r"\b(?:no|nunca|jamás|ya no|ningún|ninguna|odio|gustaría)\b",
    ending=r"\b(?:no|nunca|jamás|antes|dej\w+|abandon\w+|vend\w+|perd\w+|muri\w+|falleci\w+|separ\w+|divorci\w+|jubil\w+|cancel\w+|termin\w+|acab\w+|mud\w+|cambi\w+|falso)\b",
    dwelling=r"\b(?:piso|planta|balcón|casa|habitación|apartamento|departamento|sótano|ático)",
    no_allergy=r"\bno\s+(?:\w+\s+){0,3}al[eé]rgi",
    own=r"\b(?:yo|soy|estoy|tengo|vivo|trabajo|nosotros|nosotras)\b|\bmi (?:nombre|dirección|casa|trabajo|profesión|puesto|número|teléfono|correo|e-?mail|cumpleaños|edad|dieta|presupuesto|empresa|idioma|lengua)\b",
)  # fmt: skip

TEMPERAMENTS: Final = {
    "introvertido": -1.0, "introvertida": -1.0, "extrovertido": 1.0, "extrovertida": 1.0, "extravertido": 1.0, "extravertida": 1.0,
}  # fmt: skip


def _theme(asked: str, told: str) -> ThemeWords:
    return ThemeWords(asked=rf"\b(?:{'|'.join(asked.split())})\b", told=rf"\b(?:{'|'.join(told.split())})\b")


THEMES: Final = {
    "food": _theme(
        "comer hambre desayun[oa]r? almuerzo almorzar cena cenar merienda comida platos? cocinar? recetas? restaurantes? menú carta picnic hamburguesas? pizzas? patatas pasta arroz sushi filete pollo ternera cerdo tacos? ensaladas? sopas? queso pan tortitas tartas? galletas? postres? helados? chocolate bebidas? cervezas? vino cócteles? café tapas compra",
        "peso kilos kg adelgazar comer beber alcohol azúcar sal carne músculo diabetes diabétic[oa] celíac[oa] colesterol intolerante? tensión lactosa gluten cafeína",
    ),
    "money": _theme(
        "comprar compra precios? cuesta barat[oa]s? car[oa]s? pagar regalos? rebajas ofertas? ordenador portátil móvil cámara zapatos vestido hoteles? hotel vuelos? billetes? entradas viajes? vacaciones alquiler suscripci[oó]n",
        "dinero deudas? préstamo hipoteca gastos? gastar casa piso ahorr\\w+ presupuesto",
    ),
    "body": _theme(
        "gimnasio ejercicio correr caminata senderismo caminar escalar nadar piscina playa lago mar barco kayak esquiar esquí bici bicicleta deportes? bailar baile yoga paracaídas vuelo avión torre puente balcón cansad[oa] enferm[oa] médic[oa] medicinas? pastillas?",
        "maratón triatlón peso forma músculo ejercicio activ[oa]",
    ),
    "smoke": _theme("fumar fumo cigarrillos? tabaco vapear puros? fiesta bar", "fumar cigarrillos nicotina tabaco asma"),
    "time": _theme(
        "finde sábado domingo planes fiesta películas? series? juegos aburrid[oa] tiempo\\slibre horario trasnochar", "aprender aprobar examen carrera tesis dormir leer escribir pantallas"
    ),
}  # fmt: skip

VALUES: Final = Values(
    leading=r"(?:a mí |a él |a ella |al usuario )?(?:me|le|nos) (?:gustan?|encantan?|apasionan?|fascinan?) (?:mucho |muchísimo )?(?=\S)|(?:adoro|adora|soy fan de|es fan de) (?=\S)",
    subject=r"(?:yo soy|soy|él es|ella es|el usuario es) (?!no\b)(?=\S)",
    articles=frozenset({"un", "una"}),
    dropped=frozenset("el los las su sus mi mis nuestro nuestra muy bastante".split()),
    conjunctions=frozenset({"y"}),
    yes=frozenset({"sí", "verdadero", "cierto"}),
    no=frozenset({"falso"}),
    naming=frozenset({"llamado", "llamada"}),
)

SECRETS: Final = SecretWords(
    password=r"contraseñas? | clave",
    key=r"(?: clave | llave )\ (?: de\ api | api | secreta | privada | de\ acceso ) | token\ de\ acceso",
    equals=r"\s{1,4} (?: es | era ) \s{1,4}",
    hints=("contraseña", "clave"),
)
