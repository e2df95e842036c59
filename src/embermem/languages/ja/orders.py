"""Standing instructions: how the speaker wants the agent to behave from now on, and what is taken back.

An order is one only if it says that it lasts (これから, 毎回 …) or is of a kind that does (敬語はやめて, 絵文字なしで), and a
message that reports what others said is not read at all.
"""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from embermem.core.attributes import INSTRUCTION_PREFIX
from embermem.core.patterns import regex
from embermem.languages.dates.engine import date_spans
from embermem.languages.facts.finding import USER, Finding, When
from embermem.languages.facts.orders import told

__all__ = ["instruction", "instructions"]

_LONGEST_TEXT, _LONGEST_CLAUSE = 400, 50
_HIDDEN: Final = "\ue000"
_HAN: Final = "一-龠々〆ヶ"
_NAME: Final = rf"(?:[{_HAN}]{{1,4}}[ 　]?[{_HAN}ぁ-んァ-ヶー]{{1,5}}?|[ァ-ヶー・]{{2,14}}|[ぁ-ん]{{2,5}}?|[A-Z][A-Za-z]{{1,14}}|[{_HAN}])"
_NO_NAME: Final = "呼ばない："
_NOT_OWN: Final = regex(
    r"(?:って|と)(?:言われ|言って|言った|怒られ|注意され|書いて|頼まれ)|らしい|って(?:さ|よ)[。！]|そうです|(?:上司|先生|部長|課長|店長|母|父|妻|夫|友達|彼女?|客|医者)(?:が|は|から|に)|規則|マニュアル|ルール|規約|メール|通知|お知らせ|記事|翻訳|小説|台本|役|キャラ|プロンプト|もし|例えば|たとえば|https?://|[{}<>]"
)
_SENTENCE: Final = regex(r"[^。！？!?\n]+[。！？!?]*")
_ONCE: Final = regex(
    r"今回|この(?:文|件|問題|質問|メール|話|場合|部分|レシピ|本)|その|それ|これ(?!から)|さっき|今日は|今だけ|一回|一度|明日|ちょっと待|さっきの|上の|次の"
)
_LASTING: Final = regex(
    r"これからは?|今後は?|以後は?|いつも|毎回|常に|絶対に?|ずっと|必ず|二度と|もう(?=[^い]{0,14}(?:ないで|やめて))"
)
_PLEASE: Final = r"(?:ください|下さい|ほしい(?:です)?|欲しい(?:です)?|くれ(?:る|ない|ますか|ると(?:嬉しい|助かる|ありがたい)(?:です)?)?|もらえる(?:と(?:嬉しい|助かる|ありがたい)(?:です)?)?|もらえますか|お願い(?:します|ね)?|頂戴|ちょうだい)?(?:[なねよわ〜ー!！]|です)*$"
_LEAD: Final = regex(
    r"^(?:(?:あと|それと|それから|ねえ|ねぇ|あの|できれば|できるだけ|なるべく|お願い(?:なん(?:だ|です)(?:けど|が))?|(?:私|僕|俺)(?:に|と|へ)(?:は|の)?|(?:私|僕|俺)との会話では|話すとき(?:は|に)?|これからは?|今後は?|以後は?|いつも|毎回|常に|ずっと|もう|必ず|絶対に?|二度と)[、 ]?)+"
)
_LANGUAGE: Final = r"(?:日本語|英語|中国語|韓国語|フランス語|ドイツ語|スペイン語|イタリア語|ポルトガル語|ロシア語|関西弁|大阪弁|標準語)"
_SAY: Final = r"(?:答えて|話して|返事して|返して|返答して|回答して|書いて|しゃべって|お願い)"
_STANDING: Final = (
    ("formality", r"敬語(?:は|を|で)?(?:もう)?(?:やめて|使わないで|なしで(?:お願い)?|なしにして|いらない|要らない|じゃなくて(?:いい|大丈夫)|使わなくて(?:いい|大丈夫)|抜きで(?:お願い|話して)?)"),
    ("formality", r"(?:タメ口|ため口|タメ語|くだけた(?:口調|感じ|言葉))(?:で(?:いい|話して|お願い|しゃべって|大丈夫)|にして)"),
    ("formality", r"(?:敬語|丁寧語|丁寧な言葉(?:遣い)?)(?:で(?:話して|お願い|答えて)|を使って|にして)"),
    ("length", r"(?:返事|回答|答え|返信|メッセージ)?(?:は|を)?(?:もっと|なるべく|できるだけ)?(?:短く|短め(?:に|で)|簡潔に|手短に|一言で)(?:答えて|して|返して|返事して|回答して|お願い(?:します)?|まとめて(?=くださ))"),
    ("length", r"(?:返事|回答|答え|返信)(?:は|を)?(?:もっと|なるべく)?(?:詳しく|長め(?:に|で)|長く)(?:答えて|して|返して|お願い(?:します)?)"),
    ("emojis", r"(?:絵文字|顔文字|スタンプ)(?:は|を|も)?(?:もう)?(?:使わないで|やめて|なしで(?:お願い(?:します)?|返事して|返して|話して|答えて)?|つけないで|いらない|要らない|控えて|使って|つけて)"),
)  # fmt: skip
_OF_MATTERS: Final = tuple((matter, regex(pattern + _PLEASE)) for matter, pattern in _STANDING)
_SPOKEN: Final = regex(rf"(?P<l>{_LANGUAGE})(?:だけ)?で{_SAY}{_PLEASE}")
_CALL: Final = regex(
    rf"(?:(?:私|僕|俺)のこと(?:は|を)?)?(?P<v>{_NAME}(?:さん|ちゃん|くん|君|様)?)(?:と|って)呼んで(?P<please>.*)$"
)
_NO_CALL: Final = regex(
    rf"(?:(?:私|僕|俺)のこと(?:は|を)?)?(?P<v>{_NAME}(?:さん|ちゃん|くん|君|様)?)(?:と|って)(?:は)?(?:もう)?呼ばないで{_PLEASE}"
)
_TOPIC: Final = regex(
    rf"(?P<v>[^はがを、]{{1,12}}?)の(?:話|話題|こと)(?:は|を|には)(?:もう)?(?:しないで|出さないで|聞かないで|触れないで|やめて){_PLEASE}"
)
_GENERAL: Final = regex(
    r"(?P<v>[^、]{2,34}?(?:(?:教え|説明し|答え|返し|書い|まとめ|提案し|付け|つけ|添え|確認し|聞い|励まし|直し|訂正し|指摘し|使っ|出し|入れ|示し|挙げ|伝え|話し|呼ん|褒め|始め|終わっ|終え|避け|控え)[てで](?!い)|(?:教え|説明し|答え|謝ら|聞か|書か|使わ|出さ|入れ|言わ|勧め|提案し|褒め|まとめ|付け|つけ|説教し|否定し|急かさ)ないで))"
    + _PLEASE
)
_BACK: Final = (
    ("formality", regex(r"(?:もう|やっぱり|また)敬語(?:で|に|を)?(?:戻して|使って(?:も)?いい|話して(?:も)?いい|もいい|やめていい|でなくてもいい)" + _PLEASE)),
    ("emojis", regex(r"(?:もう|やっぱり|また)?(?:絵文字|顔文字)(?:を)?(?:使って(?:も)?(?:いい|大丈夫)|解禁)" + _PLEASE)),
    ("length", regex(r"(?:もう|やっぱり)?(?:短く|簡潔に)(?:しなくて|答えなくて)(?:も)?(?:いい|大丈夫)" + _PLEASE)),
)  # fmt: skip
_UNTIL: Final = regex(r"(?P<t>[^、。]{2,12})まで(?:は|に)?[、]?")


def instructions(text: str, said_at: datetime) -> Iterator[Finding]:
    """The standing instructions of a screened text, and what it takes back of earlier ones, in order. Positions are
    those of the text given."""
    if len(text) > _LONGEST_TEXT or _NOT_OWN.search(text):
        return
    found = [
        one
        for sentence in _SENTENCE.finditer(text)
        if _HIDDEN not in sentence.group()
        for one in _sentence(sentence.group().rstrip("。！!？?"), sentence.start(), said_at)
    ]
    yield from told(found, _NO_NAME)


def instruction(phrase: str) -> tuple[str, str]:
    """The attribute and value of an order that is known to last."""
    order = _LEAD.sub("", phrase.strip().rstrip("。！!"))
    return _of_matter(order) or ("instruction", order)


def _sentence(sentence: str, offset: int, said_at: datetime) -> Iterator[Finding]:
    lasting = False
    start = 0
    for clause in re.split("(?<=[、,，])", sentence):
        words = clause.strip("、,， 　")
        if words and _LASTING.fullmatch(words):
            lasting = True
        elif words and len(words) <= _LONGEST_CLAUSE:
            yield from _clause(words, offset + start, said_at, lasting=lasting)
        start += len(clause)


def _clause(words: str, start: int, said_at: datetime, *, lasting: bool) -> Iterator[Finding]:
    until = _until(words, said_at)
    when = None if until is None else When(until, _label(until - timedelta(days=1)), 0)
    order = _LEAD.sub("", _UNTIL.sub("", words) if until is not None else words)

    def finding(attribute: str, value: str, *, retracts: bool = False) -> Finding:
        return Finding(
            subject=USER, attribute=attribute, value=value, start=start, end=start + len(words),
            when=None if retracts else when, until=None if retracts else until, retracts=retracts,
        )  # fmt: skip

    for matter, pattern in _BACK:
        if pattern.fullmatch(words):
            yield finding(f"{INSTRUCTION_PREFIX}{matter}", "", retracts=True)
            return
    if _ONCE.search(words):
        return
    if (matter_value := _of_matter(order)) is not None:
        yield finding(*matter_value)
    elif (call := _CALL.fullmatch(order)) is not None and re.fullmatch(_PLEASE, call["please"]):
        if not re.search("何|なん|どう|みんな|誰", call["v"]):
            yield finding("nickname", call["v"])
    elif (lasting or until is not None or _LASTING.search(words)) and (general := _GENERAL.fullmatch(order)):
        yield finding("instruction", general["v"])


def _of_matter(order: str) -> tuple[str, str] | None:
    for matter, pattern in _OF_MATTERS:
        if pattern.fullmatch(order):
            return f"{INSTRUCTION_PREFIX}{matter}", re.sub(_PLEASE, "", order) or order
    if (spoken := _SPOKEN.fullmatch(order)) is not None:
        return f"{INSTRUCTION_PREFIX}language", f"{spoken['l']}で答える"
    if (name := _NO_CALL.fullmatch(order)) is not None:
        return "instruction", f"{_NO_NAME}{name['v']}"
    if (topic := _TOPIC.fullmatch(order)) is not None:
        return "instruction", f"{topic['v']}の話をしない"
    return None


def _until(words: str, said_at: datetime) -> datetime | None:
    """The first moment after the time up to which an order holds: 金曜まで."""
    match = _UNTIL.match(words)
    span = None if match is None else next(iter(date_spans(match["t"], said_at)), None)
    if span is None or span.last < said_at.date():
        return None
    return span.is_over(said_at)


def _label(moment: datetime) -> str:
    return f"{moment.year}年{moment.month}月{moment.day}日まで"
