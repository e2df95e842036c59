"""哪些词在问一个事实: for each attribute the words of a question that it answers."""

from __future__ import annotations

from typing import Final

_WHO = r"(?:谁|叫什么|叫啥|名字|姓名|几个|几位|多少|哪些|有没有|有.{0,12}[吗么]|说说|讲讲|介绍)"
_RELATIVES = r"(?:家人|亲戚|兄弟|姐妹|妹妹|姐姐|哥哥|弟弟|父母|妈妈|爸爸|孩子|儿子|女儿|老公|老婆|丈夫|妻子)"
_OTHERS = r"(?:朋友|同事|老板|上司)"

ASKS: Final = {
    "name": r"叫什么|名字|姓名|我是谁",
    "age": r"多大|几岁|年龄",
    "birthday": r"生日|哪天生|出生",
    "birth_year": r"哪年生|出生|多大|几岁",
    "lives_in": r"住(?:在)?(?:哪|什么地方)|家在哪|地址|哪个城市",
    "comes_from": r"哪里人|来自哪|老家|家乡",
    "grew_up_in": r"在哪.{0,3}长大|家乡|老家",
    "works_as": r"做什么工作|什么职业|职业|干什么的|工作是什么",
    "works_at": r"在哪.{0,4}(?:工作|上班)|公司|单位",
    "studies": r"学什么|什么专业|专业",
    "studies_at": r"在哪.{0,3}(?:上学|读书)|学校|大学",
    "graduated_from": r"毕业|大学|学校",
    "education": r"学历|学位",
    "marital_status": r"结婚|单身|婚姻",
    "diet": r"吃素|忌口|饮食",
    "allergic_to": r"过敏",
    "has_condition": r"什么病|病史|身体",
    "has_pet": r"宠物|养.{0,4}[狗猫吗]|狗|猫",
    "has_relative": rf"{_WHO}.{{0,12}}{_RELATIVES}|{_RELATIVES}.{{0,12}}{_WHO}",
    "knows": rf"{_WHO}.{{0,12}}{_OTHERS}|{_OTHERS}.{{0,12}}{_WHO}",
    "hobby": r"爱好|兴趣|闲.{0,3}做什么",
    "plays": r"乐器|运动",
    "drives": r"什么车|开.{0,2}车",
    "afraid_of": r"[怕]什么|害怕",
    "height": r"多高|身高",
    "phone": r"电话|手机号",
    "email": r"邮箱|邮件地址",
    "budget": r"预算",
}  # fmt: skip
