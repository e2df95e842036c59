"""What memory holds and did, in words and figures: what the CLI, the service and MCP show alike."""
