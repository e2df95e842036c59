"""The pages of the whole server: its owners, and those who run it."""
