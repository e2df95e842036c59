#!/bin/sh
# What forgetting one page costs: bench/scripts/forgetting.sh [--pages 5000] [--store FILE]
set -eu
cd "$(dirname "$0")/../.."
exec "${PYTHON:-.venv/bin/python}" -W ignore bench/scripts/forgetting.py "$@"
