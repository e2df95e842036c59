"""The records that leave the process: the JSON of the HTTP API, of the client, of MCP's tools and of `--json`."""
