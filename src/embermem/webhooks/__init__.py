"""Webhooks: events of a memory sent to an address, signed."""

from embermem.webhooks.signing import signature, verified

__all__ = ["signature", "verified"]
