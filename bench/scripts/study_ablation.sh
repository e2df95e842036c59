#!/bin/sh
# What each tier of MemoryOS is worth: bench/scripts/study_ablation.sh locomo.json --out studies [--preset paper]
set -eu
cd "$(dirname "$0")/../.."
exec "${PYTHON:-.venv/bin/python}" -m embermem.cli.main bench study ablation "$@"
