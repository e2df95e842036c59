"""What asks for a fact: for each attribute the words of a question that it answers, in lower case."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

from typing import Final

ASKS: Final = {
    "name": r"\b(?:my|\w+'s) (?:full |first |last |real )?name\b|\bwhat (?:am i|is \w+) called\b|\bwho am i\b",
    "age": r"\bhow old\b|\b(?:my|\w+'s) age\b",
    "birthday": r"\bbirthday\b|\bborn\b",
    "birth_year": r"\bhow old\b|\bborn\b",
    "lives_in": r"\bwhere\b.{0,20}\b(?:live|living|home|based)\b|\b(?:my|\w+'s) (?:home|address|city|town)\b|\bwhich city\b",
    "comes_from": r"\bwhere\b.{0,20}\bfrom\b|\bhome ?town\b",
    "grew_up_in": r"\b(?:grow|grew) up\b|\bhome ?town\b|\bchildhood\b",
    "nationality": r"\bnationality\b|\bwhere\b.{0,20}\bfrom\b",
    "works_as": r"\bjob\b|\bprofession\b|\boccupation\b|\bfor a living\b|\bwork as\b|\bwhat do(?:es)? (?:i|\w+) do\b",
    "works_at": r"\bwhere\b.{0,20}\bwork\b|\bemployer\b|\bcompany\b|\bjob\b",
    "works_in": r"\bjob\b|\bwhich (?:field|industry)\b",
    "studies": r"\bstud(?:y|ies|ying)\b|\bmajor\b|\bdegree\b|\bsubject\b",
    "studies_at": r"\bwhere\b.{0,20}\bstud(?:y|ies|ying)\b|\bschool\b|\buniversity\b|\bcollege\b",
    "graduated_from": r"\bgraduate[sd]?\b|\buniversity\b|\bcollege\b|\bdegree\b",
    "education": r"\bdegree\b|\beducation\b|\bqualification\b",
    "marital_status": r"\bmarried\b|\bsingle\b|\bdivorced\b|\brelationship status\b|\bengaged\b",
    "native_language": r"\b(?:native|first) language\b|\bmother tongue\b",
    "speaks": r"\blanguages?\b.{0,20}\bspeak\b|\bspeak\b.{0,20}\blanguages?\b",
    "learns": r"\blearning\b",
    "diet": r"\bdiet\b|\bvegetarian\b|\bvegan\b",
    "allergic_to": r"\ballerg\w+\b",
    "has_condition": r"\bcondition\b|\billness\b|\bdisease\b|\bhealth\b|\bdiagnos\w+\b",
    "has_pet": r"\b(?:do|does|have|has|any|how many|which|what|name)\b.{0,30}\b(?:pets?|animals?|dogs?|cats?)\b",
    "has_relative": r"\b(?:do|does|did|have|has|how many|who(?:'s| is| are)|name|names|about)\b.{0,30}\b(?:family|relatives?|siblings?|sisters?|brothers?"
    r"|parents?|kids?|children|sons?|daughters?|husband|wife|partner)\b(?!'s)\W*(?:$|\b(?:do|does|have|has|called|named)\b)",
    "knows": r"\bwho (?:is|are)\b.{0,20}\b(?:friends?|colleagues?|boss)\b",
    "hobby": r"\bhobb(?:y|ies)\b|\bfree time\b",
    "plays": r"\binstruments?\b|\bsports?\b|\bplay\b",
    "collects": r"\bcollect\w*\b",
    "drives": r"\bcar\b|\bdrive\b|\bvehicle\b",
    "afraid_of": r"\bafraid\b|\bscared\b|\bphobia\b|\bfears?\b",
    "religion": r"\breligio\w+\b|\bfaith\b",
    "height": r"\bhow tall\b|\bheight\b",
    "phone": r"\bphone number\b|\bmy number\b",
    "email": r"\be-?mail address\b",
    "budget": r"\bbudget\b",
}  # fmt: skip
