# make demo   set up, then rerank example_nbest/mt with the default configuration
# make test   set up, then every check and test
# make check  the checks without the tests; make fast: the fast tests; make bench: the benchmarks, with their ratios
PYTHON ?= python3
VENV ?= .venv
CORE ?= .venv-core
BIN = $(VENV)/bin
PIP_INSTALL = -m pip install --quiet --disable-pip-version-check -c constraints.txt
PIP = $(BIN)/python $(PIP_INSTALL)
export OMP_NUM_THREADS = 1

demo: $(VENV)/demo.installed
	$(BIN)/rerank run configs/mt.toml

test: $(VENV)/test.installed $(CORE)/installed check
	RERANK_CORE=$(CORE) $(BIN)/pytest

check: $(VENV)/test.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

fast: $(VENV)/test.installed
	$(BIN)/pytest -m "not slow"

bench: $(VENV)/test.installed
	$(BIN)/pytest tests/bench --numprocesses=0 --benchmark-enable --benchmark-columns=min,median,ops

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; found " + sys.version.split()[0])'
	$(PYTHON) -m venv $(VENV)

$(VENV)/demo.installed: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) -e .
	@touch $@

$(VENV)/test.installed: $(VENV)/demo.installed
	$(PIP) -e '.[all,test]'
	@touch $@

# The core dependencies alone, no extras: there the tests run the commands of README, tour and cookbook.
$(CORE)/installed: pyproject.toml constraints.txt | $(BIN)/python
	rm -rf $(CORE)
	$(PYTHON) -m venv $(CORE)
	$(CORE)/bin/python $(PIP_INSTALL) -e .
	@touch $@

clean:
	rm -rf $(VENV) $(CORE) work build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .benchmarks

.PHONY: demo test check fast bench clean
