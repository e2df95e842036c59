"""A program that was written for mem0, with one line changed: its import.

`from mem0 import Memory` became `from embermem.compat.mem0 import Memory`. It configures the store as it did for mem0;
no model is asked here, so mem0's `llm` and `embedder` are left out. Run it: `python examples/from_mem0.py`.
"""

from __future__ import annotations

import tempfile

from embermem.compat.mem0 import Memory

CONVERSATION = [
    {"role": "user", "content": "I'm planning a dinner on Friday. I'm allergic to walnuts, and I love aubergines."},
    {"role": "assistant", "content": "Then I suggest stuffed aubergines. The recipe is on page 48 of your cookbook."},
]


def prompt(memory: Memory, question: str, user_id: str) -> str:
    """The system prompt of an assistant that knows the user."""
    found = memory.search(question, filters={"user_id": user_id}, top_k=3)
    known = "\n".join(f"- {one['memory']}" for one in found["results"])
    return f"You are a cook. What you know of the user:\n{known}"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        memory = Memory.from_config({"vector_store": {"provider": "qdrant", "config": {"path": folder}}})
        made = memory.add(CONVERSATION, user_id="alice", metadata={"category": "food"})
        for one in made["results"]:
            print(f"{one['event']}: {one['memory']}")

        print(prompt(memory, "Which page is the recipe on?", "alice"))
        facts = [one for one in made["results"] if "allergic" in one["memory"]]
        memory.update(facts[0]["id"], text="alice is allergic to walnuts and pecans")
        for step in memory.history(facts[0]["id"]):
            print(f"{step['event']}: {step['old_memory']} -> {step['new_memory']}")

        food = memory.get_all(filters={"user_id": "alice", "category": {"in": ["food", "drink"]}})
        print("About food:", len(food["results"]))
        memory.delete(facts[0]["id"])
        print("After the deletion:", memory.search("walnuts", filters={"user_id": "alice"}, threshold=0.4)["results"])
        memory.delete_all(user_id="alice")
        print("In the end:", memory.get_all(filters={"user_id": "alice"}))
        memory.close()


if __name__ == "__main__":
    main()
