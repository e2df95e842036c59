"""What becomes of a page: embed, read, place, promote, evict, under one lease."""
