"""Which clauses may speak, and what they say.

A statement is read only where a clause begins, up to where it ends; what a rule does not fully understand it leaves.
A wrong fact is worse than none.
"""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from embermem.core.attributes import FAVORITE_PREFIX, standing
from embermem.core.patterns import regex
from embermem.languages.en.clauses.reader import Reading, readings
from embermem.languages.en.clauses.times import timed
from embermem.languages.en.clauses.words import FUNCTION
from embermem.languages.en.facts.goals import of_them
from embermem.languages.en.facts.identity import NATIONALITY, NO_NAME
from embermem.languages.en.facts.nouns import TASTE_VERBS, items
from embermem.languages.en.facts.people import kin_subject, other_names
from embermem.languages.en.facts.phrases import GONE, SENTENCE_CHARS, clause_rest
from embermem.languages.en.facts.places import NO_PLACE, is_short_stay
from embermem.languages.en.facts.questions import declared
from embermem.languages.en.facts.relatives import relatives
from embermem.languages.en.facts.table import RULES
from embermem.languages.en.facts.tastes import NOT_FOR_ME
from embermem.languages.en.facts.work import read_occupation, second
from embermem.languages.en.since import since
from embermem.languages.facts.finding import USER, Finding, When
from embermem.languages.facts.rules import Matched, Rule, implied, matched
from embermem.languages.language import words_of
from embermem.languages.words import sentences

_FOLLOWING_CHARS = 80
"""As much of the next sentence as may judge what was told."""
THRESHOLD = 1.8
STEP = 0.6
_HEAD = regex(r"\b(?:[Ii]'(?:m|ve|d)|[Ii]m|[Ii]ve|[Ii]d(?= rather\b| prefer\b| never\b)|[Ii]|[Ww]e've|[Ww]e|[Mm]y|[Aa]s an?(?= (?:wo)?man\b)"
                   r"|(?:[Yy]ou (?:can |may )?|[Pp]lease |(?:[Pp]eople|[Ee]veryone|[Ee]verybody) )?[Cc]alls? me"
              r"|[Nn]othing(?= with\b)|[Nn]ot(?= (?:\w+ )?(?:a|into|keen|fond|big|interested)\b)|[Cc](?:an'?t|annot)(?= (?:stand|bear|be doing)\b)"
              r"|[Nn]o(?= interest in\b)|[Nn]ever(?= (?:\w+ )?(?:been|liked|enjoyed|cared)\b)|[Dd]on'?t(?= (?:\w+ )?(?:like|enjoy|care)\b)|[Hh]ate|[Pp]refer|(?:[Ss]ick|[Tt]ired|[Ff]ed up)(?= of\b| with\b))(?=\s)")  # fmt: skip
_DOCTOR = r"\bmy (?:doctor|gp|dentist|dietician|dietitian|nurse) (?:says|said|told me)(?: that)?\b"
_LEAD = regex(
    r"(?:^|[,;!.—–(]|\s-|\b(?:and|but|because|cause|so|plus|also|well|oh|ah|hi|hello|hey|yes|yeah|yep|no|actually|honestly|btw"
    r"|by the way|pls|please|as a rule|in general|generally|usually|normally|currently|now|nowadays|these days|though|although|since|anyway|ok|okay|haha|lol|fyi|fun fact:|besides"
    rf"|(?:and|but) (?:yes|also|now|actually)|(?:hi|hello|hey),? \w{{2,12}}|{_DOCTOR}|as (?:i said|you know|i mentioned)|you know|see|nice to meet you|(?:it )?turn(?:s|ed) out(?: that)?))"
    r"[\s\"]*$",
    re.IGNORECASE,
)
_BEFORE = regex(
    r"\b(?:if|unless|whether|suppos\w+|imagin\w+|pretend\w*|wish\w*|would|wouldn't|could|might|maybe|perhaps|possibly|probably"
    r"|hypothetical\w*|dream\w*|dreamt|nightmare|guess|almost|nearly|as though|like i'm|in theory|someday|some day|sometimes"
    r"|feels? like|felt like|thinks?|thought|believes?|assumes?|assumed|hop(?:e|es|ing)|when|whenever|until"
    r"|in another life|in a past life|for example|for instance|e\.g|example|such as|quote|unquote|titled|called|song|till|once)\b"
    r"|:|\ue000|\b(?:not|never|nor)\b(?!.*(?:[,;.!–—]|\b(?:and|but|so|because)\b))",
    re.IGNORECASE,
)
_ANYWHERE = regex(
    r"\b(?:said|says|saying|told|tells|asked|asks|replied|replies|claims?|claimed|wrote|writes|texted|yelled|shouted|whispered"
    r"|screamed|announced|insists?|insisted|according to|jk|as a joke|in (?:the|this|an?|my) (?:\w+ )?(?:game|dream|movie|play|film|story|book|novel|show|sims|simulation|sitcom|series)"
    r"|in (?:my|your|his|her|their|our) (?:wildest )?(?:dreams|head|mind)|or something|yeah right|not really(?! \w)|as if|sarcas\w+|in another life|hypothetical\w*)\b|\s/\s|\?",
    re.IGNORECASE,
)
_TAKEN_BACK = regex(
    r"(?:^|[-–—,;.…]\s*|\b(?:oh|um|uh|er)\s+)(?:no,? wait|wait,? no|scratch that|strike that|correction\b|my mistake|not me\b|that(?:'s| is| was) my (?:brother|sister|friend|mom|mum|mother|dad|father|wife|husband|cousin|boss|partner|roommate|neighbou?r|colleague|twin|joke|character)\b(?!'))",
    re.IGNORECASE,
)
"""What a speaker says to unsay the sentence it stands in or the one before."""
_UNREAL = regex(
    r"\b(?:jk|j/k|as a joke|kidding|joking|hypothetical\w*|sarcas\w+|or something|as if|yeah right|in another life|in a past life|for example|for instance|e\.g"
    r"|in (?:the|this|an?|my) (?:\w+ )?(?:game|dream|movie|play|film|story|book|novel|show|sims|simulation|sitcom|series)"
    r"|in (?:my|your|his|her|their|our) (?:wildest )?(?:dreams|head|mind))\b|\s/\s|/s\b",
    re.IGNORECASE,
)
"""What makes a sentence no statement of what is so."""
_BEFORE_RELATIVE = regex(
    r"\b(?:if|imagine|pretend|suppose|wish|might|could|would|in (?:her|his|my) dreams|character|\ue000)\b",
    re.IGNORECASE,
)
_DREAMT = regex(r"\b(?:dreamt|dreamed|had an? (?:\w+ )?(?:dream|nightmare))\b", re.IGNORECASE)
"""What follows in the paragraph may be the dream."""
_ALLOWED_SAY = regex(rf"\bas i (?:said|mentioned)\b|\blike i said\b|{_DOCTOR}", re.IGNORECASE)
_AFTER = regex(
    r"\s*,?\s*(?:if|unless|or|whenever|when|once|but only if|not|at heart|anymore|any more|any longer)\b", re.IGNORECASE
)
_TIME_LEAD = regex(
    r"(?:last (?:week|month|year|spring|summer|fall|autumn|winter|night)|yesterday|today|this (?:week|month|year|morning)"
    r"|(?:\d+|an?|two|three|four|five|six|seven|eight|nine|ten) (?:days?|weeks?|months?|years?) ago|(?:in|since) (?:\d{4}|[A-Z]\w+(?: \d{4})?))"
    r"\s*,?\s*$",
    re.IGNORECASE,
)  # fmt: skip
_INTRODUCTION = regex(
    r"\s*(?P<greeting>(?:[Hh]i|[Hh]ello|[Hh]ey|[Gg]ood (?:morning|evening|afternoon))(?: there| everyone| all| everybody| [A-Z][a-z]{1,15})?\s*[,!.]?\s+)?"
    r"(?P<said>(?:I'm|I am|(?<=\s)[Tt]his is) (?P<v>[A-ZÀ-Þ][a-zà-ÿ]{1,15}(?: [A-ZÀ-Þ][a-zà-ÿ]{1,15}){0,2}))(?=\s*(?:[,.!]|$|and I\b|and I'm\b|from\b))"
)
_MODEL = regex(r"\b(?:(?:large )?language model|AI|artificial intelligence|chatbot|virtual assistant)\b")
_APPOSITION = regex(r", (?P<article>an? )(?:(?P<age>\d{1,3})-years?-old )?(?P<job>[a-z])")
_ADJECTIVE = regex(r"(?:ing|ful|less|ous|able|ible|sted|ized|ished|ated|ivated)$")
_FUTURE = regex(r"\b(?:next (?:year|month|week|spring|summer|fall|autumn|winter)|tomorrow)\b", re.IGNORECASE)
_ANY_YEAR = regex(r"\b(?:in|since|from|by) (?:\w+ )?((?:19|2[01])\d\d)\b", re.IGNORECASE)

_NOT_FOR_ME = regex(rf"(?:^|(?<=[,;.!] )|(?<=\b(?:and|but) )){NOT_FOR_ME.pattern}")
_AND_VERB = regex(
    r"\s*,?\s+(?:and|but|n) (?:i )?(?:also |now |currently |really |always |just |generally |usually )*(?=(?:work|live|study|am|have|own|speak|play|collect|drive|come from|grew up|was born)\b"
    rf"|{TASTE_VERBS}\b)|\s*[,;]?\s+(?:i |(?!like\b))(?:really |always |just |generally |usually )*(?={TASTE_VERBS}\b)",
    re.IGNORECASE,
)
"""Between a statement and a verb of the same speaker."""
_IS_ASKED = regex(
    r"(?:is|has been) (?:(?:try|struggl|attempt|wonder)ing\b|having (?:\w+ )?(?:trouble|difficult\w+|problems?|issues?)\b)"
    r"|(?:make sure|understand|know|ensure|see)\b"
)
"""What somebody is at while they ask for it in the same sentence: "I'm trying to …, can you …?"."""
_STOP = regex(r"[,;.!()]|\b(?:because|but|and|so|where|when|while|which|who)\b")


def statements(text: str, said_at: datetime) -> Iterator[Finding]:
    """The statements of a screened text, in order. Positions are those of the text given."""
    yield from _introduction(text)
    read: list[Reading] = []
    for sentence, start, end in declarations(text):
        found = list(_sentence(sentence, start, said_at, RULES))
        yield from found
        if _UNREAL.search(sentence) or _TAKEN_BACK.search(sentence, 1):
            continue
        if not _BEFORE_RELATIVE.search(sentence):
            yield from relatives(sentence, start)
        taken = [(f.start, f.end) for f in found if not f.retracts]
        following = text[end : end + _FOLLOWING_CHARS].lstrip()
        for reading in readings(sentence, start, said_at, taken, following):
            if reading.finding.retracts:
                yield reading.finding
            elif not (text.endswith("?", start, end) and _IS_ASKED.match(reading.finding.value)):
                read.append(reading)
    read.sort(key=lambda one: (-one.score, one.finding.start))
    yield from (one.finding for k, one in enumerate(read) if one.score >= THRESHOLD + k * STEP)


def stated(text: str, said_at: datetime, rules: Sequence[Rule]) -> Iterator[Finding]:
    """The statements of a screened text that these rules read, in order, in clauses that may speak."""
    for sentence, start, _ in declarations(text):
        yield from _sentence(sentence, start, said_at, rules)


def declarations(text: str) -> Iterator[tuple[str, int, int]]:
    """The sentences that state something, each with its [start, end): no dream, and none that the next takes back."""
    spans = sentences(text)
    dreamt_until = 0
    for i, (start, end) in enumerate(spans):
        sentence = text[start : min(end, start + SENTENCE_CHARS)]
        if _DREAMT.search(sentence):
            line_end = text.find("\n", end)
            dreamt_until = line_end if line_end >= 0 else len(text)
        if start < dreamt_until:
            continue
        if i + 1 < len(spans) and _TAKEN_BACK.match(text[spans[i + 1][0] : spans[i + 1][0] + 80]):
            continue
        if sentence := declared(sentence):
            yield sentence, start, end


def is_told(sentence: str) -> bool:
    """Whether a sentence says what is so: it reports nobody's words, asks nothing, and takes nothing back."""
    return not (_ANYWHERE.search(_ALLOWED_SAY.sub("", sentence)) or _TAKEN_BACK.search(sentence, 1))


def is_certain(before: str, after: str) -> bool:
    """Whether what stands around a statement leaves it as it is: no supposition, no negation, no alternative."""
    return not (_BEFORE.search(before) or _refused_after(after, 0, retracts=False))


def _introduction(text: str) -> Iterator[Finding]:
    """ "Hi, I'm Alice.", "I'm Alice.": a bare "I'm" gives a name only where the text opens."""
    match = _INTRODUCTION.match(text)
    if match is None or NATIONALITY.fullmatch(match["v"]):
        return
    first, *rest = match["v"].lower().split()
    if _MODEL.search(text, match.end("v"), match.end("v") + 80):
        return
    if first in NO_NAME or (rest or [first])[-1] in words_of("en", "occupations"):
        return
    if (
        any(word in words_of("en", "names_not") for word in (first, *rest))
        or first in FUNCTION
        or _ANYWHERE.search(text[: SENTENCE_CHARS // 4])
    ):
        return
    strange = (
        _ADJECTIVE.search(first)
        or first in words_of("en", "places_not")
        or first in NO_PLACE
        or match["v"].lower() in words_of("en", "places")
    )
    if strange and match["greeting"] is None:
        return
    start, end = match.span("said")
    yield Finding(subject=USER, attribute="name", value=match["v"], start=start, end=end)
    more = _APPOSITION.match(text, end)
    if more is None:
        return
    if more["age"] and 4 <= int(more["age"]) <= 119:
        yield Finding(subject=USER, attribute="age", value=more["age"], start=start, end=more.end("age"))
    begin = more.start("job") if more["age"] else more.start("article")
    job = read_occupation(("a " if more["age"] else "") + text[begin : begin + 80], 0)
    if job is not None:
        value = re.sub(r"^an? ", "", job[0])
        yield Finding(
            subject=USER, attribute="works_as", value=value, start=start, end=begin + job[1] - (2 if more["age"] else 0)
        )


def _sentence(sentence: str, offset: int, said_at: datetime, rules: Sequence[Rule]) -> Iterator[Finding]:
    heads = sorted(head.start() for pattern in (_HEAD, _NOT_FOR_ME) for head in pattern.finditer(sentence))
    if not heads or not is_told(sentence):
        return
    reached = 0
    for pos in heads:
        if pos < reached or _BEFORE.search(sentence, 0, pos):
            continue
        lead = sentence[max(0, pos - 40) : pos]
        timed = _TIME_LEAD.search(lead)
        if timed and _in_future(timed.group(), said_at):
            continue
        if not (_LEAD.search(lead) or (timed and _LEAD.search(lead[: timed.start()] or ""))):
            continue
        for found in _statement(sentence, pos, said_at, timed.group() if timed else "", rules):
            reached = max(reached, found.end)
            yield replace(found, start=found.start + offset, end=found.end + offset)
            for more in _goes_on(sentence, found, said_at, rules):
                reached = max(reached, more.end)
                yield replace(more, start=more.start + offset, end=more.end + offset)


def _goes_on(sentence: str, found: Finding, said_at: datetime, rules: Sequence[Rule]) -> Iterator[Finding]:
    """What a second verb adds about the speaker: "I live in Ghent and work as a nurse"."""
    joint = _AND_VERB.match(sentence, found.end)
    if joint is None or found.subject != USER or found.retracts:
        return
    shift = joint.end() - len("I ")
    for more in _statement("I " + sentence[joint.end() :], 0, said_at, "", rules):
        if more.subject == USER:
            told = replace(more, start=joint.end(), end=more.end + shift)
            yield told
            yield from _goes_on(sentence, told, said_at, rules)


def _in_future(text: str, said_at: datetime) -> bool:
    """Whether a later time is named: a plan, not a fact."""
    return bool(_FUTURE.search(text)) or any(int(y) > said_at.year for y in _ANY_YEAR.findall(text))


def _statement(sentence: str, pos: int, said_at: datetime, time_lead: str, rules: Sequence[Rule]) -> Iterator[Finding]:
    for one in matched(rules, sentence, pos):
        subject = _subject(one)
        if subject is None or _refused(one, sentence, pos, said_at):
            continue
        attribute, value, end, retracts = _attribute(one), one.value, one.end, one.rule.retracts
        if retracts and (gone := GONE.match(sentence, end)):
            end = gone.end()
        when = None if retracts or standing(attribute) == "goal" else _when(sentence, end, said_at, time_lead)
        last = when.end if when is not None and when.end > end else end
        bare = re.sub(r"^an? ", "", value) if attribute in ("works_as", "drives") else of_them(value)
        found = Finding(
            subject=subject,
            attribute=attribute,
            value=bare,
            start=pos,
            end=last,
            when=when,
            until=_ends(sentence[end:], said_at) if standing(attribute) == "goal" and not retracts else None,
            retracts=retracts,
        )
        is_list = attribute in ("likes", "dislikes", "hobby") and not retracts
        for said in [replace(found, value=one) for one in (items(bare) if is_list else (bare,))]:
            yield said
            yield from implied(said)
        if retracts and attribute == "has_pet":
            yield from other_names(value, subject, pos, last)
        if not retracts:
            yield from second(sentence, pos, end, subject, attribute, when)
        return


def _ends(rest: str, said_at: datetime) -> datetime | None:
    """When a goal with a date ends: after the first time named from now on."""
    ahead = (span.is_over(said_at) for span in timed(rest, said_at) if span.last >= said_at.date())
    return next(ahead, None)


def _subject(one: Matched) -> str | None:
    """Whom the statement is about; None where a name after "my sister" is none."""
    return kin_subject(one.match) if "kin" in one.match.groupdict() else USER


def _attribute(one: Matched) -> str:
    if not one.rule.attribute.startswith(FAVORITE_PREFIX):
        return one.rule.attribute
    thing = one.match["thing"].lower().replace("colour", "color").replace("film", "movie")
    return f"{FAVORITE_PREFIX}{thing}"


def _refused(one: Matched, sentence: str, pos: int, said_at: datetime) -> bool:
    """Whether what follows the value makes it another, a plan, or a home for a time only."""
    attribute, retracts = one.rule.attribute, one.rule.retracts
    if _refused_after(sentence, one.end, retracts):
        return True
    if retracts:  # "since I lost my job": that was before what is so now
        return sentence[:pos].rstrip().lower().endswith("since")
    if standing(attribute) != "goal" and _in_future(clause_rest(sentence, one.end), said_at):
        return True
    return attribute == "lives_in" and is_short_stay(sentence, pos, one.end)


def _refused_after(sentence: str, end: int, retracts: bool) -> bool:
    rest = sentence[end : end + 24]
    if rest[:2] == "'s" or rest[:1] in ("-", "/", "\ue000", "@", "_"):
        return True
    after = _AFTER.match(rest)
    return after is not None and not (retracts and GONE.match(rest))


def _when(sentence: str, end: int, said_at: datetime, time_lead: str) -> When | None:
    if time_lead:
        found = since(time_lead, said_at)
        return None if found is None else replace(found, end=0)
    stop = _STOP.search(sentence, end, end + 80)
    return since(sentence, said_at, end, stop.start() if stop else min(len(sentence), end + 80))
