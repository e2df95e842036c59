#!/bin/sh
# Ember beside other memories, on the same data with the same vectors. What it measures and how: docs/research/peers.md
#   bench/scripts/peers.sh [NAME=]FILE... [--only SYSTEM,...] [--json]
# Adding, searching, bytes and a cold start, without data: docs/research/footprint.md
#   bench/scripts/peers.sh --footprint [--items 2000,10000] [--seconds 60] [--only STORE,...] [--json]
# Makes .venv-peers the first time (make peers). In another environment, with what is installed there:
#   PYTHON=.venv/bin/python bench/scripts/peers.sh FILE... --only ember,bm25,dense
set -eu
[ "$#" -gt 0 ] || { echo "usage: $0 [NAME=]FILE... [--only SYSTEM,...] [--json]" >&2; exit 2; }
root=$(dirname "$0")/../..
if [ -z "${PYTHON:-}" ]; then
    make -C "$root" --no-print-directory peers >&2
    PYTHON=$root/.venv-peers/bin/python
fi
if [ "$1" = --footprint ]; then
    shift
    exec "$PYTHON" "$root/bench/scripts/peers/footprint.py" "$@"
fi
exec "$PYTHON" "$root/bench/scripts/peers" "$@"
