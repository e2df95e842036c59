#!/bin/sh
# Fit the weights of relevance and of confidence, and print the tables of docs/research/recall.md, Calibration.
#   bench/scripts/fit_relevance.sh locomo.json realmem.json
set -eu
cd "$(dirname "$0")/../.."
exec "${PYTHON:-.venv/bin/python}" bench/scripts/fit_relevance.py "$@"
