# `make demo` and `make test` set up what they need; Python 3.11 or newer and make are enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := data
READY := $(VENV)/.ready
# The DuckDB that requirements.lock does not hold: every test runs on both, and some on both at once.
OTHER_DUCKDB := $(VENV)/other-duckdb
# dbt, which a benchmark stands beside our own build; it wants other packages than we do.
DBT := $(VENV)/dbt

.PHONY: demo test test-duckdb lint bench docs lock clean
.DELETE_ON_ERROR:

# Hashes pin every byte of every dependency; the project itself needs no download.
$(READY): requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "gpuledger needs Python 3.11 or newer; set PYTHON=...")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@

$(OTHER_DUCKDB)/.ready: requirements-other-duckdb.lock | $(READY)
	rm -rf $(OTHER_DUCKDB)
	$(BIN)/python -m pip install --quiet --require-hashes --no-deps --target $(OTHER_DUCKDB) -r requirements-other-duckdb.lock
	touch $@

# Exit status 3 is "published, with a source that failed": the sample's second night has one on purpose.
demo: $(READY)
	$(BIN)/gpuledger refresh --sample --data-dir $(DEMO) || test $$? -eq 3
	$(BIN)/gpuledger value sd-512-image-generation --data-dir $(DEMO)
	@echo "warehouse: $(DEMO)/gpuledger.duckdb    CSV files: $(DEMO)/exports"

test: $(READY) $(OTHER_DUCKDB)/.ready
	$(BIN)/python -m pytest -n 2 --dist loadfile

# As long as `make test` again: after a change of SQL, and before another DuckDB is locked.
test-duckdb: $(READY) $(OTHER_DUCKDB)/.ready
	PYTHONPATH=$(CURDIR)/$(OTHER_DUCKDB) $(BIN)/python -m pytest -n 2 --dist loadfile

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

docs: $(READY)
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/when_is_a_3060_enough.py

lock: $(READY)
	$(BIN)/uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 --no-emit-index-url --generate-hashes --quiet --output-file requirements.lock
	$(BIN)/python tools/lock_extras.py requirements.lock
	echo 'duckdb>=1.5.5,<2' | $(BIN)/uv pip compile - --universal --python-version 3.11 --no-emit-index-url --generate-hashes --no-annotate --quiet --output-file requirements-other-duckdb.lock

clean:
	rm -rf $(VENV) $(DEMO) .mypy_cache .ruff_cache .pytest_cache .hypothesis
