"""Standing instructions: how the speaker wants the agent to behave from now on, and what of that is taken back.

An order is one only if it says that it lasts ("always", "never", "from now on", "until Friday") or is of a kind that
does ("speak French with me", "stop calling me Bob"), if it is for the agent, and if it can be understood alone. Whatever
may be somebody else's words is left: a message that quotes, reports or hands over a text is not read at all.
"""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from typing import Final

from embermem.core.attributes import INSTRUCTION_PREFIX
from embermem.core.patterns import regex
from embermem.languages.en.clauses.times import timed
from embermem.languages.en.vocabulary import MONTH_NAMES
from embermem.languages.facts.finding import USER, Finding, When
from embermem.languages.facts.orders import told
from embermem.languages.words import sentences

__all__ = ["instruction", "instructions"]

_LONGEST_TEXT, _LONGEST = 1200, 140
"""Characters of a message, and of an instruction, that is read."""
_HIDDEN = "\ue000"
_NO_NAME = "never call them "
"""Who says so has that nickname no longer."""

# ------------------------------------------------------------------------------------------------------- the guards

_NOT_OWN = regex(
    r"\b(?:said|says|saying|told|tells|wrote|writes|texted|replied|reads|according to|quote[sd]?|quoting|motto|slogan|proverb|saying|lyrics?|forwarded|pasted|copied|screenshot|transcript|prompt|system message|developer|assistant:|user:|jailbreak|you(?: are|'re) (?:an? |now )|your (?:task|role|job|goal) is|act as"
    r"|ignore (?:all|any|the|your|previous|prior)|my (?:boss|manager|teacher|coach|doctor|therapist|mom|mum|mother|dad|father|wife|husband|sister|brother|friend|client|customer)s?(?:'s)? (?:rule|advice|always|never|wants?|likes?|insists?|asks?|asked)"
    r"|(?:got|received|found|read|saw|here(?:'s| is| are)|this|the following|from (?:my|the|our|a)|(?:the|an?|my|our|their|his|her) (?:new |old |company |school )?(?=(?:policy|handbook|manual|guidelines?|rulebook|sign|poster|notice)\b)) ?(?:[\w'-]+ ){0,3}?(?:e-?mails?|mail|letter|messages?|memo|notes?|notice|text|articles?|posts?|docs?|documents?|pages?|manual|handbook|rules?|rulebook|policy|policies|guidelines?|instructions|poster|sign|recipe|song|poem|book|quote|template|brief|review|description|tips|advice)"
    r"|rules? (?:of|for|at|says?|is|are)\b|role-?play|story|stories|novel|character|fictional|in (?:the|this|a|an|my) (?:game|scene|play|dream|movie|film|book|show|script)|imagine|pretend|hypothetical\w*|suppose\b|what if|just kidding|kidding|joking|jk|sarcas\w+)\b"
    r"|\A\W*(?:hi |hello )?you(?: are|'re) (?!right|welcome|so|very|too|not|always|kind|sweet|the best)|^\s*(?:>|[-*•]\s|\d+[.)]\s)|https?://|\b(?:dear|hi|hello) [A-Z][a-z]+,\s*\n|\{|\}|</?\w",
    re.IGNORECASE | re.MULTILINE,
)
"""A message that says any of this may hold words that are not the speaker's own wish."""
_ONCE = regex(
    r"\b(?:today|tonight|tomorrow|for now|right now|now|this|these|that|those|just once|for once|for (?:a|one) (?:\w+ )?(?:bit|while|moment|minute|second|sec|week|day|hour|month|change|test)|for (?:the )?(?:rest|remainder)|remainder|until (?:i|you|we|then)|first|next|below|above|following|here|there"
    r"|it|he|she|him|her|his|hers|they|them|their|one|ones|so|same|such|which|what|who|you|yourself|yours|everyone|everybody|people|kids|children|each other)\b",
    re.IGNORECASE,
)
"""What makes an order one of the moment, of a thing at hand, or not to be understood alone."""
_TASK = regex(
    r"\bthe (?:\w+ ){0,2}(?:story|letter|e-?mail|essay|code|text|script|poem|article|document|report|presentation|draft|summary|list|table|plan|message|post|paragraph|section|chapter|function|file|speech|song|blog|proposal|resume|cv|sentence|title|task|question|questions|problem|exercise|data|output)\b",
    re.IGNORECASE,
)
"""The thing at hand that an order is about."""

# ---------------------------------------------------------------------------------------------- how an order begins

_FILLER = r"(?:(?:and|but|so|also|then|ok|okay|oh|hey|hi|hello|well|btw|by the way|actually|please|pls|kindly|just|again|still|yes|yeah|no|thanks|thank you|great|good|alright|right|sorry|ps|note|reminder|a (?:small |quick )?(?:request|favou?r)|one (?:more |last |small )?(?:thing|request))\b[\s,:!.]+)*"
_LASTING_LEAD = r"(?:from (?:now|today|here|this point|tomorrow)(?: on(?:wards?)?| forward| out)?|in (?:the )?future|going forward|moving forward|starting (?:now|today)|as of (?:now|today)|every time|each time|(?:for|in) all (?:of )?(?:your|my|our) (?:future )?(?:answers|replies|responses|conversations|chats|messages))"
_LASTING = regex(
    rf"\b(?:{_LASTING_LEAD}|every time|at all times|all the time|in (?:all|every|each) (?:of )?(?:your |our )?(?:answers?|repl(?:y|ies)|responses?|messages?|conversations?)|with every (?:answer|reply|response|message)|as a rule|by default)\b",
    re.IGNORECASE,
)
_UNTIL = regex(
    r"\b(?:until|till|through|for the (?:next|coming)|all|this(?= (?:week|month|year|summer|winter|spring|autumn|fall)\b))\b(?P<t>(?: (?:the|end|of|next|this|coming|week|month|year|summer|winter|spring|autumn|fall|weekend|days?|weeks?|months?|\d{1,4}(?:st|nd|rd|th)?,?|one|two|three|four|five|six|ten|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|october|november|december|christmas|easter|new year))+)(?=\s*(?:[,.;!]|$|please\b|and\b))",
    re.IGNORECASE,
)
_ASKS = r"(?:(?:could|can|would|will) you (?:please )?|i(?:'d| would)? (?:really |also )?(?:want|need|like|love|prefer) (?:for )?you to |i(?:'d| would) (?:really )?(?:prefer|like|love|appreciate) it if you (?:would |could )?|i(?:'d| would) prefer (?:that )?you |you (?:should|must|need to|have to|are to|shall) |(?:please )?(?:make sure|be sure|remember|try)(?: that you| you| to) |let's )?"
_NEVER = (
    r"(?:never(?: ever)?|i (?:don't|do not) want you to(?: ever)?|don't ever|do not ever|don't|do not|not to|no longer)"
)
_HEAD = regex(
    rf"{_FILLER}(?:(?P<lead>{_LASTING_LEAD})\b[\s,:]*(?:you (?:can|may) )?)?(?:please[\s,]+)?(?P<asks>{_ASKS})(?:please[\s,]+)?(?P<adverb>(?:always|{_NEVER}|stop|no more)\b[\s,]*)?(?:please[\s,]+)?",
    re.IGNORECASE,
)
_START = regex(
    r"^|(?<=[.!?;,:—–])\s+|\s-\s|\s(?:and|but|so)\s(?=(?:please|always|never|don't|do not|from now|in (?:the )?future|stop)\b)",
    re.IGNORECASE,
)
_END = regex(
    r"(?<!\b[DM]r)(?<!\bMs)(?<!\bMrs)(?<!\bProf)\.|[!?;:()—–]|\s-\s|,\s*(?=(?:because|since|as|so|but|please|thanks|thank|ok(?:ay)?|not|never|always|don't|no|that|it|which|i|i'm|i've|you|we|and (?:please|always|never|don't|stop|i|you|not)|yes|right|would|could|can)\b)"
    r"|\s(?:because|since|so that|so i|as i|as it|but|if (?:possible|you can|that's ok(?:ay)?)|thanks|thank you|and (?:please|always|never|don't|stop|i|you)|or i'll|or else|ok\?|okay\?|will you|would you)\b",
    re.IGNORECASE,
)
_CONDITION = regex(
    r"(?:^|[,;]\s*)(?:please |and |but |so |also )*(?:(?P<when>(?:when(?:ever)?|if) I (?:ask|want|need|write|tell|send|talk|say)\b[^,;]{3,60})|(?:when(?:ever)?|if|unless|for|in|on|at|during|before|after|once|as)\b[^,;]*),\s*$",
    re.IGNORECASE,
)
_SPARE_END = regex(
    r"[\s,]+(?:please|pls|thanks|okay|ok|though|too|as well|then|whenever you can|when you can|for me|at all)$",
    re.IGNORECASE,
)
_TO_ME = regex(
    r"(?<!\bspeak) (?:with me|when(?:ever)? (?:you )?(?:talk|speak|writ|reply|answer|chat)\w*(?: (?:to|with))? me)$",
    re.IGNORECASE,
)
"""What adds nothing to an order: it is meant for the agent's replies anyway."""
_UNLESS = regex(r"\b(?:unless|except|when|whenever|if) I\b.*", re.IGNORECASE)
_AGAIN = regex(r"[\s,]+(?:(?:ever )?again|any ?more|any longer|at all)$", re.IGNORECASE)

# ------------------------------------------------------------------------------------------------------ what it says

_LANGUAGES = r"(?:English|French|German|Spanish|Italian|Portuguese|Mandarin|Cantonese|Chinese|Japanese|Korean|Russian|Arabic|Hindi|Turkish|Dutch|Swedish|Norwegian|Danish|Finnish|Polish|Czech|Greek|Hebrew|Vietnamese|Thai|Hungarian|Romanian|Ukrainian|Urdu|Bengali|Tamil|Swahili|Persian|Farsi|Catalan|Irish|Welsh|Latin)"
_ANSWERS = r"(?:answers?|repl(?:y|ies)|responses?|messages?|explanations?)"
_ANSWER = r"(?:answer|reply|respond|explain things|explain|write|speak|talk|text|chat|communicate)(?: back)?(?: (?:to|with) me)?"
_SAY = rf"(?:{_ANSWER}|use|give(?: me)?|stick (?:to|with)|show|provide|keep|make|switch(?: back)? to|change (?:back )?to|go back to|convert)"
_SHORT = r"(?:very |really |nice and |more )?(?:short(?:er)?|brief|concise|succinct|terse|simple|simpler|to the point|long(?:er)?|detailed|thorough|in[- ]depth|under \d+ (?:words|sentences|lines)|(?:to|at|within) (?:\d+|one|two|three|a few) (?:words?|sentences?|lines?|paragraphs?))"
_IN_SHORT = r"(?:briefly|shortly|concisely|in (?:more )?detail|at length|in short|in brief|with (?:more|less) detail|in (?:at most |no more than |only |just )?(?:\d+|one|two|three|a few|short) (?:words?|sentences?|lines?|paragraphs?))"
_LANGUAGE = regex(
    rf"(?:{_ANSWER}|keep (?:your |the )?{_ANSWERS}|give (?:me )?(?:your |all )?{_ANSWERS}|stick|switch(?: back)?|change(?: back)?|go back|use)(?: only| just| back)?(?: in| to)?(?: only)? (?P<v>{_LANGUAGES})(?: only)?(?: (?:with|to) (?:me|us))?(?: only| instead| by default)?(?P<unless> (?:unless|except) .{{3,50}})?",
    re.IGNORECASE,
)
_WITH_ME = regex(
    rf"(?:speak(?: in)?|talk in|chat in|talk|text in|write in) {_LANGUAGES} (?:with|to) (?:me|us)|(?:speak|talk|write|chat) (?:with|to) (?:me|us) in {_LANGUAGES}",
    re.IGNORECASE,
)
_ADDRESS = regex(
    r"(?:address|greet|refer to) me (?:as|by|with|using) .+|call me by .+|use my (?:first|last|full|middle|sur|family) ?name|use (?:he|she|they|ze|xe)/\w+(?:/\w+)?(?: pronouns)?(?: for me)?",
    re.IGNORECASE,
)
_MATTERS: Final = (
    ("units", rf"(?:{_SAY}\b.{{0,40}}\b)(?:metric|imperial|SI|US customary)(?: units?| system| measurements?)?"),
    ("temperature", rf"{_SAY}\b.{{0,40}}\b(?:celsius|fahrenheit|centigrade)"),
    ("clock", rf"{_SAY}\b.{{0,40}}\b(?:24|12)[- ]?(?:hours?|h) (?:clock|format|times?|notation)"),
    ("currency", rf"{_SAY}\b.{{0,30}}\b(?:prices?|costs?|amounts?|money)\b.{{0,10}} in [\w ]{{3,20}}"),
    ("length", rf"(?:keep|make) (?:(?:your|the|all|my) )*(?:{_ANSWERS}|it|things) {_SHORT}|(?:be|keep) (?:more |very )?(?:brief|concise|succinct|terse|short|detailed|thorough|to the point)|{_ANSWER} {_IN_SHORT}|(?:give|write|send|keep to|prefer)(?: me)? {_SHORT} {_ANSWERS}|keep (?:it|things) {_SHORT}"),
    ("formality", rf"(?:be|{_ANSWER}|keep (?:your )?(?:tone|{_ANSWERS})|use)\b.{{0,30}}\b(?:in)?(?:formal|casual)(?:ly)?(?: tone| language| register)?"),
    ("emojis", r"(?:use|add|include|send|put|avoid|write with|skip|drop)\b.{0,20}\b(?:emojis?|emoticons?|smileys?|smilies)(?: (?:in|with|to|for) (?:(?:your|the|our) )?(?:me|us|answers|replies|responses|messages))?"),
    ("spelling", r"(?:use|write in|stick to)\b.{0,20}\b(?:British|American|Australian|Canadian|UK|US)(?: English)?(?: spelling)?"),
    ("bullets", rf"(?:use|{_ANSWER}|give|avoid|format)\b.{{0,30}}\b(?:bullets?|bullet(?:ed)?[- ](?:points?|lists?))"),
    ("markdown", rf"(?:use|{_ANSWER}|avoid|format)\b.{{0,30}}\b(?:markdown|plain text)"),
    ("wording", rf"(?:{_ANSWER}|use)\b.{{0,20}}\b(?:simple|plain|easy|everyday|layman's) (?:terms|words|language|English)"),
    ("pace", r"(?:explain|go|give|walk me|take me)\b.{0,30}\b(?:step by step|one step at a time)"),
)  # fmt: skip
"""Matters on which one instruction holds at a time, beside the language: the newer ends the older."""
_OF_MATTERS = tuple((name, regex(pattern, re.IGNORECASE)) for name, pattern in _MATTERS)
_THING = r"(?P<v>(?!(?:any|some|no|every)thing|stuff|things)(?:my|our) (?:[\w-]+(?:'s)? ?){1,4}|[A-Z][\w-]+(?: [A-Z][\w-]+)?|(?:the )?(?:politics|religion|work|sex|death|god|money|food|alcohol|weight|diets?|calories|spoilers|breakup|divorce|accident|war|news|sports?|horoscopes?|astrology|therapy))"
_MENTION = regex(rf"(?:mention|bring up|talk(?: to me)? about|remind me (?:of|about)|refer to) {_THING}", re.IGNORECASE)
_ASK_ABOUT = regex(rf"ask(?: me)? about {_THING}", re.IGNORECASE)
_PET_NAMES = r"(?:sir|ma'am|madam|mate|buddy|dear|honey|hon|sweetie|sweetheart|darling|bro|dude|miss|boss|names|babe|friend|champ|love)"
_NOT_A_NAME = r"(?!(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|January|February|March|April|June|July|August|September|October|November|December|I\b)"
_CALL = regex(
    rf"(?i:call me) (?P<v>\"?{_NOT_A_NAME}[A-Z][\w'-]+(?: [A-Z][\w'-]+)?\"?|(?:by )?my [\w ]{{3,20}}name|{_PET_NAMES})"
)
_NOUNS = r"(?:sources?|examples?|links?|references?|citations?|options?|steps|numbers|quantities|measurements|units|calories|prices?|reasons?|feedback|suggestions?|details|answers?|summar(?:y|ies)|recipes?|definitions?|translations?|hints?|solutions?|code|trigger warnings?|spoilers?|disclaimers?|compliments?|(?:unsolicited )?advice)"
_GENERIC = regex(
    r"(?:answer|reply|respond)(?: (?:to )?(?:me|my (?:questions|messages)))? (?:in|with|as|like|without|only|using|directly|honestly|politely|kindly|truthfully)\b.{2,}"
    r"|(?:recommend|suggest)\b.{0,50}\b(?:me|my)\b.{0,40}"
    r"|(?:tell|ask|remind|greet|warn|challenge|interrupt|lecture|flatter|address|flirt with|lie to|swear at|talk down to|argue with|quiz|correct|treat) me\b.{3,}|(?:interrupt|lecture|flatter|flirt with|lie to|swear at|quiz|correct) me|apologi[sz]e to me"
    r"|(?:explain|say|write|speak|talk|add|point out|translate|describe)\b.{0,60}\b(?:to|with|for) me\b.{2,40}|(?:explain|point out|translate|describe) .{2,60}\b(?:to|for) me"
    r"|(?:use|correct|check|remember|respect|consider|say|spell) my .{3,}|be (?:more )?(?:honest|direct|blunt|frank|gentle|patient|kind|polite|friendly|strict) (?:with|to) me"
    r"|(?:use|add|give|show|put|keep|avoid|provide|explain|round|format|start|begin|end|finish)\b.{0,}\b(?:your|its|each|every|all) " + _ANSWERS + r"\b.{0,30}"
    r"|(?:give|show|provide|use|add|include|cite|send)(?: me)? (?:(?:an?|the|your|some|one|two|three|real|concrete|short|clear|any) ){0,3}" + _NOUNS + r"(?: (?:for|with|in|of|to|from|when|before|after|unless) .{2,50})?"
    r"|use (?:slang|jargon|swear words|profanity|exclamation (?:marks|points)|abbreviations|technical terms|big words|sarcasm|irony)(?: with me)?",
    re.IGNORECASE,
)  # fmt: skip
"""What is asked of one who answers, about matters of which several instructions may hold."""
_IDIOM = regex(
    r"(?:remember|forget|give up|stop|let|believe|trust|follow|look|dream|mind|worry|feel|know|say never|be yourself|tell me (?:about|how|what|why|where|when|who|if|more)|ask me how|ask me why|(?:talk|speak|write) (?:to|with) me$|show me (?:how|what)|give me (?:up|a (?:break|hug|call|ring|shout|hand))|mention it)\b",
    re.IGNORECASE,
)
_PREFERS = regex(
    rf"i(?:'d| would)? (?:always |generally |usually |really |much )?(?:prefer|want|like|need) (?:to (?:get|have|receive) |getting |having )?(?:(?:my|your|the|all) ){{0,2}}(?:(?P<how>{_SHORT}|{_LANGUAGES}|(?:in)?formal|metric|imperial) (?P<what>answers|replies|responses|explanations|units|measurements)|(?P<what2>answers|replies|responses|explanations|measurements|temperatures|distances|prices|recipes) (?:to be )?(?P<how2>{_SHORT}|{_IN_SHORT}|in [\w ]{{3,20}}))$",
    re.IGNORECASE,
)
_MAY = regex(
    r"(?:and |but |also |ok,? |okay,? |actually,? )*(?:you (?:can|may)|it(?:'s| is) (?:ok|okay|fine|all right|alright) (?:if you|to|for you to)|feel free to) (?P<p>.+?)(?: (?P<again>again|now|from now on|after all))+$",
    re.IGNORECASE,
)
_NEED_NOT = regex(
    r"(?:and |but |also |so |ok,? |okay,? |actually,? |please )*(?:(?P<need>you (?:don't|do not|no longer) (?:have|need) to|you needn't|(?:there(?:'s| is) )?no (?:more )?need to)|you can stop|you may stop|(?:(?:can|could|would|will) you )?(?:please )?(?:stop|quit)) (?:always )?(?P<p>.+?)(?: (?:any ?more|any longer|now|again|all the time|from now on))*$",
    re.IGNORECASE,
)
_NO_MORE = regex(
    r"(?:and |but |so |also )*(?:please )?no more (?P<v>emojis?|emoticons|smileys|bullet points|bullets|markdown)",
    re.IGNORECASE,
)
_ING = regex(r"[A-Za-z]+ing\b")
_BASES = {
    "using": "use", "giving": "give", "writing": "write", "making": "make", "citing": "cite", "quizzing": "quiz",
    "including": "include", "being": "be", "putting": "put", "ending": "end", "apologizing": "apologize",
    "apologising": "apologise", "challenging": "challenge", "providing": "provide", "describing": "describe",
    "translating": "translate", "switching": "switch", "swearing": "swear", "lying": "lie",
}  # fmt: skip


def instructions(text: str, said_at: datetime) -> Iterator[Finding]:
    """The standing instructions of a screened text, and what it takes back of earlier ones, in order. Positions are
    those of the text given."""
    if len(text) > _LONGEST_TEXT or _NOT_OWN.search(text):
        return
    found = [
        one
        for start, end in sentences(text)
        if _HIDDEN not in text[start:end]
        for one in _sentence(text[start:end], start, said_at)
    ]
    yield from told(found, _NO_NAME)


def instruction(phrase: str) -> tuple[str, str]:
    """The attribute and value of an order that is known to last: ("instruction_length", "keep answers short")."""
    head = _HEAD.match(phrase)
    adverb = (head["adverb"] or "").strip(" ,").lower() if head else ""
    rest = _SPARE_END.sub("", phrase[head.end() if head else 0 :].strip(" .!"))
    order = _order(_kept(adverb), _AGAIN.sub("", _LASTING.sub("", rest).strip(" ,")), known=True)
    return order if order is not None else ("instruction", _with("", _of_them(phrase.strip(" .!"))))


def _sentence(sentence: str, offset: int, said_at: datetime) -> Iterator[Finding]:
    asks = sentence.rstrip("\"') ").endswith("?")
    if asks and not re.search(r"\b(?:could|can|would|will) you\b", sentence, re.IGNORECASE):
        return
    reached = 0
    for begin in _START.finditer(sentence):
        pos = begin.end()
        if pos < reached:
            continue
        end = _end(sentence, pos)
        clause = sentence[pos:end]
        found = _taken_back(clause) or _wished(clause, sentence, said_at, asks=asks)
        if found is None:
            continue
        attribute, value, until, retracts = found
        reached = end
        when = None if until is None else When(until, f"until {_day(until - timedelta(days=1))}", 0)
        yield Finding(
            subject=USER,
            attribute=attribute,
            value=value,
            start=offset + pos,
            end=offset + end,
            when=when,
            until=until,
            retracts=retracts,
        )


_Found = tuple[str, str, datetime | None, bool]
"""Attribute, value, when it ends, whether it is taken back."""


def _end(sentence: str, pos: int) -> int:
    """Where the clause that begins at a position ends; a comma after its opening does not end it."""
    head = _HEAD.match(sentence, pos)
    stop = _END.search(sentence, max(pos, head.end() if head else pos))
    return len(sentence) if stop is None else stop.start()


def _taken_back(clause: str) -> _Found | None:
    """ "You can call me Bob again", "you don't have to answer in French any more", "stop using metric units"."""
    clause = _SPARE_END.sub("", clause.strip(" ,"))
    no_more = _NO_MORE.fullmatch(clause)
    if no_more is not None:
        return *(_order("never", f"use {no_more['v']}", known=True) or ("", "")), None, False
    may, need_not = _MAY.fullmatch(clause), _NEED_NOT.fullmatch(clause)
    if may is not None:
        order = _order("never", may["p"], known=False)
        if order is None:
            return None
        attribute, value = order
        return attribute, "" if attribute.startswith(INSTRUCTION_PREFIX) else value, None, True
    if need_not is None:
        return None
    phrase = need_not["p"] if need_not["need"] else _base(need_not["p"])
    if phrase is None:
        return None
    if not need_not["need"] and (topic := _topic(phrase)) is not None:  # "stop calling me buddy"
        return None if _ONCE.search(phrase) else ("instruction", topic, None, False)
    order = _order("", phrase, known=False)
    if order is None:
        order = _order("always", phrase, known=False) if need_not["need"] else None
    if order is None or _TASK.search(phrase):
        return None
    attribute, value = order
    if attribute in (f"{INSTRUCTION_PREFIX}emojis", f"{INSTRUCTION_PREFIX}bullets", f"{INSTRUCTION_PREFIX}markdown"):
        if not need_not["need"]:
            return attribute, f"never {value}", None, False  # "stop using emojis" says what is wanted
    elif attribute == "instruction" and not need_not["need"]:
        return None
    if attribute.startswith(INSTRUCTION_PREFIX) and attribute != f"{INSTRUCTION_PREFIX}language":
        value = ""
    return attribute, value, None, True


def _wished(clause: str, sentence: str, said_at: datetime, *, asks: bool) -> _Found | None:
    """An order that lasts; None for any other clause."""
    clause = _SPARE_END.sub("", clause.strip(" ,"))
    prefers = _PREFERS.fullmatch(clause)
    if prefers is not None:
        how, what = prefers["how"] or prefers["how2"], prefers["what"] or prefers["what2"]
        clause = f"always give {how} {what}" if prefers["how"] else f"always give {what} {how}"
    head = _HEAD.match(clause)
    if head is None:
        return None
    adverb, rest = (head["adverb"] or "").strip(" ,").lower(), clause[head.end() :]
    if asks and not (head["asks"] and re.search(r"you (?:please )?$", head["asks"], re.IGNORECASE)):
        return None
    before = sentence[: sentence.find(clause)] if clause in sentence else ""
    condition = _CONDITION.search(before)
    if condition is not None and condition["when"] is None:
        return None
    until, rest = _until(f"{before}{clause}", rest, said_at)
    lasting = (
        bool(head["lead"])
        or until is not None
        or adverb in ("always", "never", "never ever", "don't ever", "do not ever")
    )
    rest, marks = _LASTING.subn("", rest)
    rest = re.sub(r"\s+", " ", rest).strip(" ,")
    again = _AGAIN.search(rest)
    if again is not None:
        rest = rest[: again.start()]
        lasting = lasting or _kept(adverb) == "never"
    lasting = lasting or marks > 0
    rest = _SPARE_END.sub("", rest)
    known = condition is not None and lasting
    if condition is not None:
        rest += f" {condition['when'].lower().replace(' i ', ' I ')}"
    order = _order(_kept(adverb), rest, known=known)
    if order is None or not (lasting or _lasts_by_itself(adverb, rest)):
        return None
    bare = re.sub(r"\byour\b", "", _TO_ME.sub("", _UNLESS.sub("", rest)))
    if order[0] == f"{INSTRUCTION_PREFIX}length":
        bare = re.sub(r"\b(?:it|one)\b", "", bare)
    if order[0] == f"{INSTRUCTION_PREFIX}address":
        bare = re.sub(r"\b(?:he|she|they|him|her|them|it)(?=/)|(?<=/)\w+|\bfirst(?= ?name)", "", bare)
    if _ONCE.search(bare) or _TASK.search(bare) or _IDIOM.match(rest):
        return None
    return *order, until, False


def _kept(adverb: str) -> str:
    """The adverb of an order as it is kept: "always", "never" or none."""
    return adverb if adverb in ("always", "") else "never"


def _lasts_by_itself(adverb: str, rest: str) -> bool:
    """Orders that are not for one answer: how to be called, a language to talk in, the length of all answers."""
    if adverb in ("don't", "do not") and re.search(r"\byour (?:answers|replies|responses)\b", rest):
        return True
    if _kept(adverb) == "never":
        return adverb not in ("no more", "stop") and _CALL.fullmatch(rest) is not None
    if _WITH_ME.fullmatch(rest) or _ADDRESS.fullmatch(rest):
        return True
    return (
        re.fullmatch(rf"keep your (?:answers|replies|responses|messages|explanations) {_SHORT}", rest, re.IGNORECASE)
        is not None
    )


def _order(adverb: str, rest: str, *, known: bool) -> tuple[str, str] | None:
    """The attribute and value of an order; `known` to be one, whatever it is about."""
    rest = rest.strip(" ,")
    if not (3 <= len(rest) <= _LONGEST):
        return None
    bare = _TO_ME.sub("", rest)
    if bare != rest and (order := _order(adverb, bare, known=False)) is not None:
        return order
    if (named := _LANGUAGE.fullmatch(rest)) is not None:
        return f"{INSTRUCTION_PREFIX}language", _with(
            adverb, f"answer in {named['v'].capitalize()}{_of_them(named['unless'] or '')}", spare="always"
        )
    if _ADDRESS.fullmatch(rest):
        return f"{INSTRUCTION_PREFIX}address", _with(adverb, _of_them(rest), spare="always")
    for matter, pattern in _OF_MATTERS:
        if pattern.fullmatch(rest):
            value = _of_them(rest)
            if matter == "units":
                value = re.sub(
                    rf"^{_SAY}(?: (?:in|the|with|only))* (metric|imperial|SI)(?: units?| system| measurements?)?$",
                    lambda m: f"use {m[1].lower() if m[1] != 'SI' else 'SI'} units",
                    value,
                    flags=re.IGNORECASE,
                )
            return f"{INSTRUCTION_PREFIX}{matter}", _with(adverb, value, spare="always")
    if adverb == "never" and (topic := _topic(rest)) is not None:
        return "instruction", topic
    if _CALL.fullmatch(rest):
        return None
    if known or _GENERIC.fullmatch(rest):
        return "instruction", _with(adverb, _of_them(rest))
    return None


def _topic(rest: str) -> str | None:
    """What is not to be said: one wording for each, so that it can be taken back."""
    for pattern, verb in ((_CALL, "call them"), (_MENTION, "mention"), (_ASK_ABOUT, "ask about")):
        if (named := pattern.fullmatch(rest)) is not None:
            return f"never {verb} {_of_them(named['v'].strip())}".replace('"', "")
    return None


def _with(adverb: str, value: str, spare: str = "") -> str:
    order = re.sub(r"^[A-Z](?=[a-z])", lambda m: m.group().lower(), value)
    return order if adverb in ("", spare) else f"{adverb} {order}"


def _base(phrase: str) -> str | None:
    """ "answering in French" as an order: "answer in French"; None where it begins with no such form."""
    word = _ING.match(phrase)
    if word is None:
        return None
    verb = word.group().lower()
    stem = _BASES.get(verb, verb[:-3])
    return stem + phrase[word.end() :]


_PRONOUNS = {"me": "them", "my": "their", "mine": "theirs", "myself": "themselves", "i": "they", "i'm": "they're",
             "i've": "they've", "us": "them", "our": "their"}  # fmt: skip


def _of_them(phrase: str) -> str:
    """An order as it is told of somebody: "call them Bob", "keep answers short"."""
    told = re.sub(rf"\byour (?={_ANSWERS}\b)", "", phrase)
    told = re.sub(r"\byour\b", "its", told)
    return re.sub(r"\b(?:me|my|mine|myself|I'm|I've|I|us|our)\b", lambda m: _PRONOUNS[m.group().lower()], told)


def _until(clause: str, rest: str, said_at: datetime) -> tuple[datetime | None, str]:
    """The first moment after the time up to which an order holds, and the order without it."""
    named = _UNTIL.search(clause)
    if named is None or named.group().lower().split()[0] == "all":
        return None, rest
    span = next(iter(timed(named.group(), said_at)), None)
    if span is None:
        return None, rest
    last, today = span.last, said_at.date()
    if last < today and (today - last).days < 7:
        last += timedelta(days=7)
    elif last < today and not re.search(r"\d{4}", named.group()):
        last = _year_later(last)
    if last < today:
        return None, rest
    return datetime.combine(last + timedelta(days=1), time(), said_at.tzinfo), rest.replace(named.group(), "").strip(
        " ,"
    )


def _year_later(day: date) -> date:
    return day.replace(year=day.year + 1, day=min(day.day, 28) if day.month == 2 else day.day)


def _day(moment: datetime) -> str:
    return f"{moment.day} {MONTH_NAMES[moment.month - 1]} {moment.year}"
