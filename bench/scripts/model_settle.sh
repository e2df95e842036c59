#!/bin/sh
# A real model and pages of a conversation: what is placed, by whom, and how long it takes:
# bench/scripts/model_settle.sh http://127.0.0.1:8090/v1 locomo.json [--pages 60] [--model NAME]
set -eu
command -v "${PYTHON:=.venv/bin/python}" >/dev/null || PYTHON=python
exec "$PYTHON" "$(dirname "$0")/model_settle.py" "$@"
