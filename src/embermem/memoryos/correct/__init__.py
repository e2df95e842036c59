"""Corrections, facts and undo by callers."""
