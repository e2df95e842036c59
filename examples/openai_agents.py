"""An agent of OpenAI's Agents SDK whose sessions are kept in a memory: what it was told in one is known in the next.

Run it: `pip install 'embermem[openai-agents]'`, then `python examples/openai_agents.py`. It needs no model: `Scripted`
stands for one. With a real one, leave `model=` out; the rest stays as it is.
"""

from __future__ import annotations

import asyncio
from typing import Any

from agents import Agent, RunConfig, Runner
from agents.testing import ModelCall, ModelStep, ScriptedModel, assistant_message, function_call

from embermem import Memory
from embermem.integrations.openai_agents import EmberSession, memory_tools, recalling


def reply(call: ModelCall) -> Any:
    """Says what it was shown, and asks the memory when it is told to search."""
    items: Any = call.input
    shown = str([one for one in items if one.get("role") == "system" or one.get("type") == "function_call_output"])
    if items[-1].get("role") == "user" and "search" in items[-1]["content"]:
        return [function_call("search_memory", {"query": "What am I allergic to?"}, call_id="c1")]
    return [assistant_message("Nothing with nuts, then." if "allergic to nuts" in shown else "I do not know you yet.")]


async def main() -> None:
    with Memory(":memory:", background=False) as memory:
        alice = memory.of("alice")
        agent = Agent(
            name="cook", model=ScriptedModel([ModelStep.respond(reply) for _ in range(4)]), tools=memory_tools(alice)
        )
        for session_id, said in (
            ("monday", "I am allergic to nuts."),
            ("tuesday", "What shall I cook?"),
            ("wednesday", "Please search what you know."),
        ):
            config = RunConfig(tracing_disabled=True, call_model_input_filter=recalling(alice, thread=session_id))
            session = EmberSession(alice, session_id)
            result = await Runner.run(agent, said, session=session, run_config=config)
            print(f"{session_id}: {said} -> {result.final_output}")
        session = EmberSession(alice, "monday")
        while await session.pop_item() is not None:
            pass
        print("After it was taken back:", any("I am allergic" in one.text for one in alice.utterances()))


if __name__ == "__main__":
    asyncio.run(main())
