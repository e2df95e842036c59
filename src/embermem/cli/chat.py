"""`embermem chat`: a talk in the terminal, one line a message. A line that begins with `/` looks at the memory.

Replies and what is looked at go to stdout; the prompt is shown on a terminal only, so that a pipe works as well.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from embermem.chat import ChatStream
from embermem.core.errors import EmberError
from embermem.core.types import Context, Fact
from embermem.reports import cost, render, show

if TYPE_CHECKING:
    from embermem.memory import Memory, OwnerMemory

PROMPT = "> "
PAGES_SHOWN = 10


@dataclass(slots=True)
class Talk:
    """One talk: with whom, how, and the context of the last reply."""

    memory: Memory
    owner: OwnerMemory
    thread: str = "main"
    system: str | None = None
    style: str | None = None
    budget: int | None = None
    context: Context | None = None


def run(talk: Talk) -> int:
    """Reads lines until /quit, the end of the input, or Ctrl-C at the prompt. How many messages got no whole reply."""
    on_terminal = sys.stdin.isatty()
    if on_terminal:
        _remember_lines()
        render.note(f"{talk.owner.owner.user}, talking with {talk.memory.settings.model}; /help, or Ctrl-D to end")
    unanswered = 0
    while (line := _line(on_terminal)) is not None:
        if line.startswith("/") and not line.startswith("//"):
            if not _look(talk, line):
                break
        elif line:
            unanswered += not _say(talk, line.removeprefix("/"))
    return unanswered


def _line(on_terminal: bool) -> str | None:
    """The next line, without white space around it; None at the end."""
    try:
        return input(PROMPT if on_terminal else "").strip()
    except UnicodeDecodeError:
        render.error("the line is not UTF-8; it was left out")
        return ""
    except EOFError:
        return None
    except KeyboardInterrupt:
        render.note("")
        return None


def _remember_lines() -> None:
    """Line editing and a history of this talk, where the machine has them."""
    try:
        import readline
    except ImportError:
        return
    readline.set_auto_history(True)


# ----------------------------------------------------------------------------------------------------- talking


def _say(talk: Talk, text: str) -> bool:
    """Says it, and shows the reply as it comes. Whether it came whole."""
    stream: ChatStream | None = None
    try:
        stream = talk.owner.chat(
            text, thread=talk.thread, system=talk.system, style=talk.style, budget=talk.budget, stream=True
        )
        talk.context = stream.context
        for piece in stream:
            _write(piece)
        _write("\n")
        return True
    except KeyboardInterrupt:
        if stream is None:
            render.note("stopped")
        else:
            _write("\n")
            stream.close()
            render.note("stopped; your message is kept, this reply is not", style="yellow")
    except EmberError as error:
        if stream is not None:
            _write("\n")
        render.error(str(error))
    return False


def _write(piece: str) -> None:
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    sys.stdout.write(render.plain(piece).encode(encoding, "replace").decode(encoding))
    sys.stdout.flush()


# ----------------------------------------------------------------------------------------- looking at the memory


def _look(talk: Talk, line: str) -> bool:
    """Does a slash command. Whether the talk goes on."""
    name, _, rest = line.partition(" ")
    if name == "/quit":
        return False
    command = COMMANDS.get(name)
    if command is None:
        render.error(f"there is no {name}; /help lists what there is, and // begins a message with a stroke")
        return True
    try:
        command.do(talk, rest.strip())
        sys.stdout.flush()
    except EmberError as error:
        render.error(str(error))
    except KeyboardInterrupt:
        render.note("stopped")
    return True


def _recall(talk: Talk, query: str) -> None:
    found = talk.owner.recall(query, budget=talk.budget, thread=talk.thread)
    render.print_text(found.text or "nothing yet")


def _facts(talk: Talk, _: str) -> None:
    for title, about in (("facts of the user", "user"), ("facts of the agent", "agent")):
        rows = [(render.cut(fact.text), fact.attribute, _sources(fact)) for fact in talk.owner.facts(about)]
        render.table(title, ("fact", "attribute", "from"), rows)


def _profile(talk: Talk, _: str) -> None:
    for title, lines in (("you", talk.owner.profile()), ("the agent", talk.owner.agent_profile())):
        render.records(title, [(line.name, render.cut(line.value)) for line in lines] or [("", "nothing yet")])


def _segments(talk: Talk, _: str) -> None:
    show.segments(talk.owner, None, as_json=False)


def _pages(talk: Talk, _: str) -> None:
    show.pages(talk.owner, None, PAGES_SHOWN, as_json=False)


def _why(talk: Talk, _: str) -> None:
    context = talk.context
    if context is None:
        render.print_text("nothing was asked yet")
        return
    show.hits("what the last reply was given", context.packed)
    facts = [(render.cut(fact.text), _sources(fact)) for fact in context.facts]
    render.table("facts", ("fact", "from"), facts)
    named = [("query", render.cut(context.query)), (f"{context.counter} tokens", context.tokens)]
    render.records("context", [*named, ("confidence", context.confidence), *(("note", n) for n in context.notes)])


def _cost(talk: Talk, _: str) -> None:
    now = datetime.now(UTC)
    cost.show(talk.memory, talk.owner.owner.id, cost.midnight_of(now), cost.By.PURPOSE, now, as_json=False)


def _thread(talk: Talk, name: str) -> None:
    if name:
        talk.thread = name
    render.print_text(f"thread {talk.thread}")


def _help(talk: Talk, _: str) -> None:
    render.records("", [(f"{name} {one.takes}".rstrip(), one.says) for name, one in COMMANDS.items()])
    render.records("", [("/quit", "ends; so do Ctrl-D, and Ctrl-C at the prompt")])


def _sources(fact: Fact) -> str:
    return ", ".join(f"#{source.seq}" for source in fact.sources)


@dataclass(frozen=True, kw_only=True, slots=True)
class Command:
    """A slash command: what it takes, what it does."""

    do: Callable[[Talk, str], None]
    says: str
    takes: str = ""


COMMANDS: Mapping[str, Command] = {
    "/recall": Command(do=_recall, takes="QUERY", says="the context for a query, ready for a prompt"),
    "/why": Command(do=_why, says="what the last reply was given from memory, with scores"),
    "/facts": Command(do=_facts, says="what is known, and from which utterances"),
    "/profile": Command(do=_profile, says="who you are, and who the agent is"),
    "/segments": Command(do=_segments, says="the topics, the hottest first"),
    "/pages": Command(do=_pages, says=f"the newest {PAGES_SHOWN} exchanges"),
    "/cost": Command(do=_cost, says="what the model was asked today"),
    "/thread": Command(do=_thread, takes="[NAME]", says="shows or changes the conversation"),
    "/help": Command(do=_help, says="this list"),
}
