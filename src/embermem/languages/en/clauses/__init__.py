"""Reads declarative clauses about the speaker and their relatives: subject, verb, complement, time."""
