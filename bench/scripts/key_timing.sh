#!/bin/sh
# Whether the time of a key's check tells if its id is known: bench/scripts/key_timing.sh [--calls 5000]
# Prints one JSON document: microseconds of a check by what is wrong with the key, taken in turns.
set -eu
command -v "${PYTHON:=.venv/bin/python}" >/dev/null || PYTHON=python
exec "$PYTHON" "$(dirname "$0")/key_timing.py" "$@"
