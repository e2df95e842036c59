"""Goals: what is wanted, prepared, saved for, given up."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from typing import Final

from embermem.core.patterns import regex
from embermem.languages.en.facts.goals import FOODS, HABITS, goal, named_goal
from embermem.languages.en.facts.phrases import ADV, ANY_MORE, FIRM, read_lasting, read_nothing, rule
from embermem.languages.facts.rules import Value

_LEFT_OUT = regex(
    rf"(?:{FOODS}|{HABITS})(?=\s*(?:[,.;!)]|$)|\s+(?:and|but|because|so|for good|completely|entirely|since)\b)"
)
_MONEY = r"(?:[$€£¥] ?\d[\d,.]*\d?k?|\d[\d,.]*k? ?(?:euros?|dollars|bucks|pounds|yuan|yen|francs|kronor|rupees|EUR|USD|GBP|CNY|RMB|€|\$|£))"
_EACH = r"(?: (?:a|per|each) (?:day|week|month|year|person))?"
_TEST = (
    r"(?:[A-Za-z'-]+ ){0,2}?(?:exams?|finals|midterms|driving test|bar(?: exam)?|SATs?|GRE|GMAT|LSAT|MCAT|TOEFL|IELTS|HSK|JLPT|A-levels|certification|citizenship test"
    r"|marathon|half[- ]marathon|triathlon|ultramarathon|ironman|10k|5k)"
)
_TEST_END = regex(
    rf"(?:(?:my|the|an?|our) )?(?P<v>(?!(?:next|last|today|imaginary|fake|mock)\b){_TEST})(?=\s*(?:[,.;!)]|$)|\s+(?:and|but|so|in|next|this|at|right|because|with|since|these|now)\b)"
)
_SAVED_FOR = regex(
    r"(?P<v>(?:retirement|college|university|(?:an?|my|our|the) (?:(?:new|own|first|big|better|used|second|trip|dream) ){0,2}(?:house|home|flat|apartment|car|bike|motorbike|laptop|computer|phone|camera|wedding|honeymoon|holiday|vacation|trip|boat|van|guitar|piano|business|deposit|down payment|degree|education)(?: (?:to|in) [A-Z]\w+)?))"
    r"(?=\s*(?:[,.;!)]|$)|\s+(?:and|but|so|because|in|next|with|now|this)\b)"
)
_DIET_NAMED = regex(
    r"an? (?P<v>(?:(?:strict|very|new|special|restricted) )?(?:(?:(?:low|high)[- ](?:carb|fat|sodium|salt|sugar|calorie|fodmap|protein|fib(?:re|er))|keto(?:genic)?|paleo|mediterranean|vegan|vegetarian|gluten[- ]free|dairy[- ]free|sugar[- ]free|diabetic|liquid|renal|dash) )?diet)\b"
    r"(?=\s*(?:[,.;!)]|$)|\s+(?:and|but|so|because|since|to|for|now|right|these|at the moment|this)\b)",
    re.IGNORECASE,
)

_SUM = regex(rf"{_MONEY}{_EACH}(?=\s*(?:[,.;!)]|$)|\s+(?:and|but|so|because|at most|max|in total)\b)")
_QUIT = regex(
    rf"(?P<v>quit {HABITS})(?=\s*(?:[.;!]|$)|\s+(?:for good|last|in \d|two|three|a few|\d+|years|completely|and I feel)\b)"
)


def _read_test(sentence: str, pos: int) -> Value | None:
    match = _TEST_END.match(sentence, pos)
    return None if match is None else (match["v"], match.end())


def _read_sum(sentence: str, pos: int) -> Value | None:
    """ "My budget is 500 euros": the same value as of "a budget of 500 euros"."""
    found = read_lasting(_SUM)(sentence, pos)
    return None if found is None else (f"a budget of {found[0]}", found[1])


def _read_reached(sentence: str, pos: int) -> Value | None:
    """A habit that is over: who has quit it need not want to."""
    match = _QUIT.match(sentence, pos)
    return None if match is None else (match["v"], match.end())


def _read_ended_diet(sentence: str, pos: int) -> Value | None:
    """Whatever diet it was, it is over."""
    match = re.compile(r"(?:my|an?|the) (?:[\w-]+ )?diet(?=\s*(?:[,.;!]|$|(?:now|and|again)\b))").match(sentence, pos)
    return None if match is None else ("", match.end())


def _read_learned(sentence: str, pos: int) -> Value | None:
    """A goal of learning that is reached: the value as it was wanted, "learn to swim"."""
    verb = re.compile(r"learn(?:ed|t) ").match(sentence, pos)
    if verb is None:
        return None
    wanted = named_goal("learn " + sentence[verb.end() :], 0)
    return None if wanted is None else (wanted[0], verb.end() + wanted[1] - len("learn "))


_read_budget = read_lasting(
    regex(
        rf"an? (?:very )?(?:(?:tight|small|limited|strict|shoestring|low|student) )?budget(?: of (?:about |around |only )?{_MONEY}{_EACH})?"
        r"(?=\s*(?:[,.;!)]|$)|\s+(?:and|but|so|because|since|these|this|at|now|right)\b)"
    )
)
_read_given_up = read_lasting(_LEFT_OUT)
_read_prepared, _read_saved, _read_diet = (
    read_lasting(_TEST_END, "v"),
    read_lasting(_SAVED_FOR, "v"),
    read_lasting(_DIET_NAMED, "v"),
)
ENDED: Final = (
    rule("wants_to", rf"[Ii] (?:no longer want to|don't {ADV}want to (?={ANY_MORE})) ?", named_goal, retracts=True),
    rule("wants_to", r"[Ii](?:'m| am) no longer (?:trying|planning|hoping) to ", named_goal, retracts=True),
    rule("wants_to", rf"[Ii](?:'m| am) not (?:trying|planning) to (?={ANY_MORE})", named_goal, retracts=True),
    rule("wants_to", r"(?:[Ii] (?:have )?|[Ii]'ve )(?:finally )?(?:stopped|quit|gave up|given up) trying to ", named_goal, retracts=True),
    rule("wants_to", r"(?:[Ii] (?:have )?|[Ii]'ve )(?:finally |actually |successfully )?(?=quit )", _read_reached, retracts=True),
    rule("wants_to", r"(?:[Ii] (?:have )?|[Ii]'ve )(?:(?:finally|now|actually|also) )?(?=learn(?:ed|t) )", _read_learned, retracts=True),
    rule("prepares_for", rf"[Ii](?:'m| am) (?:no longer |not (?={ANY_MORE}))(?:preparing|studying|training) for ", _read_test, retracts=True),
    rule("prepares_for", r"(?:[Ii] (?:have )?|[Ii]'ve )(?:finally |just |already )?(?:passed|failed|finished|ran|completed|done) (?=(?:my|the|an?|our) )", _read_test, retracts=True),
    rule("on_diet", r"(?:[Ii]'m|[Ii] am) (?:no longer on|off) (?=an? |my )", _read_ended_diet, retracts=True),
    rule("budget", r"(?:[Ii]'m|[Ii] am) no longer on a (?:\w+ )?budget", read_nothing, retracts=True),
)  # fmt: skip
RULES: Final = (
    rule("wants_to", rf"[Ii] {FIRM}(?:want|need|have|hope|plan|intend|aim|decided|resolved) to (?:try to |try and |finally |really |also |seriously )?", goal),
    rule("wants_to", rf"[Ii] {FIRM}must (?:try to )?", goal),
    rule("wants_to", rf"[Ii](?:'d| would) {FIRM}(?:like|love) to ", goal),
    rule("wants_to", rf"(?:[Ii]'m|[Ii] am|[Ii]'ve been|[Ii] have been) {FIRM}(?:trying|hoping|planning|aiming|determined) (?:hard |really hard |so hard )?to ", goal),
    rule("wants_to", rf"(?:[Ii]'ve|[Ii] have) {FIRM}(?:decided|resolved) to ", goal),
    rule("wants_to", r"[Mm]y (?:main |big |biggest |current |new |personal |long-term |health |fitness |career )?(?:goal|aim|target|ambition|(?:new year'?s )?resolution)(?: (?:for )?this (?:year|month|summer|winter|spring))? is to ", goal),
    rule("prepares_for", rf"(?:[Ii]'m|[Ii] am|[Ii]'ve been|[Ii] have been) {FIRM}(?:preparing|studying|training|revising|cramming|prepping) for ", _read_prepared),
    rule("saves_for", rf"(?:[Ii]'m|[Ii] am|[Ii]'ve been) {FIRM}saving (?:up |money )?(?:for|to buy) ", _read_saved),
    rule("gives_up", rf"(?:[Ii]'m|[Ii] am) {FIRM}(?:quitting|giving up|cutting out) ", _read_given_up),
    rule("cuts_down_on", rf"(?:[Ii]'m|[Ii] am|[Ii]'ve been) {FIRM}(?:cutting|cutting way) (?:down|back) on (?:my )?", _read_given_up),
    rule("on_diet", rf"(?:[Ii]'m|[Ii] am) {FIRM}(?:following|on|doing) ", _read_diet),
    rule("on_diet", rf"[Ii] {FIRM}(?:started|follow|began) ", _read_diet),
    rule("budget", rf"(?:[Ii]'m|[Ii] am|[Ww]e're|[Ww]e are) {FIRM}on ", _read_budget),
    rule("budget", rf"[Ii] {FIRM}(?:only )?have ", _read_budget),
    rule("budget", r"[Mm]y (?:(?:total|monthly|weekly|maximum|max) )?budget is (?:only |about |around |just )?", _read_sum),
)  # fmt: skip
