"""A seeded adversary: random lives of several owners in several processes, with kills, interrupts, full disks, damaged
bytes, clock jumps, forgetting and undoing, and what must hold after each life. See docs/reference/testing.md."""
