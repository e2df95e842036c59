"""What the bench asks a model, as data: see `embermem.prompts`."""
