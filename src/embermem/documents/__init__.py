"""Documents: files and texts that nobody said in a talk, read and cut into passages."""
