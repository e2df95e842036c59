"""Where memory comes from, and how it changed."""
