"""What an assistant says of itself: its name, and its role towards the user. Nothing else."""

from __future__ import annotations

from typing import Final

from embermem.core.patterns import regex

AGENT_RULES: Final = (
    ("name", regex(r"我(?:的名字)?叫(?P<v>[一-鿿]{2,4}|[A-Z][A-Za-z]{1,15})(?=[，。！,.!]|$)")),
    (
        "role",
        regex(r"我是(?P<v>(?:你|您)的[一-鿿]{0,8}(?:老师|教练|助手|伙伴|助理|顾问))(?=[，。！,.!]|$)"),
    ),
)
