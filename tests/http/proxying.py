"""An OpenAI client, the proxy and a scripted model, all on loopback."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import anthropic
import httpx2
import ollama
import openai
from protocols_server import ProtocolsServer
from serving import NO_TLS, running

from embermem import Memory, OwnerMemory
from embermem.testing.model_server import ModelServer
from scripted import Opener

Turns = list[dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Proxied:
    """A running proxy, and the model behind it."""

    url: str
    memory: Memory
    model: ModelServer

    def client(self, key: str = "none", **headers: str) -> openai.OpenAI:
        """A client that tries once; `x_ember_user="alice"` is the header X-Ember-User."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return openai.OpenAI(
            base_url=f"{self.url}/v1",
            api_key=key,
            max_retries=0,
            timeout=20.0,
            default_headers=named,
            http_client=openai.DefaultHttpxClient(trust_env=False, verify=NO_TLS),
        )

    def owner(self, user: str = "alice") -> OwnerMemory:
        """Whose memory it is."""
        return self.memory.of(user)

    def shown(self, number: int = -1) -> Turns:
        """The messages that the model was sent."""
        messages: Turns = self.model.requests[number]["messages"]
        return messages


@contextmanager
def proxied(memory: Memory, model: ModelServer, require_keys: bool = False) -> Iterator[Proxied]:
    """Serves a memory whose setting `proxy_url` is the model's address."""
    with running(memory, require_keys=require_keys) as url:
        yield Proxied(url=url, memory=memory, model=model)


def texts(owner: OwnerMemory) -> list[list[str]]:
    """What each page holds."""
    return [[utterance.text for utterance in page.utterances] for page in owner.pages()]


def threads(owner: OwnerMemory) -> dict[str, list[str]]:
    """What each thread holds, in order of arrival."""
    found: dict[str, list[str]] = {}
    for utterance in owner.utterances():
        found.setdefault(utterance.thread, []).append(utterance.text)
    return found


def user(text: Any) -> dict[str, Any]:
    """A message of the user."""
    return {"role": "user", "content": text}


def assistant(text: str | None, **more: Any) -> dict[str, Any]:
    """A message of the model."""
    return {"role": "assistant", "content": text, **more}


def ask(client: openai.OpenAI, messages: Any, **more: Any) -> str:
    """The model's answer."""
    given: dict[str, Any] = {"model": "scripted", "user": "alice", **more}
    return client.chat.completions.create(messages=messages, **given).choices[0].message.content or ""


def streamed(client: openai.OpenAI, messages: Any, **more: Any) -> Generator[str]:
    """The pieces of the model's answer."""
    given: dict[str, Any] = {"model": "scripted", "user": "alice", **more}
    with client.chat.completions.create(messages=messages, stream=True, **given) as stream:
        for chunk in stream:
            if chunk.choices and (piece := chunk.choices[0].delta.content):
                yield piece


@dataclass(frozen=True, kw_only=True)
class Spoken:
    """A running proxy, and behind it a model that speaks every protocol."""

    url: str
    memory: Memory
    model: ProtocolsServer

    @property
    def openai(self) -> openai.OpenAI:
        """OpenAI's client."""
        http = openai.DefaultHttpxClient(trust_env=False, verify=NO_TLS)
        return openai.OpenAI(
            base_url=f"{self.url}/v1", api_key="sk-mine", max_retries=0, timeout=20.0, http_client=http
        )

    def anthropic(self, **headers: str) -> anthropic.Anthropic:
        """Anthropic's client; `x_ember_user="alice"` is the header X-Ember-User."""
        return anthropic.Anthropic(
            base_url=self.url,
            api_key="sk-ant-mine",
            max_retries=0,
            timeout=20.0,
            default_headers={name.replace("_", "-"): value for name, value in headers.items()},
            http_client=anthropic.DefaultHttpxClient(trust_env=False, verify=NO_TLS),
        )

    @property
    def ollama(self) -> ollama.Client:
        """Ollama's client, for alice."""
        return ollama.Client(self.url, headers={"X-Ember-User": "alice"}, trust_env=False, verify=NO_TLS)

    @property
    def http(self) -> httpx2.Client:
        """A plain client, for alice."""
        return httpx2.Client(base_url=self.url, trust_env=False, headers={"X-Ember-User": "alice"}, timeout=20.0)

    @property
    def alice(self) -> OwnerMemory:
        """Whose memory it is."""
        return self.memory.of("alice")


@contextmanager
def spoken(opened: Opener, require_keys: bool = False, **settings: Any) -> Iterator[Spoken]:
    """A proxy whose three upstreams are one scripted server."""
    with ProtocolsServer() as model:
        urls = {
            "proxy_url": f"{model.root}/v1",
            "proxy_anthropic_url": model.root,
            "proxy_ollama_url": model.root,
        }
        memory = opened(**{**urls, **settings})
        with running(memory, require_keys=require_keys) as url:
            yield Spoken(url=url, memory=memory, model=model)
