"""The records that leave the process: JSON of the HTTP API, the client, the tools of MCP and `--json`."""
