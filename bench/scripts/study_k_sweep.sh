#!/bin/sh
# How many memories to recall: bench/scripts/study_k_sweep.sh locomo.json --out studies
set -eu
cd "$(dirname "$0")/../.."
exec "${PYTHON:-.venv/bin/python}" -m embermem.cli.main bench study k-sweep "$@"
