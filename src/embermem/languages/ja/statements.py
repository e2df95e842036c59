"""How facts read: a sentence for each attribute, without its subject."""

# ruff: noqa: E501  (a table is read in one piece)

from __future__ import annotations

from typing import Final

from embermem.core.attributes import FAVORITE_PREFIX, is_instruction

_TEMPLATES: Final = {
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
    "owns": "{}を持っている", "did": "{}", "feels": "{}", "says": "{}と言っている", "does": "{}", "plans": "予定：{}",
    "would_like_to": "希望：{}",
}  # fmt: skip
"""`{}` is the value."""
_THINGS: Final = {
    "color": "色", "food": "食べ物", "movie": "映画", "book": "本", "song": "曲", "sport": "スポーツ", "animal": "動物",
    "season": "季節", "city": "街", "singer": "歌手", "game": "ゲーム", "fruit": "果物", "dish": "料理", "author": "作家",
    "band": "バンド", "flower": "花", "drink": "飲み物", "subject": "科目", "team": "チーム", "actor": "俳優", "show": "番組",
}  # fmt: skip
_NO_LONGER: Final = {
    "lives_in": "もう{}に住んでいない", "works_at": "もう{}で働いていない", "works_as": "もう{}ではない",
    "has_pet": "もう{}を飼っていない", "likes": "もう{}が好きではない", "dislikes": "もう{}が苦手ではない",
    "plans": "予定がなくなった：{}", "allergic_to": "もう{}のアレルギーがない", "marital_status": "もう{}ではない",
    "nickname": "もう{}と呼ばれていない", "learns": "もう{}を習っていない", "studies_at": "もう{}に通っていない",
    "drives": "もう{}に乗っていない", "diet": "もう{}ではない",
}  # fmt: skip
_ALL_OVER: Final = {"works_as": "もう働いていない", "works_at": "もうその勤務先で働いていない"}


def no_longer(attribute: str, value: str) -> str:
    """もうリヨンに住んでいない; without a value, もう働いていない."""
    if not value:
        return _ALL_OVER.get(attribute, f"取り消し：{attribute}")
    template = _NO_LONGER.get(attribute)
    if template is not None:
        return template.replace("{}", value, 1)
    return f"もう違う：{statement(attribute, value) or f'{attribute}：{value}'}"


def statement(attribute: str, value: str) -> str | None:
    """リヨンに住んでいる; None for an attribute that is not known."""
    if attribute.startswith(FAVORITE_PREFIX):
        thing = attribute.removeprefix(FAVORITE_PREFIX).replace("_", " ")
        return f"一番好きな{_THINGS.get(thing, thing)}が{value}"
    if is_instruction(attribute):
        return f"次のことを望んでいる：{value}"
    template = _TEMPLATES.get(attribute)
    return None if template is None else template.replace("{}", value, 1)
