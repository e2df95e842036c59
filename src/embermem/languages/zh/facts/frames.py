"""The table of verbs: what a clause with one says, by its form. What is not in the table is not read."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from embermem.core.patterns import regex

_MEASURED = r"(?:[一二两三四五六七八九十\d]{1,3}|新|了?一?)(?:台|辆|套|部|架|栋|间|把|张|双|块)"


@dataclass(frozen=True, slots=True)
class Frame:
    """Verbs that take the same complement.

    `done`, `habit` and `planned` are the attributes of 买了…, 每天买… and 打算买…, "" where that form says nothing worth
    keeping. `complement` is the pattern of what follows the verb and its 了; `bare`: the event is told without 了 too,
    if its time is past; `dated`: it is kept only with its time.
    """

    verbs: str
    complement: str
    done: str = "did"
    habit: str = "does"
    planned: str = "plans"
    bare: bool = False
    dated: bool = False

    def pattern(self) -> str:
        """The verb, its 了, 过 or 完, and what follows."""
        return rf"(?:{self.verbs})(?P<aspect>完了|到了|过了|了|完|过)?(?P<object>{self.complement})"


_NOT_THERE = r"(?!超市|厕所|洗手间|公司|学校|楼下|外面|那[里儿边]?|这[里儿边]?|家|我家|你|他|她|它|哪|食堂|公园|商场|一下|看看|过|了|上班|上课|开会|吃饭|睡|吃|死|世|皮|年|路|朋友家$|店里|趟$|一趟$|找|问|办公室|洗澡|洗脸|刷牙|取|拿|接|休息|躺|睡|倒|充电|排队|下单|上厕所|打车|点|机场$|车站$)"
_PLACE = rf"(?:一?趟)?+{_NOT_THERE}[^，]{{2,16}}"
FRAMES: Final = (
    Frame(r"去|飞(?:去|到)?|到", _PLACE, bare=True),
    Frame(r"回", r"(?:一?趟)?(?:老家|家乡|娘家|国|[一-鿿]{2,4}(?:老家|看)|[一-鿿]{2,3}(?:过年|看.{1,6}))[^，]{0,8}", habit="", bare=True),
    Frame(r"搬家|搬新家|换工作|换公司|换行业|换专业", r"(?:到[^，]{2,8})?", habit="", dated=True),
    Frame(r"搬", r"(?:到|去|回|进|出)(?!了?(?:楼|新家|隔壁|外面|来|这|那))[^，]{2,11}", habit="", bare=True),
    Frame(r"参加|报名参加|报名|加入|报(?!名|告|警|纸|销|复|应|错|答|仇|团)", r"(?!.{0,2}(?:进来|我们)$)[^，]{2,18}", bare=True),
    Frame(r"买|入手|订购|网购|提|换|添置", rf"(?:{_MEASURED}(?!.*[票券])[^，没不都也]{{1,12}}|新?(?:房子?|车子?|[一-鿿]{{1,3}}车))", done="owns", habit="", planned="plans"),
    Frame(r"买", r"(?:房子?|车子?|新房|婚房|新车)", habit=""),
    Frame(r"卖|租", rf"(?:{_MEASURED}[^，]{{1,10}}|房子?|车子?|公寓)", habit="", bare=True),
    Frame(r"订|预订|预约|定", r"(?:[^，]{0,6}(?:机票|酒店|民宿|婚礼|体检|手术|演唱会)[^，]{0,8})", habit=""),
    Frame(r"考上|考取|考过|考到|考(?!虑|察|试|验|核|砸)", r"(?!的|得|了|完|差|不)[^，]{2,14}", habit="", bare=True),
    Frame(r"拿到?|获得?|得到?|赢得?|评上", r"[^，]{0,10}(?:驾照|奖学金|奖|冠军|亚军|季军|第[一二三]名?|金牌|银牌|铜牌|证书?|学位|offer|Offer|录取通知书?|绿卡|签证|资格)", habit="", bare=True),
    Frame(r"收到", r"[^，]{0,12}(?:offer|Offer|录取通知书?|录用通知|邀请函?|签证)", habit="", planned=""),
    Frame(r"入职|跳槽到|跳槽去|跳槽|升职为?|升为?|晋升为?|调到|转行做|转行|转正", r"[^，]{0,12}", habit="", bare=True),
    Frame(r"(?:被)?(?:公司)?(?:裁员?|辞退|解雇|开除|炒鱿鱼)|失业|辞职|离职|提(?:了)?(?:离职|辞职)|辞掉?|退休|创业", r"(?:工作|职|员)?", habit="", bare=False),
    Frame(r"开", r"(?:了)?(?:一?[家间所]|一?个(?=.{0,6}(?:店|铺|公司|工作室|账号|公众号|餐厅|饭馆|民宿|厂)))[^，]{2,10}", habit="", bare=True),
    Frame(r"创办|成立|经营|接手", r"(?!很|得|的)[^，]{3,12}", habit="", bare=True),
    Frame(r"结婚|订婚|离婚|分手|复合|领证|求婚|办婚礼|办酒席?", r"(?:周年)?", habit="", bare=True),
    Frame(r"生|添", r"(?:了)?(?:一?[个对])?(?:小?(?:孩子?|宝宝|娃|男孩|女孩|儿子|女儿|双胞胎|二胎|三胎|孙子|孙女))", habit="", bare=True),
    Frame(r"要", r"(?:个)?(?:二胎|三胎|孩子|宝宝)", done="", habit=""),
    Frame(r"怀", r"(?:上)?(?:二胎|三胎|双胞胎)", done="did", habit="", planned=""),
    Frame(r"去世|过世|病逝|走了(?=[一二两三四五六七八九十\d半]+年)", r"(?:[一二两三四五六七八九十\d半]+年)?", habit="", planned="", bare=True),
    Frame(r"出生", r"(?:的)?", habit="", planned="", bare=True),
    Frame(r"做", r"[^，]{0,8}(?:手术|化疗|放疗|胃镜|产检|体检|试管|检查|透析|牙套)", bare=True),
    Frame(r"住院|骨折|扭伤|崴脚|中风|流产|确诊|感染|出车祸|车祸|拔牙|近视|失恋", r"[^，]{0,8}", habit="", planned="plans", bare=True),
    Frame(r"摔断|摔伤|扭伤|拔|种|割|切|打", r"(?:了)?[^，]{0,4}(?:腿|胳膊|手臂|手腕|脚踝?|腰|智齿|牙|阑尾|疫苗|石膏|双眼皮)", habit="", bare=True),
    Frame(r"戒", r"(?:掉)?(?:烟|酒|糖|奶茶|咖啡)", habit="", bare=True),
    Frame(r"毕业", r"(?:于[^，]{2,10})?", habit="", bare=True),
    Frame(r"(?:开始|去|申请)?(?:留学|实习|兼职|读研|读博|支教|当兵|退伍|考研|出国|移民|备孕|出差)", r"(?:去)?[^，]{0,8}", habit="", bare=True),
    Frame(r"(?:在|上|报名)?(?:学会|开始学|学完)", r"(?:了)?(?!会|着|习惯)[^，]{2,8}", habit="", bare=True),
    Frame(r"爬|登|攀登|登顶|徒步|骑行|环游|逛|游览|走", r"(?:了|完)?(?!来|去|路|到|走|吧|出|进|[一两]?圈|神|过|.{0,3}步|街$|楼|起来|不|得)[^，]{2,12}", bare=True),
    Frame(r"跑", r"(?!来|去|到|了$|过|步机|出|题|偏|路|神)[^，]{0,8}(?:步|马拉松|半马|全马|公里|圈)", bare=True),
    Frame(r"打", r"(?!扰|算|电话|车|字|折|听|开|包)[^，]{0,3}(?:球|太极拳?|八段锦|麻将|牌|鼓|桥牌|疫苗)", done=""),
    Frame(r"下", r"(?:围棋|象棋|棋|五子棋)", done=""),
    Frame(r"跳|弹|拉|吹|唱|练|画|写", r"(?:了)?(?:广场舞|街舞|芭蕾|舞|钢琴|吉他|古筝|小提琴|二胡|笛子|歌|瑜伽|书法|毛笔字|太极拳?|字|油画|国画|水彩|日记|小说|博客|论文|口语|听力|琴)[^，]{0,4}", done=""),
    Frame(r"写|画|拍|出版|发表|录|做", r"(?:完)?(?:了)?(?:一?[本部篇幅首支][^，]{1,12})", habit="", bare=True),
    Frame(r"种|养", r"(?!.{0,2}[样感])(?:菜|花|多肉|鱼|鸟|果树|[^，]{0,6}(?:菜|花|树|鱼|鸡))", done=""),
    Frame(r"钓|种|腌|织|烤|包|养|捡|做", r"(?:到|到了|了)?(?:一|两|三|几)[条棵件罐盆个只顿桌][^，]{2,12}", habit="", bare=True),
    Frame(r"领养|收养|养", r"(?:了)?(?:一|两|三)[只条][^，]{1,8}", done="", habit=""),
    Frame(r"背|读|看|学|复习|练习|刷|听", r"(?:单词|英语|书|报纸?|新闻|播客|题|课文|古诗|论文|[一-鿿]{1,3}语)[^，]{0,3}", done=""),
    Frame(r"健身|锻炼|散步|跑步|游泳|骑车|骑自行车|遛狗|遛弯|冥想|瑜伽|加班|钓鱼|晨跑|夜跑|做饭|做志愿者|当志愿者|做义工|做瑜伽|打坐|健走|冬泳|滑雪|露营|爬山|徒步|摆摊|直播|接送孩子|上夜班|值夜班", r"[^，]{0,6}", done="", planned=""),
    Frame(r"做|当", r"[^，]{0,4}(?:志愿者|义工|家教|伴娘|伴郎|主持人?)", bare=True),
    Frame(r"上", r"(?!周|个|星期|学期)[^，]{1,8}(?:课|班)|(?!周|个|星期|学期)(?:补习班|兴趣班|夜校|瑜伽课|小学|中学|大学|幼儿园|初[一二三中]|高[一二三中])", done=""),
    Frame(r"认识|遇到|遇见|交|谈", r"(?:了)?(?:一?[个位些])[^，]{0,6}(?:朋友|对象|女友|男友|室友|老师|同学|邻居|网友|女孩|男孩|女生|男生)", habit="", planned="", bare=True),
    Frame(r"丢|弄丢|摔坏|摔|修|捐|寄", r"(?:了)?[^，]{0,6}(?:手机|钱包|身份证|护照|电脑|相机|行李|手表|钥匙|自行车|头发|旧衣服)[^，]{0,3}", habit="", planned="", bare=True),
    Frame(r"(?:走丢|飞走|丢|坏|走失|去世|死)", r"", habit="", planned=""),
    Frame(r"装修|翻新|改造|布置|刷", r"(?:了)?[^，]{0,4}(?:房子?|新家|厨房|卧室|阳台|书房|客厅|新房)?", habit="", bare=True),
    Frame(r"改成|变成|改造成", r"[^，]{2,6}", done="", habit=""),
    Frame(r"看", r"(?:了)?[^，]{0,3}(?:演唱会|音乐会|话剧|音乐剧|展览|画展|球赛|比赛|极光|日出|流星雨|冰雕)[^，]{0,2}", habit="", bare=True),
    Frame(r"给|帮|替", r"[^，]{1,5}(?:报了|办了|买了|请了|找了)[^，]{2,12}", habit="", planned="", bare=True),
    Frame(r"(?:接送|接|照顾|陪|带|看望|探望)", r"(?:了)?(?:爸妈|父母|爸爸|妈妈|爷爷|奶奶|外公|外婆|老人|孩子|儿子|女儿|孙子|孙女|家人)[^，]{2,10}", bare=True),
    Frame(r"换", r"(?:了)?(?:一?[个份家套])(?:房子|工作|公司|行业|专业|新工作|新公司)", habit="", bare=True),
    Frame(r"高考|中考|答辩|开学|入学|生产|预产期", "", done="", habit="", bare=True),
    Frame(r"中", r"(?:了)?[^，]{0,8}(?:彩票|大奖|头奖|摇号)", habit="", planned=""),
    Frame(r"摔", r"(?:了)?一跤[^，]{0,4}", habit="", planned=""),
    Frame(r"面试", r"(?:了)?[^，]{2,10}", habit="", dated=True),
    Frame(r"(?:面试|考试|答辩|试用期|论文)(?:也)?(?:通过|过)", "", habit="", planned=""),
    Frame(r"得|患", r"(?:了)?[^，]{1,5}(?:炎|肺结核|结石|新冠|流感|带状疱疹|骨膜|水痘)", habit="", planned="", dated=True),
    Frame(r"成为", r"(?:了)?[^，]{2,10}", habit="", bare=True),
)  # fmt: skip
"""Verbs of events, habits and plans; the first frame whose complement fits has the clause."""

EMPTY: Final = regex(
    r"^了?[的才就]|就.*了$|才发现|[你您她它咱这那某]|(?<!吉)他|什么|怎么|东西$|事情?$|一下$|一会儿?$|看看$|[吗么]$|试试|玩玩|随便|不少$|很多$|几次|一遍|罪|死了|得[很不要]|太[一-鿿]|多了$|不[了起到]|没[有了]|出来$|起来$|下去$"
)
"""What makes an event not worth telling, or not understood alone."""
