#!/bin/sh
# What forgetting one page costs: benchmarks/forgetting.sh [--pages 5000] [--store FILE]
set -eu
cd "$(dirname "$0")/.."
exec "${PYTHON:-.venv/bin/python}" -W ignore benchmarks/forgetting.py "$@"
