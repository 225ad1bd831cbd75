// Shared libraries that bring kernels, operators or devices, loaded at run time.
#pragma once

#include <string>
#include <vector>

#include "core/base/macros.h"

namespace dragon {

/// Load a shared library; what it registers is available on return. A failure is a RuntimeError with the loader's
/// words.
DRAGON_API void LoadLibrary(const std::string& path);
/// Load the CPU kernels for the best instruction set this machine has, once. DRAGON_CPU_LEVEL overrides.
DRAGON_API void LoadCpuKernels();
/// The level whose kernels are loaded: "v2", "v3" or "v4" of x86-64, "generic" of aarch64.
DRAGON_API std::string CpuLevel();
/// Whether the CPU kernels have oneDNN, which is the build's choice. Dragon's own do its work elsewhere.
DRAGON_API bool HasOneDnn();
/// The folder that libdragon was loaded from.
DRAGON_API std::string LibraryFolder();
/// Where packages of the program that runs lie, pip's among them, the first ones first: Python's `sys.path` as it was
/// when Dragon was imported; nothing in a program without Python.
DRAGON_API std::vector<std::string> PackageFolders();
DRAGON_API void SetPackageFolders(std::vector<std::string> folders);

}  // namespace dragon
