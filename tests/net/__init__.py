"""The net: stores of every schema version, frozen, and what they answer (docs/reference/testing.md)."""
