"""Ember over HTTP: the methods of `Memory`, answered by a server."""

from embermem.client.transports import AsyncClient, AsyncOwnerClient, Client, OwnerClient

__all__ = ["AsyncClient", "AsyncOwnerClient", "Client", "OwnerClient"]
