"""Ember over HTTP: the methods of `Memory`, answered by a server."""
