#!/bin/sh
# The MemoryOS paper's Table 1: GVD, judged for accuracy, correctness and coherence. Needs a model (EMBERMEM_MODEL);
# --judge-model NAME[@URL] judges with another one. With the published figures beside: embermem bench paper.
# bench/scripts/gvd.sh RUN FOLDER_OF_GVD [--limit 3] …   k = 5 on GVD, paper §4.1. Goes on where it was if RUN is there.
set -eu
[ "$#" -gt 1 ] || { echo "usage: $0 RUN FOLDER_OF_GVD [options of embermem bench run]" >&2; exit 2; }
command -v "${EMBERMEM:=.venv/bin/embermem}" >/dev/null || EMBERMEM=embermem
run=$1
shift
"$EMBERMEM" bench run "$@" --out "$run" --judge gvd --replies chat \
    --system memoryos --system memoryos:preset=paper,top_k=5 --system tim:top_k=5 --system memorybank:top_k=5 \
    --system memgpt --system amem:recall_k=5
exec "$EMBERMEM" bench report "$run" --baseline memoryos
