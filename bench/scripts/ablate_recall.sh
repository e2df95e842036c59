#!/bin/sh
# What each channel of recall gives on each corpus.
#   bench/scripts/ablate_recall.sh bench/sets/*.json bench/sets/languages/*.json locomo.json realmem.json
set -eu
cd "$(dirname "$0")/../.."
exec "${PYTHON:-.venv/bin/python}" bench/scripts/ablate_recall.py "$@"
