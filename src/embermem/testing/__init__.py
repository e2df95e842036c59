"""Helpers for tests of programs that use Ember; see docs/guides/scripted-model.md."""
