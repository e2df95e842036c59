#!/bin/sh
# Fit the weights of confidence and relevance on our own lives, and print how well they hold in folds.
#   bench/scripts/fit_confidence.sh
set -eu
cd "$(dirname "$0")/../.."
PYTHONPATH="encoder${PYTHONPATH:+:$PYTHONPATH}" exec "${PYTHON:-.venv/bin/python}" bench/scripts/fit_confidence.py "$@"
