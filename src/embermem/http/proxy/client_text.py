"""What nobody said of what stands in messages: a client's own prompts, and the context that coding agents add to the
user's words. Pure functions over messages in the form of chat completions.

All of it is recognised by marks that clients write; text within code is never one. What is not recognised counts as
said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from embermem.core.elements import elements, without
from embermem.http.proxy.replies import Message

__all__ = ["asks", "is_client_request", "said", "spoken", "words"]

_CONTEXT = (
    "system-reminder user-prompt-submit-hook command-name command-message command-args local-command-stdout "
    "local-command-stderr local-command-caveat bash-stdout bash-stderr task-notification ide_opened_file "
    "ide_selection ide_diagnostics environment_details explicit_instructions file_content folder_content "
    "environment_context user_instructions INSTRUCTIONS turn_aborted additional_data attached_files "
    "open_and_recently_viewed_files editorContext reminderInstructions"
).split()
"""Elements that Claude Code, Cline, Roo Code, Codex, Cursor and Copilot put beside what the user says."""
_WORDS = ("user_query", "userRequest", "user_message")
"""Elements that hold the user's words: where there is one, nothing around it was said by the user."""
_WORDS_OF_CLINE = ("task", "feedback", "answer")
"""The same, but only beside `environment_details`, since people write these elements too."""
_RESULT = re.compile(r"\[\w+(?: for '[^\n]*')?\] Result:")
"""How a tool's result begins that an agent sends as a message of the user."""
_AGENTS_FILE = re.compile(r"^# AGENTS\.md instructions for [^\n]*\n+(?=<INSTRUCTIONS>)", re.MULTILINE)
_SUMMARY = re.compile(
    r"\s*(?:This session is being continued from a previous conversation"
    r"|Another language model started to solve this problem and produced a summary)"
)
"""How the summary begins that a client puts in the place of earlier messages."""

_TASK = re.compile(r"\s*### Task:\s")
"""How Open WebUI begins its prompts, that with retrieved documents among them."""
_TASK_SIGNS = re.compile(
    r"^(?:<chat_history>|<text>|### Chat History)"
    r"|\A\s*### Task:\s+[^\n]*\b(?:titles?|tags|follow-?up|search quer(?:y|ies)|autocompletion)\b",
    re.MULTILINE | re.IGNORECASE,
)
_MAKES = r"\b(?:generat|creat|writ|provid|suggest|extract|craft)\w*\b[^.\n]{0,80}\b(?:titles?|names?|tags|questions)\b"
_TALK = r"(?:conversation|chat|thread|discussion|session)s?\b"
_PROMPT = re.compile(
    r"\s*(?:(?:please |based on [^.\n]{0,40}, )?(?:"
    rf"{_MAKES}[^.\n]{{0,40}}\b(?:for|of|summarizing)\s(?:(?:this|the|our|above|following)\s){_TALK}"
    rf"|give (?:this|the) {_TALK} a (?:name|title)\b)"
    r"|(?:CRITICAL: [^\n]*\n+)?Your task is to create a detailed summary of (?:the|this|our) conversation"
    r"|You are performing a CONTEXT CHECKPOINT COMPACTION"
    r"|Your task is to reflect the speaker's likely facial expression"
    r"|You have been provided with a set of responses from various models to the latest user query"
    r"|\[SUGGESTION MODE:)",
    re.IGNORECASE,
)
"""How the prompts begin by which clients name, summarise and continue conversations."""
_SYSTEM = re.compile(
    rf"[^\n]{{0,200}}?(?:{_MAKES}[^.\n]{{0,40}}\b(?:for|of)\s(?:\w+\s){{0,3}}?{_TALK}|\b{_TALK} titles?\b)"
    r"|\s*Analyze if this message indicates a new conversation topic"
    r"|\s*Summarize this (?:coding )?conversation in under \d+ characters",
    re.IGNORECASE,
)
"""How the system prompts begin that have the user's words named or summarised."""

_CONTEXT_ELEMENTS, _REMINDERS = elements(_CONTEXT), elements(["system-reminder"])


def spoken(messages: Iterable[Message]) -> Iterator[Message]:
    """A history as its speakers said it, without the client's prompts and the replies to them."""
    answers_client = False
    for message in messages:
        if isinstance(message, Mapping):
            if message.get("role") == "user":
                answers_client = any(map(_is_prompt, _texts(message.get("content"))))
            if not answers_client:
                yield said(message)


def is_client_request(messages: Iterable[Message]) -> bool:
    """Whether a request is the client's own, such as one to name the conversation or to summarise it."""
    given = [one for one in messages if isinstance(one, Mapping)]
    for one in given:
        if one.get("role") in ("system", "developer") and any(map(_SYSTEM.match, _texts(one.get("content")))):
            return True
    newest = next((one for one in reversed(given) if one.get("role") == "user" and asks(one.get("content"))), None)
    return newest is not None and any(map(_is_prompt, _texts(newest.get("content"))))


def said(message: Message) -> Message:
    """A message as its speaker said it. Its content may be empty then."""
    role, content = message.get("role"), message.get("content")
    if role == "user" and _is_result(content):
        return {**message, "role": "tool", "content": _changed(content, _without_context)}
    if role == "user":
        return {**message, "content": words(content)}
    if role in ("tool", "function"):
        return {**message, "content": _changed(content, lambda text: without(text, _REMINDERS))}
    return message


def words(content: object) -> Any:
    """A content of a user's message without what a client put around the words."""
    found = _held(content)
    if not found:
        return _changed(content, _without_context)
    text = "\n".join(found)
    if not isinstance(content, list):
        return text
    return [{"type": "text", "text": text}, *(part for part in content if not _has_text(part))]


def asks(content: object) -> bool:
    """Whether a content says something of the user's: words, an image, a file; not only a tool's results."""
    if _is_result(content):
        return False
    left = words(content)
    if not isinstance(left, list):
        return bool(_texts(left))
    parts = [part for part in left if isinstance(part, Mapping) and part.get("type") != "tool_result"]
    return any(part["text"].strip() if _has_text(part) else True for part in parts)


# ------------------------------------------------------------------------------------------------------ one text


def _is_prompt(text: str) -> bool:
    if _TASK.match(text):
        before, context, rest = text.partition("\n<context>\n")
        return _TASK_SIGNS.search(before + rest.rpartition("\n</context>")[2] if context else text) is not None
    if text.rstrip().endswith("</chat_history>") and (text.startswith("<chat_history>") or "\n<chat_history>" in text):
        return True
    return _PROMPT.match(text) is not None


def _is_result(content: object) -> bool:
    """Whether a message of the user is a tool's result, and has no words of the user's."""
    texts = _texts(content)
    return bool(texts) and _RESULT.match(texts[0]) is not None and not _held(content)


def _held(content: object) -> list[str]:
    """The user's words where they stand in elements of their own."""
    texts = _texts(content)
    names = _WORDS_OF_CLINE if any("<environment_details>" in text for text in texts) else ()
    return [held for text in texts if "<" in text for held in _inner(text, (*_WORDS, *names))]


def _inner(text: str, names: Iterable[str]) -> Iterator[str]:
    """What stands in the outermost elements of these names, each of which begins a line."""
    upto = 0
    for found in re.finditer(rf"^<({'|'.join(names)})>", text, re.MULTILINE):
        end = text.find(f"</{found[1]}>", found.end()) if found.start() >= upto else -1
        if end >= 0:
            upto = end
            if held := text[found.end() : end].strip():
                yield held
        elif found.start() >= upto:
            return


def _without_context(text: str) -> str:
    if _SUMMARY.match(text):
        return ""
    if _TASK.match(text) and "\n<context>\n" in text:
        return text.rpartition("\n</context>")[2].strip()
    if "# AGENTS.md" in text:
        text = _AGENTS_FILE.sub("", text)
    return without(text, _CONTEXT_ELEMENTS)


# -------------------------------------------------------------------------------------------------------- contents


def _texts(content: object) -> list[str]:
    """The texts of a content that are not blank."""
    parts = [{"text": content}] if isinstance(content, str) else content if isinstance(content, list) else []
    return [part["text"] for part in parts if _has_text(part) and part["text"].strip()]


def _has_text(part: object) -> bool:
    return isinstance(part, Mapping) and isinstance(part.get("text"), str)


def _changed(content: object, change: Callable[[str], str]) -> object:
    """A content with its texts changed; parts of which nothing is left go."""
    if isinstance(content, str):
        return change(content)
    if not isinstance(content, list):
        return content
    parts = [{**part, "text": change(part["text"])} if _has_text(part) else part for part in content]
    return [part for part in parts if not _has_text(part) or part["text"].strip()]
