"""What goes with a page or a fact, and the log without it."""
