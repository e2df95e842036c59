"""What asks for a fact: for each attribute the words of a question that it answers, in lower case; and questions of each
theme on which goals and limits bear."""

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
THEME_EXAMPLES: Final = {
    "food": (
        "What should I eat?", "a recipe to cook for dinner", "a restaurant and its menu", "a snack or dessert",
        "food and drink for a party",
    ),
    "money": ("how much something costs", "buying something new", "a cheap trip or hotel", "saving money"),
    "body": ("sport and exercise", "a hike or a swim", "going to the doctor", "health and medicine"),
    "smoke": ("smoking a cigarette",),
    "time": ("plans for the weekend", "how to use my time"),
    "travel": ("where to go on holiday", "planning a trip", "a hotel or a place to stay", "how to get there"),
    "gifts": ("a present for somebody's birthday", "what to give somebody for Christmas"),
    "media": ("a book to read", "a film or series to watch", "music to listen to", "a game to play"),
    "home": ("furnishing a room", "looking for a flat", "a plant for the garden", "decorating the house"),
    "work": ("looking for a job", "how to do my work", "a course to take", "writing a text or a speech"),
    "company": ("an evening out with friends", "organising a party", "a date with somebody"),
}  # fmt: skip

THEME_STATEMENTS: Final = {
    "food": (
        "I'm allergic to peanuts.", "My sister doesn't eat meat.", "I love spicy food.", "I can't stand mushrooms.",
        "Wine gives me a headache.", "Milk does not agree with me.", "He keeps kosher.", "I'm cutting down on sugar.",
    ),
    "money": ("I can't afford more than a hundred.", "We have a small budget.", "We are saving for a house."),
    "body": (
        "My back hurts when I run.", "The doctor says that I must not lift anything heavy.", "I hate the gym.",
        "I enjoy swimming.", "I'm afraid of heights.", "He is in a wheelchair.",
    ),
    "smoke": ("I stopped smoking.",),
    "time": ("I never have time on Mondays.", "I like to be in bed by ten.", "I prefer quiet weekends."),
    "travel": (
        "I'd love to go to the mountains.", "I don't like flying.", "I prefer small hotels by the sea.", "I get carsick.",
        "The dog has to come along.", "I want to see the northern lights.",
    ),
    "gifts": (
        "She has always wanted a telescope.", "He collects old maps.", "Please, no more scented candles.",
        "My mother loves gardening.", "He doesn't wear jewellery.",
    ),
    "media": (
        "I love crime novels.", "I can't watch horror films.", "My favourite music is jazz.", "I hate sad endings.",
        "I don't have patience for long books.",
    ),
    "home": ("I want a bright room with a balcony.", "I can't stand clutter.", "I like wood and warm colours."),
    "work": (
        "I don't want to work at weekends.", "I'd rather work from home.", "I concentrate best in the morning.",
        "Keep it short and without jokes.",
    ),
    "company": ("He hates loud places.", "I don't like crowds.", "She doesn't drink alcohol.", "I love to dance."),
}  # fmt: skip
