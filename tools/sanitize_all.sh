# Run tests against the build of build/sanitize-all, a piece at a time: sanitize_all.sh PYTHON PIECE...
# A piece is a path of tests, or `hunt`: CALLS hostile calls of the operators, with SEED.
# A piece that has passed is not run again until the build has changed; what one found is in build/sanitize-all/logs.
set -u
python=$1
shift
place=$PWD/build/sanitize-all
package=$place/package
mkdir -p "$place/logs"
sh tools/copy_package.sh "$package"
# Blocks of the engine's own cache look alive to the sanitizer; the naive allocator tells it where each one ends.
export DRAGON_ALLOCATOR=naive DRAGON_CPU_LEVEL=v3 PYTHONPATH=$package PYTHONMALLOC=malloc
export OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive
export ASAN_OPTIONS=detect_leaks=0:detect_odr_violation=0:handle_segv=0:allocator_may_return_null=1:halt_on_error=1
ASAN_OPTIONS=$ASAN_OPTIONS:max_allocation_size_mb=8000  # tests and calls ask for more, and are to be refused
asan=$(g++ -print-file-name=libasan.so):$(g++ -print-file-name=libstdc++.so.6)
# The console script, unlike `python -m pytest`, leaves the checkout, and what was built in it, out of the path.
pytest=$(dirname "$python")/pytest
try() {
  if [ "$1" = hunt ]; then
    LD_PRELOAD=$asan "$python" tests/fuzz/hunt.py --face operators --calls "${CALLS:-400000}" --seed "${SEED:-0}" --jobs 1
  else
    LD_PRELOAD=$asan "$python" "$pytest" -q -p no:cacheprovider -m "not slow" "$1"
  fi
}
failed=0
for piece in "$@"; do
  name=$(echo "$piece" | tr '/:[] ' '_____')
  if [ "$place/logs/$name.passed" -nt "$package/dragon/lib/libdragon.so" ]; then
    echo "passed before: $piece"
    continue
  fi
  if try "$piece" >"$place/logs/$name" 2>&1; then
    touch "$place/logs/$name.passed"
    echo "passed: $piece"
  elif grep -q "AddressSanitizer" "$place/logs/$name"; then
    failed=1
    echo "BROKEN MEMORY: $piece"
    grep -A 8 "ERROR: AddressSanitizer" "$place/logs/$name"
  else
    echo "failed, with memory whole: $piece"
    tail -n 12 "$place/logs/$name"
  fi
done
exit $failed
