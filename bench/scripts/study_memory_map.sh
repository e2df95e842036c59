#!/bin/sh
# Two memories in the plane: bench/scripts/study_memory_map.sh locomo.json --out studies
set -eu
cd "$(dirname "$0")/../.."
exec "${PYTHON:-.venv/bin/python}" -m embermem.cli.main bench study memory-map "$@"
