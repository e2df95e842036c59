"""Whether an English clause says that a date lies ahead or behind."""

from __future__ import annotations

from embermem.core.patterns import regex
from embermem.languages.dates.direction import Direction
from embermem.languages.dates.rules import FLAGS

_CLAUSE = regex(r"[^.!?;:,\n，。！？；：]{0,60}$")
_BORDER = regex(
    r"\b(?:and|but|so|because|although|though|while|says?|said|thinks?|hopes?|knows?|told\s\w+)(?:\sthat)?\s"
    r"(?=(?:I|you|he|she|it|we|they|my|will|won['’]?t|am|is|are|plans?|hopes?|needs?)\b)",
    FLAGS,
)
"""Between two clauses, each with its own verb."""
_AHEAD = regex(
    r"['’]ll\b|\b(?:(?-i:will)|(?-i:Will)\s(?:you|we|they|he|she|it|I)|won['’]?t|shall|let['’]?s|let\sus|gonna|going\sto"
    r"|plan(?:s|ning)?\sto|hop(?:e|es|ing)\sto|needs?|(?:arriv|com|leav|clos|mov)es|(?:start|begin|end|open|land|return)s"
    r"|flies|expires|(?:I|we|they)\s(?:arrive|come|leave|move|start|begin|fly|land|return)|ha(?:ve|s)\sto(?!\s(?:say|admit|tell))|due(?!\sto)"
    r"|(?<!to\s)see\sy(?:ou|a)|looking\sforward|can['’]?t\swait|(?:scheduled|booked|planned|set|aiming)\sfor"
    r"|(?:have|has|got)\s.{0,25}\b(?:appointment|interview|exam|deadline|meeting|flight|reservation)"
    r"|(?:appointment|interview|exam|deadline|meeting|flight|reservation)\s(?:is|are))\b"
    r"|(?:['’](?:m|re|s)|\b(?:am|are|is))\s(?:leaving|arriving|flying|starting|meeting|visiting|coming|hosting|having"
    r"|going)\b",
    FLAGS,
)
_BEHIND = regex(
    r"\b(?:was|were|wasn['’]?t|weren['’]?t|had|did|didn['’]?t|been|since|happened|said|told|asked|went|saw|met|came|made"
    r"|would|(?:I|you|we|he|she|it|they|and|(?-i:[A-Z])\w+)\s(?:\w+ly\s|just\s|also\s)?(?!need|feed|seed|book|reserv|schedul|arrang|plann|regist|postpon|confirm|rent|resched|enroll?ed|pencill?ed)(?:\w{2,}ed|got|left|began"
    r"|became|bought|took|found|lost|won|ran|gave|sold|quit|broke|grew|flew|drove|spent|built|wrote|taught|paid|kept|felt))\b",
    FLAGS,
)
_FIRST_WORDS = regex(r"\s*(?:and|but|so|then)?\s*(?:on)?\s*", FLAGS)
_THEN_AHEAD = regex(
    r"(?:\s(?:morning|afternoon|evening|night))?,?\s(?:I|we|you|he|she|they|it)"
    r"(?:['’]ll|\s(?:will|shall)|(?:['’](?:m|re|s)|\s(?:am|are|is))\s(?:going\sto|gonna))\b",
    FLAGS,
)


def _tense(text: str, start: int, end: int) -> int:
    """Of the clause that leads up to the date, or, where nothing does, of what follows it."""
    found = _CLAUSE.search(text, max(0, start - 60), start)
    clause = _BORDER.split(found.group())[-1] if found is not None else ""
    if _FIRST_WORDS.fullmatch(clause):
        return 1 if _THEN_AHEAD.match(text, end) else 0
    if _BEHIND.search(clause):
        return -1
    return 1 if _AHEAD.search(clause) else 0


_ON = r"(?:\s(?:on|in|at|the|this|about|around|early|mid|late|(?:the\s)?(?:beginning|start|middle|end)\sof))*\s$"
DIRECTION = Direction(
    tense=_tense,
    since=regex(rf"\bsince{_ON}", FLAGS),
    starts=regex(
        rf"\b(?:starting|beginning|commencing|effective|(?:no|not)\slater\sthan){_ON}"
        r"|\b(?:book(?:ed)?|bought|reserved|arranged|scheduled|rescheduled|postponed|moved|signed\sup|registered|tickets?"
        r"|appointment|reservation|table|flight|meeting|interview)\b[^.!?;:,\n]{0,20}\s(?:for|until|to)(?:\sthe)?\s$",
        FLAGS,
    ),
    limits=regex(
        rf"\b(?:by|until|till?|(?<!ay\s)(?<!ays\s)(?<!eek\s)(?<!eeks\s)(?<!end\s)(?<!ends\s)(?<!nth\s)(?<!nths\s)(?<!ear\s)(?<!ears\s)before|from|as\sof|due|come|for)(?<!as\sfor){_ON}|(?:\bis|\bare|['’]s)\son\s$",
        FLAGS,
    ),
    range=regex(r"\b(?:from|between)\s[^.!?;:,\n]{1,24}\s(?:to|until|till?|through|and)\s(?:the\s)?$", FLAGS),
    range_after=regex(r"\s(?:to|until|till?|through)\s|\s?[-–—]", FLAGS),
)
