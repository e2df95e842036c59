#!/bin/sh
# θ of Eq. 1 for each embedder: benchmarks/calibrate_theta.sh DATA...
set -eu
cd "$(dirname "$0")/.."
exec "${PYTHON:-.venv/bin/python}" benchmarks/calibrate_theta.py "$@"
