# The device's kernels under AddressSanitizer: sanitize_simt.sh PYTHON FOLDER_OF_THE_MACHINE JOBS [pytest's arguments]
# Kernels of the folder's libdragon_simt_sanitized.so are run by tests of tests/cuda, the operator rows by default. Every
# tensor has a block of its own, so that what lies beyond it is nobody's. A second round, without the sanitizer, fills
# memory that nobody has written with other bytes: what depends on them differs from the CPU.
set -u
python=$1 folder=$2 jobs=$3
shift 3
pytest=$(dirname "$python")/pytest
[ $# -gt 0 ] || set -- tests/cuda/test_rows.py -m "not slow"
logs=$folder/reports
rm -rf "$logs" && mkdir -p "$logs"
export DRAGON_ALLOCATOR=naive OMP_NUM_THREADS=1
failed=0

"$folder/simt_test" || failed=1
ASAN_OPTIONS=detect_leaks=0 "$folder/simt_test_sanitized" || failed=1
[ $failed = 0 ] || exit 1

# A host that touches the device's memory is to end as it does elsewhere; fibres have stacks of their own.
options=detect_leaks=0:detect_odr_violation=0:handle_segv=0:allocator_may_return_null=1:detect_stack_use_after_return=0
ASAN_OPTIONS=$options:max_allocation_size_mb=8000:log_path=$logs/asan \
  LD_PRELOAD=$(g++ -print-file-name=libasan.so):$(g++ -print-file-name=libstdc++.so.6) \
  DRAGON_SIMT=$folder/libdragon_simt_sanitized.so \
  "$python" "$pytest" -q -n "$jobs" --max-worker-restart=1000 -p no:cacheprovider "$@" || failed=1
# That it does not know fibres by itself, of which it is told here, is no finding.
for report in $(grep -l "ERROR: AddressSanitizer" "$logs"/asan* 2>/dev/null); do
  failed=1
  echo "BROKEN MEMORY: $report"
  grep -A 12 "ERROR: AddressSanitizer" "$report"
done

DRAGON_SIMT_FILL=3c DRAGON_SIMT=$folder/libdragon_simt.so \
  "$python" "$pytest" -q -n "$jobs" -p no:cacheprovider "$@" || failed=1
exit $failed
