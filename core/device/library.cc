// Finds the kernel libraries beside libdragon and picks the one for this processor.
#include "core/device/library.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>

#include "core/base/error.h"

namespace dragon {

namespace {

// The levels of this kind of processor, best first, as tools/levels.cmake compiles them.
#if defined(__x86_64__)
constexpr const char* kLevels[] = {"v4", "v3", "v2"};

std::string BestLevel() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4")) return "v4";
  if (__builtin_cpu_supports("x86-64-v3")) return "v3";
  return "v2";
}
#elif defined(__aarch64__)
constexpr const char* kLevels[] = {"generic"};

std::string BestLevel() { return kLevels[0]; }  // NEON and fused multiply-add are in all of them
#else
#error "Dragon has kernels for x86-64 and aarch64"
#endif

/// Whether a level is one of those that this processor lacks: its kernels would end the process at their first call.
bool IsBeyond(const std::string& level, const std::string& best) {
  for (const char* known : kLevels) {
    if (known == best) return false;
    if (known == level) return true;
  }
  return false;
}

bool Exists(const std::string& path) { return access(path.c_str(), R_OK) == 0; }

/// Load kernels, and return their level.
std::string LoadKernels() {
  const char* wish = std::getenv("DRAGON_CPU_LEVEL");
  const std::string prefix = LibraryFolder() + "/libdragon_cpu";
  std::string level = wish && *wish ? wish : BestLevel();
  if (!(wish && *wish)) {
    // A developer's build may hold fewer levels: take the best one that is there.
    for (const char* lower : kLevels) {
      if (level >= lower && Exists(prefix + "_" + lower + ".so")) {
        level = lower;
        break;
      }
    }
  }
  const std::string best = BestLevel();
  if (IsBeyond(level, best)) {
    throw RuntimeError("LoadCpuKernels")
        .Got("DRAGON_CPU_LEVEL=", level)
        .Expected("a level that this processor has: ", best, " or lower");
  }
  const std::string path = prefix + "_" + level + ".so";
  if (!Exists(path)) {
    throw RuntimeError("LoadCpuKernels").Got("DRAGON_CPU_LEVEL or processor level ", level).Expected("a file ", path);
  }
  LoadLibrary(prefix + ".so");
  LoadLibrary(path);
  return level;
}

/// Never destroyed: a library may be looked for while static destructors run.
struct Packages {
  std::mutex mutex;
  std::vector<std::string> folders;
  static Packages& Get() {
    static auto* packages = new Packages;
    return *packages;
  }
};

}  // namespace

void LoadLibrary(const std::string& path) {
  if (!dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) throw RuntimeError("LoadLibrary").Says(dlerror());
}

void LoadCpuKernels() { CpuLevel(); }

std::string CpuLevel() {
  static const std::string level = LoadKernels();  // std::call_once would hang before glibc 2.34, once this threw
  return level;
}

bool HasOneDnn() {
  LoadCpuKernels();
  void* const kernels = dlopen((LibraryFolder() + "/libdragon_cpu.so").c_str(), RTLD_NOLOAD | RTLD_LAZY);
  if (!kernels) return false;
  const bool found = dlsym(kernels, "dnnl_version") != nullptr;  // searches what the library has brought along, too
  dlclose(kernels);
  return found;
}

std::string LibraryFolder() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void*>(&LoadCpuKernels), &info)) return ".";
  const std::string path = info.dli_fname;
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

std::vector<std::string> PackageFolders() {
  std::lock_guard<std::mutex> lock(Packages::Get().mutex);
  return Packages::Get().folders;
}

void SetPackageFolders(std::vector<std::string> folders) {
  std::lock_guard<std::mutex> lock(Packages::Get().mutex);
  Packages::Get().folders = std::move(folders);
}

}  // namespace dragon
