#!/bin/sh
# What the facts and summaries of a model add to recall over the extractive analyst's: bench/scripts/facts.sh LOCOMO...
# The file must bring a model's observations (LoCoMo's does). Prints both side by side; docs/research/recall.md has the table.
set -eu
[ "$#" -gt 0 ] || { echo "usage: $0 LOCOMO..." >&2; exit 2; }
command -v "${EMBERMEM:=.venv/bin/embermem}" >/dev/null || EMBERMEM=embermem
exec "$EMBERMEM" bench recall "$@" --analyst both
