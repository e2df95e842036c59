#!/bin/sh
# What two clients of the proxy see when upstream means harm: bench/scripts/hostile_upstream.sh [--gb 3] [--timeout-s 5] [--only gzip]
# Prints one JSON document: for each thing that upstream does the status, the words and the seconds of both clients, and
# the most memory that the server held. Loopback only; it ends by itself within minutes.
set -eu
command -v "${PYTHON:=.venv/bin/python}" >/dev/null || PYTHON=python
exec "$PYTHON" "$(dirname "$0")/hostile_upstream.py" "$@"
