#!/bin/sh
# Prompt tokens that a model's server reads from its cache, over a conversation with memory:
# bench/scripts/prompt_cache.sh http://127.0.0.1:8090/v1 [--pages 60] [--turns 10] [--model NAME]
# bench/scripts/prompt_cache.sh scripted counts without a model, in seconds.
set -eu
command -v "${PYTHON:=.venv/bin/python}" >/dev/null || PYTHON=python
exec "$PYTHON" "$(dirname "$0")/prompt_cache.py" "$@"
