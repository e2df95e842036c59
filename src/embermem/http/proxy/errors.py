"""A failure of ours in the form that the clients of each protocol read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from embermem.http.problems import Problem
from embermem.http.proxy.upstream import Server

__all__ = ["FORMS", "Form", "as_anthropic", "as_openai"]

Form = Callable[[Problem], dict[str, Any]]

_ANTHROPIC: Mapping[int, str] = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
}


def as_openai(problem: Problem) -> dict[str, Any]:
    """`{"error": {"message", "type", "param", "code"}}`."""
    kind = "server_error" if problem.status >= 500 else "invalid_request_error"
    return {"error": {"message": problem.detail, "type": kind, "param": None, "code": problem.kind.replace("-", "_")}}


def as_anthropic(problem: Problem) -> dict[str, Any]:
    """`{"type": "error", "error": {"type", "message"}}`."""
    kind = "api_error" if problem.status >= 500 else "invalid_request_error"
    return {"type": "error", "error": {"type": _ANTHROPIC.get(problem.status, kind), "message": problem.detail}}


def as_ollama(problem: Problem) -> dict[str, Any]:
    """`{"error": "…"}`."""
    return {"error": problem.detail}


FORMS: Mapping[Server, Form] = {
    Server.OPENAI: as_openai,
    Server.ANTHROPIC: as_anthropic,
    Server.OLLAMA: as_ollama,
}
