"""Names, gender, age, birth, contact."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

from typing import Final

from embermem.languages.zh.facts.checks import (
    age,
    any_name,
    familiar_name,
    gender,
    height,
    human_name,
    plain,
    rule,
    small_age,
)  # fmt: skip
from embermem.languages.zh.facts.phrases import NUM

_DAY = r"(?:\d{1,2}|[一二三四五六七八九十]{1,2})月(?:\d{1,2}|[一二三四五六七八九十]{1,3})[日号]?"
_NUMBER = r"(?:手机号?|电话号?|联系电话|联系方式)(?:码)?(?:是|为)?(?P<v>1[3-9]\d{9}|0\d{2,3}-?\d{7,8})"
_ADDRESS = r"(?:邮箱|电子邮件|邮件地址|email|Email|e-mail)(?:地址)?(?:是|为)?(?P<v>[A-Za-z0-9._+-]{1,40}@[A-Za-z0-9.-]{1,40}\.[A-Za-z]{2,8})"
RULES: Final = (
    rule("name", r"我(?:的)?(?:名字|姓名|全名|真名|本名)(?:是|叫)(?P<v>[^的]{1,16}?)", any_name),
    rule("name", r"我(?:就)?叫(?:做)?(?P<v>[A-Za-z一-鿿 ]{2,16}?)", human_name),
    rule("name", r"我是(?P<v>[小阿][一-鿿])", familiar_name),
    rule("nickname", r"(?:你|你们|大家|朋友|朋友们)?(?:都|可以|都可以|平时)?叫我(?P<v>[A-Za-z一-鿿]{1,8}?)(?:吧|就好|就行|就可以|好)", any_name),
    rule("nickname", r"(?:你|你们)(?:也)?可以叫我(?P<v>[A-Za-z一-鿿]{1,8}?)", human_name),
    rule("nickname", r"(?:大家|朋友们?)都(?:管我)?叫我?(?P<v>[A-Za-z一-鿿]{2,8}?)", human_name),
    rule("nickname", r"我的(?:小名|外号|昵称|英文名)(?:是|叫)(?P<v>[A-Za-z一-鿿]{1,12}?)", any_name),
    rule("gender", r"我是(?:一?个|一?名|一?位)?(?P<v>女的|男的|女生|男生|女性|男性|女孩子?|男孩子?|女人|男人|女士)", gender),
    rule("gender", r"作为(?:一个|一名)?(?P<v>女生|男生|女性|男性)", gender),
    rule("age", rf"我(?:今年|现在|已经|刚满|刚刚满|马上)?(?:都|也)?(?<!马上)(?:满)?(?P<v>{NUM})(?:周)?岁(?:半)?", age),
    rule("age", r"我今年(?:都|已经|也)?(?P<v>(?:[2-9]\d|[二三四五六七八九]十[一二三四五六七八九]?))", age),
    rule("birth_year", r"我(?:是|出生于|生于|是在)?(?P<v>(?:19|20)\d\d)年(?:\d{1,2}月(?:\d{1,2}[日号])?)?(?:出生|生)?(?<=出生|年生|日生|号生|月生)", plain()),
    rule("birth_year", r"我(?:出生于|生于|出生在)(?P<v>(?:19|20)\d\d)年(?:\d{1,2}月)?(?:\d{1,2}[日号])?", plain()),
    rule("birthday", rf"我(?:的)?生日(?:就)?(?:是|在)?(?:农历|阴历|每年)?(?P<v>{_DAY})", plain()),
    rule("height", r"我(?:的)?(?:身高)?(?:有)?(?P<v>(?:1\d\d(?:cm|CM|厘米|公分)|[12]\.\d{1,2}米|1米\d{1,2}|一米[一二三四五六七八九]{1,2}))(?:左右|多)?", height),
    rule("height", r"我(?:的)?身高(?:是|有)?(?P<v>1\d\d)(?:左右)?", height),
    rule("phone", rf"我(?:的)?{_NUMBER}", plain(13)),
    rule("email", rf"我(?:的)?{_ADDRESS}", plain(80)),
    rule("religion", r"我(?:们家)?(?:从小)?(?:信|信仰)(?P<v>佛教|佛|基督教|天主教|伊斯兰教|道教|耶稣)", plain()),
    rule("religion", r"我是(?:一个|一名)?(?P<v>基督徒|天主教徒|佛教徒|穆斯林|回民)", plain()),
    rule("temperament", r"我(?:是(?:一?个))?(?:的性格|性格)?(?:比较|很|非常|挺|偏)?(?P<v>内向|外向)(?:的人|型的人)?", plain()),
)  # fmt: skip
OF_RELATIVES: Final = (
    rule(
        "age", rf"我(?:今年|现在|已经|刚满|刚刚满|快)?(?<!快)(?:都|也)?(?P<v>{NUM})(?:周)?岁(?:半)?(?:多)?", small_age
    ),
    rule("age", r"我(?:今年|已经)?(?:都|也)?(?P<v>(?:[2-9]\d|[二三四五六七八九]十[一二三四五六七八九]?))", age),
)
BARE: Final = (
    rule("phone", rf"(?:我的)?{_NUMBER}", plain(13)),
    rule("email", rf"(?:我的)?{_ADDRESS}", plain(80)),
    rule("height", r"身高(?:是|有)?(?P<v>1\d\d(?:cm|CM|厘米|公分)?|一米[一二三四五六七八九]{1,2})", height),
    rule("birthday", rf"生日(?:是|在)?(?P<v>{_DAY})", plain()),
)
"""What a clause without a subject says of the speaker: the particulars that a form asks for."""
