"""The languages that Ember understands without a model: one folder each, found by its `LANGUAGE`.

No code outside this package depends on a language. It uses a `Language` (`of`, `by_signs`, `named`), the words of a
text (`embermem.languages.words`), its dates (`embermem.languages.dates.engine`), or a pattern with the words of all
languages (`either`, `alternatives`), because a text may contain several languages.
"""

from embermem.languages.language import Language
from embermem.languages.registry import (
    all,
    alternatives,
    by_signs,
    default,
    either,
    gender,
    merged,
    named,
    of,
    readable,
    secret_words,
    spelled,
)

__all__ = [
    "Language",
    "all",
    "alternatives",
    "by_signs",
    "default",
    "either",
    "gender",
    "merged",
    "named",
    "of",
    "readable",
    "secret_words",
    "spelled",
]
