#!/bin/sh
# Documents: bench/scripts/documents.sh questions | size [--mb 10] [--no-vectors]
set -eu
cd "$(dirname "$0")/../.."
exec "${PYTHON:-.venv/bin/python}" -W ignore bench/scripts/documents.py "$@"
