"""A bot on a chat server such as Discord: a gateway sends events, and each server that the bot is in has a memory.

What people say in the channels is kept in a space of the server, which its members may read; what one says to the bot
in private is kept for that person alone. A message that its author deletes is forgotten, one that is edited is
replaced, and an event that the gateway sends twice is kept once.

Run it: `python examples/chat_gateway_bot.py`. The gateway is a list of events; a library for your chat server takes its
place. Nothing is written to disk, and no model is needed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

from embermem import AsyncMemory, Scope
from embermem.aio import AsyncOwnerMemory

BOT, SERVER = "ember", "climbers"


@dataclass(frozen=True)
class Event:
    """What happened to a message: it was made ("create"), changed ("edit") or taken back ("delete")."""

    kind: str
    message: str
    channel: str
    author: str
    at: str
    text: str


TALK = (
    ("1", "general", "Mara", "2026-06-01T18:00:00+00:00", "I'm allergic to latex, so no old ropes for me."),
    ("2", "trips", "Theo", "2026-06-01T18:05:00+00:00", "We meet at the quarry on Saturday at seven."),
    ("2", "trips", "Theo", "2026-06-01T18:05:00+00:00", "We meet at the quarry on Saturday at seven."),
    ("3", "general", "Theo", "2026-06-01T18:06:00+00:00", "The code of my gate is 4711."),
    ("delete 3", "general", "Theo", "2026-06-01T18:07:00+00:00", ""),
    ("edit 2", "trips", "Theo", "2026-06-01T18:05:00+00:00", "We meet at the quarry on Saturday at eight."),
    ("4", "private", "Mara", "2026-06-02T09:00:00+00:00", "Between us, I am afraid of heights."),
    ("5", "general", "Theo", "2026-06-02T10:00:00+00:00", "@ember when do we meet at the quarry?"),
    ("6", "private", "Theo", "2026-06-02T11:00:00+00:00", "What is Mara afraid of?"),
)


async def gateway() -> AsyncIterator[Event]:
    """The events, as a connection would give them. The second message comes twice, as after a lost connection."""
    for said, channel, author, at, text in TALK:
        await asyncio.sleep(0)
        kind, _, message = said.rpartition(" ")
        yield Event(kind or "create", message, channel, author, at, text)


class Bot:
    """Keeps what is said, and answers when it is spoken to."""

    def __init__(self, memory: AsyncMemory) -> None:
        self._memory = memory

    async def run(self) -> None:
        async for event in gateway():
            if event.kind != "create":
                receipt = await self._where(event).forget(scope=Scope(metadata={"message": event.message}))
                print(f"Forgotten with message {event.message}: {len(receipt.pages)} page")
            if event.kind != "delete":
                await self._memory.grant(SERVER, user=event.author)
                await self._answer(event)
                await self._keep(event)

    async def _answer(self, event: Event) -> None:
        """Answer what the bot is asked: with the line that fits best. A model would get `context.text` whole."""
        asked = event.text.removeprefix(f"@{BOT} ")
        if asked.endswith("?") and (event.channel == "private" or asked != event.text):
            member = self._memory.of(event.author, agent=BOT, shares=[SERVER])
            context = await member.recall(asked, budget=300)
            best = context.hits[0].utterance.text if context.hits else "nothing"
            print(f"{event.author}: {asked}\n  {BOT}: {best}")

    async def _keep(self, event: Event) -> None:
        """Store a message. Its id is the key, so that an event that comes again changes nothing."""
        await self._where(event).add_messages(
            [{"role": "user", "name": event.author, "content": event.text, "at": event.at}],
            thread=event.channel,
            key=f"{event.kind} {event.message}",
            fresh=True,
            metadata={"message": event.message},
        )

    def _where(self, event: Event) -> AsyncOwnerMemory:
        """The space of the server, or what is between the bot and one person."""
        if event.channel == "private":
            return self._memory.of(event.author, agent=BOT)
        return self._memory.space(SERVER)


async def main() -> None:
    async with AsyncMemory(":memory:", background=False) as memory:
        await Bot(memory).run()
        server = memory.space(SERVER)
        print("Messages of the server:", len(await server.pages()))
        print("The gate's code is known:", any("4711" in page.query for page in await server.pages()))


if __name__ == "__main__":
    asyncio.run(main())
