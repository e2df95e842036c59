"""A few themes on which a goal or a limit of the user bears on a query that shares no word with it.

A burger bears on a wish to get slimmer, and a laptop on a budget. Plain words, because no vector of a short sentence
knows it: docs/research/recall.md has what it changes.
"""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from embermem.core.types import Fact

__all__ = ["bears_on", "themes_of"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Theme:
    """What a query of the theme says, which attributes belong to it whole, and which words in the text of others do."""

    name: str
    asked: re.Pattern[str]
    attributes: frozenset[str]
    told: re.Pattern[str]


def themes_of(query: str) -> frozenset[str]:
    """The themes that a query touches."""
    return frozenset(theme.name for theme in _THEMES if theme.asked.search(query))


def bears_on(fact: Fact, themes: Collection[str]) -> bool:
    """Whether the fact belongs to one of these themes."""
    return any(
        theme.name in themes and (fact.attribute in theme.attributes or theme.told.search(fact.text) is not None)
        for theme in _THEMES
    )


def _words(latin: str, cjk: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(latin.split())})\b|{'|'.join(cjk.split())}", re.IGNORECASE)


_THEMES = (
    Theme(
        name="food",
        asked=_words(
            "eat eats eating hungry starving crav(?:e|ing) breakfast brunch lunch dinner supper snacks? meals? dish(?:es)? cook(?:ing)? bak(?:e|ing) recipes? restaurants? "
            "takeaway takeout menu buffet bbq barbecue burgers? pizzas? fries chips pasta noodles? ramen rice sushi steaks? bacon sausages? chicken beef pork tacos? curry "
            "sandwich(?:es)? salads? soups? cheese bread pancakes? cakes? cookies? pies? doughnuts? donuts? pastr(?:y|ies) desserts? sweets? candy chocolates? popcorn milkshakes? smoothies? "
            "ice.cream drinks? beers? wine cocktails? whisk(?:e)?y coffee latte soda cola food foods thai groceries",
            "吃 喝 饿 饭 菜 餐 零食 汉堡 披萨 火锅 烧烤 蛋糕 奶茶 甜点 甜品 冰淇淋 外卖 食谱 啤酒 咖啡 可乐 面条 宵夜",
        ),
        attributes=frozenset({"allergic_to", "avoids", "diet", "on_diet"}),
        told=_words(
            "weight kilos? kg pounds lbs slim(?:mer)? thinner leaner fit(?:ter)? shape healthier healthily healthy eat eating drinking drink alcohol sugar salt meat muscle diabet(?:es|ic) celiac coeliac "
            "cholesterol intoleran(?:t|ce) blood.pressure blood.sugar dairy gluten caffeine coffee chocolate crohn's ibs sober",
            "减 瘦 胖 脂 糖 酒 吃 喝 肌 血压 痛风 胃 不耐 体重 饮食",
        ),
    ),
    Theme(
        name="money",
        asked=_words(
            "buy buying purchase order shop shopping prices? costs? cheap(?:er)? expensive afford pay gifts? presents? sale deals? laptops? phones? cameras? shoes dress hotels? flights? tickets? trips? holidays? vacations? "
            "restaurants? rent invest subscriptions?",
            "买 购 价格 便宜 贵 礼物 酒店 机票 旅行 旅游 花钱 手机 电脑 预算",
        ),
        attributes=frozenset({"budget", "saves_for"}),
        told=_words("money debts? loans? mortgage spend(?:ing)? house home flat apartment credit", "钱 贷 房 花销 债"),
    ),
    Theme(
        name="body",
        asked=_words(
            "gym workouts? exercise running run jog hik(?:e|ing) walk climb(?:ing)? swim(?:ming)? pool beach lake sea boat kayak ski(?:ing)? bike cycling sports? dance dancing yoga skydiving bungee rollercoaster "
            "flights? fly flying tower bridge balcony park mountains? tired sick doctor medicines? pills?",
            "运动 跑步 健身 爬山 游泳 海边 滑雪 骑车 跳伞 蹦极 过山车 飞机 坐船 药 医生",
        ),
        attributes=frozenset({"cannot", "health", "has_condition", "afraid_of"}),
        told=_words("marathon triathlon weight fit(?:ter)? shape stronger muscle active exercise", "马拉松 减 瘦 肌 运动 锻炼"),
    ),
    Theme(
        name="smoke",
        asked=_words("smok(?:e|es|ing) cigars? cigarettes? tobacco vap(?:e|ing) party pub", "烟 聚会"),
        attributes=frozenset(),
        told=_words("smoking vaping cigarettes nicotine asthma", "烟 哮喘"),
    ),
    Theme(
        name="time",
        asked=_words(
            "weekends? saturday sunday plans? party movies? series gaming bored free.time schedule stay.up",
            "周末 计划 聚会 电影 游戏 熬夜 无聊 追剧 安排",
        ),
        attributes=frozenset({"prepares_for"}),
        told=_words("learn pass exam degree thesis sleep read write screen procrastinating", "考 备考 学 早睡 早起 论文 写"),
    ),
)  # fmt: skip
