"""Two characters of a game remember the same evening, each as it was for them.

Each character is an agent with a memory of its own of the player. What one of them did not see, it does not know.

Run it: `python examples/game_character.py`. Nothing is written to disk, and no model is needed.
"""

from __future__ import annotations

from collections.abc import Sequence

from embermem import Memory, OwnerMemory, Scope

AT = "2026-11-01T20:00:00+00:00"
SCENES: Sequence[tuple[str, str, str]] = (
    ("knight", "The player", "I put out the fire in the mill and carried the miller outside."),
    ("knight", "The miller", "Thank you, stranger! I will never forget this."),
    ("thief", "The player", "I set the mill on fire, so that the guards leave the gate."),
    ("thief", "The player", "Nobody may ever hear that it was me."),
)
"""Who is there, who speaks, and what is said or done: the thief saw how the fire began, the knight how it ended."""


def character(memory: Memory, name: str) -> OwnerMemory:
    """What a character remembers of the player."""
    return memory.of("player-1", agent=name)


def play(memory: Memory, place: str = "mill") -> None:
    """Let each character see what happens where it is."""
    for who, speaker, text in SCENES:
        character(memory, who).add_messages(
            [{"role": "user", "name": speaker, "content": text}], at=AT, thread=place, metadata={"place": place}
        )


def remembers(who: OwnerMemory, question: str) -> list[str]:
    """What a character can say about a question, from what happened at the mill."""
    return [hit.utterance.text for hit in who.search(question, 2, scope=Scope(metadata={"place": "mill"}))]


def main() -> None:
    with Memory(":memory:", background=False) as memory:
        play(memory)
        knight, thief = character(memory, "knight"), character(memory, "thief")
        question = "What did the player do with the fire in the mill?"
        print("The knight:", remembers(knight, question)[0])
        print("The thief:", remembers(thief, question)[0])

        # The knight was not there when it began: nothing that only the thief saw is ever told to it.
        print("The knight knows who did it:", "set the mill on fire" in knight.recall(question).text)

        # A potion of forgetting, for one place only, shown before it is drunk.
        gone = thief.forget(scope=Scope(metadata={"place": "mill"}), dry_run=True)
        print("The potion would take from the thief:", len(gone.pages), "pages")
        thief.forget(scope=Scope(metadata={"place": "mill"}))
        print("The thief afterwards:", remembers(thief, question))


if __name__ == "__main__":
    main()
