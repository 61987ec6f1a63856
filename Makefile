SHELL = /bin/bash
.SHELLFLAGS = -o pipefail -ec
# Two commands are enough: `make run` and `make test`. Both need Python 3.11 or newer and a package index.
PORT ?= 8000
JOBS ?= auto
RUN = .venv/bin/python
PYTEST = $(RUN) -m pytest -q -n $(JOBS) --dist loadgroup
# settings for commands that need none of their own
CHECKING = SECRET_KEY=checking SEALING_KEYS=c1:0000000000000000000000000000000000000000000000000000000000000000
LONGER = faults or kill or fuzz or screens
COMPILE = uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-header --no-annotate

.PHONY: help run test test-all longer check bench seed smoke lock messages local dev
.DEFAULT_GOAL := help

help: ## show this
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' Makefile

run: local ## run Berth on this machine: make run PORT=8000
	@exec $(RUN) -m portal.local.run --port $(PORT)

test: dev ## run the tests (four minutes on two cores)
	@$(PYTEST) -m "not ($(LONGER))"

longer: dev ## run the tests with the longer marks: faults, kill, fuzz, screens
	@$(PYTEST) -m "(faults or fuzz or screens) and not kill"
	@$(RUN) -m pytest -q -m kill  # one at a time: whole portals recover here, against the clock

test-all: test longer ## run every test

check: dev ## lint, types, import contracts, templates, settings
	@$(RUN) -m ruff check --quiet .
	@$(RUN) -m ruff format --quiet --check .
	@said=$$(.venv/bin/lint-imports 2>&1) || { echo "$$said"; exit 1; }
	@$(RUN) -m mypy --no-error-summary .
	@$(RUN) -m djlint --quiet --lint templates
	@$(CHECKING) $(RUN) manage.py check
	@$(CHECKING) $(RUN) manage.py makemigrations --check --dry-run
	@$(RUN) -m pytest -q -p no:cacheprovider tests/stack/test_tree.py tests/stack/test_settings.py

bench: dev ## measure: make bench, or make bench ONLY=P5
	@$(RUN) -m bench $(ONLY)

seed: local ## fill the demo into a running portal again
	@$(RUN) manage.py seed_demo

smoke: local ## rent, train and resume through REST against a running portal
	@$(RUN) scripts/smoke.py

messages: dev ## bring the message catalogues in step with the sources
	@$(CHECKING) $(RUN) manage.py messages

lock: dev ## compile requirements/*.in with hashes
	@for name in base local dev pods; do \
		.venv/bin/$(COMPILE) requirements/$$name.in --output-file requirements/$$name.txt || exit 1; done

local:
	@PYTHON="$(PYTHON)" scripts/environment local

dev:
	@PYTHON="$(PYTHON)" scripts/environment dev
