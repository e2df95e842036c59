"""Facts from first-person and possessive statements, by rules (simplified characters).

A statement is read only where a clause begins with 我 or one of its kin, and only if the rule accounts for the
clause up to its end. A wrong fact is worse than none.
"""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import lru_cache
from typing import Final, NamedTuple

from embermem.core.attributes import FAVORITE_PREFIX, standing
from embermem.languages.dates.engine import since
from embermem.languages.facts.finding import USER, Finding
from embermem.languages.facts.rules import Rule, Value, implied, matched
from embermem.languages.language import words_of
from embermem.languages.zh.dates import DATES
from embermem.languages.zh.goals import EXAM, GOAL, lasting
from embermem.languages.zh.numbers import number

_SENTENCE_CHARS = 200
_SENTENCE = re.compile(r"[^。！？!?\n；;]+[。！？!?；;]?")
_BLOCKED = re.compile(
    r"如果|要是|假如|假设|假装|倘若|万一|只要|除非|想象|幻想|希望|但愿|梦见|梦到|梦里|做梦|可能|也许|大概|或许|说不定|差点|打算|计划|想要|准备|考虑"
    r"|他说|她说|他们说|你说|人家说|有人说|妈说|爸说|说过|说我|问我|告诉|听说|据说|以为|好像|仿佛|似乎|好比|例如|比如|等于|真想|恨不得|游戏里|电影里|戏里"
    r"|小时候|以前|曾经|从前|当年|本来|原来想|要不|难道|怎么|什么|谁|哪|吗|呢|\?|？|才怪|个屁|怀疑|相信|觉得|感觉|认为|装作|就像|像是|(?<!预)算是|几乎|[叫让]我当|歌里|书里|下辈子|上辈子"
    r"|将来|以后|未来|明年|下个月|长大后|有一天|的时候|其实不|\ue000|：|:"
)
_PAST = frozenset({"以前", "曾经"})
"""Words of the past block everything but a retraction, which is about the past."""
_PLANS = frozenset({"打算", "计划", "想要", "准备"})
"""Words of a plan block everything but a goal, which is one."""
_CLAUSE = re.compile(r"[^，,、：:。！？!?；;\s]+(?:、[^，,、：:。！？!?；;\s]+)*")
_LEAD = re.compile(
    r"(?:嗯|哦|噢|啊|哈哈|嘿|对了|其实|另外|顺便说一下|话说|你好|您好|大家好|因为|所以|但是|但|不过|而且|然后|还有|并且|同时|现在|目前|最近|那|"
    r"昨天|前天|今天|上周|上个?月|这个月|去年|前年|今年|\d{1,2}个?[月年天]前|[一二两三四五六七八九十]{1,2}个?[月年]前|(?:19|20)\d\d年|\d{1,2}月(?:份)?|[一二三四五六七八九十]{1,3}月(?:份)?|平时|一直以来|说实话|老实说|没错|是的|对|好的|从小|自从){0,3}"
)
_CARRIED = re.compile(
    r"(?:但是?|而且)?(?:也|还|现在|目前|平时)?(?:今年\d|今年[一二三四五六七八九十]|\d{1,2}岁|在|住在|是|来自|喜欢|讨厌|不喜欢|对|会说|养了|有[一两二三]|专业是)"
)
"""A clause without a subject that goes on about the speaker, after a clause that was understood to be of them."""
_TAIL = r"(?:了|的|啦|呀|哦|啊|呢|哈|嘛|~|～)*$"
_ADV = r"(?:现在|目前|一直|也|还|都|就|最近|已经|一个人|刚|刚刚|今年|平时|真的|特别|非常|很|超级|超|最|比较|挺|十分|真|从小就?|其实|本来就|上个?月|去年|前年|昨天|前天|上周|今年|这个月|这周|\d{1,2}个?[月年天]前|[一二两三四五六七八九十]{1,2}个?[月年]前|(?:19|20)\d\d年(?:\d{1,2}月)?|\d{1,2}月份?|[一二三四五六七八九十]{1,3}月份?|从(?:19|20)\d\d年(?:起|开始)(?:就)?|和\w{1,4}一起){0,3}"
_I = rf"(?:我|我们|咱们|俺)(?:家)?{_ADV}"
_TURN = re.compile(rf"{_I}(?:又|终于)?(?:搬家|换工作|换公司|跳槽|毕业|回国)了{_TAIL}")
"""A turn in the speaker's life, of which the next clause says where to."""
_KIN = (
    r"妹妹|姐姐|哥哥|弟弟|妈妈|爸爸|母亲|父亲|老婆|老公|妻子|丈夫|太太|先生|儿子|女儿|女朋友|男朋友|女友|男友|爷爷|奶奶|外公|外婆|姥姥|姥爷|叔叔|阿姨|舅舅|姑姑|"
    r"表妹|表姐|表哥|表弟|堂妹|堂姐|堂哥|堂弟|闺蜜|室友|同事|老板|朋友|大女儿|小女儿|大儿子|小儿子|妈(?!妈)|爸(?!爸)|姐(?!姐|夫)|哥(?!哥)|妹(?!妹|夫)|弟(?!弟|妹|媳)"
)
_PRONOUN = re.compile(r"[你您他她它咱这那]|们|自己|别人|大家|人家|某|什么|怎么")
_SURNAMES = frozenset(
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文欧阳司马诸葛上官慕容"
)
_NAME_BEGINS = "".join(sorted(_SURNAMES)) + "小阿老大"
_MY_KIN = (
    rf"我(?:的|家|最好的)?(?P<kin>{_KIN})"
    rf"(?P<who>(?!常常|刚刚|天天|偏偏|仅仅|渐渐|往往|明明|好好|慢慢|早早|老家|老是|大学|大概|大约|大多|小学|小区|高中|常年|马上|方才|万一|于是|从|和)"
    rf"(?:[{_NAME_BEGINS}]|([一-鿿])(?=\3))[^\W\d_A-Za-z不没未别也都还才只就又再很并曾已说是在住想要会可能一最真太更的和跟与]{{1,2}}(?=是|在|住|叫))?(?!的){_ADV}"
)
"""A kin and, perhaps, a name. What is not built like a name is left: between 姐姐 and 是 stand also 不, 其实 and 才."""
_NOT_IN_NAME = re.compile(
    r"[你您他她它我们了外卖车来去过不没醒住停着吗的得地吃喝走起帮做是在有给把被叫]|保安|医生|老板|师傅|服务|妈|爸|爷|奶|警|救命|朋友|家人"
)
_PLACE_END = re.compile(r"[一-鿿]{1,8}(?:市|省|区|县|镇|乡|村|州|岛)$")
_NOT_PLACE = re.compile(
    r"超市|夜市|早市|菜市|股市|都市|家里|学校|宿舍|这里|那里|这儿|那儿|附近|旁边|酒店|宾馆|楼|层|隔壁|公司|单位|市区|郊区|市中心|小区|山区|地区|农村|乡下|城里|城市|医院|新家|一起|心里|梦"
)
_INSTITUTION = re.compile(
    r"[一-鿿A-Za-z0-9]{1,14}(?:公司|医院|大学|学院|中学|小学|学校|银行|酒店|餐厅|工厂|研究所|研究院|幼儿园|超市|书店|咖啡店|咖啡馆|律所|事务所|图书馆|出版社|报社|电视台|机场|药店|"
    r"集团|诊所|政府|法院|设计院|博物馆|事业单位|国企|外企|互联网公司)$"
)
_COMPANIES = frozenset(
    "腾讯 阿里 阿里巴巴 百度 华为 字节跳动 字节 京东 美团 小米 网易 滴滴 微软 谷歌 苹果公司 银行 医院 学校 互联网公司 外企 国企 咖啡店 书店 餐厅".split()
)
_LANGS = r"(?:[一-鿿]{1,3}(?:语|文)|粤语|普通话|上海话|四川话|闽南话|客家话|广东话|中文|英文|手语)"
_INSTRUMENTS = r"(?:弹(?:钢琴|吉他|古筝|琵琶|贝斯)|拉(?:小提琴|二胡|大提琴|手风琴)|吹(?:笛子|长笛|萨克斯|口琴|葫芦丝)|打(?:鼓|架子鼓|篮球|网球|羽毛球|乒乓球|排球|太极)|踢足球|下(?:围棋|象棋)|跳(?:街舞|芭蕾|拉丁)|画(?:油画|国画|水彩)|唱京剧)"
_NUM = r"(?:\d{1,3}|[一二两三四五六七八九十]{1,3})"
_PETS = r"(?:猫|狗|小猫|小狗|猫咪|狗狗|橘猫|金毛|柯基|哈士奇|泰迪|布偶猫|英短|仓鼠|兔子|鹦鹉|乌龟|金鱼|鱼|龙猫|荷兰猪|蜥蜴|蛇|鸟|边牧|柴犬|拉布拉多|萨摩耶)"
_THINGS = {
    "颜色": "color", "食物": "food", "菜": "dish", "电影": "movie", "书": "book", "歌": "song", "歌手": "singer", "运动": "sport",
    "动物": "animal", "季节": "season", "城市": "city", "水果": "fruit", "游戏": "game", "作家": "author", "乐队": "band", "花": "flower",
    "饮料": "drink", "科目": "subject", "球队": "team", "演员": "actor", "电视剧": "show", "节目": "show",
}  # fmt: skip
_LEFT_OUT = (
    r"(?:牛肉|猪肉|羊肉|鸡肉|红肉|肉|海鲜|贝类|虾|螃蟹|香菜|葱|姜|蒜|辣椒|辛辣|辣的|辣|酒|咖啡因|咖啡|牛奶|奶制品|乳制品|奶|甜食|甜的|糖|盐|鱼|内脏|花生|坚果|鸡蛋|蛋|麸质|小麦|面食|大豆|豆制品|芒果"
    r"|油炸食品|油腻的|生冷的|生的|冰的|凉的|碳水|可乐|浓茶)"
)
"""What people leave out for good; the longer first."""
_NUM_MONEY = (
    r"(?:[\d,.]+|[一二两三四五六七八九十百千万]+)(?:万|千|k)?(?:块钱?|元|欧元|美元|美金|欧|刀|英镑|日元|港币|万)"
)
_OPENINGS = ("我", "咱", "叫我", "可以叫我", "你可以叫我", "大家", "朋友", "作为")
"""How a clause of the speaker begins."""
_LONGEST_CLAUSE = 40
_PET_NAMED = re.compile(r"(?:它)?(?:名字)?叫([一-鿿]{1,4}|[A-Za-z]{2,12})" + _TAIL)
_ALLERGENS_NO = re.compile(r"^(?:你|他|她|它|这|那|此|很多|什么)")

Check = Callable[[str], "str | None"]
"""Takes the captured value; returns it as it is to be kept, or None to refuse it."""


def statements(text: str, said_at: datetime) -> Iterator[Finding]:
    """The statements of a screened text, in order. Positions are those of the text given."""
    for sentence in _SENTENCE.finditer(text):
        if "我" in sentence.group() or "咱" in sentence.group():
            yield from _sentence(sentence.group()[:_SENTENCE_CHARS], sentence.start(), said_at)


def _sentence(sentence: str, offset: int, said_at: datetime) -> Iterator[Finding]:
    blocked = {match.group() for match in _BLOCKED.finditer(sentence)}
    if not (blocked <= _PAST or blocked <= _PLANS):
        return
    is_lasting = lasting(sentence)
    clauses = list(_CLAUSE.finditer(sentence))
    of_me = False
    for i, clause in enumerate(clauses):
        opened = _opened(clause.group(), of_me)
        if opened is None:
            of_me = False
            continue
        body, body_at = opened
        of_me = _TURN.fullmatch(body) is not None
        following = clauses[i + 1].group() if i + 1 < len(clauses) else ""
        found = _statement(body, following)
        if found is None or _refused(found, blocked, is_lasting):
            continue
        of_me = found.subject == USER and found.attribute not in ("has_pet", "has_relative")
        holds = not found.retracts and standing(found.attribute) != "goal"
        told = Finding(
            subject=found.subject,
            attribute=found.attribute,
            value=found.value,
            start=offset + clause.start() + body_at,
            end=offset + clauses[i + found.more].end(),
            when=since(DATES, clause.group(), said_at) if holds else None,
            retracts=found.retracts,
        )
        yield told
        yield from implied(told)


def _opened(clause: str, of_me: bool) -> tuple[str, int] | None:
    """A clause that is of the speaker, without what leads up to it, and how long that is; also one without a subject,
    where the clause before was of them."""
    lead = _LEAD.match(clause)
    body_at = lead.end() if lead else 0
    if clause.startswith(_OPENINGS, body_at):
        return clause[body_at:], body_at
    if of_me and _CARRIED.match(clause):
        return "我" + clause.removeprefix("但是").removeprefix("但").removeprefix("而且"), 0
    return None


class _Statement(NamedTuple):
    """What a clause says; `more` clauses after it belong to it."""

    subject: str
    attribute: str
    value: str
    retracts: bool
    more: int


def _refused(found: _Statement, blocked: set[str], is_lasting: bool) -> bool:
    """Whether the sentence speaks of a plan or of the past, and the statement does not."""
    if found.retracts:
        return bool(blocked & _PLANS)
    if standing(found.attribute) == "goal":
        return bool(blocked & _PAST) or not is_lasting
    return bool(blocked)


def _statement(body: str, following: str) -> _Statement | None:
    if len(body) > _LONGEST_CLAUSE:
        return None
    for one in matched(_RULES, body):
        groups = one.match.groupdict()
        attribute, value, who = one.rule.attribute, one.value, groups.get("who") or ""
        if who and not _is_name(who):
            continue
        if thing := groups.get("thing"):
            if thing not in _THINGS:
                continue
            attribute = f"{FAVORITE_PREFIX}{_THINGS[thing]}"
        more = 0
        if attribute == "has_pet" and (named := _PET_NAMED.match(following)):
            value, more = f"{value}，叫{named[1]}", 1
        kin = groups.get("kin")
        return _Statement(kin + who if kin else USER, attribute, value, one.rule.retracts, more)
    return None


def _plain(limit: int = 20) -> Check:
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


_LIKED_NO = re.compile(
    r"^(?:的|上了|过|到|了|着|和|跟|被|把|给|让|不|没|说|是|有|在|我|一个人(?!旅行|独处|看|待|去)|谁|某|如此|这样|那样|一下|死|得|极|莫|哭|莫能助|怎|多|就|就好)|我|时候|其中|某个|有个|一个人$|老师$|妈|爸|宝贝|老婆|老公|女孩|男孩|女生|男生|的人$|上班族|死了|很久|了$"
)


def _liked(value: str) -> str | None:
    kept = _plain()(value)
    return None if kept is None or len(kept) < 1 or _LIKED_NO.search(kept) else kept


def _human_name(value: str) -> str | None:
    if re.fullmatch(r"[A-Z][A-Za-z]{1,14}(?: [A-Z][A-Za-z]{1,14})?", value):
        return value
    if not 2 <= len(value) <= 4 or _NOT_IN_NAME.search(value) or value in words_of("zh", "occupations"):
        return None
    surnamed = value[0] in _SURNAMES and (len(value) <= 3 or value[:2] in ("欧阳", "司马", "诸葛", "上官", "慕容"))
    return value if surnamed or value[0] in "小阿老大" or (len(value) == 2 and value[0] == value[1]) else None


_NO_NAME_END = re.compile(r"[人年月日天时候一二三四五]$")


@lru_cache(maxsize=4096)
def _is_name(who: str) -> bool:
    """Whether what stands after a kin is a name, and no word of the dictionary such as 白天, 高兴 or 老板."""
    import rjieba

    if _NO_NAME_END.search(who) or re.fullmatch(_KIN, who):
        return False
    return all(len(word) == 1 or tag in ("nr", "nz", "ns", "q", "x") for word, tag in rjieba.tag(who, False))


def _any_name(value: str) -> str | None:
    if re.fullmatch(r"[A-Za-z]{2,15}", value):
        return value
    return value if 1 <= len(value) <= 4 and not _NOT_IN_NAME.search(value) else None


def _place(value: str) -> str | None:
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


def _origin(value: str) -> str | None:
    return value if value in words_of("zh", "places") or _PLACE_END.fullmatch(value) else None


def _organisation(value: str) -> str | None:
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


def _occupation(value: str) -> str | None:
    value = re.sub(r"^(?:一名|一个|一位|名|个|位|做|当)", "", value)
    if value in words_of("zh", "occupations"):
        return value
    bare = re.sub(
        r"^(?:全职|兼职|退休|资深|自由|高级|初级|前端|后端|算法|大[一二三四]|高[一二三]|研[一二三])", "", value
    )
    return value if bare in words_of("zh", "occupations") else None


def _age(value: str) -> str | None:
    years = number(value)
    return str(years) if years is not None and 4 <= years <= 119 else None


def _allergen(value: str) -> str | None:
    value = re.sub(r"(?:也|都|特别|非常|很|严重|轻微)+$", "", value)
    return None if _ALLERGENS_NO.search(value) or re.search(r"[不没]", value) else _plain(12)(value)


def _nothing(_: str) -> str:
    """No value: whatever it was, it is over."""
    return ""


_FIXED = {"女的": "女", "女生": "女", "女性": "女", "女孩": "女", "女孩子": "女", "女人": "女", "女士": "女",
          "男的": "男", "男生": "男", "男性": "男", "男孩": "男", "男孩子": "男", "男人": "男"}  # fmt: skip


def _gender(value: str) -> str | None:
    return _FIXED.get(value)


def _rule(attribute: str, pattern: str, check: Check, *, retracts: bool = False) -> Rule:
    """A rule whose value is the group `v`, checked; a rule without that group has none."""

    def read(match: re.Match[str]) -> Value | None:
        value = check(match.groupdict().get("v") or "")
        return None if value is None else (value, match.end())

    return Rule(attribute, re.compile(pattern + _TAIL), read, retracts)


_V = r"(?P<v>.{1,20}?)"
_NO_MORE = r"(?:不再|已经不|不|没有?再|早就不)"
_RULES: Final = (
    _rule("lives_in", rf"我(?:现在)?{_NO_MORE}住在?{_V}了", _place, retracts=True),
    _rule("lives_in", rf"我(?:以前|曾经)住在{_V}", _place, retracts=True),
    _rule("lives_in", rf"我们?{_ADV}(?:从)(?P<v>[一-鿿]{{2,8}}?)(?:搬走|搬出来)了?", _place, retracts=True),
    _rule("works_at", rf"我(?:现在)?{_NO_MORE}在{_V}(?:工作|上班)了", _organisation, retracts=True),
    _rule("works_at", rf"我{_ADV}从{_V}(?:辞职|离职)了?", _organisation, retracts=True),
    _rule("likes", rf"我(?:现在)?(?:不再|已经不)(?:喜欢|爱){_V}了?", _liked, retracts=True),
    _rule("likes", r"我(?:现在)?不(?:喜欢|爱)(?P<v>.{1,12}?)了", _liked, retracts=True),
    _rule("diet", r"我(?:现在)?(?:不再|已经不|不)吃(?P<v>素)了", _plain(), retracts=True),
    _rule("allergic_to", rf"我(?:现在|目前)?(?:不再|已经不再|已经不)对{_V}过敏", _allergen, retracts=True),
    _rule("allergic_to", rf"我(?:现在|目前)?不对{_V}过敏了", _allergen, retracts=True),
    _rule("allergic_to", rf"我(?:现在|目前)?对{_V}(?:已经)?(?:不再过敏|不过敏了)", _allergen, retracts=True),
    _rule("works_as", rf"我(?:现在|目前)?(?:不再是|已经不是|早就不是){_V}", _occupation, retracts=True),
    _rule("works_as", rf"我(?:现在|目前)?不(?:再)?(?:是|当|做){_V}了", _occupation, retracts=True),
    _rule("works_as", rf"我{_ADV}退休(?:了|[一二两三四五六七八九十\d]+年)", _nothing, retracts=True),
    _rule("works_at", rf"我{_ADV}(?:辞职|离职|失业|被裁员?|被解雇)了", _nothing, retracts=True),
    _rule("dislikes", r"我(?:现在|已经)*(?:不再|不)(?:讨厌)(?P<v>.{1,12}?)了", _liked, retracts=True),
    _rule("wants_to", rf"我(?:现在|已经|早就)*(?:不再|不想再?|不打算再?|不|放弃|放弃了)(?:想|要)?(?P<v>{GOAL})了", _plain(), retracts=True),
    _rule("wants_to", rf"我(?:现在|已经|早就)*(?:不再想?|放弃了?)(?P<v>{GOAL})", _plain(), retracts=True),
    _rule("wants_to", r"我(?:已经|终于|总算|成功)+(?P<v>戒(?:掉)?(?:烟|酒))(?:成功)?了", _plain(), retracts=True),
    _rule("prepares_for", rf"我(?:现在|已经|早就)*(?:不再|不|放弃了?)(?P<v>(?:备考|准备){EXAM}?)了", _plain(), retracts=True),
    _rule("avoids", rf"我(?:现在|又|已经|重新|终于)*(?:可以|能|开始)(?:吃|喝)(?P<v>{_LEFT_OUT})了", _plain(), retracts=True),
    _rule("name", r"我(?:的)?(?:名字|姓名|全名|真名|本名)(?:是|叫)(?P<v>[^的]{1,16}?)", _any_name),
    _rule("name", r"我(?:就)?叫(?:做)?(?P<v>[A-Za-z一-鿿 ]{2,16}?)", _human_name),
    _rule("nickname", r"(?:你|你们|大家|朋友|朋友们)?(?:都|可以|都可以|平时)?叫我(?P<v>[A-Za-z一-鿿]{1,8}?)(?:吧|就好|就行|就可以|好)", _any_name),
    _rule("nickname", r"(?:你|你们)(?:也)?可以叫我(?P<v>[A-Za-z一-鿿]{1,8}?)", _human_name),
    _rule("nickname", r"(?:大家|朋友们?)都(?:管我)?叫我?(?P<v>[A-Za-z一-鿿]{2,8}?)", _human_name),
    _rule("nickname", r"我的(?:小名|外号|昵称|英文名)(?:是|叫)(?P<v>[A-Za-z一-鿿]{1,12}?)", _any_name),
    _rule("gender", r"我是(?:一?个|一?名|一?位)?(?P<v>女的|男的|女生|男生|女性|男性|女孩子?|男孩子?|女人|男人|女士)", _gender),
    _rule("gender", r"作为(?:一个|一名)?(?P<v>女生|男生|女性|男性)", _gender),
    _rule("age", rf"我(?:今年|现在|已经|刚满|刚刚满|马上)?(?<!马上)(?:满)?(?P<v>{_NUM})(?:周)?岁", _age),
    _rule("birth_year", r"我(?:是|出生于|生于|是在)?(?P<v>(?:19|20)\d\d)年(?:\d{1,2}月(?:\d{1,2}[日号])?)?(?:出生|生)?(?<=出生|年生|日生|号生|月生)", _plain()),
    _rule("birth_year", r"我(?:出生于|生于|出生在)(?P<v>(?:19|20)\d\d)年(?:\d{1,2}月)?(?:\d{1,2}[日号])?", _plain()),
    _rule("birthday", r"我(?:的)?生日(?:是|在)(?:每年)?(?P<v>(?:\d{1,2}|[一二三四五六七八九十]{1,2})月(?:\d{1,2}|[一二三四五六七八九十]{1,3})[日号]?)", _plain()),
    _rule("born_in", rf"我(?:是)?(?:出生在|出生于|生在){_V}", _place),
    _rule("comes_from", rf"我(?:的)?(?:老家|家乡)(?:是|在){_V}", _place),
    _rule("comes_from", rf"我(?:是)?来自{_V}", _place),
    _rule("comes_from", r"我是(?:土生土长的|地道的)?(?P<v>[一-鿿]{2,6}?)人", _origin),
    _rule("grew_up_in", rf"我(?:是)?(?:从小)?在{_V}长大", _place),
    _rule("lives_in", rf"{_I}(?:住在|居住在|定居在?|生活在){_V}", _place),
    _rule("lives_in", rf"{_I}(?:从[一-鿿]{{2,5}})?搬(?:到|来|去|回)了?{_V}", _place),
    _rule("works_as", rf"{_MY_KIN}是(?P<v>[一-鿿]{{2,10}}?)", _occupation),
    _rule("works_at", rf"{_MY_KIN}在{_V}(?:工作|上班)", _organisation),
    _rule("lives_in", rf"{_MY_KIN}住在{_V}", _place),
    _rule("name", rf"我(?:的|家)?(?P<kin>{_KIN})(?:的名字)?叫(?P<v>[A-Za-z一-鿿]{{2,12}}?)", _human_name),
    _rule("age", rf"我(?:的|家)?(?P<kin>{_KIN})(?:今年|已经)?(?P<v>{_NUM})岁", _age),
    _rule("allergic_to", rf"我(?:的|家)?(?P<kin>{_KIN})对{_V}过敏", _allergen),
    _rule("works_as", r"我(?:现在|目前|以后)?(?<!以后)是(?P<v>[一-鿿]{2,12}?)", _occupation),
    _rule("works_as", r"我的(?:职业|工作)是(?P<v>[一-鿿]{2,10}?)", _occupation),
    _rule("works_as", rf"{_I}在[^，不没别未]{{1,14}}?(?:当|做|担任)(?P<v>[一-鿿]{{2,10}}?)", _occupation),
    _rule("works_at", rf"{_I}在{_V}(?:工作|上班|任职)", _organisation),
    _rule("studies_at", rf"{_I}(?:在|就读于)(?P<v>[一-鿿A-Za-z]{{2,14}}?(?:大学|学院|中学|高中))(?:读书|上学|念书|读研|读博|就读|学习|读大学|读本科|读[一-鿿]{{2,6}})?", _plain(14)),
    _rule("graduated_from", rf"我{_ADV}毕业于(?P<v>[一-鿿]{{2,12}}?(?:大学|学院|中学))", _plain(14)),
    _rule("studies", r"我(?:的)?专业是(?P<v>[一-鿿]{2,10}?)(?:专业)?", _plain(10)),
    _rule("studies", r"我(?:是)?(?:学|读)(?P<v>[一-鿿]{2,8}?)专业", _plain(10)),
    _rule("allergic_to", rf"我(?:从小)?(?:就)?对{_V}(?:严重)?过敏", _allergen),
    _rule("diet", r"我(?:一直|现在|已经|开始)?(?P<v>吃素|不吃肉)(?:好几年|很久|[一二两三四五六七八九十\d]+年)?", _plain()),
    _rule("diet", r"我是(?:一?个|一?名)?(?P<v>素食主义者|素食者|纯素食者|乳糖不耐受)", _plain()),
    _rule("avoids", rf"我(?:从来?|一直|真的|完全)?(?:不|戒)(?:吃|喝|能吃|能喝|可以吃|可以喝|能碰)(?P<v>{_LEFT_OUT}(?:[和、跟]{_LEFT_OUT}){{0,3}})", _plain()),
    _rule("avoids", rf"我(?:要|得|必须|需要)?忌(?:口|吃)?(?P<v>{_LEFT_OUT}(?:[和、跟]{_LEFT_OUT}){{0,3}})", _plain()),
    _rule("health", r"我(?:有点|有些|有|是|一直|从小就?|很|严重)*(?P<v>恐高|晕车|晕船|色盲|色弱|幽闭恐惧症?|乳糖不耐受?|麸质不耐受?|酒精不耐受?)", _plain()),
    _rule("afraid_of", r"我(?:从小就?|很|特别|非常|一直)*(?:害怕|怕)(?P<v>狗|蛇|蜘蛛|坐飞机|飞行|打针|水|高|黑|虫子|血)", _plain()),
    _rule("prepares_for", rf"我{_ADV}(?:正)?(?:在|要)?(?P<v>备考{EXAM}?|准备{EXAM})", _plain()),
    _rule("wants_to", rf"我{_ADV}(?:想要?|要|得|必须|需要|决定|下定决心|打算|计划|准备|正在?|在|一直在|开始|一直想|在努力|正在努力|努力)(?:今年|开始|努力|在|再)?(?P<v>{GOAL})", _plain()),
    _rule("wants_to", rf"我(?:今年|现在|最近)?的?(?:目标|愿望|计划|新年愿望)(?:就)?是(?:要|想)?(?P<v>{GOAL})", _plain()),
    _rule("budget", rf"我(?:的|们的)?(?:每?个?月的?)?预算(?:是|只有|就|大概|在|不超过)*(?P<v>{_NUM_MONEY}(?:以内|左右|以下)?|有限|不多|很紧|很有限|比较紧)", _plain()),
    _rule("has_condition", r"我(?:有|患有|得了)(?P<v>糖尿病|哮喘|高血压|高血脂|高血糖|痛风|胃溃疡|心脏病|肾结石|湿疹|抑郁症|焦虑症|偏头痛|鼻炎|过敏性鼻炎|胃病|失眠症|关节炎|多动症|癫痫|甲亢|甲减)", _plain()),
    _rule("has_pet", rf"{_I}(?:有|养了|养着|领养了|收养了)(?P<v>{_NUM}(?:只|条|匹|个|头)[一-鿿]{{0,3}}{_PETS})", _plain(14)),
    _rule("has_relative", rf"{_I}有(?P<v>{_NUM}个(?:孩子|儿子|女儿|哥哥|姐姐|弟弟|妹妹|双胞胎|孙子|孙女))", _plain(10)),
    _rule("has_pet", r"我(?:家|的|家的)(?P<v>(?:猫|狗|猫咪|狗狗|小狗|小猫|兔子|仓鼠|鹦鹉)(?:名字)?叫[A-Za-z一-鿿]{1,5})", _plain(10)),
    _rule("marital_status", rf"我{_ADV}(?P<v>结婚|离婚|订婚|已婚|未婚|单身|离异)(?:[一二两三四五六七八九十\d]+年)?", _plain()),
    _rule("native_language", rf"我(?:的)?母语是(?P<v>{_LANGS})", _plain(6)),
    _rule("speaks", rf"我(?:也)?(?:会|能)(?:说|讲)(?:一点|一点儿|流利的)?(?P<v>{_LANGS}(?:[和、]{_LANGS}){{0,3}})", _plain()),
    _rule("learns", rf"我(?:最近|现在|正)?(?:也)?(?:在学习?|开始学习?|正在学习?)(?P<v>{_LANGS}|钢琴|吉他|小提琴|画画|书法|编程|游泳|开车|摄影|跳舞|滑雪|古筝)", _plain(8)),
    _rule("plays", rf"我(?:也)?会(?P<v>{_INSTRUMENTS})", _plain(8)),
    _rule("favorite_", r"我最(?:喜欢|爱)的(?P<thing>[一-鿿]{1,3})(?:是|就是)(?P<v>[^，]{1,16}?)", _liked),
    _rule("hobby", r"我(?:的)?(?:业余)?(?:爱好|兴趣)(?:爱好)?(?:是|有|包括)(?P<v>[^，]{1,20}?)", _liked),
    _rule("prefers", r"我(?:更|比较)(?:喜欢|偏爱)(?P<v>[^，]{1,16}?)", _liked),
    _rule("dislikes", rf"我{_ADV}(?:讨厌|不喜欢|不爱|受不了|厌恶|痛恨)(?P<v>[^，]{{1,16}}?)", _liked),
    _rule("likes", rf"我(?:的?{_ADV})(?:都)?(?:喜欢|热爱|爱|酷爱|迷上了|爱上了|喜爱)(?P<v>[^，]{{1,16}}?)", _liked),
    _rule("collects", r"我(?:喜欢)?(?:收集|收藏)(?P<v>[一-鿿]{2,8}?)", _liked),
    _rule("visited", rf"{_I}(?:去过|到过)(?P<v>[^，]{{2,8}}?)", _place),
    _rule("visited", rf"{_I}(?:和\w{{1,5}})?去了(?:一趟)?(?P<v>[^，]{{2,8}}?)(?:旅游|旅行|玩|出差|度假)?", _place),
    _rule("temperament", r"我(?:是(?:一?个))?(?:的性格|性格)?(?:比较|很|非常|挺|偏)?(?P<v>内向|外向)(?:的人|型的人)?", _plain()),
)  # fmt: skip
