"""MemoryOS, the system of the paper (arXiv 2506.06326), by use case."""
