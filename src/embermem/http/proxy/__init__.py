"""The OpenAI-compatible proxy: any OpenAI client gets memory by changing its base URL."""
