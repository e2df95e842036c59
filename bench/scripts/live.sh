#!/bin/sh
# Questions asked when they come, and at the end: bench/scripts/live.sh RUN DATA... [--conversation ID] [--no-model] …
# Three runs beside each other in RUN, with their reports: live counts visits, unvisited does not, frozen asks at the end.
# Goes on where it was. Contexts of 600 words. Rules: docs/research/bench.md, Live.
set -eu
[ "$#" -gt 1 ] || { echo "usage: $0 RUN DATA... [options of embermem bench run]" >&2; exit 2; }
command -v "${EMBERMEM:=.venv/bin/embermem}" >/dev/null || EMBERMEM=embermem
run=$1
shift
mkdir -p "$run"
for mode in frozen unvisited live; do
    case $mode in frozen) how= ;; unvisited) how="--live --no-visits" ;; live) how=--live ;; esac
    # shellcheck disable=SC2086  # two options, or none
    "$EMBERMEM" bench run "$@" $how --budget 600 --counter words --out "$run/$mode" \
        --system memoryos --system memoryos:preset=paper --system memorybank --system memorybank:forgetting=true \
        --system amem
    "$EMBERMEM" bench report "$run/$mode"
done
