#!/bin/sh
# MemoryOS's presets side by side: bench/scripts/study_presets.sh locomo.json --out studies
set -eu
cd "$(dirname "$0")/../.."
exec "${PYTHON:-.venv/bin/python}" -m embermem.cli.main bench study presets "$@"
