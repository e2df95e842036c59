#!/bin/sh
# What calls and cold commands cost on the processor: bench/scripts/calls.sh [--pages 500] [--runs 5] [--against SRC]
set -eu
cd "$(dirname "$0")/../.."
exec "${PYTHON:-.venv/bin/python}" -W ignore bench/scripts/calls.py "$@"
