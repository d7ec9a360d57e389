# SPDX-License-Identifier: BSD-3-Clause
# Thin on purpose: every target is a command that can be typed.

PYTHON := .venv/bin/python
GUEST_C := $(shell git ls-files 'benchmarks/*.[ch]' 2>/dev/null)
SCENARIO_SCRIPTS := $(wildcard benchmarks/*/*-check)
SELFTESTS := $(filter-out %Makefile %.c %.h %.md %/event-stream,$(wildcard benchmarks/selftests/*))
SHELL_SCRIPTS := lull scripts/setup .ci/run benchmarks/guest/lull-selftest buildroot-overlay/board/post-build.sh \
	$(SCENARIO_SCRIPTS) $(SELFTESTS)

.PHONY: demo test test-all lint clean setup

demo:
	./lull demo

test: lint
	./lull build all
	$(PYTHON) -m pytest --numprocesses 2

test-all: test
	$(PYTHON) -m pytest --numprocesses 2 -m slow

lint: setup
	$(PYTHON) -m ruff check scripts tests gem5-configs
	$(PYTHON) -m ruff format --check scripts tests gem5-configs
	$(PYTHON) -m mypy
	.venv/bin/clang-format --dry-run --Werror $(GUEST_C)
	shellcheck --external-sources --source-path=SCRIPTDIR --exclude=SC2317 $(SHELL_SCRIPTS)

setup:
	@scripts/setup

clean:
	rm -rf .venv .setup.log .setup.lock .mypy_cache .ruff_cache .pytest_cache
