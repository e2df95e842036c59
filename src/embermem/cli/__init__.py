"""`embermem`: the command line."""
