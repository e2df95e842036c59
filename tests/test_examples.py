"""The worked applications of `examples/`: each runs as a process of its own, and says what it should."""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

from embermem.testing.model_server import ModelServer
from embermem.testing.wire import Request
from forked import Child

EXAMPLES = Path(__file__).parents[1] / "examples"

SAID = {
    "support_desk": [
        "Handbook, Routers > Red light: A red light means",
        "T-1: My router shows a red light. -> I am looking into it.",
        "T-1: I unplugged it, and the light is still red. -> I will send a technician.",
        "Billing knows the name: True",
        "Billing knows the rule: True",
        "Billing reads the ticket: False",
        "Forgotten with T-1: 2 pages; left: 2",
    ],
    "tutor": [
        "Plan: level B1, exam on 2027-03-12, to practise: word order, commas, past tenses",
        "Level in September: A2",
        "Facts about health: []",
        "In the first lesson: My weak topic is word order.",
    ],
    "group_bot": [
        "People: Ana, Bob, Chen",
        "Bob: Bob is allergic to nuts",
        "To Ana, from the space team",
        "Tuesdays: True",
        "Chen said: Fine. I am on call in week 20.",
        "Bob sees Ana's question: False",
    ],
    "chat_gateway_bot": [
        "Forgotten with message 3: 1 page",
        "Forgotten with message 2: 1 page",
        "Theo: when do we meet at the quarry?",
        "  ember: We meet at the quarry on Saturday at eight.",
        "Messages of the server: 3",
        "The gate's code is known: False",
    ],
    "notes": [
        "garden.md: 1 new, 0 kept, 0 removed",
        "lease.md: 2 new, 0 kept, 0 removed",
        "[Lease of the flat, Rent]",
        "lease.md: 1 new, 1 kept, 1 removed",
        "The old rent: 0",
    ],
    "langgraph_agent": [
        "alice, monday: I am allergic to nuts. -> I do not know you yet.",
        "alice, tuesday: What shall I cook? -> Nothing with nuts, then.",
        "alice, wednesday: Please search what you know. -> Nothing with nuts, then.",
        "bo, tuesday-bo: What shall I cook? -> I do not know you yet.",
        "Quick: Bean salad",
        "Forgotten: 5 pages; recipes left: 0",
    ],
    "openai_agents": [
        "monday: I am allergic to nuts. -> I do not know you yet.",
        "tuesday: What shall I cook? -> Nothing with nuts, then.",
        "wednesday: Please search what you know. -> Nothing with nuts, then.",
        "After it was taken back: False",
    ],
    "from_mem0": [
        "ADD: alice is allergic to walnuts",
        "ADD: alice likes aubergines",
        "You are a cook. What you know of the user:",
        "assistant: Then I suggest stuffed aubergines. The recipe is on page 48 of your cookbook.",
        "UPDATE: alice is allergic to walnuts -> alice is allergic to walnuts and pecans",
        "About food: 4",
        "After the deletion: []",
        "In the end: {'results': []}",
    ],
    "game_character": [
        "The knight: I put out the fire in the mill and carried the miller outside.",
        "The thief: I set the mill on fire, so that the guards leave the gate.",
        "The knight knows who did it: False",
        "The potion would take from the thief: 1 pages",
        "The thief afterwards: []",
    ],
}
"""Lines that each prints, in order, or how they begin."""


WITH_A_MODEL = ("chat_agent",)
"""Those that ask a model: each has a test of its own."""


def run(name: str, *, told: str = "", folder: Path | None = None, **variables: str) -> list[str]:
    def example() -> None:
        os.chdir(folder or EXAMPLES)
        os.environ.update(variables, EMBERMEM_EMBEDDER="hashed")
        sys.argv = [str(EXAMPLES / f"{name}.py")]
        runpy.run_path(sys.argv[0], run_name="__main__")

    child = Child(example)
    child.stdin.write(told)
    out, errors = child.communicate()
    assert child.returncode == 0, errors
    return out.splitlines()


def test_every_example_is_run() -> None:
    assert sorted(path.stem for path in EXAMPLES.glob("*.py")) == sorted([*SAID, *WITH_A_MODEL])


def test_an_example_says_what_it_should() -> None:
    for name in sorted(SAID):
        lines = run(name)
        for expected in SAID[name]:
            found = next((place for place, line in enumerate(lines) if line.startswith(expected)), None)
            assert found is not None, f"{expected!r} is not in what is left: {lines}"
            lines = lines[found + 1 :]


def test_the_chat_agent_knows_in_its_second_run_what_it_was_told_in_the_first(tmp_path: Path) -> None:
    def answer(request: Request) -> str:
        return "Your heron is Bartholomew." if "Bartholomew" in str(request["messages"][0]) else "Hello."

    with ModelServer(answer) as server:
        told = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "none", "OPENAI_MODEL": "scripted"}
        first = run("chat_agent", told="My heron is called Bartholomew.\n\n", folder=tmp_path, **told)
        second = run("chat_agent", told="What is my heron called?\n\n", folder=tmp_path, **told)
    assert first == ["> Hello.", "> "]
    assert second == ["> Your heron is Bartholomew.", "> "]
