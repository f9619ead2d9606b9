# Every target creates or reuses .venv by itself. Needed: Python 3.11 or newer, a C++ compiler, make.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
RUN := $(VENV)/bin
CORE := CMakeLists.txt pyproject.toml $(wildcard src/core/*.cpp src/core/*.hpp src/core/*/*.cpp src/core/*/*.hpp)

# The core built with AddressSanitizer and UBSan, in an environment of its own.
SANITIZED := .venv-sanitize
SANITIZERS = $(foreach lib,libasan.so libubsan.so libstdc++.so,$(shell $(CXX) -print-file-name=$(lib)))

.PHONY: help demo test test-slow test-gpu lint format bench bench-gpu gpu-data fitting experiment docs sanitize clean

help:
	@echo "make demo       train, average, score and draw on a sample treebank (one to three minutes)"
	@echo "make test       run the tests"
	@echo "make test-slow  run the tests that take long"
	@echo "make lint       check style and types"
	@echo "make format     format the sources"
	@echo "make test-gpu   run the tests that need a CUDA device, with the python3 at hand"
	@echo "make bench      measure speed, as ratios of one run"
	@echo "make bench-gpu  check and time the kernels on a CUDA device, with the python3 at hand"
	@echo "make gpu-data   prepare the Dutch data for training on such a machine, in out/gpu-data"
	@echo "make experiment the demo from three initialisations, as in docs/ensemble.md"
	@echo "make fitting    fit hits on LASSY: tables, and the figures of docs/fitting.md (minutes)"
	@echo "make docs       regenerate what the docs show, and check their links"
	@echo "make sanitize   run the tests of the core under AddressSanitizer and UBSan"
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
	$(RUN)/ruff check --no-cache .
	$(RUN)/ruff format --no-cache --check .
	$(RUN)/mypy

format: $(VENV)/installed
	$(RUN)/ruff check --fix .
	$(RUN)/ruff format .

bench: $(VENV)/installed
	$(RUN)/python benchmarks/reading.py
	$(RUN)/python benchmarks/evaluating.py
	$(RUN)/python benchmarks/averaging.py
	$(RUN)/python benchmarks/inside.py

fitting: $(VENV)/installed
	$(RUN)/python benchmarks/fitting.py

experiment: $(VENV)/installed
	$(RUN)/python benchmarks/sample_ensemble.py

# On a machine with a GPU nothing of ours is installed: PyTorch and Triton are its own.
define NEED
import sys
from importlib.util import find_spec
missing = [name for name in sys.argv[1:] if find_spec(name) is None]
if missing:
    sys.exit(f"{sys.executable} has no {', no '.join(missing)}: install that, or put another python3 first in PATH")
endef
export NEED

test-gpu:
	@python3 -c "$$NEED" torch triton safetensors numpy pytest hypothesis
	PYTHONPATH=src python3 -m pytest -m gpu tests

bench-gpu:
	@python3 -c "$$NEED" torch triton safetensors numpy
	PYTHONPATH=src python3 benchmarks/gpu --out out/gpu

gpu-data: $(VENV)/installed
	$(RUN)/python benchmarks/learning/prepare.py --out out/gpu-data

docs: $(VENV)/installed
	$(RUN)/python docs/generate.py

$(SANITIZED)/installed: $(CORE)
	@test -x $(SANITIZED)/bin/python || $(PYTHON) -m venv $(SANITIZED)
	@$(SANITIZED)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints/cpu.txt \
	  -C cmake.define.TREEMEAN_SANITIZE=ON -C build-dir=build/sanitize -e ".[dev]"
	@touch $@

# Python itself never frees everything, so leaks are not looked for; memory is larger by design.
sanitize: $(SANITIZED)/installed
	LD_PRELOAD="$(SANITIZERS)" ASAN_OPTIONS=detect_leaks=0 \
	  $(SANITIZED)/bin/python -m pytest -m "not slow and not gpu" -k "not memory" $(wildcard tests/formats tests/averaging)

clean:
	rm -rf $(VENV) $(SANITIZED) build dist treemean-demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
