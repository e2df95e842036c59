#!/bin/sh
# Model calls and prompt tokens a page, with a scripted model behind HTTP: bench/scripts/model_cost.sh locomo.json
set -eu
cd "$(dirname "$0")/../.."
exec "${PYTHON:-.venv/bin/python}" bench/scripts/model_cost.py "$@"
