# Run tests with their lines counted, and tell what was run: coverage.sh PYTHON [ARGUMENT OF PYTEST...]
# Beside a build of build/coverage, made with `--coverage`. Tests that measure fail here; what they ran counts.
set -u
python=$1
shift
place=$PWD/build/coverage
sh tools/copy_package.sh "$place/package"
find "$place" -name '*.gcda' -delete
rm -f "$place"/python.data*
export PYTHONPATH=$place/package
# The console script, unlike `python -m pytest`, leaves the checkout, and what was built in it, out of the path.
"$python" -m coverage run --rcfile=tools/coverage.ini --data-file="$place/python.data" "$(dirname "$python")/pytest" \
  -q -p no:cacheprovider "$@" >"$place/tests.log" 2>&1
echo "pytest ended with $?: $(grep -E '(passed|failed|error).* in [0-9.]+' "$place/tests.log" | tail -n 1)"
"$python" -m coverage combine --quiet --rcfile=tools/coverage.ini --data-file="$place/python.data" "$place" \
  2>"$place/combine.log"  # processes that were killed while they wrote have left half a file
"$python" -m coverage json --quiet --rcfile=tools/coverage.ini --data-file="$place/python.data" -o "$place/python.json"
# Loops run more often than gcovr takes for possible.
"$python" -m gcovr --root . --filter core/ --gcov-ignore-errors=no_working_dir_found --exclude-throw-branches \
  --gcov-suspicious-hits-threshold=0 --merge-mode-functions=merge-use-line-min --json "$place/core.json" \
  -j "$(nproc)" "$place" >"$place/gcovr.log" 2>&1 ||
  tail -n 5 "$place/gcovr.log"
"$python" tools/coverage_table.py "$place/python.json" "$place/core.json"
