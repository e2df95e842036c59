"""What is said in a life. Every message has rare words that occur nowhere else: they are looked for afterwards."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from random import Random

OWNERS = "abcdefgh"
"""The third letter of a rare word names the owner who said it."""
_CONSONANTS, _VOWELS = "bcdfgklmnprtvz", "aeiou"
_MARK = "龘"
"""Begins a rare Chinese word; then follow one character for the owner and four others, all three bytes long."""
_FIRST = 0x9F00
_PAIRS = 5
"""Of a vowel and a consonant in a word's core: no id and no hash looks so by chance."""
_CORE = rf"zq[{OWNERS}](?:[aeiou][bcdfgklmnprtvz]){{{_PAIRS}}}"
_TEXT = re.compile(rf"{_CORE}|{_MARK}[\u9f00-\u9f3f]{{5}}", re.IGNORECASE)
_BYTES = re.compile(rb"(?i:" + _CORE.encode() + rb")|\xe9\xbe\x98(?:\xe9\xbc[\x80-\xbf]){5}")

_LINES = (
    "I live in {0} with my sister {1}.",
    "I live in {0}. I like {1}.",
    "I moved to {0} in May and met {1}.",
    "I don't live in Lyon any more, I'm in {0}! {1} told me.",
    "I like {0}. I like figs. I like jazz. The {1} is mine.",
    "My sister {0} is a nurse. She likes {1}.",
    "We saw a purple {0} on the lake. The {1} came back.",
    "Call me {0}. I work as a nurse in {1}.",
    "Can you help me with the {0}? It is about {1}.",
    "Can you help me with the {0} and the {1}?",
    "Can you help me with the {0}?",
    "The train to {0} was late again because of {1}.",
    "On my list are {0}, {1}, {2}, {3}, {4} and {5}.",
    "For dinner we had {0}, {1} and {2} with {3}, then {4} and {5}.",
    "Can you help me with the {0}, the {1}, the {2} and the {3}?",
    "J'habite à {0} avec ma sœur {1}, et j'adore le café.",
    "Peux-tu m'aider avec le {0} ? Il s'agit de {1}.",
    "Je travaille à {0} depuis l'année dernière. {1} est déjà là.",
)
_CHINESE = (
    "我住在北京。{0}很好，还有{1}。",
    "我喜欢{0}。我的朋友{1}也来了。",
    "你能帮我看一下{0}吗？{1}在哪里？",
    "我叫{0}。昨天我们去了{1}。",
)
_REPLIES = ("I see. {0}, then.", "Nice, {0}!", "Tell me more about {0}.", "{0} is a good choice.", "好的，{0}。")


def rare(seed: str, owner: int, number: int, *, chinese: bool = False) -> str:
    """The word of a number: the same for the same seed, and no other's."""
    random = Random(f"{seed}/{owner}/{number}/{chinese}")
    if chinese:
        return _MARK + chr(_FIRST + owner) + "".join(chr(_FIRST + random.randrange(64)) for _ in range(4))
    letters = "".join(random.choice(_VOWELS) + random.choice(_CONSONANTS) for _ in range(_PAIRS))
    return f"Zq{OWNERS[owner]}{letters}x"


def line(random: Random, words: Iterable[str], chinese: Iterable[str], *, long: bool = False) -> str:
    """A text of one message; a long one has a few thousand characters."""
    western, eastern = iter(words), iter(chinese)
    lines = []
    for _ in range(random.randint(20, 60) if long else random.randint(1, 4)):
        source, chosen = (eastern, _CHINESE) if random.random() < 0.15 else (western, _LINES)
        form = random.choice(chosen)
        lines.append(form.format(*(next(source) for _ in range(form.count("{")))))
    return " ".join(lines)


def reply(random: Random, word: str) -> str:
    """What the assistant says."""
    return random.choice(_REPLIES).format(word)


def found_in(text: str) -> set[str]:
    """The cores of all rare words in a text, in small letters, whatever became of the word's ending."""
    return {found.lower() for found in _TEXT.findall(text)}


def found_in_bytes(data: bytes) -> set[str]:
    """The same in the bytes of a file, wherever they stand."""
    return {found.decode().lower() for found in _BYTES.findall(data)}


def bytes_of(file: Path) -> bytes:
    """What a file of the store holds; nothing if it went away after it was listed, as the caches of a server do."""
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return b""


def owner_of(core: str) -> int:
    """Whose word it is."""
    return ord(core[1]) - _FIRST if core[0] == _MARK else OWNERS.index(core[2])
