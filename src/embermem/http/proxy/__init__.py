"""The proxy: any client of OpenAI's, Anthropic's or Ollama's gets memory by changing its base URL."""
