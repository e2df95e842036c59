#!/bin/sh
# What the proxy adds to a call of the model: bench/scripts/proxy.sh [--pages 1000] [--calls 100] [--embedder auto] [--seed 0]
# Prints one JSON document: milliseconds of whole answers and of the first streamed token, through the proxy and direct.
set -eu
command -v "${PYTHON:=.venv/bin/python}" >/dev/null || PYTHON=python
exec "$PYTHON" "$(dirname "$0")/proxy.py" "$@"
