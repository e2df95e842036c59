"""Facts from first-person and possessive statements."""
