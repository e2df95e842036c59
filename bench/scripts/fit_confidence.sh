#!/bin/sh
# Fit the weights of confidence with held-out conversations, and print the tables of docs/research/recall.md, Answerable.
#   bench/scripts/fit_confidence.sh locomo.json realmem.json
set -eu
cd "$(dirname "$0")/../.."
exec "${PYTHON:-.venv/bin/python}" bench/scripts/fit_confidence.py "$@"
