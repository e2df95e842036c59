"""What matters to a query, and the text that says it within a budget."""
