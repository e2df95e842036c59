"""Verbs of events and plans, and how somebody else tells what the speaker says of themselves."""

# ruff: noqa: E501  (a table is read in one piece)

from __future__ import annotations

from typing import Final

_REGULAR: Final = (
    "comprar vender adoptar alquilar terminar acabar empezar comenzar dejar visitar viajar ganar cambiar aprobar suspender"
    " graduar firmar reservar celebrar organizar participar plantar cocinar pintar lanzar montar publicar estrenar probar"
    " encontrar solicitar renunciar jubilar mudar casar divorciar apuntar separar instalar comprometer quedar operar lesionar"
    " romper perder correr conocer nacer recorrer recoger aprender vender meter recibir escribir abrir subir asistir salir"
    " cumplir descubrir inscribir matricular sacar tomar llevar regalar arreglar reparar ahorrar pasar llegar regresar volver"
    " trabajar estudiar enseñar fundar crear presentar defender invertir construir conseguir seguir"
).split()
_IRREGULAR: Final = {
    "fui": "fue", "hice": "hizo", "tuve": "tuvo", "estuve": "estuvo", "vine": "vino", "di": "dio", "vi": "vio", "leí": "leyó",
    "me caí": "se cayó", "construí": "construyó", "conseguí": "consiguió", "seguí": "siguió", "empecé": "empezó",
    "comencé": "comenzó", "saqué": "sacó", "toqué": "tocó", "llegué": "llegó", "jugué": "jugó", "renuncié": "renunció",
    "me inscribí": "se inscribió", "me fui": "se fue", "me hice": "se hizo", "me puse": "se puso", "invertí": "invirtió",
}  # fmt: skip
_PARTICIPLES: Final = {
    "romper": "roto", "escribir": "escrito", "abrir": "abierto", "descubrir": "descubierto", "inscribir": "inscrito",
    "volver": "vuelto", "hacer": "hecho", "ver": "visto", "leer": "leído", "construir": "construido",
}  # fmt: skip
_SPARE: Final = frozenset({"empezar", "comenzar", "sacar", "conseguir", "seguir", "construir", "llegar", "invertir"})


def _first(infinitive: str) -> tuple[str, str]:
    """The past of the first and of the third person: "compré", "compró"."""
    stem = infinitive[:-2]
    if infinitive.endswith("ar"):
        own = stem[:-1] + "qu" if stem.endswith("c") else stem + "u" if stem.endswith("g") else stem
        own = stem[:-1] + "c" if stem.endswith("z") else own
        return own + "é", stem + "ó"
    return stem + "í", stem + "ió"


PAST: Final = _IRREGULAR | dict(_first(verb) for verb in _REGULAR if verb not in _SPARE)
"""What somebody did, in the first person, with the third."""
PARTICIPLES: Final = (
    *(_PARTICIPLES.get(verb, verb[:-2] + ("ado" if verb.endswith("ar") else "ido")) for verb in _REGULAR),
    "ido", "hecho", "visto", "leído", "estado",
)  # fmt: skip
TO_DO: Final = (
    *_REGULAR, "ir a", "hacer un", "hacer una", "hacer el", "hacer la", "ver a", "tener un", "tener una", "llevar a", "pasar",
    "invitar", "recoger", "leer", "irme", "mudarme", "mudarnos", "casarme", "casarnos", "apuntarme", "matricularme",
    "inscribirme", "comprarme", "operarme", "sacarme", "jubilarme", "tomarme", "instalarme", "irnos", "quedarme", "dejar de",
)  # fmt: skip
"""Infinitives of what somebody plans."""
HABITS: Final = {
    "corro": "corre", "voy": "va", "nado": "nada", "como": "come", "juego": "juega", "camino": "camina", "canto": "canta",
    "bailo": "baila", "cocino": "cocina", "medito": "medita", "trabajo": "trabaja", "pedaleo": "pedalea", "leo": "lee",
    "escribo": "escribe", "hago": "hace", "entreno": "entrena", "llamo": "llama", "visito": "visita", "doy": "da",
    "tomo": "toma", "bebo": "bebe", "salgo": "sale", "duermo": "duerme", "ceno": "cena", "desayuno": "desayuna",
    "estudio": "estudia", "practico": "practica", "ensayo": "ensaya", "paseo": "pasea",
}  # fmt: skip
"""What somebody does again and again, in the first person, with the third."""
