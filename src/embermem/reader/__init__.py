"""The trained reader: what a message says of people, read from the encoder's states."""
