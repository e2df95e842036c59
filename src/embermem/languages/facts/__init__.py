"""Findings, fields and standing instructions: what languages share."""
