"""`embermem bench owners`: what a store with a million owners costs, measured on rows and simulated in load."""
