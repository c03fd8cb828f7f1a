# Two commands do all the set-up on a fresh machine with Python 3.11: make demo, make test.
PYTHON ?= python3
VENV := .venv
BIN_NAME := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
BIN := $(VENV)/$(BIN_NAME)
STAMP := $(VENV)/.installed

.PHONY: demo desk test test-random test-alone test-lowest test-newest lint types install docs site bench results dist clean

$(STAMP): pyproject.toml papers/pyproject.toml src/tagrank/_version.py
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -c 'import sys; sys.exit("tagrank needs Python 3.11 or newer; run: make PYTHON=python3.11") if sys.version_info < (3, 11) else None'
	@echo "Installing tagrank, tagrank-papers and test tools into $(VENV) (about a minute) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]' --editable ./papers
	@touch $@

install: $(STAMP)

demo: $(STAMP)
	$(BIN)/tagrank demo --output tagrank-demo

# The desk on drawn pictures that lack half of their tags
desk: $(STAMP)
	$(BIN)/tagrank desk --demo

# Files of tests are dealt to so many processes, which share one folder of compiled code; the longest come first
JOBS ?= 2
LONGEST := tests/app/web/browser tests/test_documents.py tests/app/cli/test_demo.py tests/test_benchmarks.py tests/papers tests/estimators/test_common.py
test: lint types
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder $(LONGEST) tests

# The tests pass in any order: make test-random SEED=7 FILES=tests/desk repeats one
SEED ?= new
FILES ?= tests
test-random: $(STAMP)
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder --random-order $(SEED) $(FILES)

# Each file in a process of its own
test-alone: $(STAMP)
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && \
	find $(FILES) -name 'test_*.py' | sort | NUMBA_CACHE_DIR="$${NUMBA_CACHE_DIR:-$$folder}" \
	xargs -P $(JOBS) -I '{}' sh -c '$(BIN)/python -m pytest --tb=short "{}" && echo "{} passes alone" || { echo "{} fails alone"; exit 1; }'

# With the oldest versions that pyproject.toml allows, and with the newest that there are
test-lowest test-newest: test-%:
	rm -rf $(VENV)-$* && $(PYTHON) -m venv $(VENV)-$*
	if [ $* = lowest ]; then $(VENV)-$*/$(BIN_NAME)/python tests/lowest_versions.py; fi > $(VENV)-$*/constraints.txt
	$(VENV)-$*/$(BIN_NAME)/python -m pip install --quiet --disable-pip-version-check --constraint $(VENV)-$*/constraints.txt \
	    --editable '.[test]' --editable ./papers
	$(VENV)-$*/$(BIN_NAME)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder $(FILES)

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

# Tables in pages that come from the code, and pages of figures that are kept
docs: $(STAMP)
	$(BIN)/python docs/tables.py
	$(BIN)/python docs/docstrings.py
	$(BIN)/python docs/public_types.py
	$(BIN)/python docs/results.py

# The documentation site in site/, without network; a warning, such as a broken link, is an error
SITE_STAMP := $(VENV)/.site-installed
$(SITE_STAMP): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@

site: $(SITE_STAMP)
	rm -rf site build/site
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --conf-dir docs/site --doctree-dir build/site . site
	@echo "open site/index.html"

NAME ?= all
# All that time us beside a peer; make bench NAME=scaling runs one, with options: make bench NAME="scaling --quick"
bench: $(STAMP)
	$(BIN)/python -m benchmarks $(NAME)

# All tables of the papers that can be measured and were not by the code of today, for hours; Ctrl-C ends it, and
# the same command goes on. make results NAME=jsvm-table4 measures one
results: $(STAMP)
	$(BIN)/python docs/results.py $(NAME)

# Wheel and source distribution in dist/. The wheel is made from the source distribution, so that one builds again
dist: $(STAMP)
	rm -rf dist
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'build>=1.2' 'twine>=6'
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python -m twine check --strict dist/*

clean:
	rm -rf $(VENV) $(VENV)-lowest $(VENV)-newest tagrank-demo tagrank-desk build dist site docs/reference .mypy_cache .ruff_cache .pytest_cache
