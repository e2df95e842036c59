"""The languages that Ember understands without a model: one folder each, found by its `LANGUAGE`.

No code outside this package depends on a language, except the extractive analyst, which reads facts by the rules of
English. It uses a `Language` (`of`, `by_signs`, `named`), the words of a text (`embermem.languages.words`), its dates
(`embermem.languages.dates.engine`), or a pattern with the words of all languages (`either`, `alternatives`), because a
text may contain several languages.
"""

from embermem.languages.language import Language as Language
from embermem.languages.registry import *  # noqa: F403
