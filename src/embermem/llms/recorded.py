"""Keeps whole requests and replies in a file outside any store, so that a bench or a test can be run again alike.

One line of JSON for each reply: `key`, `model`, `request`, `reply`. The key is a hash of the model's name and the
request. Lines are only ever added. The file holds all that was said in clear, and forgetting does not reach it: it is
made readable for its owner alone, and is meant for benches and tests, never for a service.
"""

from __future__ import annotations

import hashlib
import logging
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec

from embermem.core.errors import ConfigError, ModelMissing
from embermem.protocols import LanguageModel, ModelReply, ModelRequest

__all__ = ["RecordedModel"]

logger = logging.getLogger(__name__)


class _Recording(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the file."""

    key: str
    model: str
    request: ModelRequest
    reply: ModelReply


class RecordedModel:
    """A LanguageModel that answers what the file holds, and asks `inner` for the rest, which it then adds to the file.

    Safe to use from several threads, and several processes may add to one file; each sees of the others what was there
    when it opened it. Failures are not kept.
    """

    def __init__(self, inner: LanguageModel | None, file: str | Path, *, name: str | None = None) -> None:
        """`inner` None: only what was recorded is answered. `name` is then the model's name; by default the one in the
        file. Raises ConfigError if the file cannot be read or written, ModelMissing if it does not tell the name.
        """
        self._inner = inner
        self._file = Path(file)
        self._lock = threading.Lock()
        recordings = self._load()
        self._replies = {one.key: one.reply for one in recordings}
        self._name = inner.name if inner is not None else name or _only_name(recordings, self._file)

    @property
    def name(self) -> str:
        """The name of the model that is, or was, asked."""
        return self._name

    def complete(self, request: ModelRequest) -> ModelReply:
        """The reply kept, else a new one. Raises ModelMissing if there is none and nobody to ask; else as `inner`."""
        key = self._key(request)
        reply = self._replies.get(key)
        if reply is None:
            reply = self._model_asked().complete(request)
            self._keep(key, request, reply)
        return reply

    def stream(self, request: ModelRequest) -> Iterator[str | ModelReply]:
        """The reply kept, in one piece; else a new one as it comes, kept when it is whole. Raises as `complete`."""
        key = self._key(request)
        reply = self._replies.get(key)
        if reply is not None:
            yield reply.text
            yield reply
            return
        for piece in self._model_asked().stream(request):
            if isinstance(piece, ModelReply):
                self._keep(key, request, piece)
            yield piece

    def _key(self, request: ModelRequest) -> str:
        content = msgspec.json.encode([self._name, request], order="sorted")
        return hashlib.blake2b(content, digest_size=16, person=b"embermem.model").hexdigest()

    def _model_asked(self) -> LanguageModel:
        if self._inner is None:
            raise ModelMissing(
                f"{self._file} contains no reply of {self._name} to this request, and no requests are allowed"
            )
        return self._inner

    def _load(self) -> list[_Recording]:
        """What the file holds; an unfinished last line is passed over."""
        try:
            if self._inner is not None:
                os.close(os.open(self._file, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600))
            lines = self._file.read_bytes().splitlines(keepends=True)
        except OSError as error:
            raise ConfigError(f"model_cache: cannot use the file {self._file}: {error.strerror}") from error
        recordings = []
        for number, line in enumerate(lines, 1):
            try:
                recordings.append(msgspec.json.decode(line, type=_Recording))
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                if line.strip() and not _unfinished(line):
                    raise ConfigError(f"model_cache: {self._file}, line {number}, is no recording") from error
        return recordings

    def _keep(self, key: str, request: ModelRequest, reply: ModelReply) -> None:
        """Add a line, in one write. A file that takes no more does not cost the answer: that is logged."""
        recording = _Recording(key=key, model=self._name, request=request, reply=reply)
        # The line break comes first too: whatever broke off before stays a line of its own.
        line = b"\n" + msgspec.json.encode(recording) + b"\n"
        with self._lock:
            self._replies[key] = reply
            try:
                with self._file.open("ab", buffering=0) as file:
                    file.write(line)
            except OSError as error:
                logger.warning("model_cache: cannot write to %s (%s)", self._file, error.strerror)


def _unfinished(line: bytes) -> bool:
    """Whether a line is the beginning of one of ours, whose writer died."""
    return line.startswith(b'{"key":') and not line.rstrip().endswith(b"}}")


def _only_name(recordings: list[_Recording], file: Path) -> str:
    names = {one.model for one in recordings}
    if len(names) != 1:
        raise ModelMissing(f"{file} holds recordings of {len(names)} models; name the one to answer for")
    return names.pop()
