"""Dates that a text speaks of, resolved against the moment at which it was said: one engine, the tables of each
language."""
