"""What is done to a whole store: check, repair, copy, move an owner, apply all changes again."""
