"""A bot in a team's chat: several people speak, and what the team decides is shared with each of them.

Run it: `python examples/group_bot.py`. Nothing is written to disk, and no model is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from embermem import Context, Memory, Scope

CHAT: list[tuple[str, list[Mapping[str, str]]]] = [
    (
        "2026-05-04T09:00:00+00:00",
        [
            {"role": "user", "name": "Ana", "content": "Good morning! I live in Porto now."},
            {"role": "user", "name": "Bob", "content": "I'm allergic to nuts, so no cake for me on Friday."},
            {"role": "assistant", "content": "Noted, Bob."},
        ],
    ),
    (
        "2026-05-05T14:00:00+00:00",
        [
            {"role": "user", "name": "Ana", "content": "Decision: we deploy on Tuesdays, never on Fridays."},
            {"role": "user", "name": "Chen", "content": "Fine. I am on call in week 20."},
            {"role": "assistant", "content": "Deploys on Tuesdays, then."},
        ],
    ),
]


def listen(memory: Memory, messages: Iterable[tuple[str, list[Mapping[str, str]]]]) -> None:
    """Keep what is said in the channel, in the team's space."""
    team = memory.space("team")
    for at, said in messages:
        team.add_messages(said, at=at, thread="general", metadata={"channel": "general"})
    team.settle()


def ask(memory: Memory, member: str, question: str) -> Context:
    """What the bot is told when a member asks it in a private chat: the member's own memory, and the team's."""
    own = memory.of(member, agent="bot", shares=["team"])
    context = own.recall(question, budget=300)
    own.add(question)
    return context


def main() -> None:
    with Memory(":memory:", background=False) as memory:
        listen(memory, CHAT)
        for member in ("ana", "bob"):
            memory.grant("team", user=member)

        team = memory.space("team")
        print("People:", ", ".join(sorted(person.name for person in team.people() if person.facts)))
        print("Bob:", "; ".join(fact.text for fact in team.facts(person="Bob")))

        context = ask(memory, "ana", "On which day do we deploy?")
        best = context.hits[0]
        print(f"To Ana, from the space {best.space} ({best.utterance.speaker}): {best.utterance.text}")
        print("Tuesdays:", "Tuesdays" in best.utterance.text)
        by_chen = team.search("week", 1, scope=Scope(speakers=["Chen"], metadata={"channel": "general"}))
        print("Chen said:", by_chen[0].utterance.text)

        # What Ana asks in private stays hers: Bob's bot is not told of it.
        print("Bob sees Ana's question:", "On which day" in ask(memory, "bob", "What did Ana ask?").text)


if __name__ == "__main__":
    main()
