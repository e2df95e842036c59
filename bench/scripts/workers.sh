#!/bin/sh
# Pages a second of one worker process, by threads: bench/scripts/workers.sh [--owners 40] [--wait 0.5]
set -eu
cd "$(dirname "$0")/../.."
exec "${PYTHON:-.venv/bin/python}" -W ignore bench/scripts/workers.py "$@"
