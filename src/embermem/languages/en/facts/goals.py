"""What counts as a goal: things that are wanted for weeks, not for tonight.

"I want to …" is mostly a wish of the moment. So goals are listed: what is not here is not taken for one.
"""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re

from embermem.core.patterns import regex
from embermem.languages.language import words_of

FOODS = (
    r"(?:(?:red|raw|processed|fried|fast|junk|spicy|sugary|salty|greasy) (?:meat|fish|food|foods|drinks|snacks)|alcohol|meat|pork|beef|chicken|lamb|fish|seafood|shellfish|shrimp|dairy|milk|cheese"
    r"|lactose|gluten|wheat|bread|carbs|sugar|sweets|chocolate|salt|eggs?|peanuts|nuts(?! and bolts)|tree nuts|soy|sesame|coffee|caffeine|soda|fizzy drinks|energy drinks|grapefruit)"
)
"""What people leave out for good; the longer first."""
HABITS = r"(?:smoking|drinking(?: alcohol)?|vaping|gambling|snacking|procrastinating|cigarettes|nicotine|social media|biting my nails)"

_LANGUAGES = r"(?:English|French|German|Spanish|Italian|Portuguese|Mandarin|Cantonese|Chinese|Japanese|Korean|Russian|Arabic|Hindi|Turkish|Dutch|Swedish|Norwegian|Danish|Finnish|Polish|Czech|Greek|Hebrew|Vietnamese|Thai|sign language)"
_SKILLS = r"(?:the )?(?:piano|violin|guitar|cello|drums|flute|saxophone|chess|tennis|golf|programming|coding|yoga|pottery|photography)"
_DOING = r"(?:swim|drive|cook|bake|code|program|dance|sing|ski|surf|sail|draw|paint|knit|sew|dive|skate|ride a (?:bike|horse|motorbike)|read music|play (?:the )?(?:piano|violin|guitar|cello|drums|flute|saxophone|chess|tennis|golf))"
_MUCH = r"(?:\d+|five|six|seven|eight|ten|fifteen|twenty|thirty|a few|a couple of|some)"
_MINE = r"(?:(?:written|spoken) )?(?:health|fitness|diet|posture|sleep|grades|stamina|eating habits|sleeping habits|mental health|credit score|public speaking|social skills|handwriting|memory)"

_GOAL = regex(
    "(?:"
    + "|".join((
        # body
        rf"(?:lose|drop|shed) (?:(?:some|more|a bit of|a little|the extra|extra) )?(?:weight|belly fat|{_MUCH} ?(?:more |extra )?(?:kilos?|kgs?|pounds|lbs|stone))",
        r"(?:gain|put on|build) (?:some |more )?(?:weight|muscle)(?: mass)?",
        r"(?:get|become|be|stay) (?:a (?:bit|little) |much )?(?:slimmer|slim|thinner|leaner|fit|fitter|healthier|stronger|sober|(?:back )?in (?:better )?shape"
        r"|more (?:active|flexible|organi[sz]ed|patient|disciplined|productive|confident|independent))",
        r"slim down|bulk up|tone up",
        rf"eat (?:healthier|healthily|healthy|clean|better|less(?: {FOODS})?|more (?:vegetables|veggies|fruit|greens|protein|fib(?:re|er)))",
        rf"drink (?:less(?: {FOODS})?|more water)",
        r"sleep (?:better|more|earlier)|(?:go to bed|get up|wake up) earlier|get (?:more|better) sleep",
        r"(?:exercise|work ?out|train|read|meditate) (?:more(?: often)?|regularly|every day|daily)",
        rf"(?:cut down on|cut back on|cut out|give up|quit|stop eating|stop drinking|eat less|avoid|stay off|stay away from) (?:{FOODS}|{HABITS})",
        rf"stop {HABITS}",
        r"(?:lower|reduce|control|manage|watch) my (?:cholesterol|blood pressure|blood sugar|weight|stress|anxiety|screen time|spending|(?:sugar|salt|calorie) intake)",
        r"have (?:a baby|children|kids)|get pregnant|start a family|adopt a child",
        # learning and work
        rf"learn (?:(?:how )?to {_DOING}|{_LANGUAGES}|{_SKILLS})",
        rf"(?:become|get) fluent in {_LANGUAGES}",
        rf"(?:improve|work on|brush up on|brush up|practi[sc]e) my (?:{_LANGUAGES}|{_MINE})",
        rf"get better at (?:{_LANGUAGES}|{_SKILLS}|running|swimming|cooking|writing|public speaking|small talk|saying no|managing my (?:time|money))",
        r"pass (?:the|my|an?) (?:[\w'-]+ ){0,2}(?:exams?|test|finals|bar)",
        r"get into (?:college|university|grad(?:uate)? school|med(?:ical)? school|law school|art school)",
        r"(?:finish|complete|get) my (?:degree|thesis|dissertation|PhD|master's(?: degree)?|bachelor's(?: degree)?|novel|book|driver'?s licen[sc]e|driving licen[sc]e)",
        r"(?:write|publish) (?:a|my(?: own| first)?) (?:book|novel|memoir|cookbook|children's book)",
        r"(?:start|open|run) (?:my own|our own|a small) (?:business|company|bakery|restaurant|shop|cafe|café|practice|studio|farm|blog|podcast)|start a (?:business|company)",
        r"(?:change|switch) careers?|(?:find|get) a (?:new|better) job|get (?:promoted|a promotion)|retire early",
        # money, sport, time
        r"save (?:up )?(?:more )?money|save up|spend less(?: money| time (?:online|on (?:my phone|social media)))?|get out of debt|stick to (?:my|a) budget",
        r"pay off my (?:debts?|(?:student |car )?loans?|mortgage|credit cards?)|buy (?:a|my(?: own| first)|our(?: own| first)) (?:house|home|flat|apartment)",
        r"(?:run|finish|complete|do) (?:a|the|my first) (?:(?:half|full|[A-Z]\w+) )?(?:marathon|triathlon|ultramarathon|10k|5k|ironman)",
        r"spend more time (?:with my \w+|outside|outdoors)",
    ))
    + ")"
    + r"(?: (?:by|before) (?:(?:the|my|our|this) )?(?:end of (?:the |this )?)?[A-Za-z0-9]+)?"
    + r"(?=\s*(?:[,.;!)…—–-]|$)|\s+(?:and|but|so|because|since|as|for|this|next|in|again|too|now|soon|through|while|without|after|these|any|anymore|lately|badly|a bit|a little|instead|to|at work)\b)"
)  # fmt: skip
_BECOME = regex(r"become an? ((?:[A-Za-z-]+ ){0,2}[A-Za-z-]+)(?=\s*(?:[,.;!)]|$)|\s+(?:and|but|so|because|in|at|by)\b)")

_MOMENT = regex(
    r"\b(?:tonight|today|tomorrow|right now|for once|yesterday|this (?:time|morning|afternoon|evening|weekend)|in a (?:sec|second|minute|bit|moment))\b",
    re.IGNORECASE,
)
_WAVERS = regex(
    r"\b(?:maybe|perhaps|possibly|someday|some day|one day|eventually|(?:i|we) (?:guess|suppose)|not sure|(?:don't|do not) know (?:if|whether)|haven't decided|changed my mind|never ?mind"
    r"|forget (?:it|that)|gave up|given up on|giving up on|gives? up on|never will|won't|no longer|any ?more|any longer|used to|last (?:week|month|year)|years ago|theoretically|half[- ]heartedly"
    r"|in (?:the|a|this) (?:game|movie|film|dream|story))\b",
    re.IGNORECASE,
)  # fmt: skip
"""Who says this in one sentence with a goal does not have it, or not surely."""


def goal(sentence: str, pos: int) -> tuple[str, int] | None:
    """A goal at a position, as (value, end); None where it is not one, is wavered about, or is for today only."""
    found = named_goal(sentence, pos)
    if found is None or _MOMENT.search(sentence) or _WAVERS.search(sentence):
        return None
    return found


def named_goal(sentence: str, pos: int) -> tuple[str, int] | None:
    """The same for what is given up: whatever else the sentence says."""
    match = _GOAL.match(sentence, pos)
    if match is None:
        match = _BECOME.match(sentence, pos)
        if match is None or match[1].lower().split()[-1] not in words_of("en", "occupations"):
            return None
    return of_them(match.group()), match.end()


def lasting(sentence: str) -> bool:
    """Whether nothing in the sentence makes it a matter of today, or doubtful."""
    return _MOMENT.search(sentence) is None and _WAVERS.search(sentence) is None


def of_them(value: str) -> str:
    """ "improve my French" as it is told of somebody: "improve their French"."""
    return re.sub(r"\b(?:my|our)\b", "their", value)
