"""What people ask, say and write: questions, openings, quotations, orders, themes, values."""

from __future__ import annotations

from typing import Final

from embermem.core.sensitive import SecretWords
from embermem.core.types import Role
from embermem.languages.parts import Guards, Questions, Screening, Talk, ThemeWords, Values

_MEASURED = "年天岁月周秒分小米公厘里斤吨克元块毛平亩度折成倍"
_COUNTED = _MEASURED + (
    "个次只本部位名遍口家张件条辆间层楼页场种门台套盒瓶杯份盆节课届期集季章首幅封篇句字人组队班点夜晚趟回轮顿餐碗级册棵"
    "匹头双副把根支片颗粒桶袋包箱步"
)
"""What a number stands before: units and measure words, and the first characters of longer ones (小时)."""
_NUMERAL = "零〇二两三四五六七八九十百千万亿"
"""Without 一, which is mostly the article: it counts before a unit, or in a longer number."""

QUESTIONS: Final = Questions(
    marks=("？",),
    time=r"[什啥]么?时[候间]|何[时日]|什么日子|多久[之以]前|[周期拜]几"
    r"|几(?:[月号日]|时(?!候)|点(?![建意想]))"
    r"|哪一?(?:[天日年月周晚]|个(?:月|星期|礼拜|周末|季|年))",
    number=r"多少|多(?:[大久长远宽深]|高(?!兴)|重(?!要)|快(?!乐))"
    # Not "the other day" (前几天) nor "these few" (这几个): nobody asks for that number.
    rf"|(?<![这那好前后过近上下最十每])几(?:[{_COUNTED}十百千万](?<!月)|分之)",
    several=r"哪些|哪几|所有|全部|都有|分别|几[个次种]|列出",
    past=r"上次|之前|以前|昨天|前天|上周|上个?月|去年|什么时候|说过|提到过|记得|过吗|了吗",
    overview=r"概[况述要]|总结|回顾|简介|介绍|生平|近况|经历|是谁|是什么样的人|怎么样的人|(?:了解|知道|记得|说说|讲讲|谈谈|告诉).{0,12}"
    r"|(?:发生|有)了?(?:什么|哪些|啥)(?:事|变化)?|过得怎么?样|最近(?:怎么?样|如何)|做了(?:什么|哪些)|变化|生活",
    overview_words=r"概况|概述|概要|总结|回顾|简介|介绍|生平|近况|经历|是谁|什么样|怎么样|怎样|如何|样的?人|了解|知道|记得|说说|讲讲|谈谈|告诉|"
    r"关于|有关|发生|哪些|什么|多少|事情|事|大事|重要|主要|变化|过得|最近|目前|现在|近来|今天|今年|去年|前年|明年|上个?月|这个?月|上周|这周|本周|"
    r"春天|夏天|秋天|冬天|春季|夏季|秋季|冬季|生活|人生|所有|一切|全部|做了?|请|帮|给|把|一下|一个|一些|都|有|了|过|的|地|得|吗|呢|吧|啊|"
    r"我们|你们|他们|她们|我|你|您|他|她|它|咱|和|与|在|对|里|中|上|下|年|月|日|号|周|天|期间|以来|到|从|啥|点|些|这|那|几|还|又|是|会|想|要|能|可以|关",
    character=r"性格|个性|特质|什么样的人|怎样的人|兴趣|爱好|推荐",
    says_number=rf"(?<!第)(?:(?!万一|百度|千万(?![元块人多])|十分(?![钟之]))[{_NUMERAL}]多?[{_COUNTED}{_NUMERAL}一]"
    rf"|一[{_MEASURED}十百千万亿])|半(?:个?(?:小时|月)|[年天斤岁])",
)

TALK: Final = Talk(
    shift=r"(?:对了|另外|话说|换个话题|说点别的|顺便(?:问|说)|言归正传|不说这个了|早上好|又来了)",
    back=r"(?:那|这|它|他|她|所以|然后|为什么|怎么会|还有呢|继续|是的|是啊|对啊|没错|因为|不过|可是|但是|可以|好的)",
    small_talk=r"你好|谢谢|再见|好的|哈哈|不客气|当然",
    leads="(?:不过|而且|另外|所以|但是|可是|因此|此外|当然)[，,]?",
    me="我",
    you="[你您]",
    you_signs=("你", "您"),
    my_words="我",
    parts={"用户": Role.USER, "助手": Role.ASSISTANT},
    nobody=frozenset("助手 用户 机器人".split()),
)

SCREENING: Final = Screening(
    speaker=r"我|咱|俺|昨|今天|明天|后天|下周|下个|这周|前天|前几天|上周|上学期|上个|去年|前年|刚|每[天周个晚年]|天天|周末|经常|平时|老[公婆伴]|妻|丈夫|[儿女孙][子女儿]|[男女]朋友|爸|妈|[爷奶姥]|外[公婆]|[哥姐弟妹]|被裁|取消|不去|电话|手机号|邮箱|身高|生日",
    quoted_speaker="我|咱",
    whole=r"翻译(?:一下|成|：|:|以?下|这)|[请帮].{0,6}翻译|润色|改写|歌词|角色扮演|开玩笑|骗你的|逗你[玩的]|造句|这句话|语法|此致|敬礼|尊敬的|扮演|台词|人设|写.{0,8}(?:小说|剧本|故事)|(?:小说|剧本|故事)(?:里|中|的?(?:主角|开头|第一))|剧本|自我介绍模板|转发】|【转|以下是|总结.{0,4}(?:文章|内容|这|下面)|作文|范文|检讨书",
    from_here=r"假装|想象一下|假设|假如|写一?(?:篇|首|段|封|个)|帮我写|帮.{0,4}拟|下面(?:这|是)|以下(?:是|内容|文字)|原文|引用|讲.{0,4}故事",
    lasting=r"以后|今后|往后|从现在|从今|每次|永远|一直|总是|一律|再|别|不要|不用|可以|统一|[跟和]我|在.{1,8}之?前|直到|到.{1,8}为止",
)

_WORK = "工作|上班|职业|岗位|当|做|是|任职|就职|公司|干"
_PLACE = "住|家|搬|定居|租|在"
_ORIGIN = "出生|来自|老家|家乡|长大|籍|人|故乡|祖籍"
_STUDY = "学|读|专业|课|毕业|念|考"
_ILL = "有|患|得|病|症|确诊|是|痛|疼"
_AGED = "岁|出生|生于|年|生日|今年"
_STATING: Final = {
    "name": "叫|名|是|姓|称", "nickname": "叫|昵称|外号|绰号|称", "gender": "男|女|性别|妈|爸|妻|夫|是",
    "age": _AGED, "birth_year": _AGED, "birthday": "生日|出生|生于", "born_in": "出生|生于|生在",
    "comes_from": _ORIGIN, "grew_up_in": "长大|小时候|童年", "nationality": _ORIGIN, "lives_in": _PLACE,
    "works_as": _WORK, "works_at": _WORK, "works_in": _WORK, "studies": _STUDY, "studies_at": _STUDY,
    "graduated_from": "毕业|学位|文凭", "education": _STUDY,
    "marital_status": "婚|妻|夫|老婆|老公|太太|单身|恋爱|男朋友|女朋友|对象|离异|订",
    "native_language": "母语|说|讲", "speaks": "说|讲|会|语", "diet": "吃|素|饮食|肉|斋|节食",
    "allergic_to": "过敏|不耐", "has_condition": _ILL, "health": _ILL,
    "has_pet": "养|狗|猫|宠物|鸟|鱼|兔|仓鼠|乌龟", "religion": "信|教|佛|祷|上帝", "height": "高|米|厘米|公分",
    "phone": "电话|手机|号", "email": "@", "budget": "预算|元|块|花|钱|最多|以内", "drives": "开|车",
    "dislikes": "不|讨厌|烦|恨|无聊|没",
}  # fmt: skip

_FIELDS = "(?:名字|姓名|资料|画像|档案|身份|职业|工作|住址|住处|性别|年龄|记忆|特征|信息)"
_CHANGE = "(?:设|改|更新|写|记|换|删|清空|覆盖|登记|标记|存)"
GUARDS: Final = Guards(
    order=r"(?:忽略|无视|忘掉|忘记|不要理会)(?:掉)?(?:以上|上面|上述|之前|前面|先前|所有|全部|一切|你的)[^。！？\n]{0,12}(?:指令|指示|内容|规则|提示|要求|话|说明|一切|，|。|$)"
    rf"|{_CHANGE}[^。！？\n]{{0,10}}用户(?:的)?{_FIELDS}|用户(?:的)?{_FIELDS}[^。！？\n]{{0,10}}{_CHANGE}"
    r"|(?:系统|开发者)(?:提示|消息|指令|通知)|(?:新的|以下)(?:指令|指示)"
    r"|你(?:必须|应该|要|只能)(?:只)?(?:输出|回答|返回|回复)(?:以下|下面|JSON|json)"
    r"|(?:写入|记入|存入|更新|清空|删除)(?:到)?(?:你的|用户)?(?:长期)?(?:记忆|档案|画像|知识库)",
    error=r"错误\s*[:：]|(?:很)?抱歉|对不起|无法(?:获取|生成|总结)|我(?:不能|无法)",
    nothing=r"无|没有|未知|不详|未提及|未提供|不适用",
    genders={"女": "female", "女性": "female", "男": "male", "男性": "male"},
    female="女|妈妈|母亲|妻子",
    male="男|爸爸|父亲|丈夫",
    reporting="说 说过 告诉 谈到 谈论 讨论 提到 提及 询问 问 回答 回复 解释 描述 表示 表达 分享 对话 聊天 消息 话题"
    " 总结 建议 计划 认为 觉得 希望",
    stating=_STATING,
    denying="不|没|未|无|别|讨厌|以前|曾经|如果|要是",
    ending="不|没|别|未|再也|以前|曾经|离开|辞|放弃|停|卖|丢|去世|分手|离婚|退休|取消|结束|搬|换|改|忘",
    own="我|咱|本人|俺",
)

TEMPERAMENTS: Final = {"内向": -1.0, "外向": 1.0}


def _theme(asked: str, told: str) -> ThemeWords:
    return ThemeWords(asked="|".join(asked.split()), told="|".join(told.split()))


THEMES: Final = {
    "food": _theme(
        "吃 喝 饿 饭 菜 餐 零食 汉堡 披萨 火锅 烧烤 蛋糕 奶茶 甜点 甜品 冰淇淋 外卖 食谱 啤酒 咖啡 可乐 面条 宵夜",
        "减 瘦 胖 脂 糖 酒 吃 喝 肌 血压 痛风 胃 不耐 体重 饮食",
    ),
    "money": _theme("买 购 价格 便宜 贵 礼物 酒店 机票 旅行 旅游 花钱 手机 电脑 预算", "钱 贷 房 花销 债"),
    "body": _theme(
        "运动 跑步 健身 爬山 游泳 海边 滑雪 骑车 跳伞 蹦极 过山车 飞机 坐船 药 医生", "马拉松 减 瘦 肌 运动 锻炼"
    ),
    "smoke": _theme("烟 聚会", "烟 哮喘"),
    "time": _theme("周末 计划 聚会 电影 游戏 熬夜 无聊 追剧 安排", "考 备考 学 早睡 早起 论文 写"),
}

_MEASURES = "个名位只条种杯本件部家所辆台首项支"
_ADDS_NOTHING = "^(?:我|他|她)们?的|[的了]|^(?:很|非常|特别|比较)"
VALUES: Final = Values(
    leading="(?:我|他|她)?(?:很|真的|非常|特别|最|比较)?(?:喜欢|喜爱|热爱|爱好)(?=.)",
    yes=frozenset({"是", "是的", "有", "对"}),
    no=frozenset({"不是", "否", "没有", "不"}),
    within="(?<=.)[和与及](?=.)",
    taken_off=(_ADDS_NOTHING, f"^一[{_MEASURES}](?=.)", _ADDS_NOTHING),
)

SECRETS: Final = SecretWords(
    password="密码 | 口令",
    key="密钥 | 令牌",
    equals=r"\s{0,4} (?: 是 | 为 ) \s{0,4}",
    ends="，。；、！？（）【】《》“”\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af",
    hints=("密码", "口令", "密钥", "令牌"),
)
