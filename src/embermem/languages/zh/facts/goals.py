"""What counts as a goal: things that are wanted for weeks, not for tonight. What is not listed is not taken for one."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from typing import Final

from embermem.core.patterns import regex
from embermem.languages.zh.facts.checks import occupation, plain, rule
from embermem.languages.zh.facts.phrases import ADV

EXAM = r"(?:考研|考公|考博|高考|中考|期末考试|期末|雅思|托福|公务员考试|公务员|研究生|四六级|四级|六级|司法考试|法考|教资|注会|驾照考试|考试)"
_LANGUAGES = r"(?:英语|日语|法语|德语|韩语|西班牙语|意大利语|俄语|粤语|普通话)"
GOAL = (
    r"(?:减肥|减重|减脂|瘦身|瘦下来|变瘦|(?:瘦|减)(?:\d+|[一二三四五六七八九十]{1,3})(?:斤|公斤)|增重|增肌|塑形|练出(?:腹肌|马甲线)|戒(?:掉)?(?:烟|酒|糖|咖啡|奶茶|赌|甜食|可乐)|控糖|控制(?:饮食|体重|血糖|血压|花销)"
    r"|少(?:吃|喝)(?:甜食|糖|肉|油炸食品|外卖|辣|盐|酒|咖啡|奶茶|可乐)|多(?:运动|锻炼|喝水|吃蔬菜)|早睡早起|早睡|早起|备孕|要(?:个)?(?:孩子|二胎)|生(?:个)?(?:孩子|二胎)"
    rf"|(?:考(?!虑|完|砸|过|试))(?:研|公|博|上[一-鿿]{{2,8}}|雅思|托福|驾照|公务员|教师资格证|教资|注会|法考|研究生)|(?:学好|学会|提高|练好)(?:自己的)?(?:{_LANGUAGES}|游泳|开车|做饭|弹钢琴|弹吉他|口语)(?:水平|能力)?"
    r"|(?:存钱|攒钱)(?:买房|买车|旅行|留学|结婚)?|省钱|买房|还清(?:贷款|房贷|债|债务)|换工作|转行|创业|(?:出国)?留学|跑(?:完)?(?:一次|一场|一个)?(?:全程|半程)?(?:马拉松|半马|全马)|写(?:一本|一部)?(?:小说|书))"
)  # fmt: skip
"""What is wanted for weeks, as it stands after 我想, 我要, 我在 …"""
_TODAY = regex(r"今晚|今天|今早|明天|明早|后天|这会儿|这次|一会儿|马上|待会|周末|下午|晚上|昨天")
_WAVERS = regex(r"放弃|算了|失败|没成|又不|不知道|再说|随便|不想|不打算")


def lasting(sentence: str) -> bool:
    """Whether nothing in the sentence makes a goal a matter of today, or doubtful."""
    return _TODAY.search(sentence) is None and _WAVERS.search(sentence) is None


def _profession(value: str) -> str | None:
    """当算法工程师, of 当一名算法工程师: a job that somebody wants to have."""
    match = re.fullmatch(r"(当|做|成为)(?:一?[名个位])?(.+)", value)
    return None if match is None or occupation(match[2]) is None else match[1] + match[2]


_MONEY = r"(?:[\d,.]+|[一二两三四五六七八九十百千万]+)(?:万|千|k)?(?:块钱?|元|欧元|美元|美金|欧|刀|英镑|日元|港币|万)"
RULES: Final = (
    rule("prepares_for", rf"我{ADV}(?:正)?(?:在|要)?(?P<v>备考{EXAM}?|准备{EXAM})", plain()),
    rule("wants_to", rf"我{ADV}(?:想要?|要|得|必须|需要|决定|下定决心|打算|计划|准备|正在?|在|一直在|开始|一直想|在努力|正在努力|努力)(?:今年|明年|开始|努力|在|再)?(?P<v>{GOAL})", plain()),
    rule("wants_to", rf"我(?:今年|明年)(?:想|要|打算|准备|计划)(?P<v>{GOAL})", plain()),
    rule("wants_to", rf"我(?:今年|现在|最近)?的?(?:目标|愿望|计划|新年愿望)(?:就)?是(?:要|想)?(?P<v>{GOAL})", plain()),
    rule("wants_to", r"我(?:以后|将来|毕业后|长大后)?(?:一直)?(?:想|要|的(?:梦想|理想|目标)是)(?P<v>(?:当|做|成为)(?:一?[名个位])?[一-鿿]{2,8}?)", _profession),
    rule("budget", rf"我(?:的|们的)?(?:每?个?月的?)?预算(?:是|只有|就|大概|在|不超过)*(?P<v>{_MONEY}(?:以内|左右|以下)?|有限|不多|很紧|很有限|比较紧)", plain()),
    rule("saves_for", r"我(?:们)?(?:最近|现在|一直)?(?:正)?在(?:存钱|攒钱)(?:准备|打算|想)?(?P<v>买[一-鿿]{1,6}|去[一-鿿]{2,6})", plain()),
)  # fmt: skip
ENDED: Final = (
    rule(
        "wants_to",
        rf"我(?:现在|已经|早就)*(?:不再|不想再?|不打算再?|不|放弃|放弃了)(?:想|要)?(?P<v>{GOAL})了",
        plain(),
        retracts=True,
    ),
    rule("wants_to", rf"我(?:现在|已经|早就)*(?:不再想?|放弃了?)(?P<v>{GOAL})", plain(), retracts=True),
    rule("wants_to", r"我(?:已经|终于|总算|成功)+(?P<v>戒(?:掉)?(?:烟|酒))(?:成功)?了", plain(), retracts=True),
    rule("wants_to", r"我(?:已经|终于|总算)*(?P<v>戒(?:烟|酒))成功了?", plain(), retracts=True),
    rule(
        "prepares_for",
        rf"我(?:现在|已经|早就)*(?:不再|不|放弃了?)(?P<v>(?:备考|准备){EXAM}?)了",
        plain(),
        retracts=True,
    ),
)
