"""A chat agent with memory, for every server that speaks OpenAI's protocol: set OPENAI_API_KEY, and for a server of
your own OPENAI_BASE_URL and OPENAI_MODEL.

Run it: `python examples/chat_agent.py`, and say something; an empty line ends it. The next run still knows.
"""

from __future__ import annotations

import os

from openai import OpenAI

from embermem import Memory


def main() -> None:
    client, model = OpenAI(), os.environ.get("OPENAI_MODEL", "gpt-5-mini")
    with Memory("chat.db") as memory:
        alice = memory.of("alice")
        while said := input("> "):
            known = memory.marked(alice.recall(said, budget=800).text)
            reply = client.chat.completions.create(
                model=model,
                messages=[{"role": "system", "content": known}, {"role": "user", "content": said}],
            )
            answer = reply.choices[0].message.content or ""
            alice.add(said, answer)
            print(answer)


if __name__ == "__main__":
    main()
