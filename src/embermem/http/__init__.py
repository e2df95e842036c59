"""The service: HTTP routes, a proxy for models' clients, the inspector. Nothing is imported before `embermem serve`."""
