"""Checks of values: each takes what a rule captured and returns it as it is kept, or None to refuse it."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from embermem.core.patterns import regex
from embermem.languages.facts.rules import Rule, Value
from embermem.languages.language import words_of
from embermem.languages.zh.facts.phrases import FAMILY, OTHERS, TAIL
from embermem.languages.zh.numbers import number

Check = Callable[[str], "str | None"]

_PRONOUN = regex(r"[你您她它咱这那]|(?<!吉)他|们|自己|别人|大家|人家|某|什么|怎么")
_SURNAMES = frozenset(
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文欧阳司马诸葛上官慕容"
)
_NOT_IN_NAME = regex(
    r"[你您他她它我们了外卖车来去过不没醒住停着吗的得地吃喝走起帮做是在有给把被叫]|保安|医生|老板|师傅|服务|妈|爸|爷|奶|警|救命|朋友|家人"
)
_NO_NAME_END = regex(r"[人年月日天时候一二三四五]$")
_NO_NAME = regex(
    r"常常|刚刚|天天|偏偏|仅仅|渐渐|往往|明明|好好|慢慢|早早|老家|老是|老公|老婆|老板|大学|大概|大约|大多|小学|小区|小孩|小时|高中|高兴|常年|马上|方才|万一|于是|从|和|[我你您她他它不没未别也都还才只就又再很并曾已说是在住想要会可能最真太更的跟与给让去叫有对做当上]"
)
_PLACE_END = regex(r"[一-鿿]{1,8}(?:市|省|区|县|镇|乡|村|州|岛)$")
_NOT_PLACE = regex(
    r"超市|夜市|早市|菜市|股市|都市|家里|学校|宿舍|这里|那里|这儿|那儿|附近|旁边|酒店|宾馆|楼(?![区市县])|层|隔壁|公司|单位|市区|郊区|市中心|小区|山区|地区|农村|乡下|城里|城市|医院|新家|一起|心里|梦"
)
_INSTITUTION = regex(
    r"[一-鿿A-Za-z0-9]{1,14}(?:公司|医院|大学|学院|中学|小学|学校|银行|酒店|餐厅|工厂|研究所|研究院|幼儿园|超市|书店|咖啡店|咖啡馆|律所|事务所|图书馆|出版社|报社|电视台|机场|药店|"
    r"集团|诊所|政府|法院|设计院|博物馆|事业单位|国企|外企|互联网公司)$"
)
_COMPANIES = frozenset(
    "腾讯 阿里 阿里巴巴 百度 华为 字节跳动 字节 京东 美团 小米 网易 滴滴 微软 谷歌 苹果公司 拼多多 快手 小红书 比亚迪 特斯拉 顺丰 中兴 联想 银行 医院 学校 互联网公司 外企 国企 咖啡店 书店 餐厅 部队 超市 工厂 幼儿园 法院 政府 药店 公安局 派出所 邮局 酒店 机场 铁路 工地 图书馆 研究所".split()
)
_LIKED_NO = regex(
    r"^(?:的|上了|过|到|了|着|和|跟|被|把|给|让|不|没|说|是|有|在|我|一个人(?!旅行|独处|看|待|去)|谁|某|如此|这样|那样|一下|死|得|极|莫|哭|莫能助|怎|多|就|就好)|我|时候|其中|某个|有个|一个人$|老师$|妈|爸|宝贝|老婆|老公|女孩|男孩|女生|男生|的人$|上班族|死了|很久|了$|的样子|的感觉|的声音"
)
_GENDERS = {"女的": "女", "女生": "女", "女性": "女", "女孩": "女", "女孩子": "女", "女人": "女", "女士": "女",
            "男的": "男", "男生": "男", "男性": "男", "男孩": "男", "男孩子": "男", "男人": "男"}  # fmt: skip


def rule(attribute: str, pattern: str, check: Check, *, retracts: bool = False) -> Rule:
    """A rule whose value is the group `v`, checked; a rule without that group has none."""

    def read(match: re.Match[str]) -> Value | None:
        value = check(match.groupdict().get("v") or "")
        return None if value is None else (value, match.end())

    return Rule(attribute, re.compile(pattern + TAIL), read, retracts)


def fixed(value: str) -> Check:
    """Whatever was captured, that value: what a rule says of itself, or nothing where all is over."""
    return lambda _: value


def plain(limit: int = 20) -> Check:
    """A value that points at nothing outside of it."""

    def check(value: str) -> str | None:
        value = value.strip('“”"《》「」 ')
        if (
            not 1 <= len(value) <= limit
            or _PRONOUN.search(value)
            or (value[0] in "的上过到了着得和跟被把给让吃喝看不没" and len(value) < 2)
        ):
            return None
        return value

    return check


def liked(value: str) -> str | None:
    kept = plain()(value)
    return None if kept is None or _LIKED_NO.search(kept) else kept


def human_name(value: str) -> str | None:
    if re.fullmatch(r"[A-Z][A-Za-z]{1,14}(?: [A-Z][A-Za-z]{1,14})?", value):
        return value
    if not 2 <= len(value) <= 4 or _NOT_IN_NAME.search(value) or value in words_of("zh", "occupations"):
        return None
    surnamed = value[0] in _SURNAMES and (len(value) <= 3 or value[:2] in ("欧阳", "司马", "诸葛", "上官", "慕容"))
    return value if surnamed or value[0] in "小阿老大" or (len(value) == 2 and value[0] == value[1]) else None


def familiar_name(value: str) -> str | None:
    """小李 and 阿强, which stand after 我是 too; not 小白, which is a beginner."""
    if value[0] == "阿":
        return human_name(value)
    return value if value[1] in _SURNAMES and value not in ("小白", "小高", "小文", "小石", "老马", "老师") else None


def any_name(value: str) -> str | None:
    if re.fullmatch(r"[A-Za-z]{2,15}", value):
        return value
    return value if 1 <= len(value) <= 4 and not _NOT_IN_NAME.search(value) else None


@lru_cache(maxsize=4096)
def is_name(who: str) -> bool:
    """Whether what stands after a kin is a name, and no word of the dictionary such as 白天, 高兴 or 老板."""
    if re.fullmatch(r"[A-Z][A-Za-z]{1,14}", who):
        return True
    begins_like_one = who[0] in _SURNAMES or who[0] in "小阿老大" or (len(who) == 2 and who[0] == who[1])
    if not begins_like_one or _NO_NAME.search(who) or _NO_NAME_END.search(who):
        return False
    import rjieba

    if re.fullmatch(f"{FAMILY}|{OTHERS}", who):
        return False
    return all(len(word) == 1 or tag in ("nr", "nz", "ns", "q", "x") for word, tag in rjieba.tag(who, False))


@lru_cache(maxsize=4096)
def begins_with_noun(words: str) -> bool:
    """Whether the first word is a noun of two characters at least."""
    import rjieba

    word, tag = next(iter(rjieba.tag(words, False)), ("", ""))
    return len(word) > 1 and tag in ("n", "nr", "nrt", "nz", "nt")


def place(value: str) -> str | None:
    """A place: a known one, or one that ends in 市, 省, 区 …"""
    value = re.sub(r"(?:生活|居住|定居)$", "", value)
    if not 2 <= len(value) <= 12 or _NOT_PLACE.search(value) or _PRONOUN.search(value):
        return None
    if value in words_of("zh", "places") or _PLACE_END.fullmatch(value) or re.fullmatch(r"[A-Z][A-Za-z]+", value):
        return value
    return value if _starts_with_place(value) else None


@lru_cache(maxsize=4096)
def _starts_with_place(value: str) -> bool:
    """Two known places in a row, such as 北京朝阳 (city and district), or one with a short ending."""
    for cut in range(2, min(6, len(value))):
        if value[:cut] in words_of("zh", "places"):
            rest = value[cut:]
            return rest in words_of("zh", "places") or _PLACE_END.fullmatch(rest) is not None
    return False


def known_place(value: str) -> str | None:
    return value if value in words_of("zh", "places") else None


def origin(value: str) -> str | None:
    return value if value in words_of("zh", "places") or _PLACE_END.fullmatch(value) else None


def organisation(value: str) -> str | None:
    if _PRONOUN.search(value) or value in ("家", "公司", "一家公司") or value.startswith(("一起", "努力")):
        return None
    if (
        value in _COMPANIES
        or _INSTITUTION.fullmatch(value)
        or value in words_of("zh", "places")
        or re.fullmatch(r"[A-Z][A-Za-z]{2,20}", value)
    ):
        return value
    return None


def employer(value: str) -> str | None:
    """An organisation that is named, not a place."""
    return None if value in words_of("zh", "places") else organisation(value)


def occupation(value: str) -> str | None:
    value = re.sub(r"^(?:一名|一个|一位|名|个|位|做|当)", "", value)
    if value in words_of("zh", "occupations"):
        return value
    bare = re.sub(
        r"^(?:卡车|货车|大货车|出租车|公交车?|网约车|地铁|高铁|乡村|家庭|骨科|内科|外科|眼科|皮肤科|急诊科?|儿科|妇产科|牙科|妇科|化学|物理|生物|历史|地理|政治|语文|数学|英语|日语|法语|书法|舞蹈|游泳|瑜伽|美术|音乐|体育|平面|室内|服装|UI|游戏|网页|建筑|电气|机械|土木|结构|测试|嵌入式|互联网|电商|外贸|房产|保险|银行|大学|培训|主任|首席|注册|执业|全职|兼职|退休|资深|自由|高级|初级|前端|后端|算法|小学|初中|中学|高中|大[一二三四]|高[一二三]|研[一二三])+",
        "",
        value,
    )
    return value if bare in words_of("zh", "occupations") else None


def age(value: str) -> str | None:
    years = number(value)
    return str(years) if years is not None and 4 <= years <= 119 else None


def small_age(value: str) -> str | None:
    """The age of a child, of whom it is told from the first year on."""
    years = number(value)
    return str(years) if years is not None and 1 <= years <= 119 else None


def height(value: str) -> str | None:
    """A height as people say it: 178 (centimetres), 一米七五, 1.75米."""
    return value if value[0] in "12一" else None


def allergen(value: str) -> str | None:
    value = re.sub(r"(?:也|都|特别|非常|很|严重|轻微)+$", "", value)
    if re.match(r"[你他她它这那此]|很多|什么", value) or re.search(r"[不没]", value):
        return None
    return plain(12)(value)


_NO_ALLERGEN = regex(
    r"皮肤|鼻子|[脸身手]|季节|今天|昨天|天天|有点|容易|最近|又|一直|好像|药物测试|不|没|会|是|严重|[了着过]"
)


def bare_allergen(value: str) -> str | None:
    """What stands before 过敏 without 对: no part of the body, no time."""
    return None if _NO_ALLERGEN.search(value) else plain(6)(value)


_NOT_EATEN = regex(r"^(?:亏|苦|饭|东西|太|多|饱|完|下|了|那|这|到|上|得|力|醋|老本|一?[点口些]|酸$)|[了着过的]$")


def left_out(value: str) -> str | None:
    """Food that somebody must not have."""
    return None if _NOT_EATEN.search(value) else plain(14)(value)


def gender(value: str) -> str | None:
    return _GENDERS.get(value)
