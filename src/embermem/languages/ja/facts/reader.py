"""Which clauses may speak, of whom, and what they say.

A sentence is cut into clauses. The subject is mostly left out: a clause without one is the speaker's, unless somebody
else was brought up before it. What is asked, supposed, reported or doubted is not read; since Japanese says so at the
end of a sentence, what is linked to that end is not read either.
"""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final, NamedTuple

from embermem.core.attributes import FAVORITE_PREFIX, standing
from embermem.core.patterns import regex
from embermem.languages.dates.engine import DateSpan, date_spans
from embermem.languages.facts.finding import USER, Finding, When
from embermem.languages.facts.rules import Rule, implied, matched
from embermem.languages.ja.facts.events import event
from embermem.languages.ja.facts.rules import ENDED, INTRODUCED, OF_KIN, OF_SPEAKER, RULES
from embermem.languages.ja.facts.times import past, planned
from embermem.languages.ja.facts.values import NAME, known_name
from embermem.languages.ja.statements import THINGS
from embermem.languages.language import kin_of, words_of

_SENTENCE: Final = regex(r"[^。！？!?\n]+[。！？!?]*")
_HIDDEN: Final = "\ue000"
_SENTENCE_CHARS: Final = 200
_LONGEST_CLAUSE: Final = 50
_CUT: Final = regex(
    r"[、,，…♪～〜\s　]+|(?<=[だすたるいん])(?:けれども|けれど|けども|けど)(?=.)|(?<=[だすたるいんな])ので(?=.)|(?<=[だすたるい])から(?=.)(?![^、。]{0,2}(?:引|来|始|通|ずっと|[0-9]))|(?<=んだ)が(?=、)|(?<=[身住]で)(?=.)"
)
_FREE: Final = regex(r"(?:けれども|けれど|けども|けど|ので|から|のに|が|し)$")
"""A clause that ends so is not under what the end of the sentence says."""
_REPORT: Final = r"(?:って|と|とは|だって)(?:[^、]{0,6})?(?:言|いっ(?:て|た)|聞|話し|書い|教え|伝え|うわさ|噂|答え|返事)|とのこと|によると|いわく|曰く|に聞いた|そうで(?:す|した)|そうだ|だって(?:さ|よ)?[〜ー]*$|(?<=[るただすくうむぶ])って(?:さ|よ|ば)?$|だとさ|らしい|みたい|っぽい|ようだ|ようで"
_DOUBT: Final = r"かも|だろう|でしょう|はず|かな|かしら|気が(?:する|し)|(?<!たい)と(?:は)?思(?:う|い|っ)|予感|べき|(?:ほう|方)がいい|ましょう|(?:よ|お|こ|ろ|も)う(?:か|かな|よ|ね|と|っ)|じゃ(?:ない|ん)(?:か|です|の)|っけ|てみたい|なければ|たかった|ところだった|そうにな|ふりを|冗談|うそ|嘘|もしかし|ひょっと|たぶん|多分|おそらく|きっと|どうせ|まるで"
_UNREAL: Final = regex(
    rf"{_REPORT}|{_DOUBT}|{_HIDDEN}|(?:の|です|ます|でした|ました)?か$|(?:て|で)(?:ください|下さい|ほしい|欲しい|くれ|ちょうだい)|だったら|いつか"
)
_SUPPOSED: Final = regex(
    r"^もし|もしも|仮に|例えば|たとえば|(?:たら|だら|れば|なら|ならば|としたら|とすれば)$|(?:たら|れば|なら)(?:いい|良い|な|どう)|夢(?:を見|の中|で(?!は))|ゲーム(?:の|内|で)|(?:ドラマ|映画|漫画|小説|アニメ)(?:の|で|では|によ)|主人公|キャラ"
)
_WHEN: Final = regex(r"(?:た|だ)ら$")
_PAST_END: Final = regex(r"(?<!よかっ)(?<!のに)(?:た|だ|ました|でした)(?:んです|んだ)?[よねなわ]*$")
"""A clause in たら says when something was, if the sentence ends in the past."""
_ONCE: Final = regex(
    r"昔(?!から)|以前|かつて|(?:子ども|子供|小さい|若い|幼い)(?:の)?(?:頃|ころ|時|とき)(?!から)|学生時代|当時|(?<!名)前は|前まで|(?:だ|して|て)い?た(?:頃|ころ|時|とき)"
)
_OTHERS: Final = regex(
    rf"(?:さん|ちゃん|くん|君|先生|先輩|部長|課長|社長|店長|彼|彼女|あいつ|あの人|あの子|この子|その子|うちの子|友達|友だち|友人|同僚|上司|後輩|ママ友|知り合い|隣の人|みんな|お客さん|犬|猫|ねこ|ペット|{'|'.join(sorted(kin_of('ja'), key=len, reverse=True))})(?:たち|達|ら)?(?:の[^はがも、]{{1,8}})?(?:は|が|も|って)"
)
_ANIMAL: Final = regex("飼って|飼い始め|犬|猫")
_ME: Final = regex(
    r"(?:私|わたし|わたくし|あたし|僕|ぼく|俺|おれ|うち|自分)(?:はね?、?|は実は|も|が|って|的には|としては|、)"
)
_MINE: Final = regex(r"(?:私|わたし|あたし|僕|ぼく|俺|おれ|うち|自分|我が家)の(?!(?:母|父|姉|兄|妹|弟))")
_LEAD: Final = regex(
    r"(?:うん|ううん|はい|いや|ええと|えっと|えー|あの|あのね|ねえ|ねぇ|あ|そう|そうそう|実は|ちなみに|そういえば|ところで|でも|だけど|あと|あとは|また|それで|それに|それから|そして|なので|だから|ただ|正直|まあ|やっと|ついに|とうとう|ようやく|先ほど|さっき|このたび|この度|無事に?|急に|今は|いまは|今(?![年月日週朝晩夜度回])|いま|現在は?|最近は?|ずっと|もう(?!す)|もともと|昔から|子どもの頃から|小さい頃から|普段は?|いつも|主に|一応|とりあえず|初めまして|はじめまして|こんにちは|こんばんは|おはよう(?:ございます)?|報告(?:です)?|ご報告|近況報告|結局|結果|今度|本当は|本当に|すごく|とても|めっちゃ|とにかく|年明けに|新しく|なんと|晴れて|夫婦で|家族で|一人で)(?=[^ぁ-ん]|[ぁ-ん])"
)
_KIN: Final = regex(
    rf"(?:(?:私|わたし|あたし|僕|ぼく|俺|うち)の)?(?P<kin>{'|'.join(sorted(kin_of('ja'), key=lambda word: (-len(word), word)))})(?!さん|ちゃん|様|方|語|系|妹|弟|子|上|型|車|国)(?:の(?P<name>[^、。\s]{{1,8}}?)(?=[はがもとを、]))?"
)
_HERS: Final = regex(r"(?P<topic>(?:は|が|も)[、 ]?|の(?=(?:誕生日|趣味|職業|仕事|名前|出身|勤務先|愛車)は))")
_NAMED: Final = regex(
    rf"の名前は(?P<name>{NAME}(?:さん|ちゃん|くん)?)(?:です|だ|といい|と言い|って|で|$)|は(?P<named>{NAME})(?:と(?:いい|言い)|って(?:いい|言い|名前))"
)
_EXISTS: Final = regex(
    r"(?:が|も|は(?=[0-9一二三四五六七八九十]))(?:[0-9一二三四五六七八九十]?人)?(?:い(?:る|ます|て|まして)|でき(?:た|ました))(?:んです|んだ|です)?(?:[よねけどがのでから]|)*$"
)
_PET_NAMED: Final = regex(
    rf"[、。！!\s]*名前は(?P<name>{NAME}(?:ちゃん|くん)?)(?:です|だよ|って|といい|と言い|と名付け|にし|。|！|、|$)"
)
_OWN_ENOUGH: Final = frozenset({"partner", "child", "sibling"})
"""Relations that are told without a name."""
_INTRODUCES: Final = frozenset({"name", "age"})
"""Who says so tells of themselves: what follows without a subject is theirs."""
_OF_KIN: Final = frozenset({"生まれた", "産まれた", "亡くなった"})
"""What is told of relatives only."""
_EVERY: Final = regex("毎[日朝晩週月]|(?:毎週)?[月火水木金土日]曜日?は")
_GREETS: Final = regex(r"^(?:初め|はじめ)まして|よろしくお願い(?:いた)?します[。！]?$")
_FIRST: Final = 2
"""Sentences in which a name given without 私は is the speaker's."""
_UNDATED: Final = frozenset(
    "age phone email height comes_from name nickname born_in grew_up_in birthday birth_year".split()
)
_AFTER_NUMBER: Final = regex(r"^(?:に|は|から|の|も|、|で|より|ごろ|頃|くらい|ぐらい|ころ|まで|までに|、)+")
_KINS: Final = kin_of("ja")


class _Clause(NamedTuple):
    text: str
    start: int
    free: bool
    """Whether the end of the sentence does not bear on it."""
    real: bool


class _Subject(NamedTuple):
    """Whom a clause is about: USER, a relative, or "" for somebody else. `named`: the clause says so."""

    who: str
    named: bool
    rest: str


def statements(text: str, said_at: datetime) -> Iterator[Finding]:
    """The statements of a screened text about its speaker and the speaker's relatives, in order. Positions are those of
    the text given."""
    other, introduced = False, _GREETS.search(text) is not None
    for at, sentence in enumerate(_SENTENCE.finditer(text)):
        told = sentence.group()
        if len(told) > _SENTENCE_CHARS:
            continue
        subject = "" if other else USER
        for clause in _clauses(told, said_at):
            found_subject = _subject(_after_date(clause.text, said_at), subject)
            subject = found_subject.who
            if _brings_another_up(clause.text, found_subject):
                subject = ""
            if clause.real:
                for one in _told(
                    clause, found_subject._replace(named=found_subject.named or introduced), said_at, at < _FIRST
                ):
                    moved = replace(one, start=sentence.start() + one.start, end=sentence.start() + one.end)
                    if one.attribute == "has_pet" and not one.retracts:
                        moved = _with_name(moved, text)
                    yield moved
                    yield from implied(moved)
                    introduced = introduced or (one.subject == USER and one.attribute in _INTRODUCES)
            if clause.free and subject != USER and found_subject.who != USER:
                subject = ""
        other = subject != USER
        introduced = introduced and not other


def _with_name(pet: Finding, text: str) -> Finding:
    """The animal with the name that stands right behind the statement."""
    match = _PET_NAMED.match(text, pet.end)
    return pet if match is None else replace(pet, value=f"{pet.value}の{match['name']}", end=match.end("name"))


def _brings_another_up(clause: str, subject: _Subject) -> bool:
    return (subject.who == USER and not subject.named and _OTHERS.search(clause) is not None) or (
        _ANIMAL.search(clause) is not None
    )


def _clauses(sentence: str, said_at: datetime) -> list[_Clause]:
    """The clauses of a sentence, with whether each is said to be so."""
    spans: list[tuple[int, int]] = []
    start = 0
    body = sentence.rstrip("。！？!?")
    asked = sentence.rstrip().endswith(("？", "?"))
    for match in _CUT.finditer(body):
        spans.append((start, match.end() if match.group().strip("、,，…♪～〜 　\n\t") else match.start()))
        start = match.end()
    spans.append((start, len(body)))
    spans = _with_dates(body, spans, said_at)
    found: list[_Clause] = []
    supposed, past_end = False, _PAST_END.search(body) is not None
    for at, (begin, end) in enumerate(spans):
        text = body[begin:end]
        if not text.strip():
            continue
        if_only = _SUPPOSED.search(text.strip())
        supposed = supposed or (
            if_only is not None and not (past_end and _WHEN.search(text.strip()) and "もし" not in body)
        )
        last = at == len(spans) - 1
        real = not supposed and _UNREAL.search(text) is None and not (last and asked) and _ONCE.search(text) is None
        found.append(_Clause(text, begin, _FREE.search(text.strip("、 ")) is not None, real))
    return _linked(found)


def _with_dates(body: str, spans: list[tuple[int, int]], said_at: datetime) -> list[tuple[int, int]]:
    """The clauses, where one that is nothing but a date belongs to the next."""
    found: list[tuple[int, int]] = []
    dates = date_spans(body, said_at)
    begins: int | None = None
    for at, (start, end) in enumerate(spans):
        if at < len(spans) - 1 and _is_date(body, start, end, dates):
            begins = start if begins is None else begins
        else:
            found.append((start if begins is None else begins, end))
            begins = None
    return found


def _is_date(body: str, start: int, end: int, dates: Sequence[DateSpan]) -> bool:
    """Whether what stands there is nothing but a date, or says that something is so every day."""
    if _EVERY.fullmatch(body[start:end].strip("、 　")):
        return True
    one = next((date for date in dates if date.start == start and date.end <= end), None)
    return one is not None and not _AFTER_NUMBER.sub("", body[one.end : end]).strip("、 　")


def _linked(clauses: list[_Clause]) -> list[_Clause]:
    """The clauses, where what is linked to one that is not so is not so either."""
    found: list[_Clause] = []
    real = True
    for at, clause in enumerate(reversed(clauses)):
        if clause.free or at == 0:
            real = True
        real = real and clause.real
        found.append(clause._replace(real=real))
    return found[::-1]


def _subject(clause: str, before: str) -> _Subject:
    """Whom the clause is about, and the clause without its subject, its leads and what adds nothing."""
    rest, named = clause.strip(), False
    while True:
        bare = rest
        lead = _LEAD.match(rest)
        if lead is not None and len(rest) > lead.end():
            rest = rest[lead.end() :].lstrip("、 　はも") if lead.end() > 1 else rest[lead.end() :]
        if (me := _ME.match(rest)) is not None:
            rest, named, before = rest[me.end() :], True, USER
        elif (mine := _MINE.match(rest)) is not None and _KIN.match(rest) is None:
            rest, named, before = rest[mine.end() :], True, USER
        if rest == bare:
            break
    if (kin := _KIN.match(rest)) is not None and (topic := _HERS.match(rest, kin.end())) is not None:
        name = kin["name"]
        if name is None or known_name(name):
            return _Subject(_called(kin), True, rest[topic.end() :] or rest)
    return _Subject(before, named, rest)


def _after_date(clause: str, said_at: datetime) -> str:
    """The clause without a date at its beginning, if a relative or the speaker is named behind it."""
    spans = date_spans(clause, said_at)
    if not spans or clause[: spans[0].start].strip("、 　"):
        return clause
    rest = _AFTER_NUMBER.sub("", clause[spans[0].end :]).strip("、 　")
    return rest if _KIN.match(rest) or _ME.match(rest) or _MINE.match(rest) else clause


def _called(kin: re.Match[str]) -> str:
    name = kin["name"]
    return f"{kin['kin']}の{re.sub('(?:さん|ちゃん|くん|君)$', '', name)}" if name else kin["kin"]


def _told(clause: _Clause, subject: _Subject, said_at: datetime, first: bool) -> Iterator[Finding]:
    """What one clause says."""
    if len(clause.text) > _LONGEST_CLAUSE:
        return
    yield from _relatives(clause)
    if not subject.who or _is_friend(subject.who):
        return
    body = _without_dates(subject.rest, said_at)[0]
    for rules in _rules_of(subject, first=first):
        if found := _statement(clause, subject, rules, (body, subject.rest), said_at):
            yield from found
            return
    time = planned(clause.text, said_at)
    if (said := event(body, ahead=time is not None)) is not None and (subject.who != USER or said.value not in _OF_KIN):
        time = time if said.attribute == "plans" else None
        when = time[0] if time is not None else past(clause.text, said_at) if said.attribute == "did" else None
        yield _finding(
            clause, subject.who, said.attribute, said.value, when=when, until=None if time is None else time[1]
        )


def _is_friend(subject: str) -> bool:
    """Whether the subject is a friend or colleague without a name, who may be another each time."""
    kin = _KINS.get(subject)
    return kin is not None and kin.relation in ("acquaintance", "uncle or elder")


def _rules_of(subject: _Subject, *, first: bool) -> Iterable[tuple[Rule, ...]]:
    if subject.who != USER:
        return ((*OF_KIN,),)
    rules: tuple[Rule, ...] = (*ENDED, *RULES)
    if subject.named:
        rules = (*rules, *OF_SPEAKER)
    elif first:
        rules = (*rules, *INTRODUCED)
    return (rules,)


def _statement(
    clause: _Clause, subject: _Subject, rules: tuple[Rule, ...], bodies: tuple[str, str], said_at: datetime
) -> list[Finding]:
    """What the first rule that understands the clause, or the clause without its dates, reads."""
    for body in dict.fromkeys(bodies):
        for one in matched(rules, body):
            attribute = one.rule.attribute
            if thing := one.match.groupdict().get("thing"):
                if thing not in THINGS:
                    continue
                attribute = f"{FAVORITE_PREFIX}{THINGS[thing]}"
            dated = not one.rule.retracts and standing(attribute) != "goal" and attribute not in _UNDATED
            when = past(clause.text, said_at) if dated else None
            if dated and when is None and _lies_ahead(clause.text, said_at):
                continue
            several = re.split("[、や]|(?<=..)と(?=..)", one.value) if attribute == "allergic_to" else [one.value]
            told = [
                _finding(clause, subject.who, attribute, value, when=when, retracts=one.rule.retracts)
                for value in several
                if value or one.rule.retracts
            ]
            return [*told, *_besides(clause, subject, one.rule, one.match, body)]
    return []


_AGED: Final = regex(r"(?P<age>[0-9]{1,3})[歳才]の")


def _besides(clause: _Clause, subject: _Subject, rule: Rule, match: re.Match[str], body: str) -> Iterator[Finding]:
    """What the same clause says besides: the age before an occupation."""
    if rule.attribute == "works_as" and (aged := _AGED.match(body)) is not None:
        yield _finding(clause, subject.who, "age", aged["age"])


def _lies_ahead(text: str, said_at: datetime) -> bool:
    spans = date_spans(text, said_at)
    return bool(spans) and all(span.first > said_at.date() for span in spans)


def _without_dates(text: str, said_at: datetime) -> tuple[str, tuple[DateSpan, ...]]:
    """The text without its dates and what follows them, and its dates."""
    spans = date_spans(text, said_at)
    body = text
    for span in reversed(spans):
        body = body[: span.start] + _AFTER_NUMBER.sub("", body[span.end :])
    return body.strip("、 　"), spans


def _relatives(clause: _Clause) -> Iterator[Finding]:
    """The relatives and friends of the speaker that a clause names."""
    text = clause.text
    for match in _KIN.finditer(text):
        if match.start() > 0 and re.search(
            r"[一-龠ァ-ヶA-Za-z]$|(?<![私僕俺ちし])の$|(?:さん|ちゃん|くん|君|彼|彼女)の?$", text[: match.start()]
        ):
            continue
        kin, name = _KINS[match["kin"]], match["name"]
        if name is not None and not known_name(name):
            name = None
        if name is None and (stated := _NAMED.match(text, match.end())) is not None:
            name = stated["name"] or stated["named"]
            if name in words_of("ja", "occupations"):
                name = None
        value = match["kin"] if name is None else f"{match['kin']}の{re.sub('(?:さん|ちゃん|くん|君)$', '', name)}"
        exists = kin.relation in _OWN_ENOUGH and _EXISTS.match(text, match.end()) is not None
        if name is None and not exists:
            continue
        attribute = "knows" if kin.relation == "acquaintance" else "has_relative"
        yield _finding(clause, USER, attribute, value)


def _finding(
    clause: _Clause,
    subject: str,
    attribute: str,
    value: str,
    *,
    when: When | None = None,
    until: datetime | None = None,
    retracts: bool = False,
) -> Finding:
    start = clause.start + len(clause.text) - len(clause.text.lstrip("、 　"))
    end = clause.start + len(clause.text.rstrip("、 　"))
    return Finding(
        subject=subject,
        attribute=attribute,
        value=value,
        start=start,
        end=end,
        when=when,
        until=until,
        retracts=retracts,
    )
