"""Owners in and out as JSON lines; docs/moving.md has the format."""
