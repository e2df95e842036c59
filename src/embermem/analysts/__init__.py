"""Whatever reads pages and says what they mean."""

from embermem.analysts.extractive import ExtractiveAnalyst
from embermem.analysts.keywords import keywords
from embermem.analysts.settings import ExtractiveSettings
from embermem.analysts.summary import condense

__all__ = ["ExtractiveAnalyst", "ExtractiveSettings", "condense", "keywords"]
