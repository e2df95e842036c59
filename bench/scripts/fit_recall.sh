#!/bin/sh
# Fit the weights of recall with held-out conversations, and print the tables of docs/research/recall.md.
#   bench/scripts/fit_recall.sh locomo.json realmem.json
set -eu
cd "$(dirname "$0")/../.."
exec "${PYTHON:-.venv/bin/python}" bench/scripts/fit_recall.py "$@"
