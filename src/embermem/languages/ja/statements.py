"""How facts read: a sentence for each attribute, without its subject."""

# ruff: noqa: E501  (a table is read in one piece)

from __future__ import annotations

from typing import Final

TEMPLATES: Final = {
    "name": "名前が{}", "nickname": "{}と呼ばれている", "gender": "{}", "age": "{}歳", "birth_year": "{}年生まれ",
    "birthday": "誕生日が{}", "born_in": "{}で生まれた", "comes_from": "{}の出身", "grew_up_in": "{}で育った",
    "nationality": "国籍が{}", "lives_in": "{}に住んでいる", "works_as": "職業が{}", "works_at": "{}で働いている",
    "works_in": "{}の仕事をしている", "studies": "{}を専攻している", "studies_at": "{}に通っている",
    "graduated_from": "{}を卒業した", "marital_status": "{}", "native_language": "母語が{}", "speaks": "{}を話せる",
    "learns": "{}を習っている", "diet": "{}", "allergic_to": "{}のアレルギーがある", "has_condition": "{}がある",
    "has_pet": "{}を飼っている", "has_relative": "{}がいる", "likes": "{}が好き", "dislikes": "{}が苦手",
    "prefers": "{}のほうが好き", "hobby": "趣味が{}", "plays": "{}", "collects": "{}を集めている",
    "avoids": "{}を口にしない", "drives": "{}に乗っている", "visited": "{}に行った", "temperament": "性格が{}",
    "role": "{}", "cannot": "{}ができない", "health": "{}", "afraid_of": "{}が怖い", "wants_to": "{}たい",
    "prepares_for": "{}の準備をしている", "saves_for": "{}のために貯金している", "gives_up": "{}をやめようとしている",
    "cuts_down_on": "{}を控えている", "on_diet": "{}", "budget": "予算が{}", "pronouns": "代名詞が{}", "religion": "宗教が{}",
    "height": "身長が{}", "phone": "電話番号が{}", "email": "メールアドレスが{}", "education": "学歴が{}", "knows": "{}がいる",
    "owns": "{}を持っている", "did": "{}", "feels": "{}", "says": "{}と言っている", "does": "{}", "takes": "服用：{}", "plans": "予定：{}",
    "would_like_to": "希望：{}",
}  # fmt: skip
"""`{}` is the value."""
THINGS: Final = {
    "color": "色", "food": "食べ物", "movie": "映画", "book": "本", "song": "曲", "sport": "スポーツ", "animal": "動物",
    "season": "季節", "city": "街", "singer": "歌手", "game": "ゲーム", "fruit": "果物", "dish": "料理", "author": "作家",
    "band": "バンド", "flower": "花", "drink": "飲み物", "subject": "科目", "team": "チーム", "actor": "俳優", "show": "番組",
}  # fmt: skip
ENDED: Final = {
    "lives_in": "もう{}に住んでいない", "works_at": "もう{}で働いていない", "works_as": "もう{}ではない",
    "has_pet": "もう{}を飼っていない", "likes": "もう{}が好きではない", "dislikes": "もう{}が苦手ではない",
    "plans": "予定がなくなった：{}", "allergic_to": "もう{}のアレルギーがない", "marital_status": "もう{}ではない",
    "nickname": "もう{}と呼ばれていない", "learns": "もう{}を習っていない", "studies_at": "もう{}に通っていない",
    "drives": "もう{}に乗っていない", "diet": "もう{}ではない", "works_as!": "もう働いていない",
    "works_at!": "もうその勤務先で働いていない",
}  # fmt: skip
