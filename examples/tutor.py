"""A tutor of languages: it keeps a learner's level, exam and weak topics as fields of its own.

Run it: `python examples/tutor.py`. Nothing is written to disk, and no model is needed.
"""

from __future__ import annotations

from embermem import Field, Memory, OwnerMemory, Scope

FIELDS = [
    Field("level", type="choice", choices=["A1", "A2", "B1", "B2", "C1", "C2"], description="CEFR level"),
    Field("exam_date", type="date", aliases=["exam"]),
    Field("weak_topics", many=True, description="what the learner finds hard", examples=["word order"]),
]
NEVER = ["health", '"Project Falcon"']
"""What is not remembered: facts about health, and these words anywhere."""

LESSONS = [
    ("2026-09-01T10:00:00+00:00", "lesson-1", "Hello! My name is Lena and my level is A2.", "Welcome, Lena."),
    ("2026-09-01T10:02:00+00:00", "lesson-1", "My weak topic is word order.", "Then we begin with word order."),
    ("2026-10-06T10:00:00+00:00", "lesson-6", "I have asthma, so I may cough.", "Take your time."),
    ("2026-10-06T10:05:00+00:00", "lesson-6", "My exam is on 12 March 2027.", "We have five months."),
    ("2026-11-03T10:00:00+00:00", "lesson-9", "I'm at level B1 now!", "Well done."),
    ("2026-11-03T10:20:00+00:00", "lesson-9", "My weak topics are commas and past tenses.", "We will practise them."),
]


def tutor_of(memory: Memory, learner: str) -> OwnerMemory:
    """The tutor's memory of one learner."""
    return memory.of(learner, agent="tutor")


def plan(learner: OwnerMemory) -> str:
    """What the next lesson is about, from what is known."""
    known = {line.name: line.value for line in learner.profile()}
    weak = [fact.value for fact in learner.facts() if fact.attribute == "weak_topics"]
    return f"level {known['level']}, exam on {known['exam_date']}, to practise: {', '.join(weak)}"


def main() -> None:
    with Memory(":memory:", fields=FIELDS, never=NEVER, background=False) as memory:
        lena = tutor_of(memory, "lena")
        for at, lesson, said, answer in LESSONS:
            lena.add(said, answer, at=at, thread=lesson)
        lena.settle()
        print("Plan:", plan(lena))
        before = {line.name: line.value for line in lena.profile(valid_at="2026-09-30")}
        print("Level in September:", before["level"])
        print("Facts about health:", [fact.text for fact in lena.facts() if "asthma" in fact.text])
        hits = lena.search("What was hard?", 1, scope=Scope(threads=["lesson-1"]))
        print("In the first lesson:", hits[0].utterance.text)


if __name__ == "__main__":
    main()
