"""Illness, allergies, what somebody does not eat, fears."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

from typing import Final

from embermem.languages.zh.facts.checks import allergen, bare_allergen, fixed, left_out, plain, rule
from embermem.languages.zh.facts.phrases import ADV, NUM

_V = r"(?P<v>.{1,20}?)"
_LEFT_OUT = (
    r"(?:牛肉|猪肉|羊肉|鸡肉|红肉|肉|海鲜|贝类|虾|螃蟹|香菜|葱|姜|蒜|辣椒|辛辣|辣的|辣|酒精|酒|咖啡因|咖啡|牛奶|奶制品|乳制品|奶|甜食|甜的|糖|盐|鱼|内脏|花生|坚果|鸡蛋|蛋|麸质|小麦|面食|大豆|豆制品|芒果"
    r"|海带|紫菜|油炸食品|油腻的|生冷的|生的|冰的|凉的|碳水|可乐|浓茶|榴莲|菠萝|桃子?|茄子|芹菜|胡萝卜|苦瓜|羊肉|烧烤|火锅)"
)
"""What people leave out for good; the longer first."""
_LIST = rf"{_LEFT_OUT}(?:[和、跟]{_LEFT_OUT}){{0,3}}"
_CONDITIONS = (
    r"(?:[一二12]型糖尿病|妊娠糖尿病|糖尿病|哮喘|高血压|低血压|高血脂|高血糖|低血糖|痛风|胃溃疡|胃炎|肠胃炎|心脏病|冠心病|心律不齐|肾结石|胆结石|湿疹|荨麻疹|抑郁症|焦虑症|双相|强迫症|偏头痛|过敏性鼻炎|鼻炎|咽炎|胃病|失眠症|关节炎|类风湿|多动症|癫痫|甲亢|甲减|甲状腺结节"
    r"|脂肪肝|乙肝|肝炎|肺炎|肺结核|贫血|白血病|[一-鿿]癌|颈椎病|腰椎间盘突出|白内障|青光眼|帕金森|阿尔茨海默症?|老年痴呆|子宫肌瘤|多囊)"
)
RULES: Final = (
    rule(
        "has_condition",
        rf"我{ADV}(?:患有|确诊(?:了|为)?|被?诊断(?:为|出|出来是))(?P<v>[一-鿿]{{1,5}}(?:炎|症|癌|瘤|结石|综合征|硬化))",
        plain(9),
    ),
    rule("allergic_to", rf"我{ADV}(?:从小)?(?:就)?对{_V}(?:严重)?过敏", allergen),
    rule("allergic_to", r"我(?:吃)?(?P<v>[一-鿿]{1,5}?)(?:也|就|会|都)*过敏", bare_allergen),
    rule("diet", r"我(?:一直|现在|已经|开始|是)?(?P<v>吃素|不吃肉|吃清真)(?:的|好几年|很久|[一二两三四五六七八九十\d]+年)?", plain()),
    rule("diet", r"我是(?:一?个|一?名)?(?P<v>素食主义者|素食者|纯素食者|乳糖不耐受)", plain()),
    rule("avoids", rf"我(?:从来?|一直|真的|完全|也|现在)*(?:不|戒)(?:吃|喝|能吃|能喝|可以吃|可以喝|能碰)(?P<v>{_LIST})", plain()),
    rule("avoids", r"我(?:现在|也|一直)*不(?:能|可以)(?:吃|喝)(?P<v>[一-鿿]{2,4}(?:[和、跟][一-鿿]{2,4}){0,2})", left_out),
    rule("avoids", rf"我(?:要|得|必须|需要)?忌(?:口|吃)?(?P<v>{_LIST})", plain()),
    rule("avoids", rf"我(?P<v>{_LEFT_OUT})(?:一口|一点|完全|从来)?(?:都|也)*(?:不能?|不可以|没法)(?:碰|吃|喝|沾)", plain()),
    rule("avoids", rf"(?:我)?(?:医生|大夫)(?:不让|不许|禁止|叫我别|让我别|不准)(?:我)?(?:再)?(?:吃|喝|碰)(?P<v>{_LIST})", plain()),
    rule("health", r"我(?:有点|有些|有|是|一直|从小就?|很|严重)*(?P<v>恐高|晕车|晕船|色盲|色弱|幽闭恐惧症?|乳糖不耐受?|麸质不耐受?|酒精不耐受?)", plain()),
    rule("health", rf"我{ADV}(?:怀孕|怀上|怀二胎|有身孕|怀了(?:二胎|宝宝|双胞胎)|怀着(?:孕|二胎))(?:{NUM}个?[月周]|快?{NUM}个月)?", fixed("怀孕")),
    rule("health", r"我(?:现在)?在怀(?:孕|二胎|三胎)", fixed("怀孕")),
    rule("has_condition", rf"我{ADV}(?:有|患有|得了|患了|得|被?(?:查出|检查出|诊断出|诊断为|确诊为?)(?:来)?(?:是|了|患有|得了|有)?)(?:轻度|中度|重度|轻微|严重)?(?P<v>{_CONDITIONS})", plain()),
    rule("has_condition", rf"我(?:去医院)?(?:一?(?:查|检查)(?:出来|了)|体检)(?:是|查出|有|说是)(?:轻度|轻微)?(?P<v>{_CONDITIONS})", plain()),
    rule("has_condition", rf"我(?:去医院)?(?:查出来|检查出来)(?:是|有)(?P<v>{_CONDITIONS})", plain()),
    rule("health", r"我(?:的)?(?P<v>血压高|血糖高|血脂高|心脏不好)", plain()),
    rule("afraid_of", r"我(?:从小就?|很|特别|非常|一直)*(?:害怕|怕)(?P<v>狗|猫|蛇|蜘蛛|老鼠|蟑螂|坐飞机|飞行|打针|看牙医|水|高|黑|虫子|血|打雷)", plain()),
)  # fmt: skip
ENDED: Final = (
    rule("diet", r"我(?:现在)?(?:不再|已经不|不)吃(?P<v>素)了", plain(), retracts=True),
    rule("allergic_to", rf"我(?:现在|目前)?(?:不再|已经不再|已经不)对{_V}过敏", allergen, retracts=True),
    rule("allergic_to", rf"我(?:现在|目前)?不对{_V}过敏了", allergen, retracts=True),
    rule("allergic_to", rf"我(?:现在|目前)?对{_V}(?:已经)?(?:不再过敏|不过敏了)", allergen, retracts=True),
    rule(
        "avoids", rf"我(?:现在|又|已经|重新|终于)*(?:可以|能|开始)(?:吃|喝)(?P<v>{_LEFT_OUT})了", plain(), retracts=True
    ),
)
