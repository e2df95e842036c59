"""A support desk: tickets as metadata, the handbook as a document that all agents share, several agents a customer.

Run it: `python examples/support_desk.py`. Nothing is written to disk, and no model is needed.
"""

from __future__ import annotations

from embermem import Memory, OwnerMemory, Scope

HANDBOOK = """# Handbook of the support desk

## Refunds

A customer may return a device within 30 days. The refund is paid within five working days.

## Routers

### Red light

A red light means that the line is down. Unplug the router for ten seconds. If the light stays red, send a technician.

### Lost password

The first password is printed on the label under the router.
"""

MESSAGES: tuple[tuple[str, str, str, str], ...] = (
    ("2026-11-02T09:00:00+00:00", "T-1", "My router shows a red light.", "I am looking into it."),
    ("2026-11-02T09:05:00+00:00", "T-1", "I unplugged it, and the light is still red.", "I will send a technician."),
    ("2026-11-09T16:00:00+00:00", "T-2", "I'd like my money back for the second router.", "Of course."),
    ("2026-11-09T16:02:00+00:00", "T-2", "My name is Jonas Weber. I bought it on 20 October.", "Thank you."),
)


def open_desk(memory: Memory) -> None:
    """Store the handbook in a space that every agent of the desk reads."""
    memory.space("handbook").add_document(HANDBOOK, source="handbook.md", title="Handbook")
    memory.grant("handbook", user=None)


def desk(memory: Memory, customer: str, agent: str) -> OwnerMemory:
    """One agent's memory of a customer, with the handbook, and with what `triage` knows of the person."""
    other = None if agent == "triage" else "triage"
    return memory.of(customer, agent=agent, shares=["handbook"], person_from=other)


def receive(memory: Memory, customer: str) -> None:
    """Keep a customer's messages: each with its ticket."""
    triage = desk(memory, customer, "triage")
    for at, ticket, said, answer in MESSAGES:
        triage.add(said, answer, at=at, thread=ticket, metadata={"ticket": ticket, "priority": 2})
    triage.settle()


def main() -> None:
    with Memory(":memory:", background=False) as memory:
        open_desk(memory)
        receive(memory, "c-1001")
        triage = desk(memory, "c-1001", "triage")

        context = triage.recall("The router has a red light. What do I do?", budget=400)
        rule, place = next((hit.utterance.text, hit.passage) for hit in context.hits if hit.passage is not None)
        print(f"{place.title}, {place.place}: {rule.splitlines()[-1]}")

        of_ticket = Scope(metadata={"ticket": "T-1"})
        for page in triage.pages(scope=of_ticket):
            print("T-1:", page.query, "->", page.response)

        # Another agent of the desk knows who the customer is, and not what was said to the first one.
        triage.share_person_with("billing")
        billing = desk(memory, "c-1001", "billing")
        told = billing.recall("Who is the customer, and until when may a device be returned?", budget=400)
        print("Billing knows the name:", "Jonas Weber" in told.text)
        print("Billing knows the rule:", "within 30 days" in told.text)
        print("Billing reads the ticket:", "still red" in told.text or bool(billing.pages()))

        # A ticket that is closed for good is forgotten whole.
        receipt = triage.forget(scope=of_ticket)
        print("Forgotten with T-1:", len(receipt.pages), "pages; left:", len(triage.pages()))


if __name__ == "__main__":
    main()
