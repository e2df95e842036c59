"""A chat through the proxy goes before background questions to the same server."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from proxying import ask, proxied, streamed, user

from embermem import Memory
from embermem.testing.answers import answer
from embermem.testing.model_server import ModelServer
from unwell import SETTINGS, talk


def replies(request: Any) -> Any:
    """Good answers to Ember's questions, and a friendly word to others."""
    return answer(request) if "response_format" in request else "Hello there."


@pytest.mark.parametrize("stream", [pytest.param(False, marks=pytest.mark.proof, id="whole"), True])
def test_a_question_of_the_background_gives_way_to_a_chat_through_the_proxy(tmp_path: Path, stream: bool) -> None:
    with ModelServer(replies) as model:
        settings = {**SETTINGS, "model_timeout_s": 20.0, "model_url": model.url, "proxy_url": model.url}
        with Memory(tmp_path / "memory.db", **settings) as memory, proxied(memory, model) as proxy:
            talk(memory.of("alice"))
            model.fail_next("hang")
            background = threading.Thread(target=memory.of("alice").settle)
            background.start()
            model.wait_for_calls(1)
            words = [user("Hello!")]
            client = proxy.client()
            said = "".join(streamed(client, words)) if stream else ask(client, words)
            background.join(30.0)
            assert not background.is_alive()
            assert said == "Hello there."
            assert "gave way" in [call.outcome for call in memory.calls(datetime(2020, 1, 1, tzinfo=UTC))]
