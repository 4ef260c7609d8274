# make demo   set up, then rerank example_nbest/mt with the default configuration
# make test   set up, then the checks and the tests
# make release  what a release needs besides `make test`: CONTRIBUTING.md lists it
# make check  the checks without the tests; make fast: the fast tests; make bench: the benchmarks, with their ratios
# make docs   write the documentation as a site, to build/site; open its index.html
# make dist   build the source distribution and the wheel in dist/, and run the demo from the wheel
# make kernels  the tests of kernels as plain Python, with checks of indices, and with the oldest and the newest numba
# make mutants  small changes to formulas, which tests must notice (python -m tests.mutations --help)
# make pythons  the demo and the fast tests on every supported Python that is installed
PYTHON ?= python3
VENV ?= .venv
CORE ?= .venv-core
BIN = $(VENV)/bin
PIP_INSTALL = -m pip install --quiet --disable-pip-version-check -c constraints.txt
# The extra `all`, except that KenLM is left out where it cannot be built (tests/install_kenlm.sh).
EXTRAS ?= frames,ml,plot,serve,speech,stanza,wordnet,docs,test
export OMP_NUM_THREADS = 1

# $(call install,ENVIRONMENT,WHAT): pip writes to a file; where it fails, one line says what is missing.
define install
@$(1)/bin/python $(PIP_INSTALL) $(2) > $(1)/install.log 2>&1 || { \
	if grep -qi 'no space left' $(1)/install.log; then \
		why='there is no space left on the disk'; \
	elif grep -qE 'NewConnectionError|ConnectTimeout|NameResolution|ProxyError|Network is unreachable|Max retries|No matching distribution' $(1)/install.log; then \
		why='packages cannot be downloaded; a network is needed, or the address of a package index in PIP_INDEX_URL'; \
	else \
		why=$$(grep -iE '^ *error' $(1)/install.log | tail -n 1); why="pip failed: $${why:-exit code 1}"; \
	fi; \
	echo "make: $$why (all that pip said: $(1)/install.log)" >&2; exit 1; }
endef

demo: $(VENV)/demo.installed
	@echo 'make: the demo takes one to two minutes on two cores; the first use of features compiles their kernels, which takes up to 30 s, once' >&2
	$(BIN)/rerank run configs/mt.toml $(RUN)

# mypy and lint-imports run beside the tests, and what they say is printed after these.
test: environments style
	@$(MAKE) --no-print-directory types > $(VENV)/types.log 2>&1 & checking=$$!; \
	echo "RERANK_CORE=$(CORE) $(BIN)/pytest"; RERANK_CORE=$(CORE) $(BIN)/pytest; tested=$$?; \
	wait $$checking; checked=$$?; cat $(VENV)/types.log; exit $$((tested ? tested : checked))

release: environments
	RERANK_CORE=$(CORE) $(BIN)/pytest -m "release or hypothesis" --hypothesis-profile=release
	@$(MAKE) --no-print-directory bench

# Both at the same time.
environments:
	@$(MAKE) --no-print-directory --jobs=2 $(VENV)/test.installed $(CORE)/installed

check: style types

style: $(VENV)/test.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/test.installed
	$(BIN)/mypy
	$(BIN)/lint-imports

fast: $(VENV)/test.installed
	$(BIN)/pytest -m "not slow"

bench: $(VENV)/test.installed
	$(BIN)/pytest tests/bench -m bench --numprocesses=0 --benchmark-enable --benchmark-columns=min,median,ops

docs: $(VENV)/docs.installed
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build -f docs/mkdocs.yml

dist: $(VENV)/test.installed
	BUILDER=$(BIN)/python tests/dist.sh

kernels: $(VENV)/test.installed
	tests/kernels.sh work/kernels $(BIN)/python

mutants: $(VENV)/test.installed
	$(BIN)/python -m tests.mutations

pythons:
	EXTRAS=$(EXTRAS) tests/pythons.sh

$(BIN)/python:
	@command -v $(PYTHON) > /dev/null || { echo 'make: Python 3.11 or newer is needed, and there is no $(PYTHON); install it, or name another: make PYTHON=...' >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "make: Python 3.11 or newer is needed; found " + sys.version.split()[0] + " (name another with make PYTHON=...)")'
	@$(PYTHON) -c 'import ensurepip, venv' 2> /dev/null || { echo "make: Python's modules venv and ensurepip are needed; install them (Debian, Ubuntu: apt install python3-venv)" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV)

$(VENV)/demo.installed: $(BIN)/python pyproject.toml constraints.txt
	@echo 'make: installing packages in $(VENV), about 400 MB, which takes a minute or two' >&2
	$(call install,$(VENV),-e .)
	@touch $@

$(VENV)/test.installed: $(VENV)/demo.installed
	$(call install,$(VENV),-e '.[$(EXTRAS)]')
	@tests/install_kenlm.sh $(BIN)/python --quiet --disable-pip-version-check -c constraints.txt > $(VENV)/kenlm.log 2>&1 || \
		echo "make: the tests that need KenLM will be skipped: $$(tail -n 1 $(VENV)/kenlm.log) ($(VENV)/kenlm.log)" >&2
	@touch $@

$(VENV)/docs.installed: $(VENV)/demo.installed
	$(call install,$(VENV),-e '.[docs]')
	@touch $@

# The core dependencies alone, no extras: there the tests run the commands of README, tour and cookbook.
$(CORE)/installed: pyproject.toml constraints.txt | $(BIN)/python
	rm -rf $(CORE)
	$(PYTHON) -m venv $(CORE)
	$(call install,$(CORE),-e .)
	@touch $@

clean:
	rm -rf $(VENV) $(CORE) work build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .benchmarks

.PHONY: demo test release environments check style types fast bench docs dist kernels mutants pythons clean
