"""Data sets into conversations and questions; metrics; runners on the public face."""
