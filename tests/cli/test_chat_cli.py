"""`embermem chat`, on a pipe and on a terminal."""

from __future__ import annotations

import contextlib
import os
import pty
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from running import command, environment, heeds_ctrl_c, run, said

from embermem.testing.model_server import ModelServer


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A model that says hello."""
    with ModelServer() as one:
        yield one


def model(server: ModelServer) -> dict[str, str]:
    """The settings that name it."""
    return {"EMBERMEM_MODEL": "scripted", "EMBERMEM_MODEL_URL": server.url, "EMBERMEM_MODEL_RETRIES": "0"}


def talk(store: Path, server: ModelServer, *lines: str, code: int = 0) -> tuple[str, str]:
    """A talk of these lines; what it wrote to stdout and stderr."""
    done = run(store, "chat", stdin="".join(f"{line}\n" for line in lines).encode(), more=model(server))
    assert done.code == code, done.err
    return done.out, done.err


def started(store: Path, server: ModelServer, stdin: int, stdout: int, stderr: int) -> subprocess.Popen[bytes]:
    env = {**environment(store, model(server)), "TERM": "dumb"}
    return subprocess.Popen(
        command("chat"), stdin=stdin, stdout=stdout, stderr=stderr, env=env, preexec_fn=heeds_ctrl_c
    )


def test_a_pipe_says_one_message_a_line(tmp_path: Path, server: ModelServer) -> None:
    server.reply_with(lambda request: f"You said: {request['messages'][-1]['content'].splitlines()[-1]}")
    spoken = talk(tmp_path / "m.db", server, "I live in Lyon.", "", "你好。")
    assert spoken == ("You said: I live in Lyon.\nYou said: 你好。\n", "")
    assert said(tmp_path / "m.db") == ["I live in Lyon.", "You said: I live in Lyon.", "你好。", "You said: 你好。"]


@pytest.mark.proof
def test_a_pipe_says_one_message_a_line_in_a_process_of_its_own(tmp_path: Path, server: ModelServer) -> None:
    server.reply_with(lambda request: f"You said: {request['messages'][-1]['content'].splitlines()[-1]}")
    one = started(tmp_path / "m.db", server, subprocess.PIPE, subprocess.PIPE, subprocess.PIPE)
    out, err = one.communicate("I live in Lyon.\n\n你好。\n".encode(), timeout=60)
    assert (one.returncode, out.decode(), err.decode()) == (0, "You said: I live in Lyon.\nYou said: 你好。\n", "")
    assert said(tmp_path / "m.db") == ["I live in Lyon.", "You said: I live in Lyon.", "你好。", "You said: 你好。"]


def test_without_a_model_it_says_what_to_do_and_makes_no_store(tmp_path: Path) -> None:
    done = run(tmp_path / "m.db", "chat", stdin=b"Hello.\n")
    assert (done.code, done.out) == (1, "")
    assert "EMBERMEM_MODEL" in done.err
    assert not (tmp_path / "m.db").exists()


@pytest.mark.parametrize(
    "kind", ["http_500", *(pytest.param(one, marks=pytest.mark.proof) for one in ("disconnect", "empty"))]
)
def test_a_model_that_fails_is_one_line_and_the_talk_goes_on(tmp_path: Path, server: ModelServer, kind: str) -> None:
    server.fail_next(kind)
    out, err = talk(tmp_path / "m.db", server, "One?", "Two?", code=1)
    assert "Hello." in out
    assert [line.startswith("error: ") for line in err.splitlines()] == [True]
    assert said(tmp_path / "m.db") == ["One?", "Two?", "Hello."]


def test_slash_commands_show_the_memory_and_store_nothing(tmp_path: Path, server: ModelServer) -> None:
    lines = ["I live in Lyon.", "/why", "/recall where do I live", "/facts", "/profile", "/segments", "/pages", "/cost"]
    out, _ = talk(tmp_path / "m.db", server, *lines, "/thread", "/thread work", "/help", "/nothing", "/quit", "Unsaid.")
    for expected in ("what the last reply was given", "#1 default: I live in Lyon.", "facts of the user", "segments"):
        assert expected in out
    for expected in ("1  ", "chat", "ok 1", "no limit", "thread main", "thread work", "/recall QUERY"):
        assert expected in out
    assert said(tmp_path / "m.db") == ["I live in Lyon.", "Hello."]
    assert server.calls == 1


def test_a_thread_is_changed_and_two_strokes_begin_a_message_with_one(tmp_path: Path, server: ModelServer) -> None:
    talk(tmp_path / "m.db", server, "One.", "/thread work", "//etc/hosts")
    pages = run(tmp_path / "m.db", "show", "short", "--json").json
    assert [(page["thread"], page["query"]) for page in pages] == [("main", "One."), ("work", "/etc/hosts")]


def test_a_slash_command_that_is_not_there_is_an_error_and_no_message(tmp_path: Path, server: ModelServer) -> None:
    _, err = talk(tmp_path / "m.db", server, "/nothing here")
    assert "there is no /nothing" in err
    assert server.calls == 0


def test_a_reply_cannot_style_the_terminal(tmp_path: Path, server: ModelServer) -> None:
    server.reply_with("a \x1b[31mred\x9b0m [bold]word[/bold]")
    out, _ = talk(tmp_path / "m.db", server, "Hello.")
    assert not set("\x1b\x9b") & set(out)
    assert "[bold]word[/bold]" in out


def test_ctrl_c_stops_a_reply_keeps_the_message_and_the_talk_goes_on(tmp_path: Path, server: ModelServer) -> None:
    server.fail_next("hang")
    one = started(tmp_path / "m.db", server, subprocess.PIPE, subprocess.PIPE, subprocess.PIPE)
    assert one.stdin is not None
    one.stdin.write(b"Tell me everything.\n")
    one.stdin.flush()
    server.wait_for_calls(1, 60)
    one.send_signal(signal.SIGINT)
    out, err = one.communicate(b"Or a little.\n", timeout=60)
    assert (one.returncode, out.decode().split()) == (1, ["Hello."])
    assert "your message is kept" in err.decode()
    assert said(tmp_path / "m.db") == ["Tell me everything.", "Or a little.", "Hello."]


@pytest.mark.parametrize(
    "ending", ["ctrl-c", *(pytest.param(one, marks=pytest.mark.proof) for one in ("ctrl-d", "quit"))]
)
def test_on_a_terminal_it_prompts_and_ends_quietly(tmp_path: Path, server: ModelServer, ending: str) -> None:
    ours, theirs = pty.openpty()
    one = started(tmp_path / "m.db", server, theirs, theirs, theirs)
    try:
        shown = _until(ours, "> ")
        assert "talking with scripted" in shown
        os.write(ours, b"Good day.\r")
        assert "Hello." in _until(ours, "> ", after="Hello.")
        match ending:
            case "ctrl-c":
                _interrupted(one)
            case "ctrl-d":
                os.write(ours, b"\x04")
            case _:
                os.write(ours, b"/quit\r")
        assert one.wait(60) == 0
    finally:
        one.kill()
        one.wait()
        os.close(ours)
        os.close(theirs)
    assert said(tmp_path / "m.db") == ["Good day.", "Hello."]


def _interrupted(one: subprocess.Popen[bytes]) -> None:
    """Presses Ctrl-C until it is heard: between showing the prompt and waiting for a key, Python's readline is deaf."""
    while one.poll() is None:
        one.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            one.wait(5)


def _until(terminal: int, end: str, after: str = "") -> str:
    """What the terminal shows until its last line is the prompt, once `after` was shown."""
    shown = ""
    while not (after in shown and shown.endswith(end)):
        shown += os.read(terminal, 4096).decode()
    return shown
