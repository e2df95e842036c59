"""Helpers for tests of programs that use Ember; see docs/testing.md."""
