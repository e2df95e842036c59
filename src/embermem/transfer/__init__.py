"""Owners in and out as JSON lines; docs/operations/moving.md has the format."""
