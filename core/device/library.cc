// Finds the kernel libraries beside libdragon and picks the one for this processor.
#include "core/device/library.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>

#include "core/base/error.h"

namespace dragon {

namespace {

std::string BestLevel() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4")) return "v4";
  if (__builtin_cpu_supports("x86-64-v3")) return "v3";
  return "v2";
}

bool Exists(const std::string& path) { return access(path.c_str(), R_OK) == 0; }

std::string g_level;

void LoadCpuKernelsOnce() {
  const char* wish = std::getenv("DRAGON_CPU_LEVEL");
  const std::string prefix = LibraryFolder() + "/libdragon_cpu";
  std::string level = wish && *wish ? wish : BestLevel();
  if (!(wish && *wish)) {
    // A developer's build may hold fewer levels: take the best one that is there.
    for (const char* lower : {"v4", "v3", "v2"}) {
      if (level >= lower && Exists(prefix + "_" + lower + ".so")) {
        level = lower;
        break;
      }
    }
  }
  const std::string path = prefix + "_" + level + ".so";
  if (!Exists(path)) {
    throw RuntimeError("LoadCpuKernels").Got("DRAGON_CPU_LEVEL or processor level ", level).Expected("a file ", path);
  }
  LoadLibrary(prefix + ".so");
  LoadLibrary(path);
  g_level = level;
}

}  // namespace

void LoadLibrary(const std::string& path) {
  if (!dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) throw RuntimeError("LoadLibrary").Says(dlerror());
}

void LoadCpuKernels() {
  static std::once_flag once;
  std::call_once(once, LoadCpuKernelsOnce);
}

std::string CpuLevel() {
  LoadCpuKernels();
  return g_level;
}

std::string LibraryFolder() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void*>(&LoadCpuKernels), &info)) return ".";
  const std::string path = info.dli_fname;
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

}  // namespace dragon
