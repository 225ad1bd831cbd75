# Every command a newcomer or a developer needs; each makes its own virtual environment first. A machine needs Python
# 3.10 or later with its headers, g++ and make; all the rest comes through pip.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
JOBS ?= $(shell nproc)
PIP := $(BIN)/python -m pip --disable-pip-version-check
PYTEST := $(BIN)/pytest
# Each process takes neighbours: what the tests of a file share is made once.
SHARED = -n $(JOBS) --dist worksteal
SOURCES = $(shell git ls-files 'core/*.h' 'core/*.cc' 'core/*.cu' 'tests/*.h' 'tests/*.cc')

export CMAKE_BUILD_PARALLEL_LEVEL := $(JOBS)
# Hundreds of processes that tests start would compile the same files.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test quick test-changed durations hunt hunt-files hunt-ranks hunt-threads build install lint format sanitize sanitize-all \
  sanitize-threads docs site-check bench hunt-pairs hunt-layers hunt-numbers hunt-interrupts hunt-levels hunt-leaks \
  hunt-faults coverage wheel sdist cuda simt simt-sanitize ray ci-full clean oracles oracles-check

help:
	@echo "make demo      build, install, train a small network on scikit-learn's digits"
	@echo "make test      build, install, run every test"
	@echo "make quick     a sample of the tests, two minutes on two cores; SEED=number for another one"
	@echo "make test-changed  the tests that changes reach; SINCE=revision;  make durations: measure for make quick"
	@echo "make oracles   ask the genuine packages for all that tests/oracles has of them;  make oracles-check: compare"
	@echo "make hunt      two million hostile calls of every face; HUNT_CALLS, HUNT_SEED, HUNT_FACE, HUNT_JOBS, HUNT_ONLY"
	@echo "make hunt-pairs  nearly right calls beside the genuine guests; HUNT_COUNT, HUNT_SEED, HUNT_FACE, HUNT_ONLY"
	@echo "make hunt-layers  Keras's layers with random arguments beside genuine Keras; HUNT_COUNT, HUNT_SEED, HUNT_ONLY"
	@echo "make build     compile in place for this machine only; after a change, seconds"
	@echo "make lint      flake8 and clang-format, in check mode;  make format: rewrite"
	@echo "make sanitize  the C++ tests under AddressSanitizer and UndefinedBehaviorSanitizer"
	@echo "make sanitize-threads  threads that share programs and tensors, under ThreadSanitizer"
	@echo "make sanitize-all   kernels, bindings and Python's tests under AddressSanitizer; hours, and it goes on where it was"
	@echo "make hunt-ranks  trainings in several processes, killed ROUNDS times and begun anew: the same losses, nothing left"
	@echo "make hunt-threads  programs of every face, called by many threads at the same time"
	@echo "make hunt-files  every writer of files killed a hundred times, on full disks, and where calls of the system fail"
	@echo "make hunt-interrupts  an exception from a signal handler at every moment of small programs; MOMENTS, TIMERS, PROGRAMS"
	@echo "make hunt-levels the operator table at each level of this processor: the same numbers, within bounds that are written"
	@echo "make hunt-leaks  thousands of steps, models, compiles, epochs, errors and threads: nothing grows"
	@echo "make hunt-faults  faults are put into the sources one by one; the tests must catch each; HUNT_ONLY"
	@echo "make coverage  the lines of dragon/ and core/ that tests run, in a table; TESTS=paths; an hour"
	@echo "make ci-full   all that must pass before a change lands, with what was not changed since it passed"
	@echo "make ray       trainers on clusters of Ray's, which pip brings"
	@echo "make docs      the HTML pages, into docs/_build;  make bench: the speed tables, into docs/benchmarks"
	@echo "make site-check  the pages in a real browser, where Chromium is installed; PICTURES=folder keeps pictures"
	@echo "make wheel     a self-contained wheel, into dist;  make sdist: the sources, for pip to install"
	@echo "make cuda      compile the CUDA library (no GPU needed)"
	@echo "make simt      the device kernels on a machine that stands for a GPU (none needed)"
	@echo "make simt-sanitize   the same under AddressSanitizer, the operator rows first; ROWS=arguments of pytest for others"

# The build tools are installed into the environment, not into a throw-away one, so that the next build is incremental.
$(VENV)/.tools: pyproject.toml
	@sh tools/check_machine.sh $(PYTHON)
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet $$($(BIN)/python tools/requirements.py)
	touch $@

$(VENV)/.%: $(VENV)/.tools
	$(PIP) install --quiet $$($(BIN)/python tools/requirements.py $*)
	touch $@

# How far it is instead of all that the compilers say; VERBOSE=1 has that.
install: $(VENV)/.tools
	@$(BIN)/python tools/build_progress.py $(PIP) install -v --no-build-isolation .
	$(BIN)/python tools/share_libraries.py

# For this machine alone: the other levels of processors are most of what there is to compile. `make install`, `make test`
# and `make wheel` compile those as well, and what is compiled by then is kept.
demo: export DRAGON_CPU_LEVELS ?= $(shell sh tools/cpu_level.sh)
demo: $(VENV)/.tools
	@sh tools/install_wheel.sh $(BIN)/python || $(MAKE) --no-print-directory install
	@$(MAKE) --no-print-directory $(VENV)/.demo
	$(BIN)/python examples/digits.py

# The console script, unlike `python -m pytest`, leaves the checkout out of the path: what is tested is what was installed.
# One in twenty of the recorded answers of genuine packages is asked for anew, others where other answers are recorded.
test: install $(VENV)/.test
	$(PYTEST) $(SHARED) --answers=twentieth --answers-seed=$$(printf %d 0x$$(sh tools/tree_hash.sh tests/oracles | cut -c1-6))

# SINCE is a revision: what differs from it, in files that are not committed as well, is what changed.
SINCE ?= $(shell git merge-base HEAD origin/main 2>/dev/null || echo HEAD)
test-changed: install $(VENV)/.test
	$(PYTEST) $(SHARED) --changed-since $(SINCE)

# SEED is which sample.
quick: install $(VENV)/.test
	$(PYTEST) $(SHARED) --quick $$(( 50 * $(JOBS) )) --sample-seed $(SEED)

# What `make quick` chooses by; once in a while, on a machine that does nothing else.
durations: install $(VENV)/.test
	$(PYTEST) $(SHARED) --durations-file tests/durations.tsv

# What genuine PyTorch, TensorFlow and Keras answer to the tests is recorded. ORACLES=paths records what is
# missing of these tests alone; without it all is asked for, and what no test asks for any more is dropped.
ORACLES ?=
oracles: install $(VENV)/.test
	$(PYTEST) $(SHARED) --answers=$(if $(ORACLES),record $(ORACLES),renew)

oracles-check: install $(VENV)/.test
	$(PYTEST) $(SHARED) --answers=check $(ORACLES)

# Hours on a small machine. Ends with 1 if anything was found; every finding comes with the command that makes it again.
HUNT_CALLS ?= 2000000
HUNT_SEED ?= 0
HUNT_JOBS ?= $(JOBS)
hunt: install $(VENV)/.test
	$(BIN)/python tests/fuzz/hunt.py --calls $(HUNT_CALLS) --seed $(HUNT_SEED) --jobs $(HUNT_JOBS) \
	  $(addprefix --face ,$(HUNT_FACE)) $(if $(HUNT_ONLY),--only '$(HUNT_ONLY)') --report hunt.jsonl

HUNT_COUNT ?= 20
hunt-pairs: install $(VENV)/.test
	$(BIN)/python tests/fuzz/pairs.py --count $(HUNT_COUNT) --seed $(HUNT_SEED) --jobs $(HUNT_JOBS) \
	  $(addprefix --face ,$(HUNT_FACE)) $(if $(HUNT_ONLY),--only '$(HUNT_ONLY)') --report pairs.jsonl

hunt-layers: install $(VENV)/.test
	$(BIN)/python tests/fuzz/layer_numbers.py --count $(HUNT_COUNT) --seed $(HUNT_SEED) \
	  $(if $(HUNT_ONLY),--only '$(HUNT_ONLY)') --report layers.jsonl

# Right programs of TensorFlow's functions beside genuine ones and as functions; operators of the torch face, compiled.
hunt-numbers: install $(VENV)/.test
	$(BIN)/python tests/fuzz/tensorflow_numbers.py $(HUNT_SEED) $$(( $(HUNT_COUNT) * 100 )) --report numbers.jsonl
	$(BIN)/python tests/fuzz/compiled.py $(HUNT_SEED) $$(( $(HUNT_COUNT) * 100 )) --report numbers.jsonl

build: $(VENV)/.tools
	$(BIN)/cmake -S . -B build/here -G Ninja -DDRAGON_CPU_LEVELS=$$(sh tools/cpu_level.sh) \
	  -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja -DPython_EXECUTABLE=$(abspath $(BIN))/python
	$(BIN)/cmake --build build/here

lint: $(VENV)/.lint
	$(BIN)/flake8
	@echo $(SOURCES) | xargs -n 50 -P $(JOBS) $(BIN)/clang-format --dry-run --Werror

format: $(VENV)/.lint
	$(BIN)/clang-format -i $(SOURCES)

sanitize: $(VENV)/.tools
	$(BIN)/cmake -S . -B build/sanitize -G Ninja -DDRAGON_SANITIZE=ON -DDRAGON_TESTS=ON -DDRAGON_PYTHON=OFF -DDRAGON_UNITY=ON \
	  -DDRAGON_CPU_LEVELS=v3 -DDRAGON_LIB_DIR=$(abspath build/sanitize/lib) \
	  -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja -DPython_EXECUTABLE=$(abspath $(BIN))/python
	$(BIN)/cmake --build build/sanitize --target cpp_tests
	$(BIN)/ctest --test-dir build/sanitize --output-on-failure

# Threads that meet in programs, tensors and graphs. libgomp is not instrumented, so that kernels run in one thread each.
sanitize-threads: $(VENV)/.tools
	$(BIN)/cmake -S . -B build/sanitize-threads -G Ninja -DDRAGON_SANITIZE=ON -DDRAGON_SANITIZERS=thread -DDRAGON_TESTS=ON \
	  -DDRAGON_PYTHON=OFF -DDRAGON_UNITY=ON -DDRAGON_CPU_LEVELS=v3 -DDRAGON_LIB_DIR=$(abspath build/sanitize-threads/lib) \
	  -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja -DPython_EXECUTABLE=$(abspath $(BIN))/python
	$(BIN)/cmake --build build/sanitize-threads --target threads_test
	OMP_NUM_THREADS=1 build/sanitize-threads/tests/cpp/threads_test

# All that `.ci/run` checks, with nothing left out because it was checked before.
ci-full:
	CI_FULL=1 bash .ci/run

# A build of everything, the Python module included, beside a copy of the package. PIECES are paths of tests, or `hunt`.
PIECES ?= hunt $(shell ls -d tests/native tests/device tests/ops tests/random tests/training tests/graph tests/io \
  tests/onnx tests/files tests/vm/torch/* tests/vm/torchvision tests/vm/mixing tests/vm/keras* tests/vm/tensorflow* 2>/dev/null)
sanitize-all: $(VENV)/.test
	$(BIN)/cmake -S . -B build/sanitize-all -G Ninja -DDRAGON_SANITIZE=ON -DDRAGON_SANITIZERS=address -DDRAGON_CPU_LEVELS=v3 \
	  -DDRAGON_PACKAGE_DIR=$(abspath build/sanitize-all/package/dragon) \
	  -DDRAGON_LIB_DIR=$(abspath build/sanitize-all/package/dragon/lib) \
	  -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja -DPython_EXECUTABLE=$(abspath $(BIN))/python
	$(BIN)/cmake --build build/sanitize-all
	sh tools/sanitize_all.sh $(BIN)/python $(PIECES)

# KILLS for each writer, MUTATIONS over all readers; SEED makes other ones.
KILLS ?= 100
MUTATIONS ?= 200000
SEED ?= 0

# Ray starts a cluster for each test, which takes minutes.
ray: install $(VENV)/.test $(VENV)/.ray
	$(PYTEST) tests/distributed/test_ray.py -m slow

ROUNDS ?= 100

hunt-ranks: install $(VENV)/.test
	$(BIN)/python tests/distributed/rank_kills.py $(ROUNDS) --seed $(SEED)

# Programs of every face, each called by THREADS threads at the same time; the results are those of one thread.
THREADS ?= 8
THREAD_CALLS ?= 1000000
hunt-threads: install $(VENV)/.test
	$(BIN)/python tests/fuzz/threads.py --calls $(THREAD_CALLS) --threads $(THREADS) --seed $(SEED)
	$(BIN)/python tests/fuzz/threads.py --calls $$(( $(THREAD_CALLS) / 50 )) --threads $(THREADS) --seed $(SEED) \
	  --only compile --yields

hunt-files: install $(VENV)/.test
	DRAGON_KILLS=$(KILLS) DRAGON_KILLS_SEED=$(SEED) DRAGON_MUTATIONS=$(MUTATIONS) DRAGON_MUTATIONS_SEED=$(SEED) \
	  $(PYTEST) tests/files -m slow

# MOMENTS of each program, spread evenly, and TIMERS beside them; PROGRAMS by name, all without.
MOMENTS ?= 400
TIMERS ?= 60
hunt-interrupts: install $(VENV)/.test
	nice -n 5 $(BIN)/python tests/fuzz/interrupts.py --most $(MOMENTS) --timers $(TIMERS) --seed $(SEED) $(PROGRAMS)
# In place: kernels of all levels that this processor may run, beside the rest of `make build`.
HUNT_LEVELS ?= $(if $(filter v4,$(shell sh tools/cpu_level.sh)),v2;v3;v4,v2;v3)
hunt-levels: build $(VENV)/.test
	$(BIN)/cmake -S . -B build/here -DDRAGON_CPU_LEVELS='$(HUNT_LEVELS)'
	$(BIN)/cmake --build build/here
	PYTHONPATH=. $(BIN)/python tests/fuzz/levels.py --edges 2 --compiled --jobs $(HUNT_JOBS) \
	  $(if $(HUNT_ONLY),--only '$(HUNT_ONLY)')

hunt-leaks: install $(VENV)/.test
	$(BIN)/python tests/fuzz/leaks.py --jobs $(HUNT_JOBS) $(if $(HUNT_ONLY),--only '$(HUNT_ONLY)')

# In a tree of its own. Goes on where it was at this commit, where the report of an earlier run is still there.
hunt-faults: $(VENV)/.test
	$(BIN)/python tests/fuzz/faults.py --report faults.jsonl $(if $(HUNT_ONLY),--only '$(HUNT_ONLY)')

# Every line of dragon/ and core/ that tests run, TESTS or all: an hour on two cores. Tables, and build/coverage/*.json.
TESTS ?= tests
coverage: $(VENV)/.test $(VENV)/.coverage
	$(BIN)/cmake -S . -B build/coverage -G Ninja -DCMAKE_CXX_FLAGS=--coverage -DDRAGON_CPU_LEVELS=$$(sh tools/cpu_level.sh) \
	  -DDRAGON_PACKAGE_DIR=$(abspath build/coverage/package/dragon) \
	  -DDRAGON_LIB_DIR=$(abspath build/coverage/package/dragon/lib) \
	  -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja -DPython_EXECUTABLE=$(abspath $(BIN))/python
	$(BIN)/cmake --build build/coverage
	sh tools/coverage.sh $(abspath $(BIN)/python) $(SHARED) $(TESTS)

docs: install $(VENV)/.docs
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build
	$(BIN)/python tools/check_links.py docs/_build

# Barriers are looked for where npm is there to fetch axe-core.
site-check: docs $(VENV)/.site
	if command -v npm >/dev/null; then mkdir -p build/axe && cd build/axe && \
	  tar xzf $$(npm pack --silent axe-core@4.14.1); fi
	$(BIN)/python tools/check_site.py docs/_build $(if $(shell command -v npm),--axe build/axe/package/axe.min.js) \
	  $(if $(PICTURES),--pictures $(PICTURES))

bench: install $(VENV)/.test
	$(BIN)/python benchmarks/run.py

# For machines of 2018 and later, whatever this one has: see tools/old_linux. DRAGON_OLDEST_GLIBC= in the environment, with
# nothing after it, links for machines as new as this one, and auditwheel finds the tag.
wheel: export DRAGON_OLDEST_GLIBC ?= $(if $(filter x86_64,$(shell uname -m)),2.28)
wheel: $(VENV)/.tools $(VENV)/.wheel
	rm -rf build/wheel
	$(PIP) wheel --no-build-isolation --no-deps --wheel-dir build/wheel .
	wheel=dist/$$($(BIN)/python tools/repair_wheel.py build/wheel/*.whl dist $(DRAGON_OLDEST_GLIBC)) && \
	  sh tools/tree_hash.sh $$($(BIN)/python tools/source_paths.py) >$$wheel.tree
	$(BIN)/python tools/check_wheel.py dist/*.whl

sdist: $(VENV)/.tools
	$(BIN)/python -c "from scikit_build_core.build import build_sdist; print(build_sdist('dist'))"

cuda: $(VENV)/.tools $(VENV)/.cubin
	bash tools/cuda_build.sh $(BIN)

# The kernels of the device are compiled for the host in the tree that the package was just built in. SIMT_TESTS= runs all
# dtypes, which takes a quarter of an hour; paths after SIMT_PATHS= only those.
SIMT_PATHS ?= tests/cuda
SIMT_TESTS ?= -m "not slow"
simt: install $(VENV)/.test
	tree=$$(ls -td build-*/ | head -1) && $(BIN)/cmake --build $$tree --target dragon_simt simt_nccl && \
	  DRAGON_SIMT=$(CURDIR)/$${tree}simt/libdragon_simt.so $(PYTEST) $(SIMT_PATHS) -n $(JOBS) $(SIMT_TESTS)

# What reads or writes beyond a tensor or beyond shared memory, and what nobody has written.
simt-sanitize: install $(VENV)/.test
	tree=$$(ls -td build-*/ | head -1) && \
	  $(BIN)/cmake --build $$tree --target dragon_simt dragon_simt_sanitized simt_nccl simt_test simt_test_sanitized && \
	  sh tools/sanitize_simt.sh $(BIN)/python $(CURDIR)/$${tree}simt $(JOBS) $(ROWS)

clean:
	rm -rf build build-* dist docs/_build docs/.jupyter_cache docs/jupyter_execute dragon/lib dragon/_C*.so dragon/py.typed
	find dragon -name '*.pyi' -delete
