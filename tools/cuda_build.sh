#!/usr/bin/env bash
# Compile the CUDA library and prove that it loads: on a machine without a GPU it must say so in one clean sentence.
# Usage: tools/cuda_build.sh FOLDER_OF_PYTHON_AND_CMAKE
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$(realpath "${1:-.venv/bin}")
tree=$PWD/build/cuda

# The engine alone: neither the Python module nor the CPU kernels are needed to see whether nvcc takes the portable ones.
"$bin/cmake" -S . -B "$tree" -G Ninja -DDRAGON_CUDA=ON -DDRAGON_TESTS=ON -DDRAGON_PYTHON=OFF -DDRAGON_UNITY=ON \
  -DDRAGON_CPU_LEVELS= -DDRAGON_LIB_DIR="$tree/lib" -DCMAKE_MAKE_PROGRAM="$bin/ninja" -DPython_EXECUTABLE="$bin/python"
"$bin/cmake" --build "$tree" --target dragon_cuda cuda_test
"$bin/ctest" --test-dir "$tree" --output-on-failure -R '^cuda_test$'
# What kernels cannot keep in registers is told, so that more of it is seen.
"$bin/python" tools/kernel_usage.py "$tree/lib/libdragon_cuda.so" --check docs/benchmarks/cuda-kernels.md
