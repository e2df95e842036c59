"""Likes, hobbies, skills."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

from typing import Final

from embermem.languages.zh.facts.checks import liked, plain, rule
from embermem.languages.zh.facts.phrases import ADV

THINGS: Final = {
    "颜色": "color", "食物": "food", "菜": "dish", "电影": "movie", "书": "book", "歌": "song", "歌手": "singer", "运动": "sport",
    "动物": "animal", "季节": "season", "城市": "city", "水果": "fruit", "游戏": "game", "作家": "author", "乐队": "band", "花": "flower",
    "饮料": "drink", "科目": "subject", "球队": "team", "演员": "actor", "电视剧": "show", "节目": "show",
}  # fmt: skip
_SKILLS = r"(?:弹(?:钢琴|吉他|古筝|琵琶|贝斯)|拉(?:小提琴|二胡|大提琴|手风琴)|吹(?:笛子|长笛|萨克斯|口琴|葫芦丝)|打(?:鼓|架子鼓|篮球|网球|羽毛球|乒乓球|排球|太极)|踢足球|下(?:围棋|象棋)|跳(?:街舞|芭蕾|拉丁)|画(?:油画|国画|水彩)|唱京剧)"
RULES: Final = (
    rule("plays", rf"我(?:也)?会(?P<v>{_SKILLS})", plain(8)),
    rule("favorite_", r"我最(?:喜欢|爱)(?:的)?(?P<thing>[一-鿿]{1,3})(?:是|就是)(?P<v>[^，]{1,16}?)", liked),
    rule("hobby", r"我(?:的)?(?:业余)?(?:爱好|兴趣)(?:爱好)?(?:是|有|包括)(?P<v>[^，]{1,20}?)", liked),
    rule("prefers", r"我(?:更|比较)(?:喜欢|偏爱)(?P<v>[^，]{1,16}?)", liked),
    rule("dislikes", rf"我{ADV}(?:讨厌|不喜欢|不爱|受不了|厌恶|痛恨)(?P<v>[^，]{{1,16}}?)", liked),
    rule("likes", rf"我(?:的?{ADV})(?:都)?(?:喜欢|热爱|爱|酷爱|迷上了|爱上了|喜爱)(?P<v>[^，]{{1,16}}?)", liked),
    rule("collects", r"我(?:喜欢)?(?:收集|收藏)(?P<v>[一-鿿]{2,8}?)", liked),
)  # fmt: skip
ENDED: Final = (
    rule("likes", r"我(?:现在)?(?:不再|已经不)(?:喜欢|爱)(?P<v>.{1,20}?)了?", liked, retracts=True),
    rule("likes", r"我(?:现在)?不(?:喜欢|爱)(?P<v>.{1,12}?)了", liked, retracts=True),
    rule("dislikes", r"我(?:现在|已经)*(?:不再|不)(?:讨厌)(?P<v>.{1,12}?)了", liked, retracts=True),
)
