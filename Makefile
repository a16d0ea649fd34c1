# Everything sets itself up: `make test` on a fresh clone makes .venv, builds the core and runs.
# Nothing is installed twice; a change of pyproject.toml or of the core brings the rest up to date.

PYTHON ?= python3
# Another folder for another Python: make PYTHON=python3.13 VENV=.venv-3.13 test
VENV := .venv
PY := $(VENV)/bin/python
# What is installed is compiled to bytecode when it is first imported: most never is.
PIP := -m pip install --quiet --disable-pip-version-check --no-compile
CPP := $(shell find cpp examples -name '*.[ch]pp')
CORE := CMakeLists.txt $(wildcard cpp/cmake/*) $(CPP)

# The compiler that is checked is the one that CMake gets: $CXX, or the first there is.
ifeq ($(origin CXX),default)
CXX := $(firstword $(foreach name,c++ g++ clang++,$(if $(shell command -v $(name)),$(name))) c++)
endif
export CXX

.PHONY: help demo test core-tests test-oldest browser lint format sanitize tsan bench bench-full
.PHONY: reproduce-small reproduce clean
.DELETE_ON_ERROR:

help:
	@echo "make demo         cluster a small collection of texts and show what comes out"
	@echo "make test         run the tests, of the core in C++ and then all in Python"
	@echo "make test-oldest  run them with the oldest scikit-learn, SciPy and NumPy supported"
	@echo "make lint         check style, types, imports, formatting, and that Clang compiles the core"
	@echo "make format       format Python and C++"
	@echo "make sanitize     run the tests under AddressSanitizer and UBSan (GCC)"
	@echo "make tsan         run the threaded tests under ThreadSanitizer (GCC)"
	@echo "make bench        measure side by side with peers, in minutes"
	@echo "make bench-full   all measurements, at full size"
	@echo "make reproduce-small  the paper's tables and figures, small, into results/small"
	@echo "make clean        remove environments, builds and caches"
	@echo "Each sets up what it needs in $(VENV). PYTHON and CXX choose the tools, VENV the folder;"
	@echo "ARGS goes to demo, bench, reproduce-small and all that test: make test ARGS='-k hamerly'"

demo: $(VENV)/.built
	@mkdir -p build
	$(PY) -m arcmeans.demo --output build/demo $(ARGS)

# On two processes: hardly any test keeps a second core busy.
PYTEST := -m pytest -n 2 --dist worksteal

test: $(VENV)/.built $(VENV)/.test-tools core-tests browser
	$(PY) $(PYTEST) $(ARGS)

# The core by itself (cpp/tests), compiled in the folder of the development build.
core-tests: $(VENV)/.built
	@$(VENV)/bin/cmake --build $(BUILD_DIR) --target core_tests
	@$(VENV)/bin/ctest --test-dir $(BUILD_DIR) --output-on-failure

bench: $(VENV)/.built $(VENV)/.test-tools
	$(PY) -m benchmarks $(or $(ARGS),targets)

# faiss is a peer for dense rows where it can be installed.
bench-full: $(VENV)/.built $(VENV)/.test-tools
	-$(PY) $(PIP) --group bench
	$(PY) -m benchmarks --full $(ARGS)

reproduce-small: $(VENV)/.built $(VENV)/.test-tools
	$(PY) -m experiments --small --out results/small $(ARGS)

# The page docs/reproduction.md, on the files of counts it names, which have to be in the folder DATA.
# What is in docs/reproduction/ is not run again.
ACL := acl_author_volume.npz
reproduce: $(VENV)/.built $(VENV)/.test-tools
	$(PY) -m experiments --repeats 3 --out docs/reproduction --page docs/reproduction.md --data \
	  '$(DATA)/20news.npz=20 Newsgroups' \
	  '$(DATA)/got_fandom.npz=Game of Thrones Wiki for Simpsons Wiki' \
	  '$(DATA)/$(ACL)=ACL author-volume for DBLP Author-Conference' \
	  '$(DATA)/$(ACL)^T=ACL author-volume transposed for DBLP Conference-Author' \
	  '$(DATA)/npm_deps.npz=npm dependencies for DBLP Author-Venue' \
	  '$(DATA)/reuters21578.npz^log=Reuters-21578 for Reuters RCV-1' $(ARGS)

lint: $(VENV)/.built $(VENV)/.linters
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(VENV)/bin/lint-imports --no-cache
	$(VENV)/bin/clang-format --dry-run --Werror $(CPP)
	@$(MAKE) --no-print-directory -j 2 $(CLANG_TARGETS)

format: $(VENV)/.linters
	$(PY) -m ruff check --select I --fix .
	$(PY) -m ruff format .
	$(VENV)/bin/clang-format -i $(CPP)

clean:
	rm -rf .venv .venv-* build dist
	rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A development build is for this machine; what all wheels have is INSTRUCTION_SETS=all.
INSTRUCTION_SETS ?= native

# --- The environment: tools and tests first, then the core, built in place and incrementally.

need = { echo; echo "arcmeans: $(strip $(1))"; echo "$(strip $(2))"; echo; } >&2; exit 1

define check_machine
@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { $(call need,\
  Python 3.11 or later is needed and '$(PYTHON)' is not that.,\
  Install it (Debian and Ubuntu: python3 python3-venv python3-dev) or name it: make PYTHON=python3.12); }
@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { $(call need,\
  '$(PYTHON)' cannot make virtual environments.,\
  Install its venv module (Debian and Ubuntu: python3-venv).); }
@$(PYTHON) -c 'import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null \
  || { $(call need,\
  '$(PYTHON)' has no C headers.,\
  Install them (Debian and Ubuntu: python3-dev).); }
@printf '%s\n' '#include <vector>' '#if defined(__clang__) ? __clang_major__ < 15 : __GNUC__ < 12' \
  '#error too old' '#endif' | $(CXX) -x c++ -fsyntax-only - 2>/dev/null || { $(call need,\
  A C++ compiler is needed (GCC 12 or Clang 15 or later) and '$(CXX)' is not that.,\
  Install one (Debian and Ubuntu: g++) or name it: make CXX=clang++); }
endef

%/.tools: pyproject.toml
	$(check_machine)
	$(PYTHON) -m venv $*
	$*/bin/python $(PIP) --upgrade 'pip>=25.1'
	$*/bin/python $(PIP) --group build
	@touch $@

%/.test-tools: %/.tools
	$*/bin/python $(PIP) --group test
	@touch $@

$(VENV)/.linters: $(VENV)/.test-tools
	$(PY) $(PIP) --group lint
	@touch $@

# The core compiles with Clang too, on ARM and on x86-64 from its first instruction set to its last.
# The compiler takes all files in one call, among which one may have a main: that of the tests.
OTHER_PROGRAMS := cpp/cmake/best_instruction_set.cpp examples/cpp/cluster.cpp
CLANG := -m ziglang c++ -c -O0 -fno-sanitize=all -std=c++20 -I ../../../cpp -DARCMEANS_MODULE=_native \
  -Wall -Wextra -Wshadow -Wconversion -Wdouble-promotion -Wno-psabi -Werror
CLANG_TARGETS := $(patsubst %,build/clang/%/.compiled,aarch64-linux-gnu@generic \
  $(addprefix x86_64-linux-gnu@,x86_64 x86_64_v3 x86_64_v4+avx512vnni))
INCLUDES := import nanobind, os, sysconfig; \
  print('-isystem', os.path.relpath(nanobind.include_dir()), '-isystem', sysconfig.get_path('include'))
# Seen from a folder of build/clang: the whole path to here may have spaces in it.
ROOT := ../../..
build/clang/%/.compiled: $(VENV)/.linters $(CORE)
	@echo "Clang for $*"
	@mkdir -p $(@D)
	@cd $(@D) && ZIG_GLOBAL_CACHE_DIR=../cache $(ROOT)/$(PY) $(CLANG) \
	  -target $(subst @, -mcpu=,$*) $$($(ROOT)/$(PY) -c "$(INCLUDES)") \
	  $(addprefix $(ROOT)/,$(filter %.cpp,$(filter-out $(OTHER_PROGRAMS),$(CPP))))
	@touch $@

# A folder for each environment: two Pythons may have the same wheel tag. What is compiled is shown
# file by file, and all that was said if it fails.
BUILD_DIR := build/$(if $(filter-out .venv,$(VENV)),$(VENV:.venv-%=%),dev)
$(VENV)/.built: $(VENV)/.tools $(CORE)
	$(check_machine)
	@echo "Building arcmeans in $(BUILD_DIR)"
	@rm -f $@; mkdir -p $(BUILD_DIR)
	@{ $(PY) -m pip install --verbose --disable-pip-version-check --no-compile \
	  --no-build-isolation \
	  -Cbuild-dir=$(BUILD_DIR) -Ccmake.define.ARCMEANS_WERROR=ON -Ccmake.define.ARCMEANS_CORE_TESTS=ON \
	  -Ccmake.define.ARCMEANS_INSTRUCTION_SETS='$(INSTRUCTION_SETS)' -e . 2>&1 && touch $@; } \
	  | tee $(VENV)/build.log | awk '/^ *\[[0-9]+\/[0-9]+\]/ { print; fflush() }'
	@test -e $@ || { cat $(VENV)/build.log; exit 1; }

# --- A browser for the tests of the report: installed on Debian by root, elsewhere to be there.

browser:
	@{ command -v chromium || command -v chromium-browser || command -v google-chrome; } >/dev/null \
	  && command -v chromedriver >/dev/null \
	  || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	    && echo "Installing Chromium and its driver for the tests of the report ..." \
	    && { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
	      --no-install-recommends chromium chromium-driver; } >/dev/null 2>&1; } \
	  || { echo; echo "arcmeans: NO BROWSER, so the tests of the report will be skipped."; \
	    echo "Install Chromium and its driver (Debian: apt-get install chromium chromium-driver)."; \
	    echo; } >&2

# --- The oldest dependencies of pyproject.toml, as far back as there are wheels for this Python: an
# environment and a build of their own.

OLDEST := 'scikit-learn==1.6.0; python_version<"3.14"' 'scikit-learn==1.7.2; python_version>="3.14"' \
  'numpy==1.26.0; python_version<"3.13"' 'numpy==2.1.0; python_version=="3.13"' \
  'numpy==2.3.2; python_version>="3.14"' 'scipy==1.12.0; python_version<"3.13"' \
  'scipy==1.14.1; python_version=="3.13"' 'scipy==1.16.1; python_version>="3.14"' \
  'pandas==2.2.3; python_version<"3.14"' 'pandas==2.3.3; python_version>="3.14"' \
  'pyarrow==15.0.2; python_version<"3.13"' \
  'safetensors==0.4.3' 'click==8.1.7' 'rich==13.7.0' 'pytest<9'
.SECONDARY: .venv-oldest/.tools .venv-oldest/.test-tools

.venv-oldest/.built: .venv-oldest/.test-tools $(CORE)
	.venv-oldest/bin/python $(PIP) --no-build-isolation -Cbuild-dir=build/oldest -e . $(OLDEST)
	@touch $@

test-oldest: .venv-oldest/.built browser
	.venv-oldest/bin/python $(PYTEST) $(ARGS)

# --- Sanitizers: an environment and a build of their own. Python is not instrumented, so their
# libraries are loaded ahead of it; libstdc++ too, or exceptions are not followed. Capturing is left
# to Python's level: a report written just before the end must not be lost.

.SECONDARY: $(foreach name,asan tsan,.venv-$(name)/.tools .venv-$(name)/.test-tools)
SANITIZED := -m pytest --capture=sys --timeout=1800 -p no:cacheprovider
library = $(shell $(CXX) -print-file-name=$(1))

.venv-asan/.built: SANITIZERS := address,undefined
.venv-tsan/.built: SANITIZERS := thread
.venv-asan/.built .venv-tsan/.built: .venv-%/.built: .venv-%/.test-tools $(CORE)
	.venv-$*/bin/python $(PIP) --no-build-isolation -Cbuild-dir=build/$* \
	  -Ccmake.build-type=RelWithDebInfo -Ccmake.define.ARCMEANS_SANITIZE=$(SANITIZERS) \
	  -Ccmake.define.CMAKE_CXX_FLAGS=-fno-sanitize-recover=all -e .
	@touch $@

sanitize: .venv-asan/.built
	LD_PRELOAD="$(call library,libasan.so) $(call library,libstdc++.so)" PYTHONMALLOC=malloc \
	  ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
	  .venv-asan/bin/python $(SANITIZED) $(ARGS)

# Address randomisation is more than ThreadSanitizer of GCC 12 can take: off, before it is loaded.
tsan: .venv-tsan/.built
	$(shell setarch -R true 2>/dev/null && echo setarch -R) env \
	  LD_PRELOAD="$(call library,libtsan.so) $(call library,libstdc++.so)" \
	  TSAN_OPTIONS=ignore_noninstrumented_modules=1:halt_on_error=1:die_after_fork=0 \
	  .venv-tsan/bin/python $(SANITIZED) -m threads $(ARGS)
