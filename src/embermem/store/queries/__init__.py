"""What is asked of the tables, by who asks."""
