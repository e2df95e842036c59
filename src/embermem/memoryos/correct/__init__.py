"""What callers say of facts, and what they take back."""
