# SPDX-License-Identifier: BSD-3-Clause
# Thin on purpose: every target is a command that can be typed.

PYTHON := .venv/bin/python
PYTHON_FOLDERS := scripts tests gem5-configs benchmarks docs/notebook.ipynb
# What is here, committed or not: a new experiment's files are checked before they are committed.
FILES := $(shell git ls-files --cached --others --exclude-standard 2>/dev/null)
GUEST_C := $(foreach file,$(filter %.c %.h,$(FILES)),$(if $(findstring /selftests/,$(file))$(filter benchmarks/% tests/native/%,$(file)),$(file)))
SHELL_SCRIPTS = $(filter-out %.md %.py,$(shell git grep -l --untracked -E '^\#!/bin/(ba)?sh'))

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
	shellcheck --external-sources --source-path=SCRIPTDIR:benchmarks/selftests --exclude=SC2317 $(SHELL_SCRIPTS)

setup:
	@scripts/setup

clean:
	rm -rf .venv .setup.log .setup.lock .mypy_cache .ruff_cache .pytest_cache
