# Everything needs only Python (3.11 or later) and make; the tools come into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
READY := $(VENV)/.ready
PIP := $(BIN)/python -m pip install --disable-pip-version-check
# Without what Python keeps, each process of the tests would compile all of them again: 14 seconds of a core each.
unexport PYTHONDONTWRITEBYTECODE
# The sections of lock.txt that stand before the named one.
LOCKED_BEFORE = sed '/^\# $(1):/,$$d' lock.txt | $(PIP) --require-hashes -r /dev/stdin
# Tests of the screen wait for it a part of their time: one more at once than there are cores, and two where many are of
# terminals and servers, which only wait. Each one more costs five seconds of a core: it collects all tests.
CORES = $$($(BIN)/python -c "import os; print((os.cpu_count() or 1) + $(1))")
SPREAD = -n $(call CORES,1) --dist worksteal

.PHONY: help demo test test-quick test-demo test-real test-velero test-velero-share test-fleet fleet-proof truth check format bench bench-night bench-quick bench-peers screenshots snapshots rooms tour chaos chaos-share chaos-full mutants agreement bundle lock man clean

help:            ## this list
	@sed -n 's/^\([a-z-]*\): .*##/\1\t/p' $(MAKEFILE_LIST) | expand -t 16

# On standard error: the report that make demo prints without a terminal stays clean.
$(INSTALLED): pyproject.toml lock.txt
	@echo "Installing foretop and the packages that it runs with into $(VENV). This takes about a minute, once." >&2
	@$(PYTHON) -m venv --clear $(VENV)
	@$(call LOCKED_BEFORE,dev) >&2
	@$(PIP) --quiet --no-deps --no-build-isolation -e .
	@touch $@

$(READY): $(INSTALLED)
	@echo "Installing the tools of developers into $(VENV)." >&2
	@$(call LOCKED_BEFORE,go) --quiet
	@touch $@

# pip compiles what it installs; a checkout is run in the same state, so that starts are as quick as a user's.
# Whatever the shell says about it, pytest keeps the tests compiled too: each of its processes would do that anew.
export PYTHONDONTWRITEBYTECODE :=
.PHONY: compiled
compiled: $(READY)
	@$(BIN)/python -m compileall -q -j 0 core tui tests trials

demo: $(INSTALLED) ## see foretop at work, without a cluster
	@$(BIN)/python -m compileall -q -j 0 core tui
	@$(BIN)/foretop demo

# Every worker would rewrite the assertions of all tests: in a new checkout two processes do it before them.
REWRITTEN := $(VENV)/.rewritten
$(REWRITTEN): $(READY)
	@printf '%s\n' tests/unit "tests/agreement tests/tui tests/wire tests/rooms" | xargs -P 2 -L 1 $(BIN)/python -m pytest --collect-only -qq >/dev/null || true
	@touch $@

test: compiled $(REWRITTEN) ## the tests that need nothing but Python, without the long sweeps that tour runs
	$(BIN)/python -m pytest -n $(call CORES,2) --dist worksteal -m "not sweep"

# The rules and models, but for what is marked as long; of what needs a server or a screen, a file or two for each package.
QUICK = tests/unit $(addprefix tests/wire/test_,actions.py client.py kubeconfig.py reflector.py session.py) \
	$(addprefix tests/tui/test_,deeds.py footer.py handlers.py resource_list.py)
test-quick: compiled ## the inner loop: all unit tests but the longest, and a share of those before a server and a screen
	$(BIN)/python -m pytest $(SPREAD) -m "not sweep and not long" $(QUICK)

test-demo: compiled ## the tests of the simulated cluster: its API server, controllers and scenes
	$(BIN)/python -m pytest $(SPREAD) tests/demo

WITH_GO = command -v go >/dev/null || sed -n '/^\# go:/,$$p' lock.txt | $(PIP) --quiet --require-hashes -r /dev/stdin 2>/dev/null || true
test-real: compiled  ## the tests against a real API server, built once from its Go modules
	@$(WITH_GO)
	@$(BIN)/python -m tests.real.build
	$(BIN)/python -m pytest tests/real

# Several Veleros at once, where each process may have a network of its own; the longest stories begin first.
OWN_USER = $$([ "$$(id -u)" = 0 ] || ! unshare -r true 2>/dev/null || echo unshare -r)
TEST_VELERO = $(OWN_USER) $(BIN)/python -m pytest tests/velero --dist load --maxschedchunk 1

test-velero: compiled ## the box and foretop beside real Velero servers, built once from their Go modules
	@$(WITH_GO)
	@$(BIN)/python -m tests.velero.build
	$(TEST_VELERO) -n 3 --durations=0

test-velero-share: compiled ## the five-minute share of test-velero; skipped where its servers are not built yet
	@if $(BIN)/python -m tests.velero.build --cached; then $(TEST_VELERO) -n 2 -m share -rs; \
	else echo "Skipped: run make test-velero once to build them."; fi

HOURS ?= 1
truth: compiled  ## random stories on a real Velero for HOURS=n, every forecast of foretop judged
	@$(BIN)/python -m tests.velero.build
	$(BIN)/python -m trials.truth --hours $(HOURS)

test-fleet: compiled ## the exporter, its rules and alerts before a real Prometheus and Alertmanager; skipped without them
	$(BIN)/python -m pytest $(SPREAD) tests/rooms/exporter/fleet -rs

MINUTES ?= 20
fleet-proof: compiled ## an outage of storage under a real Velero: what fires of the mixin, and of Velero's helm chart
	@$(WITH_GO)
	$(BIN)/python -m tests.rooms.exporter.fleet.proof --minutes $(MINUTES)

check: $(READY)  ## lint, types and the import contract
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: $(READY) ## put the code in order
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: compiled  ## measure the rules against their goals (prints, never fails)
	$(BIN)/python -m trials.bench

bench-night: $(READY) ## forecasts of starts in worlds and recordings, scored beside two simple rules (prints, never fails)
	$(BIN)/python -m trials.bench.forecast_scores

bench-quick: compiled ## measure the dashboard before ten thousand NABs (prints, never fails)
	$(BIN)/python -m trials.bench.dashboard_in_terminal

bench-peers: compiled ## foretop and k9s before a real API server with 1,000, 10,000 and 50,000 NABs (prints, never fails)
	$(BIN)/python -m trials.bench.peers

screenshots: $(READY) ## draw the README's pictures from the demo's scenes
	$(BIN)/python -m tests.tui.pictures screenshots

snapshots: $(READY) ## rewrite the pictures and texts that the tests compare the screens with
	$(BIN)/python -m tests.tui.pictures --snapshots

rooms: compiled  ## without each room and its tests, in a copy of the tree: is the rest whole?
	$(BIN)/python -m tests.house.rooms

tour: compiled   ## every key in the views and windows at four sizes, by pilot and as bytes, and all sweeps
	$(BIN)/python -m pytest $(SPREAD) tests/tour
	$(BIN)/python -m pytest $(SPREAD) -m sweep

COMPARISONS ?= 1000000
agreement: compiled ## do all places that state a fact agree, in a million random comparisons?
	$(BIN)/python -m tests.agreement --comparisons $(COMPARISONS) --seed $(SEED)

CHAOS = $(BIN)/python -m trials.chaos
SEED ?= 1
chaos-share: compiled ## broken on purpose, from a seed: two minutes of the table in docs/measurements.md
	$(CHAOS) objects 2000 --seed $(SEED)
	$(CHAOS) store 100 --seed $(SEED)
	$(CHAOS) tasks 10 --seed $(SEED)
	$(CHAOS) writes 10 --seed $(SEED)
	$(CHAOS) deaths 4 --seed $(SEED)

chaos: compiled  ## broken on purpose: ten minutes of the table, with a real API server where it is built
	$(CHAOS) objects 20000 --seed $(SEED)
	$(CHAOS) store 300 --seed $(SEED)
	$(CHAOS) tasks 50 --seed $(SEED)
	$(CHAOS) writes 60 --seed $(SEED)
	$(CHAOS) deaths 10 --seed $(SEED)
	$(CHAOS) crowd 40 --seed $(SEED)
	$(CHAOS) real 100 --seed $(SEED)
	$(CHAOS) long 50000 --seed $(SEED)

chaos-full: compiled ## the whole table
	$(CHAOS) objects 100000 --seed $(SEED)
	$(CHAOS) store --seed $(SEED)
	$(CHAOS) tasks --seed $(SEED)
	$(CHAOS) writes --seed $(SEED)
	$(CHAOS) deaths --seed $(SEED)
	$(CHAOS) crowd --seed $(SEED)
	$(CHAOS) real --seed $(SEED)
	$(CHAOS) long --seed $(SEED)
	$(BIN)/python -m pytest $(SPREAD) tests/tui/test_hostile_bytes.py tests/tui/test_survives.py

MUTANTS ?= 100
mutants: compiled ## change one operator, comparison, number or condition of the core at a time: do the tests notice?
	nice $(BIN)/python -m trials.mutants --count $(MUTANTS) --seed $(SEED)

bundle: $(INSTALLED) ## foretop with an interpreter of its own, in one file under dist/
	@$(WITH_GO)
	$(BIN)/python packaging/bundle.py $(BUNDLE)

lock: $(READY)   ## pin what pyproject.toml asks for in lock.txt; LOCK=--upgrade takes the newest releases
	$(BIN)/python packaging/lock.py $(LOCK)

man: $(READY)    ## write the manual page to dist/foretop.1
	@mkdir -p dist && $(BIN)/python packaging/manual_page.py > dist/foretop.1 && echo dist/foretop.1

clean:           ## remove what make built
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .hypothesis
