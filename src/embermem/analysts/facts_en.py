"""Facts from English first-person and possessive statements, by rules.

A statement is read only where a clause begins, up to where it ends; what a rule does not fully understand it leaves.
A wrong fact is worse than none.
"""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import cache

from embermem.analysts.finding import USER, Finding
from embermem.analysts.goals import FOODS, HABITS, goal, lasting, named_goal, of_them
from embermem.analysts.lexicon import words
from embermem.analysts.when import When, find_en
from embermem.core.attributes import OPPOSITE, standing
from embermem.core.text import sentences

_SENTENCE_CHARS = 400
_MAX_WORDS = 8

Read = Callable[[str, int], "tuple[str, int] | None"]
"""Reads a value at a position: (value, where it ends), or None."""

# ------------------------------------------------------------------------------------- which clauses may speak

_HEAD = re.compile(r"\b(?:[Ii]'(?:m|ve|d)|[Ii]m|[Ii]|[Ww]e've|[Ww]e|[Mm]y|[Aa]s an?(?= (?:wo)?man\b)"
                   r"|(?:[Yy]ou (?:can |may )?|[Pp]lease |(?:[Pp]eople|[Ee]veryone|[Ee]verybody) )?[Cc]alls? me)(?=\s)")  # fmt: skip
_LEAD = re.compile(
    r"(?:^|[,;!.—–(]|\s-|\b(?:and|but|because|cause|so|plus|also|well|oh|ah|hi|hello|hey|yes|yeah|yep|no|actually|honestly|btw"
    r"|by the way|currently|now|nowadays|these days|though|although|since|anyway|ok|okay|haha|lol|fyi|fun fact:|besides"
    r"|(?:and|but) (?:yes|also|now|actually)|(?:hi|hello|hey),? \w{2,12}|as (?:i said|you know|i mentioned)|you know|see|nice to meet you|(?:it )?turn(?:s|ed) out(?: that)?))"
    r"[\s\"]*$",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    r"\b(?:if|unless|whether|suppos\w+|imagin\w+|pretend\w*|wish\w*|would|wouldn't|could|might|maybe|perhaps|possibly|probably"
    r"|hypothetical\w*|dream\w*|dreamt|nightmare|guess|almost|nearly|as though|like i'm|in theory|someday|some day|sometimes"
    r"|feels? like|felt like|thinks?|thought|believes?|assumes?|assumed|hop(?:e|es|ing)|when|whenever|until|not|n't|never|nor"
    r"|in another life|in a past life|for example|for instance|e\.g|example|such as|quote|unquote|titled|called|song|till|once)\b"
    r"|:|\ue000",
    re.IGNORECASE,
)
_ANYWHERE = re.compile(
    r"\b(?:said|says|saying|told|tells|asked|asks|replied|replies|claims?|claimed|wrote|writes|texted|yelled|shouted|whispered"
    r"|screamed|announced|insists?|insisted|according to|jk|as a joke|in (?:the|this|an?|my) (?:\w+ )?(?:game|dream|movie|play|film|story|book|novel|show|sims|simulation|sitcom|series)"
    r"|in (?:my|your|his|her|their|our) (?:wildest )?(?:dreams|head|mind)|or something|yeah right|not really|as if|sarcas\w+|in another life|hypothetical\w*)\b|\s/\s|\?",
    re.IGNORECASE,
)
_TAKEN_BACK = re.compile(
    r"(?:^|[-–—,;.…]\s*|\b(?:oh|um|uh|er)\s+)(?:no,? wait|wait,? no|scratch that|strike that|correction\b|my mistake|not me\b|that(?:'s| is| was) my (?:brother|sister|friend|mom|mum|mother|dad|father|wife|husband|cousin|boss|partner|roommate|neighbou?r|colleague|twin|joke|character)\b(?!'))",
    re.IGNORECASE,
)
"""What a speaker says to unsay the sentence it stands in or the one before."""
_DREAMT = re.compile(r"\b(?:dreamt|dreamed|had an? (?:\w+ )?(?:dream|nightmare))\b", re.IGNORECASE)
"""What follows in the paragraph may be the dream."""
_ALLOWED_SAY = re.compile(r"\bas i (?:said|mentioned)\b|\blike i said\b", re.IGNORECASE)
_AFTER = re.compile(
    r"\s*,?\s*(?:if|unless|or|whenever|when|once|but only if|not|at heart|anymore|any more|any longer)\b", re.IGNORECASE
)
_GONE = re.compile(r"\s+(?:anymore|any more|any longer|these days|now)\b", re.IGNORECASE)
_TIME_LEAD = re.compile(
    r"(?:last (?:week|month|year|spring|summer|fall|autumn|winter|night)|yesterday|today|this (?:week|month|year|morning)"
    r"|(?:\d+|an?|two|three|four|five|six|seven|eight|nine|ten) (?:days?|weeks?|months?|years?) ago|(?:in|since) (?:\d{4}|[A-Z]\w+(?: \d{4})?))"
    r"\s*,?\s*$",
    re.IGNORECASE,
)  # fmt: skip


def find(text: str, said_at: datetime) -> Iterator[Finding]:
    """The statements of a screened text, in order. Positions are those of the text given."""
    yield from _introduction(text)
    spans = sentences(text)
    dreamt_until = 0
    for i, (start, end) in enumerate(spans):
        sentence = text[start : min(end, start + _SENTENCE_CHARS)]
        if _DREAMT.search(sentence):
            line_end = text.find("\n", end)
            dreamt_until = line_end if line_end >= 0 else len(text)
        if start < dreamt_until:
            continue
        if i + 1 < len(spans) and _TAKEN_BACK.match(text[spans[i + 1][0] : spans[i + 1][0] + 80]):
            continue
        yield from _sentence(sentence, start, said_at)


_INTRODUCTION = re.compile(
    r"\s*(?P<greeting>(?:[Hh]i|[Hh]ello|[Hh]ey|[Gg]ood (?:morning|evening|afternoon))(?: there| everyone| all| everybody| [A-Z][a-z]{1,15})?\s*[,!.]?\s+)?"
    r"(?P<said>(?:I'm|I am|(?<=\s)[Tt]his is) (?P<v>[A-ZÀ-Þ][a-zà-ÿ]{1,15}(?: [A-ZÀ-Þ][a-zà-ÿ]{1,15}){0,2}))(?=\s*(?:[,.!]|$|and I\b|and I'm\b|from\b))"
)


_ADJECTIVE = re.compile(r"(?:ing|ful|less|ous|able|ible|sted|ized|ished|ated|ivated)$")


def _introduction(text: str) -> Iterator[Finding]:
    """ "Hi, I'm Alice.", "I'm Alice.": a bare "I'm" gives a name only where the text opens."""
    match = _INTRODUCTION.match(text)
    if match is None or _NATIONALITY.fullmatch(match["v"]):
        return
    first, *rest = match["v"].lower().split()
    if first in _NO_NAME or (rest or [first])[-1] in words("occupations_en"):
        return
    if (
        any(word in words("names_not") for word in (first, *rest))
        or first in _NP_FIRST_DENIED
        or _ANYWHERE.search(text[: _SENTENCE_CHARS // 4])
    ):
        return
    strange = (
        _ADJECTIVE.search(first)
        or first in words("places_not")
        or first in _NO_PLACE
        or match["v"].lower() in words("places")
    )
    if strange and match["greeting"] is None:
        return
    start, end = match.span("said")
    yield Finding(subject=USER, attribute="name", value=match["v"], start=start, end=end)


def _sentence(sentence: str, offset: int, said_at: datetime) -> Iterator[Finding]:
    if sentence.rstrip("\"') ").endswith("?"):
        return
    if _HEAD.search(sentence) is None:
        return
    if _ANYWHERE.search(_ALLOWED_SAY.sub("", sentence)) or _TAKEN_BACK.search(sentence, 1):
        return
    reached = 0
    for head in _HEAD.finditer(sentence):
        pos = head.start()
        if pos < reached or _BEFORE.search(sentence, 0, pos):
            continue
        lead = sentence[max(0, pos - 40) : pos]
        timed = _TIME_LEAD.search(lead)
        if timed and _in_future(timed.group(), said_at):
            continue
        if not (_LEAD.search(lead) or (timed and _LEAD.search(lead[: timed.start()] or ""))):
            continue
        for found in _statement(sentence, pos, said_at, timed.group() if timed else ""):
            reached = max(reached, found.end)
            yield Finding(
                subject=found.subject, attribute=found.attribute, value=found.value, start=found.start + offset,
                end=found.end + offset, when=found.when, retracts=found.retracts,
            )  # fmt: skip


_FUTURE = re.compile(r"\b(?:next (?:year|month|week|spring|summer|fall|autumn|winter)|tomorrow)\b", re.IGNORECASE)
_ANY_YEAR = re.compile(r"\b(?:in|since|from|by) (?:\w+ )?((?:19|2[01])\d\d)\b", re.IGNORECASE)


def _in_future(text: str, said_at: datetime) -> bool:
    """Whether a later time is named: a plan, not a fact."""
    return bool(_FUTURE.search(text)) or any(int(y) > said_at.year for y in _ANY_YEAR.findall(text))


def _statement(sentence: str, pos: int, said_at: datetime, time_lead: str) -> Iterator[Finding]:
    for subject, attribute, pattern, read, retracts in _rules():
        match = pattern.match(sentence, pos)
        if match is None:
            continue
        value_at = read(sentence, match.end())
        if value_at is None:
            continue
        value, end = value_at
        if _refused_after(sentence, end, retracts):
            continue
        is_goal = standing(attribute) == "goal"
        if not retracts and not is_goal and _in_future(_clause_rest(sentence, end), said_at):
            continue
        if attribute == "lives_in" and not retracts and _short_stay(sentence, pos, end):
            continue
        if "kin" in match.groupdict():
            kin = _kin_subject(match)
            if kin is None:
                continue
            subject = kin
        elif attribute.startswith("favorite_"):
            thing = match["thing"].lower().replace("colour", "color").replace("film", "movie")
            attribute = f"favorite_{thing}"
        if retracts and (gone := _GONE.match(sentence, end)):
            end = gone.end()
        when = None if retracts or is_goal else _when(sentence, end, said_at, time_lead)
        last = when.end if when is not None and when.end > end else end
        bare = re.sub(r"^an? ", "", value) if attribute in ("works_as", "drives") else value
        yield Finding(
            subject=subject, attribute=attribute, value=bare, start=pos, end=last, when=when, retracts=retracts
        )  # fmt: skip
        if attribute in ("likes", "dislikes", "hobby") and not retracts:
            more = list(_more(sentence, pos, end, subject, attribute, value))
            yield from more
            if attribute in OPPOSITE:
                for said, until in ((value, last), *((m.value, m.end) for m in more)):
                    yield Finding(subject=subject, attribute=OPPOSITE[attribute], value=said, start=pos, end=until, retracts=True)  # fmt: skip
        if retracts and attribute == "has_pet":
            yield from _other_names(value, subject, pos, last)
        if not retracts:
            yield from _second(sentence, pos, end, subject, attribute, when)
        if (attribute, value) == ("works_as", ""):
            yield Finding(subject=subject, attribute="works_at", value="", start=pos, end=last, retracts=True)
        return


_AWAY = re.compile(
    r"\b(?:and|but|before|then)(?: i| we)?(?: later| then| soon| have since|'ve since| eventually)? "
    r"(?:left\b(?! (?:my|the|our|an?|some|behind)\b)|(?:moved|moving) (?:to|on|away|out|again)\b|returned|returning|(?:came|went|going|coming|moved)? ?back\b|(?:go|come|move) back\b)"
    r"|\b(?:until|till|otherwise|temporarily|briefly|part of the year|half (?:of )?the (?:year|time)|most of the (?:year|time)|on (?:weekends|weekdays)|during the (?:week|summer|winter))\b"
    r"|\b(?:summers?|winters?|season|weekends?|week|year|time|moment|now) only\b|^ only\b",
    re.IGNORECASE,
)
_STAY = re.compile(
    r"(?:^|\s)(?:just )?for (?:only |just |about |almost )?(?:an?|one|two|three|four|five|six|\d+|a few|a couple of|the|some|several) (?:\w+ )?"
    r"(?:days?|weeks?|months?|years?|weekends?|summer|winter|spring|autumn|semester|term|season|holidays?|while|bit)\b(?! now| already| so far)",
    re.IGNORECASE,
)


_IN_SEASON = re.compile(r"^ in (?:the )?(?:summers?|winters?)\b", re.IGNORECASE)


def _short_stay(sentence: str, pos: int, end: int) -> bool:
    """Whether the rest of the sentence says that the home was one for a time only, or is one of two."""
    rest = sentence[end:]
    perfect = re.compile(r"(?:[Ii]|[Ww]e)(?:'ve| have)\b").match(sentence, pos) is not None
    if _AWAY.search(rest) or (_IN_SEASON.match(rest) and "liv" in sentence[pos:end]):
        return True
    return not perfect and _STAY.search(_clause_rest(sentence, end)) is not None


def _clause_rest(sentence: str, end: int) -> str:
    stop = re.compile(r"[,;.!()]|\b(?:because|but|and|so|where|while|which|who)\b").search(sentence, end, end + 80)
    return sentence[end : stop.start() if stop else end + 80]


_SECOND = {
    "works_as": ("works_at", re.compile(r"\s+(?:at|for|with)\s+")),
    "studies": ("studies_at", re.compile(r"\s+at\s+")),
}


def _second(sentence: str, pos: int, end: int, subject: str, attribute: str, when: When | None) -> Iterator[Finding]:
    """What a second phrase adds: "a nurse at Mercy Hospital"; both hold from the same day on."""
    if attribute in _SECOND and (match := _SECOND[attribute][1].match(sentence, end)):
        found = _organisation(sentence, match.end())
        if found is not None:
            yield Finding(
                subject=subject, attribute=_SECOND[attribute][0], value=found[0], start=pos, end=found[1], when=when
            )  # fmt: skip


_PET_NAMED = re.compile(r"(?P<kind>[a-z ]+) (?P<name>[A-Z][a-z]+)")


def _other_names(value: str, subject: str, start: int, end: int) -> Iterator[Finding]:
    """Who says "my dog Rex died" may have said "I have a dog named Rex": no longer so either."""
    named = _PET_NAMED.fullmatch(value)
    if named is not None:
        article = "an" if named["kind"][0] in "aeiou" else "a"
        for word in ("named", "called"):
            said = f"{article} {named['kind']} {word} {named['name']}"
            yield Finding(subject=subject, attribute="has_pet", value=said, start=start, end=end, retracts=True)


_LIST = re.compile(
    r"((?:,\s+(?!and\b)[^\s,.;!?()]+(?: [^\s,.;!?()]+){0,3}){0,8}),?\s+and\s+([^\s,.;!?()]+(?: [^\s,.;!?()]+){0,3})(?=\s*(?:[.;!]|$))"
)


_FINITE = re.compile(
    r"'(?:re|s|m|ve|d|ll|t)\b|\b(?:is|are|was|were|am|has|have|had|do|does|did|gets?|makes?|keeps?|gives?|loves?|likes?|hates?|can|will|takes?|helps?|feels?)\b",
    re.IGNORECASE,
)


def _more(sentence: str, pos: int, end: int, subject: str, attribute: str, first: str) -> Iterator[Finding]:
    """The other items of a list: "I like hiking, chess and baking"."""
    match = _LIST.match(sentence, end)
    if match is None or not match[1]:
        return
    items = [
        (m.group(), m.start()) for m in re.compile(r"[^\s,][^,]*").finditer(sentence, match.start(1), match.end(1))
    ]
    items.append((match[2], match.start(2)))
    gerund = first.split()[0].endswith("ing")
    if any(_FINITE.search(item) for item, _ in items):
        return
    for item, at in items:
        found = _noun_phrase(sentence[: at + len(item)], at)
        if found is None or found[1] != at + len(item.rstrip()) or (gerund and item.count(" ") > 2):
            return
    for item, at in items:
        yield Finding(subject=subject, attribute=attribute, value=item.strip(), start=pos, end=at + len(item.rstrip()))


def _refused_after(sentence: str, end: int, retracts: bool) -> bool:
    rest = sentence[end : end + 24]
    if rest[:2] == "'s" or rest[:1] in ("-", "/", "\ue000", "@", "_"):
        return True
    after = _AFTER.match(rest)
    return after is not None and not (retracts and _GONE.match(rest))


def _when(sentence: str, end: int, said_at: datetime, time_lead: str) -> When | None:
    if time_lead:
        found = find_en(time_lead, said_at)
        return None if found is None else When(found.at, found.label, 0, found.exact_year)
    stop = re.compile(r"[,;.!()]|\b(?:because|but|and|so|where|when|while|which|who)\b").search(sentence, end, end + 80)
    return find_en(sentence, said_at, end, stop.start() if stop else min(len(sentence), end + 80))


# --------------------------------------------------------------------------------------------------- values

_CAP = r"[A-ZÀ-ÖØ-Þ][\w'.&-]*(?<!\.)"
_PLACE = re.compile(
    rf"(?:the )?{_CAP}(?:(?: (?:of|de|la|le|upon|and|on|du|del|al|the|&))? {_CAP}){{0,4}}(?:, {_CAP}(?: {_CAP})?)?"
)
_LOWER_PLACE = re.compile(r"[a-z]+(?: [a-z]+)?")
_NO_PLACE = frozenset(
    """mars venus january february march april may june july august september october november december monday tuesday wednesday thursday
    friday saturday sunday christmas easter halloween i i'm i've i'll i'd my hell heaven god peace fear love windows english french german
    spanish italian chinese japanese russian aunt uncle mom mum dad grandma grandpa dr mr mrs ms the therapy church no yes it he she
    they we you and but so because this that there here thanks oh well prison bed denial town""".split()
)
_INSTITUTIONS = frozenset(
    """hospital bank school university college restaurant startup start-up library bakery cafe café museum company firm hotel clinic shop
    store bookstore bookshop agency factory nonprofit non-profit charity lab laboratory kindergarten gym zoo theater theatre
    newspaper magazine supermarket pharmacy nursery salon studio brewery airline airport studio institute ministry""".split()
)
_ORG_LOWER = re.compile(
    r"(?:an?|the|our) (?:[a-z-]+ ){0,3}?([a-zé-]+)\b(?! (?:school|center|centre|firm|company|agency|store))"
)
_FIELDS = re.compile(
    r"(?:marketing|finance|sales|tech|IT|it support|advertising|education|healthcare|health care|hospitality|retail|logistics|construction|law"
    r"|real estate|software|accounting|banking|insurance|publishing|journalism|media|human resources|HR|customer service|public relations|PR"
    r"|research|consulting|engineering|manufacturing|tourism|agriculture|fashion|film|cybersecurity|data science|architecture|nursing)\b"
    r"(?=\s*(?:[,.;!)]|$|(?:and|but|in|at|for|now|since|because)\b))"
)
_BOUNDARY = frozenset(
    """such or sometimes because but so since when while that which who where if though although after before until unless especially even too lately
    recently now then than as just right whenever cuz cause - – — & lol haha anymore always either whatever ever except
    well also i'm i've i it's""".split()
)
_NP_FIRST_DENIED = frozenset(
    """it that this these those you your yours him her his them their its he she they me myself how what when where why who whom my our us
    a an some one all every everything anything something nothing both any another such so being doing seeing hearing talking chatting
    having knowing getting going it's that's was went said had totally not of the to option i i'm we things stuff people everyone
    someone anyone more most less no and but very much or with in on at for by from up if is are were here there
    just too thinking saying telling feeling looking messing making be as seeing trying dealing waiting starting spending
    finding giving keeping putting taking using letting watching sharing hearing bringing living""".split()
)
_NP_DENIED = frozenset(
    "you your yours it it's him her them that this these those here there me us we he she they i i'm i've its everyone yourself".split()
)
_THE = re.compile(
    r"the (?:ocean|sea|beach|mountains|outdoors|countryside|rain|snow|cold|heat|winter|summer|autumn|spring|piano|violin|guitar|cello"
    r"|cinema|theater|theatre|opera|city|gym|(?:smell|sound|taste) of [a-z]+(?: [a-z]+)?|[A-Z]\w+(?: [A-Z]\w+){0,3})(?=\s*(?:[,.;!)]|$|(?:and|but|because|so|in)\b))"
)
_RESTRICTED = re.compile(r"\s+(?:that|who|which|where|whose)\b")
"""People who lie are not people: what is narrowed down in a clause of its own is not taken."""
_INTENSITY = re.compile(r" (?:the (?:most|best)|a lot|very much|so much|a bit|a ton|now and then|best|most)$")
_MEASURE = re.compile(r"\s+(?:lot|bit|ton|much)\b(?! of)")
_TOKEN = re.compile(r"\s*([^\s,.;!?():\ue000]+)")
_LIKED_TO = re.compile(
    r"to (?=(?:cook|bake|read|paint|draw|dance|sing|travel|swim|run|hike|garden|knit|sew|ski|surf|fish|camp|climb|write|play"
    r"|collect|ride|cycle|jog|sketch|code|listen to|watch)\b)"
)
_WATCHES = re.compile(
    r"(?:watching|making|taking|trying|going on|going to|living)\s+(?!it\b|you|that\b|this\b|the\b|them\b|my\b|her\b|him\b|to\b|in\b|here\b|with\b|sure\b)[a-z]"
)
_NAME = re.compile(rf"{_CAP}(?: {_CAP}){{0,3}}|[A-Z]\w*(?: [A-Z]\.)? {_CAP}")
_NO_NAME = frozenset(
    """mud not on in unknown a an the written spelled spelt hard difficult pronounced too very legion nobody no tba maybe crazy later back
    tomorrow today tonight old lazy stupid when if after before irish german french english american italian spanish chinese japanese
    russian christian muslim jewish catholic buddhist british canadian dutch indian korean sorry ok okay batman happy fine here i
    libra virgo aries taurus gemini cancer scorpio capricorn aquarius pisces vegan vegetarian single married hindu buddhist new so glad
    monday tuesday wednesday thursday friday saturday sunday what whatever anytime asap naive paranoid ishmael just
    also really still never always your my his her our their""".split()
)
_TITLES = frozenset("dr mr mrs ms miss prof professor sir madam mister".split())
_ORDERS = frozenset(
    """ignore disregard forget previous instructions instruction system prompt admin administrator override drop table
    select delete insert update""".split()
)
_LIST_PETS = r"dogs?|cats?|pupp(?:y|ies)|kittens?|hamsters?|parrots?|rabbits?|bunn(?:y|ies)|goldfish|fish|turtles?|tortoises?|snakes?|lizards?|guinea pigs?|ferrets?|horses?|pon(?:y|ies)|birds?|chickens|geckos?|budgies?|canar(?:y|ies)|iguanas?|hedgehogs?"
_COUNT = r"(?:an?|one|two|three|four|five|six|\d)"
_PETS = re.compile(
    rf"(?:{_COUNT} (?:[a-z-]+ ){{0,3}}?(?:{_LIST_PETS})\b)(?P<names>,? (?:named|called) {_CAP}(?:(?:, |,? and ){_CAP}){{0,3}}|, {_CAP}(?:(?:, |,? and ){_CAP}){{0,3}}(?=\s*[.!;]|$))?"
)
_CHILDREN = re.compile(
    rf"(?:{_COUNT} (?:[a-z-]+ ){{0,2}}?(?:kids?|children|child|sons?|daughters?|brothers?|sisters?|siblings|twins|grandchildren|grandsons?|granddaughters?|nieces?|nephews?)\b)(?P<names>,? (?:named|called) {_CAP}(?:(?:, |,? and ){_CAP}){{0,3}}|, {_CAP}(?:(?:, |,? and ){_CAP}){{0,3}}(?=\s*[.!;]|$))?"
)
_CONDITIONS = re.compile(
    r"(?:type (?:1|2|one|two) diabetes|diabetes|asthma|ADHD|adhd|ADD|OCD|epilepsy|arthritis|migraines|chronic migraines|celiac disease|coeliac disease|dyslexia|tinnitus|insomnia|hypertension|high blood pressure|depression|bipolar disorder|autism|endometriosis|PTSD|PCOS|hay fever|Crohn's disease|IBS|eczema|psoriasis|lupus|scoliosis|multiple sclerosis)\b(?=\s*(?:[,.;!)]|$)|\s+(?:and|but|so|since|because|too|as|which|that|when|now|anymore|any more|any longer|type|last|this|at age|at the age|two|three|a few|\d|recently|years?|for (?:\d|many|years|the|over|as long)|in (?:\d{4}|[A-Z]\w+|my (?:teens|twenties|thirties|forties|childhood)))\b)"
)
_LANGUAGES = re.compile(
    r"(?:(?:fluent|some|a little|a bit of|basic|native|good|conversational) )?(?:English|French|German|Spanish|Italian|Portuguese|Mandarin|Cantonese|Chinese|Japanese|Korean|Russian|Arabic|Hindi|Turkish|Dutch|Swedish|Norwegian|Danish|Finnish|Polish|Czech|Greek|Hebrew|Vietnamese|Thai|Hungarian|Romanian|Ukrainian|Urdu|Bengali|Tamil|Swahili|Persian|Farsi|Catalan|Irish|Welsh|Latin|ASL|sign language)\b"
)
_LANGUAGE_LIST = re.compile(
    rf"{_LANGUAGES.pattern}(?:(?:, |,? and ){_LANGUAGES.pattern}){{0,4}}(?! (?:teacher|tutor|class|food|course|homework|cuisine|culture|history))",
    re.IGNORECASE,
)
_SKILLS = re.compile(
    r"(?:the )?(?:piano|violin|guitar|bass guitar|bass|cello|drums|flute|ukulele|saxophone|trumpet|clarinet|harp|harmonica|chess|tennis|football|soccer|basketball|baseball|volleyball|badminton|cricket|rugby|golf|hockey|table tennis|squash|video games|board games|Minecraft|poker|ping pong)\b(?:(?:,| and) (?:the )?(?:piano|violin|guitar|drums|chess|tennis|basketball|football|soccer)\b)?(?! (?:role|part|card|music))"
)
_NATIONALITY = re.compile(
    r"(?:half[- ])?(?:American|British|English|Scottish|Irish|Welsh|French|German|Spanish|Italian|Portuguese|Dutch|Belgian|Swiss|Austrian|Swedish|Norwegian|Danish|Finnish|Polish|Czech|Hungarian|Romanian|Bulgarian|Greek|Turkish|Russian|Ukrainian|Chinese|Japanese|Korean|Vietnamese|Thai|Indian|Pakistani|Indonesian|Filipino|Malaysian|Australian|Canadian|Mexican|Brazilian|Argentinian|Chilean|Colombian|Peruvian|Cuban|Egyptian|Moroccan|Nigerian|Kenyan|Ethiopian|Iranian|Israeli|Lebanese)(?=\s*(?:[,.;!)]|$|(?:and|but|so)\b))"
)
_MONTH = r"(?:January|February|March|April|May|June|July|August|September|October|November|December|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?"
_DATE = re.compile(
    rf"(?:(?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}|{_MONTH} (?:the )?\d{{1,2}}(?:st|nd|rd|th)?\b)(?:,? (?P<year>(?:19|20)\d\d)\b)?"
)
_YEAR = re.compile(r"(?:19|20)\d\d\b(?![-–/])")
_AGE = re.compile(
    r"(\d{1,3}|twenty|thirty|forty|fifty|sixty|seventy|eighteen|nineteen)(?:[ -]years?[ -]old\b|(?= *(?:[,.;!]|$)| (?:last|this|in|on|yesterday|today|two|a few|and)\b))"
)
_AGE_OLD = re.compile(r"(\d{1,3}) (?:years? old|yo|y/o)\b")
_DIET = re.compile(
    r"(?:an? |strict |lifelong |a strict |a lifelong )?(vegetarian|vegan|pescatarian|pescetarian|gluten[- ]free|teetotal|kosher|halal)\b(?! (?:food|restaurant|recipe|chef|cook|diet|option|dish|meal|friend|at heart|curious|on))"
)
_MARITAL = re.compile(
    r"(?:happily |recently |newly )?(married|single|divorced|engaged|widowed|a widow|a widower|separated)\b(?=\s*(?:[,.;!)]|$|(?:and|but|since|for|with (?:\w+ )?(?:kids|children)|now|to (?=[A-Z]|my (?:\w+ )?(?:wife|husband|partner|friend|love|sweetheart|soulmate)\b|the love|an? (?:\w+ )?(?:man|woman|doctor|nurse|teacher|lawyer|engineer|guy)\b)|at the moment|again|last|in [A-Z\d])))"
)
_GENDER = re.compile(
    r"(?:an? )?(trans(?:gender)? (?:wo)?man|woman|man|girl|guy|female|male|boy|non-?binary)\b(?=\s*(?:[,.;!)]|$|(?:and|but|so)\b|in my (?:twenties|thirties|forties|fifties|sixties)))"
)
_TEMPER = re.compile(
    r"(?:an? |very |quite |pretty |a bit of an? |such an? |a total |a real |more of an? )?(introvert(?:ed)?|extrovert(?:ed)?|extravert(?:ed)?|outgoing person|perfectionist|night owl|early bird|morning person)\b(?=\s*(?:[,.;!)]|$|(?:and|but|so|by)\b))"
)
_DRINKS = re.compile(
    rf"{FOODS}(?:(?:, |,? (?:and|or) ){FOODS}){{0,4}}(?=\s*(?:[,.;!)]|$)|\s+(?:and(?! bolts)|but|because(?! it\b)|so|at all|or|since|due to)\b)"
)
_LEFT_OUT = re.compile(
    rf"(?:{FOODS}|{HABITS})(?=\s*(?:[,.;!)]|$)|\s+(?:and|but|because|so|for good|completely|entirely|since)\b)"
)
_HEALTH = re.compile(
    r"(?:(?:type (?:1|2|one|two) )?diabetic|(?:lactose|gluten|histamine|fructose)[- ]intolerant|colou?r[- ]?blind|(?:legally |partially )?blind|(?:partially )?deaf|hard of hearing|visually impaired|in a wheelchair|claustrophobic|epileptic|asthmatic)"
    r"(?=\s*(?:[,.;!)]|$)|\s+(?:and|but|so|since|in (?:my|one)|because)\b)(?! (?:to|with|by|as)\b)"
)
_FEARS = re.compile(
    r"(?:heights|flying|spiders|snakes|dogs|needles|deep water|water|the dark|enclosed spaces|tight spaces|crowds|horses|bees|wasps|blood|elevators|escalators)(?=\s*(?:[,.;!)]|$)|\s+(?:and|but|so|since|because)\b)"
)
_UNABLE = re.compile(
    r"(?:swim|drive|cycle|ride a bike|climb stairs|walk (?:far|long distances)|lift (?:heavy things|anything heavy)|have (?:caffeine|alcohol|gluten|dairy|sugar|nuts|shellfish|lactose)|stand for long|tolerate (?:lactose|gluten|dairy|alcohol|caffeine|heat))"
    r"(?=\s*(?:[.;!)]|$)|,(?! (?:can|right)\b)|\s+(?:and|but|so|because|due to|at all|since)\b)"
)
_MONEY = r"(?:[$€£¥] ?\d[\d,.]*\d?k?|\d[\d,.]*k? ?(?:euros?|dollars|bucks|pounds|yuan|yen|francs|kronor|rupees|EUR|USD|GBP|CNY|RMB|€|\$|£))"
_EACH = r"(?: (?:a|per|each) (?:day|week|month|year|person))?"
_TEST = (
    r"(?:[A-Za-z'-]+ ){0,2}?(?:exams?|finals|midterms|driving test|bar(?: exam)?|SATs?|GRE|GMAT|LSAT|MCAT|TOEFL|IELTS|HSK|JLPT|A-levels|certification|citizenship test"
    r"|marathon|half[- ]marathon|triathlon|ultramarathon|ironman|10k|5k)"
)
_TEST_END = re.compile(
    rf"(?:(?:my|the|an?|our) )?(?P<v>(?!(?:next|last|today|imaginary|fake|mock)\b){_TEST})(?=\s*(?:[,.;!)]|$)|\s+(?:and|but|so|in|next|this|at|right|because|with|since|these|now)\b)"
)
_SAVED_FOR = re.compile(
    r"(?P<v>(?:retirement|college|university|(?:an?|my|our|the) (?:(?:new|own|first|big|better|used|second|trip|dream) ){0,2}(?:house|home|flat|apartment|car|bike|motorbike|laptop|computer|phone|camera|wedding|honeymoon|holiday|vacation|trip|boat|van|guitar|piano|business|deposit|down payment|degree|education)(?: (?:to|in) [A-Z]\w+)?))"
    r"(?=\s*(?:[,.;!)]|$)|\s+(?:and|but|so|because|in|next|with|now|this)\b)"
)
_DIET_NAMED = re.compile(
    r"an? (?P<v>(?:(?:strict|very|new|special|restricted) )?(?:(?:(?:low|high)[- ](?:carb|fat|sodium|salt|sugar|calorie|fodmap|protein|fib(?:re|er))|keto(?:genic)?|paleo|mediterranean|vegan|vegetarian|gluten[- ]free|dairy[- ]free|sugar[- ]free|diabetic|liquid|renal|dash) )?diet)\b"
    r"(?=\s*(?:[,.;!)]|$)|\s+(?:and|but|so|because|since|to|for|now|right|these|at the moment|this)\b)",
    re.IGNORECASE,
)
_KINDS = "color|colour|food|movie|film|book|song|band|singer|author|season|sport|animal|dish|game|city|fruit|drink|flower|subject|country|dessert|team|artist|genre|composer|painter|cuisine|hobby|show|tv show|ice cream|instrument|holiday"


def _place(sentence: str, pos: int) -> tuple[str, int] | None:
    match = _PLACE.match(sentence, pos)
    if match is not None:
        value = match.group()
        if (
            value.startswith("the ")
            and " " not in value[4:]
            and value[4:]
            not in ("UK", "US", "USA", "Netherlands", "Philippines", "Bronx", "Hague", "Bahamas", "Alps", "Louvre")
        ):
            return None
        tokens = [t.strip(",.'").lower() for t in value.removeprefix("the ").split()]
        if tokens[0] in _NO_PLACE or len(value) < 2 or "'s" in value or sentence[match.end() : match.end() + 2] == "'s":
            return None
        for i, token in enumerate(tokens[1:], 1):  # "Lyon, May …" and "Paris and I": keep what stands before
            if token in _NO_PLACE:
                kept = re.compile(rf"(?:the )?(?:[\w'.&-]+,? ?){{{i}}}").match(value)
                cut = (kept.group() if kept else "").rstrip(" ,")
                cut = re.sub(r" (?:and|of|on|the|al|de|la|le)$", "", cut)
                return (cut, pos + len(cut)) if cut else None
        if " and " in value:
            value = value.partition(" and ")[0] if value.partition(" and ")[2][:1].islower() else value
        following = re.compile(r" ([a-z-]+)").match(sentence, pos + len(value))
        if following and following[1] in (
            "style",
            "time",
            "mode",
            "fashion",
            "fans",
            "movies",
            "songs",
            "music",
            "books",
            "food",
            "people",
            "restaurant",
            "team",
            "jersey",
        ):
            return None
        return value, pos + len(value)
    lower = _LOWER_PLACE.match(sentence, pos)
    if lower is None:
        return None
    for candidate in (lower.group(), lower.group().split()[0]):
        if candidate in words("places"):
            return candidate, pos + len(candidate)
    return None


def _visited_place(sentence: str, pos: int) -> tuple[str, int] | None:
    found = _place(sentence, pos)
    if found is None or re.compile(r"(?: |, )(?:church|Church|Party|party|and (?:I|we|he|she))\b").match(
        sentence, found[1]
    ):
        return None
    head = found[0].split(",")[0].removeprefix("the ").lower()
    known = head in words("places") or re.search(
        r"\b(?:park|museum|island|islands|beach|lake|canyon|mountains|castle|city|alps|zoo|louvre|gallery|uk|us|usa|falls|valley|cathedral)$",
        head,
    )
    return found if known else None


def _organisation(sentence: str, pos: int) -> tuple[str, int] | None:
    lower = _ORG_LOWER.match(sentence, pos)
    if lower is not None:
        vague = lower.group() in (
            "a company",
            "the company",
            "our company",
            "a firm",
            "a shop",
            "the store",
            "the gym",
            "the shop",
        )
        return (lower.group(), lower.end()) if lower[1] in _INSTITUTIONS and not vague else None
    found = _place(sentence, pos)
    if found is not None and found[0].lower() in (
        "night",
        "noon",
        "midnight",
        "dawn",
        "dusk",
        "weekends",
        "large",
        "home",
    ):
        return None
    return found if (found and found[0][:1].isupper()) or (found and found[0].startswith("the ")) else None


_OCC = re.compile(
    r"an? ((?:[A-Za-z-]+ ){0,3}?[A-Za-z-]+)(?=\s*(?:[,.;!)]|$)|\s+(?:at|in|for|by|now|too|here|with|working|from|and|who|since|but|because|so|specializing|specialising|on|last|yesterday|any ?more|any longer)\b)"
)
_NOT_OCC = frozenset(
    """bad good great terrible horrible decent fast slow big quick lifelong visual former ex aspiring future wannabe would-be amateur lousy
    huge better worse natural born true fake failed frustrated secret real total lucky careful safe nervous proud supermodel not
    struggling second-rate mediocre pretty awful excellent amazing fantastic happy poor role homebody messy picky heavy hopeless brilliant
    wonderful fellow non fictional home""".split()
)


def _occupation(sentence: str, pos: int) -> tuple[str, int] | None:
    match = _OCC.match(sentence, pos)
    if match is None:
        return None
    tokens = match[1].lower().split()
    known = tokens[-1] in words("occupations_en") or " ".join(tokens[-2:]) in words("occupations_en")
    if not known or any(t in _NOT_OCC for t in tokens):
        return None
    if re.compile(
        r" (?:in (?:my|your|his|her|their|our|another|the game|this|training|a |disguise|the making|name)|at (?:heart|parties)|by nature|for (?:a day|Halloween|once)|and a half|on (?:the side|weekends|tv|TV|television|stage|screen|paper|Halloween))"
    ).match(sentence, match.end()):
        return None
    return match.group(), match.end()


_JOB_END = re.compile(
    r"(?:er|or|ist|ian|ant|ent|man|woman|person|eer|ess|tech|rep|lead|hand|aide|clerk|head|officer|sitter|au pair|apprentice|consul|fellow|dj|DJ|ceo|cto|cfo|coach|host|maid|volunteer|cop|sommelier|temp|steward)$"
)
_NOT_JOB = frozenset(
    """number matter order parent filter character member partner winner loser deterrent answer letter paper power weather other
    brother sister mother father never ever together barrier buffer placeholder client incentive supplement statement container
    computer error mirror color colour anchor sponsor replacement""".split()
)


def _job(sentence: str, pos: int) -> tuple[str, int] | None:
    """After "work as": whatever stands there up to a boundary, with its article."""
    match = re.compile(
        r"(?:an? |the )([A-Za-z][\w-]*(?: [A-Za-z][\w-]*){0,3}?)(?=\s*(?:[,.;!)]|$)|\s+(?:at|in|for|and|but|with|from|because|since|on|near|now|so|here|these|when|while)\b)"
    ).match(sentence, pos)
    if match is None:
        return None
    *before, last = match[1].lower().split()
    known = last in words("occupations_en") or _JOB_END.search(last)
    if not known or last in _NOT_JOB or "student" in before or any(t in _NOT_OCC for t in (*before, last)):
        return None
    if last == "player" and (not before or before[-1] in ("team", "key", "major", "solo", "dvd", "record")):
        return None
    return match.group(), match.end()


def _noun_phrase(sentence: str, pos: int, first: str | None = None) -> tuple[str, int] | None:
    the = _THE.match(sentence, pos)
    if the is not None:
        return the.group(), the.end()
    if liked := _LIKED_TO.match(sentence, pos):
        pos = liked.end()
        first = "to"
    tokens: list[str] = []
    end = at = pos
    trimmed = False
    prepositions = []
    while True:
        token = _TOKEN.match(sentence, at)
        if token is None:
            if at < len(sentence) and sentence[at] in "\ue000":
                return None
            break
        word = token[1].lower()
        if tokens and (
            word in _BOUNDARY
            or (word in ("any", "these") and _GONE.match(sentence, end))
            or (word in ("a", "very", "so") and _MEASURE.match(sentence, token.end()))
            or (word in ("with", "for", "in", "at") and _private(sentence, token.end()))
        ):
            break
        if tokens and word == "like" and not re.compile(r"\s+[A-Z]").match(sentence, token.end()):
            break
        if word in ("and", "or") and tokens and _clause_follows(sentence, token.end()):
            break
        if len(tokens) == _MAX_WORDS:
            trimmed = True
            break
        if word in ("in", "at", "with", "for", "on", "by", "about", "during", "from", "every", "and", "or"):
            prepositions.append((len(tokens), end))
        tokens.append(word)
        at = end = token.end()
    if trimmed:
        usable = [p for p in prepositions if p[0] > 0]
        if not usable:
            return None
        count, end = usable[-1]
        tokens = tokens[:count]
    if not tokens or (first is None and tokens[0] in _NP_FIRST_DENIED and not _WATCHES.match(sentence, pos)):
        return None
    if any(t in _NP_DENIED for t in tokens) or tokens[-1] in (
        "and",
        "or",
        "to",
        "of",
        "the",
        "a",
        "my",
        "with",
        "in",
        "is",
        "was",
    ):
        return None
    if tokens in (["activities"], ["hobbies"]):
        return None
    if len(tokens) == 1 and not any(c.isalpha() for c in tokens[0]):
        return None
    if _RESTRICTED.match(sentence, end) or (
        len(tokens) > 1 and tokens[-2] in ("a", "an") and sentence[end : end + 1] == ","
    ):
        return None
    end = pos + len(_INTENSITY.sub("", sentence[pos:end]))
    value = sentence[pos:end].strip().strip("\"'“”‘’*_~")
    return (value, end) if len(value) > 1 and value[0].isalnum() else None


def _private(sentence: str, pos: int) -> bool:
    """Whether a phrase such as "with my sister" or "in my free time" begins: it says more than what is liked."""
    return (
        re.compile(r"\s+(?:my|me|him|her|them|you|us|our|the (?:morning|evening|afternoon|weekend))\b").match(
            sentence, pos
        )
        is not None
    )


def _clause_follows(sentence: str, pos: int) -> bool:
    return re.compile(
        r"\s+(?:i|i'm|i've|we|you|he|she|it|it's|they|my|that|this|would|have|want|am|is|was|had|also|then|my|our|how|what|hate|love|like|don't|do|did|can|could|the|so|not)\b",
        re.IGNORECASE,
    ).match(sentence, pos) is not None  # fmt: skip


def _name(sentence: str, pos: int) -> tuple[str, int] | None:
    match = _NAME.match(sentence, pos)
    if match is None:
        lower = re.compile(r"[a-z]{2,15}(?=\s*(?:[,.;!]|$))").match(sentence, pos)
        if lower is None or lower.group() in _NO_NAME or lower.group() in words("names_not"):
            return None
        return lower.group(), lower.end()
    value, end = match.group(), match.end()
    tokens = value.split()
    if tokens[0].lower() in _NO_NAME:
        return None
    if len(tokens) > 1 and tokens[-1] in ("I", "I'm", "I've", "My"):
        value = value[: -len(tokens[-1])].rstrip()
        end = pos + len(value)
    value = value.removesuffix("'s")
    spoken = [t.lower().strip(".") for t in value.split()]
    if value.endswith("'") or len(spoken) > 3 or spoken[-1] in _TITLES or any(t in _ORDERS for t in spoken):
        return None
    return (value, pos + len(value)) if not sentence[end : end + 1].isalnum() and len(value) > 1 else None


def _ended_name(sentence: str, pos: int) -> tuple[str, int] | None:
    found = _name(sentence, pos)
    if found is None or not re.compile(r"\s*(?:[,.;!)\"]|$|(?:for short|please|instead|from|and)\b)").match(
        sentence, found[1]
    ):
        return None
    return found


def _regex(pattern: re.Pattern[str], group: int = 0) -> Read:
    def read(sentence: str, pos: int) -> tuple[str, int] | None:
        match = pattern.match(sentence, pos)
        return None if match is None else (match[group].rstrip("."), match.start(group) + len(match[group].rstrip(".")))

    return read


def _age(pattern: re.Pattern[str]) -> Read:
    numbers = {
        "eighteen": 18,
        "nineteen": 19,
        "twenty": 20,
        "thirty": 30,
        "forty": 40,
        "fifty": 50,
        "sixty": 60,
        "seventy": 70,
    }

    def read(sentence: str, pos: int) -> tuple[str, int] | None:
        match = pattern.match(sentence, pos)
        if match is None:
            return None
        age = numbers.get(match[1]) or (int(match[1]) if match[1].isdecimal() else 0)
        return (str(age), match.end()) if 4 <= age <= 119 else None

    return read


def _subject_of_study(sentence: str, pos: int) -> tuple[str, int] | None:
    match = re.compile(
        r"((?!(?:hard|abroad|here|there|at|in|for|with|a|an|the|my|every|all|until|on|it|that|this|too|when|what|how|together|late|best|better|alone|more|from|and|online|by|to|as|your|because|while|well|lot|lots|so|really)\b)[A-Za-z]+(?: (?:(?!at\b|in\b|for\b|with\b|because\b|but\b|on\b|so\b|right\b|now\b|every\b|all\b|when\b|while\b|from\b|I\b|here\b)[A-Za-z]+)){0,3})(?=\s*(?:[,.;!)]|$)|\s+(?:at|in|because|but|right now|now|so|from|here|and)\b)"
    ).match(sentence, pos)
    return None if match is None else (match[1], match.end())


def _pets(sentence: str, pos: int) -> tuple[str, int] | None:
    match = _PETS.match(sentence, pos)
    if match is None or not _PET_END.match(sentence, match.end()) or _NOT_MINE.search(sentence, match.end()):
        return None
    return match.group(), match.end()


_PET_END = re.compile(
    r"\s*(?:[,.;!)]|$)|\s+(?:and|but|so|because|since|at home|named|called|too|now|as (?:well|pets?|a pet)|yesterday|today|last|this (?:week|month|year|summer|spring|morning)|(?:two|three|four|a few|\d+|an?) (?:days?|weeks?|months?|years?)"
    r"|who|that (?:loves?|likes?|sleeps?|barks?|is|are|I|we)|with|from|for (?:the|over|about|almost|\d|two|three|four|many|my)|already|whom|which|of my own|in (?:the|my|our) (?:house|home|apartment|flat|garden|yard)|when|while|these days|recently|any ?more|any longer|together|I|we|in (?:\d{4}|[A-Z]\w+))\b"
)
"""A pet is one only where its noun phrase ends: "a dog day" and "a dog in this fight" are none."""
_NOT_MINE = re.compile(
    r"\b(?:isn't|aren't|is not|are not|not)(?: \w+)? (?:mine|ours|my own|real)\b|\bbelongs?\b|\bmy neighbou?r's\b|\bcosplay"
)


def _children(sentence: str, pos: int) -> tuple[str, int] | None:
    match = _CHILDREN.match(sentence, pos)
    if match is None or re.compile(
        r" (?:in (?:my|the) (?:class|team|group)|to (?:teach|tutor|feed)|menu|book|meal|room|at (?:work|the))"
    ).match(sentence, match.end()):
        return None
    return match.group(), match.end()


# --------------------------------------------------------------------------------------------------- rules

_KIN = (
    r"sister|brother|mother|father|mom|mum|dad|wife|husband|son|daughter|girlfriend|boyfriend|partner|fiancée?|grandmother|grandfather"
    r"|grandma|grandpa|aunt|uncle|cousin|niece|nephew|best friend|friend|roommate|flatmate|boss|neighbor|neighbour|colleague"
    r"|stepfather|stepmother|mother-in-law|father-in-law|sister-in-law|brother-in-law|twin sister|twin brother|twin"
)
_MY_KIN = (
    rf"[Mm]y (?:older |elder |younger |little |big |eldest |youngest |baby )?(?P<kin>{_KIN})(?:,? (?P<who>{_CAP}))?,? "
)
_MY_KIN_S = rf"[Mm]y (?:older |elder |younger |little |big |eldest |youngest |baby )?(?P<kin>{_KIN})"
_ADV = r"(?:(?:really|absolutely|also|just|actually|currently|now|still|truly|totally|recently|finally|already|even|do|both|certainly|definitely|especially|personally|simply|mostly|usually|all|always|generally|originally|only|so|sure|quite|particularly|genuinely|officially|presently|much|kind of|sort of) ){0,2}"
_I = rf"(?:[Ii]|[Ww]e) {_ADV}"
_IM = rf"(?:[Ii]'m|[Ii] am|[Ii]m) {_ADV}"
_IVE = rf"(?:[Ii]'ve|[Ii] have|[Ww]e have|[Ww]e've) {_ADV}"


_FIRM = r"(?:(?:really|also|just|actually|currently|now|still|truly|definitely|seriously|finally|always|desperately|recently|absolutely|do|even|only|simply|already) ){0,2}"
"""Adverbs that leave a goal or a limit certain."""
_NO_LONGER = r"(?:[Ii]'m|[Ii] am) no longer "
_ANY_MORE = r"[^.,;!?]{2,60}\b(?:any ?more|any longer)\b"
_END_OR_TIME = r"(?=\s*(?:[.;!,]|$)|\s+(?:last|yesterday|today|this|in \d|two|three|a few|and|because|but|now)\b)"


def _kin_subject(match: re.Match[str]) -> str | None:
    who = match.groupdict().get("who")
    if who and (who.lower() in _NO_PLACE or who.lower() in _NO_NAME):
        return None
    if who and who.endswith("'s"):
        who = who[:-2]
    return f"{match['kin'].lower()} {who}" if who else match["kin"].lower()


_Rule = tuple[str, str, re.Pattern[str], Read, bool]


def _rule(attribute: str, pattern: str, read: Read, *, retracts: bool = False) -> _Rule:
    return (USER, attribute, re.compile(pattern), read, retracts)


@cache
def _rules() -> tuple[_Rule, ...]:
    favorite = rf"(?:(?:all[- ]time )?(?P<thing>{_KINDS})) (?:is|has always been|has to be) (?:called |probably )?"
    return (
        # no longer so
        _rule("lives_in", rf"[Ii] {_ADV}(?:no longer live|don't live|do not live) in ", _place, retracts=True),
        _rule("lives_in", rf"[Ii]'m {_ADV}(?:no longer|not) living in ", _place, retracts=True),
        _rule("lives_in", rf"(?:[Ii]|[Ww]e) {_ADV}moved (?:away from|out of) ", _place, retracts=True),
        _rule("lives_in", r"[Ii] used to live in ", _place, retracts=True),
        _rule("works_at", rf"[Ii] {_ADV}(?:no longer work|don't work|do not work|stopped working) (?:at|for) ", _organisation, retracts=True),
        _rule("works_at", rf"[Ii] {_ADV}(?:quit|left|resigned from|lost) my job at ", _organisation, retracts=True),
        _rule("works_at", r"[Ii] used to work (?:at|for) ", _organisation, retracts=True),
        _rule("works_as", r"[Ii] (?:no longer work|don't work|used to work) as ", _job, retracts=True),
        _rule("diet", r"(?:[Ii]'m|[Ii] am) (?:no longer|not) ", _regex(_DIET, 1), retracts=True),
        _rule("likes", rf"[Ii] (?:no longer {_ADV}|don't {_ADV})(?:like|love|enjoy) (?=[^.,;!?]{{2,60}}\b(?:anymore|any more|any longer))", _noun_phrase, retracts=True),
        _rule("likes", r"[Ii] no longer (?:like|love|enjoy) ", _noun_phrase, retracts=True),
        _rule("works_as", rf"{_NO_LONGER}(?=an? )", _occupation, retracts=True),
        _rule("works_as", rf"{_IM}not (?=an? {_ANY_MORE})", _occupation, retracts=True),
        _rule("works_as", r"[Ii] used to be (?=an? )", _occupation, retracts=True),
        _rule("works_as", rf"(?:{_IM}(?:fully )?retired|[Ii] {_ADV}retired|[Ii]'ve retired)(?=\s*(?:[.;!,]|$)|\s+(?:now|last|in \d|this|from|and|but|since|two|three|\d+|a few)\b)", _nothing, retracts=True),
        _rule("works_at", rf"[Ii] {_ADV}(?:quit|left|lost) my job{_END_OR_TIME}", _nothing, retracts=True),
        _rule("works_at", rf"(?:[Ii] (?:got|was) {_ADV}(?:laid off|fired)|{_IM}unemployed){_END_OR_TIME}", _nothing, retracts=True),
        _rule("allergic_to", rf"{_NO_LONGER}allergic to ", _allergen, retracts=True),
        _rule("allergic_to", rf"{_IM}not allergic to (?={_ANY_MORE})", _allergen, retracts=True),
        _rule("allergic_to", rf"{_IM}not (?:actually |really |even )?allergic to (?=[^.,;!?]{{2,40}} after all\b)", _after_all, retracts=True),
        _rule("has_condition", r"[Ii] no longer have ", _regex(_CONDITIONS), retracts=True),
        _rule("has_condition", rf"[Ii] don't have (?={_ANY_MORE})", _regex(_CONDITIONS), retracts=True),
        _rule("has_pet", r"(?:[Ii]|[Ww]e) no longer (?:have|own) ", _pets, retracts=True),
        _rule("has_pet", rf"(?:[Ii]|[Ww]e) (?:don't|do not) (?:have|own) (?={_ANY_MORE})", _pets, retracts=True),
        _rule("has_pet", rf"[Mm]y (?:(?:dear|old|poor|beloved|sweet|little) )?(?=(?:{_LIST_PETS}),? [A-Z])", _dead_pet, retracts=True),
        _rule("marital_status", _NO_LONGER, _regex(_MARITAL, 1), retracts=True),
        _rule("marital_status", rf"{_IM}not (?={_ANY_MORE})", _regex(re.compile(r"(married|single|engaged)(?= any)"), 1), retracts=True),
        _rule("plays", rf"[Ii] (?:no longer play |don't play (?={_ANY_MORE}))", _regex(_SKILLS), retracts=True),
        _rule("dislikes", r"[Ii] no longer (?:hate|dislike) ", _noun_phrase, retracts=True),
        _rule("dislikes", rf"[Ii] don't (?:hate|dislike) (?={_ANY_MORE})", _noun_phrase, retracts=True),
        _rule("wants_to", rf"[Ii] (?:no longer want to|don't {_ADV}want to (?={_ANY_MORE})) ?", named_goal, retracts=True),
        _rule("wants_to", r"[Ii](?:'m| am) no longer (?:trying|planning|hoping) to ", named_goal, retracts=True),
        _rule("wants_to", rf"[Ii](?:'m| am) not (?:trying|planning) to (?={_ANY_MORE})", named_goal, retracts=True),
        _rule("wants_to", r"(?:[Ii] (?:have )?|[Ii]'ve )(?:finally )?(?:stopped|quit|gave up|given up) trying to ", named_goal, retracts=True),
        _rule("wants_to", r"(?:[Ii] (?:have )?|[Ii]'ve )(?:finally |actually |successfully )?(?=quit )", _reached, retracts=True),
        _rule("wants_to", r"(?:[Ii] (?:have )?|[Ii]'ve )(?:(?:finally|now|actually|also) )?(?=learn(?:ed|t) )", _learned, retracts=True),
        _rule("prepares_for", rf"[Ii](?:'m| am) (?:no longer |not (?={_ANY_MORE}))(?:preparing|studying|training) for ", _test, retracts=True),
        _rule("prepares_for", r"(?:[Ii] (?:have )?|[Ii]'ve )(?:finally |just |already )?(?:passed|failed|finished|ran|completed|done) (?=(?:my|the|an?|our) )", _test, retracts=True),
        _rule("on_diet", r"(?:[Ii]'m|[Ii] am) (?:no longer on|off) (?=an? |my )", _diet_ended, retracts=True),
        _rule("budget", r"(?:[Ii]'m|[Ii] am) no longer on a (?:\w+ )?budget", _nothing, retracts=True),
        _rule("avoids", rf"(?:[Ii] {_ADV}(?:can )?|(?:[Ii]'m|[Ii] am) {_ADV})(?:eat|eating|drink|drinking) (?=[^.,;!?]{{2,40}} again\b)", _again, retracts=True),
        # who one is
        _rule("name", r"[Mm]y (?:full |real |first )?name(?: is|'s) (?:\")?", _ended_name),
        _rule("name", r"(?:[Ii]'m|[Ii] am) (?:called|named) ", _ended_name),
        _rule("nickname", r"(?:[Yy]ou (?:can |may )?|[Pp]lease |(?:[Mm]y friends|[Pp]eople|[Ee]veryone|[Ee]verybody) )?[Cc]alls? me ", _capital_name),
        _rule("nickname", r"[Mm]y (?:friends|family) call me ", _capital_name),
        _rule("nickname", r"[Mm]y nickname(?: is|'s) ", _ended_name),
        _rule("gender", _IM, _regex(_GENDER, 1)),
        _rule("gender", r"[Aa]s an? (?=(?:wo)?man, I\b)", _regex(re.compile(r"(woman|man)(?=,)"), 1)),
        _rule("temperament", _IM, _regex(_TEMPER, 1)),
        _rule("birth_year", r"(?:[Ii] was|[Ii]'m) born in ", _regex(_YEAR)),
        _rule("birthday", r"[Ii] was born on ", _regex(_DATE)),
        _rule("birthday", r"[Mm]y birthday(?: is|'s)(?: on)? ", _regex(_DATE)),
        _rule("born_in", r"[Ii] was born (?:and raised )?in ", _place),
        _rule("grew_up_in", rf"[Ii] {_ADV}grew up in ", _place),
        _rule("age", _IM, _age(_AGE_OLD)),
        _rule("age", rf"[Ii] {_ADV}(?:just )?turned ", _age(_AGE)),
        _rule("age", r"[Ii]'m (?=\d\d(?:\s*[,.;!]|\s*$| and ))", _age(re.compile(r"(\d\d)\b"))),
        _rule("nationality", _IM, _regex(_NATIONALITY)),
        _rule("marital_status", _IM, _regex(_MARITAL, 1)),
        _rule("marital_status", rf"(?:[Ii]|[Ww]e) {_ADV}got ", _regex(re.compile(r"(married|divorced|engaged)(?=\s*(?:[,.;!]|$|(?:in|last|on|this|yesterday|to [A-Z]|two|three|a few)\b))"), 1)),
        _rule("marital_status", _IVE + r"been (?:happily )?", _regex(re.compile(r"(married)(?= (?:for|since)\b)"), 1)),
        # where
        _rule("lives_in", _I + r"(?:live|reside) in (?:downtown |central |the city of |northern |southern )?", _lived_place),
        _rule("lives_in", rf"(?:[Ii]'m|[Ii] am|[Ww]e're) {_ADV}(?:living|based|residing) in ", _lived_place),
        _rule("lives_in", _IVE + r"(?:lived|been living) in ", _lived_place),
        _rule("lives_in", _IVE + r"moved to ", _moved_place),
        _rule("lives_in", _I + r"(?:moved|relocated) (?:back |over |here )?(?:from [A-Z]\w+(?: [A-Z]\w+)? )?to ", _moved_place),
        _rule("lives_in", _I + r"(?:live|moved|relocated) (?:in|to|into) (?:an?|the|our) (?:\w+ )?(?:flat|apartment|house|place|town|village|city|suburb|neighbou?rhood|cottage|condo|studio) (?:in|of|called) ", _lived_place),
        _rule("comes_from", _IM + r"from ", _lived_place),
        _rule("comes_from", _I + r"(?:come|hail) from ", _place),
        _rule("comes_from", r"[Mm]y home ?town is ", _place),
        _rule("visited", _I + r"(?:visited|went to|travell?ed to|flew to|(?:just )?(?:got|came) back from (?:a (?:\w+ )?(?:trip|vacation|holiday) (?:to|in) )?|took a trip to) ?", _visited_place),
        _rule("visited", _IVE + r"(?:been to|visited|travell?ed to) ", _visited_place),
        # work and study
        _rule("works_as", _IM + r"(?=an? )", _occupation),
        _rule("works_as", r"[Ii] (?:am|'m) employed as ", _job),
        _rule("works_as", _I + r"(?:work|worked? now) as ", _job),
        _rule("works_as", rf"(?:[Ii]'m|[Ii] am) {_ADV}working as ", _job),
        _rule("works_as", _IVE + r"(?:been working|worked) as ", _job),
        _rule("works_as", rf"[Ii] {_ADV}(?:got (?:a|the) (?:new )?job|started (?:a new job|working|my new job)|became) (?:as )?(?=an? )", _occupation),
        _rule("works_at", _I + r"work (?:\w+[- ]time )?(?:at|for) ", _organisation),
        _rule("works_at", rf"(?:[Ii]'m|[Ii] am) {_ADV}working (?:at|for) ", _organisation),
        _rule("works_at", _IVE + r"(?:been working|worked) (?:at|for) ", _organisation),
        _rule("works_at", rf"[Ii] {_ADV}(?:got (?:a|the) (?:new )?job|started (?:a new job|working|my new job)) (?:at|with|for) ", _organisation),
        _rule("works_in", _I + r"work in ", _regex(_FIELDS)),
        _rule("works_as", r"[Mm]y job is (?=an? )", _occupation),
        _rule("studies_at", rf"(?:[Ii]|[Ii]'m) {_ADV}stud(?:y|ying) at ", _organisation),
        _rule("studies", rf"[Ii] {_ADV}(?:study|major in) ", _subject_of_study),
        _rule("studies", rf"(?:[Ii]'m|[Ii] am) {_ADV}(?:studying|majoring in) (?=[^.!?]{{2,60}}\b(?:at|university|college|degree|major)\b)", _subject_of_study),
        _rule("studies", rf"(?:[Ii]'m|[Ii] am) {_ADV}majoring in ", _subject_of_study),
        _rule("studies", r"[Mm]y major is ", _subject_of_study),
        _rule("graduated_from", rf"[Ii] {_ADV}graduated from ", _organisation),
        # body and table
        _rule("allergic_to", _IM + r"(?:very |severely |deathly |highly |slightly )?allergic to ", _allergen),
        _rule("allergic_to", r"[Ii] have (?:an? )?(?:severe |bad |serious |mild )?(?=(?:peanut|nut|shellfish|pollen|cat|dog|dust|dairy|egg|soy|seafood|gluten|bee|latex|penicillin|milk|wheat) allerg)", _regex(re.compile(r"(\w+) allerg(?:y|ies)\b"), 1)),
        _rule("has_condition", r"[Ii] have (?:had )?(?:mild |severe |chronic )?", _regex(_CONDITIONS)),
        _rule("has_condition", r"[Ii] (?:was|got) (?:recently )?diagnosed with ", _regex(_CONDITIONS)),
        _rule("diet", _IM, _regex(_DIET, 1)),
        _rule("diet", r"[Ii] (?:recently )?(?:became|went) ", _regex(_DIET, 1)),
        _rule("diet", _IVE + r"been ", _regex(_DIET, 1)),
        _rule("avoids", rf"[Ii] {_FIRM}(?:don't|do not|never|won't) (?:eat|drink) (?:any |anything with )?", _avoided),
        _rule("avoids", rf"[Ii] {_FIRM}(?:can't|cannot|can not|must not|mustn't|may not) (?:eat|drink|have) (?:any |anything with )?", _avoided),
        _rule("avoids", rf"(?:[Ii]'m|[Ii] am) {_FIRM}(?:not allowed to|not supposed to|unable to) (?:eat|drink|have) (?:any |anything with )?", _avoided),
        _rule("avoids", rf"[Ii] {_FIRM}(?:have to |need to |must |try to )?(?:avoid|stay away from|stay off|abstain from) (?:eating |drinking )?(?:any |all )?", _avoided),
        _rule("avoids", rf"(?:[Ii]'ve|[Ii] have) {_FIRM}(?:given up|cut out|stopped eating|stopped drinking|quit) (?:all )?", _avoided),
        _rule("health", _IM, _regex(_HEALTH)),
        _rule("afraid_of", rf"{_IM}(?:very |deathly |terribly |absolutely )?(?:afraid|scared|terrified) of ", _regex(_FEARS)),
        _rule("cannot", rf"[Ii] {_FIRM}(?:can't|cannot|can not|am not able to|am unable to|must not|mustn't|never learned to|never learnt to) ", _unable),
        _rule("cannot", r"(?:[Ii]'m|[Ii] am) (?:not able|unable|not allowed) to ", _unable),
        # goals
        _rule("wants_to", rf"[Ii] {_FIRM}(?:want|need|have|hope|plan|intend|aim|decided|resolved) to (?:try to |try and |finally |really |also |seriously )?", goal),
        _rule("wants_to", rf"[Ii] {_FIRM}must (?:try to )?", goal),
        _rule("wants_to", rf"[Ii](?:'d| would) {_FIRM}(?:like|love) to ", goal),
        _rule("wants_to", rf"(?:[Ii]'m|[Ii] am|[Ii]'ve been|[Ii] have been) {_FIRM}(?:trying|hoping|planning|aiming|determined) (?:hard |really hard |so hard )?to ", goal),
        _rule("wants_to", rf"(?:[Ii]'ve|[Ii] have) {_FIRM}(?:decided|resolved) to ", goal),
        _rule("wants_to", r"[Mm]y (?:main |big |biggest |current |new |personal |long-term |health |fitness |career )?(?:goal|aim|target|ambition|(?:new year'?s )?resolution)(?: (?:for )?this (?:year|month|summer|winter|spring))? is to ", goal),
        _rule("prepares_for", rf"(?:[Ii]'m|[Ii] am|[Ii]'ve been|[Ii] have been) {_FIRM}(?:preparing|studying|training|revising|cramming|prepping) for ", _prepared),
        _rule("saves_for", rf"(?:[Ii]'m|[Ii] am|[Ii]'ve been) {_FIRM}saving (?:up |money )?(?:for|to buy) ", _saved),
        _rule("gives_up", rf"(?:[Ii]'m|[Ii] am) {_FIRM}(?:quitting|giving up|cutting out) ", _given_up),
        _rule("cuts_down_on", rf"(?:[Ii]'m|[Ii] am|[Ii]'ve been) {_FIRM}(?:cutting|cutting way) (?:down|back) on (?:my )?", _given_up),
        _rule("on_diet", rf"(?:[Ii]'m|[Ii] am) {_FIRM}(?:following|on|doing) ", _dieting),
        _rule("on_diet", rf"[Ii] {_FIRM}(?:started|follow|began) ", _dieting),
        _rule("budget", rf"(?:[Ii]'m|[Ii] am|[Ww]e're|[Ww]e are) {_FIRM}on ", _budget),
        _rule("budget", rf"[Ii] {_FIRM}(?:only )?have ", _budget),
        _rule("budget", r"[Mm]y (?:(?:total|monthly|weekly|maximum|max) )?budget is (?:only |about |around |just )?", _sum),
        # who belongs to one
        _rule("has_pet", rf"(?:[Ii]|[Ww]e|[Ii]'ve|[Ww]e've) (?:{_ADV})(?:have|own|got|adopted) (?:got )?", _pets),
        _rule("has_pet", rf"[Mm]y (?=(?:{_LIST_PETS})(?:'s name| is (?:called|named)))", _called_pet),
        _rule("has_pet", rf"[Mm]y (?=(?:{_LIST_PETS}),? (?:named |called )?[A-Z][a-z]+\b(?!'))", _named_pet),
        _rule("has_relative", rf"(?:[Ii]|[Ww]e) (?:{_ADV})have ", _children),
        _rule("name", rf"{_MY_KIN_S}(?:'s name is|'s name's| is (?:called|named)) ", _ended_name),
        _rule("works_as", _MY_KIN + r"(?:is|'s) (?=an? )", _occupation),
        _rule("works_as", _MY_KIN + r"works as ", _job),
        _rule("works_at", _MY_KIN + r"works (?:at|for) ", _organisation),
        _rule("lives_in", _MY_KIN + r"(?:lives|is living) in ", _lived_place),
        _rule("lives_in", _MY_KIN + r"moved to ", _moved_place),
        _rule("age", _MY_KIN + r"is ", _age(_AGE_OLD)),
        _rule("allergic_to", _MY_KIN + r"is allergic to ", _allergen),
        _rule("diet", _MY_KIN + r"is ", _regex(_DIET, 1)),
        _rule("likes", _MY_KIN + r"(?:really )?(?:likes|loves|enjoys) ", _noun_phrase),
        _rule("dislikes", _MY_KIN + r"(?:really )?(?:hates|dislikes) ", _noun_phrase),
        # tongue
        _rule("native_language", r"[Mm]y (?:native|first) language is |[Mm]y mother tongue is ", _regex(_LANGUAGES)),
        _rule("native_language", _IM + r"a native ", _regex(re.compile(r"(\w+)(?= speaker\b)"), 1)),
        _rule("speaks", rf"(?:[Ii]|[Ii] can) {_ADV}speak ", _regex(_LANGUAGE_LIST)),
        _rule("speaks", _IM + r"fluent in ", _regex(_LANGUAGE_LIST)),
        _rule("learns", rf"(?:[Ii]'m|[Ii] am|[Ii]'ve been) {_ADV}(?:learning|studying) (?:to (?:speak|play) |how to play )?", _learnt),
        # taste
        _rule("favorite_", rf"[Mm]y favou?rite {favorite}", _favorite),
        _rule("hobby", r"[Mm]y (?:main |favou?rite |biggest )?hobb(?:y is|ies are|ies include) ", _noun_phrase),
        _rule("prefers", rf"[Ii] {_ADV}prefer ", _preferred),
        _rule("dislikes", rf"[Ii] {_ADV}(?:hate|dislike|detest|loathe|despise|can't stand|cannot stand|can't bear) ", _noun_phrase),
        _rule("dislikes", rf"[Ii] {_ADV}(?:don't|do not) (?:really )?(?:like|enjoy) ", _noun_phrase),
        _rule("dislikes", r"(?:[Ii]'m|[Ii] am) not (?:a (?:big |huge )?fan of|fond of|into) ", _noun_phrase),
        _rule("likes", _IM + r"(?:a (?:big |huge |massive )?fan of|fond of|into|keen on|passionate about|crazy about) ", _noun_phrase),
        _rule("likes", rf"[Ii] {_ADV}(?:like|love|enjoy|adore) ", _noun_phrase),
        _rule("plays", rf"(?:[Ii]|[Ii] can) {_ADV}play ", _regex(_SKILLS)),
        _rule("plays", r"[Ii]'ve (?:been playing|played) ", _regex(_SKILLS)),
        _rule("collects", rf"[Ii] {_ADV}collect ", _noun_phrase),
        _rule("drives", rf"[Ii] {_ADV}drive (?=an? )", _regex(re.compile(r"an? (?:[a-z0-9]+ ){0,2}[A-Z][\w-]+(?: [A-Z\d][\w-]*)?"))),
    )  # fmt: skip


def _lasting(pattern: re.Pattern[str], group: int | str = 0) -> Read:
    """What the pattern reads, unless the sentence wavers or speaks of today only."""

    def read(sentence: str, pos: int) -> tuple[str, int] | None:
        match = pattern.match(sentence, pos)
        return (of_them(match[group]), match.end()) if match is not None and lasting(sentence) else None

    return read


_avoided, _unable, _given_up = _lasting(_DRINKS), _lasting(_UNABLE), _lasting(_LEFT_OUT)
_prepared, _saved, _dieting = _lasting(_TEST_END, "v"), _lasting(_SAVED_FOR, "v"), _lasting(_DIET_NAMED, "v")
_budget = _lasting(
    re.compile(
        rf"an? (?:very )?(?:(?:tight|small|limited|strict|shoestring|low|student) )?budget(?: of (?:about |around |only )?{_MONEY}{_EACH})?"
        r"(?=\s*(?:[,.;!)]|$)|\s+(?:and|but|so|because|since|these|this|at|now|right)\b)"
    )
)
_SUM = re.compile(rf"{_MONEY}{_EACH}(?=\s*(?:[,.;!)]|$)|\s+(?:and|but|so|because|at most|max|in total)\b)")


def _test(sentence: str, pos: int) -> tuple[str, int] | None:
    match = _TEST_END.match(sentence, pos)
    return None if match is None else (match["v"], match.end())


def _sum(sentence: str, pos: int) -> tuple[str, int] | None:
    """ "My budget is 500 euros": the same value as of "a budget of 500 euros"."""
    found = _lasting(_SUM)(sentence, pos)
    return None if found is None else (f"a budget of {found[0]}", found[1])


def _reached(sentence: str, pos: int) -> tuple[str, int] | None:
    """A habit that is over: who has quit it need not want to."""
    match = _QUIT.match(sentence, pos)
    return None if match is None else (match["v"], match.end())


_QUIT = re.compile(
    rf"(?P<v>quit {HABITS})(?=\s*(?:[.;!]|$)|\s+(?:for good|last|in \d|two|three|a few|\d+|years|completely|and I feel)\b)"
)


def _diet_ended(sentence: str, pos: int) -> tuple[str, int] | None:
    """Whatever diet it was, it is over."""
    match = re.compile(r"(?:my|an?|the) (?:[\w-]+ )?diet(?=\s*(?:[,.;!]|$|(?:now|and|again)\b))").match(sentence, pos)
    return None if match is None else ("", match.end())


def _again(sentence: str, pos: int) -> tuple[str, int] | None:
    match = re.compile(rf"(?P<v>{FOODS}) again(?=\s*(?:[.;!,]|$))").match(sentence, pos)
    return None if match is None else (match["v"], match.end())


def _capital_name(sentence: str, pos: int) -> tuple[str, int] | None:
    return _ended_name(sentence, pos) if sentence[pos : pos + 1].isupper() else None


_CAMEL = re.compile(r"[a-z][A-Z]")
_INITIALS = frozenset("UK US USA UAE NYC LA DC SF".split())
_FROM_PLACE = re.compile(rf"\s+from ({_CAP}(?: {_CAP})?)")
_CAME_FROM = re.compile(r"\bfrom ([A-Z][\w-]+(?: [A-Z][\w-]+)?) to $")
_HOMELY = re.compile(
    r"\b(?:city|town|village|apartment|flat|house|neighbou?rhood|rent|suburbs?|countryside|mortgage|landlord|roommates?)\b"
    r"|\bwith my (?:\w+ )?(?:family|wife|husband|kids|parents|partner|boyfriend|girlfriend|mom|mum|dad|fiancée?)\b"
)


_PARTS = frozenset(
    "north south east west northern southern eastern western central downtown upper lower greater inner".split()
)


def _known_place(value: str) -> bool:
    """Whether the list of places has it, or its end after a comma ("Tarnby, Denmark"), or its beginning ("New York City")."""
    names = words("places")
    whole = value.lower().removeprefix("the ").strip()
    head, _, tail = whole.partition(", ")
    if whole in names or head in names or (tail and (tail in names or re.fullmatch(r"[A-Z]{2}", value[-2:]))):
        return True
    first, _, last = head.partition(" ")
    return head.removesuffix(" city") in names or (first in _PARTS and last in names)


def _lived_place(sentence: str, pos: int) -> tuple[str, int] | None:
    """A place to live in: any name that is not known as something else."""
    found = _place(sentence, pos)
    if found is None or _known_place(found[0]):
        return found
    first = found[0].removeprefix("the ").split()[0].rstrip(",")
    if first.lower() in words("places_not") or found[0].split()[-1] in ("Street", "Avenue"):
        return None
    if _CAMEL.search(re.sub(r"\b(?:Mc|Mac|De|La|Le|Du)(?=[A-Z])", "", found[0])) or (
        first.isupper() and first not in _INITIALS
    ):
        return None
    numbered = re.compile(r" \d+(?! (?:days?|weeks?|months?|years?)\b)").match(sentence, found[1])
    return None if numbered else found


def _moved_place(sentence: str, pos: int) -> tuple[str, int] | None:
    """After "moved to", which is also said of tools, employers and teams: a known place, or one that the sentence vouches for."""
    found = _lived_place(sentence, pos)
    if found is None or _known_place(found[0]):
        return found
    origin = _FROM_PLACE.match(sentence, found[1]) or _CAME_FROM.search(sentence, 0, pos)
    if (origin and _known_place(origin[1])) or _HOMELY.search(sentence, found[1]):
        return found
    return None


def _named_pet(sentence: str, pos: int) -> tuple[str, int] | None:
    match = re.compile(rf"((?:{_LIST_PETS})),? (?:named |called )?([A-Z][a-z]+)\b(?! (?:and (?:I|my)))").match(
        sentence, pos
    )
    if match is None or match[2].lower() in _NO_PLACE or match[2].lower() in _NO_NAME:
        return None
    return f"{match[1]} {match[2]}", match.end()


def _called_pet(sentence: str, pos: int) -> tuple[str, int] | None:
    """ "My dog is called Rex": the same value as of "my dog Rex"."""
    match = re.compile(
        rf"({_LIST_PETS})(?:'s name is|'s name's| is (?:called|named)) ([A-Z][a-z]+)(?=\s*(?:[,.;!)]|$|(?:and|but)\b))"
    ).match(sentence, pos)
    if match is None or match[2].lower() in _NO_PLACE or match[2].lower() in _NO_NAME:
        return None
    return f"{match[1]} {match[2]}", match.end()


def _dead_pet(sentence: str, pos: int) -> tuple[str, int] | None:
    """ "My dog Rex died": what `has_pet` holds of it, no longer."""
    match = _DEAD_PET.match(sentence, pos)
    return None if match is None else (f"{match['kind']} {match['name']}", match.end())


_DEAD_PET = re.compile(
    rf"(?P<kind>{_LIST_PETS}),? (?P<name>[A-Z][a-z]+),? (?:has |was |had to be |is )?(?:just |sadly |finally |already )?"
    r"(?:died|dead|passed (?:away|on)|put (?:down|to sleep))(?=\s*(?:[,.;!)]|$)|\s+(?:last|yesterday|today|this|on|in|at|two|three|a|an|\d+|and|of|peacefully|suddenly)\b)"
)


def _after_all(sentence: str, pos: int) -> tuple[str, int] | None:
    """ "I'm not allergic to nuts after all": what was taken for true."""
    end = sentence.find(" after all", pos)
    found = _allergen(sentence[:end], pos)
    return None if found is None or found[1] != end else (found[0], end + len(" after all"))


def _learned(sentence: str, pos: int) -> tuple[str, int] | None:
    """A goal of learning that is reached: the value as it was wanted, "learn to swim"."""
    verb = re.compile(r"learn(?:ed|t) ").match(sentence, pos)
    if verb is None:
        return None
    wanted = named_goal("learn " + sentence[verb.end() :], 0)
    return None if wanted is None else (wanted[0], verb.end() + wanted[1] - len("learn "))


def _nothing(sentence: str, pos: int) -> tuple[str, int] | None:
    """No value: whatever it was, it is over."""
    return "", pos


def _learnt(sentence: str, pos: int) -> tuple[str, int] | None:
    for pattern in (_LANGUAGE_LIST, _SKILLS):
        match = pattern.match(sentence, pos)
        if match is not None:
            return match.group(), match.end()
    return None


_ABSTRACT = re.compile(r"(?:ity|ness|ism|ship|hood|dom)$")
_NO_ALLERGEN = frozenset(
    """morning mornings monday mondays sunday sundays work people drama nonsense effort commitment math maths homework fun boredom
    meeting meetings love politics rules change bullshit deadlines small-talk losing failure winter school marriage feelings emotions
    money taxes adulting spreadsheets excuses lies liars silence noise waiting exercise cleaning cooking housework paperwork""".split()
)


def _allergen(sentence: str, pos: int) -> tuple[str, int] | None:
    found = _noun_phrase(sentence, pos, "most" if sentence.startswith(("most ", "all "), pos) else None)
    if found is None:
        return None
    tokens = found[0].lower().split()
    if (
        tokens[0] in _NO_ALLERGEN
        or tokens[-1] in _NO_ALLERGEN
        or any(_ABSTRACT.search(t) for t in (tokens[0], tokens[-1]))
    ):
        return None
    return found


def _favorite(sentence: str, pos: int) -> tuple[str, int] | None:
    found = _noun_phrase(sentence, pos, first="any")
    if found is None or found[0].lower().split()[0] in _NP_FIRST_DENIED - {
        "a",
        "an",
        "the",
        "all",
        "going",
        "having",
        "things",
    }:
        return None
    return found


def _preferred(sentence: str, pos: int) -> tuple[str, int] | None:
    match = re.compile(r"to (?!be\b|think\b|say\b|have\b|not\b|do\b|see\b)[a-z]").match(sentence, pos)
    found = _noun_phrase(sentence, pos, first="to" if match else None)
    return found
