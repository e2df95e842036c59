"""The languages that Ember understands without a model: one folder each, found by its `LANGUAGE`.

Nothing outside this room knows a language. What depends on one is asked of the `Language` (`of`, `by_signs`, `named`),
of the words of a text (`embermem.languages.words`), of its dates (`embermem.languages.dates.engine`), or of a pattern
that holds the words of all languages (`either`, `alternatives`), because one text may be written in several.
"""

from embermem.languages.language import Language as Language
from embermem.languages.registry import *  # noqa: F403
