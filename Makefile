# `make demo` and `make test` set up what they need; Python 3.11 or newer and make are enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := data
READY := $(VENV)/.ready
# The DuckDB of analysts who have not moved to 2.0: a test reads the published file with both.
DUCKDB15 := $(VENV)/duckdb15
# dbt, which a benchmark stands beside our own build; it wants other packages than we do.
DBT := $(VENV)/dbt

.PHONY: demo test lint bench mutants docs lock clean
.DELETE_ON_ERROR:

# Hashes pin every byte of every dependency; the project itself needs no download.
$(READY): requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "gpuledger needs Python 3.11 or newer; set PYTHON=...")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@

$(DUCKDB15)/.ready: requirements-duckdb15.lock | $(READY)
	$(BIN)/python -m pip install --quiet --require-hashes --no-deps --upgrade --target $(DUCKDB15) -r requirements-duckdb15.lock
	touch $@

# Exit status 3 is "published, with a source that failed": the sample's second night has one on purpose.
demo: $(READY)
	$(BIN)/gpuledger refresh --sample --data-dir $(DEMO) || test $$? -eq 3
	$(BIN)/gpuledger value sd-512-image-generation --data-dir $(DEMO)
	@echo "warehouse: $(DEMO)/gpuledger.duckdb    CSV files: $(DEMO)/exports"

test: $(READY) $(DUCKDB15)/.ready
	$(BIN)/python -m pytest -n 2 --dist loadfile

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

$(DBT)/.ready: benchmarks/dbt/requirements.lock
	test -x $(DBT)/bin/python || $(PYTHON) -m venv $(DBT)
	$(DBT)/bin/python -m pip install --quiet --require-hashes --no-deps -r benchmarks/dbt/requirements.lock
	touch $@

bench: $(READY) $(DBT)/.ready
	$(BIN)/python -m benchmarks

# Small faults, one at a time, to see whether the tests notice. Takes an hour; `tools/mutate.py --each 3 warehouse` less.
mutants: $(READY)
	$(BIN)/python tools/mutate.py

docs: $(READY)
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/when_is_a_3060_enough.py

lock: $(READY)
	$(BIN)/uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 --no-emit-index-url --generate-hashes --quiet --output-file requirements.lock
	$(BIN)/python tools/lock_extras.py requirements.lock
	echo 'duckdb>=1.5,<1.6' | $(BIN)/uv pip compile - --universal --python-version 3.11 --no-emit-index-url --generate-hashes --no-annotate --quiet --output-file requirements-duckdb15.lock

clean:
	rm -rf $(VENV) $(DEMO) .mypy_cache .ruff_cache .pytest_cache .hypothesis
