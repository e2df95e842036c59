"""Where somebody comes from, lives and has been."""

from __future__ import annotations

from typing import Final

from embermem.core.patterns import regex
from embermem.languages.zh.facts.checks import known_place, origin, place, plain, rule
from embermem.languages.zh.facts.phrases import ADV, ME, NUM


def _went(value: str) -> str | None:
    return None if plain()(value) is None else f"去{value}"


def _trip(value: str) -> str | None:
    return None if known_place(value) is None else f"去{value}"


_V = r"(?P<v>.{1,20}?)"
RULES: Final = (
    rule("born_in", rf"我(?:是)?(?:出生在|出生于|生在){_V}", place),
    rule("comes_from", rf"我(?:的)?(?:老家|家乡)(?:就)?(?:是|在){_V}(?:的)?", place),
    rule("comes_from", rf"我(?:是)?来自{_V}", place),
    rule("comes_from", r"我(?:自己)?(?:也|其实|本来)?是(?:土生土长的|地道的)?(?P<v>[一-鿿]{2,6}?)人", origin),
    rule("grew_up_in", rf"我(?:是)?(?:从小)?在{_V}长大", place),
    rule(
        "lives_in",
        rf"{ME}(?:住在|居住在|定居在?|生活在|住){_V}(?:{NUM}年(?:多)?|好几年|很多年|好多年)?(?:了)?",
        place,
    ),
    rule("lives_in", rf"{ME}(?:在)(?P<v>[一-鿿]{{2,6}}?)(?:定居|安家)", place),
    rule(
        "lives_in",
        rf"{ME}(?:从[一-鿿]{{2,5}})?(?:搬家)?(?:搬|调|迁)(?:家)?(?:到|来|去|回|回到|来到)了?{_V}(?:住|生活|来|去|定居)?",
        place,
    ),
    rule("visited", rf"{ME}(?:去过|到过)(?P<v>[^，]{{2,8}}?)", place),
    rule("visited", rf"{ME}(?:和\w{{1,5}})?去了(?:一?趟)?(?P<v>[^，]{{2,8}}?)(?:旅游|旅行|玩|出差|度假)?", place),
)
OF_RELATIVES: Final = (rule("lives_in", rf"我{ADV}在(?P<v>[一-鿿]{{2,6}}?)", known_place),)
"""A son "in Canada" lives there; a speaker may be there for a day."""
TOWN: Final = rule("lives_in", r"我(?:现在|目前)?(?:人)?在(?P<v>[一-鿿]{2,5}?)", known_place)
"""A home where the next clause says what somebody does there."""
LASTING_STAY: Final = regex(r"搬(?:过)?来|过敏|不吃|吃素|吃清真|定居|上班|工作|读书|上学|读[一-鿿]{1,4}专业|做|当")
CANCELLED: Final = (
    rule("plans", r"(?:我们?|咱们?)?(?:还是|最后)?(?:不去|去不了|去不成)(?P<v>[一-鿿]{2,8})了", _went, retracts=True),
    rule(
        "plans",
        r"(?:我们?|咱们?)?(?:那|那个|去)?(?P<v>[一-鿿]{2,5}?)(?:的?(?:行程|旅行|旅游|之行|机票))?(?:取消了?|不去了|去不成了?|泡汤了)",
        _trip,
        retracts=True,
    ),
)
"""A trip that is not made, with 我 or without."""
ENDED: Final = (
    *CANCELLED,
    rule("lives_in", rf"我(?:现在)?(?:不再|已经不|不|没有?再|早就不)住在?{_V}了", place, retracts=True),
    rule("lives_in", rf"我(?:以前|曾经)住在{_V}", place, retracts=True),
    rule("lives_in", rf"我们?{ADV}(?:从)(?P<v>[一-鿿]{{2,8}}?)(?:搬走|搬出来)了?", place, retracts=True),
)
