"""What Windows and macOS lack is needed nowhere: the package is imported, and a memory lives, without it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

UNIX = """
import importlib.abc, os, signal, socket, sys

ABSENT = {"fcntl", "grp", "pwd", "posix_ipc", "readline", "resource", "termios", "tty", "pty", "crypt", "syslog"}
CALLS = ("fork", "forkpty", "getuid", "geteuid", "getgid", "getpgid", "setsid", "killpg", "pread", "pwrite", "statvfs",
         "sched_getaffinity", "sync", "sysconf", "uname", "getloadavg", "chown", "mkfifo", "register_at_fork")
SIGNALS = ("SIGKILL", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGCHLD", "SIGALRM", "SIGPIPE", "SIGQUIT")

# The standard library chose its own parts for this system; they stay as they are.
import asyncio, ctypes, getpass, hashlib, http.server, importlib.metadata, logging.handlers, multiprocessing.connection
import platform, random, selectors, shutil, ssl, subprocess, tempfile, urllib.request, uuid, webbrowser
import numpy, sqlalchemy.dialects.sqlite, typer, rich.console, msgspec, onnxruntime
try:
    import fastapi, httpx2, jinja2, mcp.server.fastmcp, prometheus_client, psycopg, uvicorn, openai
except ImportError:
    pass

class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name in ABSENT:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

for name in ABSENT:
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Absent())
for where, names in ((os, CALLS), (signal, SIGNALS), (socket, ("AF_UNIX",))):
    for name in names:
        if hasattr(where, name):
            delattr(where, name)
"""

IMPORTS = """
import importlib, pkgutil
import embermem

count = 0
for module in pkgutil.walk_packages(embermem.__path__, "embermem."):
    if not module.name.endswith("__main__"):
        try:
            importlib.import_module(module.name)
            count += 1
        except (ModuleNotFoundError, embermem.errors.ConfigError) as error:  # a framework that is not installed here
            assert ".integrations." in module.name and "fcntl" not in str(error), (module.name, error)
print(count)
"""

LIFE = """
from embermem import Memory

with Memory("memory.db", embedder="hashed", background=False) as memory:
    alice = memory.of("alice")
    page = alice.add("I live in Lyon. I am allergic to walnuts.", "Noted.")
    alice.settle()
    assert "walnuts" in alice.recall("What must I not eat?").text
    receipt = alice.forget(page=page)
    assert alice.verify(receipt).ok, alice.verify(receipt)
    assert memory.scrub()
print("lived")
"""


def ended(script: str, folder: Path) -> str:
    """What a program printed that ran without all that is of Unix."""
    file = folder / "program.py"
    file.write_text(UNIX + script, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(file)],
        cwd=folder,
        env={**os.environ, "HOME": str(folder), "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.proof
def test_every_module_is_imported_and_a_memory_lives_without_what_only_unix_has(tmp_path: Path) -> None:
    count, lived = ended(IMPORTS + LIFE, tmp_path).split()
    assert int(count) > 300
    assert lived == "lived"
