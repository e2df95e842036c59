"""What asks for a fact: for each attribute the words of a question that it answers, in lower case."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

from typing import Final

ASKS: Final = {
    "name": r"\bwie heiß(?:e|t)\b|\b(?:mein|sein|ihr) (?:vor|nach)?name\b|\bwer bin ich\b", "age": r"\bwie alt\b|\b(?:mein|sein|ihr) alter\b",
    "birthday": r"\bgeburtstag\b|\bgeboren\b", "birth_year": r"\bwie alt\b|\bgeboren\b", "lives_in": r"\bwo\b.{0,25}\b(?:wohn\w*|leb\w*)\b|\b(?:meine|seine|ihre) adresse\b|\bwelcher stadt\b",
    "comes_from": r"\bwoher\b|\bheimat\w*\b", "grew_up_in": r"\baufgewachsen\b|\bkindheit\b", "nationality": r"\bstaatsangehörigkeit\b|\bnationalität\b|\bwoher\b",
    "works_as": r"\bberuf\w*\b|\bals was\b|\bwas mach(?:e|t) .{0,20}beruflich\b|\bjob\b", "works_at": r"\bwo\b.{0,25}\barbeit\w*\b|\bbei wem\b|\barbeitgeber\b|\bfirma\b", "works_in": r"\bbranche\b|\bbereich\b",
    "studies": r"\bstudi(?:ere|ert|um|erst)\b|\bausbildung\b", "studies_at": r"\bwo\b.{0,25}\bstudi\w*\b|\buni\b|\buniversität\b|\bhochschule\b|\bschule\b", "graduated_from": r"\babschluss\b", "education": r"\babschluss\b|\bausbildung\b",
    "marital_status": r"\bverheiratet\b|\bledig\b|\bgeschieden\b|\bfamilienstand\b", "native_language": r"\bmuttersprache\b", "speaks": r"\bwelche sprachen?\b|\bsprachen?\b.{0,20}\bsprech\w*\b", "learns": r"\blern(?:e|t|st)\b",
    "diet": r"\bernähr\w*\b|\bvegetari\w*\b|\bvegan\w*\b|\bdiät\b", "allergic_to": r"\ballergi\w*\b|\w+allergie\b", "has_condition": r"\bkrankheit\w*\b|\bgesundheit\w*\b|\bdiagnos\w*\b", "has_pet": r"\b(?:haustiere?|tiere?|hunde?|katzen?)\b",
    "has_relative": r"\b(?:wer|wie viele|wie|welche)\b.{0,30}\b(?:familie|geschwister|brüder|bruder|schwestern?|eltern|kinder|sohn|söhne|tochter|töchter|mann|frau|partner(?:in)?)\b", "knows": r"\bwer (?:ist|sind)\b.{0,20}\b(?:freunde?|freundin(?:nen)?|kolleg\w+|chef(?:in)?)\b",
    "hobby": r"\bhobbys?\b|\bfreizeit\b", "plays": r"\binstrumente?\b|\bsport(?:art)?\b|\bspiel(?:e|t|st)\b", "collects": r"\bsamm?[e]?l\w*\b", "drives": r"\bauto\b|\bfahr(?:e|t) .{0,20}(?:auto|wagen)\b", "afraid_of": r"\bangst\b|\bphobien?\b",
    "religion": r"\breligion\b|\bgläubig\b", "height": r"\bwie groß\b|\bkörpergröße\b", "phone": r"\btelefonnummer\b|\bhandynummer\b|\bmeine nummer\b", "email": r"\be-?mail\b|\bmailadresse\b", "budget": r"\bbudget\b",
}  # fmt: skip
