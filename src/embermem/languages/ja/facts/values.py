"""Checks of values: each takes what a rule captured and returns it as it is kept, or None to refuse it."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from embermem.core.patterns import regex
from embermem.languages.language import words_of
from embermem.languages.zh.numbers import number

Check = Callable[[str], "str | None"]

HAN: Final = "一-龠々〆ヶ"
NAME: Final = rf"(?:[{HAN}]{{1,4}}[ 　]?[{HAN}ぁ-んァ-ヶー]{{1,5}}?|[ァ-ヶー・]{{2,14}}|[ぁ-ん]{{2,5}}?|[A-Z][A-Za-z]{{1,14}}|[{HAN}])"
_TITLE = regex("(?:さん|ちゃん|くん|君|様|さま)$")
_POINTS = regex(
    r"これ|それ|あれ|どれ|この|その|あの|ここ|そこ|あそこ|こう|そう|何|なに|誰|だれ|どこ|いつ|どう|彼|あなた|君|お前|自分|みんな|さん|ちゃん|くん|同じ|[？?]|(?:こと|もの|ところ|とき|時)$"
)
_NO_PLACE = regex(
    r"実家|近所|都会|田舎|寮|同じ|隣町|この|その|今の|地元|近く|辺り|海外|外国|都市|都内$|市内$|[^ぁ-ん]*(?:商店街|団地)"
)
_SUFFIXED = regex(rf"[{HAN}ァ-ヶー]{{1,8}}(?:[都道府県市区町村島郡州])")
_ORG = regex(
    r"[^はがをに、]{0,14}?(?:会社|企業|病院|医院|クリニック|大学|高校|中学校?|小学校|学校|銀行|信用金庫|工場|図書館|市役所|区役所|県庁|役所|役場|郵便局|ホテル|旅館|レストラン|カフェ|喫茶店|書店|本屋|スーパー|コンビニ|薬局|保育園|幼稚園|塾|予備校|研究所|研究室|事務所|出版社|新聞社|商社|メーカー|美容室|美容院|劇場|美術館|博物館|動物園|水族館|農園|牧場|パン屋|花屋|居酒屋|食堂|NPO|スタートアップ|センター|施設|消防署|警察署|印刷|商事|建設|工業|製薬|電機|自動車|不動産|百貨店|デパート|空港|放送局|テレビ局)|[A-Z][A-Za-z0-9]{1,20}社?|[ァ-ヶー]{2,12}社"
)
_NO_ORG = regex(
    r"同じ|この|その|あの|今の|前の|別の|違う|どの|ある|うち|自分|小さ|大き|近くの|新しい|家の|^(?:会社|企業|学校|施設|スーパー|大学)$"
)
_PETS: Final = r"犬|猫|ねこ|いぬ|わんこ|にゃんこ|子犬|子猫|うさぎ|ウサギ|ハムスター|インコ|文鳥|オウム|金魚|熱帯魚|メダカ|亀|カメ|ヤモリ|トカゲ|フェレット|モルモット|チンチラ|ハリネズミ|鳥|小鳥|トイプードル|柴犬|チワワ|ダックスフント|ミニチュアダックス|コーギー|ゴールデンレトリバー|ラブラドール|プードル|ポメラニアン|秋田犬|三毛猫|黒猫|白猫|保護猫|保護犬|キジトラ|茶トラ|スコティッシュフォールド|マンチカン|馬|ヤギ|ニワトリ"
PET: Final = rf"(?:{_PETS})"


def plain(limit: int = 18) -> Check:
    """A value that points at nothing outside of it."""

    def check(value: str) -> str | None:
        value = value.strip("「」『』“” 　")
        return None if not 1 <= len(value) <= limit or _POINTS.search(value) else value

    return check


def fixed(value: str) -> Check:
    """Whatever was captured, that value."""
    return lambda _: value


def human_name(value: str) -> str | None:
    """A name that a statement gives as one, without さん and the like."""
    name = _TITLE.sub("", re.sub("(?:です|だ|でして|で)$", "", value.strip("「」『』 　")))
    if not name or name in words_of("ja", "occupations") or re.search(r"名前|苗字|本名|内緒|秘密|です|ます", name):
        return None
    return name if re.fullmatch(NAME, name) else None


def called(value: str) -> str | None:
    """How somebody is called, with さん and the like."""
    value = value.strip("「」『』 　")
    return (
        value
        if re.fullmatch(rf"{NAME}(?:さん|ちゃん|くん|君|様|先生)?", value)
        and not re.search("何|なん|どう|みんな", value)
        else None
    )


def known_name(value: str) -> bool:
    """Whether what stands after "my sister's" is a name and no other noun: a known one, or one with さん and the like."""
    bare = _TITLE.sub("", value)
    return bare in words_of("ja", "names") or (bare != value and re.fullmatch(NAME, bare) is not None)


def place(value: str) -> str | None:
    """A place: a known one, or one that ends in 市, 県, 町 …; also a place within another."""
    if value.startswith("の") or _NO_PLACE.search(value) or not 1 <= len(value) <= 16:
        return None
    parts = [part for part in re.split("の|、", value) if part]
    return value if parts and all(_is_place(part) for part in parts) else None


def _is_place(part: str) -> bool:
    known = words_of("ja", "places")
    if part in known or _SUFFIXED.fullmatch(part):
        return True
    return any(part[:cut] in known and part[cut:] in known for cut in range(2, len(part) - 1))


def organisation(value: str) -> str | None:
    value = re.sub("^(?:地元の|市内の|都内の)", "", value)
    return value if _ORG.fullmatch(value) and not _NO_ORG.search(value) else None


def occupation(value: str) -> str | None:
    """A known occupation, also with what it is of: 小学校の教師, 高校の数学教師, フリーのデザイナー."""
    if value.startswith(("元", "前", "未来の", "将来の", "同じ")):
        return None
    tail = re.split("の", value)[-1]
    if value in words_of("ja", "occupations"):
        return value
    known = tail in words_of("ja", "occupations") or any(
        tail.endswith(word) for word in words_of("ja", "occupations") if len(word) > 1
    )
    return (
        value
        if known and len(value) <= 16 and not _POINTS.search(value) and not re.search("[はがをにでと]", value)
        else None
    )


def age(value: str) -> str | None:
    years = _count(value)
    return str(years) if years is not None and 1 <= years <= 119 else None


def birth_year(value: str) -> str | None:
    """A year of the common era, also from an era's: 平成7年 is 1995."""
    era = {"令和": 2018, "平成": 1988, "昭和": 1925}.get(value[:2])
    if era is None:
        return value if value.isdecimal() and 1900 <= int(value) <= 2100 else None
    nth = 1 if value[2:] == "元" else _count(value[2:])
    return None if nth is None else str(era + nth)


def _count(value: str) -> int | None:
    return int(value) if value.isdecimal() else number(value)


_NOT_LIKED = regex(
    r"^(?:の|こと|(?:やる|する|いる|ある|なる|見る|行く)こと|人|方|時|ところ|あなた|みんな|今|一番|本当|たぶん|もう)$|[私僕俺母父姉兄妹弟娘夫妻嫁]|彼|友達|先生|子(?:の|が|は)|人$|息子|旦那|部分|感じ|ほう$|方$|今日|明日|昨日|さっき|気持ち"
)


def liked(value: str) -> str | None:
    """What somebody likes: 走るの is told as 走ること."""
    value = re.sub(r"^(?:やっぱり|とても|すごく|特に|昔から|本当に|けっこう|結構|意外と|どちらかというと)", "", value)
    value = re.sub(r"(?<=[るうくすつむぶぐぬ])の$", "こと", value)
    if _NOT_LIKED.search(value) or not 1 <= len(value) <= 18:
        return None
    return None if re.search(r"これ|それ|あれ|この|その|あの|何|誰|さん|ちゃん|くん|同じ", value) else value


_NO_ALLERGEN = regex(r"^(?:何|特に|食物|食べ物|重度|軽度|ひどい|少し|私|僕|俺|うち|金)$|[はがを]")


def allergen(value: str) -> str | None:
    value = re.sub(r"(?:の|に|には|にも)$|^(?:重度|軽度|ひどい)の?", "", value)
    return None if not value or _NO_ALLERGEN.search(value) else plain(12)(value)


_NOT_EATEN = regex(r"何|今日|今は|まだ|もう|ご飯|ごはん|朝食|昼食|夕食|それ|これ|全部|一口|あまり|そんな|人前|夜|残")


def left_out(value: str) -> str | None:
    return None if _NOT_EATEN.search(value) else plain(12)(value)
