# Everything a checkout needs: `make demo` to see it work, `make test` to check a change, `make help` for the rest.
# The environment is .venv, built on first use; stamp files in it make every later call instant.

PYTHON ?= python3 python3.14 python3.13 python3.12 python3.11
ARGS ?=

VENV := .venv
PY := $(VENV)/bin/python
CONSTRAINTS := constraints.txt
# a comma written out would end the argument of a call
COMMA := ,

# other projects' modules must not leak in, and bytecode must be written: without it every start takes seconds longer
unexport PYTHONPATH
unexport PYTHONHOME
unexport PYTHONDONTWRITEBYTECODE

# an environment that was copied, moved, or whose interpreter is gone is built anew
VENV_OK := $(shell [ "$$(cat $(VENV)/.stamp-venv 2>/dev/null)" = "$(CURDIR)" ] && $(PY) -c 'import pip' 2>/dev/null && echo yes)
REBUILD := $(if $(VENV_OK),,rebuild)

.PHONY: help demo test test-local env-local lint bench bench-stats bench-real bench-page screenshots env browser constraints clean rebuild
.DEFAULT_GOAL := help

help: ## Show this list.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

demo: $(VENV)/.stamp-run ## Run the demonstration and open the page (ARGS="--no-dashboard" for options).
	$(VENV)/bin/judgewatch demo $(ARGS)

test: browser lint ## Run all checks: format, lint, types, tests (ARGS="-k name" for pytest's options).
	$(PY) -m pytest -q $(ARGS)

test-local: env-local ## Test with a real small model, which is fetched once (1.1 GB); 20 to 35 minutes.
	$(VENV)/bin/judgewatch local fetch
	JUDGEWATCH_TEST_LOCAL=1 $(PY) -m pytest -q -s tests/local_model $(ARGS)

lint: $(VENV)/.stamp-test ## Check format, lint and types.
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy

bench: $(VENV)/.stamp-test ## Measure the budgets (ARGS="--full", ARGS="--only import").
	$(PY) benchmarks/run.py $(ARGS)

bench-stats: $(VENV)/.stamp-bench ## Measure the statistics on simulated judges (ARGS="--quick", ARGS="--env ar1").
	$(PY) -m benchmarks.stats $(ARGS)

bench-real: $(VENV)/.stamp-test ## Measure the statistics on scores of real judges (ARGS="--help").
	$(PY) -m benchmarks.real $(ARGS)

bench-page: $(VENV)/.stamp-test ## Measure the page on a million verdicts (ARGS="--full", ARGS="--keep DIR").
	$(PY) -m benchmarks.page $(ARGS)

screenshots: browser $(VENV)/.stamp-test ## Take the pictures in docs/images anew.
	$(PY) benchmarks/screenshots.py $(ARGS)

env: $(VENV)/.stamp-test ## Build .venv with everything that developing needs.

constraints: $(VENV)/.stamp-venv ## Bring constraints.txt up to pyproject.toml (ARGS="--upgrade" for newer versions).
	@[ -x $(VENV)/bin/uv ] || { echo "this needs uv: $(PY) -m pip install uv" >&2; exit 1; }
	$(VENV)/bin/uv pip compile pyproject.toml --extra test --extra local --python-version 3.11 --no-header --no-annotate --quiet \
		-o $(CONSTRAINTS) $(ARGS)

clean: ## Remove .venv, builds and caches; databases stay.
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# ---------------------------------------------------------------- the environment

rebuild:

$(VENV)/.stamp-venv: $(REBUILD)
	@found=; clear=; \
	for candidate in $(PYTHON); do \
		if "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
			found="$$candidate"; break; \
		fi; \
	done; \
	if [ -z "$$found" ]; then \
		echo "judgewatch needs Python 3.11 or newer; tried: $(PYTHON)." >&2; \
		echo "Install one, or name it: make $(MAKECMDGOALS) PYTHON=/path/to/python3.12" >&2; exit 1; \
	fi; \
	if ! "$$found" -c 'import ensurepip, venv' 2>/dev/null; then \
		echo "$$found cannot make environments: its venv module or ensurepip is missing." >&2; \
		echo "On Debian or Ubuntu, as root: apt-get install python3-venv. Then run make again." >&2; exit 1; \
	fi; \
	[ -e $@ ] && clear=--clear; \
	"$$found" -m venv $$clear $(VENV)
	@$(PY) -m pip install --quiet --disable-pip-version-check uv \
		|| echo "uv cannot be installed; going on with pip, which takes longer." >&2
	@printf '%s\n' "$(CURDIR)" > $@

# uv is tried first because it is ten times faster; it knows nothing of pip's settings, so pip remains the second way
define install
	@echo "Installing judgewatch into $(VENV), once; this takes about half a minute."
	@if [ -x $(VENV)/bin/uv ] \
		&& UV_COMPILE_BYTECODE=1 $(VENV)/bin/uv pip install --quiet --python $(PY) -c $(CONSTRAINTS) -e '$(1)'; then :; \
	else \
		echo "Installing with pip; this takes a few minutes." >&2; \
		$(PY) -m pip install --quiet --disable-pip-version-check -c $(CONSTRAINTS) -e '$(1)' || exit 1; \
		$(PY) -m compileall -q $(VENV)/lib >/dev/null || true; \
	fi
endef

$(VENV)/.stamp-run: pyproject.toml $(CONSTRAINTS) $(VENV)/.stamp-venv
	$(call install,.)
	@touch $@

$(VENV)/.stamp-test: pyproject.toml $(CONSTRAINTS) $(VENV)/.stamp-venv
	$(call install,.[test])
	@touch $(VENV)/.stamp-run $@

env-local: $(VENV)/.stamp-local ## Add what serves a local model to .venv.

$(VENV)/.stamp-local: $(VENV)/.stamp-test
	$(call install,.[test$(COMMA)local])
	@touch $@

$(VENV)/.stamp-bench: $(VENV)/.stamp-test
	$(call install,.[test$(COMMA)bench])
	@touch $@

# ---------------------------------------------------------------- the browser of the page tests

PLAYWRIGHT_HAS_ONE := import pathlib, sys; from playwright.sync_api import sync_playwright as start; \
	p = start().start(); found = pathlib.Path(p.chromium.executable_path).exists(); p.stop(); sys.exit(not found)

browser: $(VENV)/.stamp-test
	@for name in chromium chromium-browser google-chrome; do \
		command -v $$name >/dev/null 2>&1 && exit 0; \
	done; \
	$(PY) -c '$(PLAYWRIGHT_HAS_ONE)' 2>/dev/null && exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
		echo "Installing Chromium for the page tests."; \
		export DEBIAN_FRONTEND=noninteractive; \
		install="apt-get install -y -qq --no-install-recommends chromium"; \
		{ $$install || { apt-get update -qq && $$install; }; } >/dev/null && exit 0; \
	fi; \
	echo "No Chromium found; trying playwright's own."; \
	$(PY) -m playwright install chromium && exit 0; \
	echo "The page tests need a Chromium. Install one, then run make test again:" >&2; \
	echo "  Debian, as root:  apt-get install --no-install-recommends chromium" >&2; \
	echo "  elsewhere:        $(PY) -m playwright install --with-deps chromium" >&2; \
	exit 1
