# Every target creates or reuses .venv by itself. Needed: Python 3.11 or newer, a C++ compiler, make.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
RUN := $(VENV)/bin
CORE := CMakeLists.txt pyproject.toml $(wildcard src/core/*.cpp src/core/*.hpp src/core/*/*.cpp src/core/*/*.hpp)

.PHONY: help demo test test-slow lint format bench docs clean

help:
	@echo "make demo       read, average, score and draw a sample treebank"
	@echo "make test       run the tests"
	@echo "make test-slow  run the tests that take long"
	@echo "make lint       check style and types"
	@echo "make format     format the sources"
	@echo "make bench      measure speed, as ratios of one run"
	@echo "make docs       regenerate what the docs show, and check their links"
	@echo "make clean      remove the environment and everything built"

# The package and its tools; built again when the core or the requirements change.
$(VENV)/installed: $(CORE)
	@test -x $(RUN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Setting up $(VENV) and building the core (a minute or two the first time) …"
	@$(RUN)/python -m pip install --quiet --disable-pip-version-check -c constraints/cpu.txt -e ".[dev]"
	@touch $@

demo: $(VENV)/installed
	$(RUN)/treemean demo

test: $(VENV)/installed
	$(RUN)/python -m pytest -m "not slow and not gpu"

test-slow: $(VENV)/installed
	$(RUN)/python -m pytest -m "slow and not gpu"

lint: $(VENV)/installed
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .
	$(RUN)/mypy

format: $(VENV)/installed
	$(RUN)/ruff check --fix .
	$(RUN)/ruff format .

bench: $(VENV)/installed
	$(RUN)/python benchmarks/reading.py

docs: $(VENV)/installed
	$(RUN)/python docs/generate.py

clean:
	rm -rf $(VENV) build dist treemean-demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
