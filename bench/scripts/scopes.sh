#!/bin/sh
# What a recall costs under a scope: bench/scripts/scopes.sh [--utterances 10000] [--embedder hashed] [--store URL]
set -eu
cd "$(dirname "$0")/../.."
exec "${PYTHON:-.venv/bin/python}" -W ignore bench/scripts/scopes.py "$@"
