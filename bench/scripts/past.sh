#!/bin/sh
# What a look back costs: bench/scripts/past.sh [--pages 5000] [--samples 40] [--seed 0]
# Prints one JSON document, after some three minutes. Keys: docs/research/bench.md.
set -eu
command -v "${EMBERMEM:=.venv/bin/embermem}" >/dev/null || EMBERMEM=embermem
exec "$EMBERMEM" bench past --json "$@"
