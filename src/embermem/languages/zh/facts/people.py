"""Marriage, relatives, animals."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

from typing import Final

from embermem.languages.zh.facts.checks import fixed, plain, rule
from embermem.languages.zh.facts.phrases import ADV, FAMILY, ME, NUM

_ANIMALS = r"(?:金毛|拉布拉多|柯基|哈士奇|泰迪|贵宾|比熊|博美|边牧|柴犬|萨摩耶|阿拉斯加|德牧|法斗|雪纳瑞|吉娃娃|橘猫|布偶猫?|英短|美短|蓝猫|狸花猫?|三花猫?|加菲猫?|暹罗猫?|奶牛猫|黑猫|白猫|流浪猫|流浪狗|小?猫咪?|猫猫|狗狗|[小大黑白黄]?狗|仓鼠|[小]?兔子|鹦鹉|乌龟|金鱼|鱼|龙猫|荷兰猪|蜥蜴|蛇|鸟|刺猬|鸭子)"
_CHILD = r"(?:孩子|小孩|娃|宝宝|儿子|女儿|哥哥|姐姐|弟弟|妹妹|双胞胎(?:儿子|女儿|妹妹|弟弟|孩子)?|孙子|孙女|外孙女?|男孩|女孩)"
_WITH = rf"(?:[和跟](?:我(?:的)?)?(?:{FAMILY}))?"
RULES: Final = (
    rule("has_pet", rf"{ME}(?:有|养了|养着|养|领养了|收养了|捡了|买了)(?P<v>{NUM}(?:只|条|匹|个|头)[一-鿿]{{0,3}}{_ANIMALS})", plain(14)),
    rule("has_pet", rf"我(?:家|的|家的|家里的?|们家)(?P<v>(?:那只|那条)?{_ANIMALS}(?:名字)?叫[A-Za-z一-鿿]{{1,5}})", plain(12)),
    rule("has_relative", rf"{ME}(?:一共)?(?:就)?(?:有|生了)(?P<v>(?:{NUM}(?:个|对)){_CHILD})", plain(10)),
    rule("marital_status", rf"我{ADV}{_WITH}{ADV}(?P<v>结婚|离婚|订婚|已婚|未婚|单身|离异|丧偶)(?:都)?(?:快)?(?<!快)(?:[一二两三四五六七八九十\d]+(?:多)?年)?(?:多)?(?:了)?", plain()),
    rule("marital_status", rf"我{ADV}{_WITH}{ADV}(?:领证|领结婚证|办婚礼)了", fixed("结婚")),
)  # fmt: skip
MORE_RELATIVES: Final = (rule("has_relative", rf"(?:我)?(?:还有)?(?P<v>(?:{NUM}个){_CHILD})", plain(10)),)
"""A clause that goes on with the list of relatives: 我有一个哥哥，两个姐姐."""
ENDED: Final = (
    rule("has_pet", rf"我(?:家|的|家的|养的)(?:那只|那条)?(?P<v>{_ANIMALS}[一-鿿]{{0,3}}?)(?:{ADV})(?:去世|死|走丢|离开|飞走)了", plain(8), retracts=True),
    rule("has_relative", rf"我{ADV}[和跟](?:我(?:的)?)?(?P<v>女朋友|男朋友|女友|男友|对象)(?:{ADV})分手了?", plain(), retracts=True),
)  # fmt: skip
