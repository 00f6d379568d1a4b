# Everything here needs only make and Python >= 3.11 (with venv and pip). `make help` lists the targets.

VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/stamps
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet --quiet --no-input
# pip would compile what it installs in one process. Packages hold files that no Python reads: those are passed over.
COMPILE := $(BIN)/python -m compileall -qq -j 0 $(VENV)/lib || true

# The first of these that is new enough and can make a virtual environment. `make PYTHON=/path/to/python` chooses another.
CANDIDATES := python3.13 python3.12 python3.11 python3 python3.14 python
FITS := -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))'
PYTHON ?= $(shell for p in $(CANDIDATES); do "$$p" $(FITS) >/dev/null 2>&1 && echo "$$p" && break; done)

# What `make test` leaves out: continuous integration runs slow, crash, browser and shared_data apart, test-all everything.
MARKS := not (slow or thorough or crash or browser or bench or shared_data)
# Three processes on two cores, as each waits now and then, each given one file after the other: what takes long first.
PYTEST := $(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder
# Compiles the loops: what is compiled is kept.
LOOPS := tests/transforms/core/test_compiled.py::test_every_loop_can_be_compiled
# By which `make test-all` draws its examples; `make test-all SEED=…` draws the same again.
SEED ?= $(shell od -An -N4 -tu4 /dev/urandom | tr -d ' ')

export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1
export DO_NOT_TRACK := 1
export PREFECT_SERVER_ANALYTICS_ENABLED := false
unexport PYTHONPATH
unexport PYTHONHOME
# Images often set it: every process that a test starts would compile all modules anew, and pytest every test.
unexport PYTHONDONTWRITEBYTECODE

.DELETE_ON_ERROR:
.PHONY: setup setup-dev demo test test-all mutants lint format declared bench bench-smallest bench-full pictures lock clean help

setup: $(STAMPS)/runtime ## Set up: a virtual environment in .venv with the locked packages (the default; a minute or two, once)
	@echo "Ready: $(BIN)/slowwave --help names the commands, make demo shows them at work"

setup-dev: $(STAMPS)/dev ## Set up, with what tests and linters need

demo: $(STAMPS)/runtime ## Replay the sample logs and show the morning's tables (a minute)
	@$(BIN)/slowwave demo

test: $(STAMPS)/dev ## Run the tests, without the slow ones (minutes; ARGS='-k name' tries some)
	@$(PYTEST) -m "$(MARKS)" $(ARGS)

test-all: SEED := $(SEED)
test-all: $(STAMPS)/dev ## Run all tests, all cases and more examples of each (an hour; SEED=… draws those of an earlier run)
	@echo "Examples drawn by SEED=$(SEED)"
	@SLOWWAVE_TESTS=all $(PYTEST) -m "not bench" --hypothesis-seed=$(SEED) $(ARGS) \
		|| { echo "Failed with SEED=$(SEED)" >&2; exit 1; }

mutants: $(STAMPS)/dev ## Try 40 mutations of the code on the tests that reach them (hours; ARGS='3 17' tries these)
	@$(BIN)/python tests/mutants/try_mutants.py $(ARGS)

lint: $(STAMPS)/dev ## Check format, style and types
	@echo "ruff format --check" && $(BIN)/ruff format --check .
	@echo "ruff check" && $(BIN)/ruff check .
	@echo "pyright" && $(BIN)/pyright

format: $(STAMPS)/dev ## Format, and repair what can be repaired
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

declared: $(STAMPS)/dev ## Write anew what commands know of columns without loading the declarations
	@$(BIN)/python tests/support/declared_columns.py

bench: $(STAMPS)/dev ## Measure a whole night against its limit, record and peers (minutes); ARGS=--record records it
	@$(BIN)/python tests/support/night/night_bench.py $(ARGS)

bench-smallest: $(STAMPS)/dev ## Measure the smallest night against the record
	@$(BIN)/python tests/support/night/night_bench.py --smallest $(ARGS)

bench-full: $(STAMPS)/dev ## Measure also 1,000,000 interactions, a year, uncommon nights, engines, the dashboard (hours)
	@$(BIN)/python tests/support/night/night_bench.py --full $(ARGS)
	@$(BIN)/python tests/support/night/large_bench.py $(ARGS)
	@$(BIN)/python -m pytest tests/bench -m bench -s

pictures: $(STAMPS)/dev ## Make the pictures in README anew, from the sample logs (needs Chromium)
	@PYTHONPATH=tests/support/browser:tests/support/logs $(BIN)/python tests/support/homes/make_pictures.py

# An existing lock is kept as far as it still fits; `make lock ARGS=--upgrade` takes the newest versions instead.
LOCK := $(BIN)/python -m uv --quiet pip compile pyproject.toml --universal --python-version 3.11 \
	--generate-hashes --no-annotate --no-emit-index-url --custom-compile-command "make lock"

lock: $(STAMPS)/venv ## Work out both lock files anew from pyproject.toml (ARGS=--upgrade takes the newest versions)
	@$(PIP) install "uv>=0.9,<1"
	@echo "Locking what running needs"
	@$(LOCK) --group build --output-file requirements.lock $(ARGS)
	@echo "Locking what development needs"
	@$(LOCK) --group build --group dev --extra dask --extra llm --extra mcp --extra otlp --extra postgres --extra ray --extra s3 --constraints requirements.lock --output-file requirements-dev.lock $(ARGS)

clean: ## Remove the environment, builds and caches; never the lake or what was published
	@rm -rf $(VENV) build dist *.egg-info .pytest_cache .ruff_cache .hypothesis
	@find . -path ./data/lake -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

# ------------------------------------------------------------------------------------------------------------- set-up
# The locks hold every package, so pip is asked to resolve nothing (an old one stumbles over extras).
# Each stamp is written when its step is done, so an interrupted step is repeated and a finished one costs nothing.

# An environment knows where it lies: in a checkout that was moved or copied, it is made again.
ifneq ($(shell cat $(STAMPS)/venv 2>/dev/null),$(CURDIR))
.PHONY: $(STAMPS)/venv
endif

$(STAMPS)/venv:
	@if ! "$(PYTHON)" $(FITS) >/dev/null 2>&1; then \
		echo "Slowwave needs Python 3.11 or newer with its venv and ensurepip modules. Tried: $(or $(PYTHON),$(CANDIDATES))" >&2; \
		echo "Install one (on Debian and Ubuntu: python3 and python3-venv), or name it: make PYTHON=/path/to/python3" >&2; \
		exit 1; \
	fi
	@echo "Making a virtual environment in $(VENV) with $$("$(PYTHON)" --version)"
	@rm -rf $(STAMPS)
	@"$(PYTHON)" -m venv --clear $(VENV)
	@mkdir -p $(STAMPS) && printf '%s\n' "$(CURDIR)" > $@

$(STAMPS)/runtime: $(STAMPS)/venv requirements.lock pyproject.toml setup.py
	@echo "Installing the locked packages (the first time takes a minute or two)"
	@$(PIP) install --no-compile --require-hashes --no-deps -r requirements.lock
	@$(COMPILE)
	@echo "Installing slowwave itself"
	@$(PIP) install --no-index --no-deps --no-build-isolation --editable .
	@mkdir -p $(VENV)/typecheck && ln -sfn ../.. $(VENV)/typecheck/slowwave
	@touch $@

$(STAMPS)/dev: $(STAMPS)/runtime requirements-dev.lock
	@echo "Installing the locked packages for tests and linters"
	@$(PIP) install --no-compile --require-hashes --no-deps -r requirements-dev.lock
	@$(COMPILE)
	@echo "Compiling tests and loops, which are kept"
	@$(BIN)/python -m pytest --collect-only >/dev/null 2>&1 & \
		$(BIN)/python -m pytest $(LOOPS) >/dev/null 2>&1; wait
	@touch $@
