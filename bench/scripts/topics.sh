#!/bin/sh
# How segments part marked talk: segments of one page, purity, B-cubed.
#   bench/scripts/topics.sh [FILE…] [--limit N] [--titles]
set -eu
cd "$(dirname "$0")/../.."
exec "${PYTHON:-.venv/bin/python}" bench/scripts/topics.py "$@"
