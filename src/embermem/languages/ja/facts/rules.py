"""The rules: how a clause without its subject, its time and its adverbs states something. What ends comes before what
holds."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from typing import Final

from embermem.languages.facts.rules import Rule, Value
from embermem.languages.ja.facts import values
from embermem.languages.ja.facts.values import NAME, PET, Check, fixed, plain

_END: Final = (
    r"(?:んです|んだ|なんです|なんだ|です|だ)?(?:[よねなわさぞー〜～!！笑♪w]|けど|けれど|から|ので|んで|が|し)*$"
)
"""What may follow a predicate and says nothing: politeness, particles, a conjunction."""
_COP: Final = r"(?:です|だ|でして|で|なんです|なんだ|なので|になります|である)?"
_NOW: Final = r"(?:い)?(?:る|ます|て|まして|るん)"
"""After て: it is so now."""
_DID: Final = r"(?:た|ました|たん|まして)"
_N: Final = r"(?:[0-9０-９]{1,3}|[一二三四五六七八九十百]{1,5})"
_V: Final = r"(?P<v>[^はがを、]{1,18}?)"


def rule(attribute: str, pattern: str, check: Check, *, retracts: bool = False) -> Rule:
    """A rule whose value is the group `v`, checked; a rule without that group has none."""

    def read(match: re.Match[str]) -> Value | None:
        value = check(match.groupdict().get("v") or "")
        return None if value is None else (value, match.end())

    return Rule(attribute, re.compile(pattern + _END), read, retracts)


_CONDITIONS: Final = r"花粉症|喘息|ぜんそく|糖尿病|高血圧|低血圧|貧血|偏頭痛|片頭痛|腰痛|うつ病?|パニック障害|ADHD|アトピー(?:性皮膚炎)?|リウマチ|緑内障|白内障|ヘルニア|(?:腰椎|椎間板)ヘルニア|痛風|てんかん|[一-龠]{1,8}(?:症|病|炎|障害|癌|がん|不全|結石|潰瘍)"
_INSTRUMENTS: Final = r"ピアノ|ギター|バイオリン|ヴァイオリン|ドラム|ベース|サックス|フルート|チェロ|三味線|琴|トランペット|ウクレレ|オルガン|尺八|クラリネット|ハーモニカ|二胡"
_SPORTS: Final = r"野球|サッカー|フットサル|テニス|バスケ|バスケットボール|バレー|バレーボール|卓球|バドミントン|剣道|柔道|空手|合気道|弓道|水泳|ゴルフ|ボルダリング|ヨガ|ラグビー|陸上|サーフィン|スキー|スノボ|筋トレ|ランニング|ジョギング"
_LEARNT: Final = rf"[ァ-ヶ一-龠]{{1,8}}語|英会話|{_INSTRUMENTS}|{_SPORTS}|プログラミング|書道|茶道|華道|生け花|絵|油絵|水彩画|陶芸|料理|編み物|手話|ダンス|バレエ|フラダンス|着付け|将棋|囲碁|簿記|声楽|写真"
_FIELDS: Final = r"IT|医療|金融|教育|不動産|飲食|建設|建築|広告|物流|保険|製造|介護|福祉|出版|アパレル|観光|農業|漁業|林業|運送|マスコミ|食品|自動車|ゲーム|美容|印刷|映像|音楽|翻訳|接客|事務|営業|経理|デザイン|ウェブ制作|システム開発"
_SCHOOL: Final = (
    r"(?:[^はがに、]{1,6}から)?(?P<v>[^はがをに、]{0,12}?(?:大学院|大学|短大|高専|専門学校|高校|中学校?|小学校))"
)

ENDED: Final = (
    rule("lives_in", r"(?P<v>[^はがを、]{1,14}?)から引っ越し(?:てき)?" + _DID, values.place, retracts=True),
    rule("lives_in", r"(?P<v>[^はがを、]{1,14}?)には?(?:もう)?住んで(?:い)?(?:ない|ません)", values.place, retracts=True),
    rule("works_as", r"(?:仕事を)?(?:定年(?:退職)?|引退)(?:し|になり?)" + _DID, fixed(""), retracts=True),
    rule("works_at", rf"{_V}を(?:辞め|やめ|退職し|退社し){_DID}", values.organisation, retracts=True),
    rule("works_at", rf"(?:会社|仕事|職場|勤め先|前の会社|勤めていた会社)を(?:辞め|やめ|退職し|退社し){_DID}", fixed(""), retracts=True),
    rule("works_at", rf"(?:退職し|クビになっ|クビになり|リストラされ){_DID}", fixed(""), retracts=True),
    rule("likes", rf"(?:もう)?{_V}[はが](?:もう)?好き(?:では|じゃ)(?:なくなり|なくなっ){_DID}", values.liked, retracts=True),
    rule("allergic_to", rf"(?P<v>[^はが、]{{1,10}}?)の?アレルギーは?(?:もう)?(?:治っ|治り|なくなっ|なくなり){_DID}", values.allergen, retracts=True),
    rule("learns", rf"(?P<v>{_LEARNT})(?:の?レッスン|教室)?を(?:辞め|やめ){_DID}", plain(), retracts=True),
    rule("has_pet", rf"(?:飼っていた|飼ってた|愛(?=犬|猫))?(?P<v>{PET}(?:の[^はがを、]{{1,8}}?)?)(?:が|は)[^はがを、]{{0,8}}?(?:死(?:んじゃっ|んでしまい|んでしまっ|ん|に)|亡くな[っり]|虹の橋を渡[っり])(?:た|だ|ました)", plain(), retracts=True),
    rule("plans", rf"(?P<v>[^はが、]{{2,16}}?)(?:の予定)?は(?:中止|キャンセル|なし|取りやめ)(?:に(?:なり|なっ|し)|し){_DID}", plain(), retracts=True),
)  # fmt: skip

RULES: Final = (
    rule("name", rf"(?:本名|名前|氏名)は(?P<v>{NAME})(?:と(?:いい|言い|申し)(?:ます|まして)|{_COP})", values.human_name),
    rule("nickname", rf"(?:みんな|周り|友達|友だち|家族)(?:から|に)?は?(?P<v>{NAME}(?:さん|ちゃん|くん)?)(?:と|って)呼ばれて{_NOW}", values.called),
    rule("nickname", rf"(?:あだ名|ニックネーム)は(?P<v>{NAME}(?:さん|ちゃん|くん)?){_COP}", values.called),
    rule("age", rf"(?:年齢は|年は|今年で|[^はがを、]{{1,10}}出身の)?(?P<v>{_N})[歳才](?:{_COP}|になり{_DID}|になっ{_DID})", values.age),
    rule("birthday", r"誕生日は(?P<v>[0-9０-９一二三四五六七八九十]{1,3}月[0-9０-９一二三四五六七八九十]{1,3}日)(?:生まれ)?" + _COP, plain()),
    rule("birthday", r"(?P<v>(?:(?:19|20)\d\d年)?[0-9０-９]{1,2}月[0-9０-９]{1,2}日)生まれ" + _COP, plain()),
    rule("birth_year", r"(?P<v>(?:19|20)\d\d|(?:昭和|平成|令和)(?:元|[0-9]{1,2}))年(?:の)?生まれ" + _COP, values.birth_year),
    rule("grew_up_in", rf"(?:生まれも育ちも|(?:[^はがを、]{{1,10}}(?:で)?生まれ(?:で|て|の)?))?(?P<v>[^はがを、]{{1,12}}?)(?:育ち{_COP}|で育ち{_DID}|で育っ{_DID})", values.place),
    rule("grew_up_in", rf"生まれも育ちも(?P<v>[^はがを、]{{1,12}}?){_COP}", values.place),
    rule("born_in", rf"(?P<v>[^はがを、]{{1,12}}?)(?:で)?生まれ(?:{_COP}|{_DID})", values.place),
    rule("comes_from", rf"(?:出身(?:地)?は|出身が|地元は)(?P<v>[^はがを、]{{1,12}}?){_COP}", values.place),
    rule("comes_from", rf"(?P<v>[^はがを、]{{1,12}}?)(?:の)?出身{_COP}", values.place),
    rule("nationality", r"(?:国籍は)?(?P<v>[ァ-ヶー]{2,8}人|日本人|韓国人|中国人|台湾人)" + _COP, plain()),
    rule("lives_in", rf"(?:家族(?:で|と)|一人で|実家の|夫婦で|彼[女氏]と)?(?P<v>[^はがを、]{{1,14}}?)(?:の方|のほう|あたり|の郊外)?(?:に|で)(?:住んで|(?:一人)?暮らし(?:を)?して|暮らして){_NOW}", values.place),
    rule("lives_in", rf"(?:家は|自宅は|住まいは)?(?P<v>[^はがを、]{{1,14}}?)(?:在住|住み|に住み始め{_DID}){_COP}", values.place),
    rule("lives_in", rf"(?:家族(?:で|と)|一人で|夫婦で)?(?:[^はがを、]{{1,12}}から)?(?P<v>[^はがを、]{{1,14}}?)(?:に|へ)(?:引っ越し|転居し|移住し|移り住み|引っ越して(?:き|来)){_DID}", values.place),
    rule("lives_in", rf"(?P<v>[^はがを、]{{1,14}}?)に住んで(?:もう|かれこれ|今年で)?{_N}年(?:に?なり?ます|になる|目{_COP}|経ちました|以上{_COP})", values.place),
    rule("lives_in", rf"(?:新居|家|自宅|住まい|住んでいるの|住んでるの)は(?P<v>[^はがを、]{{1,14}}?){_COP}", values.place),
    rule("works_as", rf"(?:職業|仕事|本業)は(?P<v>[^はがを、]{{1,14}}?){_COP}", values.occupation),
    rule("works_as", rf"(?:[^はがを、]{{1,14}}?で(?!す|し))?(?P<v>[^はがをで、]{{1,18}}?)(?:を(?:して|やって|務めて)|やって|として(?:働いて|勤務して|勤めて))(?:{_NOW}|(?:もう|今年で)?{_N}年(?:に?なり?ます|になる|目{_COP}))", values.occupation),
    rule("works_as", rf"(?P<v>[^はがをで、]{{1,14}}?)(?:に転職し|になり|になっ|として働き始め){_DID}", values.occupation),
    rule("works_at", rf"(?:勤務先|勤め先|職場|会社)は(?P<v>[^はがを、]{{1,16}}?){_COP}", values.organisation),
    rule("works_at", rf"(?P<v>[^はがを、]{{1,16}}?)(?:で|に)(?:働いて|勤めて|勤務して|勤めて){_NOW}", values.organisation),
    rule("works_at", rf"(?P<v>[^はがを、]{{1,16}}?)(?:に|へ)(?:転職し|就職し|入社し|転職が決まり|就職が決まり){_DID}", values.organisation),
    rule("works_in", rf"(?P<v>{_FIELDS})(?:関係|関連|系|業界?)?の仕事を(?:して|やって){_NOW}", plain()),
    rule("works_in", rf"(?P<v>{_FIELDS})(?:業界|業)で働いて{_NOW}", plain()),
    rule("studies", rf"(?:大学(?:院)?で)?(?P<v>[^はがをで、]{{1,12}}?)を専攻し(?:て{_NOW}|{_DID})", plain(12)),
    rule("studies", rf"大学(?:院)?で(?:は)?(?P<v>[^はがを、]{{1,12}}?)を(?:学んで|勉強して|研究して){_NOW}", plain(12)),
    rule("studies", rf"専攻は(?P<v>[^はがを、]{{1,12}}?){_COP}", plain(12)),
    rule("studies_at", rf"{_SCHOOL}の?(?:[1-6１-６一二三四]年生?|学生){_COP}", plain(14)),
    rule("studies_at", rf"{_SCHOOL}(?:の[^はがを、]{{1,8}})?(?:に|へ)(?:通って|在籍して|在学して){_NOW}", plain(14)),
    rule("studies_at", rf"{_SCHOOL}(?:に|へ)(?:入学し|進学し|編入し){_DID}", plain(14)),
    rule("graduated_from", rf"{_SCHOOL}(?:の[^はがを、]{{1,8}})?を(?:卒業し|出){_DID}", plain(14)),
    rule("graduated_from", rf"{_SCHOOL}卒{_COP}", plain(14)),
    rule("marital_status", rf"結婚して(?:{_NOW}|(?:もう|今年で)?{_N}年(?:に?なり?ます|になる|目{_COP}|経ちました))|既婚(?:者)?{_COP}", fixed("既婚")),
    rule("marital_status", rf"(?:まだ|ずっと)?独身{_COP}", fixed("独身")),
    rule("marital_status", rf"離婚して{_NOW}", fixed("離婚している")),
    rule("marital_status", rf"婚約(?:中{_COP}|して{_NOW}|し{_DID})", fixed("婚約中")),
    rule("native_language", rf"母(?:国)?語は(?P<v>[ァ-ヶ一-龠]{{1,8}}語){_COP}", plain()),
    rule("speaks", r"(?:少し|日常会話程度の)?(?P<v>[ァ-ヶ一-龠]{1,8}語(?:[とや、][ァ-ヶ一-龠]{1,8}語){0,3})(?:が|も|なら)?(?:少し|ある程度)?(?:話せ|しゃべれ|喋れ|でき)(?:る|ます)", plain()),
    rule("learns", rf"(?P<v>{_LEARNT})(?:の勉強|のレッスン|教室)?(?:を|に|も)(?:独学で)?(?:もう)?(?:[0-9一二三四五六七八九十]+年(?:も|間|以上|ほど|くらい)?)?(?:習って|勉強して|学んで|練習して|通って){_NOW}", plain()),
    rule("learns", rf"(?P<v>{_LEARNT})(?:の勉強|のレッスン|教室)?(?:を|に|も)(?:独学で)?(?:習い始め|学び始め|勉強し始め|始め|通い始め){_DID}", plain()),
    rule("diet", rf"(?P<v>ベジタリアン|ヴィーガン|ビーガン|菜食主義(?:者)?|糖質制限中?|グルテンフリー|減塩中?|ペスカタリアン)(?:を?(?:して|続けて)(?:い)?(?:る|ます))?{_COP}", plain()),
    rule("allergic_to", rf"(?P<v>[^はが、]{{1,14}}?)アレルギー(?:が?(?:あ(?:る|ります|って|りまして)|出(?:る|ます))|持ち{_COP}|を持って{_NOW}|{_COP})", values.allergen),
    rule("allergic_to", rf"(?P<v>[^はが、]{{1,12}}?)(?:に|には)(?:重度の|軽い|ひどい)?アレルギーが(?:あ(?:る|ります|って|りまして)|出(?:る|ます)){_COP}", values.allergen),
    rule("has_condition", rf"(?:持病の|軽い|重度の|慢性の)?(?P<v>{_CONDITIONS})(?:持ち)?(?:{_COP}|を患って{_NOW}|が?あ(?:る|ります|って|りまして)|に(?:なっ|なり|かかり|かかっ){_DID}|と診断され(?:{_DID}|て{_NOW})|を発症し{_DID})", plain()),
    rule("avoids", rf"(?P<v>[^はがを、]{{1,10}}?)(?:は|を|が|も)(?:一切|全く|まったく|ほとんど)?(?:食べ(?:ない|ません|られない|られません|れない|れません)|飲ま(?:ない|ません)|飲め(?:ない|ません))(?:ようにして{_NOW}|んです)?", values.left_out),
    rule("afraid_of", r"(?P<v>[^はがを、]{1,10}?)(?:が|は)(?:とても|すごく|本当に|昔から)?(?:怖い|恐い|こわい|怖くて(?:ダメ|だめ|無理))", values.liked),
    rule("has_pet", rf"(?:家で|うちで|実家で)?(?P<v>(?:[^はがを、]{{1,10}}という(?:名前の)?)?(?:(?:[^はがを、の]{{1,8}}の)?{PET}|[ァ-ヶー]{{3,12}})(?:の[^はがを、]{{1,8}}?)?(?:[をと]?[0-9０-９一二三四五六七八九十]{{1,2}}[匹羽頭])?)を?(?:[0-9０-９一二三四五六七八九十]{{1,2}}[匹羽頭])?(?:飼って{_NOW}|飼い始め{_DID}|(?:家に|家族に)?迎え{_DID}|引き取り?{_DID}|引き取っ{_DID}|と暮らして{_NOW})", lambda value: plain(20)(re.sub("[をと](?=[^をと]{1,3}[匹羽頭]$)", "", value))),
    rule("hobby", rf"(?:最近の|唯一の)?趣味は(?P<v>[^はがを、]{{1,12}}?(?:を[^はがを、]{{1,8}}?こと)?){_COP}", lambda value: plain()(re.sub("(?:をする)?こと$", "", value))),
    rule("hobby", r"(?P<v>[^はが、]{1,14}?)(?:の|こと)?が(?:唯一の|最近の|私の|僕の)?趣味" + _COP, plain()),
    rule("has_pet", rf"(?:うち|家|我が家)には?(?P<v>{PET})(?:が|も)(?:[0-9０-９一二三四五六七八九十]{{1,2}}[匹羽頭])?(?:い(?:る|ます|て|まして))", plain()),
    rule("plays", rf"(?P<v>(?:{_INSTRUMENTS})を?(?:弾|吹|叩|演奏し)(?:いて|て)?)(?:い)?(?:る|ます|ける|けます)", lambda value: re.sub("を?(?:弾|吹|叩|演奏し)(?:いて|て)?$", "", value) + "を演奏する"),
    rule("plays", rf"(?P<v>{_SPORTS}|{_INSTRUMENTS})(?:を|も)(?:もう)?(?:[0-9一二三四五六七八九十]+年(?:も|以上|ほど|くらい|間)?)?(?:やって|して|続けて){_NOW}", lambda value: value + ("を演奏する" if re.fullmatch(_INSTRUMENTS, value) else "をする")),
    rule("collects", rf"{_V}を(?:集めて|収集して|コレクションして|集めるのが趣味{_COP})(?:{_NOW})?", plain(12)),
    rule("drives", rf"(?:愛車|車)は(?P<v>[^はがを、]{{2,14}}?){_COP}", plain(14)),
    rule("height", r"身長は?(?P<v>1[0-9]{2})\s?(?:cm|センチ|㎝)" + _COP, lambda value: value + "センチ"),
    rule("phone", r"(?:電話|携帯)(?:番号)?は(?P<v>0[0-9\-ー]{8,13})" + _COP, plain()),
    rule("email", r"メール(?:アドレス)?は(?P<v>[\w.+-]+@[\w.-]+\w)" + _COP, plain(60)),
    rule("budget", rf"予算は(?:だいたい|大体)?(?P<v>[0-9０-９,一二三四五六七八九十]{{1,9}}[万千]?円)(?:くらい|ぐらい|ほど|以内|まで)?(?:でお願い(?:します)?)?{_COP}", plain()),
    rule("gives_up", rf"(?P<v>禁煙|禁酒)(?:中{_COP}|して{_NOW}|を?始め{_DID}|し始め{_DID})", lambda value: {"禁煙": "タバコ", "禁酒": "お酒"}[value]),
    rule("on_diet", rf"ダイエット(?:中{_COP}|(?:を)?して{_NOW}|(?:を)?始め{_DID})", fixed("ダイエット中")),
    rule("cuts_down_on", rf"(?P<v>[^はがを、]{{1,8}}?)を控えて{_NOW}", plain(10)),
    rule("saves_for", rf"(?P<v>[^はがを、]{{2,12}}?)(?:のため(?:に)?|に向けて)(?:お金を|こつこつ)?(?:貯金(?:を)?して|貯めて){_NOW}", plain(12)),
    rule("prepares_for", rf"(?P<v>[^はがを、]{{1,14}}?(?:試験|検定|受験|資格|マラソン|大会|発表会|コンクール))(?:のため(?:に|の)|に向けて|の)(?:勉強|準備|練習|対策|トレーニング)?(?:を)?(?:頑張って|して){_NOW}", plain(16)),
    rule("favorite_", rf"(?:一番|いちばん)?(?:好き|大好き)な(?P<thing>[一-龠ァ-ヶーべ み物]{{1,5}})は(?P<v>[^はがを、]{{1,16}}?){_COP}", values.liked),
    rule("prefers", r"[^はがを、]{1,14}より(?:も|は)?(?P<v>[^はがを、]{1,14}?)(?:の(?:ほう|方))?が(?:ずっと)?好き" + _COP, values.liked),
    rule("dislikes", rf"(?P<v>[^はが、]{{1,18}}?)(?:が|は|も)(?:とても|すごく|本当に|ちょっと|昔から|あまり|どうしても|どうも|かなり|大の?)?(?:嫌い|きらい|大嫌い|だいきらい|苦手|好きじゃない|好きではない|好きではありません|得意じゃない){_COP}", values.liked),
    rule("likes", rf"(?P<v>[^はが、]{{1,18}}?)(?:が|は|も)(?:とても|すごく|本当に|昔から|一番|めっちゃ|特に)?(?:大|だい)?好き(?:になり{_DID}|になっ{_DID}|{_COP})", values.liked),
    rule("likes", rf"{_V}に(?:ハマって|はまって|夢中に?なって){_NOW}", values.liked),
)  # fmt: skip

OF_KIN: Final = (
    *(one for one in (*ENDED, *RULES) if one.attribute not in {"name", "nickname", "budget", "gives_up", "on_diet", "cuts_down_on", "plans", "afraid_of"}),
    rule("works_as", rf"(?:[^はがを、]{{1,14}}?で(?!す|し))?(?P<v>[^はがをで、]{{1,14}}?){_COP}", values.occupation),
)  # fmt: skip
"""Of a relative who is named as the subject: there an occupation by itself says enough."""
OF_SPEAKER: Final = (
    rule("works_as", rf"(?:(?:{_N})[歳才]の)?(?:[^はがを、]{{1,14}}?で(?!す|し))?(?P<v>[^はがをで、]{{1,14}}?){_COP}", values.occupation),
    rule("name", rf"(?P<v>{NAME})(?:と(?:いい|言い|申し)ます|って(?:いい|言い)ます){_COP}", values.human_name),
)  # fmt: skip
"""Where the speaker is named: 私は…."""
INTRODUCED: Final = (rule("name", rf"(?P<v>{NAME})と(?:いい|言い|申し)ます{_COP}", values.human_name),)
"""At the beginning of a text."""
