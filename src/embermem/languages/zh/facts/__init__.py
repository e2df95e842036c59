"""Facts from first-person and possessive statements, by rules. A wrong fact is worse than none."""

from embermem.languages.zh.facts.sentences import statements

__all__ = ["statements"]
