# Two commands do all the set-up: `make serve` and `make test`. Each needs only Python 3.11 or newer.
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3; do \
	command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
VENV ?= .venv
BIN := $(VENV)/bin
MANAGE := $(BIN)/python manage.py

.PHONY: help serve install dev test test-services test-postgres test-slow test-browser pictures test-promises soak fuzz test-bge test-conformance lint format openapi contract bench bench-quality clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "Synapse needs Python 3.11 or newer, and none was found. Install it, or name it: make serve PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "Python's venv module is missing. On Debian and Ubuntu: apt-get install python3-venv"; rm -rf $(VENV); exit 1; }

$(VENV)/.installed: requirements.txt | $(VENV)/bin/python
	@echo "Installing Synapse's requirements into $(VENV) …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.txt
	@touch $@

$(VENV)/.installed-dev: requirements.txt requirements-dev.txt | $(VENV)/bin/python
	@echo "Installing the requirements of the tests into $(VENV) …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements-dev.txt
	@touch $@ $(VENV)/.installed

install: $(VENV)/.installed  ## make .venv and install what Synapse runs on

dev: $(VENV)/.installed-dev  ## install also what tests and checks need

serve: install  ## set everything up, scan the vault, and serve it on 127.0.0.1:8000
	@$(MANAGE) serve

test: dev  ## run the tests
	@$(BIN)/python -m pytest -n auto -m "not slow and not services and not browser"

# The tests themselves start, kill and restart Redis and Celery's workers; .ci/services sees that the programs are there.
test-services: dev  ## run the tests on PostgreSQL (SYNAPSE_TEST_DATABASE_URL, default the local server), with Redis and Celery
	@.ci/services
	@SYNAPSE_TEST_REQUIRE_SERVICES=1 \
		SYNAPSE_TEST_DATABASE_URL=$${SYNAPSE_TEST_DATABASE_URL:-postgres://postgres@127.0.0.1:5432/postgres} \
		$(BIN)/python -m pytest -n auto --dist loadscope -m "not slow and not browser"

test-postgres: test-services

test-slow: dev  ## run the tests that need more than seconds
	@$(BIN)/python -m pytest -m slow

# Two browsers at most: more cores do not make the servers' starts shorter, and each browser takes 300 MB.
test-browser: dev  ## open the desk and the admin in Chromium, as a person does
	@PYTHON=$(BIN)/python .ci/browser
	@SYNAPSE_TEST_REQUIRE_BROWSER=1 $(BIN)/python -m pytest tests/browser -m browser -n 2 --dist loadscope $(BROWSER)

pictures: dev  ## make the screenshots of docs/pictures anew, by the tests in the browser
	@PYTHON=$(BIN)/python .ci/browser
	@SYNAPSE_TEST_PICTURES=1 SYNAPSE_TEST_REQUIRE_BROWSER=1 $(BIN)/python -m pytest tests/browser -m browser -n 2 --dist loadscope

test-promises: dev  ## hold Synapse to each promise of docs/promises.md with its full figures (up to 25 minutes)
	@.ci/services
	@rm -f build/promises/sqlite.jsonl build/promises/postgresql.jsonl
	@SYNAPSE_PROMISES=full SYNAPSE_PROMISES_REPORT=$(CURDIR)/build/promises $(BIN)/python -m pytest tests/promises -n auto --dist worksteal
	@$(BIN)/python -m tests.promises.table build/promises

soak: dev  ## everything at once for MINUTES (20), on SQLite and PostgreSQL, while processes are killed: nothing may be lost
	@.ci/services
	@$(BIN)/python -m tests.soak --minutes $(or $(MINUTES),20) $(SOAK)

fuzz: dev  ## look for inputs that break something, for so long: make fuzz MINUTES=10
	@$(BIN)/python -m tests.fuzz $(or $(MINUTES),10)

test-bge:  ## run the tests of EMBEDDER=bge-m3 in .venv-bge, with torch (1.7 GB)
	@.ci/bge-m3

test-conformance: dev  ## let the MCP conformance suite (in .node) and mcpscore (in .venv-mcpscore) judge the endpoint
	@.ci/conformance
	@.ci/mcpscore
	@SYNAPSE_TEST_JUDGES=1 $(BIN)/python -m pytest tests/conformance

lint: dev  ## ruff, mypy, import-linter, Django's checks, the contract check
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(MANAGE) check
	@$(MANAGE) makemigrations --check --dry-run
	@$(MANAGE) mcp_contract --check

format: dev  ## let ruff put the code in order
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

openapi: dev  ## write docs/openapi.json from the code
	@$(MANAGE) spectacular --file docs/openapi.json --format openapi-json --validate --fail-on-warn

contract: dev  ## write the contract of the MCP tools and docs/mcp.md from the code
	@$(MANAGE) mcp_contract
	@$(MANAGE) mcp_contract --docs

bench: dev  ## measure scan, search, read and write, and print a table
	@$(BIN)/python -m benchmarks

bench-quality: dev  ## search quality over a collection: make bench-quality DATA=<folder> MODE=words|meaning|both [JSON=1]
	@test -n "$(DATA)" || { echo "Name the folder of the collection: make bench-quality DATA=<folder> MODE=words|meaning|both [JSON=1]"; exit 2; }
	@$(BIN)/python -m benchmarks.quality "$(DATA)" --mode $(or $(MODE),words) $(if $(VECTORS),--vectors "$(VECTORS)") $(if $(JSON),--json)

clean:  ## remove what was built (never the vault, never var/)
	@rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
