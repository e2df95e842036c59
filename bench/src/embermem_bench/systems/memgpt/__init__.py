"""MemGPT (arXiv 2310.08560): a small window that pages what it holds in and out by functions."""
