#!/bin/sh
# What links and evolution are worth to A-MEM: bench/scripts/study_amem_ablation.sh locomo.json --out studies
set -eu
cd "$(dirname "$0")/../.."
exec "${PYTHON:-.venv/bin/python}" -m embermem.cli.main bench study amem-ablation "$@"
