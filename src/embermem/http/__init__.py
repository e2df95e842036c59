"""The service: HTTP routes, the OpenAI-compatible proxy, the inspector. Nothing is imported before `embermem serve`."""
