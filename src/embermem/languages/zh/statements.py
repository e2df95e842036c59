"""How facts read: a sentence for each attribute, without its subject."""

from __future__ import annotations

from typing import Final

from embermem.core.attributes import FAVORITE_PREFIX, is_instruction

_TEMPLATES: Final = {
    "name": "名叫{}",
    "nickname": "被称为{}",
    "gender": "是{}",
    "age": "{}岁",
    "birth_year": "{}年出生",
    "birthday": "生日是{}",
    "born_in": "出生在{}",
    "comes_from": "来自{}",
    "grew_up_in": "在{}长大",
    "nationality": "是{}",
    "lives_in": "住在{}",
    "works_as": "职业是{}",
    "works_at": "在{}工作",
    "works_in": "从事{}",
    "studies": "学习{}专业",
    "studies_at": "就读于{}",
    "graduated_from": "毕业于{}",
    "marital_status": "{}",
    "native_language": "母语是{}",
    "speaks": "会说{}",
    "learns": "在学{}",
    "diet": "{}",
    "allergic_to": "对{}过敏",
    "has_condition": "患有{}",
    "has_pet": "养了{}",
    "has_relative": "有{}",
    "likes": "喜欢{}",
    "dislikes": "不喜欢{}",
    "prefers": "更喜欢{}",
    "hobby": "爱好是{}",
    "plays": "会{}",
    "collects": "收集{}",
    "avoids": "不吃/不喝{}",
    "drives": "开{}",
    "visited": "去过{}",
    "temperament": "性格{}",
    "role": "是{}",
    "cannot": "不能{}",
    "health": "{}",
    "afraid_of": "怕{}",
    "wants_to": "想{}",
    "prepares_for": "在{}",
    "saves_for": "在为{}存钱",
    "gives_up": "在戒{}",
    "cuts_down_on": "在少吃{}",
    "on_diet": "在{}",
    "budget": "预算{}",
    "pronouns": "使用的代词是{}",
    "religion": "信仰{}",
    "height": "身高{}",
    "phone": "电话是{}",
    "email": "邮箱是{}",
    "education": "有{}",
    "knows": "有{}",
    "owns": "有{}",
    "did": "{}",
    "feels": "{}",
    "does": "{}",
    "plans": "打算{}",
}
"""`{}` is the value."""
_THINGS: Final = {
    "color": "颜色", "food": "食物", "movie": "电影", "book": "书", "song": "歌", "sport": "运动", "animal": "动物",
    "season": "季节", "city": "城市", "singer": "歌手", "game": "游戏", "fruit": "水果", "dish": "菜",
}  # fmt: skip


_NO_LONGER: Final = {"has_pet": "不再养{}", "dislikes": "不再讨厌{}"}


def no_longer(attribute: str, value: str) -> str:
    """不再住在里昂; without a value, 不再工作."""
    if not value:
        return "不再工作"
    template = _NO_LONGER.get(attribute)
    if template is not None:
        return template.replace("{}", value, 1)
    return f"不再{statement(attribute, value) or f'{attribute}：{value}'}"


def statement(attribute: str, value: str) -> str | None:
    """住在里昂; None for an attribute that is not known."""
    if attribute.startswith(FAVORITE_PREFIX):
        thing = attribute.removeprefix(FAVORITE_PREFIX).replace("_", " ")
        return f"最喜欢的{_THINGS.get(thing, thing)}是{value}"
    if is_instruction(attribute):
        return f"的要求：{value}"
    template = _TEMPLATES.get(attribute)
    return None if template is None else template.replace("{}", value, 1)
