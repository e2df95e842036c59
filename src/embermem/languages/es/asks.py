"""What asks for a fact: for each attribute the words of a question that it answers, in lower case."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

from typing import Final

ASKS: Final = {
    "name": r"\bcómo (?:me llamo|se llama)\b|\b(?:mi|su) nombre\b|\bquién soy\b", "age": r"\bcuántos años (?:tengo|tiene)\b|\b(?:mi|su) edad\b",
    "birthday": r"\bcumpleaños\b|\bnac(?:í|ió|ido|ida)\b", "birth_year": r"\bcuántos años (?:tengo|tiene)\b|\bnac(?:í|ió)\b",
    "lives_in": r"\bdónde\b.{0,25}\b(?:viv\w*|resid\w*)\b|\b(?:mi|su) (?:dirección|casa)\b|\bqué ciudad\b", "comes_from": r"\bde dónde\b",
    "grew_up_in": r"\bcrec(?:í|ió)\b|\binfancia\b|\bcri(?:é|ó)\b", "nationality": r"\bnacionalidad\b|\bde dónde\b",
    "works_as": r"\bprofesión\b|\boficio\b|\ba qué (?:me|se) dedi\w*\b|\bde qué trabaj\w*\b|\b(?:qué|mi|su) trabajo\b", "works_at": r"\bdónde\b.{0,25}\btrabaj\w*\b|\bempresa\b|\bpara quién\b",
    "works_in": r"\bqué (?:sector|campo)\b|\bdedic\w*\b", "studies": r"\bestudi(?:o|a|as|ar|ando)\b|\bcarrera\b|\bmáster\b", "studies_at": r"\bdónde\b.{0,25}\bestudi\w*\b|\buniversidad\b|\bescuela\b|\binstituto\b",
    "graduated_from": r"\btítulo\b|\bgradu\w+\b", "education": r"\btítulo\b|\bformación\b", "marital_status": r"\bcasad[oa]s?\b|\bsolter[oa]\b|\bdivorciad[oa]\b|\bestado civil\b",
    "native_language": r"\b(?:lengua|idioma) matern[oa]\b", "speaks": r"\b(?:idiomas?|lenguas?)\b.{0,20}\bhabl\w*\b|\bqué idiomas\b", "learns": r"\baprend\w*\b",
    "diet": r"\bdieta\b|\bvegetarian[oa]\b|\bvegan[oa]\b", "allergic_to": r"\balergi\w*\b|\balérgic\w*\b", "has_condition": r"\benfermedad\b|\bsalud\b|\bdiagn\w+\b",
    "has_pet": r"\b(?:mascotas?|animal|animales|perr[oa]s?|gat[oa]s?)\b",
    "has_relative": r"\b(?:quién|quiénes|cuántos|cuántas|cómo)\b.{0,30}\b(?:familia|herman[oa]s?|padres?|madre|hij[oa]s?|marido|mujer|esposo|esposa|pareja)\b",
    "knows": r"\bquién(?:es)? (?:es|son)\b.{0,20}\b(?:amig[oa]s?|compañer[oa]s?|jefe|jefa)\b", "hobby": r"\baficion(?:es)?\b|\bafición\b|\bpasatiempos?\b|\btiempo libre\b|\bhobb(?:y|ies)\b",
    "plays": r"\binstrumentos?\b|\bdeportes?\b|\bjueg[oa]s?\b|\btoc[oa]\b", "collects": r"\bcoleccion\w*\b", "drives": r"\bcoche\b|\bcarro\b|\bconduc\w*\b|\bconduzco\b", "afraid_of": r"\bmiedos?\b|\bfobias?\b",
    "religion": r"\breligi\w+\b|\bcreyente\b", "height": r"\bmid[eo]\b|\bestatura\b|\baltura\b", "phone": r"\bnúmero de (?:teléfono|móvil|celular)\b|\bmi (?:número|teléfono|móvil)\b",
    "email": r"\bcorreo\b|\be-?mail\b", "budget": r"\bpresupuesto\b",
}  # fmt: skip
