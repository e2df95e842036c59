"""`embermem bench`."""
