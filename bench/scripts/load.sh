#!/bin/sh
# Many clients add and recall at once on one server: bench/scripts/load.sh [--clients 50] [--seconds 60] [--kills 0]
# On loopback only; the keys stand in docs/research/bench.md.
set -eu
command -v "${EMBERMEM:=.venv/bin/embermem}" >/dev/null || EMBERMEM=embermem
exec "$EMBERMEM" bench load --json "$@"
