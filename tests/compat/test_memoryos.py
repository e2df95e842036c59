"""The face of the published code of MemoryOS: what a program that was written for it gives and gets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from embermem.compat.memoryos import Memoryos
from embermem.core.errors import EmberError, InputError, ModelError, ModelMissing
from embermem.testing.model_server import ModelServer
from embermem_bench.scripted.systems import answer

LIFE = ("I live in Lyon.", "I work as a nurse.", "I like figs.", "I keep a heron called Bartholomew.")


def told(memory: Memoryos) -> None:
    for no, said in enumerate(LIFE, 1):
        memory.add_memory(user_input=said, agent_response="Good.", timestamp=f"2026-05-0{no} 10:00:00")


def test_without_a_key_memory_adds_analyses_and_retrieves(tmp_path: Path) -> None:
    with Memoryos("ana", "", str(tmp_path / "data"), short_term_capacity=1, embedding_model_name="hashed") as memory:
        told(memory)
        memory.add_memory("I like plums.", "", meta_data={"desk": "a"})
        assert memory.get_memory_stats()["has_user_profile"] is False
        assert memory.get_user_profile_summary() == "None"
        memory.force_mid_term_analysis()
        assert "home: Lyon" in memory.get_user_profile_summary()
        stats = memory.get_memory_stats()
        assert (stats["user_id"], stats["short_term_count"], stats["has_user_profile"]) == ("ana", 1, True)
        assert [one["user_input"] for one in memory.short_term_memory.get_all()] == ["I like plums."]
        assert memory.owner.pages(tier="short")[0].metadata == {"desk": "a"}
        found = memory.retriever.retrieve_context("Where do I live?", "ana")
        page = {**found["retrieved_pages"][0], "page_id": ""}
        assert page == {
            "page_id": "",
            "user_input": "I live in Lyon.",
            "agent_response": "Good.",
            "timestamp": "2026-05-01 10:00:00",
        }
        assert found["retrieved_user_knowledge"][0]["knowledge"] == "ana lives in Lyon"
        assert memory.get_assistant_knowledge_summary() == found["retrieved_assistant_knowledge"] == []
        with pytest.raises(ModelMissing):
            memory.get_response("Where do I live?")
    with Memoryos("ana", "", str(tmp_path / "data"), embedding_model_name="hashed") as again:
        assert "home: Lyon" in again.get_user_profile_summary()


def test_with_a_model_it_replies_with_what_memory_holds_and_keeps_the_turn(tmp_path: Path) -> None:
    with ModelServer(answer) as server:
        arguments: dict[str, Any] = {
            "user_id": "ana",
            "openai_api_key": "secret",
            "data_storage_path": tmp_path,
            "openai_base_url": server.url,
            "assistant_id": "helper",
            "short_term_capacity": 1,
            "llm_model": "scripted",
            "embedding_model_name": "hashed",
        }
        with Memoryos(**arguments) as memory:
            told(memory)
            memory.force_mid_term_analysis()
            assert "Lyon" in memory.get_user_profile_summary()
            said = memory.get_response("Where do I live?", "sister", "short", {"app": "phone"})
            # The worker beside it may ask the model too, before and after.
            [asked] = [one for one in server.requests if one["messages"][-1]["content"].endswith("Where do I live?")]
            prompt = json.dumps(asked)
            assert all(part in prompt for part in ("helper", "sister", "short", "phone", "Lyon"))
            assert memory.short_term_memory.get_all()[-1]["agent_response"] == said
            server.fail_always("http_401")
            with pytest.raises(ModelError):
                memory.get_response("Where do I work?")


def test_an_argument_without_a_meaning_here_is_refused_and_the_published_files_are_told(tmp_path: Path) -> None:
    given: dict[str, Any] = {
        "user_id": "ana",
        "openai_api_key": "",
        "data_storage_path": str(tmp_path / "a"),
        "embedding_model_name": "hashed",
    }
    refused: tuple[tuple[dict[str, Any], str], ...] = (
        ({"embedding_model_name": "BAAI/bge-m3"}, "embedding_model_name = 'BAAI/bge-m3' is not available"),
        ({"embedding_model_kwargs": {"use_fp16": True}}, "embedding_model_kwargs .* has no meaning here"),
        ({"short_term_capacity": 0}, "short_term_pages = 0"),
        ({"mid_term_similarity_threshold": 7}, "theta = 7"),
        ({"user_id": ""}, "user"),
    )
    for wrong, why in refused:
        with pytest.raises(EmberError, match=why):
            Memoryos(**{**given, **wrong})
    without_effect: tuple[dict[str, Any], ...] = (
        {"user_id": "bob"},
        *({"user_id": "ana", name: 3} for name in ("segment_similarity_threshold", "top_k_sessions")),
        {"user_id": "ana", "top_k_knowledge": 21},
    )
    with Memoryos(**given) as memory:
        for wrong in without_effect:
            with pytest.raises(InputError, match=list(wrong)[-1]):
                memory.retriever.retrieve_context("figs", **wrong)
        with pytest.raises(InputError, match="soon"):
            memory.add_memory("I like figs.", "Good.", timestamp="soon")
    (tmp_path / "b" / "users" / "ana").mkdir(parents=True)
    with pytest.warns(UserWarning, match="is not read: bring it in with"):
        Memoryos("ana", "", str(tmp_path / "b"), embedding_model_name="hashed").close()
