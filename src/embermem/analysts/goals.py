"""What counts as a goal, in English and Chinese: things that are wanted for weeks, not for tonight.

"I want to …" is mostly a wish of the moment. So goals are listed: what is not here is not taken for one.
"""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re

from embermem.analysts.lexicon import words

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

_GOAL = re.compile(
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
_BECOME = re.compile(
    r"become an? ((?:[A-Za-z-]+ ){0,2}[A-Za-z-]+)(?=\s*(?:[,.;!)]|$)|\s+(?:and|but|so|because|in|at|by)\b)"
)

_MOMENT = re.compile(
    r"\b(?:tonight|today|tomorrow|right now|for once|yesterday|this (?:time|morning|afternoon|evening|weekend)|in a (?:sec|second|minute|bit|moment))\b",
    re.IGNORECASE,
)
_WAVERS = re.compile(
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
        if match is None or match[1].lower().split()[-1] not in words("occupations_en"):
            return None
    return of_them(match.group()), match.end()


def lasting(sentence: str) -> bool:
    """Whether nothing in the sentence makes it a matter of today, or doubtful."""
    return _MOMENT.search(sentence) is None and _WAVERS.search(sentence) is None


def of_them(value: str) -> str:
    """ "improve my French" as it is told of somebody: "improve their French"."""
    return re.sub(r"\b(?:my|our)\b", "their", value)


# ------------------------------------------------------------------------------------------------------ Chinese

EXAM_ZH = r"(?:考研|考公|考博|高考|中考|期末考试|期末|雅思|托福|公务员考试|公务员|研究生|四六级|四级|六级|司法考试|法考|教资|注会|驾照考试|考试)"
_LANGUAGES_ZH = r"(?:英语|日语|法语|德语|韩语|西班牙语|意大利语|俄语|粤语|普通话)"
GOAL_ZH = (
    r"(?:减肥|减重|减脂|瘦身|瘦下来|变瘦|(?:瘦|减)(?:\d+|[一二三四五六七八九十]{1,3})(?:斤|公斤)|增重|增肌|塑形|练出(?:腹肌|马甲线)|戒(?:掉)?(?:烟|酒|糖|咖啡|奶茶|赌|甜食|可乐)|控糖|控制(?:饮食|体重|血糖|血压|花销)"
    r"|少(?:吃|喝)(?:甜食|糖|肉|油炸食品|外卖|辣|盐|酒|咖啡|奶茶|可乐)|多(?:运动|锻炼|喝水|吃蔬菜)|早睡早起|早睡|早起|备孕|要(?:个)?孩子|生(?:个)?孩子"
    rf"|(?:考(?!虑|完|砸|过|试))(?:研|公|博|上[一-鿿]{{2,8}}|雅思|托福|驾照|公务员|教师资格证|教资|注会|法考|研究生)|(?:学好|学会|提高|练好)(?:自己的)?(?:{_LANGUAGES_ZH}|游泳|开车|做饭|弹钢琴|弹吉他|口语)(?:水平|能力)?"
    r"|(?:存钱|攒钱)(?:买房|买车|旅行|留学|结婚)?|省钱|买房|还清(?:贷款|房贷|债|债务)|换工作|转行|创业|(?:出国)?留学|跑(?:完)?(?:一次|一场|一个)?(?:全程|半程)?(?:马拉松|半马|全马)|写(?:一本|一部)?(?:小说|书))"
)  # fmt: skip
"""What is wanted for weeks, as it stands after 我想, 我要, 我在 …"""
_TODAY_ZH = re.compile(r"今晚|今天|今早|明天|明早|后天|这会儿|这次|一会儿|马上|待会|周末|下午|晚上|昨天")
_WAVERS_ZH = re.compile(r"放弃|算了|失败|没成|又不|不知道|再说|随便|不想|不打算")


def lasting_zh(sentence: str) -> bool:
    """Whether nothing in the sentence makes a goal a matter of today, or doubtful."""
    return _TODAY_ZH.search(sentence) is None and _WAVERS_ZH.search(sentence) is None
