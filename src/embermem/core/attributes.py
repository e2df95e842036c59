"""The vocabulary of facts: each attribute, whether it has one value at a time, its wording, and whether it is a goal or
limit.

Goals and limits are considered at every recall, even if no word of the query matches: a goal until it is reached or
given up, a limit (an allergy, food or activities that are excluded) as long as it is true.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

Standing = Literal["goal", "limit"]


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute. `en` and `zh` are templates: `{}` is the value, `{a}` the value after a or an, `{n}` the same
    unless the value is an adjective ("introverted"). `standing`: whether it is a goal, a limit, or neither."""

    name: str
    single: bool
    en: str
    zh: str
    standing: Standing | None = None

    def sentence(self, value: str, *, chinese: bool) -> str:
        """The template with the value in it: "lives in Lyon"."""
        if chinese:
            return self.zh.replace("{}", value, 1)
        with_article = _with_article(value)
        as_noun = value if value.endswith("ed") else with_article
        return self.en.replace("{a}", with_article, 1).replace("{n}", as_noun, 1).replace("{}", value, 1)


def _with_article(value: str) -> str:
    if value.lower().startswith(("a ", "an ", "the ")):
        return value
    return f"{'an' if value[:1].lower() in 'aeiou' else 'a'} {value}"


_TABLE = (
    Attribute("name", True, "is called {}", "名叫{}"),
    Attribute("nickname", True, "goes by {}", "被称为{}"),
    Attribute("gender", True, "is {a}", "是{}"),
    Attribute("age", True, "is {} years old", "{}岁"),
    Attribute("birth_year", True, "was born in {}", "{}年出生"),
    Attribute("birthday", True, "has their birthday on {}", "生日是{}"),
    Attribute("born_in", True, "was born in {}", "出生在{}"),
    Attribute("comes_from", True, "comes from {}", "来自{}"),
    Attribute("grew_up_in", True, "grew up in {}", "在{}长大"),
    Attribute("nationality", True, "is {}", "是{}"),
    Attribute("lives_in", True, "lives in {}", "住在{}"),
    Attribute("works_as", True, "works as {a}", "职业是{}"),
    Attribute("works_at", True, "works at {}", "在{}工作"),
    Attribute("works_in", True, "works in {}", "从事{}"),
    Attribute("studies", True, "studies {}", "学习{}专业"),
    Attribute("studies_at", True, "studies at {}", "就读于{}"),
    Attribute("graduated_from", False, "graduated from {}", "毕业于{}"),
    Attribute("marital_status", True, "is {}", "{}"),
    Attribute("native_language", True, "speaks {} as first language", "母语是{}"),
    Attribute("speaks", False, "speaks {}", "会说{}"),
    Attribute("learns", False, "is learning {}", "在学{}"),
    Attribute("diet", True, "is {}", "{}", "limit"),
    Attribute("allergic_to", False, "is allergic to {}", "对{}过敏", "limit"),
    Attribute("has_condition", False, "has {}", "患有{}", "limit"),
    Attribute("has_pet", False, "has {}", "养了{}"),
    Attribute("has_relative", False, "has {}", "有{}"),
    Attribute("likes", False, "likes {}", "喜欢{}"),
    Attribute("dislikes", False, "dislikes {}", "不喜欢{}"),
    Attribute("prefers", False, "prefers {}", "更喜欢{}"),
    Attribute("hobby", False, "has the hobby {}", "爱好是{}"),
    Attribute("plays", False, "plays {}", "会{}"),
    Attribute("collects", False, "collects {}", "收集{}"),
    Attribute("avoids", False, "avoids {}", "不吃/不喝{}", "limit"),
    Attribute("drives", True, "drives {a}", "开{}"),
    Attribute("visited", False, "visited {}", "去过{}"),
    Attribute("temperament", False, "is {n}", "性格{}"),
    Attribute("role", True, "is {}", "是{}"),
    Attribute("cannot", False, "cannot {}", "不能{}", "limit"),
    Attribute("health", False, "is {}", "{}", "limit"),
    Attribute("afraid_of", False, "is afraid of {}", "怕{}", "limit"),
    Attribute("wants_to", False, "wants to {}", "想{}", "goal"),
    Attribute("prepares_for", False, "is preparing for {}", "在{}", "goal"),
    Attribute("saves_for", False, "is saving for {}", "在为{}存钱", "goal"),
    Attribute("gives_up", False, "is giving up {}", "在戒{}", "goal"),
    Attribute("cuts_down_on", False, "is cutting down on {}", "在少吃{}", "goal"),
    Attribute("on_diet", True, "is on {a}", "在{}", "goal"),
    Attribute("budget", True, "is on {}", "预算{}", "goal"),
)

OPPOSITE = {"likes": "dislikes", "dislikes": "likes"}
"""Who says the one of a thing takes back the other."""

FAVORITE_PREFIX = "favorite_"
"""`favorite_<thing>` (favorite_color, favorite_food, …) holds one value each."""


@cache
def attributes() -> dict[str, Attribute]:
    """Return the table by name."""
    return {a.name: a for a in _TABLE}


def attribute(name: str) -> Attribute:
    """The entry of that name. `favorite_<thing>` is made from its thing. Raises KeyError for an unknown name."""
    if name.startswith(FAVORITE_PREFIX):
        thing = name.removeprefix(FAVORITE_PREFIX).replace("_", " ")
        return Attribute(name, True, f"has {{}} as favorite {thing}", f"最喜欢的{_THINGS_ZH.get(thing, thing)}是{{}}")
    return attributes()[name]


def standing(name: str) -> Standing | None:
    """Whether an attribute is a goal or a limit; None for all others, and for one that is not in the table."""
    known = attributes().get(name)
    return None if known is None else known.standing


_THINGS_ZH = {
    "color": "颜色", "food": "食物", "movie": "电影", "book": "书", "song": "歌", "sport": "运动", "animal": "动物",
    "season": "季节", "city": "城市", "singer": "歌手", "game": "游戏", "fruit": "水果", "dish": "菜",
}  # fmt: skip
