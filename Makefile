# Every target creates or reuses .venv by itself. Needed: Python 3.11 or newer, a C++ compiler, make.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
RUN := $(VENV)/bin
# As many processes as there are cores; one that has nothing left to do takes tests over from another.
PYTEST := $(RUN)/python -m pytest -n auto --dist worksteal
CORE := CMakeLists.txt pyproject.toml $(wildcard src/core/*.cpp src/core/*.hpp src/core/*/*.cpp src/core/*/*.hpp)

# The core built with AddressSanitizer and UBSan, in an environment of its own.
SANITIZED := .venv-sanitize
SANITIZERS = $(foreach lib,libasan.so libubsan.so libstdc++.so,$(shell $(CXX) -print-file-name=$(lib)))

# The core with its tests, built beside the package, with whatever compiler CXX names. A dozen files are compiled as
# one, since headers take most of the time; clang-tidy wants them one by one.
CHECK := build/check
CHECK_PORTABLE := build/check-portable
CHECK_SANITIZED := build/check-sanitized
CHECK_ONE_BY_ONE := build/check-one-by-one
CPP := $(wildcard src/core/*.?pp src/core/*/*.?pp tests/core/*.?pp fuzz/core/*.?pp)
CONFIGURE = $(RUN)/cmake -S . -DTREEMEAN_TESTS=ON -DCMAKE_CXX_FLAGS_DEBUG=-O0 \
  -DCMAKE_BUILD_TYPE=Debug -DPython_EXECUTABLE=$(abspath $(RUN)/python) \
  -Dnanobind_DIR="$$($(RUN)/python -m nanobind --cmake_dir)"
CONFIGURE_JOINED = $(CONFIGURE) -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=15
BUILD_TESTS = $(RUN)/cmake --build $(1) --target core_tests --parallel 2

.PHONY: help demo test test-core test-core-portable test-slow test-nightly test-ray test-browser test-gpu lint \
  lint-core format coverage bench bench-gpu soak-gpu gpu-data dutch fitting experiment docs site wheel test-wheel theory \
  sanitize fuzz fuzz-merge clean

help:
	@echo "make demo         train, average, score and draw on a sample treebank, with a report (two to five minutes)"
	@echo "make test         run the tests"
	@echo "make test-core    of these, only those of the pieces of the C++ core"
	@echo "make test-core-portable  the same with our own 128-bit integers; part of test-slow"
	@echo "make test-slow    run the tests that take long, and those of properties with more examples"
	@echo "make test-ray     install Ray, and run the tests of jobs on a cluster of this machine"
	@echo "make test-nightly draw new examples for the tests of properties, ten times as many"
	@echo "make test-browser run the tests of the report in Chromium, which is installed if need be"
	@echo "make lint         check style and types: ruff, mypy, clang-format, clang-tidy"
	@echo "make lint-core    of these, only clang-format and clang-tidy"
	@echo "make format       format the sources"
	@echo "make coverage     run the tests and tell which lines they reach (long)"
	@echo "make test-gpu     run the tests that need a CUDA device, with the python3 at hand"
	@echo "make bench        measure speed, as ratios of one run"
	@echo "make bench-gpu    check and time the kernels on a CUDA device, with the python3 at hand"
	@echo "make soak-gpu     repeat every kernel thousands of times there: the bits must stay the same"
	@echo "make dutch        the tables and figures of docs/results.md, from the trees that are kept"
	@echo "make gpu-data     prepare the Dutch data for training on such a machine, in out/gpu-data"
	@echo "make experiment   the demo from three initialisations, as in docs/ensemble.md"
	@echo "make fitting      fit hits on LASSY: tables, and the figures of docs/measurements/fitting.md (minutes)"
	@echo "make docs         regenerate what the docs show, and check their links"
	@echo "make site         build the site of the documentation, in out/site"
	@echo "make wheel        build a wheel that needs no compiler, and a source distribution, in dist"
	@echo "make test-wheel   install that wheel into an environment of its own, and try it there"
	@echo "make theory       draw the figures of docs/theory.md, and make out/theory.pdf of it"
	@echo "make sanitize     run the tests of the core under AddressSanitizer and UBSan"
	@echo "make fuzz         feed broken input to every reader and the core, guided by coverage (half an hour; needs Clang)"
	@echo "make fuzz-merge   keep what it tried and what reached new places in fuzz/corpus"
	@echo "make clean        remove the environment and everything built"

# The package and its tools; built again when the core or the requirements change.
$(VENV)/installed: $(CORE)
	@test -x $(RUN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Setting up $(VENV) and building the core (3 GB and some minutes the first time) …"
	@$(RUN)/python -m pip install --quiet --disable-pip-version-check -c constraints/cpu.txt -e ".[dev]"
	@touch $@

demo: $(VENV)/installed
	$(RUN)/treemean demo

test: test-core
	$(PYTEST) -m "not slow and not gpu and not browser"

# Our own 128-bit integers are compared with the compiler's in the first one, and used by all pieces in the second.
test-core: $(CHECK)/tests
test-core-portable: $(CHECK_PORTABLE)/tests
%/tests: %/Makefile
	@$(call BUILD_TESTS,$*) >$*/build.log || { cat $*/build.log; exit 1; }
	$*/core_tests

$(CHECK)/Makefile: CMakeLists.txt $(VENV)/installed
	@$(CONFIGURE_JOINED) -B $(@D) >/dev/null && touch $@
$(CHECK_PORTABLE)/Makefile: CMakeLists.txt $(VENV)/installed
	@$(CONFIGURE_JOINED) -DTREEMEAN_PORTABLE_INTEGERS=ON -B $(@D) >/dev/null && touch $@
$(CHECK_SANITIZED)/Makefile: CMakeLists.txt $(VENV)/installed
	@$(CONFIGURE_JOINED) -DTREEMEAN_SANITIZE=ON -B $(@D) >/dev/null && touch $@

$(CHECK_ONE_BY_ONE)/Makefile: CMakeLists.txt $(VENV)/installed
	@$(CONFIGURE) -B $(@D) >/dev/null && touch $@

test-slow: test-core-portable
	$(PYTEST) -m "(slow or hypothesis) and not gpu" --hypothesis-profile=slow

# Ray is large, and needed by nothing else.
test-ray: $(VENV)/installed
	@$(RUN)/python -m pip install --quiet --disable-pip-version-check -c constraints/cpu.txt -e ".[ray]"
	$(RUN)/python -m pytest tests/scaling/test_ray.py

# Other examples every time, and ten times as many; what fails is kept in .hypothesis and tried first ever after.
test-nightly: $(VENV)/installed
	$(PYTEST) -m "hypothesis and not gpu" --hypothesis-profile=nightly

# Chromium is Debian's unless CHROMIUM names another one; axe-core looks for what keeps people out.
BROWSER := build/browser
AXE := $(BROWSER)/node_modules/axe-core/axe.min.js
test-browser: $(VENV)/installed $(AXE)
	@$(RUN)/python -c "import playwright" 2>/dev/null || \
	  $(RUN)/python -m pip install --quiet --disable-pip-version-check "playwright>=1.40"
	@test -n "$$CHROMIUM" || command -v chromium >/dev/null || { \
	  if [ "$$(id -u)" = 0 ]; then apt-get update -qq && apt-get install -y -qq chromium >/dev/null; else \
	  echo "make test-browser needs Chromium: apt-get install chromium, or let CHROMIUM name one" >&2; exit 1; fi; }
	AXE=$(abspath $(AXE)) $(RUN)/python -m pytest -m browser tests/browser
	@echo "pictures of the report, to be looked at: $(BROWSER)/pictures"

$(AXE):
	@command -v npm >/dev/null || { echo "make test-browser needs npm, to install axe-core" >&2; exit 1; }
	@mkdir -p $(BROWSER)
	@npm install --silent --no-audit --no-fund --prefix $(BROWSER) axe-core@4

lint: $(VENV)/installed
	$(RUN)/ruff check --no-cache .
	$(RUN)/ruff format --no-cache --check .
	$(RUN)/mypy
	$(MAKE) lint-core

lint-core: $(CHECK_ONE_BY_ONE)/Makefile
	$(RUN)/clang-format --dry-run -Werror $(CPP)
	$(RUN)/python .ci/tidy.py $(RUN)/clang-tidy $(CHECK_ONE_BY_ONE)

coverage: $(VENV)/installed
	$(PYTEST) -m "not slow and not gpu and not browser" --cov --cov-report=term:skip-covered

format: $(VENV)/installed
	$(RUN)/ruff check --fix .
	$(RUN)/ruff format .
	$(RUN)/clang-format -i $(CPP)

bench: $(VENV)/installed
	$(RUN)/python -m benchmarks.cpu.reading
	$(RUN)/python -m benchmarks.cpu.evaluating
	$(RUN)/python -m benchmarks.cpu.averaging
	$(RUN)/python -m benchmarks.cpu.inside

fitting: $(VENV)/installed
	$(RUN)/python -m benchmarks.cpu.fitting

experiment: $(VENV)/installed
	$(RUN)/python -m benchmarks.cpu.sample_ensemble

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
	PYTHONPATH=src python3 -m benchmarks.kernels --out out/gpu

# In pieces of nine minutes; 75 says that there is more to do.
soak-gpu:
	@python3 -c "$$NEED" torch triton safetensors numpy
	@while PYTHONPATH=src python3 -m benchmarks.kernels.soak --out out/soak; status=$$?; [ $$status = 75 ]; do :; done; \
	  exit $$status

dutch: $(VENV)/installed
	$(RUN)/python -m benchmarks.page.results --out out/dutch

gpu-data: $(VENV)/installed
	$(RUN)/python -m benchmarks.learning.prepare --out out/gpu-data

docs: $(VENV)/installed
	$(RUN)/python docs/generate.py

# Everything it needs is installed; nothing is fetched.
site: $(VENV)/installed
	NO_MKDOCS_2_WARNING=1 $(RUN)/mkdocs build --strict --quiet --site-dir out/site
	@echo "open out/site/index.html"

# auditwheel names the oldest systems on which the wheel works; what it cannot name keeps the tag of this machine.
wheel: $(VENV)/installed
	@rm -rf build/wheel && mkdir -p build/wheel dist
	$(RUN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir build/wheel .
	PATH="$(abspath $(RUN)):$$PATH" $(RUN)/auditwheel repair --wheel-dir dist build/wheel/*.whl \
	  || cp build/wheel/*.whl dist
	$(RUN)/python -c "from scikit_build_core.build import build_sdist; print('dist/' + build_sdist('dist'))"

test-wheel: wheel
	$(RUN)/python .ci/try_wheel.py $(RUN)/python

# The note on theory as a PDF, for readers without the software.
THEORY_TOOLS := pandoc xelatex rsvg-convert
theory: $(VENV)/installed
	$(RUN)/python docs/theory_figures.py
	@for tool in $(THEORY_TOOLS); do command -v $$tool > /dev/null || { \
	  echo "make theory needs $$tool. On Debian: apt-get install pandoc texlive-xetex texlive-latex-recommended texlive-fonts-recommended lmodern librsvg2-bin" >&2; \
	  exit 1; }; done
	@mkdir -p out
	pandoc docs/theory.md --from markdown-yaml_metadata_block --resource-path docs --pdf-engine xelatex \
	  --include-in-header docs/theory-pdf.tex --variable geometry:margin=24mm --variable fontsize=10pt \
	  --variable papersize=a4 --output out/theory.pdf

$(SANITIZED)/installed: $(CORE)
	@test -x $(SANITIZED)/bin/python || $(PYTHON) -m venv $(SANITIZED)
	@$(SANITIZED)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints/cpu.txt \
	  -C cmake.define.TREEMEAN_SANITIZE=ON -C build-dir=build/sanitize -e ".[dev]"
	@touch $@

# Python itself never frees everything, so leaks are not looked for; memory is larger by design.
sanitize: $(SANITIZED)/installed $(CHECK_SANITIZED)/tests
	LD_PRELOAD="$(SANITIZERS)" ASAN_OPTIONS=detect_leaks=0 \
	  $(SANITIZED)/bin/python -m pytest -m "not slow and not gpu" -k "not memory" $(wildcard tests/formats tests/averaging)

# Coverage-guided fuzzing, see docs/security.md. Only Clang has libFuzzer.
FUZZ := build/fuzz
FUZZ_SECONDS ?= 120
CLANG ?= $(firstword $(foreach name,clang++ $(foreach n,22 21 20 19 18 17 16,clang++-$(n)),$(shell command -v $(name))))
fuzz: $(FUZZ)/targets
	$(RUN)/python fuzz/all.py --seconds $(FUZZ_SECONDS) --core $(FUZZ)
fuzz-merge: $(FUZZ)/targets
	$(RUN)/python fuzz/all.py --merge --core $(FUZZ)

.PHONY: $(FUZZ)/targets
$(FUZZ)/targets: $(VENV)/installed
	@test -n "$(CLANG)" || { echo "make fuzz needs Clang 16 or newer. On Debian: apt-get install clang-19 libclang-rt-19-dev" >&2; exit 1; }
	@$(RUN)/python -c "import atheris" 2>/dev/null || $(RUN)/python -m pip install --quiet "atheris>=3"
	@$(RUN)/cmake -S . -B $(FUZZ) -DTREEMEAN_FUZZ=ON -DTREEMEAN_SANITIZE=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo \
	  -DCMAKE_CXX_COMPILER=$(CLANG) -DPython_EXECUTABLE=$(abspath $(RUN)/python) \
	  -Dnanobind_DIR="$$($(RUN)/python -m nanobind --cmake_dir)" >/dev/null
	@$(RUN)/cmake --build $(FUZZ) --parallel 2 --target fuzz_targets >$(FUZZ)/build.log 2>&1 || { cat $(FUZZ)/build.log; exit 1; }

clean:
	rm -rf $(VENV) $(SANITIZED) build dist treemean-demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
