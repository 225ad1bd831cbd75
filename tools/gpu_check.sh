#!/usr/bin/env bash
# On a machine with a GPU: build everything with CUDA once, run the device's tests on it, and measure beside PyTorch.
# Usage: tools/gpu_check.sh [pytest's arguments]   (VENV=folder and CUDACXX=path/to/nvcc are respected)
#   BUILT=1  takes the package of this checkout as it was built in place, and the Python that runs `python3`
#   OUT=folder  for the log of the tests and the figures; build/gpu by default
set -euo pipefail
cd "$(dirname "$0")/.."
venv=${VENV:-.venv} out=${OUT:-build/gpu}
mkdir -p "$out"

command -v nvidia-smi >/dev/null || { echo "gpu_check: found no nvidia-smi, expected a machine with an NVIDIA driver"; exit 1; }
nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv
if [ -n "${BUILT:-}" ]; then
  python=python3
  export PYTHONPATH=$PWD
else
  python=$venv/bin/python
  make VENV="$venv" "$venv/.tools" "$venv/.test"
  # The wheel's own libraries plus the CUDA one: pip's build takes the same option.
  "$python" -m pip install --no-build-isolation -C cmake.define.DRAGON_CUDA=ON -C build-dir=build/gpu .
fi
"$python" -m pytest tests/cuda -n 4 --timeout 120 -p no:cacheprovider "$@" >"$out/tests.log" 2>&1 || failed=1
tail -n 40 "$out/tests.log"
if "$python" -c "import torch; assert torch.cuda.is_available()" 2>/dev/null; then
  "$python" benchmarks/cuda.py --json "$out/cuda.json"
fi
exit "${failed:-0}"
