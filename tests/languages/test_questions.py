"""What kind of answer a query asks for, in English and Chinese."""

from __future__ import annotations

from collections.abc import Callable

from embermem.languages import questions as asked

KINDS: tuple[tuple[Callable[[str], bool], tuple[str, ...], tuple[str, ...]], ...] = (
    (
        asked.asks_for_time,
        ("When did Ann move?", "Since when does she ski?", "What year was that?", "How long ago did they meet?",
         "他什么时候搬的家？", "啥时候的事", "何时出发", "哪天开学", "哪一天去的", "是哪个月开始的？", "他的生日是几号",
         "几月去的北京？", "星期几上课", "多久以前的事？", "几点见面？"),
        ("What does she do when it rains?", "Where is he?", "有几点建议？", "小时候住在哪里", "他哪里不舒服？",
         "谁养猫？"),
    ),
    (
        asked.asks_for_number,
        ("How many cats has he?", "How old is she?", "多少钱？", "他养了几只猫？", "要等几个月？", "车上坐了几口人",
         "返程的车有几成是空着的？", "孩子多大了？", "他有多高？", "那座山多高？", "十几岁？几十个人？"),
        ("Where is he?", "前几天我说了什么？", "这几个人是谁？", "好几次失败的原因", "她多高兴呀", "几乎忘了",
         "几号走？"),
    ),
    (
        asked.says_number,
        ("I have two dogs.", "It cost 30 euros.", "考了三百八十二分", "首印八千册", "五十二平", "花了一千二",
         "等了十分钟", "两只猫", "一年了", "二十多个人", "等了半个小时", "百分之五"),
        ("I have a dog.", "找个一样的", "我们一起去", "十分高兴", "千万别去", "万一下雨呢", "第二天就走了",
         "想养一只猫", "百度一下"),
    ),
    (
        asked.asks_for_several,
        ("Which books has she read?", "How many?", "哪些书？", "去过哪几个地方", "所有的爱好", "列出来"),
        ("Where does she live?", "谁养猫？", "他住在哪里"),
    ),
    (
        asked.asks_for_advice,
        ("What should I cook on Sunday?", "Any ideas for her birthday?", "晚饭吃什么好？"),
        (),
    ),
)  # fmt: skip
"""Of each kind of question, texts that are one and texts that are none."""


def test_a_question_is_known_by_what_it_asks_for() -> None:
    for is_one, yes, no in KINDS:
        assert [text for text in yes if not is_one(text)] == [], is_one
        assert [text for text in no if is_one(text)] == [], is_one
