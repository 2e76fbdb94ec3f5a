# The build habits of Argus. `make` alone lists them.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-print-directory

VENV  := .venv
PY    := $(VENV)/bin/python
STAMP := $(VENV)/.stamp

# Which Python makes .venv. Empty: the newest of python3.13, python3.12, python3.11, python3 that really runs, and of
# several of that name one that was built to be fast.
PYTHON ?=
export PYTHON

# Only these tiers, for example TIERS="unit contract". Empty: all.
TIERS ?=

# Who the newcomer is: root, or user. Set here because make has an AS of its own, the assembler.
AS := root

# How many seeds `make simulate` plays.
SEEDS ?= 100
FIRST ?= 0

# `make faults`: only these rows, for example ROWS="AG1 CK1". Empty: all.
ROWS ?=

# `make soak`: for how many minutes.
MINUTES ?= 30

# How many runs of an environment `make recovery` breaks.
RUNS ?= 30

# `make bench`: only these rows, for example ONLY="journal breaker"; how many rounds; a file for the figures as JSON;
# seconds for which the idle daemon is watched; QUICK=1 only shows that everything runs.
ONLY   ?=
ROUNDS ?=
OUT    ?=
IDLE   ?=
QUICK  ?=

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: up
up: $(STAMP) ## set up .venv and start Argus in the background (PYTHON=... chooses the Python)
	@ARGUS_NO_AUTOSTART=1 $(VENV)/bin/argus status >/dev/null 2>&1; found=$$?; code=0; \
	if [ $$found -eq 3 ]; then $(VENV)/bin/argus up --detach || code=$$?; \
	else echo "Argus is up already:"; $(VENV)/bin/argus status || true; fi; \
	command -v argus >/dev/null || echo "argus is not on your PATH: it is $(VENV)/bin/argus here."; exit $$code

.PHONY: down
down: ## stop Argus
	@if [ -x $(VENV)/bin/argus ]; then $(VENV)/bin/argus down; else echo "Argus is not set up here: nothing to stop."; fi

.PHONY: test
test: $(STAMP) ## check, then every tier of tests (TIERS="unit contract" runs only those)
	@$(PY) scripts/test_tiers.py $(TIERS)

.PHONY: check
check: $(STAMP) ## lint, format, types, import contracts, the manifest of the CLI
	@$(PY) scripts/check.py

.PHONY: format
format: $(STAMP) ## repair what lint and format can repair by themselves
	@status=0; $(PY) -m ruff check --fix . || status=$$?; $(PY) -m ruff format . || status=$$?; exit $$status

.PHONY: trace
trace: $(STAMP) ## every requirement and the tests that proved it in the last `make test`
	@$(PY) scripts/trace.py

.PHONY: coverage
coverage: $(STAMP) ## how much of the environments, the breakers and the error codes the tests inside reach
	@$(PY) scripts/covered.py

.PHONY: simulate
simulate: $(STAMP) ## the simulation with many seeds (SEEDS=n, from FIRST=n)
	@ARGUS_SEEDS=$(SEEDS) ARGUS_FIRST_SEED=$(FIRST) $(PY) -m pytest -q -n 2 tests/simulation

.PHONY: faults
faults: $(STAMP) ## inject every fault of spec/faults.yaml, each with its bound (ROWS="AG1 CK1" only those)
	@$(PY) scripts/faults.py $(ROWS)

.PHONY: recovery
recovery: $(STAMP) ## break environments while their tests run, and print how many recover (RUNS=30)
	@$(PY) -m tests.recovery.campaign --runs $(RUNS)

.PHONY: soak
soak: $(STAMP) ## everything at once for half an hour, with a fault every 20 s (MINUTES=30)
	@$(PY) -m tests.soak.campaign --minutes $(MINUTES)

.PHONY: demo
demo: $(STAMP) ## the tour: services, agents and a shop on Docker, broken on purpose (FAST=1: without pauses)
	@$(PY) scripts/demo.py $(if $(FAST),--fast)

.PHONY: bench
bench: $(STAMP) ## measure beside floors and peers (ONLY="journal breaker" ROUNDS=7 IDLE=120 OUT=file.json)
	@$(PY) -m benchmarks --only "$(ONLY)" $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(IDLE),--idle $(IDLE)) \
		$(if $(OUT),--out "$(OUT)") $(if $(QUICK),--quick)

.PHONY: newcomer
newcomer: ## up and test on an empty Debian, as root (AS=user: as anyone; TIERS, CACHE=folder, MIRROR=url)
	@$(or $(PYTHON),python3) scripts/newcomer.py --as "$(AS)" $(if $(CACHE),--cache "$(CACHE)") \
		$(if $(MIRROR),--mirror "$(MIRROR)") $(TIERS)

.PHONY: wheel
wheel: $(PY) ## build the wheel into build/wheel
	@$(PY) scripts/install_check.py --wheel

.PHONY: install-check
install-check: $(PY) ## install the wheel with uv and pipx for every Python that is here, and use it (VERSIONS="3.12")
	@$(PY) scripts/install_check.py $(VERSIONS)

# Into a folder of its own: the compiler is large, and nothing else needs it.
.PHONY: helper
helper: $(PY) ## build the static helper of environments anew, for every architecture (installs the compiler)
	@[ -x build/zig/ziglang/zig ] || said=$$($(PY) -m pip install --disable-pip-version-check --no-deps --target build/zig \
		ziglang==$$($(PY) -c 'import sys; sys.path.insert(0, "scripts"); import helper; print(helper.COMPILER)') 2>&1) \
		|| { echo "$$said" >&2; exit 1; }
	@$(PY) scripts/helper.py

.PHONY: page
page: $(PY) ## build the page from dashboard/ anew (needs Node and npm; using Argus does not)
	@$(PY) scripts/page.py

.PHONY: screenshots
screenshots: $(STAMP) ## pictures of every view of the page into docs/images (needs chromium and Docker)
	@$(PY) -m tests.pictures

.PHONY: lock
lock: $(PY) ## write the locks anew from pyproject.toml (UPGRADE=1 takes newer versions)
	@[ -x $(VENV)/bin/uv ] || said=$$($(PY) -m pip install --disable-pip-version-check uv 2>&1) || { echo "$$said" >&2; exit 1; }
	@$(VENV)/bin/uv pip compile --quiet --universal --python-version 3.11 --no-emit-index-url --no-header \
		--no-annotate --generate-hashes --group dev $(if $(UPGRADE),--upgrade) \
		pyproject.toml -o requirements-dev.lock
	@$(VENV)/bin/uv pip compile --quiet --universal --python-version 3.11 --no-emit-index-url --no-header \
		--no-annotate --generate-hashes --group bench $(if $(UPGRADE),--upgrade) -o requirements-bench.lock
	@echo "requirements-dev.lock and requirements-bench.lock are current."

.PHONY: clean
clean: ## remove .venv, caches and the record of the last test run (make down first)
	@rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .trace.jsonl build dist
	@find . -name .git -prune -o -type d -name __pycache__ -prune -exec rm -rf {} +

# The environment is made again when the lock or the project changes, or when another PYTHON is asked for.
$(STAMP): pyproject.toml requirements-dev.lock
	@sh scripts/setup.sh

$(PY):
	@sh scripts/setup.sh --venv-only

ifneq ($(PYTHON),)
ifneq ($(PYTHON),$(shell cat $(STAMP) 2>/dev/null))
$(STAMP): FORCE
endif
endif

.PHONY: FORCE
FORCE:
