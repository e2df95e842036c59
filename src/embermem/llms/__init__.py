"""Language models: adapters on one protocol (`protocols.LanguageModel`), and the asker that puts questions to them."""

from __future__ import annotations

import os

from embermem.core.config import Settings
from embermem.llms.asking import ModelAsker
from embermem.llms.openai_chat import OpenAIChat
from embermem.llms.pydantic_ai import PREFIXES, PydanticAIChat
from embermem.llms.recorded import RecordedModel
from embermem.protocols import LanguageModel

__all__ = ["ModelAsker", "OpenAIChat", "PydanticAIChat", "RecordedModel", "make_model"]

OPENAI_URL = "https://api.openai.com/v1"


def make_model(settings: Settings) -> LanguageModel | None:
    """The model that the settings name; None if they name none, whatever keys the environment holds. Asks nobody.

    The address is `model_url`, else OPENAI_BASE_URL, else OpenAI's; the key is `model_key`, else OPENAI_API_KEY.
    `anthropic:NAME` and `google:NAME` have their own addresses, and keys from `model_key`, else ANTHROPIC_API_KEY or
    GOOGLE_API_KEY. Raises ConfigError; ModelMissing if a package is not installed.
    """
    if not settings.model:
        return None
    model: LanguageModel
    if settings.model.startswith(PREFIXES):
        model = PydanticAIChat(
            settings.model,
            api_key=settings.model_key or None,
            base_url=settings.model_url or None,
            timeout_s=settings.model_timeout_s,
        )
    else:
        model = OpenAIChat(
            model=settings.model,
            base_url=settings.model_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_URL,
            api_key=settings.model_key or os.environ.get("OPENAI_API_KEY"),
            timeout_s=settings.model_timeout_s,
        )
    return RecordedModel(model, settings.model_cache) if settings.model_cache else model
