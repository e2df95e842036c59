"""What rules of facts share, whatever the language."""
