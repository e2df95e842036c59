"""Small data sets of our own, in both formats."""

from __future__ import annotations

from typing import Any


def locomo() -> list[dict[str, Any]]:
    """Two people, three sessions, one picture, and evidence in every state of repair."""
    return [
        {
            "sample_id": "our-1",
            "conversation": {
                "speaker_a": "Vera",
                "speaker_b": "Kit",
                "session_1_date_time": "1:56 pm on 8 May, 2023",
                "session_1": [
                    {"speaker": "Kit", "dia_id": "D1:1", "text": "I finally mended the greenhouse roof."},
                    {"speaker": "Vera", "dia_id": "D1:2", "text": "Great! My trombone lessons start on Tuesday."},
                ],
                "session_2_date_time": "12:05 am on 1 June, 2023",
                "session_2": [
                    {
                        "speaker": "Vera",
                        "dia_id": "D2:1",
                        "text": "Look at this.",
                        "blip_caption": "a brass trombone on a red sofa",
                    },
                    {"speaker": "Kit", "dia_id": "D2:2", "text": "The tomatoes froze last night."},
                ],
                "session_10_date_time": "9:30 am on 12 July, 2023",
                "session_10": [{"speaker": "Kit", "dia_id": "D10:1", "text": "We harvested forty cucumbers."}],
                "session_11_date_time": "9:30 am on 13 July, 2023",
            },
            "qa": [
                {"question": "Who mended the greenhouse roof?", "evidence": ["D1:1"], "category": 4},
                {"question": "What about the trombone?", "evidence": ["D1:2; D2:1"], "category": 1},
                {"question": "When did the tomatoes freeze?", "evidence": ["(D2:2)", "D9:9"], "category": 2},
                {"question": "Nothing to stand on?", "evidence": [], "category": 3},
                {"question": "Evidence from elsewhere?", "evidence": ["D", "D9:9"], "category": 1},
                {"question": "What did Vera harvest?", "evidence": ["D10:1"], "category": 5, "adversarial_answer": "x"},
            ],
        }
    ]


def recall_set() -> dict[str, Any]:
    """One person, three threads, the same words again and again; questions in mid-conversation."""

    def thread(name: str, at: str, *texts: str) -> dict[str, Any]:
        roles = ("user", "assistant")
        return {
            "id": name,
            "at": at,
            "turns": [
                {"id": f"{name}:{n}", "speaker": roles[n % 2].title(), "role": roles[n % 2], "at": at, "text": text}
                for n, text in enumerate(texts)
            ],
        }

    return {
        "name": "small",
        "licence": "ours",
        "conversations": [
            {
                "id": "mara",
                "threads": [
                    thread("k1", "2026-03-01T10:00:00", "I want to repaint the kayak.", "Use marine paint."),
                    thread("b1", "2026-03-02T10:00:00+02:00", "My bread does not rise.", "Feed the starter."),
                    thread("k2", "2026-02-01", "The kayak paint is dry.", "Launch it.", "What about the kayak paint?"),
                    thread("k3", "2026-04-01", "Kayak paint again: the kayak paint peels.", "Sand it."),
                ],
                "questions": [
                    {
                        "id": "q1",
                        "text": "What about the kayak paint?",
                        "category": "later",
                        "after_turn": "k2:2",
                        "evidence_threads": ["k1"],
                    },
                    {"id": "q2", "text": "Why does the bread not rise?", "category": "now", "evidence": ["b1:0"]},
                ],
            }
        ],
    }
