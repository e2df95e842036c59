#!/bin/sh
# Model calls and tokens per response of every system, by a scripted model: bench/scripts/cost.sh locomo.json
set -eu
cd "$(dirname "$0")/../.."
exec "${PYTHON:-.venv/bin/python}" -m embermem.cli.main bench cost "$@"
