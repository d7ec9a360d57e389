# SPDX-License-Identifier: BSD-3-Clause
# Thin on purpose: every target is a command that can be typed.

PYTHON := .venv/bin/python
PYTHON_FOLDERS := scripts tests gem5-configs benchmarks
GUEST_C := $(shell git ls-files 'benchmarks/*.[ch]' 2>/dev/null)
SCENARIO_SCRIPTS := $(wildcard benchmarks/*/*-check)
SELFTESTS := $(filter-out %Makefile %.c %.h %.md %/event-stream,$(wildcard benchmarks/selftests/*))
SHELL_SCRIPTS := lull scripts/setup scripts/check-types .ci/run benchmarks/guest/lull-selftest buildroot-overlay/board/post-build.sh \
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
	$(PYTHON) -m ruff check $(PYTHON_FOLDERS)
	$(PYTHON) -m ruff format --check $(PYTHON_FOLDERS)
	scripts/check-types
	.venv/bin/clang-format --dry-run --Werror $(GUEST_C)
	shellcheck --external-sources --source-path=SCRIPTDIR --exclude=SC2317 $(SHELL_SCRIPTS)

setup:
	@scripts/setup

clean:
	rm -rf .venv .setup.log .setup.lock .mypy_cache .ruff_cache .pytest_cache
