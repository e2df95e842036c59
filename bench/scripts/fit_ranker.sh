#!/bin/sh
# Fit the learned ranker on recall sets and judge it on others; needs lightgbm (`pip install 'embermem-bench[ranker]'`).
#   bench/scripts/fit_ranker.sh bench/sets/*.json bench/sets/languages/*.json realmem.json --judge locomo.json --out
set -eu
cd "$(dirname "$0")/../.."
exec "${PYTHON:-.venv/bin/python}" bench/scripts/fit_ranker.py "$@"
