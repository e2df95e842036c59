#!/bin/sh
# Recall of both presets on the data sets given: bench/scripts/recall.sh FILE...
# Prints one JSON document a preset. The rules and the keys stand in docs/research/bench.md.
set -eu
[ "$#" -gt 0 ] || { echo "usage: $0 FILE..." >&2; exit 2; }
command -v "${EMBERMEM:=.venv/bin/embermem}" >/dev/null || EMBERMEM=embermem
for preset in default paper; do
    "$EMBERMEM" bench recall "$@" --preset "$preset" --json
done
