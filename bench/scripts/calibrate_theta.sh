#!/bin/sh
# θ of Eq. 1 for each embedder: bench/scripts/calibrate_theta.sh DATA...
set -eu
cd "$(dirname "$0")/../.."
exec "${PYTHON:-.venv/bin/python}" bench/scripts/calibrate_theta.py "$@"
