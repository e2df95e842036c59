"""Words, stems and sentences: the one place where text is cut up. English is stemmed, Chinese, Japanese and
Korean are cut into character bigrams and Han characters, every other language into lower-cased words."""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache
from itertools import pairwise

_CJK = (
    "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f"
)
_RUN = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+(?:['’][^\W_{_CJK}]+)*")
_HAS_CJK = re.compile(rf"[{_CJK}]")
_HAN = re.compile("[\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]")
_LATIN = re.compile(r"[A-Za-z]")
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？；])[”’」』）]*\s*|\n+")
_ABBREVIATION = re.compile(r"(?:\b(?:mr|mrs|ms|dr|prof|st|vs|etc|e\.g|i\.e|jr|sr|no)|\b[A-Z])\.$", re.IGNORECASE)

# Function words: they carry grammar, not topic. Written for this project; negations are kept out of the list.
STOP_WORDS = frozenset(
    """
    a about above after again all also am an and any are as at be because been before being below between both but
    by can could did do does doing down during each few for from further had has have having he her here hers
    herself him himself his how i if in into is it its itself just let me might more most my myself now of off on
    once only or other our ours ourselves out over own same shall she should so some such than that the their theirs
    them themselves then there these they this those through to too under until up us very was we were what when
    where which while who whom why will with would you your yours yourself yourselves
    i'm i've i'd i'll you're you've you'd you'll he's she's it's we're we've we'd they're they've that's there's
    let's what's who's how's where's when's didn't don't doesn't isn't aren't wasn't weren't can't couldn't won't
    wouldn't shouldn't haven't hasn't hadn't im ive dont didnt thats its
    hey hi hello yeah yes ok okay oh wow well really thanks thank please sure got get gets getting go going gonna
    like know think thing things lot much many make makes made one
    """.split()
)
CJK_STOP = frozenset(
    "的 了 是 我 你 他 她 它 们 在 有 和 就 都 也 不 这 那 吗 呢 吧 啊 个 很 要 会 说 去 上 到 着 过".split()
)

# What function words are written with in Chinese. A pair of nothing else (怎么, 我们) is no term, nor is such a
# character by itself; with another it is one (有用).
CJK_FUNCTION = CJK_STOP | frozenset(
    """
    嘛 么 呀 哦 啦 哈 嗯 喔 哎 唉 什 哪 谁 怎 几 多 少 之 与 及 或 但 而 且 又 还 再 把 被 给 让 对 从 向 为 以 于 其 所
    得 地 过 来 里 些 样 那 此 每 各 您 咱 俺 可 能 没 已 曾 将
    """.split()
)

_VARIANTS = frozenset(map(chr, (0x034F, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
"""Variation selectors and the grapheme joiner: not seen, and yet no format characters to Unicode."""
_LONGEST_WORD = 64
"""Longer runs of letters are no words (base64, hashes): they are not stemmed, and no cache holds them."""

_local = threading.local()


def has_cjk(text: str) -> bool:
    """Whether any Chinese, Japanese or Korean character stands in the text."""
    return _HAS_CJK.search(text) is not None


def is_chinese_like(text: str) -> bool:
    """Whether the text is mostly written in CJK characters rather than Latin letters."""
    return 2 * len(_HAS_CJK.findall(text)) > len(_LATIN.findall(text))


def cjk_share(text: str) -> float:
    """The share of Chinese, Japanese and Korean in the text's letters, each of their characters counted as two."""
    characters = 2 * len(_HAS_CJK.findall(text))
    return characters / (characters + len(_LATIN.findall(text))) if characters else 0.0


def runs(text: str) -> Iterator[tuple[str, int, int]]:
    """Each word, or unbroken run of CJK characters, as written, with its [start, end)."""
    for match in _RUN.finditer(text):
        yield match.group(), match.start(), match.end()


def stem(word: str) -> str:
    """The English stem of a lower-cased word (Snowball); words of other alphabets, and what is too long to be a word,
    pass unchanged."""
    return word if len(word) > _LONGEST_WORD or not word.isascii() else _stem(word)


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    stemmer = getattr(_local, "stemmer", None)
    if stemmer is None:
        import Stemmer

        stemmer = _local.stemmer = Stemmer.Stemmer("english")
    return str(stemmer.stemWord(word))


def fold(text: str) -> str:
    """Compatibility form, lower case, straight apostrophes: the form in which words are compared."""
    return unicodedata.normalize("NFKC", text).lower().replace("’", "'")


def _word_terms(run: str) -> tuple[str, ...]:
    if run.isascii() and len(run) <= _LONGEST_WORD:
        return _ascii_terms(run)
    return _cjk_terms(run) if _HAS_CJK.match(run) else _spelled_terms(run)


@lru_cache(maxsize=65_536)
def _ascii_terms(run: str) -> tuple[str, ...]:
    return _spelled_terms(run)


def _spelled_terms(run: str) -> tuple[str, ...]:
    if run in STOP_WORDS:
        return ()
    word = run.removesuffix("'s")
    return (stem(word),) if word not in STOP_WORDS else ()


def _cjk_terms(run: str) -> tuple[str, ...]:
    """Bigrams, and Han characters by themselves: in Chinese a character has a meaning, so that 猫 finds 橘猫.

    A sign of kana or hangul is a sound, and stands by itself only where it is written so.
    """
    pairs = [a + b for a, b in pairwise(run) if not (a in CJK_FUNCTION and b in CJK_FUNCTION)]
    characters = [c for c in (run if len(run) == 1 else _HAN.findall(run)) if c not in CJK_FUNCTION]
    return (*pairs, *characters)


def terms(text: str) -> list[str]:
    """What BM25 and the Jaccard measure compare: stems without stop words; bigrams and characters for CJK; repeats
    kept."""
    return [term for match in _RUN.finditer(fold(text)) for term in _word_terms(match.group())]


def words_to_match(text: str) -> Iterator[str]:
    """The words of a text that carry topic, in the form in which a query and a text are compared where nothing that is
    meant may be missed: without accents (naïve, naive), in full case folding (straße, STRASSE), without characters that
    are not seen (soft hyphens, zero-width and bidirectional ones), by their stems. Chinese, Japanese and Korean as
    `terms` cuts them.

    `fold` stays as it is: hashes that stores keep are made of it.
    """
    folded = fold(text)
    for match in _RUN.finditer(folded if folded.isascii() else "".join(one for one in folded if not _unseen(one))):
        run = match.group()
        known = _word_terms(run)
        if run.isascii() or _HAS_CJK.match(run):
            yield from known
        elif known:  # what is a function word is so as it is written: "thé" is none
            yield stem(_bare(run.removesuffix("'s")))


def _unseen(character: str) -> bool:
    """A format character, one that chooses a variant, or a mark that composes with no letter."""
    kind = unicodedata.category(character)
    return kind == "Cf" or character in _VARIANTS or unicodedata.combining(character) != 0


def _bare(word: str) -> str:
    """In full case folding, without combining marks."""
    split = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", word).casefold())
    return unicodedata.normalize("NFC", "".join(one for one in split if not unicodedata.combining(one)))


def sentences(text: str) -> list[tuple[int, int]]:
    """The [start, end) of each sentence, trimmed, in order; lines end sentences."""
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _SENTENCE_END.finditer(text):
        piece = text[start : match.start()]
        if "\n" not in match.group() and _ABBREVIATION.search(piece[-8:]):
            continue
        _append_trimmed(spans, text, start, match.end())
        start = match.end()
    _append_trimmed(spans, text, start, len(text))
    return spans


def _append_trimmed(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        spans.append((start, end))


# strftime("%B") would follow the machine's language; the index must not.
_MONTHS = (
    "January February March April May June July August September October November December"
).split()  # fmt: skip


def date_words(moment: datetime) -> str:
    """A day as people write it, in the moment's own zone: "8 May 2023"."""
    return f"{moment.day} {_MONTHS[moment.month - 1]} {moment.year}"
