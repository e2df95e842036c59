"""An agent of LangGraph with a memory: hooks around its model, tools, and a store for what it writes down itself.

Run it: `pip install 'embermem[langgraph]'`, then `python examples/langgraph_agent.py`. It needs no model: `Scripted`
stands for one. With a real one, such as `init_chat_model("openai:…")`, the rest stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.prebuilt import create_react_agent

from embermem import Memory, OwnerMemory
from embermem.integrations.langchain import MemoryHooks, memory_tools
from embermem.integrations.langgraph import EmberStore


class Scripted(BaseChatModel):
    """Says what it was shown, and asks the memory when it is told to search."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **given: Any) -> Scripted:
        return self

    def _generate(self, messages: list[BaseMessage], *given: Any, **named: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._reply(messages))])

    def _reply(self, messages: Sequence[BaseMessage]) -> AIMessage:
        shown = "\n".join(str(one.text) for one in messages if one.type in ("system", "tool"))
        if "search" in str(messages[-1].text) and not isinstance(messages[-1], ToolMessage):
            call = {"name": "search_memory", "args": {"query": "What am I allergic to?"}, "id": "c1"}
            return AIMessage("", tool_calls=[call])
        return AIMessage("Nothing with nuts, then." if "allergic to nuts" in shown else "I do not know you yet.")


def main() -> None:
    with Memory(":memory:", background=False) as memory:

        def of(config: RunnableConfig) -> OwnerMemory:
            return memory.of(config["configurable"]["user_id"])

        hooks = MemoryHooks(of)
        agent = create_react_agent(
            Scripted(),
            memory_tools(of),
            pre_model_hook=hooks.recall,
            post_model_hook=hooks.keep,
            checkpointer=InMemorySaver(),
            store=EmberStore(lambda namespace: memory.of(namespace[0])),
        )

        def ask(text: str, thread: str, user: str = "alice") -> None:
            config: RunnableConfig = {"configurable": {"user_id": user, "thread_id": thread}}
            reply = agent.invoke({"messages": [("user", text)]}, config)["messages"][-1]
            print(f"{user}, {thread}: {text} -> {reply.text}")

        ask("I am allergic to nuts.", "monday")
        ask("What shall I cook?", "tuesday")
        ask("Please search what you know.", "wednesday")
        ask("What shall I cook?", "tuesday-bo", user="bo")

        store = EmberStore(lambda namespace: memory.of(namespace[0]))
        store.put(("alice", "recipes"), "soup", {"title": "Pumpkin soup", "minutes": 40})
        store.put(("alice", "recipes"), "salad", {"title": "Bean salad", "minutes": 10})
        memory.of("alice").settle()
        (quick,) = store.search(("alice",), query="a salad for tonight", filter={"minutes": {"$lt": 30}})
        print(f"Quick: {quick.value['title']}")
        print(f"Said by alice: {[page.query for page in memory.of('alice').pages()]}")
        pages = sum(len(one.pages) for one in memory.forget_user("alice").values())
        print(f"Forgotten: {pages} pages; recipes left: {len(store.search(('alice',)))}")


if __name__ == "__main__":
    main()
