"""`embermem mcp`: memory for any client of the Model Context Protocol."""
