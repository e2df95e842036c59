"""Work, school, languages."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

from typing import Final

from embermem.languages.zh.facts.checks import employer, fixed, occupation, organisation, plain, rule
from embermem.languages.zh.facts.phrases import ADV, LANGUAGES, ME

_V = r"(?P<v>.{1,20}?)"
_NO_MORE = r"(?:不再|已经不|不|没有?再|早就不)"
_SCHOOL = r"[一-鿿A-Za-z]{2,14}?(?:大学|学院|中学|高中|师大|理工|交大)"
_STUDIED = (
    r"(?:法律|法学|医学|临床医学|护理|会计|会计学|金融|经济|经济学|管理|工商管理|市场营销|计算机|计算机科学|软件工程|人工智能|数据科学|数学|物理|化学|生物|生物学|土木|土木工程|建筑|建筑学|机械|机械工程|电子|电气|自动化|通信|材料"
    r"|翻译|新闻|传媒|广告|设计|美术|音乐|艺术|哲学|历史|考古|心理学?|社会学|教育学?|体育|农学|园艺|环境工程|地理|旅游管理|酒店管理|政治|国际关系|药学|中医|兽医)"
)
_FIELDS = r"(?:电商|外贸|跨境电商|金融|教育|互联网|房地产|保险|物流|直播|自媒体|新媒体|数据分析|(?:前端|后端|软件|游戏|安卓|移动)?开发|(?:UI|平面|室内|服装|工业)?设计|运营|市场|测试|餐饮|装修|建材|服装生意|水果生意|小生意|生意|(?:人工)?智能|芯片|医疗器械|医药代表|公关|审计|人力资源|算法|硬件)"


def _in_grade(value: str) -> str:
    return f"读{value}"


_OPEN = r"(?P<v>[一-鿿]{2,10}?)"
RULES: Final = (
    rule("works_as", r"我(?:现在|目前|本人|自己|以后)?(?:也|还|其实)?(?<!以后)是(?P<v>[一-鿿]{2,12}?)", occupation),
    rule("works_as", r"我的(?:职业|工作)是(?P<v>[一-鿿]{2,10}?)", occupation),
    rule("works_as", rf"{ME}在[^，不没别未]{{1,14}}?(?:当|做|担任){_OPEN}", occupation),
    rule("works_as", rf"{ME}(?:当|担任){_OPEN}", occupation),
    rule("works_as", rf"我(?:现在|目前|一直|平时)?(?:是)?做{_OPEN}", occupation),
    rule("works_in", rf"{ME}(?:在[^，不没别未]{{1,14}}?)?(?:是)?(?:做|搞|从事)(?P<v>{_FIELDS})(?:工作|行业|这行|这一行)?", plain()),
    rule("works_at", rf"{ME}在{_V}(?:工作|上班|任职)", organisation),
    rule("works_at", rf"{ME}(?:刚)?(?:入职|加入|跳槽到|跳槽去|跳到)(?:了)?(?P<v>[一-鿿A-Za-z]{{2,14}}?)(?:当|做)?", employer),
    rule("works_at", r"我(?:现在)?在(?P<v>部队|体制内|事业单位|国企|外企)(?:里)?", plain()),
    rule("studies_at", rf"{ME}(?:在|就读于|考上了)(?P<v>{_SCHOOL})(?:读书|上学|念书|读研|读博|就读|学习|读大学|读本科|(?:读|学|念){_STUDIED}(?:专业|系)?)", plain(14)),
    rule("graduated_from", rf"我{ADV}(?:是)?毕业于(?P<v>{_SCHOOL})", plain(14)),
    rule("graduated_from", rf"我(?:是)?(?:从)?(?P<v>{_SCHOOL})毕业", plain(14)),
    rule("studies", rf"我(?:大学)?(?:本科|硕士)?(?:学的是|主修|读的是|念的是)(?P<v>{_STUDIED})", plain(10)),
    rule("studies", r"我(?:的)?专业是(?P<v>[一-鿿]{2,10}?)(?:专业)?", plain(10)),
    rule("studies", r"我(?:是)?(?:学|读)(?P<v>[一-鿿]{2,8}?)专业", plain(10)),
    rule("studies", rf"我(?:现在)?(?:在[^，不没]{{1,8}}?)?(?:是)?(?:学|读|念)(?P<v>{_STUDIED})(?:系|的)?", plain(10)),
    rule("studies", rf"我(?:现在)?(?:在[^，不没]{{1,8}}?)?(?:读|念)(?P<v>{_STUDIED}(?:本科|硕士|博士|研究生))", plain(10)),
    rule("education", r"我(?:是|的学历是|有)?(?P<v>(?:大专|专科|本科|硕士|博士|研究生|高中|初中)学历)", plain()),
    rule("native_language", rf"我(?:的)?母语是(?P<v>{LANGUAGES})", plain(6)),
    rule("speaks", rf"我(?:也)?(?:(?:会|能)(?:说|讲)(?:一点|一点儿|流利的)?|会(?:一?点儿?)?)(?P<v>{LANGUAGES}(?:[和、]{LANGUAGES}){{0,3}})", plain()),
    rule("learns", rf"我(?:最近|现在|正|还|又|也|一直|从小就?){{0,3}}(?:在学习?|开始学习?|正在学习?)(?P<v>{LANGUAGES}|钢琴|吉他|小提琴|二胡|古筝|画画|书法|编程|游泳|开车|摄影|跳舞|街舞|芭蕾|滑雪|滑板|冲浪|潜水|烘焙|做饭|瑜伽|太极|围棋|象棋|国画|油画|插画|剪辑|唱歌|手语|武术|跆拳道|击剑|网球|高尔夫)", plain(8)),
)  # fmt: skip
GRADES: Final = (
    rule(
        "does",
        r"我(?:现在|目前|一直|也|都|还){0,3}(?P<v>(?:在[一-鿿]{2,6})?教(?:小学|初中|高中|大学)?(?:语文|数学|英语|物理|化学|历史|地理|体育|音乐|美术|钢琴|舞蹈|瑜伽|游泳|汉语|中文))",
        plain(),
    ),
    rule("does", r"我(?:现在|今年|刚|也|都|还|是|在|已经){0,3}(?:读|上|念)?(?P<v>大[一二三四]|高[一二三]|初[一二三]|研[一二三]|博[一二三]|(?:小学)?[一二三四五六]年级)(?:的)?(?:学生)?", _in_grade),
    rule("does", r"我(?:现在|今年|刚|也|都|还|已经|正?在(?=[上读念])){0,3}(?P<v>(?:在[一-鿿]{2,8}?)?(?:读|上|念)(?:幼儿园|小学|初中|高中|大学|研究生|硕士|博士|本科|大专|技校))", plain()),
    rule("does", r"我(?:现在|目前|一个人|还|一直|常年|长期|都){0,3}(?P<v>在(?![一-鿿]*(?:大学|学院|中学|高中))[一-鿿]{2,6}(?:留学|读书|上学|念书|打工|做生意|当兵|实习|支教|读研|读博))", plain()),
    rule("does", r"我(?:现在|目前|一直|自己|在){0,3}(?P<v>(?:在[一-鿿]{2,6})?开(?:出租车?|滴滴|网约车|货车|公交车?|大巴|网店|淘宝店|便利店|饭馆|小店|民宿|餐馆))", plain()),
    rule("does", r"我(?:在)?(?:这边|这里)(?P<v>读[一-鿿]{2,6}(?:本科|硕士|博士))", plain()),
)  # fmt: skip
"""Where somebody stands at school, and what they are in a town for."""
SECOND: Final = (
    rule("studies", rf"我.{{0,8}}在(?:{_SCHOOL})(?:读|学|念)(?P<v>{_STUDIED})(?:专业|系)?", plain(10)),
    rule("works_at", rf"{ME}在(?P<v>.{{2,14}}?)(?:当|做|担任|搞)[^，]{{2,12}}?", organisation),
)
"""What the same clause says besides: where somebody has that job, what they study at that school."""
OF_RELATIVES: Final = (rule("works_as", rf"我{ADV}是{_OPEN}", occupation),)
ENDED: Final = (
    rule("works_at", rf"我(?:现在)?{_NO_MORE}在{_V}(?:工作|上班)了", organisation, retracts=True),
    rule("works_at", rf"我{ADV}从{_V}(?:辞职|离职)了?", organisation, retracts=True),
    rule("works_as", rf"我(?:现在|目前)?(?:不再是|已经不是|早就不是){_V}", occupation, retracts=True),
    rule("works_as", rf"我(?:现在|目前)?不(?:再)?(?:是|当|做){_V}了", occupation, retracts=True),
    rule("works_as", rf"我{ADV}退休(?:了|[一二两三四五六七八九十\d]+年)", fixed(""), retracts=True),
    rule("works_at", rf"我{ADV}(?:辞职|离职|失业|被裁员?|被解雇|被辞退|被开除|被炒鱿鱼|把工作辞)了", fixed(""), retracts=True),
)  # fmt: skip
