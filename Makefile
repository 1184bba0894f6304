# `make demo` and `make test` need Python 3.11 or newer and nothing else: each sets up what it uses in .venv, with uv
# where there is one, else with venv and pip. `make UV= ...` does without uv; `make PYTHON=python3.12 ...` picks the
# interpreter; `make VENV=.venv-3.12 PYTHON=python3.12 ...` keeps a second environment beside the first.

VENV ?= .venv
BIN := $(VENV)/bin
UV ?= $(shell command -v uv 2>/dev/null)

# A name on the PATH may be a shim with no interpreter behind it, so each is run; and it may lie in the environment that
# is about to be made anew, so what counts is where it really is.
PROBE := import os, sys; sys.version_info >= (3, 11) or sys.exit(1); print(os.path.realpath(sys.executable))
FOUND := $(shell for name in $(or $(PYTHON),python3.13 python3.12 python3.11 python3 python); do \
	"$$name" -c '$(PROBE)' 2>/dev/null && break; done)

# Stamps lie in the environment, so that they go with it. Another interpreter or a changed pyproject.toml makes it anew.
BASE := $(VENV)/.set-up$(subst /,-,$(FOUND))
DEV := $(VENV)/.set-up-dev
BENCH := $(VENV)/.set-up-bench

ifneq ($(strip $(UV)),)
SYNC := UV_PROJECT_ENVIRONMENT='$(VENV)' '$(UV)' sync --quiet --inexact --no-default-groups \
	$(if $(FOUND),--python '$(FOUND)')
INSTALL_BASE := $(SYNC)
INSTALL_DEV := $(SYNC) --group dev
INSTALL_BENCH := $(SYNC) --group bench
else
PIP := '$(BIN)/python' -m pip --quiet --disable-pip-version-check install
INSTALL_BASE := '$(FOUND)' -m venv '$(VENV)' && $(PIP) --upgrade 'pip>=25.1' && $(PIP) --editable .
INSTALL_DEV := $(PIP) --group dev
INSTALL_BENCH := $(PIP) --group bench
endif

REMOVE_ENVIRONMENT := if [ -e '$(VENV)/pyvenv.cfg' ]; then rm -rf '$(VENV)'; fi

.DEFAULT_GOAL := help
.PHONY: help demo test check suite format bench clean

help:
	@echo 'make demo    an order graph, killed in the middle of each effect and recovered'
	@echo 'make test    check, then the whole test suite'
	@echo 'make check   ruff, its formatter, mypy, pyright'
	@echo 'make suite   the test suite alone; PYTEST_ARGS=... goes to pytest'
	@echo 'make format  let ruff rewrite what it can'
	@echo 'make bench   the benchmark beside its peers; BENCH_ARGS=... goes to it'
	@echo 'make clean   remove the environment and everything else that was made here'

demo: $(BASE)
	$(BIN)/effectgraph demo

test: check suite

check: $(DEV)
	$(BIN)/ruff check src tests
	$(BIN)/ruff format --check src tests
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python

PYTEST_ARGS ?= -n auto
suite: $(DEV)
	$(BIN)/pytest $(PYTEST_ARGS)

format: $(DEV)
	$(BIN)/ruff check --fix src tests
	$(BIN)/ruff format src tests

bench: $(BENCH)
	$(BIN)/python tests/benchmarks/run.py $(BENCH_ARGS)

clean:
	@$(REMOVE_ENVIRONMENT)
	rm -rf build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find src tests -name __pycache__ -prune -exec rm -rf {} +

$(BASE): pyproject.toml $(wildcard uv.lock)
ifeq ($(FOUND),)
ifneq ($(PYTHON),)
	@echo 'effectgraph needs Python 3.11 or newer; $(PYTHON) is older, or does not run.' >&2; exit 1
else ifeq ($(strip $(UV)),)
	@echo 'effectgraph needs Python 3.11 or newer, and none of python3.13, python3.12, python3.11, python3 and python' \
	     'on the PATH is one.' >&2
	@echo 'Install it (https://www.python.org/downloads/), or name it: make PYTHON=/path/to/python3 ...' >&2; exit 1
endif
endif
	@$(REMOVE_ENVIRONMENT)
	@echo 'Setting up $(VENV) ...'
	@$(INSTALL_BASE)
	@touch '$@'

$(DEV): $(BASE)
	@echo 'Adding what the checks and tests need to $(VENV) ...'
	@$(INSTALL_DEV)
	@touch '$@'

$(BENCH): $(BASE)
	@echo 'Adding the peers of the benchmark to $(VENV) ...'
	@$(INSTALL_BENCH)
	@touch '$@'
