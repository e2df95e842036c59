"""Facts from statements about the speaker, by rules. A wrong fact is worse than none."""

from embermem.languages.ja.facts.reader import statements

__all__ = ["statements"]
