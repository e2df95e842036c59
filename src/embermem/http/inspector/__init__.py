"""The inspector: a window on what is remembered. Server-rendered; it works offline."""
