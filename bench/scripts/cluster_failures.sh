#!/bin/sh
# What machines that fail cost a store: bench/scripts/cluster_failures.sh [--part citus|pooler|failover|rates] [--seconds 40]
# Starts PostgreSQL servers of its own on loopback and stops them again: the binaries of --bin (PostgreSQL 15 or newer,
# with Citus for the parts citus and rates), and pgbouncer for the part pooler. About two minutes a part.
set -eu
cd "$(dirname "$0")/../.."
exec "${PYTHON:-.venv/bin/python}" -W ignore bench/scripts/cluster_failures.py "$@"
