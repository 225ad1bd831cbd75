// Finds OpenBLAS at the first call and keeps its threads from colliding with ours.
#include "core/kernels/openblas.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/device/library.h"
#include "core/device/parallel.h"

namespace dragon {

namespace {

constexpr const char* kFile = "libscipy_openblas.so";

std::vector<std::string> Candidates() {
  std::vector<std::string> paths = {LibraryFolder() + "/" + kFile};
  if (const char* wish = std::getenv("DRAGON_OPENBLAS"); wish && *wish) paths.emplace_back(wish);
#ifdef DRAGON_OPENBLAS_FOLDER
  paths.push_back(std::string(DRAGON_OPENBLAS_FOLDER) + "/" + kFile);
#endif
  return paths;
}

void* Load() {
  std::string words;
  for (const std::string& path : Candidates()) {
    // Local, so that another OpenBLAS in the process (NumPy's, SciPy's) keeps its own symbols.
    if (void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
    words += (words.empty() ? "" : "; ") + std::string(dlerror());
  }
  throw RuntimeError("OpenBLAS")
      .Says("could not be loaded: ", words)
      .Hint("DRAGON_OPENBLAS may hold the path to ", kFile);
}

void* Library() {
  static std::once_flag once;
  static void* handle = nullptr;
  std::call_once(once, [] { handle = Load(); });
  return handle;
}

void* Find(const char* name) {
  const std::string symbol = std::string("scipy_") + name;  // this build of OpenBLAS prefixes its names
  void* address = dlsym(Library(), symbol.c_str());
  if (!address) throw RuntimeError("OpenBLAS").Got("the name ", symbol).Expected("a routine that ", kFile, " has");
  return address;
}

std::atomic<int> g_threads{0};

}  // namespace

void* OpenBlasSymbol(const char* name) {
  if (g_threads.load(std::memory_order_relaxed) == 0) SetOpenBlasThreads(1);  // else each call would use every core
  return Find(name);
}

void SetOpenBlasThreads(int count) {
  using Setter = void (*)(int);
  static const auto set = reinterpret_cast<Setter>(Find("openblas_set_num_threads"));
  if (omp_in_parallel() || ForkedFromTeam()) count = 1;
  count = std::max(1, std::min(count, NumThreads()));
  if (g_threads.exchange(count) != count) set(count);
}

}  // namespace dragon
