"""Embedders: each module holds one way to turn texts into vectors. Nothing is imported here, so that all stay lazy."""
