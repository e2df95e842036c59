#!/bin/sh
# What contexts hold, on our own sets: bench/scripts/contexts.sh [OPTION]... docs/research/contexts.md has the figures.
set -eu
sets=$(dirname "$0")/../sets
command -v "${EMBERMEM:=.venv/bin/embermem}" >/dev/null || EMBERMEM=embermem
lives=""
for language in en de es fr ja zh; do lives="$lives --lives $sets/languages/$language.json"; done
# shellcheck disable=SC2086
exec "$EMBERMEM" bench contexts "$sets"/contexts/*.jsonl "$sets/contexts/notes.json" "$sets/contexts/advice.json" \
    "$sets/long.json" $lives "$@"
