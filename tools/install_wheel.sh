# Install the wheel in dist/ that was made of just these sources; status 1 where there is none.
#   sh tools/install_wheel.sh PYTHON
# `make wheel` writes what it was made of beside it.
cd "$(dirname "$0")/.." || exit 1
paths=$("$1" tools/source_paths.py) && tree=$(sh tools/tree_hash.sh $paths) || exit 1
for wheel in dist/*.whl; do
  if [ -f "$wheel.tree" ] && [ "$(cat "$wheel.tree")" = "$tree" ]; then
    echo "dragon: installing $wheel, which was made of these sources"
    "$1" -m pip --disable-pip-version-check install --quiet --force-reinstall --no-deps "$wheel" &&
      "$1" -m pip --disable-pip-version-check install --quiet "$wheel" && exec "$1" tools/share_libraries.py
  fi
done
exit 1
