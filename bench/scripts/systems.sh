#!/bin/sh
# The nine memory systems side by side: bench/scripts/systems.sh RUN DATA... [--limit 40] [--judge strict] …
# Goes on where it was if RUN is there. The model is the one that is set (EMBERMEM_MODEL); --no-model measures retrieval
# alone. Rules: docs/research/bench.md.
set -eu
[ "$#" -gt 1 ] || { echo "usage: $0 RUN DATA... [options of embermem bench run]" >&2; exit 2; }
command -v "${EMBERMEM:=.venv/bin/embermem}" >/dev/null || EMBERMEM=embermem
run=$1
shift
"$EMBERMEM" bench run "$@" --out "$run" \
    --system memoryos --system memoryos:preset=paper --system full_context --system readagent --system memorybank \
    --system tim --system memgpt --system amem --system mem0 --system mem0g
exec "$EMBERMEM" bench report "$run" --baseline full_context
