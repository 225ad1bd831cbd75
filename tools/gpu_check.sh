#!/usr/bin/env bash
# On a machine with a GPU: build everything with CUDA, then run the C++ and the Python tests of the device.
# Usage: tools/gpu_check.sh   (VENV=folder and CUDACXX=path/to/nvcc are respected)
set -euo pipefail
cd "$(dirname "$0")/.."
venv=${VENV:-.venv}

command -v nvidia-smi >/dev/null || { echo "gpu_check: found no nvidia-smi, expected a machine with an NVIDIA driver"; exit 1; }
nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv
make VENV="$venv" "$venv/.tools" "$venv/.test" cuda
# The wheel's own libraries plus the CUDA one: pip's build takes the same option.
"$venv/bin/python" -m pip install --no-build-isolation -C cmake.define.DRAGON_CUDA=ON -C build-dir=build/gpu .
"$venv/bin/pytest" -m cuda "$@"
