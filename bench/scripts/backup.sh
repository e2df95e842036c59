#!/bin/sh
# Backup and restore of a store of many pages while others write: bench/scripts/backup.sh [--pages 100000] [--folder /tmp]
set -eu
cd "$(dirname "$0")/../.."
exec "${PYTHON:-.venv/bin/python}" -W ignore bench/scripts/backup.py "$@"
