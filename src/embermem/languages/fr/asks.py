"""What asks for a fact: for each attribute the words of a question that it answers, in lower case."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

from typing import Final

ASKS: Final = {
    "name": r"\bcomment (?:je m'appelle|s'appelle|m'appell|t'appell)|\b(?:mon|son) (?:pré)?nom\b|\bqui suis-je\b",
    "age": r"\bquel âge\b|\b(?:mon|son) âge\b", "birthday": r"\banniversaire\b|\bnée?\b", "birth_year": r"\bquel âge\b|\bnée?\b",
    "lives_in": r"\boù\b.{0,25}\b(?:habit\w*|vi[st]|vivons|vivent|résid\w*)\b|\b(?:mon|son) adresse\b|\bquelle ville\b",
    "comes_from": r"\bd'où\b|\boriginaire\b", "grew_up_in": r"\bgrandi\b|\benfance\b", "nationality": r"\bnationalité\b|\bd'où\b",
    "works_as": r"\bmétier\b|\bprofession\b|\bdans la vie\b|\btravaille\b.{0,15}\bcomme quoi\b|\bboulot\b|\b(?:quel|mon|son) travail\b",
    "works_at": r"\boù\b.{0,25}\btravaill\w*\b|\bemployeur\b|\bentreprise\b|\bchez qui\b", "works_in": r"\bquel (?:domaine|secteur)\b",
    "studies": r"\bétud(?:e|es|ie|ies|ier)\b|\bmaster\b|\blicence\b", "studies_at": r"\boù\b.{0,25}\bétud\w*\b|\buniversité\b|\bécole\b|\bfac\b",
    "graduated_from": r"\bdiplôme\b|\buniversité\b", "education": r"\bdiplôme\b|\bformation\b",
    "marital_status": r"\bmariée?s?\b|\bcélibataire\b|\bdivorcée?\b|\ben couple\b|\bsituation (?:amoureuse|familiale)\b",
    "native_language": r"\blangue maternelle\b", "speaks": r"\bquelles? langues?\b|\blangues\b.{0,20}\bparl\w*\b", "learns": r"\bapprend\w*\b",
    "diet": r"\brégime\b|\bvégétarien\w*\b|\bvégane?\b", "allergic_to": r"\ballergi\w*\b", "has_condition": r"\bmaladie\b|\bsanté\b|\bdiagnosti\w+\b",
    "has_pet": r"\b(?:animal|animaux|chiens?|chats?)\b",
    "has_relative": r"\b(?:qui|combien|quels?|comment|quelle)\b.{0,30}\b(?:famille|frères?|sœurs?|soeurs?|parents?|enfants?|fils|filles?|mari|femme|conjointe?)\b",
    "knows": r"\bqui (?:est|sont)\b.{0,20}\b(?:amis?|amies?|collègues?|patron)\b", "hobby": r"\bloisirs?\b|\bpasse-temps\b|\btemps libre\b|\bhobby\b",
    "plays": r"\binstruments?\b|\bsports?\b|\bjoue\b", "collects": r"\bcollection\w*\b", "drives": r"\bvoiture\b|\bconduis?t?\b", "afraid_of": r"\bpeur\b|\bphobies?\b",
    "religion": r"\breligion\b|\bcroyante?\b", "height": r"\bmesure\b|\bquelle taille\b", "phone": r"\bnuméro\b.{0,15}\b(?:téléphone|portable)\b|\bmon numéro\b",
    "email": r"\badresse (?:mail|e-?mail)\b|\bmon (?:mail|e-?mail)\b", "budget": r"\bbudget\b",
}  # fmt: skip
