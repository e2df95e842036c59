#!/bin/sh
# What an add, a search and a vector cost: bench/scripts/speed.sh [--pages 50,500,5000] [--seconds 240] [--seed 0]
# Prints two JSON documents: the store, then the embedder alone. The keys stand in docs/research/bench.md.
# bench/scripts/speed.sh --search [--utterances 1000,10000,100000] [--seconds 600] [--long]: search as one memory grows.
set -eu
command -v "${EMBERMEM:=.venv/bin/embermem}" >/dev/null || EMBERMEM=embermem
if [ "${1:-}" = --search ]; then
  shift
  exec "$EMBERMEM" bench search --json "$@"
fi
"$EMBERMEM" bench speed --json "$@"
"$EMBERMEM" bench embed --json
