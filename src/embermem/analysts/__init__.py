"""Whatever reads pages and says what they mean."""

from embermem.analysts.extractive import ExtractiveAnalyst
from embermem.analysts.keywords import keywords
from embermem.analysts.summary import condense
from embermem.core.config import ExtractiveSettings

__all__ = ["ExtractiveAnalyst", "ExtractiveSettings", "condense", "keywords"]
